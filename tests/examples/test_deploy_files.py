"""The files in `deploy/`: they give only options that exist, and the alerts watch only metrics that exist."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from assent.cli import serve_command, work_command

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
HOME = "/home/assent/.assent"
PARSERS = {"serve": serve_command.build_parser(), "work": work_command.build_parser()}


def commands() -> Iterator[list[str]]:
    compose: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    yield from (
        shlex.split(service["command"]) for service in compose["services"].values() if service["image"] == "assent"
    )
    manifests: list[dict[str, Any]] = list(yaml.safe_load_all((DEPLOY / "kubernetes/assent.yaml").read_text()))
    yield from (
        container["args"]
        for manifest in manifests
        if manifest["kind"] == "Deployment"
        for container in manifest["spec"]["template"]["spec"]["containers"]
    )


@pytest.mark.parametrize("command", list(commands()), ids=" ".join)
def test_every_process_of_a_cluster_starts_with_options_that_exist(command: list[str]) -> None:
    role, *options = command
    given = PARSERS[role].parse_args(options)
    assert given.engine.startswith("temporal://")


def test_both_roles_are_deployed_more_than_once_in_both_ways() -> None:
    assert sorted(command[0] for command in commands()) == ["serve"] * 3 + ["work"] * 4


def homes() -> Iterator[str]:
    """Where the data folder of each server is: two servers cannot use one."""
    compose: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    for service in compose["services"].values():
        if service["image"] == "assent" and service["command"].startswith("serve"):
            yield from (mount for mount in service["volumes"] if mount.endswith(HOME))


def test_servers_do_not_share_a_data_folder() -> None:
    found = list(homes())
    assert len(found) == len(set(found)) == 2
    deployment = next(
        manifest
        for manifest in yaml.safe_load_all((DEPLOY / "kubernetes/assent.yaml").read_text())
        if (manifest["kind"], manifest["metadata"]["name"]) == ("Deployment", "assent-serve")
    )
    pod: dict[str, Any] = deployment["spec"]["template"]["spec"]
    (mounted,) = (one["name"] for one in pod["containers"][0]["volumeMounts"] if one["mountPath"] == HOME)
    (home,) = (volume for volume in pod["volumes"] if volume["name"] == mounted)
    assert "persistentVolumeClaim" not in home


def test_alerts_watch_metrics_that_exist() -> None:
    sources = [*(ROOT / "src/assent/front/web").glob("*metrics.py"), ROOT / "src/assent/app/worker_probe.py"]
    code = "".join(path.read_text() for path in sources)
    known = set(re.findall(r'"(assent_[a-z_]+)"', code))
    alerts = yaml.safe_load((DEPLOY / "alerts.yaml").read_text())
    text = " ".join(rule["expr"] for group in alerts["groups"] for rule in group["rules"])
    used = {name.removesuffix("_bucket") for name in re.findall(r"assent_[a-z_]+", text)}
    assert used and used <= known
