"""Loads the context of a folder: the user's own file, and those of the folder that the person trusts."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from assent.agent.context_text import Context, assemble
from assent.app.rule_sources import home_folder, trust_store
from assent.config import settings_file
from assent.files.context_reader import ContextFile, find_context

UNTRUSTED = "not loaded; review it and trust the folder with `assent trust`"


def memory_file(env: Mapping[str, str]) -> Path:
    """The user's own context file, which `save_memory` writes."""
    return settings_file(env).with_name("ASSENT.md")


def load_context(env: Mapping[str, str], folder: str, touched: Iterable[str] = ()) -> Context:
    """`touched` are the subfolders in which the model works."""
    return assemble(context_files(env, folder, touched))


def context_files(env: Mapping[str, str], folder: str, touched: Iterable[str] = ()) -> list[tuple[ContextFile, str]]:
    """Each file found, and why it is left out, if it is.

    Nothing in a folder takes effect unless it was trusted word for word; the user's own file always does.
    """
    own = os.path.realpath(memory_file(env).parent)
    found = [(file, "") for file in find_context(own, home=own)]
    here = find_context(folder, home_folder(env), touched)
    if here:
        trusted = trust_store(env).trusted(Path(folder))
        for file in here:
            known = trusted.get(os.path.relpath(file.path, folder)) == file.digest
            found.append((file, "" if known else UNTRUSTED))
    return found
