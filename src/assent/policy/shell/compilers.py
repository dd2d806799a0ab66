"""Compilers for C, C++, Java and Rust: which options only say how to compile a source file of the project.

Their options are glued to their values and too many for a table, so they are matched against patterns of harmless ones.
Options that load code into the compiler, start another program, or read or write elsewhere match no pattern and need
approval.
"""

import re

from assent.lazy_pattern import lazy_pattern
from assent.plan import Word
from assent.policy.shell.options import Use, Words

_OWN = r"(?:\./)?[A-Za-z0-9_](?:(?!\.\.)[\w./+-])*"
_SYSTEM = r"/usr/(?:local/)?(?:include|lib\w*)(?:(?!\.\.)[\w./+-])*"
_PLACE = lazy_pattern(rf"\.|{_OWN}|{_SYSTEM}")
_SOURCE = lazy_pattern(
    rf"(?:[*?]|{_OWN}|(?:\./)?[A-Za-z0-9_][\w./+-]*[*])[\w*?-]*\.(?:c|cc|cpp|cxx|C|h|hh|hpp|hxx|m|mm|s|S|i|ii|o|obj|a|so|cu|f90)"
)
_OUTPUT = lazy_pattern(
    rf"/dev/null|(?:{_OWN}/)?[A-Za-z0-9_][\w+-]*(?:\.(?:o|obj|a|so|out|exe|dll|dylib|elf|s|i|ll|bc|wasm|test))?"
)
_FLAG = lazy_pattern(
    r"-W(?![alp],)[a-z][\w+=.-]*|-w|-g(?:gdb)?\d?|-gdwarf(?:-\d)?|-gsplit-dwarf|-O(?:[0-3sgz]|fast)?|-[cSECPsvHrQ]|-p|-pg|-###"
    r"|-pedantic(?:-errors)?|-ansi|-pipe|-pthread|-static(?:-pie)?|-static-lib\w+(?:\+\+)?|-shared(?:-libgcc)?|-rdynamic|-pie|-no-pie"
    r"|-nostd(?:lib|inc)(?:\+\+)?|-nostartfiles|-nodefaultlibs|-ffreestanding|-M{1,2}|-MM?D|-MP|-MG|-dM|-dD|-dumpversion"
    r"|-dumpmachine|-dumpfullversion|-print-[a-z-]+(?:=[\w.+-]+)?|--(?:version|help|coverage|verbose)|-std=[\w+]+|-stdlib=[\w+]+"
    r"|-m(?!llvm)[\w=.+-]+|-D\w+(?:\(\w*\))?(?:=[^\n]*)?|-U\w+|-l:?[\w+.-]+|-target=[\w-]+|--target=[\w-]+"
    r"|-f(?!plugin|pass-plugin|use-ld|profile|auto-profile|dump|opt-info|save|module|prebuilt|working|record|stack-usage|callgraph"
    r"|output|crash|integrated-cc1|proc-stat|time-trace|api-notes|embed)[a-zA-Z][\w+,=-]*|-fuse-ld=(?:lld|gold|bfd|mold)"
)
_PLACED = ("-I", "-L", "-isystem", "-iquote", "-idirafter", "-include")
_VALUED = {
    "-x": lazy_pattern(r"[a-z+-]+"),
    "-std": lazy_pattern(r"[\w+]+"),
    "-arch": lazy_pattern(r"\w+"),
    "-D": lazy_pattern(r"\w+(?:=[^\n]*)?"),
}


def compiler(use: Use, words: Words) -> None:
    """gcc, clang and relatives."""
    use.problems.clear()
    rest = list(words[1:])
    while rest:
        _compiler_word(use, rest.pop(0), rest)


def _compiler_word(use: Use, word: Word, rest: list[Word]) -> None:
    text = word.text
    if text in ("-o", "-MF", "-MT", "-MQ", *_PLACED, *_VALUED):
        if not rest:
            use.problems.append(f"the option `{text}` has no value")
            return
        _compiler_value(use, text, rest.pop(0))
    elif (placed := next((one for one in _PLACED if text.startswith(one) and text != one), None)) is not None:
        _compiler_value(use, placed, Word(text[len(placed) :], word.literal))
    elif text.startswith("-o") and len(text) > 2:
        _compiler_value(use, "-o", Word(text[2:], word.literal))
    elif text == "-":
        use.problems.append("it compiles its input, which may include any file and show it in errors")
    elif text.startswith("-"):
        if not word.literal or not _FLAG.fullmatch(text):
            use.problems.append(f"the option `{text}` is not known to be harmless")
    elif not _SOURCE.fullmatch(text):
        use.problems.append(f"`{text}` is not a plain source file name")
    else:
        use.reads.append(word)


def _compiler_value(use: Use, name: str, value: Word) -> None:
    plain = _VALUED.get(name, _PLACE)
    if name in ("-o", "-MF"):
        plain = _OUTPUT if name == "-o" else lazy_pattern(rf"{_OWN}\.d")
        use.writes.append(value)
    if name == "-include":
        use.reads.append(value)
    if not value.literal or not plain.fullmatch(value.text):
        use.problems.append(f"the value of `{name}` is not plain")


# --- Java ---

_CLASSES = lazy_pattern(rf"(?:\.|{_OWN}(?:/\*)?)(?::(?:\.|{_OWN}(?:/\*)?))*")
_JAVA_VALUES = {
    **dict.fromkeys(("-cp", "-classpath", "--class-path", "-sourcepath", "--source-path", "-d"), _CLASSES),
    **dict.fromkeys(("-source", "-target", "--release", "--source", "--target", "-encoding"), lazy_pattern(r"[\w.-]+")),
}


def javac(use: Use, _words: Words) -> None:
    """Source files of the project, with classes of the project."""
    for name, value in use.seen:
        if value and not _JAVA_VALUES.get(name, lazy_pattern(r"[\w,:-]*")).fullmatch(value):
            use.problems.append(f"the value of `{name}` is not plain")
    folder = use.option("-d")
    use.writes += [Word(folder)] if folder else []
    if not all(
        re.fullmatch(rf"(?:{_OWN}|[*]|(?:\./)?[A-Za-z0-9_][\w./-]*[*])\.java", word.text) for word in use.operands
    ):
        use.problems.append("an operand is not a plain source file name")


# --- Rust ---

_CODEGEN = lazy_pattern(
    r"(?:opt-level|debuginfo|lto|codegen-units|panic|overflow-checks|target-cpu|strip|debug-assertions|embed-bitcode)(?:=[\w-]+)?"
)


def rustc(use: Use, _words: Words) -> None:
    """`-C linker=x` and `--print cfg=FILE` do more than compile."""
    for name, value in use.seen:
        plain = _OUTPUT if name == "-o" else _CODEGEN if name in ("-C", "--codegen") else lazy_pattern(r"[\w.,:+-]*")
        if not plain.fullmatch(value):
            use.problems.append(f"the value of `{name}` is not plain")
    use.writes += [Word(value) for name, value in use.seen if name == "-o"]
    if not all(re.fullmatch(rf"{_OWN}\.rs", word.text) for word in use.operands):
        use.problems.append("an operand is not a plain source file name")
