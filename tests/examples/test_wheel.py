"""What is built is what is needed: the wheel has the types' marker, the page, and every other file that is read."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("assent-*.whl")
    return zipfile.ZipFile(built)


def test_the_wheel_has_every_file_of_the_package(wheel: zipfile.ZipFile) -> None:
    source = ROOT / "src"
    wanted = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    wanted = {name for name in wanted if "__pycache__" not in name}
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name and ".data/data/" not in name}
    assert packed == wanted
    assert "assent/py.typed" in packed
    assert any(name.endswith("page/index.html") for name in packed)
    assert any(name.endswith("/index.json") for name in packed), "the models of the shell gate"


def test_the_wheel_says_who_it_is(wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    about = wheel.read(name).decode()
    assert "Project-URL: Homepage, https://github.com/assent-dev/assent" in about
    assert "Classifier: Typing :: Typed" in about
    assert "License-Expression: Apache-2.0" in about and "Requires-Python: >=3.11" in about
