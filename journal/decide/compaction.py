"""What of a conversation gives way, recorded under the lock if nothing speaks against it.

Rule: the attempt that has claimed the step's model call may, and only with the conversation as it is now. A candidate
that is refused changes nothing; the model is called with what is there.
"""

from __future__ import annotations

from turnwright.journal import entry_ids
from turnwright.journal.commands import CompactContext, Rejection
from turnwright.journal.context.candidate import faults, with_stubs
from turnwright.journal.context.stubs import text_of
from turnwright.journal.decide.context import Context, Decision
from turnwright.journal.entries import Draft, Payload
from turnwright.journal.messages import Message


def compact_context(context: Context, command: CompactContext) -> Decision:
    """Record what gives way, or say what speaks against it."""
    if not _has_claimed(context, command):
        return Rejection("no_claim", "this attempt does not have the step's model call (any more)")
    messages = () if context.facts.state is None else context.facts.state.context
    against = _against(messages, command)
    if against is not None:
        return Rejection("not_compactable", against)
    payloads: list[Payload] = [*command.offloads]
    if command.compacted is not None:
        payloads.append(command.compacted)
    cause = entry_ids.model(command.turn_id, command.step, command.ordinal, "compacted")
    return [
        Draft(
            entry_ids.caused(cause, index), payload,
            turn_id=command.turn_id, run=command.run, step=command.step, epoch=command.epoch,
        )
        for index, payload in enumerate(payloads)
    ]  # fmt: skip


def _has_claimed(context: Context, command: CompactContext) -> bool:
    active = context.control.turn(command.turn_id)
    model = None if active is None else active.model
    if active is None or model is None or model.claim is None or active.status.phase == "cancelling":
        return False
    return command.epoch == context.control.epoch and (model.step, model.ordinal) == (command.step, command.ordinal)


def _against(messages: tuple[Message, ...], command: CompactContext) -> str | None:
    results = {(result.id, message.seq): text_of(result) for message in messages for result in message.results}
    for offload in command.offloads:
        text = results.get((offload.call_id, offload.result_seq), "")
        if len(text) <= len(offload.stub):
            return f"the conversation has no such long result of {offload.call_id} from entry {offload.result_seq}"
    if command.compacted is None:
        return None if command.offloads else "nothing would give way"
    found = "; ".join(faults(with_stubs(messages, command.offloads), command.compacted))
    return found or None
