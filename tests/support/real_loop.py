"""Assent and a real model: the real program, a prompt that even a small model follows, and a person who answers.

The model has 135 million parameters. It copies words out of the prompt into a call, because llama.cpp holds it to the
tools' schemas, and it puts a result into a sentence of sorts. So tests look at what happens, never at what it says.
"""

from pathlib import Path

from support.llama_server import KEY, NAME, THREADS, weights
from support.program import Ended, Program, Running

COMMAND = "touch made.txt"
PROMPT = f"Use run_shell_command with the command: {COMMAND}"
READ = "Read the file notes.txt"
MARK = b"run_shell_command"
"""What a reply with that call has in the middle."""

ENVIRONMENTS: dict[str, dict[str, str]] = {
    f"llamacpp:{NAME}": {"LLAMACPP_BASE_URL": "{url}/v1", "LLAMACPP_API_KEY": KEY},
    f"openai:{NAME}": {"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": KEY},
    f"anthropic:{NAME}": {"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": KEY},
}
"""The three formats that llama.cpp speaks, by the model's name."""
GGUF = "gguf"


def environment(model: str, url: str) -> dict[str, str]:
    return {key: value.format(url=url) for key, value in ENVIRONMENTS.get(model, {}).items()}


def program(base: Path, env: dict[str, str]) -> Program:
    """With a file to read, and every server of ours where `env` says."""
    found = Program(base)
    found.env |= env | {"GGUF_TEMPERATURE": "0", "GGUF_THREADS": str(THREADS)}
    (found.folder / "notes.txt").write_text("The meeting is on Tuesday at noon.\n")
    return found


def start(assent: Program, model: str, prompt: str, *flags: str) -> Running:
    name = f"gguf:{weights()}" if model == GGUF else model
    running = assent.start("-m", name, "-p", prompt, "-o", "stream-json", *flags)
    running.goes_on()  # a model without a GPU takes its time
    return running


def run(assent: Program, model: str, prompt: str, *flags: str) -> Ended:
    with start(assent, model, prompt, *flags) as running:
        return running.wait()


def run_with_answer(assent: Program, model: str, prompt: str, outcome: str = "yes") -> Ended:
    """The person answers the first question from another terminal."""
    with start(assent, model, prompt, "--ask", "wait") as running:
        answer_question(assent, running, outcome)
        return running.wait()


def answer_question(assent: Program, running: Running, outcome: str) -> None:
    asked = running.until_type("approval.requested")
    (session,) = assent.sessions()
    answered = assent.run("answer", session, asked["call_id"], outcome)
    assert answered.code == 0, answered.err
