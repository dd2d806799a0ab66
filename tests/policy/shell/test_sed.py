"""Which sed scripts only print."""

import pytest

from assent.policy.shell.sed import harmful_sed


@pytest.mark.parametrize(
    "script",
    [
        *("", "p", "1p", "1,5p", "$p", "/x/p", "/x/I,+3d", "1~2p", "1!p", "$!N", "1,/x/p", "/x\\/y/p", "  ;; ", "\n"),
        *("p;p", "p\np", "n;d", "=", "l", "F", "z", "q", "q5", "Q", "{p;d}", "1{p;p}", "1,2{/x/!d}", "{{p}}"),
        *("s/a/b/", "s/a/b/g;p", "s|a|b|gp", "s/a/b/2g", "s/a\\/b/c/", "s/[a]/x/", "s/a]/x/", "y/a/b/", "y/a/b/;p"),
        *("a text", "a\\\ntext", "i x", "c x", "i", ":x;N;bx", ": x", "b", "b x", "tx", "Tx", "{bx;p}"),
    ],
)
def test_a_script_that_prints_is_harmless(script: str) -> None:
    assert harmful_sed(script) is None


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "script",
    [
        *("w x", "r x", "e x", "W x", "R x", "v", "#x", "p w", "pw x", "p #x", "1w x", "{w x}", "p;w x", "p\nw x"),
        *("s/a/b/w x", "s/a/b/e", "s/a/b", "s/a", "s/a/b/;w x", "s/a/b/\nw x", "s/a/b/ w x", "s/a/b/m"),
        *("s/[/]/x/", "s/a[/b/", "y/[/b/", "sxaxbx", "s a b ", "s\\a\\b\\", "s\na\nb\n", "s\ta\tb\t", "s1a1b1"),
        *("s", "s/", "y", "y/a/b", "y/a/b/w", "y/a/b/g", "a x\nw y", "a\\", "i\\\nx\nw y", "c x\ne y", "/x", "s/a\\"),
        *(":x;w y", "bx;w y", "tx\nw y", "Tx;e y", "bx w"),
    ],
)
def test_a_script_that_may_do_more_is_not(script: str) -> None:
    assert harmful_sed(script) == "the sed script contains a command that may do more than print"


@pytest.mark.parametrize("script", ["{p", "p}", "{{p}", "{p}}", "bx}"])
def test_braces_must_match(script: str) -> None:
    assert harmful_sed(script) == "the sed script is incomplete"
