"""Which hosts are this machine: the only ones that a key or a token may travel to in the clear."""

from pathlib import Path

import pytest

from assent.client.http_client import Http
from assent.config import BadSettings, parse_settings
from assent.front.web.web_server import BadPlace, Where, check_place
from assent.http.loopback import is_loopback
from assent.models.model_choice import open_model
from assent.models.model_protocol import BadRequest

LOOPBACK = ["localhost", "LocalHost", "127.0.0.1", "127.3.2.1", "127.255.255.255", "::1", "0:0:0:0:0:0:0:1"]
ELSEWHERE = [
    "127.evil.com", "127.0.0.1.evil.com", "127.0.0.1.", "127.", "127.1", "127.0.0.1.1", "127.0.0.256", "127.0.0.01",
    "localhost.evil.com", "evil.localhost", "localhost.", "localhostx", "xlocalhost", "evil-localhost", ".localhost",
    "0.0.0.0", "::", "2130706433", "0x7f.1", "0x7f000001", "017700000001", "0177.0.0.1", "128.0.0.1", "27.0.0.1",
    "::ffff:127.0.0.1", "::127.0.0.1", "::1%eth0", "[::1]", "::2", "127.0.0.1:80", "localhost:80", "127.0.0.1%00",
    "localhost\n", " localhost", "127.0.0.1 ", "127.0.0.1\x00", "１２７.0.0.1", "127。0。0。1", "locaｌhost",
    "lοcalhost", "ip6-localhost", "",
]  # fmt: skip


@pytest.mark.parametrize("host", LOOPBACK)
def test_a_host_that_is_this_machine_is_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ELSEWHERE)
def test_a_host_that_may_be_another_machine_is_not_loopback(host: str) -> None:
    assert not is_loopback(host)


URLS = [
    "http://127.evil.com", "http://127.0.0.1.evil.com", "http://localhost.evil.com", "http://evil.localhost",
    "http://[::ffff:127.0.0.1]", "http://0.0.0.0", "http://[::]", "http://2130706433", "http://0x7f.1",
    "http://127.0.0.1.", "http://localhost.", "HTTP://127.EVIL.COM", "http://127.0.0.1@evil.com",
    "http://localhost:80@evil.com", "http://localhost:80@evil", "http://127.0.0.1:80@evil.com:80",
    "http://localhost\\@evil.com", "http://localhost\\.evil.com", "http://localhost%2eevil.com", "http://[::1%25eth0]",
]  # fmt: skip


@pytest.mark.parametrize("url", URLS)
def test_a_key_never_goes_to_another_machine_in_the_clear(url: str) -> None:
    with pytest.raises(BadRequest):
        open_model("gemini-2.5-flash", {"GEMINI_API_KEY": "k3y", "GOOGLE_GEMINI_BASE_URL": url})


@pytest.mark.parametrize("url", URLS)
def test_the_token_of_an_mcp_server_never_goes_to_another_machine_in_the_clear(url: str) -> None:
    with pytest.raises(BadSettings):
        parse_settings(f"[mcp.servers.a]\nurl = '{url}'\nheaders = {{A = 'b'}}".encode(), Path("settings.toml"))


@pytest.mark.parametrize("url", URLS)
def test_the_token_of_our_own_server_never_goes_to_another_machine_in_the_clear(url: str) -> None:
    with pytest.raises(ValueError, match=r"https|not an address"):
        Http(url, "t0ken")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.3.2.1", "[::1]", "LOCALHOST"])
def test_inside_the_machine_no_tls_is_needed(host: str) -> None:
    url = f"http://{host}:8420"
    open_model("gemini-2.5-flash", {"GEMINI_API_KEY": "k3y", "GOOGLE_GEMINI_BASE_URL": url})
    parse_settings(f"[mcp.servers.a]\nurl = '{url}'\nheaders = {{A = 'b'}}".encode(), Path("settings.toml"))
    assert Http(url, "t0ken").url == url


def test_without_a_token_the_client_may_ask_anyone() -> None:
    assert Http("http://model.example").url == "http://model.example"


@pytest.mark.parametrize("host", ["127.evil.com", "0.0.0.0", "::", "evil.localhost", "localhost.", "::1%eth0", ""])
def test_the_server_listens_without_tls_on_this_machine_alone(host: str) -> None:
    with pytest.raises(BadPlace, match="other machines"):
        check_place(Where(host=host))
