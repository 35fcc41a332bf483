"""The scenes, in the order in which they are played."""

from examples.demo.scene import Scene
from examples.demo.scenes import (
    cancel,
    conversation,
    kill_between_tools,
    kill_once,
    kill_while_streaming,
    lost_temporal,
    own_calls,
    pause,
    rebuild,
    steer,
    verify,
)

SCENES: tuple[Scene, ...] = (
    conversation.SCENE,
    own_calls.SCENE,
    kill_while_streaming.SCENE,
    kill_between_tools.SCENE,
    kill_once.SCENE,
    pause.SCENE,
    cancel.SCENE,
    steer.SCENE,
    lost_temporal.SCENE,
    rebuild.SCENE,
    verify.SCENE,
)
