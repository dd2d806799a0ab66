"""Trials as an ordinary user, who mounts the overlay in a user namespace: the same as for root."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_escapes import NOBODY, can_run_as, python_for, python_path

from assent.sandbox.bubblewrap import bubblewrap

pytestmark = [
    pytest.mark.spec("J8"),
    pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap"),
]
PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from support.trying import Workbench

async def main(folder, command):
    bench = Workbench(Path(folder))
    problem = await bench.trials.problem()
    if problem:
        return {"problem": problem}
    before = bench.tree()
    tried = await bench.tried(command)
    trial, unchanged = await tried.trial(), bench.tree() == before
    await tried.apply()
    shown = {one.path: [one.what, one.parts] for one in trial.effects}
    left = [path.name for path in Path(bench.store.path).iterdir()]
    return {"shown": shown, "unchanged": unchanged, "tree": bench.tree(), "output": trial.output, "left": left}

print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
"""
COMMAND = """
sed -i s/hi/ho/ a.txt; rm -r d; mkdir d; echo new > d/new; mkdir closed; echo x > closed/x; chmod 500 closed
mv e f; chmod u+w locked; echo more >> locked; ln -s a.txt link; echo evil > .git/hooks/post-checkout; echo done
"""


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Belongs to the other user, and is not below /tmp, which the sandbox replaces."""
    if os.getuid() != 0 or not can_run_as(NOBODY):
        pytest.skip("no other user can be tried from here")
    root = Path(f"/var/lib/assent-trial-{os.getpid()}")
    work = root / "work"
    for name, text in {"a.txt": "hi\n", "d/one": "1\n", "e/two": "2\n", "locked": "l\n"}.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    (work / "locked").chmod(0o444)
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", str(root)], check=True)
    try:
        yield root
    finally:
        shutil.rmtree(root)


def test_an_ordinary_user_tries_and_applies(folder: Path):
    path = [*python_path(), str(Path(__file__).parents[1])]
    finished = subprocess.run(
        [python_for(NOBODY), "-c", PROGRAM, str(folder), COMMAND],
        env={"PATH": os.defpath, "HOME": str(folder), "PYTHONPATH": os.pathsep.join(path)},
        cwd="/",
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr.decode()
    found = json.loads(finished.stdout)
    assert found.get("unchanged"), found
    assert found["shown"] == {
        "a.txt": ["changed", 1],
        "closed/x": ["added", 1],
        "d/new": ["added", 1],
        "d/one": ["deleted", 1],
        "e/two": ["deleted", 1],
        "f/two": ["added", 1],
        "link": ["added", 1],
        "locked": ["changed", 1],
    }
    assert found["output"].strip().endswith("done")
    tree = {name: text for name, text in found["tree"].items() if not name.startswith(".git")}
    assert tree == {
        "a.txt": "ho\n",
        "closed": "folder",
        "closed/x": "x\n",
        "d": "folder",
        "d/new": "new\n",
        "f": "folder",
        "f/two": "2\n",
        "link": "-> a.txt",
        "locked": "l\nmore\n",
    }
