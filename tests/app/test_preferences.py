"""Preferences: kept privately and whole, and never a reason not to start."""

import stat
from pathlib import Path

import pytest

from assent.app.preferences import PreferenceFile, Preferences, preference_file

pytestmark = pytest.mark.spec("G5")


def test_what_is_saved_can_be_read_again_only_by_its_owner(tmp_path: Path):
    path = tmp_path / "deep" / "preferences.toml"
    assert PreferenceFile(path).keep(Preferences('no"rd\\', "nano")) == ""
    assert PreferenceFile(path).chosen == Preferences('no"rd\\', "nano")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("content", [b"theme = [", b"\xff", b"theme = 5", b'theme = "x"\nnewer = 1'])
def test_an_unusable_file_counts_as_empty(tmp_path: Path, content: bytes):
    path = tmp_path / "preferences.toml"
    path.write_bytes(content)
    assert PreferenceFile(path).chosen in (Preferences(), Preferences("x"))


def test_what_cannot_be_saved_applies_for_now_and_says_so(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    kept = PreferenceFile(tmp_path / "file" / "preferences.toml")
    assert "could not be saved" in kept.keep(Preferences("nord"))
    assert kept.chosen.theme == "nord"


def test_the_file_stands_beside_the_settings_which_stay_as_they_are(tmp_path: Path):
    (tmp_path / "settings.toml").write_text('model = "m"  # mine\n')
    preference_file({"ASSENT_HOME": str(tmp_path)}).keep(Preferences("nord"))
    assert (tmp_path / "settings.toml").read_text() == 'model = "m"  # mine\n'
    assert (tmp_path / "preferences.toml").exists()
