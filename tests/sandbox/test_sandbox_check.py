"""`assent sandbox check` says what holds here, and claims nothing where nothing does."""

import sys
from pathlib import Path

import pytest

from assent import exit_codes
from assent.cli.sandbox_command import main
from assent.sandbox.bubblewrap import bubblewrap

pytestmark = pytest.mark.spec("I1")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))


@pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap")
def test_every_profile_is_tried(capsys: pytest.CaptureFixture[str]):
    assert main([]) == exit_codes.OK
    said = capsys.readouterr().out
    assert "The sandbox holds" in said and "FAIL" not in said
    assert said.count("reading a secret: refused") == 3
    assert "Commands that a rule or a grant allows: workspace" in said


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is another sandbox, or none")
def test_without_a_sandbox_none_is_claimed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assent.sandbox.bubblewrap._PLACES", ())
    assert main([]) == exit_codes.ERROR
    said = capsys.readouterr().out
    assert "There is no sandbox here: bubblewrap is not installed" in said
    assert "it can write nothing" not in said and "grant allows: workspace" not in said
    assert (
        "Commands under rules with `sandbox` or `contained` need approval." in said and "run without a sandbox" in said
    )
