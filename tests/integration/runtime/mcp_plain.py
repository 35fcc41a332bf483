"""An MCP server over standard input and output, of the protocol's older kind, that does what a test tells it to.

It needs nothing but Python, so it starts in a moment. Its tools leave traces in files and wait for files, as the tests'
own tools do. `python mcp_plain.py LOG [MISCHIEF…]`; LOG learns of its starts. One that is `single` does one thing at a
time, and its list changes with each call.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

POLL_S = 0.01
TEXT = {"type": "string"}
LOG = {"type": "object", "properties": {"log": TEXT, "wait_for": TEXT}, "required": ["log"]}
TOOLS: dict[str, dict[str, Any]] = {
    "echo": {
        "inputSchema": {"type": "object", "properties": {"text": TEXT}, "required": ["text"]},
        "annotations": {"readOnlyHint": True},
    },
    "send": {"inputSchema": LOG},
    "charge": {"inputSchema": LOG, "annotations": {"idempotentHint": True}},
    "confirm": {"inputSchema": LOG},
    "look.up": {"inputSchema": LOG, "annotations": {"readOnlyHint": True}},
    "fail": {"inputSchema": {"type": "object"}},
    "die": {"inputSchema": LOG},
    "picture": {"inputSchema": {"type": "object"}},
    "weigh": {
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "properties": {"kg": {"type": "number"}}},
    },
    "grow": {"inputSchema": {"type": "object"}},
    "whose_trace": {"inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
}
GROWN = {"inputSchema": {"type": "object"}, "description": "It was not there before."}
ASKED = {
    "message": "Really?",
    "requestedSchema": {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]},
}


def trace(file: str, line: str) -> None:
    with Path(file).open("a", encoding="utf-8") as opened:
        opened.write(f"{line}\n")


class Server:
    def __init__(self, log: str, mischief: set[str]) -> None:
        self.log = log
        self.mischief = mischief
        self.tools = dict(TOOLS)
        self.writing = threading.Lock()
        self.numbers = itertools.count(1)
        self.answers: dict[str, Any] = {}
        self.running: dict[object, str] = {}
        self.traceparent = ""

    def write(self, **message: object) -> None:
        with self.writing:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()

    def serve(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            if "method" in message and "single" in self.mischief:
                self.handle(message)
            elif "method" in message:
                threading.Thread(target=self.handle, args=(message,), daemon=True).start()
            else:
                self.answers[message["id"]] = message.get("result", {"action": "error"})
        trace(self.log, "input ended")

    def handle(self, message: dict[str, Any]) -> None:
        method, number, params = message["method"], message.get("id"), message.get("params") or {}
        if method == "initialize" and "mute" not in self.mischief:
            version = "2025-06-18"
            info = {"name": "plain", "version": "1"}
            capabilities = {"tools": {"listChanged": True}}
            self.write(id=number, result={"protocolVersion": version, "capabilities": capabilities, "serverInfo": info})
        elif method == "tools/list" and "listless" not in self.mischief:
            listed = [{"name": name, **tool} for name, tool in self.tools.items()]
            self.write(id=number, result={"tools": listed})
        elif method == "tools/call":
            self.call(number, params)
        elif method == "notifications/cancelled" and (log := self.running.pop(params["requestId"], None)):
            trace(log, "cancelled")
        elif method == "server/discover":
            self.write(id=number, error={"code": -32601, "message": "Method not found"})

    def call(self, number: object, params: dict[str, Any]) -> None:
        name, arguments = params["name"], params.get("arguments") or {}
        self.running[number] = arguments.get("log", self.log)
        if "single" in self.mischief:
            self.write(method="notifications/tools/list_changed")
        body = getattr(self, f"do_{name.replace('.', '_')}", None)
        if body is None:
            self.write(id=number, error={"code": -32602, "message": f"Unknown tool: {name}"})
            return
        meta = params.get("_meta") or {}
        self.traceparent = str(meta.get("traceparent"))
        result = body(arguments, meta.get("turnwright/idempotency_key"))
        if self.running.pop(number, None) is None:
            return  # it was cancelled, and is not to be answered
        self.write(
            id=number, result={"content": [{"type": "text", "text": result}]} if isinstance(result, str) else result
        )

    def begin(self, arguments: dict[str, Any], key: str) -> None:
        trace(arguments["log"], f"started {key}")
        while arguments.get("wait_for") and not Path(arguments["wait_for"]).exists():
            time.sleep(POLL_S)

    def effect(self, arguments: dict[str, Any], key: str) -> str:
        self.begin(arguments, key)
        trace(arguments["log"], "done")
        return "done"

    do_send = do_charge = do_look_up = effect

    def do_echo(self, arguments: dict[str, Any], key: str) -> str:
        sys.stderr.write(f"echoing {arguments['text']}\n")
        sys.stderr.flush()
        return str(arguments["text"])

    def do_whose_trace(self, arguments: dict[str, Any], key: str) -> str:
        return self.traceparent

    def do_confirm(self, arguments: dict[str, Any], key: str) -> str:
        self.begin(arguments, key)
        number = f"ask-{next(self.numbers)}"
        self.write(id=number, method="elicitation/create", params=ASKED)
        while number not in self.answers:
            time.sleep(POLL_S)
        answer = self.answers[number]
        trace(arguments["log"], f"answered {json.dumps(answer, sort_keys=True)}")
        return f"the answer is {answer['action']}"

    def do_fail(self, arguments: dict[str, Any], key: str) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": "There is no such customer."}], "isError": True}

    def do_die(self, arguments: dict[str, Any], key: str) -> str:
        trace(arguments["log"], f"started {key}")
        sys.stderr.write("I have had enough\n")
        sys.stderr.flush()
        os._exit(3)

    def do_picture(self, arguments: dict[str, Any], key: str) -> dict[str, Any]:
        data = base64.b64encode(b"\x89PNG").decode()
        return {"content": [{"type": "text", "text": "look"}, {"type": "image", "data": data, "mimeType": "image/png"}]}

    def do_weigh(self, arguments: dict[str, Any], key: str) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": "light"}], "structuredContent": {"kg": 1.5}}

    def do_grow(self, arguments: dict[str, Any], key: str) -> str:
        del self.tools["fail"]
        self.tools["grown"] = GROWN
        self.write(method="notifications/tools/list_changed")
        return "grown"


if __name__ == "__main__":
    trace(sys.argv[1], f"begun {os.getpid()}")
    if "stillborn" in sys.argv[2:]:
        sys.exit("I cannot begin")
    Server(sys.argv[1], set(sys.argv[2:])).serve()
