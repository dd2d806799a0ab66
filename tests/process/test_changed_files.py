"""The last look at files that were approved for execution: outside, by whoever starts the program, and in a plan."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from assent.plan import ExecutedFile, SandboxName
from assent.policy.shell import judge, rules
from assent.process import spawn, supervisor_client
from assent.process.changed_files import FileChanged, StartWatch
from assent.process.pipeline import Pipeline
from assent.process.run_program import run
from assent.safe_open import content_digest

pytestmark = pytest.mark.spec("J9")


def executed(path: str | Path) -> ExecutedFile:
    return ExecutedFile(str(path), content_digest(path) or "")


@pytest.mark.parametrize("supervised", [True, False])
async def test_a_program_starts_only_if_every_file_is_as_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, supervised: bool
) -> None:
    monkeypatch.setattr(supervisor_client, "AVAILABLE", supervised and spawn.supervisor_client.AVAILABLE)
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/a \xff:b")
    for path in (odd, tmp_path / "x.sh"):
        Path(path).write_text("touch ran\n")
    files = [executed(odd), executed(tmp_path / "x.sh")]
    assert (await run(["sh", "x.sh"], cwd=str(tmp_path), unchanged=files)).code == 0
    (tmp_path / "ran").unlink()
    Path(odd).write_text("other")
    with pytest.raises(FileChanged) as refused:
        await run(["sh", "x.sh"], cwd=str(tmp_path), unchanged=files)
    assert refused.value.path == odd
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("change", ["deleted", "folder", "pipe"])
async def test_a_file_that_is_none_any_longer_has_changed(tmp_path: Path, change: str) -> None:
    script = tmp_path / "x.sh"
    script.write_text("touch ran\n")
    files = [executed(script)]
    script.unlink()
    match change:
        case "folder":
            script.mkdir()
        case "pipe":
            os.mkfifo(script)
        case _:
            pass
    with pytest.raises(FileChanged):
        await run(["true"], cwd=str(tmp_path), unchanged=files)


@pytest.mark.parametrize(
    ("content", "sandbox", "starts"),
    [
        ("approved", "off", True),
        ("other", "off", False),
        ("other", "workspace", False),
        ("", "off", False),
        ("", "workspace", True),
    ],
)
def test_each_program_of_a_plan_starts_only_if_the_files_are_as_approved(
    tmp_path: Path, content: str, sandbox: SandboxName, starts: bool
) -> None:
    """A sandbox shows a secret file as empty; nothing in it can run."""
    (tmp_path / "settings").write_text("approved")
    plan = judge("wc -c settings", rules(["wc"]), cwd=str(tmp_path), roots=[str(tmp_path)]).plan
    assert plan is not None
    plan = replace(plan, sandbox=sandbox, unchanged=(executed(tmp_path / "settings"),))
    (tmp_path / "settings").write_text(content)
    with open(tmp_path / "output", "w+b") as output:
        code = Pipeline(plan, output.fileno()).run()
    assert code == (0 if starts else 126)
    assert ("has changed since it was approved" in (tmp_path / "output").read_text()) is not starts


def test_the_start_is_watched_once(tmp_path: Path) -> None:
    script = tmp_path / "x.sh"
    script.write_text("a")
    watch = StartWatch([executed(script)])
    watch.look()
    script.write_text("b")
    watch.look()
    assert watch.changed is None, "what the program itself writes later is its own work"
    started_meanwhile = StartWatch([ExecutedFile(str(script), "0" * 64)])
    started_meanwhile.look()
    assert started_meanwhile.changed == str(script)
