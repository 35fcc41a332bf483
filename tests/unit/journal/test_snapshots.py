"""Whether an offered state is kept: in whatever order they come the newest stays, and each write has its version."""

from hypothesis import given
from hypothesis import strategies as st

from turnwright.journal.snapshots.deciding import Policy, judge, kept
from turnwright.journal.snapshots.snapshot import Head, Offer

OFFERS = st.builds(Offer.of_value, st.integers(0, 4), st.sampled_from(["a", "b"]))
POLICIES = st.sampled_from(["fail", "keep_newer"])
HEADS = st.none() | st.builds(
    lambda version, offer: Head(version, offer.as_of_seq, offer.sha256), st.integers(1, 4), OFFERS
)


@given(st.lists(OFFERS, min_size=1))
def test_in_whatever_order_they_come_the_newest_stays_and_each_write_has_its_version(offers: list[Offer]) -> None:
    stored: Head | None = None
    versions = list[int]()
    for offer in offers:
        done = kept(stored, judge(stored, offer, "keep_newer", None), "keep_newer", offer, "here")
        assert done.as_of_seq >= offer.as_of_seq
        if done.written:
            stored = Head(done.version, offer.as_of_seq, offer.sha256)
            versions.append(done.version)
    assert stored is not None
    assert stored.as_of_seq == max(offer.as_of_seq for offer in offers)
    assert versions == list(range(1, len(versions) + 1))


@given(HEADS, OFFERS, POLICIES, st.none() | st.integers(0, 5))
def test_an_older_one_is_never_written_and_a_version_that_was_not_read_only_over_an_older_one(
    stored: Head | None, offer: Offer, policy: Policy, expected: int | None
) -> None:
    verdict = judge(stored, offer, policy, expected)
    if verdict != "write" or stored is None:
        return
    assert offer.as_of_seq >= stored.as_of_seq
    if expected not in (None, stored.version):
        assert (policy, offer.as_of_seq > stored.as_of_seq) == ("keep_newer", True)


@given(HEADS, OFFERS, POLICIES)
def test_what_was_read_is_written_over_unless_it_would_be_with_something_older(
    stored: Head | None, offer: Offer, policy: Policy
) -> None:
    version = 0 if stored is None else stored.version
    older = stored is not None and offer.as_of_seq < stored.as_of_seq
    assert judge(stored, offer, policy, version) == ("conflict" if older else "write")
