"""Which proxy the environment names."""

import pytest

from assent.models.model_protocol import BadRequest
from assent.models.proxy import Proxy, proxy_for

PROXY = {"HTTPS_PROXY": "http://proxy.example:3128"}
FOUND = Proxy("proxy.example", 3128)


def test_without_variables_there_is_no_proxy() -> None:
    assert proxy_for("https://model.example", {}) is None


def test_the_variable_of_the_scheme_counts() -> None:
    assert proxy_for("https://model.example", PROXY) == FOUND
    assert proxy_for("http://model.example", PROXY) is None
    assert proxy_for("http://model.example", {"HTTP_PROXY": "proxy.example:3128"}) == FOUND


def test_all_proxy_has_the_lowest_precedence() -> None:
    assert proxy_for("https://model.example", {"ALL_PROXY": "http://proxy.example:3128"}) == FOUND


def test_lower_case_variables_take_precedence() -> None:
    env = PROXY | {"https_proxy": "http://other.example"}
    assert proxy_for("https://model.example", env) == Proxy("other.example", 80)


def test_the_proxy_login_is_taken_from_its_address() -> None:
    found = proxy_for("https://model.example", {"HTTPS_PROXY": "http://me:p%40ss@proxy.example:3128"})
    assert found == Proxy("proxy.example", 3128, "me:p@ss")


@pytest.mark.parametrize("value", ["socks5://me:secret@proxy.example", "https://me:secret@h", "http://", "http://h:x"])
def test_an_unsupported_proxy_is_rejected_without_repeating_it(value: str) -> None:
    with pytest.raises(BadRequest, match="HTTPS_PROXY") as refused:
        proxy_for("https://model.example", {"HTTPS_PROXY": value})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.3.2.1", "[::1]", "app.localhost"])
def test_this_machine_is_reached_directly(host: str) -> None:
    assert proxy_for(f"https://{host}:8443", PROXY) is None


@pytest.mark.parametrize(
    ("no_proxy", "direct"),
    [
        ("*", True),
        ("api.model.example", True),
        ("model.example", True),
        (".model.example", True),
        ("*.model.example", True),
        ("other.example, MODEL.example ", True),
        ("model.example:443", True),
        ("model.example:8080", False),
        ("odel.example", False),
        ("10.0.0.0/8", False),
        ("", False),
    ],
)
def test_no_proxy_names_hosts_to_reach_directly(no_proxy: str, direct: bool) -> None:
    found = proxy_for("https://api.model.example", PROXY | {"NO_PROXY": no_proxy})
    assert (found is None) is direct


def test_no_proxy_may_name_a_network() -> None:
    env = PROXY | {"NO_PROXY": "10.0.0.0/8"}
    assert proxy_for("https://10.1.2.3", env) is None
    assert proxy_for("https://11.1.2.3", env) == FOUND
