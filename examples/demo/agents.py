"""The agents that the demonstration's workers run: `turnwright worker --agents examples.demo.agents:registry`.

The clerk and the writer think with a real language model on this machine. The desk plays scripts that stand in the
messages: it makes the sequences of tool calls that so small a model does not make by itself.
"""

from __future__ import annotations

import os

from examples.demo.place import MODEL_VARIABLE
from examples.demo.tools import append_ledger, list_files, read_file, write_file
from examples.local_model import MODEL_NAME
from turnwright.activities import Agent, Permissions, Registry

# What people are asked is another story: examples/order_change.
UNASKED = Permissions(mode="bypass")
BASE_URL = os.environ[MODEL_VARIABLE]

clerk = Agent(
    "clerk",
    MODEL_NAME,
    base_url=BASE_URL,
    instructions="You are the clerk of a shop. Use the tools.",
    tools=[list_files, read_file, append_ledger],
    permissions=UNASKED,
    model_settings={"temperature": 0.0, "max_tokens": 80},
)
writer = Agent(
    "writer",
    MODEL_NAME,
    base_url=BASE_URL,
    instructions="You write for people who like clear words.",
    model_settings={"temperature": 0.2, "max_tokens": 160, "seed": 7},
)
desk = Agent("desk", "scripted:desk", tools=[list_files, read_file, write_file, append_ledger], permissions=UNASKED)

registry = Registry([clerk, writer, desk])
