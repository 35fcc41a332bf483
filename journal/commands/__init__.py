"""Commands: what somebody wants to happen. A command is data; `decide` says whether it may.

Rule: a client's command has a request id and a principal and is remembered. A run's command has an
epoch (control facts) or an ordinal (testimony) and is recognised by its entry ids.
"""

from turnwright.journal.commands.base import ClientCommand as ClientCommand
from turnwright.journal.commands.base import Receipt as Receipt
from turnwright.journal.commands.base import Rejection as Rejection
from turnwright.journal.commands.base import TurnCommand as TurnCommand
from turnwright.journal.commands.run import Claiming as Claiming
from turnwright.journal.commands.run import ClaimRun as ClaimRun
from turnwright.journal.commands.run import CompactContext as CompactContext
from turnwright.journal.commands.run import ListTools as ListTools
from turnwright.journal.commands.run import Look as Look
from turnwright.journal.commands.run import RequestModel as RequestModel
from turnwright.journal.commands.run import RunCommand as RunCommand
from turnwright.journal.commands.run import StartTool as StartTool
from turnwright.journal.commands.session import CancelSession as CancelSession
from turnwright.journal.commands.session import CloseSession as CloseSession
from turnwright.journal.commands.session import CreateSession as CreateSession
from turnwright.journal.commands.session import DeleteSession as DeleteSession
from turnwright.journal.commands.session import LoggedCommand as LoggedCommand
from turnwright.journal.commands.session import PauseSession as PauseSession
from turnwright.journal.commands.session import ResumeSession as ResumeSession
from turnwright.journal.commands.session import SessionCommand as SessionCommand
from turnwright.journal.commands.session import SetSessionBudget as SetSessionBudget
from turnwright.journal.commands.specs import CallSpec as CallSpec
from turnwright.journal.commands.testimony import Ask as Ask
from turnwright.journal.commands.testimony import EndChild as EndChild
from turnwright.journal.commands.testimony import FailModel as FailModel
from turnwright.journal.commands.testimony import FinishTool as FinishTool
from turnwright.journal.commands.testimony import InterruptModel as InterruptModel
from turnwright.journal.commands.testimony import RespondModel as RespondModel
from turnwright.journal.commands.testimony import SettleCall as SettleCall
from turnwright.journal.commands.testimony import Spawn as Spawn
from turnwright.journal.commands.testimony import Testimony as Testimony
from turnwright.journal.commands.thread import CancelThread as CancelThread
from turnwright.journal.commands.thread import ChangeState as ChangeState
from turnwright.journal.commands.thread import ClearContext as ClearContext
from turnwright.journal.commands.thread import CloseThread as CloseThread
from turnwright.journal.commands.thread import CompactThread as CompactThread
from turnwright.journal.commands.thread import EraseEntry as EraseEntry
from turnwright.journal.commands.thread import ForkThread as ForkThread
from turnwright.journal.commands.thread import ImportThread as ImportThread
from turnwright.journal.commands.thread import Inject as Inject
from turnwright.journal.commands.thread import PauseThread as PauseThread
from turnwright.journal.commands.thread import ResumeThread as ResumeThread
from turnwright.journal.commands.thread import RewindThread as RewindThread
from turnwright.journal.commands.thread import SetBudget as SetBudget
from turnwright.journal.commands.thread import SetPermissions as SetPermissions
from turnwright.journal.commands.thread import UpdateState as UpdateState
from turnwright.journal.commands.turn import CancelTurn as CancelTurn
from turnwright.journal.commands.turn import IfBusy as IfBusy
from turnwright.journal.commands.turn import PauseTurn as PauseTurn
from turnwright.journal.commands.turn import Reconcile as Reconcile
from turnwright.journal.commands.turn import Respond as Respond
from turnwright.journal.commands.turn import ResumeTurn as ResumeTurn
from turnwright.journal.commands.turn import RetryTurn as RetryTurn
from turnwright.journal.commands.turn import Steer as Steer
from turnwright.journal.commands.turn import Submit as Submit
from turnwright.journal.commands.turn import TakeIn as TakeIn
