"""Every log line of a process goes through structlog to one stream: for people in columns, for machines as JSON.

Ids of thread, turn and run are bound with `structlog.contextvars`; those of a trace follow from them. Secrets are cut
out before a line is written, whoever logs it. Workflow code logs like any other and is
silent while Temporal replays it. Loggers of the standard library (Temporal's SDK and others) join at WARNING, or at
the level that rules say for their names.
Tracebacks never show local variables: keys and conversations live in them. A log that cannot be written is
dropped, because a closed pipe must not fail a turn, and for one that cannot be made `log_line_lost` stands there.
"""

import contextlib
import io
import json
import logging  # noqa: TID251 - this is where other libraries' records become structlog's
import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

import structlog
from structlog.typing import EventDict, ExcInfo, Processor, WrappedLogger

from turnwright.worker.log_owner import add_owner
from turnwright.worker.log_rules import LogLevel, LogRulesFile
from turnwright.worker.log_traces import add_trace_ids
from turnwright.worker.redaction import Redaction

if TYPE_CHECKING:
    from temporalio.runtime import LoggingConfig

LogFormat = Literal["console", "json"]


def configure_logs(log_format: LogFormat, log_level: LogLevel, stream: TextIO, rules: Path | None = None) -> None:
    """Set up the logs of this process; the last call wins. What the file `rules` says comes before `log_level`."""
    line = _Line(
        drop_replayed,
        structlog.contextvars.merge_contextvars,
        *([] if rules is None else [_ruled(LogRulesFile(rules), log_level)]),
        *([] if log_format == "console" else [add_owner, add_trace_ids]),
        structlog.processors.add_log_level,
        structlog.processors.StackInfoRenderer(),
        _stamper(log_format),
        *_renderers(log_format, Redaction(os.environ), colors=stream.isatty()),
    )
    structlog.configure(
        processors=[line],
        wrapper_class=structlog.make_filtering_bound_logger(log_level if rules is None else "debug"),
        logger_factory=LineLogger.factory(stream),
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers = [handler for handler in root.handlers if not isinstance(handler, StructlogHandler)]
    root.addHandler(StructlogHandler())
    root.setLevel(logging.WARNING)
    # It logs a stack for each connection it cannot make anew; whoever needs one says so in a line.
    logging.getLogger("asyncpg.pool").setLevel(logging.CRITICAL)


def drop_replayed(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Keep what workflow code logs only when it runs for the first time."""
    if "temporalio.workflow" not in sys.modules:  # nor can it be loaded while the interpreter ends
        return event
    from temporalio import workflow  # noqa: PLC0415 - commands that log nothing need not wait for it

    if workflow.in_workflow() and workflow.unsafe.is_replaying_history_events():
        raise structlog.DropEvent
    return event


class _Line:
    """Makes the line of an event, by one processor after the other. What fails in one never fails who logs."""

    def __init__(self, *processors: Processor) -> None:
        self._processors = processors

    def __call__(self, logger: WrappedLogger, method: str, event: EventDict) -> str:
        made: Any = event
        for process in self._processors:
            try:
                made = process(logger, method, made)
            except structlog.DropEvent:
                raise
            except Exception as error:  # noqa: BLE001 - a line is worth less than whatever logs it
                # Neither the event nor the error's words are shown: secrets may not be cut out of them yet.
                failed = getattr(process, "__name__", type(process).__name__)
                why = f"{type(error).__name__} in {failed}"
                return json.dumps({"event": "log_line_lost", "why": why, "level": "error"})
        return str(made)


def _ruled(file: LogRulesFile, log_level: LogLevel) -> Processor:
    """Drop what the rules leave out, and say what is wrong with them."""
    libraries = _LibraryLevels()

    def keep(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        rules, wrong = file.look()
        libraries.follow(rules.levels)
        if wrong:
            structlog.get_logger(__name__).error("log_rules_wrong", why=wrong, then="the rules of before go on")
        if not rules.keep(getattr(logger, "name", ""), method, event, log_level):
            raise structlog.DropEvent
        return event

    return keep


def forward_core_logs() -> "LoggingConfig":
    """For a `temporalio.runtime.Runtime`: what the SDK's native part logs joins too, from WARNING up."""
    from temporalio.runtime import LogForwardingConfig, LoggingConfig, TelemetryFilter  # noqa: PLC0415 - as above

    return LoggingConfig(
        filter=TelemetryFilter(core_level="WARN", other_level="ERROR"),
        forwarding=LogForwardingConfig(
            logger=logging.getLogger("temporalio.core"),
            append_target_to_name=False,
            prepend_target_on_message=False,
            append_log_fields_to_message=False,
        ),
    )


def _stamper(log_format: LogFormat) -> Processor:
    """For machines to the microsecond and in UTC; for people to the second, by the clock on their wall."""
    if log_format == "console":
        return structlog.processors.TimeStamper(fmt="%Y-%m-%d %H:%M:%S", utc=False)
    return structlog.processors.TimeStamper(fmt="iso", utc=True)


def _renderers(log_format: LogFormat, redaction: Redaction, *, colors: bool) -> list[Processor]:
    def plain(stream: TextIO, error: ExcInfo) -> None:
        written = io.StringIO()
        structlog.dev.plain_traceback(written, error)
        stream.write(redaction.text(written.getvalue()))

    if log_format == "console":
        return [redaction, structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=plain)]
    traceback = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    return [structlog.processors.ExceptionRenderer(traceback), redaction, structlog.processors.JSONRenderer()]


class _LibraryLevels:
    """Levels of loggers of the standard library, as the rules say them; what they leave is as it was before."""

    def __init__(self) -> None:
        self._said: Mapping[str, LogLevel] = {}
        self._before: dict[str, int] = {}
        self._lock = threading.Lock()

    def follow(self, levels: Mapping[str, LogLevel]) -> None:
        if levels != self._said:
            with self._lock:  # others log meanwhile, and find the same
                self._follow(levels)

    def _follow(self, levels: Mapping[str, LogLevel]) -> None:
        self._said = levels
        for name in self._before.keys() - levels.keys():
            logging.getLogger(name).setLevel(self._before.pop(name))
        for name, level in levels.items():
            library = logging.getLogger(name)
            self._before.setdefault(name, library.level)
            library.setLevel(level.upper())


class LineLogger:
    """Writes one whole line per event; made by `factory`."""

    def __init__(self, stream: TextIO, lock: threading.Lock, name: str = "") -> None:
        self.name = name
        self._stream = stream
        self._lock = lock

    @classmethod
    def factory(cls, stream: TextIO) -> Callable[..., "LineLogger"]:
        """What structlog calls for each logger; all of them share the stream and its lock."""
        lock = threading.Lock()
        return lambda *name: cls(stream, lock, *name)

    def msg(self, line: str) -> None:
        """Write the line, or lose it when nobody reads any more."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._stream.write(line + "\n")
            self._stream.flush()

    debug = info = warning = error = critical = exception = msg


class StructlogHandler(logging.Handler):
    """Hands records of the standard library's loggers to structlog."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log the record's message under its logger's name."""
        try:
            extra: dict[str, Any] = {"exc_info": record.exc_info} if record.exc_info else {}
            if core := getattr(record, "temporal_log", None):
                extra |= {"target": core.target, "fields": core.fields}
            level = _structlog_level(record.levelno)
            structlog.get_logger(record.name).log(level, record.getMessage(), logger=record.name, **extra)
        except Exception:  # noqa: BLE001 - a record that cannot be formatted must not fail its caller
            self.handleError(record)


def _structlog_level(level: int) -> int:
    """The nearest level below that structlog has a name for."""
    return min(max(level // 10 * 10, logging.DEBUG), logging.CRITICAL)
