"""What the strict reader makes of a text: its words, variables and redirections as they will run, or a refusal."""

from collections.abc import Sequence

import pytest

from assent.plan import Choice, Command, Group, Loop, Part, Redirect, Stage, Step, Word, simple_commands
from assent.policy.shell.lexer import Refused
from assent.policy.shell.reader import MAX_STAGES, MAX_WORDS, read
from support.plans import stage_of


def shown(source: str) -> str:
    return _steps(read(source))


def _steps(steps: Sequence[Step]) -> str:
    return " ".join(
        f"{step.join} {'time ' * step.timed}{'! ' * step.negated}{' | '.join(map(_command, step.stages))}".strip()
        for step in steps
    )


def _command(command: Command) -> str:
    match command:
        case Stage():
            env = (f"{name}={value};" for name, value in command.env)
            return " ".join([*env, *map(_word, command.words), *map(_redirect, command.redirects)])
        case Group():
            shape = "({})" if command.subshell else "{{{}}}"
            text = shape.format(_steps(command.steps))
        case Loop():
            text = f"for {command.variable} {' '.join(map(_word, command.words))} {{{_steps(command.steps)}}}"
        case Choice():
            branches = [f"if {_steps(one.condition)} {{{_steps(one.steps)}}}" for one in command.branches]
            text = " ".join([*branches, f"else {{{_steps(command.otherwise)}}}"])
    return " ".join([text, *map(_redirect, command.redirects)])


def _word(word: Word) -> str:
    """`<x>`, or with its parts where something expands."""
    return f"<{word.text if word.literal else '+'.join(map(_part, word.parts))}>"


def _part(part: Part) -> str:
    quote = '"' if part.quoted else ""
    return f"{quote}{part.kind}:{_steps(part.steps) or part.text}{quote}"


def _redirect(one: Redirect) -> str:
    target = _word(one.target) if isinstance(one.target, Word) else f"({one.target})"
    return f"{one.fd}{one.kind}{target if one.target != '' else ''}"


@pytest.mark.parametrize(
    ("source", "means"),
    [
        ("a b", "<a> <b>"),
        ("a 'b c' \"d e\" f\\ g", "<a> <b c> <d e> <f g>"),
        ("a;b", "<a> ; <b>"),
        ("a\nb", "<a> ; <b>"),
        ("a && b || c", "<a> && <b> || <c>"),
        ("a ; b ;", "<a> ; <b>"),
        ("a | b |& c | d", "<a> | <b> 2copy(1) | <c> | <d>"),
        ("\n\na", "<a>"),
        ("a |\n\n b", "<a> | <b>"),
        ("a &&\n b", "<a> && <b>"),
        ("a;\n\nb;\n", "<a> ; <b>"),
        ("# x\na", "<a>"),
        ("a # x", "<a>"),
        ("a #x\nb", "<a> ; <b>"),
        ("a b#c", "<a> <b#c>"),
        ("A=1 B='x y' a", "A=1; B=x y; <a>"),
        ("A=* a", "A=*; <a>"),
        ("A= a", "A=; <a>"),
        ("a A=1", "<a> <A=1>"),
        ("a < f", "<a> 0read<f>"),
        ("a </dev/null", "<a> 0null"),
        ("a 2>/dev/null", "<a> 2null"),
        ("a >/dev/null 2>&1", "<a> 1null 2copy(1)"),
        ("a >&2", "<a> 1copy(2)"),
        ("a 1>&2 b", "<a> <b> 1copy(2)"),
        ("a &>/dev/null", "<a> 1null 2copy(1)"),
        ("a >&/dev/null", "<a> 1null 2copy(1)"),
        ("a &>>/dev/null", "<a> 1null 2copy(1)"),
        ("a >|/dev/null", "<a> 1null"),
        ("a >>/dev/null", "<a> 1null"),
        ("a >/dev/stderr", "<a> 1copy(2)"),
        ("a 2>/dev/stdout", "<a> 2copy(1)"),
        ("a <<< x", "<a> 0text(x\n)"),
        ("a 0< f", "<a> 0read<f>"),
        ("a < ~/f", "<a> 0read<home:~+text:/f>"),
        ("a 0<<< x", "<a> 0text(x\n)"),
        ("< f a", "<a> 0read<f>"),
        ("a <<E\nx\n\ny\nE", "<a> 0text(x\n\ny\n)"),
        ("a <<E\nE\nb", "<a> 0text ; <b>"),
        ("a <<-E\n\tx\n\tE", "<a> 0text(x\n)"),
        ("a <<E\n\tx\nE", "<a> 0text(\tx\n)"),
        ("a <<'E'\n$x\nE", "<a> 0text($x\n)"),
        ('a <<"E"\n`x`\nE', "<a> 0text(`x`\n)"),
        ("a <<\\E\n$x\nE", "<a> 0text($x\n)"),
        ("a <<E | b\nx\nE", "<a> 0text(x\n) | <b>"),
        ("a <<A <<B\n1\nA\n2\nB", "<a> 0text(1\n) 0text(2\n)"),
        ("a 2<<E\nx\nE", "<a> 2text(x\n)"),
        ("a {b,c}d", "<a> <bd> <cd>"),
        ("a x{b,c}{d,e}", "<a> <xbd> <xbe> <xcd> <xce>"),
        ("a {,b}c", "<a> <c> <bc>"),
        ("a {b*,c?}", "<a> <text:b+glob:*> <text:c+glob:?>"),
        ("a {}", "<a> <{}>"),
        ("a HEAD@{1}", "<a> <HEAD@{1}>"),
        ("a {b}", "<a> <{b}>"),
        ("a ~", "<a> <home:~>"),
        ("a ~/x", "<a> <home:~+text:/x>"),
        ("a x~", "<a> <x~>"),
        ("a ~;b", "<a> <home:~> ; <b>"),
        ("a $HOME.b", "<a> <variable:HOME+text:.b>"),
        ("a $HOME/x", "<a> <variable:HOME+text:/x>"),
        ("a ${PWD}", "<a> <variable:PWD>"),
        ('a "$USER x"', "<a> <variable:USER+text: x>"),
        ('a "${HOME}"', "<a> <variable:HOME>"),
        ("a $", "<a> <$>"),
        ("a $ b", "<a> <$> <b>"),
        ("a $\tb", "<a> <$> <b>"),
        ("a $\nb", "<a> <$> ; <b>"),
        ("a b>/dev/null", "<a> <b> 1null"),
        ('a "$ x"', "<a> <$ x>"),
        ('a "$"', "<a> <$>"),
        ("a *.py", "<a> <glob:*+text:.py>"),
        ("a x[a-c]?", "<a> <text:x+glob:[a-c]+glob:?>"),
        ("a [!a]", "<a> <glob:[!a]>"),
        ("[ a ]", "<[> <a> <]>"),
        ("a [", "<a> <[>"),
        ('a ""', "<a> <>"),
        ("a ''", "<a> <>"),
        ('a ""b', "<a> <b>"),
        ('a $HOME""', "<a> <variable:HOME>"),
        ("a \\\n b", "<a> <b>"),
        ("a\t b", "<a> <b>"),
        ('a "b\\"c\\$d\\`e\\\\f\\g"', '<a> <b"c$d`e\\f\\g>'),
        ("a 'b'\"c\"d", "<a> <bcd>"),
        ("a é", "<a> <é>"),
        ("a b'*'c", "<a> <b*c>"),
        ('a "*"', "<a> <*>"),
        ("a b=c", "<a> <b=c>"),
        ("a \\*", "<a> <*>"),
        ("a %+,./:@^_-]", "<a> <%+,./:@^_-]>"),
        ("a !", "<a> <!>"),
        ("a b=*", "<a> <text:b=+glob:*>"),
        ("a 1", "<a> <1>"),
        ("a 2", "<a> <2>"),
        ("a 2 >/dev/null", "<a> <2> 1null"),
        ("a 1>/dev/null", "<a> 1null"),
        ('A="x" a', "A=x; <a>"),
        ("A=\\~ a", "A=~; <a>"),
        ("a x{b,c}*", "<a> <text:xb+glob:*> <text:xc+glob:*>"),
        ("'if' a", "<if> <a>"),
        ("a if", "<a> <if>"),
        ("a -- b", "<a> <--> <b>"),
    ],
)
def test_a_text_is_read_as_bash_reads_it(source: str, means: str) -> None:
    assert shown(source) == means


@pytest.mark.spec("C8")
@pytest.mark.parametrize(
    "source",
    [
        "a >f",
        "a 2>f",
        "a 3>&1",
        "a 3</dev/null",
        "a 3<<<x",
        "a 3<<E\nE",
        "a >&3",
        "a <&3",
        "a <&-",
        "a <>f",
        "a >$HOME",
        "a >*",
        "a &>f",
        "a >& f",
        "a 2>&f",
        "a > /dev/null/x",
        "a ~x",
        "a x=~",
        "a x:~/y",
        "a y=~/x",
        "a \\",
        "a b\\\nc",
        'a "\\',
        'a "b\\\nc"',
        "a $x",
        "a $HOMEX",
        "a x/$HOME",
        "a ${HOME",
        "a ${HOME:-x}",
        "a $$",
        "a $1",
        'a "$x"',
        'a "$',
        'a "`b`"',
        "a `b`",
        "a $'b'",
        'a $"b"',
        "a \"$'b'\"",
        "a <<$HOME\n$HOME\n",
        "a <<E*\nE*\n",
        "a <<'E\nF'\nE\nF\n",
        "a <<E\n$x\nE",
        "a <<E\n`x`\nE",
        "a <<E\n\\x\nE",
        "a <<E",
        "a <<E\nx",
        "a <",
        "a < ;",
        "a < \n b",
        "a <<< $HOME",
        "a <<<*",
        "a < f*",
        "a < {b,c}",
        "A=1",
        "A=1 B=2",
        "A=$HOME a",
        "A=~ a",
        "A=x:~ a",
        "A+=1 a",
        "A[0]=1 a",
        "A={b,c} a",
        "{a,b}",
        "{a,b} c",
        "a {b,c",
        "a {b,c}{",
        "a {a..c}",
        "a {b,{c,d}}",
        "a {,}",
        "a {b,}",
        "a {b,c}{b,c}{b,c}{b,c}{b,c}{b,c}{b,c}",
        "a [^b]",
        "a [b",
        "a b[",
        "a [[:x:]]",
        "a &",
        "a & b",
        "a && && b",
        "a | | b",
        "a |",
        "a &&",
        "a ||",
        "| a",
        "; a",
        "&& a",
        "a ;; b",
        "a; ; b",
        "a (b)",
        "a)",
        "a 'b",
        'a "b',
        "[[ a ]]",
        "]] a",
        "{ a",
        "} a",
        "case a",
        "coproc a",
        "do a",
        "done a",
        "elif a",
        "else a",
        "esac a",
        "fi a",
        "for a",
        "function a",
        "if a",
        "in a",
        "select a",
        "then a",
        "until a",
        "while a",
        "a {v}>/dev/null",
        "a {v}</dev/null",
        "a b|if c",
        "A=1 if b",
        "ab",
        "a >>f",
        "a >|f",
        "a &>>f",
        "a > /dev/stdin",
        ">/dev/null",
        "<f",
        "a;if b",
    ],
)
def test_what_is_not_plain_is_refused(source: str) -> None:
    with pytest.raises(Refused):
        read(source)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("a `b`", "a command substitution with backquotes"),
        ('a "`b`"', "a command substitution with backquotes"),
        ("a $(b", "without its `)`"),
        ("a $'b'", "a quoted string with escapes"),
        ('a $"b"', "a quoted string with escapes"),
        ("a $x", "whose value is unknown"),
        ("a 'b", "a quote that is not closed"),
        ('a "b', "a quote that is not closed"),
        ("a\\\nb", "a line continued inside a word"),
        ('a "b\\', "a line continued inside quotes"),
        ("a ~b", "stands for another folder"),
        ("a b=~", "bash may expand"),
        ("a [^b]", "a bracket pattern that is not plain"),
        ("a {b", "braces that bash may expand"),
        ("a b}", "braces that bash may expand"),
        ("a {,}", "braces that make an empty word"),
        ("{a,b}", "braces in the name of a program"),
        ("a &", "in the background"),
        ("a {v}>/dev/null", "a named descriptor"),
        ("a <<E", "a here-document without a body"),
        ("a <<E\nx", "a here-document without its end line"),
        ("a <<E\n$x\nE", "in which bash expands"),
        ("a <<$HOME\n", "whose end word is not plain"),
        ("a <<'E\nF'\n", "whose end word is not plain"),
        ("a && ", "an unfinished chain of commands"),
        ("a || ", "an unfinished chain of commands"),
        ("a && && b", "a missing command"),
        ("a=b;", "a variable that is set without a command"),
        ("if a", "without its `then`"),
        ("a <", "a redirection without a target"),
        ("a < {b,c}", "a redirection without a target"),
        ("a <&1", "the redirection `<&1`"),
        ("a <<<*", "the redirection `<<<*`"),
        ("a 2>&x", "the redirection `>&x`"),
        ("a 3>/dev/null", "descriptor 3"),
        ("a < b*", "known only at run time"),
        ("a > b", "writes to the file b"),
        ("A=$HOME a", "an assignment that is not a plain"),
    ],
)
def test_a_refusal_says_what_it_is_about(source: str, why: str) -> None:
    with pytest.raises(Refused) as refused:
        read(source)
    assert why in str(refused.value)


def test_as_many_commands_words_and_choices_as_the_limit_are_read() -> None:
    assert len(read(";".join(["a"] * MAX_STAGES))) == MAX_STAGES
    assert len(stage_of(read("a " * MAX_WORDS)).words) == MAX_WORDS
    assert len(stage_of(read("a " + "{b,c}" * 6)).words) == 65
    for source in (";".join(["a"] * (MAX_STAGES + 1)), "|".join(["a"] * (MAX_STAGES + 1)), "a " * (MAX_WORDS + 1)):
        with pytest.raises(Refused, match="more than"):
            read(source)
    with pytest.raises(Refused, match="too many words"):
        read("a " + "{b,c}" * 7)


def test_a_command_is_shown_as_it_was_written() -> None:
    texts = [stage.text for stage in simple_commands(read("a  'b' <f | c >/dev/null ; A=1 d"))]
    assert texts == ["a  'b' <f", "c >/dev/null", "A=1 d"]


def test_a_tab_is_the_one_escape_that_is_read_and_only_alone() -> None:
    steps = read("cut -d$'\\t' -f1 f")
    assert [word.text for word in stage_of(steps).words] == ["cut", "-d\t", "-f1", "f"]
    for text in ("ls $'\\n'", "ls $'\\x41'", "ls $'\\t\\t'", "ls $'a'", "ls \"$'\\t'\""):
        with pytest.raises(Refused):
            read(text)


@pytest.mark.parametrize(
    ("source", "means"),
    [
        ("(a)", "(<a>)"),
        ("( a; b ) | c", "(<a> ; <b>) | <c>"),
        ("{ a; b\n}", "{<a> ; <b>}"),
        ("{ a; } 2>&1 | b", "{<a>} 2copy(1) | <b>"),
        ("(a) |& b", "(<a>) 2copy(1) | <b>"),
        ("( (a) )", "((<a>))"),
        ("! a | b", "! <a> | <b>"),
        ("time a && ! time b", "time <a> && time ! <b>"),
        ("time (a)", "time (<a>)"),
        ("time -p a", "<time> <-p> <a>"),
        ("\\time a", "<time> <a>"),
        ("if a; then b; fi", "if <a> {<b>} else {}"),
        ("if a\nthen b\nelif ! c\nthen\n\nd\nelse e; fi >&2", "if <a> {<b>} if ! <c> {<d>} else {<e>} 1copy(2)"),
        (
            "for x in a 'b c' *.d; do e $x \"${x}f\"; done",
            'for x <a> <b c> <glob:*+text:.d> {<e> <item:x> <"item:x"+text:f>}',
        ),
        ("for x in a\ndo b; done | c", "for x <a> {<b>} | <c>"),
        ("for x in a; do for y in $x; do b $y$x; done; done", "for x <a> {for y <item:x> {<b> <item:y+item:x>}}"),
        ("a $(b | c) d", "<a> <output:<b> | <c>> <d>"),
        ('a "x$(b "y z")"', '<a> <text:x+"output:<b> <y z>">'),
        ("a $(b $(c))", "<a> <output:<b> <output:<c>>>"),
        ('a $? "$?"', '<a> <status:?> <"status:?">'),
        ("a $((2*3)) x$(( -7 / (1+1) ))y", "<a> <6> <x-3y>"),
        ("a { }", "<a> <{> <}>"),
        ("(a <<E\nx\nE\n) | b", "(<a> 0text(x\n)) | <b>"),
    ],
)
def test_a_compound_command_is_read_as_a_tree(source: str, means: str) -> None:
    assert shown(source) == means


@pytest.mark.parametrize(
    "source",
    [
        *("(a", "{ a; ", "{ a }", "(a) b", "(a)(b)", "()", "( )", "{ }", "a() { b; }", "a () (b)", "((1))", "((a))"),
        *("! ! a", "time time a", "!", "! ", "(a;;b)", "(a &)", "{ a & }", "coproc { a; }"),
        *("if a; fi", "if a; then fi", "if a then b; fi", "if a; then b", "if a; then b; else fi", "if; then a; fi"),
        *("then a", "fi", "done", "}", "a; }", "a | fi", "if a; then b; fi c", "else a; fi"),
        *(
            "for x; do a; done",
            "for x in; do a; done",
            "for x in a; b; done",
            "for x in a; do done",
            "for x in a do b; done",
        ),
        *(
            "for 1 in a; do b; done",
            "for $x in a; do b; done",
            "for PATH in a; do b; done",
            "for HOME in a; do b; done",
        ),
        *("for http_proxy in a; do b; done", "for ((i=0;i<3;i++)); do a; done", "for x in a; do b; done; c $x", "a $x"),
        *(
            "for x in a; do for x in b; do c; done; done",
            "for x in a; do b & done",
            "for x in a; do x=1 b ${x/a}; done",
        ),
        *(
            "while a; do b; done",
            "until a; do b; done",
            "case a in a) b;; esac",
            "select x in a; do b; done",
            "[[ a ]]",
        ),
        *(
            "a $(b",
            "a $(",
            "a $()",
            "a $( )",
            'a "$(b"',
            "a $(<f)",
            "a <(b)",
            "a >(b)",
            "a=$(b)",
            "a=$(b) c",
            "a < $(b)",
        ),
        *(
            "a $(cat <<E\nx\nE)",
            "a $(cat <<E)\nx\nE",
            "a <<E $(b\n)\nx\nE",
            "a $(cat <<E\n$x\nE\n)",
            "a $((x))",
            "a $((1+x))",
            "a $((x=1))",
            "a $((1/0))",
            "a $((2**99))",
            "a $((08))",
        ),
        *("a $((1<2))", "a $[1+1]", "a $((", "a $((1)", "a $((9999999999999999999))", "a $((1--1))", "a $((1 2))"),
        *("a $!", "a $$", "a $#", "a $@", "a $*", "a $1", "a $0", "a $-", "a $_", "a ${?}", "a ${x:-y}", "a ${!x}"),
        *("(" * 20 + "a" + ")" * 20, "a " + "$(b " * 20 + ")" * 20, "(a) < f", "{ a; } < f", "(a) > f", "(a) 3>&1"),
        "if a; then b; fi < f",
    ],
)
def test_a_compound_command_that_is_not_plain_is_refused(source: str) -> None:
    with pytest.raises(Refused):
        read(source)
