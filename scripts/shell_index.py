"""Writes the index of the program models: which file describes which program."""

import json
import tomllib
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "src/assent/policy/shell/programs"


def main() -> None:
    found: dict[str, str] = {}
    for file in sorted(FOLDER.glob("*.toml")):
        for name in tomllib.loads(file.read_text()):
            if name in found:
                raise SystemExit(f"{name} is in both {file.stem} and {found[name]}")
            found[name] = file.stem
    (FOLDER / "index.json").write_text(json.dumps(dict(sorted(found.items())), indent=0) + "\n")
    print(f"{len(found)} programs")


if __name__ == "__main__":
    main()
