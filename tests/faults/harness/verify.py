"""The journal is whole: the proof that `turnwright journal verify` makes."""

from turnwright.journal.store import Journal
from turnwright.journal.store_verify import verify


async def assert_whole(journal: Journal) -> None:
    """Fail with every finding there is."""
    findings = [f"{proof.where}: {finding}" async for proof in verify(journal) for finding in proof.findings]
    assert not findings, findings
