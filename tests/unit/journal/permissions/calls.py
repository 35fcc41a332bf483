"""Calls and permissions of the tests, and strategies that make them."""

from typing import get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy as Strategy

from turnwright.journal.agents import Effect
from turnwright.journal.permissions.call import CallSeen
from turnwright.journal.permissions.facts import CallFacts, Checked
from turnwright.journal.permissions.rules import parse_rule
from turnwright.journal.state_parts import Mode, PermissionState, Rule

ROOT = "/srv/shop"


def call(tool: str = "refund", effect: Effect = "once", check: Checked | None = None, **arguments: object) -> CallSeen:
    return CallSeen(tool, arguments, effect, facts=CallFacts(check=check))


def shell(line: object) -> CallSeen:
    return CallSeen("shell", {"line": line}, command="line")


def edit(path: object, *real: str, root: str = ROOT) -> CallSeen:
    facts = CallFacts(resolved={"path": real} if real else {}, directories={ROOT: root})
    return CallSeen("edit", {"path": path}, paths=("path",), facts=facts)


_TEXTS = st.sampled_from(
    ["", "1", "100", "a", "git status", "git push -f", "rm -rf /", "src/a.py", "../x", "a;b", "$(rm x)"]
)
_RULES = (
    "refund", "edit", "shell", "*", "e*", "refund(amount=1*)", "refund(amount=*)", "*(note=a)", "shell(prefix:git)",
    "shell(prefix:git status)", "shell(prefix:rm)", "edit(path:**)", "edit(path:src/**)", "edit(path:/srv/**)",
    "edit(path:*.py)", "edit(path:/etc/*)", "*(path:x)",
)  # fmt: skip

rules: Strategy[Rule] = st.sampled_from(_RULES).map(parse_rule) | st.sampled_from(
    ["", "x", "prefix:", "path:../x"]
).map(lambda pattern: Rule(tool="*", pattern=pattern))
_several = st.lists(rules, max_size=3).map(tuple)
modes: Strategy[Mode] = st.sampled_from(get_args(Mode))
permissions: Strategy[PermissionState] = st.builds(
    PermissionState,
    mode=modes,
    allow=_several,
    ask=_several,
    deny=_several,
    working_directories=st.sampled_from([(), (ROOT,), (ROOT, "/etc")]),
)
_checks = st.none() | st.sampled_from(["allow", "ask", "deny", "pass"]).map(
    lambda v: Checked.model_validate({"verdict": v})
)
_places = st.sampled_from([(), ("/srv/shop/src/a.py",), ("/etc/passwd",), ("/srv/shop/x",), ("/srv/shopping/x",)])


@st.composite
def calls(draw: st.DrawFn) -> CallSeen:
    tool = draw(st.sampled_from(["refund", "edit", "shell"]))
    effect: Effect = draw(st.sampled_from(get_args(Effect)))
    real = draw(_places)
    facts = CallFacts(
        resolved={"path": real} if real else {},
        directories=draw(st.sampled_from([{}, {ROOT: ROOT}, {ROOT: ROOT, "/etc": "/etc"}])),
        check=draw(_checks),
    )
    match tool:
        case "refund":
            amount = draw(st.integers(0, 200) | st.floats(allow_nan=False) | _TEXTS)
            return CallSeen(tool, {"amount": amount, "note": draw(_TEXTS)}, effect, facts=facts)
        case "edit":
            return CallSeen(tool, {"path": draw(_TEXTS)}, effect, ("path",), facts=facts, checked=draw(st.booleans()))
        case _:
            return CallSeen(tool, {"line": draw(_TEXTS)}, effect, command="line", facts=facts)
