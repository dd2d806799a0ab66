"""The cost of making text safe to show: 100 kB, plain and of every hostile kind, in each context (`python -m
bench.text_gate`), in milliseconds of CPU; the last column is the same in small pieces, as live output arrives.
"""

import time
from collections.abc import Callable
from typing import get_args

from assent.screen import Context, SafeStream, make_safe

SIZE = 100_000
PIECE = 256
KINDS = {
    "plain": "the quick brown fox\n",
    "other letters": "日本語 Привет ",
    "escapes": "\x1b[2J",
    "colours": "\x1b[31mx",
    "hidden colours": "\x1b[8m",
    "half colours": "\x1b[" + "1;" * 20,
    "links": "\x1b]8;;http://a.b\x1b\\x\x1b]8;;\x1b\\",
    "direction": "a\u202e",
    "zero width": "a\u200b",
    "one hidden character": "\u200b",
    "different hidden ones": "\u200b\u202e\ufe00\x1b\xad\ue000",
    "short mixtures": "\u200b\u202e" * 31 + "a",
    "tags": "\U000e0041\U000e0042a",
    "selectors": "1\ufe0f",
    "emoji": "👩\u200d👩\ufe0f ",
    "emoji and hidden": "☺\ufe0f\u200b\u200b",
    "stacks": "a" + "\u0301" * 9,
    "blanks": "a" + " " * 200,
    "tabs and spaces": "\t ",
    "lines": "\n " * 39 + "a",
    "line endings": "a\r\n",
    "overwritten": "ls\r",
    "surrogates": "\ud800a",
    "no-break spaces": "1\xa01 ",
    "look-alikes": "сurl 𝐫𝐦 ",
    "markup": "<\u200b&",
}


def kinds() -> dict[str, str]:
    found = {name: (unit * (SIZE // len(unit) + 1))[:SIZE] for name, unit in KINDS.items()}
    found["25,000 distinct characters"] = "".join(map(chr, range(0xF0000, 0xF0000 + SIZE // 4)))  # four bytes each
    found["distinct words"] = " ".join(f"а{number}a" for number in range(SIZE // 7))
    return found


def cost(call: Callable[[], object]) -> float:
    def once() -> float:
        start = time.process_time()
        call()
        return time.process_time() - start

    return min(once() for _ in range(5)) * 1000


def in_pieces(text: str) -> str:
    stream = SafeStream("output")
    return "".join(stream.feed(text[at : at + PIECE]) for at in range(0, len(text), PIECE)) + stream.close()


def main() -> None:
    contexts: tuple[Context, ...] = get_args(Context)
    print(f"{'ms of CPU for 100 kB':24}", *(f"{name:>8}" for name in (*contexts, "pieces")))
    worst = 0.0
    for name, text in kinds().items():
        row = [cost(lambda one=context, text=text: make_safe(text, one)) for context in contexts]
        row.append(cost(lambda text=text: in_pieces(text)))
        worst = max(worst, *row)
        print(f"{name:24}", *(f"{value:8.1f}" for value in row))
    print(f"worst: {worst:.1f} ms")


if __name__ == "__main__":
    main()
