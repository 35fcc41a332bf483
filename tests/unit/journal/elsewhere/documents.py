"""Documents of other systems, drawn as they write them, and states of ours."""

from __future__ import annotations

import base64
import json
from typing import Any, get_args

from hypothesis import strategies as st

from turnwright.journal.agent_state import AgentState
from turnwright.journal.elsewhere import Conversation
from turnwright.journal.messages import Denier, Media, Message, Outcome, Text, Thinking, ToolCall, ToolResult, Usage
from turnwright.journal.permissions.change import MODES
from turnwright.journal.state_parts import MemoryState, PermissionState, PlanState, Requirement, Rule, TaskState, Todo

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
SAID = WORDS.filter(bool)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)
EXTRA = st.dictionaries(st.sampled_from(["future", "priority", "x"]), JSON, max_size=2)
TIMES = st.datetimes().map(lambda at: at.isoformat(" ", "milliseconds"))
PICTURE = b"\x89PNG\r\n\x1a\n"
PICTURE_TEXT = base64.b64encode(PICTURE).decode()


def _source(mime_key: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.sampled_from(
        [
            {"type": "base64", "media_type": "image/png", "data": PICTURE_TEXT},
            {"type": "url", "url": "https://shop.example/a.png", mime_key: "image/png"},
            {"type": "url", "url": "https://shop.example/a.wav"},
            {"type": "url", "url": "file:///srv/shop/a.png"},
        ]
    )


java_text = st.builds(lambda text, more: {"type": "text", "text": text} | more, st.none() | WORDS, EXTRA)
java_file = st.builds(
    lambda kind, source, more: {"type": kind, "source": source} | more,
    st.sampled_from(["image", "audio", "video", "data"]), _source("mime_type"), EXTRA,
)  # fmt: skip
java_thinking = st.builds(
    lambda text, more: {"type": "thinking", "thinking": text, "metadata": more}, WORDS, st.none() | EXTRA
)
unknown = st.builds(lambda more: {"type": "of tomorrow"} | more, EXTRA)


@st.composite
def java_states(draw: st.DrawFn) -> dict[str, Any]:
    """States of AgentScope Java in which every call has its result."""
    context: list[dict[str, Any]] = []
    for turn in range(draw(st.integers(0, 3))):
        context.append(_java(draw, "USER", draw(st.lists(java_text | java_file | st.none(), max_size=3))))
        calls = [
            _java_call(draw, f"{turn}{draw(st.sampled_from(['', ':', '-x']))}{n}")
            for n in range(draw(st.integers(0, 2)))
        ]
        said = draw(st.lists(java_text | java_thinking | unknown, max_size=3))
        context.append(_java(draw, "ASSISTANT", [*said, *calls]))
        if calls:
            context.append(_java(draw, "TOOL", [_java_result(draw, call) for call in calls]))
    state: dict[str, Any] = {"session_id": draw(WORDS), "user_id": draw(st.none() | WORDS), "context": context}
    state |= draw(st.fixed_dictionaries({}, optional={"summary": WORDS, "cur_iter": st.integers(), "odd": JSON}))
    state |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "permission_context": permissions(),
                "tool_context": st.fixed_dictionaries(
                    {"max_cache_files": st.just(100), "activated_groups": st.lists(SAID, max_size=2)}
                ),
                "tasks_context": tasks(),
                "plan_mode_context": st.fixed_dictionaries(
                    {"plan_active": st.booleans(), "current_plan_file": st.none() | WORDS}
                ),
            },
        )
    )
    return state


def _java(draw: st.DrawFn, role: str, content: list[Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"id": draw(WORDS), "name": draw(st.none() | WORDS), "role": role, "content": content}
    message |= {"metadata": draw(st.none() | EXTRA), "timestamp": draw(TIMES)}
    return message | draw(EXTRA)


def _java_call(draw: st.DrawFn, call_id: str) -> dict[str, Any]:
    arguments = draw(st.dictionaries(WORDS, JSON, max_size=2))
    call = {"type": "tool_use", "id": call_id, "name": draw(SAID), "input": arguments}
    raw = st.sampled_from([None, json.dumps(arguments), "{broken"])
    more = st.fixed_dictionaries({}, optional={"content": raw, "state": st.sampled_from([None, "finished"]), "x": JSON})
    return call | draw(more)


def _java_result(draw: st.DrawFn, call: dict[str, Any]) -> dict[str, Any]:
    output = draw(st.lists(java_text | java_file, max_size=2))
    state = draw(st.sampled_from([None, "success", "error", "denied", "interrupted", "running"]))
    return {"type": "tool_result", "id": call["id"], "name": call["name"], "output": output, "state": state}


@st.composite
def python_states(draw: st.DrawFn) -> dict[str, Any]:
    """States of the Python AgentScope, with calls and results in one message."""
    context: list[dict[str, Any]] = []
    for turn in range(draw(st.integers(1, 3))):
        context.append(_python(draw, "user", [_python_block(draw, "text", text=draw(WORDS))]))
        content: list[Any] = []
        for step in range(draw(st.integers(0, 2))):
            ids = [f"{turn}.{step}.{n}" for n in range(draw(st.integers(0, 2)))]
            content += [_python_block(draw, "tool_call", id=one, name="look", input=draw(WORDS)) for one in ids]
            content += [_python_block(draw, "tool_result", id=one, name="look", output=draw(WORDS)) for one in ids]
            content += [_python_block(draw, "hint", hint=draw(WORDS))] if draw(st.booleans()) else []
        content.append(_python_block(draw, "thinking", thinking=draw(WORDS), signature=draw(st.none() | WORDS)))
        content.append(_python_block(draw, "text", text=draw(WORDS)))
        context.append(_python(draw, "assistant", content))
    return {"session_id": draw(WORDS), "summary": draw(WORDS), "context": context, "middle_context": draw(EXTRA)}


def _python(draw: st.DrawFn, role: str, content: list[Any]) -> dict[str, Any]:
    return {"name": draw(WORDS), "role": role, "content": content, "created_at": draw(TIMES), "finished_at": None}


def _python_block(draw: st.DrawFn, kind: str, **held: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    return {"type": kind, **held, "created_at": draw(WORDS)} | draw(EXTRA)


def permissions() -> st.SearchStrategy[dict[str, Any]]:
    """Permission contexts, some of them with rules that have no meaning here."""
    rule = st.fixed_dictionaries(
        {
            "tool_name": st.sampled_from(["Bash", "Read", "look", "what is this"]),
            "rule_content": st.sampled_from([None, "npm install", "src/**"]),
            "behavior": st.sampled_from(["allow", "deny", "ask"]),
            "source": st.just("userSettings"),
        }
    )
    rules = st.dictionaries(st.sampled_from(["Bash", "Read", "look"]), st.lists(rule, max_size=2), max_size=2)
    places = st.dictionaries(WORDS, st.fixed_dictionaries({"path": st.sampled_from(["/srv/shop", "shop"])}), max_size=2)
    return st.fixed_dictionaries(
        {"mode": st.sampled_from(MODES), "working_directories": places},
        optional={"allow_rules": rules, "deny_rules": rules, "ask_rules": rules},
    )


def tasks() -> st.SearchStrategy[dict[str, Any]]:
    """Task contexts, some of them with todos that are not to be kept here."""
    todo = st.fixed_dictionaries(
        {
            "id": st.sampled_from(["a", "b"]), "subject": WORDS, "description": WORDS, "metadata": EXTRA,
            "created_at": WORDS, "state": st.sampled_from(["pending", "in_progress", "completed"]),
            "owner": st.none() | WORDS, "blocks": st.just([]), "blocked_by": st.lists(st.just("a"), max_size=1),
        }
    )  # fmt: skip
    return st.fixed_dictionaries({"tasks": st.lists(todo, max_size=2)}, optional={"objective": WORDS})


@st.composite
def our_states(draw: st.DrawFn) -> AgentState:
    """States of ours in which every call has its result."""
    context: list[Message] = []
    for turn in range(draw(st.integers(0, 3))):
        text = draw(st.lists(SAID.map(lambda said: Text(text=said)) | ours_media, min_size=1, max_size=2))
        metadata: dict[str, Any] = draw(st.sampled_from([{}, {"pinned": True}, {"input": "steered"}]))
        context.append(Message(role="user", blocks=tuple(text), metadata=metadata, name=draw(st.none() | SAID)))
        ids = [f"{turn}-{n}" for n in range(draw(st.integers(0, 2)))]
        calls = [
            ToolCall(
                id=one, name="look", arguments=draw(st.dictionaries(WORDS, JSON, max_size=2)),
                malformed=draw(st.none() | SAID), edited=draw(st.booleans()),
            )
            for one in ids
        ]  # fmt: skip
        thought = draw(st.lists(st.builds(Thinking, text=SAID, signature=st.none() | SAID), max_size=1))
        usage = draw(st.none() | st.just(Usage(requests=1, input_tokens=3)))
        said = (Text(text="done"),)
        context.append(Message(role="assistant", blocks=(*thought, *calls, *said), usage=usage, at=draw(ours_time)))
        context += [_our_result(draw, one) for one in ids]
    return AgentState(
        session_id="s", context=tuple(context), summary=draw(WORDS), permissions=draw(ours_permissions),
        plan=draw(st.builds(PlanState, active=st.booleans(), document=WORDS)), tasks=draw(ours_tasks),
        tools=tuple(draw(st.lists(SAID, max_size=2, unique=True))),
        memory=draw(st.builds(MemoryState, document=WORDS)),
    )  # fmt: skip


def _our_result(draw: st.DrawFn, call_id: str) -> Message:
    outcome: Outcome = draw(st.sampled_from(get_args(Outcome)))
    output = draw(st.lists(SAID.map(lambda said: Text(text=said)), max_size=2))
    by: Denier = draw(st.sampled_from(get_args(Denier)))
    result = ToolResult(id=call_id, name="look", output=tuple(output), outcome=outcome, by=by)
    return Message(role="tool", blocks=(result,), at=draw(ours_time))


BLOBS = {"0" * 64: PICTURE}
ours_media = st.sampled_from(
    [Media(mime="image/png", url="https://shop.example/a.png"), Media(mime="x/y", url="http://shop.example/b?c=d")]
)
ours_time = st.none() | st.just("2026-03-01T10:00:00.123456+00:00")
ours_permissions = st.builds(
    PermissionState,
    mode=st.sampled_from(MODES),
    allow=st.lists(st.builds(Rule, tool=st.just("look"), pattern=st.none() | st.just("a=1*")), max_size=1).map(tuple),
    deny=st.lists(st.builds(Rule, tool=st.just("Read"), pattern=st.just("path:/srv/**")), max_size=1).map(tuple),
    working_directories=st.sampled_from([(), ("/srv/shop",)]),
)
ours_tasks = st.builds(
    TaskState,
    revision=st.integers(0, 9),
    todos=st.lists(st.builds(Todo, id=st.just("a"), subject=SAID, description=WORDS), max_size=1).map(tuple),
    objective=st.none() | SAID,
    requirements=st.lists(st.builds(Requirement, id=st.just("r"), text=SAID), max_size=1).map(tuple),
)


def brought(found: Conversation) -> AgentState:
    """The state of a thread that began with it."""
    context = [
        message.model_copy(update={"id": f"cmd:r:{n}", "seq": n + 2}) for n, message in enumerate(found.messages)
    ]
    known = {name: value for name, value in found.state.items() if name in AgentState.model_fields}
    extra = {name: value for name, value in found.state.items() if name not in known}
    return AgentState.model_validate({"session_id": "ours", **known, "extra": extra}).model_copy(
        update={"context": tuple(context)}
    )
