"""What is counted in a series is told once the series was shown at zero."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from turnwright.client.metrics import series
from turnwright.client.metrics.series import Series

NAME = "turnwright_failures_total"


def test_what_is_counted_before_a_series_was_shown_is_told_after_its_zero_and_nothing_is_told_twice() -> None:
    registry = CollectorRegistry()
    failures = Series.counter(registry, "failures", "Some", ("kind",))
    failures.add("cut")
    failures.add("cut", value=2)
    assert registry.get_sample_value(NAME, {"kind": "cut"}) == 0
    failures.shown(failures.standing())
    assert registry.get_sample_value(NAME, {"kind": "cut"}) == 3
    failures.add("cut")
    failures.add("auth")
    assert registry.get_sample_value(NAME, {"kind": "cut"}) == 4
    assert registry.get_sample_value(NAME, {"kind": "auth"}) == 0
    failures.shown(failures.standing())
    failures.shown(failures.standing())
    assert registry.get_sample_value(NAME, {"kind": "cut"}) == 4
    assert registry.get_sample_value(NAME, {"kind": "auth"}) == 1


def test_a_histogram_without_labels_is_held_back_as_well() -> None:
    registry = CollectorRegistry()
    took = Series.histogram(registry, "took_seconds", "Some", (), (1.0, 2.0))
    took.add(value=1.5)
    assert registry.get_sample_value("turnwright_took_seconds_count") == 0
    took.shown(took.standing())
    assert registry.get_sample_value("turnwright_took_seconds_bucket", {"le": "2.0"}) == 1
    assert registry.get_sample_value("turnwright_took_seconds_sum") == 1.5


def test_where_nobody_asks_no_more_than_so_much_is_held_back() -> None:
    registry = CollectorRegistry()
    failures = Series.counter(registry, "failures", "Some", ("kind",))
    for _ in range(series.HELD_MAX + 1):
        failures.add("cut")
    failures.add("cut")
    assert registry.get_sample_value(NAME, {"kind": "cut"}) == series.HELD_MAX + 2
    assert not failures._held


def test_what_begins_while_a_page_is_made_is_not_taken_for_shown() -> None:
    registry = CollectorRegistry()
    failures = Series.counter(registry, "failures", "Some", ("kind",))
    failures.add("cut")
    page = failures.standing()
    failures.add("auth")
    failures.shown(page)
    assert registry.get_sample_value(NAME, {"kind": "cut"}) == 1
    assert registry.get_sample_value(NAME, {"kind": "auth"}) == 0
    failures.shown(failures.standing())
    assert registry.get_sample_value(NAME, {"kind": "auth"}) == 1
