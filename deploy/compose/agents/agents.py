"""An agent that plays a script, to see the stack at work before it is given a model: `agents:registry`."""

from turnwright.activities import Agent, Registry
from turnwright.activities.models import Say, script

HELLO = script("hello", Say(say="Hello! I am a script; give me a model."))

registry = Registry([Agent("hello", HELLO.model)])
