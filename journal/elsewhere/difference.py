"""What is different between two JSON values, to be done again to a third one.

Rule: a difference holds only where what it changed is still the same. So what a document held beside what was
read of it comes back with it, and what became different since is left as it is now.

A difference is JSON itself: `{"in": {key: difference}}` of an object, `{"of": length, "at": {index: difference}}` of a
list, `{"was": digest, "is": value}` of anything else; without `was` there was nothing, without `is` there is nothing.
"""

from __future__ import annotations

from typing import Any, Final

from turnwright.journal.canonical import digest_of, encode

NOTHING: Final = object()


def difference(was: Any, now: Any) -> dict[str, Any] | None:  # noqa: ANN401 - any JSON value
    """What makes `now` of `was`; None if they are the same."""
    if isinstance(was, dict) and isinstance(now, dict):
        keys = sorted(was.keys() | now.keys())
        inner = {key: found for key in keys if (found := difference(was.get(key, NOTHING), now.get(key, NOTHING)))}
        return {"in": inner} if inner else None
    if isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        changed = {str(n): found for n, one in enumerate(was) if (found := difference(one, now[n]))}
        return {"of": len(was), "at": changed} if changed else None
    if _same(was, now):
        return None
    return ({} if was is NOTHING else {"was": digest_of(was)}) | ({} if now is NOTHING else {"is": now})


def applied(change: Any, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The value with the difference, as far as it holds; one that cannot be read changes nothing."""
    if not isinstance(change, dict):
        return value
    if isinstance(inner := change.get("in"), dict):
        return _in_object(inner, value) if isinstance(value, dict) else value
    if isinstance(changed := change.get("at"), dict):
        whole = isinstance(value, list) and change.get("of") == len(value)
        return [applied(changed.get(str(n)), one) for n, one in enumerate(value)] if whole else value
    was = change.get("was", NOTHING)
    holds = value is NOTHING if was is NOTHING else value is not NOTHING and digest_of(value) == was
    return change.get("is", NOTHING) if holds else value


def _in_object(inner: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    made = {key: applied(inner.get(key), value.get(key, NOTHING)) for key in [*value, *(inner.keys() - value.keys())]}
    return {key: item for key, item in made.items() if item is not NOTHING}


def _same(was: object, now: object) -> bool:
    """As JSON: 1, 1.0 and true are three values."""
    if was is NOTHING or now is NOTHING:
        return was is now
    return encode(was) == encode(now)
