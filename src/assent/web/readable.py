"""Converts HTML to Markdown that a model can read: headings, links, lists, code, tables as lines. What a reader would
not see (scripts, styles, comments, hidden elements) is left out, because instructions often hide there.

Any input gives some text, in linear time: the parser gets everything at once and is never asked to finish, which on
broken tags would make it start over for each of them.
"""

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

MAX_CHARACTERS = 3_000_000
"""Maximum characters to parse; no page for readers is longer."""

_NAMES = {
    "unseen": "script style noscript template svg math iframe object canvas audio video select",
    "closed": "div span section article aside a b i em strong header footer form ul ol table",
    "block": "p div section article main header footer nav aside form fieldset figure figcaption blockquote table ul "
    "ol dl address details summary",
    "line": "br tr dt dd option caption thead tbody",
}
_UNSEEN, _MUST_CLOSE, _BLOCKS, _LINES = (frozenset(names.split()) for names in _NAMES.values())
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\n\r\f\v\xa0]+")


def readable(html: str, url: str) -> str:
    """`url` is the page's address: links become absolute."""
    reader = _Reader(url)
    reader.feed(html[:MAX_CHARACTERS])
    reader.handle_data(reader.rawdata)  # a tag that is never closed is returned as it is
    return reader.text()


class _Reader(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self._url = url
        self._out: list[str] = []
        self._breaks = 0
        """Line breaks due before the next text."""
        self._blank = False
        self._unseen: list[str] = []
        """The element that is left out, once for each open element of its name."""
        self._lists: list[int] = []
        """For each open list, the number of its last item; -1 if items are not numbered."""
        self._link: tuple[str, int] | None = None
        """The address of the open link, and where its text begins."""
        self._pre = False

    def text(self) -> str:
        return "".join(self._out).strip()

    # --- parser events ---

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if self._unseen:
            self._unseen += [tag] if tag == self._unseen[0] else []
        elif tag in _UNSEEN or (tag in _MUST_CLOSE and _hidden(found)):
            self._unseen = [tag]
        else:
            self._open(tag, found)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._unseen:
            self._open(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        if not self._unseen:
            self._close(tag)
        elif tag == self._unseen[0]:
            self._unseen.pop()

    def handle_data(self, data: str) -> None:
        if self._unseen:
            return
        if self._pre:
            self._write(data)
            return
        words = _BLANKS.sub(" ", data)
        self._blank = self._blank or words.startswith(" ")
        if words.strip():
            self._write(words.strip())
            self._blank = words.endswith(" ")

    # --- elements ---

    def _open(self, tag: str, attrs: dict[str, str | None]) -> None:
        match tag:
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                self._break(2)
                self._write("#" * int(tag[1]) + " ")
            case "ul" | "ol":
                self._break(1 if self._lists else 2)
                self._lists.append(0 if tag == "ol" else -1)
            case "li":
                self._item()
            case "pre":
                self._break(2)
                self._write("```\n")
                self._pre = True
            case "code" if not self._pre:
                self._write("`")
            case "a":
                self._close_link()  # links do not nest
                self._link = self._whole(attrs.get("href")), len(self._out)
            case "img":
                self.handle_data(attrs.get("alt") or "")
            case "hr":
                self._break(2)
                self._write("---")
                self._break(2)
            case "td" | "th":
                self._write("| ")
            case _:
                self._break_for(tag)

    def _close(self, tag: str) -> None:
        match tag:
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "title":
                self._break(2)
            case "ul" | "ol":
                del self._lists[-1:]
                self._break(1 if self._lists else 2)
            case "pre" if self._pre:
                self._pre = False
                self._out.append("" if self._out[-1].endswith("\n") else "\n")
                self._out.append("```")
                self._break(2)
            case "code" if not self._pre:
                self._out.append("`")
            case "a":
                self._close_link()
            case "td" | "th":
                self._blank = True
            case _:
                self._break_for(tag)

    def _item(self) -> None:
        self._break(1)
        if self._lists and self._lists[-1] >= 0:
            self._lists[-1] += 1
            mark = f"{self._lists[-1]}. "
        else:
            mark = "- "
        self._write("  " * min(len(self._lists) - 1, 20) + mark)

    def _close_link(self) -> None:
        """`[text](address)`, unless there is no text or no useful address."""
        if self._link is None:
            return
        (href, start), self._link = self._link, None
        text = "".join(self._out[start:])
        if href and text.strip():
            blank = text[: len(text) - len(text.lstrip())]
            self._out[start:] = [f"{blank}[{text.strip()}]({href})"]

    def _whole(self, href: str | None) -> str:
        try:
            whole = urljoin(self._url, (href or "").strip())
        except ValueError:
            return ""
        return whole if href and href[:1] != "#" and whole.startswith(("http://", "https://")) else ""

    # --- writing ---

    def _break_for(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._break(2)
        elif tag in _LINES:
            self._break(1)

    def _break(self, lines: int) -> None:
        self._breaks, self._blank = max(self._breaks, lines), False

    def _write(self, text: str) -> None:
        if self._breaks:
            self._out.append("\n" * self._breaks)
        elif self._blank and self._out and not self._out[-1].endswith((" ", "\n")):
            self._out.append(" ")
        self._breaks, self._blank = 0, False
        self._out.append(text)


def _hidden(attrs: dict[str, str | None]) -> bool:
    return "hidden" in attrs or bool(_HIDING.search(attrs.get("style") or ""))
