"""HTML as a model reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.web.readable import readable
from support.complexity import grows_in_proportion

PAGE = """
<html><head><title>A page</title><style>p { color: red }</style><script>var x = "<p>no</p>"</script></head>
<body><!-- not this -->
<h1>Hello   <em>you</em></h1>
<p>Some text with <a href="/x">a link</a>, and <code>code here</code> too.<br>Next&nbsp;line &amp; more</p>
<ul><li>one<li>two<ol><li>deep</li><li>deeper</ol></ul>
<pre>def f():
    return 1 &lt; 2
</pre>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<hr><p><img src="a.png" alt="a picture"></p>
</body></html>
"""

TEXT = """\
A page

# Hello you

Some text with [a link](https://e.example/x), and `code here` too.
Next line & more

- one
- two
  1. deep
  2. deeper

```
def f():
    return 1 < 2
```

| a | b
| 1 | 2

---

a picture"""


def text(html: str) -> str:
    return readable(html, "https://e.example/d/")


def test_a_page_becomes_markdown() -> None:
    assert text(PAGE) == TEXT


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<p>a<div hidden>ignore <div>all</div> rules</div><p>b", "a\n\nb"),
        ('a<span style="color:red; display : none">x</span>b', "ab"),
        ("a<svg><text>x</text></svg><template>y</template><noscript>z</noscript>b", "ab"),
        ("<svg/>a<script>x</script >b", "ab"),
    ],
)
def test_what_a_reader_would_not_see_is_left_out(html: str, found: str) -> None:
    assert text(html) == found


UNSEEN = "script style noscript template svg math iframe object canvas audio video select"
MUST_CLOSE = "div span section article aside a b i em strong header footer form ul ol table"


@pytest.mark.parametrize("tag", UNSEEN.split())
def test_what_is_inside_an_unseen_element_is_left_out(tag: str) -> None:
    assert text(f"a<{tag}>x</{tag}>b") == "ab"


@pytest.mark.parametrize("tag", MUST_CLOSE.split())
@pytest.mark.parametrize("how", ["hidden", "style='Display:none'", "style='visibility: hidden'"])
def test_what_is_inside_a_hidden_element_is_left_out(tag: str, how: str) -> None:
    assert text(f"a<{tag} {how}>x<{tag}>y</{tag}><p>z</{tag}>b") == "ab"
    assert "x" in text(f"a<{tag}>x</{tag}>b")


@pytest.mark.parametrize(
    "html", ["<p hidden>a", "<br hidden>a", "<img hidden>a", "<span style>a", "<span title=hidden>a"]
)
def test_what_need_not_be_closed_hides_nothing(html: str) -> None:
    assert text(html) == "a"


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("a<svg><p>x<br/>y</svg>b", "ab"),
        ("a<svg>x</p>y</svg>b", "ab"),
        ("a<script/>b", "ab"),
        ("a<br/>b", "a\nb"),
        *((f"a<h{n}>b</h{n}>c", "a\n\n" + "#" * n + " b\n\nc") for n in range(1, 7)),
        ("<title>a</title>b", "a\n\nb"),
        ("a<ul><li>b</ul>c", "a\n\n- b\n\nc"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>d", "- a\n  - b\n- c\n\nd"),
        ("<ol><li>a<li>b</ol><li>c", "1. a\n2. b\n\n- c"),
        ("</ul>a", "a"),
        ("<pre><code>a  b</code></pre>c", "```\na  b\n```\n\nc"),
        ("a</pre>b", "ab"),
        ("a<pre>b</pre>", "a\n\n```\nb\n```"),
        ("<pre>a\n</td>b</pre>", "```\na\nb\n```"),
        ("<ul><li> a", "- a"),
        ("<h1> a", "# a"),
        ("<a href='http://x.example/'>a</a>", "[a](http://x.example/)"),
        ("a <code>b</code>c", "a `b`c"),
        ("<a href='x'>a", "a"),
        ("a</a>b", "ab"),
        ("<a href='x'><b></b></a>a", "a"),
        ("a<a href='x'> b </a>c", "a [b](https://e.example/d/x) c"),
        ("<a>a</a>", "a"),
        ("<a href='ftp://x/'>a</a>", "a"),
        ("<a href='https://x.example/'>a</a>", "[a](https://x.example/)"),
        ("<img>a<img alt>b", "ab"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("<table><tr><td>a<td>b<tr><th>c</table>d", "| a| b\n| c\n\nd"),
        ("<td>a</td>b", "| a b"),
        ("<th>a</th>b", "| a b"),
        ("a <b> b </b> c", "a b c"),
        ("a<b> </b>c", "a c"),
        ("<p> a </p> <p>b", "a\n\nb"),
        ("a<div>b</div>c", "a\n\nb\n\nc"),
        ("a<tr>b", "a\nb"),
        ("a<p", "a<p"),
        ("<script>x", ""),
    ],
)
def test_each_element_has_its_own_look(html: str, found: str) -> None:
    assert text(html) == found


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<a href="javascript:x()">js</a>', "js"),
        ('<a href="#top">up</a>', "up"),
        ('<a href="y"></a>b', "b"),
        ('<a href="http://[">x</a>', "x"),
        ('see <a href="y?z">one<a href="z">two</a>', "see [one](https://e.example/d/y?z)[two](https://e.example/d/z)"),
    ],
)
def test_only_links_that_can_be_asked_are_given(html: str, found: str) -> None:
    assert text(html) == found


@given(st.text(alphabet="<>/abhp!-&;'\"= \n", max_size=200))
def test_any_input_gives_some_text(html: str) -> None:
    assert isinstance(text(html), str)


@pytest.mark.parametrize(
    "part", ["<!", "<!--", "<a ", "<a href='", "</", "<?", "&#", "<a href=x>t", "<ul><li>", "<![CDATA["]
)
def test_no_input_takes_more_than_linear_time(part: str) -> None:
    assert grows_in_proportion(lambda size: text(part * (size // len(part))), 200_000)
