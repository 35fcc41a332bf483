import io
import logging  # noqa: TID251 - other libraries log through it
import re
import sys
import threading
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest
import structlog
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, use_span

from tests.unit.logged import configured, events, fail_saying
from turnwright.client.tracing.commands import API, span_around
from turnwright.client.tracing.ids import JOURNAL_ID, TurnIds
from turnwright.journal.ids import ThreadKey
from turnwright.worker import log_rules, logs
from turnwright.worker.logs import LogFormat, StructlogHandler, configure_logs

pytestmark = pytest.mark.usefixtures("logs_restored")

SECRET = "s3cret"


def fail_with(secret: str) -> None:
    held = {"key": secret}
    raise ValueError(f"failed with {len(held)} key")


def test_a_machine_reads_one_json_object_per_line_in_utc() -> None:
    stream = configured()
    structlog.get_logger().info("turn.started", turn_id="t1", text="first\nsecond")
    (event,) = events(stream)
    assert event["event"] == "turn.started"
    assert (event["level"], event["turn_id"], event["text"]) == ("info", "t1", "first\nsecond")
    assert datetime.fromisoformat(event["timestamp"]).tzinfo == UTC


def test_a_person_reads_plain_columns_when_the_stream_is_no_terminal() -> None:
    stream = configured("console")
    structlog.get_logger().info("turn.started", turn_id="t1")
    assert "turn.started" in stream.getvalue()
    assert "turn_id=t1" in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


def test_a_person_reads_times_to_the_second() -> None:
    stream = configured("console")
    structlog.get_logger().info("turn.started")
    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +\[info", stream.getvalue())


def test_bound_ids_are_in_every_line_until_they_are_unbound() -> None:
    stream = configured()
    with structlog.contextvars.bound_contextvars(thread_id="main", turn_id="t1"):
        structlog.get_logger().info("inside")
    structlog.get_logger().info("outside")
    inside, outside = events(stream)
    assert (inside["thread_id"], inside["turn_id"]) == ("main", "t1")
    assert "turn_id" not in outside


def test_what_is_below_the_level_is_not_logged() -> None:
    stream = configured(log_level="warning")
    structlog.get_logger().info("quiet")
    structlog.get_logger().warning("loud")
    assert [event["event"] for event in events(stream)] == ["loud"]


def test_a_logger_made_before_the_configuration_follows_the_last_one() -> None:
    log = structlog.get_logger()
    first = configured()
    log.info("one")
    second = configured()
    log.info("two")
    assert [event["event"] for event in events(first)] == ["one"]
    assert [event["event"] for event in events(second)] == ["two"]


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_a_traceback_is_shown_without_the_values_of_its_variables(log_format: LogFormat) -> None:
    stream = configured(log_format)
    try:
        fail_with(SECRET)
    except ValueError:
        structlog.get_logger().exception("tool.failed")
    assert "fail_with" in stream.getvalue()
    assert SECRET not in stream.getvalue()


def test_loggers_of_the_sdk_and_of_other_libraries_join_from_warning_up() -> None:
    stream = configured(log_level="debug")
    logging.getLogger("temporalio.worker").info("polling")
    logging.getLogger("temporalio.worker").warning("failed %s times", 3)
    logging.getLogger("elsewhere").log(35, "odd level")
    first, second = events(stream)
    assert (first["logger"], first["event"]) == ("temporalio.worker", "failed 3 times")
    assert (second["logger"], second["level"]) == ("elsewhere", "warning")


def test_an_exception_logged_by_another_library_keeps_its_traceback() -> None:
    stream = configured()
    try:
        fail_with(SECRET)
    except ValueError:
        logging.getLogger("elsewhere").exception("it failed")
    (event,) = events(stream)
    assert event["exception"][0]["exc_type"] == "ValueError"


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_an_error_that_is_logged_after_it_was_caught_keeps_its_traceback(log_format: LogFormat) -> None:
    stream, caught = configured(log_format), ValueError("nothing was caught")
    try:
        fail_saying("password=p4ssword")
    except ValueError as error:
        caught = error
    structlog.get_logger().error("given itself", exc_info=caught)
    logging.getLogger("elsewhere").error("as asyncio does", exc_info=(ValueError, caught, caught.__traceback__))
    assert stream.getvalue().count('"fail_saying"' if log_format == "json" else "in fail_saying") == 2
    assert "p4ss" not in stream.getvalue()


def test_configuring_twice_does_not_log_twice() -> None:
    configured()
    stream = configured()
    logging.getLogger("elsewhere").warning("once")
    assert len(events(stream)) == 1
    assert sum(isinstance(handler, StructlogHandler) for handler in logging.getLogger().handlers) == 1


@pytest.mark.parametrize("error", [BrokenPipeError, ValueError])
def test_a_log_that_nobody_reads_any_more_fails_nobody(error: type[Exception]) -> None:
    class Closed(io.StringIO):
        def write(self, _text: str) -> int:
            raise error

    configure_logs("json", "info", Closed())
    structlog.get_logger().info("lost")


def test_tracing_that_another_thread_is_just_loading_fails_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = configured()
    monkeypatch.setitem(sys.modules, API, ModuleType(API))
    structlog.get_logger().info("told", turn="t-1")
    assert [event["event"] for event in events(stream)] == ["told"]
    assert span_around() is None


def test_what_fails_while_a_line_is_made_fails_nobody_and_shows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr(logs, "add_owner", fail)
    stream = configured()
    structlog.get_logger().info("lost", key=SECRET)
    assert events(stream) == [{"event": "log_line_lost", "why": "ValueError in fail", "level": "error"}]


def test_whose_a_line_is_can_be_searched_for_by_each_part_of_its_thread() -> None:
    stream = configured()
    key = ThreadKey("acme", "ann", "support", "s-1", "main").canonical
    structlog.get_logger().info("of a thread", thread=key)
    structlog.get_logger().info("of its own", thread=key, session="other")
    structlog.get_logger().info("of none", thread="main")
    whose = [[line.get(part) for part in ("tenant", "user", "agent", "session")] for line in events(stream)]
    assert whose == [["acme", "ann", "support", "s-1"], ["acme", "ann", "support", "other"], [None] * 4]


def test_a_value_that_json_does_not_know_is_still_logged() -> None:
    stream = configured()
    structlog.get_logger().info("odd", value={1, 2}, text="\ud800")
    (event,) = events(stream)
    assert "1, 2" in event["value"]


def test_lines_of_many_threads_never_mix() -> None:
    stream = configured()
    log = structlog.get_logger()

    def write() -> None:
        for number in range(200):
            log.info("line", number=number, padding="x" * 200)

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(events(stream)) == 8 * 200


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of rules that is looked at with each line."""
    monkeypatch.setattr(log_rules, "LOOK_INTERVAL_S", 0.0)
    return tmp_path / "rules.json"


def test_levels_follow_a_file_while_the_process_runs(rules: Path) -> None:
    stream, far = configured(rules=rules), structlog.get_logger("shop.far.away")

    def told() -> list[str]:
        stream.truncate(stream.seek(0))
        structlog.get_logger("shop").debug("near")
        far.debug("far")
        far.info("loud")
        return [event["event"] for event in events(stream)]

    assert told() == ["loud"], "there is no file"
    rules.write_text('{"levels": {"shop": "warning", "shop.far": "debug"}}')
    assert told() == ["far", "loud"]
    rules.write_text('{"level": "debug"}')
    assert told() == ["near", "far", "loud"]
    rules.write_text('{"level": "error"}')
    assert told() == []
    rules.unlink()
    assert told() == ["loud"]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("{", "Invalid JSON"),
        ('{"level": "loud"}', "level: "),
        ('{"sample": {"x": 2}}', "sample.x: "),
        ('{"colour": "red"}', "colour: "),
        (f'{{"levels": {{}}{" " * 70_000}}}', "more than 65,536 bytes"),
    ],
)
def test_rules_that_are_wrong_are_said_once_and_change_nothing(rules: Path, wrong: str, why: str) -> None:
    stream = configured(rules=rules)
    rules.write_text('{"level": "debug"}')
    structlog.get_logger().debug("one")
    rules.write_text(wrong)
    structlog.get_logger().debug("two")
    structlog.get_logger().debug("three")
    told = events(stream)
    assert [event["event"] for event in told if event["level"] == "debug"] == ["one", "two", "three"]
    [said] = [event for event in told if event["level"] == "error"]
    assert (said["event"], why in said["why"]) == ("log_rules_wrong", True), said
    rules.write_text('{"level": "warning"}')
    structlog.get_logger().debug("four")
    assert len(events(stream)) == len(told)


def test_a_sample_has_all_lines_of_a_turn_or_none_and_every_warning(rules: Path) -> None:
    stream, log = configured(rules=rules), structlog.get_logger()
    rules.write_text('{"sample": {"step": 0.25}}')
    for number in range(400):
        for _ in range(3):
            log.info("step", turn=f"t-{number}")
        log.info("other", turn=f"t-{number}")
        log.warning("step", turn=f"t-{number}")
    kept = Counter((event["event"], event["level"]) for event in events(stream))
    lines = Counter(event["turn"] for event in events(stream) if (event["event"], event["level"]) == ("step", "info"))
    assert set(lines.values()) == {3}
    assert 60 <= len(lines) <= 140, "about a quarter"
    assert (kept["other", "info"], kept["step", "warning"]) == (400, 400)


def test_rules_reach_loggers_of_other_libraries_and_leave_them_as_they_were(rules: Path) -> None:
    library = logging.getLogger("elsewhere.far")
    stream = configured(rules=rules)

    def told() -> list[str]:
        stream.truncate(stream.seek(0))
        structlog.get_logger().debug("a line, with which the file is looked at")
        library.debug("quiet")
        library.warning("loud")
        return [event["event"] for event in events(stream) if event.get("logger") == "elsewhere.far"]

    assert told() == ["loud"]
    rules.write_text('{"levels": {"elsewhere": "debug"}}')
    assert told() == ["quiet", "loud"]
    rules.write_text('{"levels": {"elsewhere": "debug", "elsewhere.far": "error"}}')
    assert told() == []
    rules.write_text('{"level": "error"}')
    assert told() == []
    rules.unlink()
    assert told() == ["loud"]
    assert library.level == logging.NOTSET


def test_a_line_of_a_turn_has_its_trace_and_one_within_a_span_has_that() -> None:
    stream, log = configured(), structlog.get_logger()
    log.info("nowhere", turn="t-1")
    token = JOURNAL_ID.set("journal")
    try:
        with structlog.contextvars.bound_contextvars(turn="t-1"):
            log.info("turn")
            span = NonRecordingSpan(SpanContext(0xA, 0xB, is_remote=False, trace_flags=TraceFlags(1)))
            with use_span(span):
                log.info("span")
        log.info("none")
    finally:
        JOURNAL_ID.reset(token)
    told = [(event.get("trace_id"), event.get("span_id")) for event in events(stream)]
    trace = f"{TurnIds('journal', 't-1').trace:032x}"
    assert told == [(None, None), (trace, None), (f"{0xA:032x}", f"{0xB:016x}"), (None, None)]
