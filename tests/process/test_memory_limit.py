"""How much memory a command may have: a share of the machine's, or of the container's if that is less."""

from pathlib import Path

import pytest

from assent.process import memory_limit


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that tells nothing yet."""

    def below(*parts: str) -> Path:
        return tmp_path.joinpath(*(part.lstrip("/") for part in parts))

    monkeypatch.setattr(memory_limit, "Path", below)
    (tmp_path / "proc").mkdir()
    (tmp_path / "sys/fs/cgroup/memory").mkdir(parents=True)
    return tmp_path


def _has(machine: Path, *, total: str = "", group: str = "", old_group: str = "") -> None:
    if total:
        (machine / "proc/meminfo").write_text(f"MemFree: 1 kB\nMemTotal:    {total} kB\nSwapTotal: 2 kB\n")
    if group:
        (machine / "sys/fs/cgroup/memory.max").write_text(f"{group}\n")
    if old_group:
        (machine / "sys/fs/cgroup/memory/memory.limit_in_bytes").write_text(f"{old_group}\n")


@pytest.mark.spec("I6")
@pytest.mark.parametrize(
    ("given", "most"),
    [
        ({}, None),
        ({"total": "1000"}, 819_200),
        ({"total": "1000", "group": "max"}, 819_200),
        ({"total": "1000", "group": "500000"}, 400_000),
        ({"total": "1000", "old_group": "500000"}, 400_000),
        ({"total": "1000", "group": "500000", "old_group": "100000"}, 400_000),
        ({"total": "1000", "group": "9000000"}, 819_200),
        ({"total": "0", "group": "500000"}, 400_000),
        ({"total": "much", "group": "500000"}, 400_000),
        ({"group": "500000"}, 400_000),
    ],
)
def test_most_of_what_the_machine_or_the_container_has(given: dict[str, str], most: int | None, machine: Path) -> None:
    _has(machine, **given)
    assert memory_limit.most_memory() == most


def test_a_list_without_the_whole_says_nothing(machine: Path) -> None:
    (machine / "proc/meminfo").write_text("MemFree: 1 kB\n")
    assert memory_limit.most_memory() is None
