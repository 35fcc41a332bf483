"""Recorded histories on disk: `histories/<version that recorded them>/<scenario>.json`."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from temporalio.client import WorkflowHistory

HISTORIES = Path(__file__).parent / "histories"


def path_of(scenario: str) -> Path:
    """Where this version's recording of a scenario is."""
    return HISTORIES / version("turnwright") / f"{scenario}.json"


def write(scenario: str, history: WorkflowHistory) -> None:
    kept = {"workflow_id": history.workflow_id, "history": without_traces(json.loads(history.to_json()))}
    path = path_of(scenario)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept, separators=(",", ":"), sort_keys=True) + "\n", encoding="utf-8")


def without_traces(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Without stack traces: nothing replays them, and they name folders of a machine."""
    if isinstance(value, list):
        return [without_traces(item) for item in value]
    if isinstance(value, dict):
        return {key: without_traces(item) for key, item in value.items() if key != "stackTrace"}
    return value


def read(path: Path) -> WorkflowHistory:
    return history_of(json.loads(path.read_text(encoding="utf-8")))


def history_of(kept: dict[str, Any]) -> WorkflowHistory:
    return WorkflowHistory.from_json(kept["workflow_id"], kept["history"])
