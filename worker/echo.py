"""An agent that needs no model and no key, so that whoever tries `turnwright dev` can submit something at once."""

from turnwright.activities import Agent, Registry
from turnwright.activities.models.script_steps import Say, dump_steps

ECHO = Agent(
    name="echo",
    model="scripted:echo",
    instructions="Repeat what you are told.",
    model_settings={"steps": dump_steps((Say(say="You said: {user}", chunk_characters=4, delay_s=0.02),))},
)

registry = Registry([ECHO])
