"""Models behind one port: the pydantic-ai adapter, the scripted one, and the router between them.

Rule: importing this loads no provider's SDK; the first call of a real model does. An author needs scripts from
here: `script(name, Say(...), Call(...))` is a model that plays them. The rest is the port, for who calls a model
without an agent.
"""

from turnwright.activities.models.port import (
    FailureClass,
    Model,
    ModelFailure,
    ModelRequest,
    ModelResponse,
    Partial,
)
from turnwright.activities.models.router import Models
from turnwright.activities.models.script_steps import Call, CallSpec, Cut, Delay, Fail, Say, Silent
from turnwright.activities.models.scripted import Script, ScriptedModel, script

__all__ = [
    "Call",
    "CallSpec",
    "Cut",
    "Delay",
    "Fail",
    "FailureClass",
    "Model",
    "ModelFailure",
    "ModelRequest",
    "ModelResponse",
    "Models",
    "Partial",
    "Say",
    "Script",
    "ScriptedModel",
    "Silent",
    "script",
]
