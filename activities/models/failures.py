"""Which class of failure an error of a provider belongs to, as a table.

Rule: the first row that fits wins, from the certain to the general. What a person must fix (keys,
quota, the request itself) is never retried; what time heals is. A connection that breaks after the
first word was streamed is `cut`: another attempt starts the answer anew.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pydantic_ai import exceptions as wire

from turnwright.activities.models.port import FailureClass, ModelFailure
from turnwright.activities.tool_errors import without_secrets
from turnwright.journal.canonical import repair_text
from turnwright.journal.messages import Usage

MESSAGE_CHARACTERS_MAX = 2_000
RETRY_AFTER_MAX_S = 86_400.0

_KEYS = re.compile(r"\b(sk|pk|key|xai|gsk)-[A-Za-z0-9_-]{8,}")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: it fits an error of that kind, status and wording, and in that moment."""

    failure: FailureClass
    kind: type[BaseException] = Exception
    statuses: frozenset[int] = frozenset()
    says: tuple[str, ...] = ()
    streaming: bool | None = None

    def fits(self, error: BaseException, text: str, *, streaming: bool) -> bool:
        """Whether everything this row asks for is true of the error."""
        return (
            isinstance(error, self.kind)
            and (not self.statuses or getattr(error, "status_code", None) in self.statuses)
            and (not self.says or any(phrase in text for phrase in self.says))
            and self.streaming in (None, streaming)
        )


# How providers word it when they send no code of their own for it (llama.cpp, vLLM, Anthropic, TGI).
_TOO_LONG = (
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context size",
    "context window",
    "prompt is too long",
    "input is too long",
    "reduce the length of the messages",
)
_REFUSED = ("content_policy", "content_filter", "content management policy", "safety_violation", "moderation")

TABLE: tuple[Row, ...] = (
    Row("context_length", wire.ModelContextWindowExceededError),
    Row("context_length", wire.ModelAPIError, frozenset({400, 413, 422, 500}), _TOO_LONG),
    Row("context_length", wire.ModelHTTPError, frozenset({413})),
    Row("refused", wire.ContentFilterError),
    Row("refused", wire.ModelRequestRejectedError, says=_REFUSED),
    # Waiting does not fill an account: like a wrong key, this needs a person.
    Row("auth", wire.ModelQuotaExceededError),
    Row("auth", wire.ModelAuthenticationError),
    Row("rate_limited", wire.ModelRateLimitError),
    Row("timeout", wire.ModelTimeoutError),
    Row("timeout", wire.ModelRequestTimeout),
    Row("timeout", wire.ModelHTTPError, frozenset({408})),
    Row("cut", wire.ModelConnectionError, streaming=True),
    Row("transient", wire.ModelConnectionError),
    Row("transient", wire.ModelHTTPError, frozenset({409, 425})),
    Row("transient", wire.ModelUnavailableError),
    Row("transient", wire.ModelServerError),
    Row("invalid", wire.ModelRequestRejectedError),
    Row("cut", wire.ModelAPIError, says=("ended without",)),
    Row("cut", wire.ModelAPIError, says=("decode",), streaming=True),
    Row("transient", wire.ModelAPIError),
    Row("transient", wire.UnexpectedModelBehavior),
    # Raised before anything was sent: a conversation or a setting this model cannot take.
    Row("invalid", wire.UserError),
    Row("invalid", NotImplementedError),
    Row("invalid", ImportError),
    Row("invalid", AssertionError, streaming=False),
    Row("invalid", ValueError, streaming=False),
    Row("invalid", TypeError, streaming=False),
    Row("transient", Exception),
)


def failure_of(error: Exception, usage: Usage | None = None, *, streaming: bool) -> ModelFailure:
    """The failure an error means; `streaming` says whether the answer had begun."""
    text = f"{error} {getattr(error, 'body', '')}".lower()
    failure = next(row.failure for row in TABLE if row.fits(error, text, streaming=streaming))
    return ModelFailure(failure, message_of(error), retry_after_s=retry_after_s(error), usage=usage)


def message_of(error: Exception) -> str:
    """What the error says, bounded, storable, and without a secret of this worker or anything that looks like a key."""
    said = (str(error) or type(error).__name__)[: 2 * MESSAGE_CHARACTERS_MAX]
    return repair_text(_KEYS.sub(r"\1-…", without_secrets(said)))[:MESSAGE_CHARACTERS_MAX]


def retry_after_s(error: Exception) -> float | None:
    """How long the provider asked to wait, if it did."""
    known = getattr(error, "retry_after", None)
    if known is None:
        headers = getattr(error, "headers", None) or {}
        known = parsed_retry_after_s(headers.get("retry-after"), datetime.now(UTC))
    return None if known is None else min(float(known), RETRY_AFTER_MAX_S)


def parsed_retry_after_s(value: str | None, now: datetime) -> float | None:
    """A `Retry-After` header in seconds, whole or not, or as a date; None if it says neither."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        return _seconds_until(value, now)
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _seconds_until(date: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, TypeError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
