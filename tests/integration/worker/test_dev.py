"""`turnwright dev` as a person uses it: it starts, serves, and leaves nothing behind, however it ends."""

import asyncio
import json
import os
import shlex
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx2
import pytest

from tests.integration.client.asking import http
from tests.integration.worker.stack import ROOT, until

pytestmark = pytest.mark.slow

DEADLINE_S = 90
PORT_WAIT_S = 60
COMMAND = (sys.executable, "-m", "turnwright.worker.main")


@dataclass
class DevUnderTest:
    """A running `turnwright dev`."""

    process: asyncio.subprocess.Process
    folder: Path

    async def ready(self) -> dict[str, Any]:
        """Wait until it says so; where it is found."""
        await self.shown()
        found: dict[str, Any] = json.loads((self.folder / ".turnwright" / "dev.json").read_text())
        return found

    async def shown(self) -> list[str]:
        """What it shows when it is ready."""
        assert self.process.stdout is not None
        shown = []
        async with asyncio.timeout(DEADLINE_S):
            while line := await self.process.stdout.readline():
                shown.append(line.decode().rstrip())
                if b"Ctrl-C ends it" in line:
                    return shown
        raise AssertionError(f"dev ended before it was ready: {shown}")

    def children(self) -> set[int]:
        """The processes it started that live."""
        return {pid for pid, parent in processes() if parent == self.process.pid}

    async def ended(self) -> int:
        async with asyncio.timeout(DEADLINE_S):
            return await self.process.wait()


Start = Callable[..., Awaitable[DevUnderTest]]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Start `turnwright dev` in the test's folder."""
    async with AsyncExitStack() as exits:

        async def start(*options: str, folder: Path = tmp_path, **settings: str) -> DevUnderTest:
            process = await asyncio.create_subprocess_exec(
                *(*COMMAND, "dev", *options), cwd=folder, env=environment(settings), stdout=asyncio.subprocess.PIPE
            )
            dev = DevUnderTest(process, folder)
            exits.push_async_callback(end, dev)
            return dev

        yield start


async def end(dev: DevUnderTest) -> None:
    if dev.process.returncode is None:
        dev.process.kill()
    await dev.process.wait()


def environment(settings: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    told = {f"TURNWRIGHT_{name.upper()}": value for name, value in settings.items()}
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("TEMPORAL_", "TURNWRIGHT_"))}
    return clean | told | {"PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}


def processes() -> list[tuple[int, int]]:
    """Every living process with its parent."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            found.append((int(stat.parent.name), int(parent)))
    return found


async def until_gone(pids: set[int]) -> None:
    async def gone() -> bool:
        return not pids & {pid for pid, _ in processes()}

    await until(gone)


async def turnwright(folder: Path, *arguments: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *(*COMMAND, *arguments),
        cwd=folder,
        env=environment(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(DEADLINE_S):
        out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def test_a_stranger_can_submit_something_at_once_and_ctrl_c_leaves_nothing_behind(start: Start) -> None:
    dev = await start("--workers", "2")
    await dev.ready()
    key = (dev.folder / ".turnwright" / "gateway.key").read_text()
    code, out, err = await turnwright(
        dev.folder, "submit", "hello", "--agent", "echo", "--session", "first", "--create", "--follow"
    )
    assert (code, out.strip().splitlines()[-1]) == (0, "You said: hello"), err
    assert "Temporal was not told" not in err, "it finds the Temporal of this folder by itself"
    children = dev.children()
    assert len(children) == 4
    dev.process.send_signal(signal.SIGINT)
    assert await dev.ended() == 0
    await until_gone(children)
    assert not (dev.folder / ".turnwright" / "dev.json").exists()
    code, out, _ = await turnwright(dev.folder, "journal", "verify")
    assert code == 0, out
    again = await start()
    await again.ready()
    assert (dev.folder / ".turnwright" / "gateway.key").read_text() == key
    code, out, _ = await turnwright(dev.folder, "turns", "--json")
    assert [turn["status"] for turn in json.loads(out)["turns"]] == ["completed"]


@pytest.fixture
def _usual_port_taken() -> Iterator[None]:
    """By this test, or by something that keeps it longer than the gateways of other tests do."""
    until_s = time.monotonic() + PORT_WAIT_S
    taken = _taken()
    while taken is None and time.monotonic() < until_s:
        time.sleep(0.1)
        taken = _taken()
    yield
    if taken is not None:
        taken.close()


def _taken() -> socket.socket | None:
    try:
        return socket.create_server(("127.0.0.1", 8420))
    except OSError:
        return None


@pytest.mark.usefixtures("_usual_port_taken")
async def test_a_gateway_runs_beside_for_who_has_the_key_and_comes_back_when_it_is_killed(start: Start) -> None:
    dev = await start(log_level="debug")
    shown = await dev.shown()
    info = json.loads((dev.folder / ".turnwright" / "dev.json").read_text())
    url, key = info["gateway_url"], (dev.folder / info["key_file"]).read_text().strip()
    assert url != "http://127.0.0.1:8420"
    assert any(f"{url}/console" in line for line in shown)
    assert (dev.folder / info["key_file"]).stat().st_mode & 0o777 == 0o600
    async with http(url) as stranger, http(url, key) as ask:
        assert (await stranger.get("/me")).status_code == 401
        me = (await ask.get("/me")).json()
        assert (me["tenant"], me["role"]) == ("default", "admin")
        system = (await ask.get("/system")).json()
        assert system["temporal_ui"] == f"{info['ui_url']}/namespaces/default"
        assert [worker["agents"] for worker in system["workers"]] == [["echo"]]
        assert all(worker["lease_s"] for worker in system["workers"])
        [gateway] = gateways(dev)
        os.kill(gateway, signal.SIGKILL)

        async def back() -> bool:
            try:
                answer = await ask.get("/me")
            except httpx2.TransportError:
                return False
            return answer.status_code == 200 and gateways(dev) not in ([], [gateway])

        await until(back)
        # It ends although somebody follows.
        await ask.put("/sessions/s", json={})
        async with ask.stream("GET", "/sessions/s/events") as answer:
            lines = answer.aiter_lines()
            await anext(lines)
            dev.process.send_signal(signal.SIGINT)
            assert [line async for line in lines if line][-1] == ": server stopping"
            assert await dev.ended() == 0
    written = "\n".join(path.read_text() for path in (dev.folder / ".turnwright").glob("*.log"))
    assert "gateway_listening" in written
    assert key not in "\n".join([written, *shown])


def gateways(dev: DevUnderTest) -> list[int]:
    return [pid for pid in dev.children() if "worker.main gateway" in command_of(pid)]


async def test_a_killed_dev_leaves_no_process_and_its_folder_can_be_used_again(start: Start) -> None:
    dev = await start()
    await dev.ready()
    children = dev.children()
    dev.process.kill()
    await dev.process.wait()
    await until_gone(children)
    again = await start()
    await again.ready()


async def test_a_second_dev_in_the_folder_says_so_and_disturbs_nothing(start: Start) -> None:
    dev = await start("--no-gateway")
    info = await dev.ready()
    code, out, err = await turnwright(dev.folder, "dev")
    assert (code, out) == (3, "")
    assert f"runs in this folder already (process {dev.process.pid}, {info['ui_url']})" in err
    assert dev.children()


async def test_devs_that_start_at_once_in_two_folders_get_a_temporal_each(start: Start, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    devs = [await start(folder=folder) for folder in folders]
    infos = [await dev.ready() for dev in devs]
    for name in ("temporal_address", "ui_url", "gateway_url"):
        assert len({info[name] for info in infos}) == 2
    for folder in folders:
        code, out, err = await turnwright(
            folder, "submit", "hello", "--agent", "echo", "--session", "first", "--create", "--follow"
        )
        assert (code, out.strip().splitlines()[-1]) == (0, "You said: hello"), err


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_worker_that_ends_or_is_stopped_is_started_again(
    start: Start, tmp_path: Path, how: signal.Signals
) -> None:
    dev = await start("--no-gateway", lease_s="1")
    await dev.ready()
    [worker] = [pid for pid in dev.children() if "worker.main" in command_of(pid)]
    os.kill(worker, how)

    async def back() -> bool:
        return (tmp_path / ".turnwright" / "worker-1.log").read_text().count("presence_held") == 2

    await until(back)


@pytest.mark.parametrize(
    ("agents", "said"),
    [
        ("nowhere.agents:registry", "'nowhere.agents:registry': there is no module nowhere"),
        ("broken:registry", "'broken:registry' cannot be loaded: ZeroDivisionError: division by zero"),
        ("leaving:registry", "'leaving:registry': the process ended with 7 while the agents were loaded: goodbye"),
        ("./mine.py:agents", "--agents names a file: write its module, mine:agents"),
    ],
)
async def test_agents_that_cannot_be_loaded_are_said_once_before_anything_is_started(
    agents: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text("print('loading')\n1 / 0\n")
    (tmp_path / "leaving.py").write_text(
        "import os, sys\nsys.stderr.write('goodbye')\nsys.stderr.flush()\nos._exit(7)\n"
    )
    for command in ("dev", "worker"):
        if command == "worker" and agents.startswith("leaving"):
            continue
        if command == "worker":
            await turnwright(tmp_path, "journal", "migrate")
        code, out, err = await turnwright(tmp_path, command, "--agents", agents)
        assert (code, err.count(said)) == (2, 1), err
        assert "click" not in err
        assert "importlib" not in err
        if agents.startswith("broken"):
            assert "    1 / 0" in err, "the line of the user's code"
        if command == "dev":
            assert out == ""
            assert not (tmp_path / ".turnwright").exists()


async def test_a_model_that_cannot_be_made_is_said_at_the_start_and_a_failed_turn_in_the_terminal(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(
        "from turnwright.activities import Agent\n"
        "agents = [Agent('a', 'nonsense'), Agent('b', 'openai:gpt-5'), Agent('c', 'x', base_url='http://127.0.0.1:9/v1')]\n"
    )
    dev = await start("--json", "--no-gateway", "--agents", "mine:agents")
    assert dev.process.stdout is not None
    async with asyncio.timeout(DEADLINE_S):
        told = json.loads(await dev.process.stdout.readline())
    assert len(told["warnings"]) == 2
    assert told["warnings"][0] == "agent a: model 'nonsense' cannot be made: Unknown model: nonsense"
    assert "OPENAI_API_KEY" in told["warnings"][1]
    code, _, _ = await turnwright(tmp_path, "submit", "x", "--agent", "a", "--session", "first", "--create", "--follow")
    assert code == 1

    def logged(event: str) -> list[dict[str, Any]]:
        lines = (tmp_path / ".turnwright" / "worker-1.log").read_text().splitlines()
        return [line for line in map(json.loads, lines) if line["event"] == event]

    async def both() -> bool:  # it is looked at beside the work
        return [line["agent"] for line in logged("model_cannot_be_made")] == ["a", "b"]

    await until(both)
    [failed] = logged("turn_failed")
    assert failed["level"] == "warning"
    assert "Unknown model" in failed["message"]


async def test_what_to_try_stands_on_whole_lines_outside_of_the_box(start: Start, tmp_path: Path) -> None:
    name = ("an agent with quite a long name " * 3).strip()
    (tmp_path / "mine.py").write_text(
        f"from turnwright.activities import Agent\nagents = [Agent({name!r}, 'nonsense')]\n"
    )
    shown = await (await start("--no-gateway", "--agents", "mine:agents")).shown()
    [submit] = [line for line in shown if "turnwright submit" in line]
    assert submit.startswith("  turnwright submit")
    assert shlex.split(submit)[4] == name
    assert submit.endswith("--create --follow")
    assert any("Warning" in line and "│" in line for line in shown), "in the box"


async def test_agents_stand_in_the_folder_it_is_called_in(start: Start, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from turnwright.activities import Agent\n"
        "agents = [Agent('parrot', 'scripted:x', model_settings={'steps': [{'say': 'Hello!'}]})]\n"
    )
    dev = await start("--no-gateway", "--agents", "mine:agents")
    await dev.ready()
    code, out, err = await turnwright(
        tmp_path, "submit", "x", "--agent", "parrot", "--session", "first", "--create", "--follow"
    )
    assert (code, out.strip().splitlines()[-1]) == (0, "Hello!"), err


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


async def test_a_program_that_starts_it_is_told_where_everything_is_in_json(start: Start) -> None:
    dev = await start("--json")
    assert dev.process.stdout is not None
    async with asyncio.timeout(DEADLINE_S):
        told = json.loads(await dev.process.stdout.readline())
    assert (told["pid"], told["agents"], told["workers"]) == (dev.process.pid, ["echo"], 1)
    assert told == json.loads((dev.folder / ".turnwright" / "dev.json").read_text()) | {
        "agents": ["echo"],
        "workers": 1,
        "folder": ".turnwright",
        "warnings": [],
    }
    for line in (dev.folder / ".turnwright" / "worker-1.log").read_text().splitlines():
        assert json.loads(line)["event"]
    code, out, err = await turnwright(dev.folder, "dev", "--json")
    assert (code, out, json.loads(err)["error"]["code"]) == (3, "", "failed")
