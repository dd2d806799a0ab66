"""Runs the tests and shows how many lines of each package they reach.

    scripts/measure_coverage.py [PATH ...]     PATH as for pytest; default: all tests, as `make test` runs them

The tests start Assent with their own environments, so no variable could enable the measurement there. Instead, a file
in the site-packages of .venv does, while this script runs: every Python process of .venv counts, unless it is killed.
To list the lines that were not reached: `COVERAGE_FILE=build/coverage/data .venv/bin/coverage report -m`.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCE = Path("src/assent")
BIN = ROOT / ".venv/bin"
RESULT = ROOT / "build/coverage"
START = Path(sysconfig.get_path("purelib"), "a0_measure_assent.pth")
NOTHING_RAN = (4, 5)
"""Exit codes of pytest: a path that does not exist, and no tests in it."""
STARTS = """
import os
try:
    os.kill({pid}, 0)
except OSError:
    pass  # the script was killed: nothing is measured any more
else:
    from coverage import Coverage
    Coverage(data_file={data!r}, data_suffix=True, config_file={config!r}, auto_data=True).start()
"""


class Lines(NamedTuple):
    reached: int = 0
    all: int = 0

    def __add__(self, other: tuple[int, ...]) -> "Lines":  # pyright: ignore[reportIncompatibleMethodOverride]
        return Lines(self.reached + other[0], self.all + other[1])

    def __str__(self) -> str:
        return f"{100 * self.reached / max(self.all, 1):5.1f} %  {self.reached:>6} of {self.all}"


def main(paths: list[str]) -> int:
    shutil.rmtree(RESULT, ignore_errors=True)
    RESULT.mkdir(parents=True)
    with measured():
        code = subprocess.run(tests(paths), cwd=ROOT, check=False).returncode
    if code in NOTHING_RAN:
        return code
    coverage("combine", "--quiet")
    coverage("json", "--quiet", "-o", str(RESULT / "report.json"))
    show(by_package(RESULT / "report.json"))
    return code


def tests(paths: list[str]) -> list[str]:
    if paths:
        return [str(BIN / "pytest"), "-q", *paths]
    return [str(BIN / "python"), str(ROOT / "scripts/run_tests.py")]


@contextmanager
def measured() -> Generator[None]:
    """Inside it, every new Python process of .venv is measured."""
    code = STARTS.format(pid=os.getpid(), data=str(RESULT / "data"), config=str(ROOT / "pyproject.toml"))
    START.write_text(f"import sys; exec({code!r})\n")
    try:
        yield
    finally:
        START.unlink()


def coverage(*words: str) -> None:
    env = {**os.environ, "COVERAGE_FILE": str(RESULT / "data")}
    subprocess.run([str(BIN / "coverage"), *words], cwd=ROOT, env=env, check=True)


def by_package(report: Path) -> dict[str, Lines]:
    """A package is a folder below src/assent; top-level modules count separately."""
    packages: defaultdict[str, Lines] = defaultdict(Lines)
    for name, file in json.loads(report.read_text())["files"].items():
        inside = Path(name).relative_to(SOURCE)
        summary = file["summary"]
        packages[inside.parts[0]] += Lines(summary["covered_lines"], summary["num_statements"])
    return dict(packages)


def show(packages: dict[str, Lines]) -> None:
    for name, lines in sorted(packages.items()):
        print(f"{name:<16} {lines}")
    print(f"{'total':<16} {sum(packages.values(), Lines())}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
