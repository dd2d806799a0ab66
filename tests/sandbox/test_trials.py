"""What a tried command shows, and what applying it does: in real overlays."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assent.config import CommandLimits
from assent.hunks import BadHunks
from assent.sandbox.bubblewrap import bubblewrap
from assent.tools.tool import ToolFailed
from support.trying import MARK, Quiet, Workbench, permit
from support.waiting import until

pytestmark = [
    pytest.mark.spec("J8"),
    pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap"),
]


@pytest.fixture(params=["overlay", "copy"])
def bench(tmp_path: Path, request: pytest.FixtureRequest) -> Workbench:
    """Everything holds in both."""
    made = Workbench(tmp_path)
    made.trials.overlays = request.param == "overlay"
    return made


def shell(command: str, folder: Path) -> None:
    subprocess.run(["bash", "-c", command], cwd=folder, check=True, capture_output=True)


async def same_as_running(bench: Workbench, command: str, tmp_path: Path) -> None:
    """Applying all that a trial shows leaves what the command itself would have left."""
    twin = tmp_path / "twin"
    shell(f"cp -a {bench.work} {twin}", tmp_path)
    before = bench.tree()
    tried = await bench.tried(command)
    assert bench.tree() == before, "a trial changes nothing"
    await tried.apply()
    shell(command, twin)
    other = Workbench(tmp_path)
    other.work = twin
    assert bench.tree() == other.tree()


CODE = "".join(f"line {number}\n" for number in range(40))


@pytest.mark.parametrize(
    "command",
    [
        "sed -i s/hi/ho/ a.txt",
        "echo new > b.txt; mkdir -p x/y; echo deep > x/y/z",
        "rm -rf d",
        "rm -rf d; mkdir d; echo other > d/new",
        "mv d e",
        "mv a.txt e.txt",
        "rm a.txt; mkdir a.txt; echo inside > a.txt/b",
        "rm -r d; echo file > d",
        "ln -s a.txt link; ln -sf ../outside d/one",
        "rm d/one; ln -s two d/one",
        "mkdir empty",
        "touch a.txt",
        "cp a.txt d/copy; chmod 755 d/copy",
        "chmod 700 d",
        "printf 'no newline' > a.txt",
        "chmod u+w d/two; echo more >> d/two",
        "printf 'generated\\n' | tee g1 g2 g3 > d/g4",
        "python3 -c \"open('bin', 'wb').write(bytes(range(256)))\"",
        "echo x > 'name with spaces'; echo y > $'tab\\tname'; echo z > ümläut; echo q > $'new\\nline'; echo o > '-o *'",
        ": > empty; : > a.txt; chmod 600 a.txt",
        "truncate -s 30M sparse; chmod +x d/one; rm -r d/../d/two; mkdir -p deleted/folder; rm -r deleted",
        "for f in a.txt d/one; do tr a-z A-Z < $f > $f.fmt && chmod --reference=$f $f.fmt && mv -f $f.fmt $f; done",
    ],
)
async def test_applying_a_trial_leaves_what_the_command_would_have_left(bench: Workbench, tmp_path: Path, command: str):
    bench.write(a_txt="hi\n", d__one="1\n", d__two="2\n")
    (bench.work / "d/two").chmod(0o444)
    await same_as_running(bench, command, tmp_path)


async def test_a_trial_shows_added_changed_and_deleted_files_with_output_and_exit_code(bench: Workbench):
    bench.write(a_txt="hi\n", b_txt="gone\n")
    tried = await bench.tried("sed -i s/hi/ho/ a.txt; rm b.txt; echo new > c.txt; echo said; exit 3")
    trial, effects = await tried.trial(), await tried.effects()
    assert {path: effect.what for path, effect in effects.items()} == {
        "a.txt": "changed",
        "b.txt": "deleted",
        "c.txt": "added",
    }
    assert "-hi\n+ho" in effects["a.txt"].diff and "+new" in effects["c.txt"].diff and "-gone" in effects["b.txt"].diff
    assert (trial.output.strip(), trial.ended) == ("said", "exit 3")


async def test_a_trial_has_no_network_and_cannot_write_outside(bench: Workbench, tmp_path: Path):
    outside = tmp_path / "outside"
    command = f"echo x > {outside}; python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 9))'"
    tried = await bench.tried(command)
    assert not outside.exists()
    assert not (await tried.trial()).effects


async def test_what_a_command_only_touches_or_writes_again_is_no_effect(bench: Workbench):
    bench.write(a_txt="hi\n", b_txt="same\n")
    tried = await bench.tried("touch a.txt; echo same > b.txt; chmod 600 b.txt; chmod 644 b.txt")
    assert (await tried.trial()).effects == ()


async def test_hunks_can_be_left_out(bench: Workbench):
    bench.write(a_txt=CODE)
    tried = await bench.tried("sed -i -e 's/line 2$/two/' -e 's/line 35/many/' a.txt; echo x > b.txt")
    assert (await tried.trial()).parts == 3
    await tried.apply(1)
    text = (bench.work / "a.txt").read_text()
    assert ("two\n" in text, "many" in text, (bench.work / "b.txt").exists()) == (True, False, True)


async def test_files_can_be_left_out_and_a_folder_stays_if_something_in_it_does(bench: Workbench):
    bench.write(d__one="1\n", d__two="2\n")
    tried = await bench.tried("rm -r d; mkdir n; echo a > n/a; echo b > n/b")
    numbers = {effect.path: place for place, effect in enumerate((await tried.trial()).effects)}
    await tried.apply(numbers["d/two"], numbers["n/b"])
    assert bench.tree() == {"d": "folder", "d/two": "2\n", "n": "folder", "n/a": "a\n"}


async def test_leaving_out_everything_or_an_unknown_part_is_refused(bench: Workbench):
    tried = await bench.tried("echo x > b.txt")
    with pytest.raises(BadHunks, match="no part 5"):
        tried.triable.accept((5,))
    with pytest.raises(BadHunks, match="no part is chosen"):
        tried.triable.accept(())


async def test_a_file_changed_since_the_trial_is_said_and_never_overwritten(bench: Workbench):
    bench.write(a_txt="hi\n", b_txt="b\n")
    tried = await bench.tried("sed -i s/hi/ho/ a.txt; echo c > b.txt")
    (bench.work / "a.txt").write_text("mine\n")
    assert (await tried.trial()).stale == ("a.txt",)
    with pytest.raises(ToolFailed, match=r"someone else has changed these since the trial: a\.txt"):
        await tried.apply()
    assert bench.tree() == {"a.txt": "mine\n", "b.txt": "b\n"}


async def test_a_file_changed_during_the_trial_is_said(bench: Workbench):
    bench.write(a_txt="hi\n", signal="wait\n")
    tried = bench.invocation("sed -i s/hi/ho/ a.txt; echo ready; until grep -q go signal; do sleep 0.02; done")
    live = Quiet()
    running = asyncio.ensure_future(tried.triable.try_out(permit(), live))
    await until(lambda: "ready" in live.text)
    (bench.work / "a.txt").write_text("mine\n")
    seen = bench.work if bench.trials.overlays else Path(bench.store.folder(MARK).upper)
    (seen / "signal").write_text("go\n")
    await running
    assert (await tried.trial()).stale == ("a.txt",)


@pytest.mark.parametrize("swap", ["folder", "file"])
async def test_a_symlink_swapped_in_between_is_not_followed(bench: Workbench, tmp_path: Path, swap: str):
    bench.write(d__a="hi\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("hi\n")
    tried = await bench.tried("sed -i s/hi/ho/ d/a; echo new > d/b")
    if swap == "folder":
        (bench.work / "d").rename(bench.work / "moved")
        (bench.work / "d").symlink_to(outside)
    else:
        (bench.work / "d/a").unlink()
        (bench.work / "d/a").symlink_to(outside / "a")
    with pytest.raises(ToolFailed, match="someone else has changed"):
        await tried.apply()
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"a": "hi\n"}


async def test_a_file_that_appears_in_a_deleted_folder_stays(bench: Workbench):
    bench.write(d__one="1\n")
    tried = await bench.tried("rm -r d")
    (bench.work / "d/mine").write_text("mine\n")
    with pytest.raises(ToolFailed, match="d/mine"):
        await tried.apply()
    assert (bench.work / "d/one").exists()


async def test_pipes_devices_and_special_bits_are_said_and_not_applied(bench: Workbench):
    tried = await bench.tried(
        "mkfifo pipe; echo x > tool; chmod 2755 tool; python3 -c 'import socket;"
        ' s = socket.socket(socket.AF_UNIX); s.bind("sock")\''
    )
    effects = await tried.effects()
    assert (effects["pipe"].refused, effects["sock"].refused) == ("it is a named pipe", "it is a socket")
    assert effects["tool"].notes == ("its setuid, setgid or sticky bit is not applied",)
    await tried.apply()
    assert bench.tree() == {"tool": "x\n"}
    assert (bench.work / "tool").stat().st_mode & 0o7777 == 0o755


async def test_a_link_that_leads_out_of_the_workspace_is_said(bench: Workbench):
    effects = await (await bench.tried("ln -s /etc/hosts out; mkdir d; ln -s ../a d/in")).effects()
    assert effects["out"].summary == "a link to /etc/hosts"
    assert (effects["out"].notes, effects["d/in"].notes) == (("it leads out of the workspace",), ())


async def test_nothing_is_written_if_a_new_content_is_gone(bench: Workbench):
    bench.write(a_txt="hi\n", b_txt="b\n")
    tried = await bench.tried("rm b.txt; echo new > a.txt")
    Path(bench.store.folder(MARK).upper, "a.txt").unlink()
    with pytest.raises(ToolFailed, match="Nothing was applied"):
        await tried.apply()
    assert bench.tree() == {"a.txt": "hi\n", "b.txt": "b\n"}


async def test_hard_links_are_said(bench: Workbench):
    bench.write(a_txt="hi\n")
    os.link(bench.work / "a.txt", bench.work / "b.txt")
    tried = await bench.tried("echo ho > a.txt; echo x > c; ln c d")
    effects = await tried.effects()
    kept = "hi" if bench.trials.overlays else "ho"  # in a copy, the names in the workspace stay together
    assert f"keep{'s' if kept == 'hi' else ''} the old content" in effects["a.txt"].notes[0]
    assert "several names" in effects["c"].notes[0]
    await tried.apply()
    assert bench.tree() == {"a.txt": "ho\n", "b.txt": f"{kept}\n", "c": "x\n", "d": "x\n"}


async def test_a_folder_of_hard_links_is_deleted_and_each_of_them_can_be_changed(bench: Workbench):
    bench.write(d__one="1\n", e__one="2\n")
    os.link(bench.work / "d/one", bench.work / "d/two")
    os.link(bench.work / "e/one", bench.work / "e/two")
    await (await bench.tried("rm -r d; sed -i s/2/3/ e/one e/two")).apply()
    assert bench.tree() == {"e": "folder", "e/one": "3\n", "e/two": "3\n"}


async def test_attributes_are_dropped_and_said(bench: Workbench):
    bench.write(a="hi\n", b="hi\n", c="hi\n")
    os.setxattr(bench.work / "a", "user.origin", b"x")
    program = "import os; os.setxattr('b', 'user.new', b'1'); open('b', 'a').write('more')"
    effects = await (await bench.tried(f'echo ho > a; echo ho > c; python3 -c "{program}"')).effects()
    said = "its extended attributes and access list are not applied"
    assert [effects[name].notes for name in "abc"] == [(said,), (said,), ()]


async def test_hooks_settings_and_secrets_are_never_applied(bench: Workbench):
    git(bench, "init", "-q")
    (bench.work / ".env").write_text("KEY=secret\n")
    before = bench.tree()
    tried = await bench.tried(
        "echo evil > .git/hooks/pre-commit; git config core.pager evil; mkdir .vscode; echo {} > .vscode/tasks.json;"
        " echo KEY=x > .env; echo KEY=y > .env.local; cat .env"
    )
    trial, effects = await tried.trial(), await tried.effects()
    assert "secret" not in trial.output
    assert set(effects) == {".vscode/tasks.json", ".env.local"} and not any(one.parts for one in effects.values())
    await tried.apply()
    assert bench.tree() == before


async def test_a_new_repository_is_not_applied(bench: Workbench):
    tried = await bench.tried("git init -q .")
    effect = (await tried.effects())[".git"]
    assert effect.parts == 0 and "decides which programs git runs" in effect.refused


def git(bench: Workbench, *words: str) -> str:
    identity = ["-c", "user.name=x", "-c", "user.email=x@y"]
    return subprocess.run(["git", *identity, *words], cwd=bench.work, check=True, capture_output=True, text=True).stdout


async def test_git_checkout_is_applied_as_a_whole(bench: Workbench):
    git(bench, "init", "-q", "-b", "main")
    bench.write(a_txt="main\n", only_main="x\n")
    git(bench, "add", ".")
    git(bench, "commit", "-qm", "one")
    git(bench, "checkout", "-qb", "other")
    bench.write(a_txt="other\n")
    git(bench, "rm", "-q", "only.main")
    git(bench, "commit", "-qam", "two")
    tried = await bench.tried("git checkout main")
    effects = await tried.effects()
    assert (effects["a.txt"].what, effects["only.main"].what, effects[".git"].parts) == ("changed", "added", 1)
    await tried.apply()
    assert git(bench, "status", "--porcelain") == "" and git(bench, "branch", "--show-current") == "main\n"


async def test_a_build_of_10000_files_is_summarized_and_applied(tmp_path: Path):
    bench = Workbench(tmp_path)
    bench.write(Makefile_in="x\n")
    tried = await bench.tried(
        "mkdir -p out/{0..99}; for d in out/*; do touch $d/{0..99}.o; done; echo x >> Makefile.in"
    )
    trial, effects = await tried.trial(), await tried.effects()
    assert (trial.files, effects["out"].files, len(effects)) == (10_001, 10_000, 2)
    await tried.apply()
    assert sum(len(files) for _, _, files in os.walk(bench.work / "out")) == 10_000


DEEP = "for number in range(DEPTH): os.mkdir('folder'); os.chdir('folder')"


@pytest.mark.parametrize("depth", [300, 1200])
async def test_folders_that_are_nested_very_deeply_are_tried_and_removed(bench: Workbench, depth: int):
    """Deeper than Python recurses; and so deep that no path leads there."""
    program = f"import os\n{DEEP}\nopen('file', 'w').write('x')".replace("DEPTH", str(depth))
    tried = await bench.tried(f'python3 -c "{program}"; echo y > other')
    effects = (await tried.trial()).effects
    assert [one.path for one in effects if one.parts][-1] == "other"
    assert any("too long" in one.refused for one in effects) == (depth == 1200)
    await tried.apply()
    assert (bench.work / "other").read_text() == "y\n"
    assert os.path.exists(bench.work / ("folder/" * 300 + "file")) == (depth == 300)
    await tried.triable.discard(MARK)
    assert bench.leftovers() == []


async def test_binary_and_long_files_are_summarized(bench: Workbench):
    tried = await bench.tried("head -c 3000000 /dev/zero > big; seq 1 100000 > long.txt; printf '\\0\\1' > tiny")
    effects = await tried.effects()
    assert effects["big"].summary == "not text, or long: 3 MB"
    assert effects["long.txt"].summary.startswith("+100,000 -0 lines, too long to show")
    assert effects["tiny"].summary == "not text, or long: 2 bytes"
    await tried.apply()
    assert (bench.work / "big").stat().st_size == 3_000_000


async def test_a_cancelled_trial_leaves_nothing(bench: Workbench):
    bench.write(a_txt="hi\n")
    tried = bench.invocation("echo x > b.txt; echo ready; sleep 1000")
    live = Quiet()
    running = asyncio.ensure_future(tried.triable.try_out(permit(), live))
    await until(lambda: "ready" in live.text)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (bench.leftovers(), bench.tree()) == ([], {"a.txt": "hi\n"})


async def test_a_trial_that_takes_too_long_shows_what_it_did_until_then(tmp_path: Path):
    bench = Workbench(tmp_path, CommandLimits(total_seconds=3))
    tried = await bench.tried("echo x > b.txt; sleep 1000")
    assert (await tried.trial()).ended == "timed out"
    assert set(await tried.effects()) == {"b.txt"}


async def test_a_discarded_trial_leaves_nothing(bench: Workbench):
    tried = await bench.tried("mkdir d; chmod 000 d; echo x > b.txt")
    assert bench.leftovers() == [MARK]
    await tried.triable.discard()
    assert (bench.leftovers(), (await tried.details()).trial, bench.tree()) == ([], None, {})


async def test_what_a_killed_process_left_is_removed_with_the_next_trial(bench: Workbench):
    folder = bench.store.folder("killed")
    folder.make()
    (Path(folder.upper) / "x").write_text("x")
    folder.release()  # as the kernel does for a process that is gone
    await bench.tried("true")
    assert bench.leftovers() == [MARK]


async def test_a_trial_is_taken_up_by_another_process(tmp_path: Path, bench: Workbench):
    bench.write(a_txt="hi\n")
    shown = await (await bench.tried("sed -i s/hi/ho/ a.txt")).trial()
    again = Workbench(tmp_path).invocation("sed -i s/hi/ho/ a.txt")
    assert await again.triable.resume(shown)
    assert await again.trial() == shown
    await again.apply()
    assert bench.tree() == {"a.txt": "ho\n"}


async def test_nothing_is_tried_where_the_data_of_assent_is_in_the_workspace(tmp_path: Path):
    bench = Workbench(tmp_path)
    bench.trials.root = str(tmp_path)
    assert "keeps its own data in the workspace" in await bench.trials.problem()
