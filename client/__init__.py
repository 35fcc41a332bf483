"""Give commands to agents' conversations and observe them: the Python client and the commands of the terminal."""

from turnwright.client.access import How, HowElse
from turnwright.client.bringing import Brought
from turnwright.client.client import Client
from turnwright.client.errors import (
    AccessDenied,
    ClientClosed,
    CommandRejected,
    NotFound,
    PlaceLost,
    TurnCancelled,
    TurnEnded,
    TurnFailed,
    WaitTimeout,
)
from turnwright.client.questions import Question
from turnwright.client.session import Session
from turnwright.client.settings import ClientSettings
from turnwright.client.spending import SessionSpending, ThreadSpending
from turnwright.client.thread import Thread
from turnwright.client.turn import Turn
from turnwright.client.turn_report import TurnReport
from turnwright.client.views import TurnView
from turnwright.journal.acts import Act
from turnwright.journal.budgets import Budget
from turnwright.journal.deltas import Delta
from turnwright.journal.errors import InvalidInput, StoreUnavailable, TurnwrightError
from turnwright.journal.schedules import Schedule, Tick
from turnwright.journal.search.snippets import SnippetPart
from turnwright.journal.store_delete import Deleted
from turnwright.journal.store_import import Imported
from turnwright.journal.transact.searching import SearchHit

__all__ = [
    "AccessDenied",
    "Act",
    "Brought",
    "Budget",
    "Client",
    "ClientClosed",
    "ClientSettings",
    "CommandRejected",
    "Deleted",
    "Delta",
    "How",
    "HowElse",
    "Imported",
    "InvalidInput",
    "NotFound",
    "PlaceLost",
    "Question",
    "Schedule",
    "SearchHit",
    "Session",
    "SessionSpending",
    "SnippetPart",
    "StoreUnavailable",
    "Thread",
    "ThreadSpending",
    "Tick",
    "Turn",
    "TurnCancelled",
    "TurnEnded",
    "TurnFailed",
    "TurnReport",
    "TurnView",
    "TurnwrightError",
    "WaitTimeout",
]
