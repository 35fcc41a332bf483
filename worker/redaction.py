"""Secrets are cut out of log lines, whoever logs them: a library tells its connection string in an error, too.

Rule: it goes by the name of a value (`password`, `Authorization`, …), by what secrets look like (keys of providers,
bearer tokens, passwords in URLs), and by the secrets of this process's environment, wherever they stand. Texts, depth
and numbers of values are bounded, so a line costs no more than it may be long.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from structlog.typing import EventDict, WrappedLogger

HIDDEN: Final = "***"
TEXT_CHARACTERS_MAX: Final = 32_000
LEVELS_MAX: Final = 8
VALUES_MAX: Final = 1_000
SECRET_CHARACTERS_MIN: Final = 8
SECRETS_MAX: Final = 200
NAMES_KEPT_MAX: Final = 1_024
NAME_CHARACTERS_MAX: Final = 100

_KEYS_OF: Final = "api|access|account|client|private|secret|signing|encryption|temporal|journal"
_NAME: Final = (
    r"authorization|cookies?|credentials?|dsn|passw(?:or)?d|passphrase|secrets?|(?:auth|access|refresh|session|id)?tokens?"
    rf"|(?:{_KEYS_OF})[_-]?(?:keys?|secret|token)"
)
# At the end of a name, after a word's end: `x-api-key`, `DB_PASSWORD`, `accessToken`; and no `tokens_before`.
_SECRET_NAME: Final = re.compile(rf"(?:^|[_\-. ]|(?<=[a-z]))(?:{_NAME})$", re.IGNORECASE)
_QUOTE: Final = r"""\\{0,4}["']?"""  # in a text that was quoted itself it is escaped
_PREFIXES: Final = (
    "sk-", "sk_", "pk_", "rk_", "tw_", "gsk_", "xai-", "hf_", "whsec_", "glpat-", "github_pat_", "ghp_", "gho_", "ghs_",
    "ghu_", "ghr_", "xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-",
)  # fmt: skip
# What a secret looks like, by what stands in any text that holds one: most lines hold none of these, and cost little.
# No two places of a text may begin the same run of characters, or a text of many such places would cost its square.
_LOOKS: Final = tuple(
    (hints, re.compile(pattern, re.IGNORECASE))
    for hints, pattern in (
        # postgresql://user:password@host
        (("://",), r"""(://[^\s:/@'"]*:)[^\s/]+(?=@)"""),
        # https://token@host; a user's name is shorter
        (("://",), r"""(://)[^\s:/@'"]{16,}(?=@)"""),
        # Authorization: Bearer …, Authorization: Basic …
        (("bearer",), r"(\bbearer\s{1,5})[\w.~+/%-]{8,}=*"),
        (("authorization",), rf"""(\bauthorization{_QUOTE}\s?[:=,]\s?b?{_QUOTE}\w{{1,20}}\s)[^\s"'\\]+"""),
        # Authorization: …, with a number in it; and no `authorization: denied`
        (
            ("authorization",),
            rf"""(\bauthorization{_QUOTE}\s?[:=,]\s?b?{_QUOTE})(?=[^\s"'\\]{{0,100}}\d)[^\s"'\\]{{8,}}""",
        ),
        (("cookie",), rf"""(\bcookie{_QUOTE}\s?[:=,]\s?b?{_QUOTE})[^\r\n"'\\]+"""),
        # --password …
        (("--",), r"(--(?:password|passwd|passphrase|token|secret|api-key)\s)[^\s]+"),
        # password=…
        (
            ("passw", "passphrase", "pwd", "secret", "api_key", "api-key", "apikey"),
            rf"""((?:\b|_)(?:pass(?:word|wd|phrase)|pwd|secret|api[_-]?key){_QUOTE}\s?[:=]\s?{_QUOTE})[^\s"'\\,;&)}}\]]+""",
        ),
        # ?key=…, &X-Amz-Signature=…, AccountKey=…; and no sort_key=…
        (
            ("token=", "key=", "sig=", "signature="),
            rf"""((?:token|sig|signature|(?:[?&]|(?:{_KEYS_OF})[_-]?)key)=)[^\s"'\\&;,)]{{4,}}""",
        ),
        (_PREFIXES, rf"(\b(?:{'|'.join(_PREFIXES)}))[\w-]{{12,}}=*"),
        (("akia", "asia", "aiza"), r"(\b(?:AKIA|ASIA|AIza))[\w-]{12,}"),
        # A signed token, and a private key
        (("eyj",), r"((?<![\w-])eyJ)[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?"),
        (("private key-----",), r"(PRIVATE KEY-----)[^-]+"),
    )
)
# "access_token": "…", password='…': to the quote that ends it
_QUOTED: Final = re.compile(r"""(?<![\w-])([\w-]++)(\\{0,4}["']?\s?[:=]\s?b?\\{0,4}["'])[^"'\\]+""")
_ENVIRONMENT: Final = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|DSN)S?$", re.IGNORECASE)
# It says where secrets are, and an error has to say which file it means.
_OF_FILES: Final = frozenset({"TURNWRIGHT_TEMPORAL_KEYS"})
_NOBODYS: Final = (type(None), bool, int, float)


class Redaction:
    """A processor of structlog. `environment`: whose secrets are cut out wherever they stand."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._known = sorted(_secrets_of(environment), key=len, reverse=True)[:SECRETS_MAX]

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        """The line without secrets; an error in `exc_info` is left to who writes it down, by `text`."""
        for name, value in event.items():
            if name != "exc_info" and not isinstance(value, _NOBODYS):
                event[name] = HIDDEN if _is_secret(name, value) else self._of(value, LEVELS_MAX)
        return event

    def text(self, text: str) -> str:
        """The text without secrets, cut where it becomes too long."""
        if len(text) < SECRET_CHARACTERS_MIN:
            return text
        cut = len(text) > TEXT_CHARACTERS_MAX
        # Cut twice: a secret that the first cut splits lies beyond the second.
        text = text[: 2 * TEXT_CHARACTERS_MAX] if cut else text
        text = _QUOTED.sub(_hidden_if_secret, text)
        lower = text.lower()
        for hints, pattern in _LOOKS:
            if any(hint in lower for hint in hints):
                text = pattern.sub(rf"\1{HIDDEN}", text)
        for secret in self._known:
            text = text.replace(secret, HIDDEN)
        return f"{text[:TEXT_CHARACTERS_MAX]}…" if cut else text

    def _of(self, value: Any, levels: int) -> Any:  # noqa: ANN401 - whatever is logged
        match value:
            case str():
                return self.text(value)
            case Mapping() if levels:
                return {name: self._named(name, one, levels) for name, one in _first(value.items())}
            case (str() | bytes() as name, str() | bytes() as one) if _is_secret(_plain(name), one):
                return (_plain(name), HIDDEN)  # a header
            case list() | tuple() if levels:
                return [self._of(one, levels - 1) for one in _first(value)]
            case None | bool() | int() | float():
                return value
        shown = repr(value)
        told = self.text(shown)
        return value if told == shown else told

    def _named(self, name: object, value: Any, levels: int) -> Any:  # noqa: ANN401 - as above
        return HIDDEN if _is_secret(_plain(name), value) else self._of(value, levels - 1)


def _secrets_of(environment: Mapping[str, str]) -> set[str]:
    """Values of what is named like a secret, and passwords in URLs, as they are written and as they are meant."""
    found = {value for name, value in environment.items() if _ENVIRONMENT.search(name) and name not in _OF_FILES}
    for value in environment.values():
        if "://" in value and "@" in value:
            password = _password_of(value)
            found |= {password, unquote(password)}
    return {value for value in found if len(value) >= SECRET_CHARACTERS_MIN}


def _password_of(url: str) -> str:
    try:
        return urlsplit(url).password or ""
    except ValueError:
        return ""


def _is_secret(name: str, value: object) -> bool:
    """Whether a value of that name is none for a log; a number, such as one of tokens, tells nothing."""
    return isinstance(value, str | bytes | Mapping | list | tuple) and _is_named_secret(name)


@lru_cache(NAMES_KEPT_MAX)
def _is_named_secret(name: str) -> bool:
    return _SECRET_NAME.search(name[-NAME_CHARACTERS_MAX:]) is not None


def _hidden_if_secret(found: re.Match[str]) -> str:
    name, until = found.groups()
    return f"{name}{until}{HIDDEN}" if _is_named_secret(name[-NAME_CHARACTERS_MAX:]) else found[0]


def _plain(name: object) -> str:
    return name.decode("latin-1") if isinstance(name, bytes) else str(name)


def _first(values: Iterable[Any]) -> list[Any]:
    return [one for _, one in zip(range(VALUES_MAX), values, strict=False)]
