"""`make bench` fails if a goal is missed or a benchmark cannot run, and only then."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr("sys.path", [str(ROOT), *sys.path])
    from bench import __main__ as bench

    return bench


def run(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, measure: Callable[[bool], Iterator[Any]], flags: list[str]
) -> int:
    monkeypatch.setattr(bench, "BENCHMARKS", {"terminal": SimpleNamespace(measure=measure)})
    monkeypatch.setattr("sys.argv", ["bench", *flags])
    return bench.main()


@pytest.mark.parametrize(("figure", "flags", "code"), [(0.4, [], 0), (0.6, [], 1), (0.6, ["--quick"], 0)])
def test_a_missed_goal_is_an_error_unless_the_run_is_too_quick_to_tell(
    bench: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    figure: float,
    flags: list[str],
    code: int,
):
    from bench.report import Row

    def measure(quick: bool) -> Iterator[Row]:
        yield Row("idle, CPU", figure, "%", most=0.5)

    assert run(bench, monkeypatch, measure, flags) == code
    assert ("1 goal missed" in capsys.readouterr().out) == (figure > 0.5)


@pytest.mark.parametrize("name", ["sandbox", "trial"])
@pytest.mark.parametrize(("flags", "code"), [([], 1), (["--quick"], 0)])
def test_a_benchmark_that_cannot_run_here_says_why_and_counts_as_a_missed_goal(
    bench: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    flags: list[str],
    code: int,
):
    monkeypatch.setattr("assent.sandbox.confinement.bubblewrap", lambda: None)
    assert run(bench, monkeypatch, bench.BENCHMARKS[name].measure, flags) == code
    printed = capsys.readouterr().out
    assert "SKIPPED: bubblewrap is not installed" in printed
    assert "1 goal missed" in printed
