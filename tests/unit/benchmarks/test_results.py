"""What the measurements say, and how the page of results is kept."""

import json
from pathlib import Path

from benchmarks import report
from benchmarks.figures import Figure, Section, Spread
from benchmarks.rounds import alternating, paired, together

MACHINE = {"cores": "2", "Python": "3.11"}


def section(title: str, *ours: float) -> Section:
    return Section(
        title, f"How {title} was measured.", (Figure("a figure", "ms", ours, "a floor", (2.0,) * len(ours)),)
    )


def test_a_ratio_is_taken_within_each_round_and_never_between_two_medians() -> None:
    figure = Figure("x", "ms", (10.0, 100.0, 30.0), "floor", (5.0, 100.0, 10.0))
    assert figure.ratio == Spread(2.0, 1.0, 3.0)


def test_samples_that_are_no_pairs_are_held_against_the_middle_of_the_others() -> None:
    figure = Figure("x", "s", (1.0, 4.0), "peer", (8.0, 10.0, 12.0), paired=False)
    assert figure.ratio == Spread(0.25, 0.1, 0.4)


def test_measuring_one_part_again_keeps_the_figures_of_the_others(tmp_path: Path) -> None:
    report.write(
        {"turn": section("A turn", 3.0, 4.0), "append": section("Appends", 5.0)}, MACHINE, quick=False, folder=tmp_path
    )
    page = report.write({"append": section("Appends", 7.0)}, MACHINE, quick=True, folder=tmp_path).read_text("utf-8")
    assert "| a figure | 3.5 ms | a floor | 2 ms | **1.75** (1.5 to 2) | 2 |" in page
    assert "| a figure | 7 ms | a floor | 2 ms | **3.5** | 1 |" in page
    assert "| 5 ms |" not in page
    assert page.count("with `--quick`") == 1
    assert page.index("## A turn") < page.index("## Appends")
    assert page.count("## Machine (turn, append)") == 1
    kept = json.loads((tmp_path / "RESULTS.json").read_text("utf-8"))
    assert kept["append"]["figures"][0]["ours"] == [7.0, 7.0, 7.0]


async def test_the_first_round_is_thrown_away_and_the_order_is_swapped_at_each() -> None:
    order: list[str] = []

    async def sample(who: str) -> float:
        order.append(who)
        return float(len(order))

    ours, theirs = await paired(2, lambda: sample("ours"), lambda: sample("theirs"))
    assert order == ["theirs", "ours", "ours", "theirs", "theirs", "ours"]
    assert (ours, theirs) == ((3.0, 6.0), (4.0, 5.0))


async def test_acts_that_alternate_give_one_median_each_round() -> None:
    order: list[str] = []

    async def act(who: str) -> None:
        order.append(who)

    ours, theirs = await alternating(3, 2, lambda: act("o"), lambda: act("t"))
    assert "".join(order) == "otot" * 4
    assert len(ours) == len(theirs) == 3


async def test_streams_run_side_by_side_and_every_act_is_counted() -> None:
    seen: list[tuple[int, int]] = []

    async def act(stream: int, number: int) -> None:
        seen.append((stream, number))

    assert await together(3, 2, act) > 0
    assert sorted(seen) == [(stream, number) for stream in range(3) for number in range(2)]
