"""Chooses the sandbox of a command that was allowed by its words: the tightest in which it can do its work.

What only reads can write nothing; what runs code of the project can write to the workspace. Programs whose work is on
the network need the person's keys and agents as well, and git is restricted in its own way (`process.git_bounds`): both
stay outside. A rule may choose another profile.
"""

import os
from collections.abc import Iterable, Sequence

from assent.plan import Plan, SandboxName, Stage, Word, simple_commands
from assent.policy.shell.command_rules import program
from assent.policy.shell.options import examine
from assent.sandbox.profiles import PROFILES

_FETCHES = frozenset(
    tuple(words.split())
    for words in (
        *("npm install", "npm i", "npm ci", "npm add", "npm update", "npm outdated", "npm audit", "npm publish"),
        *("pnpm install", "pnpm i", "pnpm add", "pnpm update", "pnpm outdated", "pnpm audit", "pnpm publish"),
        *("yarn install", "yarn add", "yarn up", "yarn upgrade", "yarn outdated", "yarn audit", "yarn publish"),
        *("bun install", "bun add", "bun update", "npx", "bunx", "pnpm dlx", "yarn dlx", "uvx", "pipx"),
        *("pip install", "pip download", "pip3 install", "pip3 download", "uv sync", "uv add", "uv pip", "uv lock"),
        *("poetry install", "poetry add", "poetry update", "poetry lock", "pipenv install", "conda", "mamba"),
        *("cargo fetch", "cargo add", "cargo install", "cargo update", "cargo publish", "cargo search"),
        *("go get", "go install", "go mod", "gem install", "bundle install", "bundle update", "composer"),
        *("mvn", "gradle", "./gradlew", "sbt", "dotnet", "docker", "podman", "apt", "apt-get", "brew", "pre-commit"),
        *("terraform", "helm", "kubectl", "gh", "glab", "aws", "gcloud", "az", "heroku", "flyctl", "ssh", "scp"),
    )
)
"""What fetches packages or talks to services, whatever else it does."""


def sandbox_of(plan: Plan, chosen: Iterable[SandboxName] = ()) -> SandboxName:
    """The profile in which all of a plan works that does more than read. `chosen` are those of the rules that allow it,
    if they name any.
    """
    named = list(chosen)
    return widest(named or [_of_stage(stage) for stage in simple_commands(plan.steps)])


def absolute(path: str) -> str:
    """A path of a rule as the sandbox needs it."""
    return os.path.realpath(os.path.expanduser(path))


def widest(names: Sequence[SandboxName]) -> SandboxName:
    return max(names, key=list(PROFILES).index) if names else "workspace"


def _of_stage(stage: Stage) -> SandboxName:
    name = program(stage.words[0].text)
    if name == "git":
        return "workspace" if stage.git == "looks" else "off"
    return _of_words(name, stage.words)


def _of_words(name: str, words: tuple[Word, ...]) -> SandboxName:
    use = examine(name, words)
    names = (name,) if use is None else use.names
    if any(names[:size] in _FETCHES for size in (1, 2)) or (use is not None and use.model.effect == "network"):
        return "off"
    return _of_words(program(use.payload[0].text), use.payload) if use is not None and use.payload else "workspace"
