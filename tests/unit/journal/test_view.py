"""The view a model is sent: every call with its result, whatever was lost, and in words it understands."""

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.journal.agent import asking
from tests.unit.journal.scene import Scene, call, must
from tests.unit.journal.world import check_pairs, check_request
from turnwright.journal.agent_state import AgentState, empty_state
from turnwright.journal.entries import ContextCompacted, ContextOffloaded, Entry, Erased
from turnwright.journal.evolve_state import evolve_state
from turnwright.journal.ids import ThreadKey
from turnwright.journal.messages import Block, Message, Text, ToolCall, ToolResult, user
from turnwright.journal.view import DENIED_VIEW, SURROUNDINGS, SURROUNDINGS_VIEW, paired, request_messages

CALL_IDS = st.sampled_from(["a", "b", "c"])
blocks: st.SearchStrategy[Block] = st.one_of(
    st.builds(Text, text=st.just("words")),
    st.builds(ToolCall, id=CALL_IDS, name=st.just("look")),
    st.builds(ToolResult, id=CALL_IDS, name=st.just("look")),
)
roles = st.sampled_from(["user", "assistant", "tool", "system"])
messages = st.builds(Message, id=st.uuids().map(str), role=roles, blocks=st.lists(blocks, max_size=4).map(tuple))
contexts = st.lists(messages, max_size=6).map(tuple)


@given(contexts)
def test_whatever_a_context_has_lost_its_view_pairs_every_call_with_one_result(context: tuple[Message, ...]) -> None:
    view = paired(context)
    check_pairs(view)
    assert paired(view) == view


@given(contexts)
def test_no_call_and_no_word_is_lost_in_the_view(context: tuple[Message, ...]) -> None:
    view = paired(context)
    assert {c.id for m in view for c in m.calls} == {c.id for m in context for c in m.calls}
    assert [m.text for m in view if m.text] == [m.text for m in context if m.text]


@given(contexts)
def test_a_result_that_is_there_is_the_one_that_is_shown(context: tuple[Message, ...]) -> None:
    known = {r.id for m in context for r in m.results}
    shown = {r.id: r.outcome for m in paired(context) for r in m.results}
    assert all((outcome == "interrupted") == (call_id not in known) for call_id, outcome in shown.items())


def test_a_denial_is_stored_as_it_happened_and_shown_as_the_persons_choice() -> None:
    scene = Scene(agent=asking("send"))
    scene.calling("send")
    must(scene.respond("deny", reason="not today"))
    (stored,) = [r for m in scene.machine.state.context for r in m.results]
    assert stored.output == (Text(text="not today"),)
    (shown,) = [r for m in request_messages(scene.machine.state) for r in m.results]
    assert shown.output == (Text(text=DENIED_VIEW), Text(text="not today"))
    assert stored.outcome == shown.outcome == "denied"


def test_the_request_after_a_turn_that_was_cut_down_is_valid() -> None:
    scene = Scene()
    first, _ = scene.calling("send", "look")
    must(scene.start(first))
    must(scene.cancel())
    scene.machine.dead.add(scene.worker)
    scene.worker = "w2"
    scene.thinking()
    check_request(scene.machine.state)
    outcomes = [r.outcome for m in request_messages(scene.machine.state) for r in m.results]
    assert outcomes == ["unknown", "interrupted"]


def compact(state: AgentState, from_seq: int, to_seq: int) -> AgentState:
    payload = ContextCompacted(from_seq=from_seq, to_seq=to_seq, summary="what was said")
    return evolve_state(state, Entry("compaction", payload, seq=state.as_of_seq + 1))


def test_without_the_content_of_a_compaction_what_it_replaced_is_there_again() -> None:
    scene = Scene().thinking()
    must(scene.respond_model())
    before = scene.machine.state
    assert compact(before, 1, before.as_of_seq).context == ()
    erased = evolve_state(before, Entry("compaction", Erased(type=ContextCompacted.TYPE), seq=before.as_of_seq + 1))
    assert (erased.context, erased.summary) == (before.context, "")


def test_a_compaction_anywhere_leaves_a_view_that_is_whole() -> None:
    scene = Scene()
    first, second = scene.calling("send", "look")
    must(scene.start(first))
    must(scene.finish(first))
    must(scene.start(second))
    must(scene.finish(second))
    state = scene.machine.state
    for begin in range(1, state.as_of_seq + 1):
        for end in range(begin, state.as_of_seq + 1):
            view = request_messages(compact(state, begin, end))
            check_pairs(view)
            assert view[0].text.endswith("what was said")


def test_a_compaction_right_after_an_unanswered_call_shows_it_as_interrupted_until_its_result_comes() -> None:
    scene = Scene()
    (call_id,) = scene.calling("send")
    must(scene.start(call_id))
    scene.machine.state = compact(scene.machine.state, 1, 5)
    assert scene.machine.state.pending_calls == {call_id}
    check_request(scene.machine.state)


def test_a_result_that_was_moved_aside_is_shown_as_its_stub_and_nothing_else_changes() -> None:
    scene = Scene()
    first, second = scene.calling("send", "look")
    for call_id in (first, second):
        must(scene.start(call_id))
        must(scene.finish(call_id, "error", text="long"))
    before = scene.machine.state
    payload = ContextOffloaded(call_id=second, result_seq=9, stub="[4 MB are set aside]")
    after = evolve_state(before, Entry("aside", payload, seq=before.as_of_seq + 1))
    said = [(r.id, r.name, r.outcome, r.output) for m in request_messages(after) for r in m.results]
    assert said == [
        (first, "send", "error", (Text(text="long"),)),
        (second, "look", "error", (Text(text="[4 MB are set aside]"),)),
    ]
    others = [[(m.seq, m.blocks) for m in state.context if not m.results] for state in (after, before)]
    assert others[0] == others[1]
    assert after.pending_calls == before.pending_calls == frozenset()


def test_a_call_is_pending_until_a_result_with_its_id_exists() -> None:
    scene = Scene()
    first, second = scene.calling("send", "look")
    assert scene.machine.state.pending_calls == {first, second}
    must(scene.start(first))
    must(scene.finish(first))
    assert scene.machine.state.pending_calls == {second}


def test_usage_is_counted_per_turn_and_in_total_and_a_late_answer_only_in_the_total() -> None:
    scene = Scene().thinking()
    first = scene.turn
    must(scene.respond_model(call("no such tool")))
    must(scene.request())
    must(scene.respond_model())
    scene.thinking()
    second, scene.turn = scene.turn, first
    must(scene.respond_model(step=1, ordinal=2))
    scene.turn = second
    must(scene.respond_model())
    usage = scene.machine.state.usage
    assert (usage.total.requests, usage.turn.requests, usage.turn_id) == (4, 1, second)


def test_a_retried_turn_goes_on_counting_its_usage() -> None:
    scene = Scene().thinking()
    must(scene.respond_model(call("no such tool")))
    must(scene.request())
    must(scene.fail_model("auth"))
    must(scene.retry())
    must(scene.claim())
    must(scene.request())
    must(scene.respond_model())
    assert scene.machine.state.usage.turn.requests == 2


def test_of_two_results_of_a_call_the_first_is_shown() -> None:
    asked = Message(id="1", role="assistant", blocks=(ToolCall(id="a", name="look"),))
    results = [ToolResult(id="a", name="look", output=(Text(text=text),)) for text in ("first", "second")]
    view = paired((asked, *(Message(id=str(n), role="tool", blocks=(r,)) for n, r in enumerate(results))))
    assert [r.output for m in view for r in m.results] == [(Text(text="first"),)]


def showing(text: str, page: str, **more: str) -> Message:
    return user(text, **{SURROUNDINGS: [{"description": "page", "value": page}]}, **more)


def texts(*context: Message) -> list[str]:
    state = empty_state(ThreadKey("t", None, "agent", "s")).model_copy(update={"context": context})
    return [message.text for message in request_messages(state)]


def test_what_an_application_shows_is_told_with_the_newest_input_and_never_with_an_older_one() -> None:
    answer = Message(role="assistant", blocks=(Text(text="yes"),))
    orders, bill = (f"{SURROUNDINGS_VIEW}\n- page: {page}" for page in ("orders", "bill"))
    first, second = showing("one", "orders"), showing("two", "bill")
    assert texts(first) == [f"one{orders}"]
    assert texts(first, answer) == [f"one{orders}", "yes"]
    assert texts(first, answer, second) == ["one", "yes", f"two{bill}"]
    assert texts(first, answer, user("two")) == ["one", "yes", "two"]
    assert texts(first, answer, user("faster", input="steered")) == [f"one{orders}", "yes", "faster"]
    assert texts(first, showing("here", "bill", input="steered")) == ["one", f"here{bill}"]


def test_metadata_that_only_look_like_surroundings_are_no_words() -> None:
    for held in ("orders", {"page": "orders"}, [], ["orders"], None):
        assert texts(user("one", **{SURROUNDINGS: held})) == ["one"]
