"""The files for operators: a unit that starts the server as it is, and examples that name what exists."""

import re
import shlex
from configparser import ConfigParser
from pathlib import Path
from textwrap import dedent

import pytest

from assent.cli.serve_command import build_parser
from assent.front.web.request_limits import RequestLimits

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.spec("H1")


def test_the_systemd_unit_starts_reloads_and_stops_the_server_as_it_is():
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]
    unit.read(ROOT / "packaging" / "assent.service")
    program, command, *options = shlex.split(unit["Service"]["ExecStart"])
    assert (program, command) == ("%h/.local/bin/assent", "serve")
    assert build_parser().parse_args(options).log_format == "json"
    assert unit["Service"]["ExecReload"].endswith("-HUP $MAINPID")
    assert int(unit["Service"]["TimeoutStopSec"]) > 10, "longer than the server itself takes"
    assert unit["Install"]["WantedBy"] == "default.target"


def test_the_unit_is_part_of_the_package_and_the_page_for_operators_names_every_file():
    assert '"packaging/assent.service" = "share/systemd/user/assent.service"' in (ROOT / "pyproject.toml").read_text()
    text = (ROOT / "docs" / "operations.md").read_text()
    for name in ("assent.service", "nginx.conf", "Caddyfile"):
        assert (ROOT / "packaging" / name).exists() and f"packaging/{name}" in text


def test_the_page_for_operators_shows_the_proxies_as_they_are_packaged():
    text = (ROOT / "docs" / "operations.md").read_text()
    nginx = (ROOT / "packaging" / "nginx.conf").read_text()
    location = nginx[nginx.index("    location") : nginx.rindex("}\n")]
    assert f"```nginx\n{dedent(location)}```" in text
    _comment, _line, caddy = (ROOT / "packaging" / "Caddyfile").read_text().partition("\n")
    assert f"```\n{caddy}```" in text


def test_nginx_accepts_the_largest_upload_that_the_server_accepts():
    limit = re.search(r"client_max_body_size (\d+)m;", (ROOT / "packaging" / "nginx.conf").read_text())
    assert limit is not None and int(limit[1]) * 2**20 >= RequestLimits().upload_body
