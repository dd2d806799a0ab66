"""Commands that ask the person something: noticed, answered, and never recorded. Real programs, real terminals."""

import asyncio
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from assent.parts import InputWanted
from assent.process import terminal_input
from assent.process.pty import Size
from assent.process.run_program import ProcessFinished, ProcessLimits, run
from assent.process.supervisor_client import AVAILABLE
from assent.process.terminal_input import CannotType, Keyboard
from support.typing_person import TypingPerson
from support.waiting import WAIT_LIMIT, until

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="only Linux has a supervisor")
SECRET = "correct horse 42"


async def play(
    person: TypingPerson,
    *argv: str,
    cwd: Path,
    wait: float | None = 60.0,
    env: dict[str, str] | None = None,
    on_output: Callable[[str], None] = lambda _: None,
) -> ProcessFinished:
    limits = ProcessLimits(input=wait, total=90.0)
    return await run(
        argv, cwd=str(cwd), limits=limits, terminal=Size(), keyboard=person.keyboard, env=env, on_output=on_output
    )


async def test_a_password_prompt_is_shown_as_one_and_answered(tmp_path: Path) -> None:
    person = TypingPerson(SECRET)
    script = 'read -rs -p "Password: " word; [ "$word" = "correct horse 42" ] && echo && echo right'
    finished = await play(person, "bash", "-c", script, cwd=tmp_path)
    assert person.wanted == [InputWanted("Password: ", 0, secret=True)]
    assert finished.output.text() == "Password: \nright\n"


async def test_a_password_prompt_of_someone_elses_process_is_known_by_its_echo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for `sudo`: nobody may look into it."""

    def nobody_knows(_device: int) -> None: ...

    monkeypatch.setattr(terminal_input, "reads_terminal", nobody_knows)
    person = TypingPerson(SECRET)
    finished = await play(person, "bash", "-c", "read -rs -p '[sudo] for ann' x; echo; echo ${#x}", cwd=tmp_path)
    assert person.wanted == [InputWanted("[sudo] for ann", 0, secret=True)]
    assert finished.output.text().endswith(f"{len(SECRET)}\n")


async def test_a_question_with_yes_and_no_is_no_secret(tmp_path: Path) -> None:
    person = TypingPerson("y")
    finished = await play(person, "bash", "-c", 'read -r -p "Go on? [y/N] " x; echo "got $x"', cwd=tmp_path)
    assert person.wanted == [InputWanted("Go on? [y/N] ", 0)]
    assert "got y" in finished.output.text()


INPUTS = "print([input(f'{name}: ') for name in ('Name', 'Version', 'Licence')])"
READS = 'for name in Name Version Licence; do read -r -p "$name: " word; echo "$word"; done'
EDITED_READS = READS.replace("read -r", "read -er")


@pytest.mark.parametrize(
    "argv",
    [(sys.executable, "-c", INPUTS), ("bash", "-c", READS), ("bash", "-c", EDITED_READS)],
    ids=["input", "read", "readline"],
)
async def test_no_prompt_in_a_row_is_hidden_if_the_program_leaves_the_echo_on(
    tmp_path: Path, argv: tuple[str, ...]
) -> None:
    person = TypingPerson("my-shop", "x7", "MIT-0")
    finished = await play(person, *argv, cwd=tmp_path)
    assert [(one.prompt.strip(), one.secret) for one in person.wanted] == [
        ("Name:", False),
        ("Version:", False),
        ("Licence:", False),
    ]
    output = finished.output.text()
    assert "my-shop" not in output and "MIT-0" not in output


async def test_only_the_password_is_hidden_among_other_prompts(tmp_path: Path) -> None:
    person = TypingPerson("my-shop", SECRET, "x7", SECRET, "done")
    code = (
        "from getpass import getpass as ask\n"
        "print(len(input('Name: ') + ask('Enter it: ') + input('Size: ') + ask('Go on? [y/N] ') + input('End: ')))"
    )
    finished = await play(person, sys.executable, "-c", code, cwd=tmp_path)
    assert [one.secret for one in person.wanted] == [False, True, False, True, False]
    assert finished.output.text() == f"Name: \nEnter it: \nSize: \nGo on? [y/N] \nEnd: \n{2 * len(SECRET) + 13}\n"


async def test_a_short_answer_is_not_echoed_either(tmp_path: Path) -> None:
    finished = await play(TypingPerson("q", "z"), "bash", "-c", "read -p A: a; stty echo; read -p B: b", cwd=tmp_path)
    assert finished.output.text() == "A:\nB:\n"


async def test_a_program_that_sets_all_flags_anew_gets_no_echo(tmp_path: Path) -> None:
    person = TypingPerson("q", "z", None)
    finished = await play(person, "bash", "-c", "stty sane -opost -extproc; read -p A: a; sort", cwd=tmp_path)
    assert finished.output.text() == "A:\n\nz\n"
    assert [one.secret for one in person.wanted] == [False, False, False]


LATE = """
import sys, termios
print("Enter it: ", end="", flush=True)
open("printed", "w").close()
import os, time
while not os.path.exists("go"):
    time.sleep(0.01)
flags = termios.tcgetattr(0)
flags[3] &= ~termios.ECHO
termios.tcsetattr(0, termios.TCSANOW, flags)
print(len(sys.stdin.readline()))
"""


async def test_a_prompt_is_hidden_as_soon_as_the_echo_is_off_and_stays_hidden(tmp_path: Path) -> None:
    person, told = TypingPerson(), list[InputWanted | None]()

    def asked(wanted: InputWanted | None) -> None:
        told.append(wanted)
        if wanted is not None and not wanted.secret:
            (tmp_path / "go").touch()
        elif wanted is not None:
            person.keyboard.type(wanted.number, SECRET)

    person.keyboard.tell = asked
    finished = await play(person, sys.executable, "-c", LATE, cwd=tmp_path)
    seen = [wanted.secret for wanted in told if wanted is not None]
    assert seen == sorted(seen) and set(seen) == {False, True}
    assert {wanted.number for wanted in told if wanted is not None} == {0}, "it is the same prompt"
    assert finished.output.text() == f"Enter it: {len(SECRET) + 1}\n"


async def test_keys_that_are_read_one_by_one_end_with_a_line_break(tmp_path: Path) -> None:
    person = TypingPerson("ab", "next")
    script = 'read -r -n 5 -p "A: " a; read -r -p "B: " b; echo "${#a}${#b}"'
    finished = await play(person, "bash", "-c", script, cwd=tmp_path)
    assert finished.output.text().endswith("24\n")


async def test_a_program_that_opens_the_terminal_itself_gets_it(tmp_path: Path) -> None:
    person = TypingPerson(SECRET)
    code = "import getpass; print(len(getpass.getpass('PIN code: ')))"
    finished = await play(person, sys.executable, "-c", code, cwd=tmp_path)
    assert person.wanted == [InputWanted("PIN code: ", 0, secret=True)]
    assert str(len(SECRET)) in finished.output.text()


async def test_what_was_typed_is_nowhere_in_the_output_even_if_the_program_prints_it(tmp_path: Path) -> None:
    heard: list[str] = []
    person = TypingPerson("wintermute", SECRET)
    script = 'read -r -p "Username: " name; read -rs -p "Password: " word; echo "$name:$word"; printf "%s" "${word%2}"'
    finished = await play(person, "bash", "-c", script, cwd=tmp_path, on_output=heard.append)
    output = finished.output.text()
    assert person.wanted == [InputWanted("Username: ", 0), InputWanted("Password: ", 1, secret=True)]
    for text in (output, "".join(heard)):
        assert "wintermute" not in text and SECRET not in text
        assert "[typed by the user]:[typed by the user]\ncorrect horse 4" in text


async def test_an_echo_in_pieces_is_removed_too(tmp_path: Path) -> None:
    person = TypingPerson("wintermute")
    code = "name = input('Name: ')\nfor one in name:\n    print(one, end='', flush=True)\nprint('.')"
    finished = await play(person, sys.executable, "-c", code, cwd=tmp_path)
    assert "wintermute" not in finished.output.text()
    assert finished.output.text().endswith("[typed by the user].\n")


async def test_a_command_that_nobody_types_for_gets_the_end_of_its_input(tmp_path: Path) -> None:
    person = TypingPerson()
    finished = await play(person, "bash", "-c", 'read -r -p "Name? " x || echo none', cwd=tmp_path, wait=0.01)
    assert finished.output.text() == "Name? none\n"
    assert (finished.ended, finished.code) == ("exited", 0)


async def test_a_command_that_insists_is_ended_when_nobody_types(tmp_path: Path) -> None:
    person = TypingPerson()
    script = 'while true; do read -r -p "Name? " x; done'
    finished = await play(person, "bash", "-c", script, cwd=tmp_path, wait=0.01)
    assert finished.ended == "no_input"
    assert len(person.wanted) == 1, "nobody is asked again after the first time"


async def test_a_silent_command_that_reads_nothing_asks_for_nothing(tmp_path: Path) -> None:
    person = TypingPerson()
    finished = await play(person, "bash", "-c", "printf working...; sleep 1; echo", cwd=tmp_path)
    assert (person.wanted, finished.output.text()) == ([], "working...\n")


async def test_the_person_can_end_the_input(tmp_path: Path) -> None:
    person = TypingPerson("one", None)
    finished = await play(person, "sort", cwd=tmp_path)
    assert finished.code == 0
    assert len(person.wanted) == 2


async def test_what_is_typed_for_one_prompt_never_answers_the_next(tmp_path: Path) -> None:
    person = TypingPerson("one", "two")
    refused: list[bool] = []

    def asked(wanted: InputWanted | None) -> None:
        if wanted is not None and wanted.number == 1:
            refused.append(person.keyboard.type(0, "a late answer"))
        person.asked(wanted)

    person.keyboard.tell = asked
    script = 'read -r -p "First: " a; read -r -p "Second: " b; [ "$a$b" = onetwo ] && echo right'
    finished = await play(person, "bash", "-c", script, cwd=tmp_path)
    assert refused == [False]
    assert "right" in finished.output.text()


async def test_a_prompt_stays_while_another_process_of_the_command_prints(tmp_path: Path) -> None:
    """As with `make -j`: whoever is typing a password must not be interrupted by a line of the compiler."""
    person = TypingPerson()
    told: list[InputWanted | None] = []
    typed: list[bool] = []
    printed = ""

    def on_output(text: str) -> None:
        nonlocal printed
        printed += text
        if "cc 9" in printed and not typed:
            typed.append(person.keyboard.type(0, SECRET))

    def tell(wanted: InputWanted | None) -> None:
        told.append(wanted)
        if (terminal := person.keyboard.terminal) is not None and terminal.waits_for_person:
            (tmp_path / "asked").touch()

    person.keyboard.tell = tell
    others = "(until [ -e asked ]; do sleep 0.02; done; for n in 1 2 3 4 5 6 7 8 9; do echo cc $n; sleep 0.1; done)"
    script = f'{others} & read -rs -p "Password: " word; echo; [ "$word" = "{SECRET}" ] && echo right; wait'
    finished = await play(person, "bash", "-c", script, cwd=tmp_path, on_output=on_output)
    first = InputWanted("Password: ", 0, secret=True)
    assert typed == [True] and "right" in finished.output.text()
    assert told[0] == first and {one.number for one in told if one is not None} == {0}
    assert told.index(None) > 0 and not any(told[told.index(None) :])


async def test_a_prompt_goes_once_nothing_reads_any_more(tmp_path: Path) -> None:
    person, told = TypingPerson(), list[InputWanted | None]()

    def tell(wanted: InputWanted | None) -> None:
        told.append(wanted)
        (tmp_path / ("gone" if wanted is None else "asked")).touch()

    person.keyboard.tell = tell
    asks = 'until [ -e asked ]; do read -t 1 -rs -p "Password: " word; echo; done'
    finished = await play(
        person, "bash", "-c", f"{asks}; until [ -e gone ]; do echo cc; sleep 0.05; done", cwd=tmp_path
    )
    assert told[0] == InputWanted("Password: ", 0, secret=True)
    assert finished.ended == "exited"


async def test_a_look_that_began_before_a_line_was_typed_asks_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, typed = TypingPerson(), threading.Event()
    looks: list[threading.Thread] = []
    told: list[InputWanted | None] = []

    def reads(_device: int) -> bool:
        looks.append(threading.current_thread())
        if len(looks) == 2:
            typed.wait(WAIT_LIMIT)
        elif len(looks) > 2:
            (tmp_path / "looked").touch()
        return len(looks) <= 2

    def tell(wanted: InputWanted | None) -> None:
        told.append(wanted)

    monkeypatch.setattr(terminal_input, "reads_terminal", reads)
    person.keyboard.tell = tell
    script = "read word; until [ -e looked ]; do sleep 0.02; done"
    playing = asyncio.create_task(play(person, "bash", "-c", script, cwd=tmp_path))
    await until(lambda: len(looks) == 2)
    assert person.keyboard.type(0, "x")
    typed.set()
    await playing
    assert told == [InputWanted("", 0), None]


async def test_background_processes_outlive_a_command_with_a_terminal(tmp_path: Path) -> None:
    person, done = TypingPerson(), tmp_path / "done"
    script = f"(until [ -e go ]; do sleep 0.05; done; touch {done}) >/dev/null 2>&1 &"
    await play(person, "bash", "-c", script, cwd=tmp_path)
    (tmp_path / "go").touch()
    await until(done.exists)


@pytest.mark.parametrize("text", ["two\nlines", "\x03", "\x1b[A", "x" * 4001])
async def test_only_one_plain_line_can_be_typed(text: str) -> None:
    with pytest.raises(CannotType):
        Keyboard(lambda _: None).type(0, text)


async def test_typing_into_a_command_that_does_not_wait_is_refused() -> None:
    assert not Keyboard(lambda _: None).type(0, "hello")


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
async def test_ssh_asks_for_a_passphrase(tmp_path: Path) -> None:
    person = TypingPerson(SECRET, SECRET)
    finished = await play(person, "ssh-keygen", "-q", "-t", "ed25519", "-f", str(tmp_path / "key"), cwd=tmp_path)
    assert [one.secret for one in person.wanted] == [True, True]
    assert finished.code == 0
    again = TypingPerson("wrong one", SECRET)
    await play(again, "ssh-keygen", "-y", "-f", str(tmp_path / "key"), cwd=tmp_path)
    assert again.wanted[0].secret and "passphrase" in again.wanted[0].prompt


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
async def test_git_asks_for_credentials(tmp_path: Path) -> None:
    person = TypingPerson("wintermute", SECRET)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    script = "printf 'protocol=https\\nhost=git.example\\n\\n' | git credential fill | wc -l"
    finished = await play(person, "bash", "-c", script, cwd=tmp_path, env=env)
    assert [(one.prompt, one.secret) for one in person.wanted] == [
        ("Username for 'https://git.example': ", False),
        ("Password for 'https://[typed by the user]@git.example': ", True),
    ]
    assert finished.output.text().split()[-1] == "4"


@pytest.mark.skipif(shutil.which("sudo") is None, reason="needs sudo")
async def test_sudo_never_hangs_and_its_prompt_is_a_secret(tmp_path: Path) -> None:
    """As root, sudo does not ask; with -k and a user it does, so only the absence of a hang is common to both."""
    person = TypingPerson()
    finished = await play(person, "sudo", "-k", "-u", "nobody", "true", cwd=tmp_path, wait=0.01)
    assert finished.ended in ("exited", "no_input")
    assert all(one.secret for one in person.wanted)
