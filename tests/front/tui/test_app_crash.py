"""What the terminal UI leaves on the screen when it crashes."""

from collections.abc import Callable

import pytest

from support.app_harness import AppHarness

TOKEN = "ghp_" + "a1B2" * 9


def boom() -> None:
    canary = "canary-" + "in-a-variable"
    raise RuntimeError(f"it broke with {TOKEN} after {len(canary)}")


@pytest.mark.spec("I3")
async def test_a_crash_shows_where_it_was_but_no_variable_and_no_secret(
    harness: Callable[..., AppHarness], capsys: pytest.CaptureFixture[str]
):
    on = harness()
    with pytest.raises(RuntimeError):
        async with on.open():
            on.app.call_next(boom)
            await on.until(lambda: on.app.return_code == 1)
    await on.app.shut_down()
    said = " ".join(capsys.readouterr().err.split())  # the screen wraps long paths
    assert "in boom" in said
    assert "it broke with [secret: GitHub token] after 20" in said
    assert TOKEN not in said
    assert "canary-in-a-variable" not in said
