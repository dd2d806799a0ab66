"""Archives: tar, zip and the compressors, which list, pack or unpack depending on one option.

Knows words; opens no archive.
"""

import re

from assent.lazy_pattern import lazy_pattern
from assent.plan import Word
from assent.policy.shell.options import Use, Words, option_writes
from assent.policy.shell.paths import secret

_OLD_TAR = lazy_pattern(r"[tvzjJaf]*t[tvzjJaf]*")
_OLD_TAR_PACKS = lazy_pattern(r"(?=[a-zJ]*c)[cvzjJap]+f")
_TAR_FILE = lazy_pattern(r"(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./-])*\.(?:tar(?:\.\w+)?|tgz|tbz2?|txz|tzst)")
_PACKED = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstd": ".zst"}
_ARCHIVE = lazy_pattern(r"(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./-])*\.zip")


def tar(use: Use, words: Words) -> None:
    first = words[1].text if len(words) > 1 else ""
    archives = [word.text for word in use.reads]
    if tar_packs(use, first) or tar_unpacks(use, first):
        return
    if not first.startswith("-"):
        if not _OLD_TAR.fullmatch(first):
            use.problems.append("`tar` without `t` packs or unpacks")
        archives += [word.text for word in use.texts[1:2]]
    elif use.option("-t", "--list") is None and use.option("--version", "--help") is None:
        use.problems.append("`tar` without `-t` packs or unpacks")
    if any(":" in archive for archive in archives):
        use.problems.append("an archive name with `:` is fetched from another machine by another program")


def tar_packs(use: Use, first: str) -> bool:
    """`tar -czf x.tgz FILES` writes a file recognizable by its name; true if that is all it does."""
    old = _OLD_TAR_PACKS.fullmatch(first) is not None
    if not old and use.option("-c", "--create") is None:
        return False
    named = [value for name, value in use.seen if name in ("-f", "--file")] or [word.text for word in use.texts[1:2]]
    packed = use.texts[2:] if old else use.texts
    if (
        len(named) != 1
        or not _TAR_FILE.fullmatch(named[0])
        or use.option("-T", "--files-from", "-C", "--directory", "-X", "--exclude-from", "-h", "-P") is not None
    ):
        return False
    if not all(
        word.literal and re.fullmatch(r"\.|(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./-])*", word.text) for word in packed
    ):
        return False
    use.excuse("-c", "--create")
    use.makes = True
    use.writes.append(Word(named[0]))
    use.reads = [*(word for word in use.reads if word.text != named[0]), *packed]
    return True


def tar_unpacks(use: Use, first: str) -> bool:
    """`tar -xzf x.tgz -C FOLDER`, under a rule that names `-x`; the archive says which files it writes."""
    named = [value for name, value in use.seen if name in ("-f", "--file")]
    if not first.startswith("-") or use.option("-x", "--extract", "--get") is None or len(named) != 1:
        return False
    if not _TAR_FILE.fullmatch(named[0]) or use.option("-T", "--files-from", "-P", "-h") is not None:
        return False
    use.confined = use.makes = True
    return True


def unzip(use: Use, _words: Words) -> None:
    """`-p` shows the files named after the archive, or all of them."""
    shown = use.texts
    if use.option("-p") is not None and (not shown or any(not word.literal or secret(word, "/") for word in shown)):
        use.problems.append("it may show a secret")
    if use.option("-l", "-v", "-t", "-Z", "-z", "-p") is not None:
        return
    if not use.operands or not _ARCHIVE.fullmatch(use.operands[0].text):
        use.problems.append("it does not unpack a plain archive")
    named = option_writes("-d", use.option("-d") or "")
    use.problems[:] = [problem for problem in use.problems if problem != named]
    use.confined = use.makes = True


def copying(use: Use, _words: Words) -> None:
    """`rsync -a src/ copy/`, on this machine."""
    if len(use.operands) < 2 or any(not word.literal or ":" in word.text for word in use.operands):
        use.problems.append("it may copy to or from another machine")
    use.confined = True


def listing(use: Use, _words: Words) -> None:
    """For some programs the last of `-l`, `-t` and `-d` wins; `-c` always leaves the files alone."""
    looks = use.option("-l", "--list", "-t", "--test") is not None and use.option("-d", "--decompress") is None
    prints = use.option("-V", "--version", "--help") is not None and not use.operands
    keeps = use.option("-k", "--keep") is not None and use.option("-d", "--decompress", "-f", "--force") is None
    if keeps and use.names[0] in _PACKED and use.operands:
        use.makes, use.by_name = True, True
        use.writes += [Word(word.text + _PACKED[use.names[0]], word.literal) for word in use.operands]
        return
    if use.names[0] == "gunzip" and use.option("-f", "--force") is None and _all_packed(use):
        use.makes = True
        use.writes += [*use.operands, *(Word(word.text.removesuffix(".gz")) for word in use.operands)]
        return
    if not looks and not prints and use.option("-c", "--stdout") is None:
        use.problems.append("without `-l`, `-t` or `-c` it replaces files")


def _all_packed(use: Use) -> bool:
    return bool(use.operands) and all(word.literal and word.text.endswith(".gz") for word in use.operands)


def packing(use: Use, _words: Words) -> None:
    """Into a file whose name marks it as an archive."""
    if not use.operands or not _ARCHIVE.fullmatch(use.operands[0].text):
        use.problems.append("it does not pack into a plain archive")
    if len(use.operands) < 2:
        use.problems.append("it names nothing to pack")
