"""`make bench` fails if a goal is missed, and only then."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(("figure", "flags", "code"), [(0.4, [], 0), (0.6, [], 1), (0.6, ["--quick"], 0)])
def test_a_missed_goal_is_an_error_unless_the_run_is_too_quick_to_tell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], figure: float, flags: list[str], code: int
):
    monkeypatch.setattr("sys.path", [str(ROOT), *sys.path])
    from bench import __main__ as bench
    from bench.report import Row

    def measure(quick: bool) -> Iterator[Row]:
        yield Row("idle, CPU", figure, "%", most=0.5)

    monkeypatch.setattr(bench, "BENCHMARKS", {"terminal": SimpleNamespace(measure=measure)})
    monkeypatch.setattr("sys.argv", ["bench", *flags])
    assert bench.main() == code
    assert ("1 goal missed" in capsys.readouterr().out) == (figure > 0.5)
