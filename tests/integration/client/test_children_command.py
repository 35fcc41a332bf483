"""`turnwright turn show` and the like, of a turn that waits for a subagent and of the subagent's."""

from collections import Counter

import pytest

from tests.integration.client.hands import AGENT, Hands
from tests.integration.client.terminal import Run, lines, shown
from turnwright.client import Client, Session, WaitTimeout
from turnwright.client.direct import Direct


async def test_a_turn_names_its_children_and_a_child_its_parent(
    run: Run, client: Client, session: Session, hands: Hands, asking: Hands
) -> None:
    turn = await session.submit("one", agent=AGENT)
    child = await client.turn(await hands.open_child(turn))
    await asking.want_tool(child, arguments={"n": 3})
    told = shown(await run("turn", "show", turn.id))
    assert f"{child.id} of {AGENT}: waiting" in told
    assert 'ledger({"n": 3})' in told, "what the child asks is seen at its parent"
    assert turn.id in shown(await run("turn", "show", child.id))
    [page] = lines(await run("approvals", "list", "--json"))
    [asked] = page["questions"]
    assert (asked["turn_id"], asked["parent"]["turn_id"]) == (child.id, turn.id)
    [whole] = lines(await run("turn", "show", turn.id, "--json"))
    assert [below["turn_id"] for below in whole["children"]] == [child.id]
    assert "accepted" in shown(await run("turn", "approve", turn.id))
    assert (await child.questions()) == ()


async def test_waiting_for_a_turn_looks_at_none_of_its_children(client: Client, session: Session, hands: Hands) -> None:
    turn, seen = await session.submit("one", agent=AGENT), Counter[str]()
    await hands.open_children(turn, 3)
    backend = client._access.backend
    assert isinstance(backend, Direct)
    backend.journal.driver.hook = lambda point: seen.update([point])
    with pytest.raises(WaitTimeout):
        await turn.wait(0.05)
    assert 0 < seen["find_turn"] <= seen["begin"]
    seen.clear()
    assert len((await turn.status()).children) == 3
    assert seen["find_turn"] == 4
