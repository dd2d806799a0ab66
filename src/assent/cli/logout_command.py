"""`assent logout [PROVIDER]`: removes a stored key."""

import os
import sys

from assent import exit_codes
from assent.app.model_access import ModelAccess, ModelError
from assent.cli.parsing import Parser, complain
from assent.config import load_settings, settings_file


def main(argv: list[str]) -> int:
    parser = Parser("assent logout", "Removes a key that `assent login` has stored.")
    parser.add_argument("provider", nargs="?", metavar="PROVIDER", help="default: the only provider with a stored key")
    args = parser.parse_args(argv)
    keys = ModelAccess(os.environ, load_settings(os.environ)).keys
    stored = keys.stored_providers()
    name = args.provider or (stored[0] if len(stored) == 1 else None)
    if name is None:
        complain(f"say which one: {', '.join(stored)}" if stored else "no key is stored")
        return exit_codes.INPUT
    try:
        removed = keys.forget(name)
    except ModelError as error:
        complain(str(error))
        return exit_codes.ERROR
    if not removed:
        complain(
            f"`assent login` has stored no key for {name}; if it comes from the environment, unset the variable there, "
            f"and if it comes from [keys], remove it from {settings_file(os.environ)}"
        )
        return exit_codes.INPUT
    sys.stdout.write(f"Removed the key for {name}.\n")
    return exit_codes.OK
