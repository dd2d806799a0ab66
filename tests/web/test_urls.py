"""Which addresses of the web may be asked."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.web.addresses import parse_ipv4, why_not_public
from assent.web.hosts import BadHost, canonical_host, domain_matches
from assent.web.urls import MAX_REDIRECTS, UrlVerdict, check_url, check_url_line, preview, redirect

PUBLIC = "93.184.216.34"


class Names:
    """A name server that knows what it is told, and how often it was asked."""

    def __init__(self, *answers: str, fail: bool = False) -> None:
        self.answers = answers
        self.fail = fail
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        if self.fail:
            raise OSError(-2, "Name or service not known")
        return self.answers


async def check(url: str, *answers: str) -> UrlVerdict:
    return await check_url(url, Names(*(answers or (PUBLIC,))))


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("http://example.com", "http://example.com/"),
        ("HTTPS://Example.COM:443/A?b=c#secret", "https://example.com/A?b=c"),
        ("https://example.com./", "https://example.com/"),
        ("https://example.com:8443/x", "https://example.com:8443/x"),
        ("https://example.com?q=1", "https://example.com/?q=1"),
        ("https://example.com/a b".replace(" ", "%20"), "https://example.com/a%20b"),
        ("https://example.com/ü?ß", "https://example.com/%C3%BC?%C3%9F"),
        ('https://example.com/"<>', "https://example.com/%22%3C%3E"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://ｅxample。com/", "https://example.com/"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("http://134744072/", "http://8.8.8.8/"),
        ("http://[2606:4700::1111]/", "http://[2606:4700::1111]/"),
        ("http://[2606:4700:0::0:1111]:8080/", "http://[2606:4700::1111]:8080/"),
        ("https://a_b.example.com/", "https://a_b.example.com/"),
        ("https://example.com/x@y:z", "https://example.com/x@y:z"),
        ("https://example.com:00443/", "https://example.com/"),
    ],
)
async def test_a_public_page_may_be_asked_in_its_one_spelling(url: str, canonical: str) -> None:
    verdict = await check(url)
    assert (verdict.allowed, verdict.canonical) == (True, canonical)
    assert (await check(canonical)).canonical == canonical


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "//example.com/",
        "http:/example.com",
        "http:example.com",
        "ftp://example.com/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "gopher://example.com/",
        "view-source:http://example.com",
        "http://",
        "http:///path",
        "http://:80/",
        "http://user@example.com/",
        "http://user:pass@example.com/",
        "http://example.com@127.0.0.1/",
        "http://@example.com/",
        "http://example.com\\@evil.org/",
        "http:\\\\example.com/",
        "http://example.com/a\\b",
        "http://exa%6dple.com/",
        "http://127.0.0.1%2f.example.com/",
        "http://[fe80::1%25eth0]/",
        "http://example.com\0.evil.org/",
        "http://example.com/\r\nHost: x",
        "http://exam\tple.com/",
        " http://example.com/",
        "http://example.com/ x",
        "http://example.com/\u202e",
        "http://exa\u200bmple.com/",
        "http://exa\xadmple.com/",
        "http://example.com/\ud800",
        "http://a..b.com/",
        "http://.example.com/",
        "http://example.com../",
        "http://-a.example.com/",
        "http://a-.example.com/",
        "http://exa$mple.com/",
        "http://" + "a" * 64 + ".com/",
        "http://" + "a." * 130 + "com/",
        "http://[::1/",
        "http://[1.2.3.4]/",
        "http://[v1.x]/",
        "http://::1/",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://264.8.8.8/",
        "http://1.2.3.256/",
        "http://08.8.8.8/",
        "http://example.0x/",
        "http://99999999999/",
        "http://example.com:0/",
        "http://example.com:22/",
        "http://example.com:25/",
        "http://example.com:6379/",
        "http://example.com:6667/",
        "http://example.com:65536/",
        "http://example.com:/",
        "http://example.com:8o/",
        "http://example.com:-80/",
        "http://xn--a/",
        "http://xn--zzzzzzzz99999.com/",
        "https://example.com/" + "a" * 9000,
    ],
)
async def test_an_address_that_is_not_plain_is_refused_before_any_name_is_resolved(url: str) -> None:
    names = Names(PUBLIC)
    verdict = await check_url(url, names)
    assert (verdict.allowed, names.asked, verdict.addresses) == (False, [], ())
    assert verdict.reason


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://user@example.com/", "user name"),
        ("http://user:pass@example.com/", "user name"),
        ("http://exa%6dple.com/", "contains a %"),
        ("http://1.2.3.4.0/", "looks like an address but is not one"),
        ("http://example.com/\x1b", r"hidden one \(\\x1b\)"),
        ("http://example.com:25/", "port 25 is not for web pages"),
        ("http://:80/", "no usable host and port"),
        ("http:///x", "no usable host and port"),
        ("http://example.com/a\\b", "backslash"),
        ("", "is empty"),
        ("http://example.com/" + "a" * 8174, "too long"),
        ("ftp://example.com/", "only http and https"),
    ],
)
async def test_a_refusal_says_in_a_sentence_what_is_wrong(url: str, reason: str) -> None:
    assert re.search(reason, (await check(url)).reason)


@pytest.mark.parametrize(
    "host",
    [
        *(
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "0177.0.0.1",
            "0x7f.0.0.1",
            "0x7f000001",
            "2130706433",
            "017700000001",
        ),
        *(
            "0",
            "0.0.0.0",
            "0x",
            "10.0.0.1",
            "10.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "127.0.0.1.",
        ),
        *("169.254.169.254", "2852039166", "100.64.0.1", "100.100.100.200", "192.0.0.192", "192.0.2.1"),
        *(
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
        ),
        *("255.255.255.255", "168.63.129.16", "192.88.99.1", "①②⑦.⓪.⓪.①", "１２７.1"),
        *(
            "[::]",
            "[::1]",
            "[::127.0.0.1]",
            "[::8.8.8.8]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[fc00::1]",
        ),
        *(
            "[fd00:ec2::254]",
            "[fe80::1]",
            "[fec0::1]",
            "[ff02::1]",
            "[64:ff9b::127.0.0.1]",
            "[64:ff9b::a00:1]",
        ),
        *("[64:ff9b:1::1]", "[2002:7f00:1::]", "[2002:c0a8:101::1]", "[2001:0:7f00:1::]", "[100::1]"),
        *("[2001:0:808:808:0:0:80ff:fffe]", "[2001:db8::1]", "[2001:10::1]", "[3fff::1]", "[5f00::1]"),
        *("[2600::5efe:127.0.0.1]", "[2600::200:5efe:a00:1]", "[4000::1]"),
        *("localhost", "LOCALHOST", "localhost.", "a.localhost", "printer.local", "metadata.google.internal"),
        *("intranet", "router", "router.lan", "x.home.arpa", "1.0.0.127.in-addr.arpa"),
        *("x.internal", "x.intranet", "x.localdomain", "x.onion", "x.a.local"),
    ],
)
async def test_hosts_of_this_machine_or_a_private_network_are_refused(host: str) -> None:
    verdict = await check(f"http://{host}/")
    assert not verdict.allowed
    assert verdict.addresses == ()


@pytest.mark.parametrize(
    "address",
    [
        *(
            "8.8.8.8",
            "1.1.1.1",
            "100.63.255.255",
            "100.128.0.0",
            "172.32.0.1",
            "192.0.1.1",
            "223.255.255.255",
        ),
        *("2606:4700::1", "2a00:1450::1", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"),
        *("2002:808:808::1", "2001:200::1", "2001:0:808:808::f7f7:f7f7"),
    ],
)
def test_public_addresses_are_public(address: str) -> None:
    assert why_not_public(address) is None


@pytest.mark.parametrize(
    "text",
    [
        "8.8.8.8",
        "0x8.0x08.010.8",
        "134744072",
        "0x08080808",
        "01002004010",
        "8.526344",
        "8.8.2056",
        "0000000000000010.8.8.8",
    ],
)
def test_an_address_may_be_written_in_many_ways(text: str) -> None:
    assert parse_ipv4(text) == "8.8.8.8"


@pytest.mark.parametrize(
    ("text", "dotted"),
    [
        ("0", "0.0.0.0"),
        ("0x", "0.0.0.0"),
        ("255.255.255.255", "255.255.255.255"),
        ("4294967295", "255.255.255.255"),
        ("1.16777215", "1.255.255.255"),
        ("1.2.65535", "1.2.255.255"),
        ("1.0.0x", "1.0.0.0"),
    ],
)
def test_the_parts_of_an_address_reach_to_their_limit(text: str, dotted: str) -> None:
    assert parse_ipv4(text) == dotted


@pytest.mark.parametrize(
    "text",
    [
        "1_0.8.8.8",
        "0x1_0.8.8.8",
        "-8.8.8.8",
        "a.8",
        "8.0x8g.8",
        "08.8.8.8",
        "00000000000000010.8.8.8",
        "256.1",
        "1.256.1",
        "1.2.256.1",
        "4294967296",
        "1.16777216",
        "1.2.65536",
        "1.2.3.256",
        "1.2.3.4.5",
        "..1",
    ],
)
def test_a_host_that_only_looks_like_an_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_ipv4(text)


@pytest.mark.parametrize("text", ["example.com", "1.2.3.4a", "8.8.8.8x", "0xg", "1.2.3."])
def test_what_does_not_end_like_an_address_is_a_name(text: str) -> None:
    assert parse_ipv4(text) is None


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("127.0.0.1", "127.0.0.1 is not on the public internet (127.0.0.0/8)"),
        ("::ffff:10.0.0.1", "leads to 10.0.0.1 is not on the public internet (10.0.0.0/8)"),
        ("64:ff9b::10.0.0.1", "leads to 10.0.0.1 is not on the public internet (10.0.0.0/8)"),
        ("2002:a00:1::", "leads to 10.0.0.1 is not on the public internet (10.0.0.0/8)"),
        ("2001:0:a00:1::f7f7:f7f7", "leads to 10.0.0.1 is not on the public internet (10.0.0.0/8)"),
        ("2001:0:808:808::f5ff:fffe", "leads to 10.0.0.1 is not on the public internet (10.0.0.0/8)"),
        ("2606:4700::5efe:a00:1", "leads to 10.0.0.1 is not on the public internet (10.0.0.0/8)"),
        ("2606:4700::200:5efe:a00:1", "leads to 10.0.0.1 is not on the public internet (10.0.0.0/8)"),
        ("fe80::5efe:808:808", "fe80::5efe:808:808 is not on the public internet"),
        ("fd00::200:5efe:808:808", "fd00::200:5efe:808:808 is not on the public internet"),
        ("2606:4700::1%1", "is local to this machine's network"),
        ("8.8.8", "8.8.8 is not an address"),
    ],
)
def test_the_reason_says_where_an_address_leads(address: str, reason: str) -> None:
    assert (why_not_public(address) or "").endswith(reason)


def test_an_address_of_a_network_in_a_tunnel_is_as_public_as_both() -> None:
    assert why_not_public("2606:4700::5efe:808:808") is None


@pytest.mark.parametrize("address", ["fe80::1%eth0", "2606:4700::1%1", "nonsense", "", "8.8.8"])
def test_a_dns_answer_that_is_not_a_plain_address_is_not_public(address: str) -> None:
    assert why_not_public(address) is not None


async def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    for answers in (
        (PUBLIC, "127.0.0.1"),
        ("10.0.0.1", PUBLIC),
        (PUBLIC, "::1"),
        (PUBLIC, "::ffff:10.0.0.1"),
    ):
        verdict = await check("https://rebind.example.com/", *answers)
        assert not verdict.allowed
        assert "not on the public internet" in verdict.reason


async def test_a_name_is_resolved_once_and_its_addresses_are_part_of_the_verdict() -> None:
    names = Names(PUBLIC, "2606:4700::1")
    verdict = await check_url("https://Example.com/x", names)
    assert (verdict.host, verdict.addresses) == ("example.com", (PUBLIC, "2606:4700::1"))
    assert names.asked == ["example.com"]
    names = Names("10.0.0.1")
    assert (await check_url("http://8.8.8.8/", names)).addresses == ("8.8.8.8",)
    assert names.asked == []


async def test_a_name_that_is_not_found_is_refused_with_its_reason() -> None:
    verdict = await check_url("https://nowhere.example.com/", Names(fail=True))
    assert (verdict.allowed, verdict.reason) == (
        False,
        "nowhere.example.com was not found (Name or service not known)",
    )

    async def offline(host: str) -> Sequence[str]:
        raise OSError("no network")

    assert (await check_url("https://a.example.com/", offline)).reason == "a.example.com was not found (no network)"
    assert (await check_url("https://empty.example.com/", Names())).reason == "empty.example.com has no address"


@pytest.mark.spec("C9")
async def test_a_person_sees_the_full_url_decoded_and_with_its_real_host() -> None:
    verdict = await check("https://bücher.example/?d=%73ecret%1b")
    assert verdict.shown.splitlines() == [
        "https://xn--bcher-kva.example/?d=%73ecret%1b",
        "host: bücher.example",
        r"decoded: https://xn--bcher-kva.example/?d=secret\x1b",
    ]
    assert (await check("https://example.com/x?y=z")).shown == "https://example.com/x?y=z"
    assert (await check("ftp://x/\x1b[2J")).shown == r"ftp://x/\x1b[2J"


@pytest.mark.parametrize(
    ("url", "warning"),
    [
        ("https://example.com/?q=" + "word+" * 50, "the query has 252 characters"),
        ("https://example.com/" + "word/" * 100, "the path has 501 characters"),
        ("https://example.com/?d=QmFzZTY0IGVuY29kZWQgc2VjcmV0IGRhdGE5", "coded data"),
        (
            "https://example.com/?d=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "coded data",
        ),
        ("https://4f9d0c2b7a1e8f6d3c5b9a7e1f2d4c6b8a0e.example.com/", "coded data"),
        ("https://example.com:8080/", "unusual port 8080"),
        ("https://аррӏе.com/", "international host name: xn--80ak6aa92e.com stands for аррӏе.com"),
        ("https://pаypal.com/", 'look-alike letter <U+0430> in "pаypal"'),
    ],
)
async def test_what_may_carry_data_away_or_deceive_is_a_warning(url: str, warning: str) -> None:
    verdict = await check(url)
    assert verdict.allowed
    assert any(warning in found for found in verdict.warnings)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/",
        "https://www.google.com/search?q=python+asyncio+timeout+example&hl=en",
        "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
        "https://github.com/python/cpython/commit/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
        "https://example.com/x?id=550e8400-e29b-41d4-a716-446655440000&utm_source=newsletter",
        "https://docs.spring.io/x?class=AbstractSingletonProxyFactoryBean",
        "https://en.wikipedia.org/wiki/Transmission_Control_Protocol#TCP_segment_structure",
    ],
)
async def test_ordinary_pages_have_no_warning(url: str) -> None:
    assert (await check(url)).warnings == ()


CODED = "Qm9Fz3Tx7Yb0Iv4Ws8Lc1Re5Ky2Nd6"  # thirty characters, each once


@pytest.mark.parametrize(
    ("place", "coded"),
    [
        ("example.com/?d=" + CODED[:24], True),
        ("example.com/?d=" + CODED[:23], False),
        ("example.com/" + (CODED + CODED[::-1] + "Hh9J")[:64], True),
        ("example.com/" + (CODED + CODED[::-1] + "Hh9J")[:63], False),
        ("example.com/" + "0123456789abcdef" * 4, True),
        ("example.com/?d=" + "0123456789abcdef" * 2, True),
        ("example.com/?d=" + "1" * 32, True),
        ("example.com/?d=" + "1" * 31, False),
        ("q1w2e3r4t5y6u7i8o9p0a1s2d3f4g5h6.example.com/", True),
        ("q1w2e3r4t5y6u7i8o9p0a1s2d3f4g5h.example.com/", False),
        ("example.com/?d=" + "abcdefghijklmnopqrstuvwxyz", False),
        ("example.com/?d=" + "AbCdEfGhIjKlMnOpQrStUvWxYz", True),
        ("example.com/?d=" + "abcdefghijklmno1abcdefghijklmno1", True),
        ("example.com/?d=" + "abcdefghijklmnoAabcdefghijklmnoA", False),
    ],
)
async def test_letters_that_are_spread_like_dice_may_carry_data(place: str, coded: bool) -> None:
    warnings = (await check(f"https://{place}")).warnings
    assert ("the address may carry encoded data" in warnings) is coded


async def test_a_query_or_a_path_is_long_beyond_a_limit() -> None:
    for url in ("https://example.com/?" + "a+" * 100, "https://example.com" + "/a" * 200):
        assert (await check(url)).warnings == ()
        assert len((await check(url + "a")).warnings) == 1


OTHER_SERVICES = """
    1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080
    2375 2376 3306 3389 5432 5900 6379 9200 11211 27017
"""


@pytest.mark.parametrize(
    "port", [0, 1, 21, 22, 79, 81, 442, 444, 1023, 65536, 99999, *map(int, OTHER_SERVICES.split())]
)
async def test_ports_of_other_services_are_refused(port: int) -> None:
    verdict = await check(f"http://example.com:{port}/")
    assert (verdict.allowed, verdict.reason) == (False, f"port {port} is not for web pages")


@pytest.mark.parametrize("port", [1024, 1718, 3000, 6670, 8000, 65535])
async def test_other_high_ports_are_allowed_with_a_warning(port: int) -> None:
    verdict = await check(f"http://example.com:{port}/")
    assert (verdict.allowed, verdict.warnings) == (True, (f"unusual port {port}",))


@pytest.mark.parametrize(("url", "port"), [("http://example.com:443/", 443), ("https://example.com:80/", 80)])
async def test_both_ports_of_the_web_are_usual(url: str, port: int) -> None:
    verdict = await check(url)
    assert (verdict.allowed, verdict.canonical, verdict.warnings) == (True, url, ())


async def test_the_longest_address_may_be_asked() -> None:
    assert (await check("http://example.com/" + "a" * 8173)).allowed


def test_before_approval_only_the_text_is_judged() -> None:
    name = preview("https://Example.com/x")
    assert (name.allowed, name.addresses, name.canonical) == (True, (), "https://example.com/x")
    address = preview("http://134744072/")
    assert (address.allowed, address.addresses) == (True, ("8.8.8.8",))
    for url in ("http://10.0.0.1/", "http://[::1]/", "http://printer.local/", "http://router/", "http://a@b.example/"):
        refused = preview(url)
        assert (refused.allowed, refused.addresses) == (False, ()), url


@pytest.mark.parametrize(
    ("rule", "host", "covered"),
    [
        ("example.com", "example.com", True),
        ("example.com", "a.b.example.com", True),
        ("example.com", "evilexample.com", False),
        ("example.com", "example.com.evil.org", False),
        ("example.com", "com", False),
        ("Example.COM.", "WWW.example.com", True),
        ("*.example.com", "a.example.com", True),
        ("*.example.com", "example.com", False),
        ("*.example.com", "evilexample.com", False),
        ("=example.com", "example.com", True),
        ("=example.com", "a.example.com", False),
        ("com", "example.com", False),
        ("*.com", "example.com", False),
        ("*", "example.com", False),
        ("", "example.com", False),
        ("bücher.example", "xn--bcher-kva.example", True),
        ("8.8.8.8", "8.8.8.8", True),
        ("8.8.8.8", "134744072", True),
        ("8.8", "8.8.8.8", False),
        ("[2606:4700::1]", "2606:4700:0::1", True),
        ("[2606:4700::1]", "[2606:4700:0::1]", True),
        ("[2606:4700::1]", "2606:4700::2", False),
        ("https://example.com", "example.com", False),
        ("example.com:443", "example.com", False),
        ("example.com", "example.com@evil.org", False),
        ("example.com", "evil.org\\.example.com", False),
        ("example.com", "evil.org\0.example.com", False),
        ("example.com", "evil.org/.example.com", False),
    ],
)
def test_a_domain_rule_covers_hosts_by_whole_labels(rule: str, host: str, covered: bool) -> None:
    assert domain_matches(rule, host) is covered


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("a..b.com", "an empty part"),
        (".com", "an empty part"),
        ("", "an empty part"),
        ("a.-b.com", r"an invalid part \('-b'\)"),
        ("a" * 64 + ".com", "an invalid part"),
        ("a." * 126 + "aa", "too long"),
        ("ü" * 64 + ".com", "cannot be written in punycode"),
        ("[fe80::1%eth0]", "the address in brackets is invalid"),
        ("[::1", "the address in brackets is invalid"),
        ("[::1]x", "the address in brackets is invalid"),
        ("[:::1]", "the address in brackets is invalid"),
        ("xn--a.com", "does not stand for a name"),
        ("xn--BCHER-kva-.com", "an invalid part"),
        ("xn--abc-.com", "an invalid part"),
    ],
)
def test_an_invalid_host_is_refused_with_its_reason(host: str, reason: str) -> None:
    with pytest.raises(BadHost, match=reason):
        canonical_host(host)


@pytest.mark.parametrize(
    ("host", "canonical"),
    [
        ("a." * 126 + "a", "a." * 126 + "a"),
        ("a" * 63 + ".com", "a" * 63 + ".com"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ("[2606:4700:0::1]", "2606:4700::1"),
        ("a--b.com", "a--b.com"),
    ],
)
def test_a_host_has_one_spelling(host: str, canonical: str) -> None:
    assert canonical_host(host) == canonical


@given(st.integers(0, 2**32 - 1), st.sampled_from(["decimal", "hex", "octal", "two", "three", "mixed"]))
def test_every_notation_of_an_address_is_read_as_the_c_library_does(value: int, notation: str) -> None:
    import socket

    a, b, c, d = value.to_bytes(4, "big")
    text = {
        "decimal": f"{value}",
        "hex": f"0x{value:x}",
        "octal": f"0{value:o}",
        "two": f"{a}.{value & 0xFFFFFF}",
        "three": f"{a}.0{b:o}.{value & 0xFFFF}",
        "mixed": f"0x{a:x}.{b}.0{c:o}.{d}",
    }[notation]
    assert parse_ipv4(text) == socket.inet_ntoa(socket.inet_aton(text)) == f"{a}.{b}.{c}.{d}"


@given(st.text(max_size=30))
def test_any_text_is_a_canonical_host_or_refused(text: str) -> None:
    try:
        host = canonical_host(text)
    except BadHost:
        return
    assert host.isascii()
    assert canonical_host(f"[{host}]" if ":" in host else host) == host


class TestRedirects:
    async def test_each_hop_is_checked_again(self) -> None:
        first = await check("https://example.com/a/b?c")
        assert (await redirect(first, "../x", Names(PUBLIC))).canonical == "https://example.com/x"
        assert (await redirect(first, "//other.org/y", Names(PUBLIC))).canonical == "https://other.org/y"
        for location in (
            "http://example.com/",
            "https://127.0.0.1/",
            "//localhost/",
            "file:///etc/passwd",
            "",
        ):
            assert not (await redirect(first, location, Names(PUBLIC))).allowed
        for location in ("/\\evil.org", "/\r\nx", "https://user@example.com/"):
            assert not (await redirect(first, location, Names(PUBLIC))).allowed
        assert not (await redirect(first, "/next", Names("10.0.0.1"))).allowed

    async def test_http_may_become_https_but_never_back(self) -> None:
        first = await check("http://example.com/")
        second = await redirect(first, "https://example.com/", Names(PUBLIC))
        assert second.allowed
        third = await redirect(second, "http://example.com/", Names(PUBLIC))
        assert (third.allowed, third.reason) == (False, "a redirect from https to http")

    async def test_http_may_lead_to_http(self) -> None:
        first = await check("http://example.com/")
        assert (await redirect(first, "http://other.example/", Names(PUBLIC))).allowed

    async def test_a_redirect_to_an_invalid_address_is_refused_as_written(self) -> None:
        first = await check("https://example.com/")
        for location, reason in (
            ("", "is empty"),
            ("/a b", "a space"),
            ("/\\x", "a backslash"),
            ("/" * 8193, "too long"),
        ):
            refused = await redirect(first, location, Names(PUBLIC))
            assert not refused.allowed and reason in refused.reason

    async def test_there_are_at_most_five(self) -> None:
        verdict = await check("https://example.com/0")
        for number in range(MAX_REDIRECTS):
            verdict = await redirect(verdict, f"/{number + 1}", Names(PUBLIC))
            assert (verdict.allowed, verdict.hops) == (True, number + 1)
        last = await redirect(verdict, "/6", Names(PUBLIC))
        assert (last.allowed, last.reason) == (False, "more than 5 redirects")

    async def test_nothing_follows_a_page_that_was_not_allowed(self) -> None:
        refused = await check("http://localhost/")
        assert not (await redirect(refused, "https://example.com/", Names(PUBLIC))).allowed


def test_json_lines_in_and_out() -> None:
    assert check_url_line({"url": "https://Example.com:8080", "addresses": [PUBLIC]}) == {
        "allowed": True,
        "canonical": "https://example.com:8080/",
        "host": "example.com",
        "reason": "public",
        "warnings": ["unusual port 8080"],
    }
    assert check_url_line({"url": "http://127.1/", "addresses": [PUBLIC]})["allowed"] is False
    assert check_url_line({"url": "https://example.com/"})["reason"] == "example.com has no address"
    assert check_url_line({})["reason"] == "the address is empty"
