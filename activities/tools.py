"""Tools: typed Python functions an agent may call.

Rule: a tool says what repeating it means. `read` and `idempotent` calls are made again after a crash, an
idempotent one with the same key; a `once` call (the default) is not, unless its `reconcile` hook finds
that it never took effect. And it says what its permissions are about. A tool that cannot be described to a
model is refused where it is defined.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, ParamSpec, TypeVar, overload

from turnwright.activities.check import CheckHook
from turnwright.activities.docstring import described
from turnwright.activities.reconcile import ReconcileHook
from turnwright.activities.signature import Signature, signature_of
from turnwright.activities.tool_permissions import guarded
from turnwright.journal.agents import Effect, ToolSpec
from turnwright.journal.errors import InvalidInput

TIMEOUT_S: Final = 600.0
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Tool(Generic[P, R]):
    """A function with what an agent needs to know about it. Calling it calls the function."""

    function: Callable[P, R]
    spec: ToolSpec
    signature: Signature = field(repr=False)
    reconcile: ReconcileHook | None = None
    check: CheckHook | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself, as a test would."""
        return self.function(*args, **kwargs)

    @property
    def name(self) -> str:
        """The name the model calls it by."""
        return self.spec.name


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *,
    effect: Literal["once"] = "once",
    reconcile: ReconcileHook | None = None,
    timeout_s: float = TIMEOUT_S,
    name: str | None = None,
    group: str | None = None,
    paths: Sequence[str] = (),
    command: str | None = None,
    check: CheckHook | None = None,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
@overload
def tool(
    *,
    effect: Literal["read", "idempotent"],
    timeout_s: float = TIMEOUT_S,
    name: str | None = None,
    group: str | None = None,
    paths: Sequence[str] = (),
    command: str | None = None,
    check: CheckHook | None = None,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(  # noqa: PLR0913 - each is one thing an author can say
    function: Callable[P, R] | None = None,
    /,
    *,
    effect: Effect = "once",
    reconcile: ReconcileHook | None = None,
    timeout_s: float = TIMEOUT_S,
    name: str | None = None,
    group: str | None = None,
    paths: Sequence[str] = (),
    command: str | None = None,
    check: CheckHook | None = None,
) -> Tool[P, R] | Callable[[Callable[P, R]], Tool[P, R]]:
    """Make a tool of a typed function, sync or async.

    Its docstring describes it to the model, its `Args:` section each argument. A first parameter of type
    `ToolContext` receives the context of the call. The body has `timeout_s` seconds; `group` makes the
    tool part of a group that is activated as one. `paths` names the arguments that are file paths, `command`
    the one that is a shell command line: rules can be about them. `check` is asked before a call may run.

    Raises:
        InvalidInput: the function cannot be a tool; says why.
    """

    def made(body: Callable[P, R]) -> Tool[P, R]:
        own_name = getattr(body, "__name__", type(body).__name__) if name is None else name
        _check(body, own_name, effect, reconcile, timeout_s)
        docs = described(body)
        signature = signature_of(body, docs)
        guard = guarded(own_name, signature, paths, command, check)
        spec = ToolSpec(
            name=own_name,
            description=docs.description,
            parameters=signature.parameters,
            effect=effect,
            reconcilable=reconcile is not None,
            timeout_s=timeout_s,
            group=group,
            paths=guard.paths,
            command=guard.command,
            checked=guard.check is not None,
        )
        return Tool(body, spec, signature, reconcile, guard.check)

    return made if function is None else made(function)


def _check(body: Callable[..., Any], name: str, effect: str, reconcile: ReconcileHook | None, timeout_s: float) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidInput(f"tool name {name!r}: 1 to 64 letters, digits, `_` and `-`; give another with name=")
    if effect not in ("read", "idempotent", "once"):
        raise InvalidInput(f"tool {name}: effect is 'read', 'idempotent' or 'once', not {effect!r}")
    if reconcile is not None and effect != "once":
        raise InvalidInput(f"tool {name}: a call with effect={effect!r} is simply repeated; drop reconcile=")
    if reconcile is not None and not inspect.iscoroutinefunction(reconcile):
        raise InvalidInput(f"tool {name}: reconcile must be an async function of (ctx, arguments)")
    if not timeout_s > 0:
        raise InvalidInput(f"tool {name}: timeout_s must be above 0, got {timeout_s}")
    if isinstance(body, Tool) or not inspect.isroutine(body):
        raise InvalidInput(f"tool {name}: {body!r} is not a function; decorate a function or a bound method")
    if inspect.isgeneratorfunction(body) or inspect.isasyncgenfunction(body):
        raise InvalidInput(f"tool {name}: a generator has no single result; return a list instead")
