"""What `deploy/` says fits what there is: each file its own schema, each setting and flag the program's."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from compose_spec.models import ComposeSpecification
from kubernetes_validate.utils import latest_version, validate
from typer.main import get_command

from tests.unit.source_tree import ROOT
from turnwright.client.metrics.meters import Meters
from turnwright.client.metrics.page import Sample
from turnwright.journal.transact.statistics import LiveNumber
from turnwright.worker.main import build_app
from turnwright.worker.settings import Settings

DEPLOY = ROOT / "deploy"
YAML = [path for pattern in ("*.yaml", "*.yml") for path in sorted(DEPLOY.rglob(pattern))]
MANIFESTS = [path for path in YAML if "kubernetes" in path.parts]
SCHEMALESS = {"Kustomization", "ScaledObject"}
LINT = "{extends: default, rules: {line-length: {max: 160}, document-start: disable, braces: {max-spaces-inside: 0}}}"
HANDING_OVER_S = 10


def name_of(path: Path) -> str:
    return path.relative_to(DEPLOY).as_posix()


def manifests() -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in MANIFESTS:
        for document in yaml.safe_load_all(path.read_text("utf-8")):
            yield path, document


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text("utf-8"))
    return found


def units() -> str:
    return "\n".join(path.read_text("utf-8") for path in (DEPLOY / "systemd").iterdir())


def containers(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = manifest["spec"]["template"]["spec"]["containers"]
    return found


def workloads(folder: str) -> dict[str, dict[str, Any]]:
    """Deployments and jobs of a folder, by name."""
    return {
        manifest["metadata"]["name"]: manifest
        for path, manifest in manifests()
        if path.parent.name == folder and manifest["kind"] in {"Deployment", "Job"}
    }


def commands() -> Iterator[str]:
    """What the program is called with."""
    for manifest in workloads("base").values():
        yield from (" ".join(container["args"]) for container in containers(manifest))
    yield from re.findall(r"ExecStart=\S+turnwright (.*)", units())
    for service in compose()["services"].values():
        if service.get("image", "").startswith("turnwright"):
            yield " ".join(service["command"])


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", YAML, ids=name_of)
def test_every_yaml_file_is_well_formed(path: Path) -> None:
    run(sys.executable, "-m", "yamllint", "--strict", "--config-data", LINT, str(path))


def test_the_image_follows_the_rules_of_images() -> None:
    run(str(Path(sys.executable).with_name("hadolint")), str(DEPLOY / "image" / "Dockerfile"))


def test_what_the_image_is_built_from_is_there_and_let_through() -> None:
    said = (DEPLOY / "image" / "Dockerfile").read_text("utf-8")
    copied = {word for line in re.findall(r"^COPY (?!--from)(.*)", said, re.MULTILINE) for word in line.split()[:-1]}
    let_through = set(
        re.findall(r"^!(.*)", (DEPLOY / "image" / "Dockerfile.dockerignore").read_text("utf-8"), re.MULTILINE)
    )
    assert copied == let_through
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_the_compose_file_is_one_and_its_files_are_there() -> None:
    ComposeSpecification.model_validate(compose())
    services = compose()["services"].values()
    mounted = [volume.split(":")[0] for service in services for volume in service.get("volumes", ())]
    here = [path for path in mounted if path.startswith(".")]
    assert here
    assert [path for path in here if not (DEPLOY / "compose" / path).exists()] == []


def test_every_variable_of_the_compose_file_is_offered_in_its_example() -> None:
    asked = re.findall(r"\$\{(\w+)", (DEPLOY / "compose" / "compose.yaml").read_text("utf-8"))
    offered = re.findall(r"^#?(\w+)=", (DEPLOY / "compose" / "example.env").read_text("utf-8"), re.MULTILINE)
    assert set(asked) == set(offered)


def whole_manifests() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, manifest in manifests():
        patch = path.parent.name == "production" and manifest["kind"] == "Deployment"
        if not patch and manifest["kind"] not in SCHEMALESS:
            yield f"{name_of(path)} {manifest['kind']} {manifest['metadata']['name']}", manifest


@pytest.mark.parametrize("manifest", [pytest.param(manifest, id=name) for name, manifest in whole_manifests()])
def test_a_manifest_fits_its_schema(manifest: dict[str, Any]) -> None:
    validate(manifest, latest_version(), strict=True)


def test_a_patch_is_about_a_container_there_is() -> None:
    base = workloads("base")
    for name, patch in workloads("production").items():
        assert {c["name"] for c in containers(patch)} <= {c["name"] for c in containers(base[name])}


def test_every_file_of_an_overlay_is_there() -> None:
    for path, manifest in manifests():
        if manifest["kind"] == "Kustomization":
            files = [*manifest["resources"], *(patch["path"] for patch in manifest.get("patches", ()))]
            assert [name for name in files if not (path.parent / name).exists()] == [], path


def test_no_container_runs_as_root_or_writes_to_its_image() -> None:
    for manifest in workloads("base").values():
        pod = manifest["spec"]["template"]["spec"]
        assert pod["enableServiceLinks"] is False, "a service's own variables look like settings"
        assert pod["securityContext"]["runAsNonRoot"]
        for container in containers(manifest):
            assert container["securityContext"]["readOnlyRootFilesystem"]
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_whoever_ends_a_worker_waits_until_it_has_handed_over() -> None:
    fields = Settings.model_fields
    needs_s = fields["drain_timeout_s"].default + fields["cancel_grace_s"].default + HANDING_OVER_S
    pod = workloads("base")["turnwright-worker"]["spec"]["template"]["spec"]
    unit = (DEPLOY / "systemd" / "turnwright-worker@.service").read_text("utf-8")
    assert pod["terminationGracePeriodSeconds"] > needs_s
    assert int(compose()["services"]["worker"]["stop_grace_period"].removesuffix("s")) > needs_s
    assert int(re.findall(r"TimeoutStopSec=(\d+)", unit)[0]) > needs_s


@pytest.mark.parametrize("path", sorted(p for p in DEPLOY.rglob("*") if p.is_file()), ids=name_of)
def test_every_setting_that_is_named_is_one(path: Path) -> None:
    named = set(re.findall(r"\bTURNWRIGHT_([A-Z_]+)\b", path.read_text("utf-8")))
    known = {name.upper() for name in Settings.model_fields} | {"DB_PASSWORD"}
    assert named <= known


@pytest.mark.parametrize("arguments", sorted(set(commands())))
def test_every_command_is_one_with_its_flags(arguments: str) -> None:
    command: Any = get_command(build_app())
    words = shlex.split(arguments)
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    assert not hasattr(command, "commands"), arguments
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool (`apt-get install prometheus`)")
def test_each_alert_fires_when_its_fault_is_there_and_not_without_it(tmp_path: Path) -> None:
    for name in ("alerts.yml", "alerts_test.yml"):
        shutil.copy(DEPLOY / "prometheus" / name, tmp_path)
    shutil.copy(DEPLOY / "compose" / "prometheus" / "prometheus.yml", tmp_path)
    run("promtool", "check", "config", str(tmp_path / "prometheus.yml"))
    for place in ("hosts.yml", "kubernetes.yml"):
        found = (DEPLOY / "prometheus" / place).read_text("utf-8")
        # Debian's promtool knows nothing of Kubernetes.
        told = re.sub(r"kubernetes_sd_configs: .*", 'static_configs: [{targets: ["pod:9464"]}]', found)
        (tmp_path / place).write_text(told, "utf-8")
        run("promtool", "check", "config", str(tmp_path / place))
    run("promtool", "test", "rules", str(tmp_path / "alerts_test.yml"))


def test_the_jobs_for_kubernetes_keep_pods_and_ports_there_are() -> None:
    jobs = yaml.safe_load((DEPLOY / "prometheus" / "kubernetes.yml").read_text("utf-8"))["scrape_configs"]
    for job in jobs:
        component, port = (rule["regex"] for rule in job["relabel_configs"] if rule.get("action") == "keep")
        template = workloads("base")[job["job_name"]]["spec"]["template"]
        assert template["metadata"]["labels"]["app.kubernetes.io/component"] == component
        assert port in [one["name"] for container in template["spec"]["containers"] for one in container["ports"]]


def test_every_alert_is_tested_and_says_what_to_do() -> None:
    rules = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text("utf-8"))["groups"][0]["rules"]
    tests = yaml.safe_load((DEPLOY / "prometheus" / "alerts_test.yml").read_text("utf-8"))["tests"]
    quiet, firing = tests[0]["alert_rule_test"], tests[1]["promql_expr_test"][0]["exp_samples"][0]["value"]
    assert [rule["alert"] for rule in rules] == [case["alertname"] for case in quiet]
    assert firing == len(rules)
    assert all(rule["annotations"]["runbook"] and rule["annotations"]["summary"] for rule in rules)
    guide = (ROOT / "docs" / "guides" / "watching.md").read_text("utf-8")
    told = re.findall(r"^\| `(Turnwright\w+)` \| (page|ticket) \|", guide, re.MULTILINE)
    assert told == [(rule["alert"], rule["labels"]["severity"]) for rule in rules]


def numbers() -> set[str]:
    """The families that processes show of Turnwright."""
    sample = Sample({})
    sample.numbers, sample.temporal = [LiveNumber("turns", "queued", 1, 1.0)], True
    meters = Meters()
    meters.registry.register(sample)
    return {family.name for family in meters.registry.collect() if family.name.startswith("turnwright_")}


def named(text: str) -> set[str]:
    """The families that are named somewhere."""
    return {re.sub(r"_(total|bucket|count|sum)$", "", name) for name in re.findall(r"\bturnwright_\w*[a-z]", text)}


def test_alerts_ask_for_numbers_that_are_shown_and_so_does_the_dashboard_which_shows_all_of_them() -> None:
    alerts = (DEPLOY / "prometheus" / "alerts.yml").read_text("utf-8")
    dashboard = (DEPLOY / "grafana" / "turnwright.json").read_text("utf-8")
    assert named(alerts.replace("turnwright_(journal|temporal)_up", "")) <= numbers()
    assert named(dashboard) == numbers()


def test_every_panel_of_the_dashboard_says_what_it_shows() -> None:
    dashboard = json.loads((DEPLOY / "grafana" / "turnwright.json").read_text("utf-8"))
    shown = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    assert [panel["title"] for panel in shown if not panel.get("description", "").endswith(".")] == []


def test_every_number_is_told_in_the_guide() -> None:
    guide = (ROOT / "docs" / "guides" / "watching.md").read_text("utf-8")
    short = {f"{name}_oldest_seconds" for name in re.findall(r"`(turnwright_\w+)`, `…_oldest_seconds`", guide)}
    assert named(guide) | short == numbers()
