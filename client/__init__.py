"""Give commands to agents' conversations and observe them: the Python client and the commands of the terminal."""

from turnwright.client.access import How as How
from turnwright.client.client import Client as Client
from turnwright.client.errors import CommandRejected as CommandRejected
from turnwright.client.errors import NotFound as NotFound
from turnwright.client.errors import TurnCancelled as TurnCancelled
from turnwright.client.errors import TurnEnded as TurnEnded
from turnwright.client.errors import TurnFailed as TurnFailed
from turnwright.client.errors import WaitTimeout as WaitTimeout
from turnwright.client.questions import Question as Question
from turnwright.client.session import Session as Session
from turnwright.client.settings import ClientSettings as ClientSettings
from turnwright.client.spending import SessionSpending as SessionSpending
from turnwright.client.spending import ThreadSpending as ThreadSpending
from turnwright.client.thread import Thread as Thread
from turnwright.client.turn import Turn as Turn
from turnwright.client.turn_report import TurnReport as TurnReport
from turnwright.client.views import TurnView as TurnView
from turnwright.journal.acts import Act as Act
from turnwright.journal.budgets import Budget as Budget
from turnwright.journal.store_delete import Deleted as Deleted
