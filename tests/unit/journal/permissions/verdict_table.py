"""The table of verdicts as the specification states it, written down apart from the code that decides.

A row is about calls of an effect, with or without an active plan, by what the tool's own check said (`none`: it has
no check, `missing`: it has one that was not made) and by the kind of the rule that is about the call. `*` stands for
everything, `|` separates. A cell says what is decided, and which line decides.
"""

MODES = ("default", "accept_edits", "explore", "bypass", "dont_ask")

_ROWS = """
plan  effect           check        rule            default      accept_edits  explore       bypass        dont_ask
*     *                *            deny            deny:rule    deny:rule     deny:rule     deny:rule     deny:rule
yes   idempotent|once  *            none|ask|allow  deny:plan    deny:plan     deny:explore  deny:plan     deny:plan
no    idempotent|once  *            ask             ask:rule     ask:rule      deny:explore  ask:rule      deny:dont_ask
no    idempotent|once  allow        none|allow      allow:check  allow:check   deny:explore  allow:check   allow:check
no    idempotent|once  ask|missing  none|allow      ask:check    ask:check     deny:explore  ask:check     deny:dont_ask
no    idempotent|once  deny         none|allow      deny:check   deny:check    deny:explore  deny:check    deny:check
no    idempotent|once  none|pass    allow           allow:rule   allow:rule    deny:explore  allow:rule    allow:rule
no    idempotent|once  none|pass    none            ask:default  ask:default   deny:explore  allow:bypass  deny:dont_ask
*     read             *            ask             ask:rule     ask:rule      ask:rule      ask:rule      deny:dont_ask
*     read             none         none|allow      allow:read   allow:read    allow:read    allow:read    allow:read
*     read             allow        none|allow      allow:check  allow:check   allow:check   allow:check   allow:check
*     read             ask|missing  none|allow      ask:check    ask:check     ask:check     ask:check     deny:dont_ask
*     read             deny         none|allow      deny:check   deny:check    deny:check    deny:check    deny:check
*     read             pass         allow           allow:rule   allow:rule    allow:rule    allow:rule    allow:rule
*     read             pass         none            ask:default  ask:default   ask:default   allow:bypass  deny:dont_ask
"""

_VALUES = {
    "plan": ("no", "yes"),
    "effect": ("read", "idempotent", "once"),
    "check": ("none", "allow", "ask", "deny", "pass", "missing"),
    "rule": ("none", "allow", "ask", "deny"),
}

Case = tuple[str, str, str, str, str]


def _parsed() -> dict[Case, str]:
    head, *rows = (line.split() for line in _ROWS.strip().splitlines())
    assert tuple(head) == (*_VALUES, *MODES)
    table: dict[Case, str] = {}
    for row in rows:
        plan, effect, check, rule = (
            _VALUES[name] if cell == "*" else tuple(cell.split("|")) for name, cell in zip(_VALUES, row, strict=False)
        )
        cases = [(p, e, c, r, m) for p in plan for e in effect for c in check for r in rule for m in MODES]
        for case in cases:
            assert case not in table, f"two rows are about {case}"
            table[case] = row[len(_VALUES) + MODES.index(case[-1])]
    return table


TABLE = _parsed()
CASES_ALL = 5
for _values in _VALUES.values():
    CASES_ALL *= len(_values)
