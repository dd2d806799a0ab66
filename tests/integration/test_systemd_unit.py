"""The packaged unit, as systemd itself reads it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

UNIT = Path(__file__).parents[2] / "packaging" / "assent.service"
ANALYZE = shutil.which("systemd-analyze")
pytestmark = [
    pytest.mark.spec("H1"),
    pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed: apt install systemd"),
]


def complaints(home: Path, unit: Path) -> str:
    assert ANALYZE is not None
    env = os.environ | {"HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
    checked = subprocess.run(
        [ANALYZE, "--user", "verify", str(unit)], env=env, capture_output=True, text=True, check=False
    )
    return checked.stdout + checked.stderr


@pytest.fixture
def home(tmp_path: Path) -> Path:
    programs = tmp_path / ".local" / "bin"
    programs.mkdir(parents=True)
    (programs / "assent").symlink_to(Path(sys.prefix) / "bin" / "assent")
    return tmp_path


def test_systemd_has_no_complaint(home: Path):
    assert complaints(home, UNIT) == ""


@pytest.mark.parametrize(
    ("right", "wrong"), [("Type=exec", "Type=exce"), ("KillMode", "KillMod"), ("%h/.local", "%h/local")]
)
def test_systemd_would_complain_about_a_mistake(home: Path, right: str, wrong: str):
    unit = home / "assent.service"
    unit.write_text(UNIT.read_text().replace(right, wrong))
    assert complaints(home, unit) != ""
