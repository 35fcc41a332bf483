"""`turnwright journal verify|rebuild|reindex|migrate|stats` from the terminal: what they say, and how they exit."""

import base64
import json
import logging  # noqa: TID251 - it is put back as it was
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from typer.testing import CliRunner, Result

from turnwright.worker.main import build_app


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """The commands set up the logs of their process, which here is the tests'."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    structlog.reset_defaults()
    root.handlers, root.level = handlers, level


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "new" / "journal.db"


def call(file: Path | str, *arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["--journal", str(file), *arguments])


def made(file: Path) -> None:
    assert call(file, "journal", "migrate").exit_code == 0
    for request in ("one", "two"):
        submitted = call(
            file, "submit", request, "--agent", "echo", "--session", "s", "--create", "--request-id", request
        )
        assert submitted.exit_code == 0, submitted.output


def test_migrate_makes_a_journal_and_is_harmless_twice(file: Path) -> None:
    first, second = (json.loads(call(file, "journal", "migrate", "--json").stdout) for _ in range(2))
    assert first == second
    assert first["schema_version"] >= 1


def test_transcripts_are_written_once_and_what_is_new_the_next_time(file: Path) -> None:
    made(file)
    folder = file.parent / "transcripts"
    assert "1 session looked at" in call(file, "transcripts", str(folder)).stdout
    log = folder / "default" / "_anonymous" / "s.log.jsonl"
    kinds = [json.loads(line).get("type") for line in log.read_text().splitlines()]
    assert kinds == [None, "session.created", "turn.queued", "turn.queued"]
    before = log.read_bytes()
    assert call(file, "session", "pause", "s").exit_code == 0
    assert json.loads(call(file, "transcripts", str(folder), "--json").stdout) == {"folder": str(folder), "sessions": 1}
    assert log.read_bytes().startswith(before)
    assert log.read_text().splitlines()[-1].count("session.paused") == 1


def test_verify_proves_a_journal_and_exits_with_0(file: Path) -> None:
    made(file)
    said = call(file, "journal", "verify", "--json")
    assert said.exit_code == 0
    assert json.loads(said.stdout) == {"verified": {"proven": 3, "entries": 3, "erased": 0, "sealed": 0, "findings": 0}}
    assert "all proven" in call(file, "journal", "verify", "--session", "s").stdout


def test_a_journal_is_sealed_its_keys_change_and_its_chain_is_proven_without_them(file: Path) -> None:
    made(file)
    keys = file.parent / "keys"
    keys.write_text(f"old {base64.b64encode(bytes(32)).decode()}\n")
    sealed = f"sqlite:///{file}?keys={keys}"
    said = call(sealed, "journal", "seal", "--json")
    assert json.loads(said.stdout) == {"sessions": 1, "entries": 3, "wrapped": 0, "keys": {"old": 1}}
    for secret in (b'"two"', b'"one"'):
        assert secret not in file.read_bytes()
    assert "all proven" in call(sealed, "journal", "verify").stdout
    assert "chains and numbers proven, the rest needs keys" in call(file, "journal", "verify").stdout
    refused = call(file, "session", "list")
    assert refused.exit_code != 0
    assert "add `keys=FILE` to the journal's URL" in refused.output
    keys.write_text(f"new {base64.b64encode(bytes([1] * 32)).decode()}\n{keys.read_text()}")
    assert json.loads(call(sealed, "journal", "seal", "--json").stdout)["keys"] == {"new": 1}
    assert call(file, "journal", "seal").exit_code != 0


def test_verify_names_what_was_changed_and_exits_with_1(file: Path) -> None:
    made(file)
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE entries SET type = 'turn.paused' WHERE entry_id = 'cmd:two:0'")
    connection.close()
    said = call(file, "journal", "verify", "--json")
    assert said.exit_code == 1
    finding = json.loads(said.stdout.splitlines()[0])["finding"]
    assert (finding["check"], finding["seq"]) == ("chain", 2)
    assert '"echo"' in finding["where"]
    left = call(file, "journal", "rebuild")
    assert left.exit_code == 1
    assert "left as it is" in left.stdout


def test_rebuild_says_how_much_it_wrote(file: Path) -> None:
    made(file)
    said = call(file, "journal", "rebuild", "--json")
    assert said.exit_code == 0
    assert json.loads(said.stdout) == {"rebuilt": 3, "kept": 0}


def test_stats_counts_what_is_there(file: Path) -> None:
    made(file)
    counted = json.loads(call(file, "journal", "stats", "--json").stdout)
    assert counted["counts"]["entries"] == 3
    assert counted["turns"] == {"queued": 2}
    assert counted["workers"] == []
    assert "queued" in call(file, "journal", "stats").stdout


def test_reindex_finds_what_was_there_before_and_has_nothing_to_do_again(file: Path) -> None:
    made(file)
    with sqlite3.connect(file) as connection:
        connection.execute("DELETE FROM texts")
        connection.execute("UPDATE threads SET searched_seq = 0")
    assert json.loads(call(file, "session", "search", "two", "--json").stdout)["hits"] == []
    assert "threads to index 2" in " ".join(call(file, "journal", "stats").stdout.split())
    done = [json.loads(call(file, "journal", "reindex", "--json", *more).stdout) for more in ((), (), ("--all",))]
    assert done == [{"indexed": 2}, {"indexed": 0}, {"indexed": 2}]
    [hit] = json.loads(call(file, "session", "search", "two", "--json").stdout)["hits"]
    assert (hit["session"], hit["agent"], hit["role"]) == ("s", "echo", "user")
    assert hit["snippet"] == [{"text": "two", "found": True}]
    shown = call(file, "session", "search", "two", "--session", "s")
    assert "s (anonymous)  echo/main" in shown.stdout
    assert call(file, "session", "search", "--", "-two").exit_code == 2


@pytest.mark.parametrize("command", ["verify", "rebuild", "stats"])
def test_a_journal_that_is_not_there_is_said_on_one_line_and_not_made(file: Path, command: str) -> None:
    said = call(file, "journal", command)
    assert said.exit_code == 3
    assert said.stderr.startswith("error: there is no journal at")
    assert len(said.stderr.splitlines()) == 1
    assert not file.exists()


@pytest.mark.parametrize("command", ["verify", "rebuild"])
def test_a_session_that_is_not_there_is_not_said_to_be_whole(file: Path, command: str) -> None:
    made(file)
    said = call(file, "journal", command, "--session", "nope")
    assert said.exit_code == 2
    assert said.stderr.startswith("error: there is no session nope of the anonymous user")
    assert "proven" not in said.stdout


def test_a_setting_that_cannot_be_used_is_said_on_one_line(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWRIGHT_LEASE_S", "soon")
    said = call(file, "journal", "stats")
    assert said.exit_code == 2
    assert "TURNWRIGHT_LEASE_S" in said.stderr
    for command in (("journal", "stats"), ("worker",), ("dev",)):
        told = json.loads(call(file, *command, "--json").stderr)
        assert told["error"]["code"] == "settings", command


@pytest.mark.parametrize("command", ["dev", "dev --no-gateway", "gateway"])
def test_what_serves_a_journal_refuses_a_gateway_to_go_through_before_it_starts_anything(
    file: Path, command: str
) -> None:
    Path("turnwright.toml").write_text('gateway_url = "https://agents.example.com"\n', "utf-8")
    said = call(file, *command.split())
    assert said.exit_code == 2
    assert len(said.stderr.splitlines()) == 1
    assert "leave gateway_url out" in said.stderr or "leave it out of turnwright.toml" in said.stderr
    assert not Path(".turnwright").exists()


@pytest.mark.parametrize(
    "command",
    [
        "journal verify --user ann",
        "journal rebuild --user ann",
        "submit hello --session s --agent echo --timeout 1",
        "turns --thread main",
    ],
)
def test_an_option_that_would_do_nothing_is_refused(file: Path, command: str) -> None:
    made(file)
    said = call(file, *command.split())
    assert said.exit_code == 2
    assert "goes with --" in said.stderr


def test_a_dev_for_a_temporal_that_runs_already_is_refused(file: Path) -> None:
    said = CliRunner().invoke(build_app(), ["--temporal-address", "there:7233", "dev"])
    assert said.exit_code == 2
    assert "there:7233 use `turnwright worker`" in said.stderr
    assert not Path(".turnwright").exists()


def test_a_reader_of_the_output_that_leaves_is_no_error(file: Path) -> None:
    made(file)
    command = [sys.executable, "-m", "turnwright.worker.main", "--journal", str(file), "journal", "stats", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 0)


def test_the_version_is_told() -> None:
    assert CliRunner().invoke(build_app(), ["--version"]).stdout.startswith("turnwright 0.")


def test_without_a_command_the_help_is_shown() -> None:
    shown = CliRunner().invoke(build_app(), [])
    assert "dev" in shown.output
    assert "Usage" in shown.output


def test_snapshots_are_rebuilt_shown_and_verified_where_they_are_said_to_be(file: Path, tmp_path: Path) -> None:
    made(file)
    place = ("--snapshots", f"file://{tmp_path}/snapshots")
    before = json.loads(call(file, "snapshots", "verify", "--json", *place).stdout)
    assert before == {"verified": {"behind": 1}}  # its turns wait for a worker
    done = call(file, "snapshots", "rebuild", "--json", *place)
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"rebuilt": {"same": 1}})
    assert json.loads(call(file, "snapshots", "verify", "--json", *place).stdout) == {"verified": {"same": 1}}
    shown = json.loads(call(file, "snapshots", "show", "--session", "s", "--json", *place).stdout)
    assert shown["key"] == ["default", None, "echo", "s", "main", "agent_state"]
    assert [item["message"]["blocks"][0]["text"] for item in shown["state"]["inbox"]] == ["one", "two"]
    Path(shown["place"]).write_text("{}", encoding="utf-8")
    said = call(file, "snapshots", "verify", "--session", "s", *place)
    assert said.exit_code == 1
    assert shown["place"] in said.stdout.replace("\n", "")
    assert call(file, "snapshots", "show", "--session", "s", *place).exit_code == 3
    assert call(file, "snapshots", "show", "--session", "s", "--thread", "other", *place).exit_code == 1


def test_what_was_brought_to_a_place_that_is_given_up_is_forgotten_without_asking_it(
    file: Path, tmp_path: Path
) -> None:
    made(file)
    place = ("--snapshots", f"file://{tmp_path}/snapshots")
    assert call(file, "snapshots", "rebuild", *place).exit_code == 0
    (tmp_path / "snapshots").rename(tmp_path / "gone")
    (tmp_path / "snapshots").touch()
    assert call(file, "snapshots", "verify", *place).exit_code == 3
    assert call(file, "snapshots", "forget", *place).exit_code == 2
    forgotten = [json.loads(call(file, "snapshots", "forget", "--yes", "--json", *place).stdout) for _ in range(2)]
    assert forgotten == [{"forgotten": 1}, {"forgotten": 0}]


def test_snapshots_that_stand_nowhere_are_refused_on_one_line(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(file)
    assert "say where snapshots are kept" in call(file, "snapshots", "verify").stderr
    monkeypatch.setenv("TURNWRIGHT_SNAPSHOTS", "mongodb://user:secret@host")
    said = call(file, "snapshots", "verify")
    assert said.exit_code == 2
    assert "TURNWRIGHT_SNAPSHOTS 'mongodb' is no store of snapshots" in said.stderr
    assert "secret" not in said.stderr
