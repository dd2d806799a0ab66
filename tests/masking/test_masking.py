"""Secrets in text: which are found, what is left alone, and that no text takes long.

The tokens are put together here, so that nobody who looks for tokens in source code finds one.
"""

import base64
import hashlib
import random
import string
import uuid

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assent.secrets.mask import Masker
from support.complexity import grows_in_proportion

pytestmark = pytest.mark.spec("I3")

MIXED = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
HEX = hashlib.sha256(b"x").hexdigest()
PEM = "-----BEGIN {0}PRIVATE KEY-----\n" + f"{MIXED * 2}\n" * 4 + "-----END {0}PRIVATE KEY-----"
shapes_only = Masker()

TOKENS = {
    "Google API key": "AIza" + "Sy" + MIXED[:33],
    "Google access token": "ya29." + MIXED,
    "Google client secret": "GOCSPX-" + MIXED[:28],
    "Anthropic key": "sk-ant-" + "api03-" + MIXED,
    "OpenAI key": "sk-proj-" + MIXED,
    "API key": "sk-" + MIXED,
    "GitHub token": "ghp_" + MIXED[:36],
    "GitLab token": "glpat-" + MIXED[:20],
    "Slack token": "xoxb-" + "1234567890-" + MIXED[:24],
    "AWS key id": "AKIA" + "IOSFODNN7EXAMPLE"[:16],
    "Stripe key": "sk_live_" + MIXED[:24],
    "npm token": "npm_" + MIXED[:36],
    "PyPI token": "pypi-" + "AgEIcHlwaS5vcmc" + MIXED,
    "Hugging Face token": "hf_" + MIXED[:34],
    "JSON Web Token": "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NSJ9" + "." + MIXED,
    "private key": PEM.format("RSA "),
}


@pytest.mark.parametrize("kind", TOKENS)
@pytest.mark.parametrize(
    "around",
    ["{}", "before {} after", "key is '{}'.", '{{"x":"a\\n{}\\n"}}', "(see {})", "{}\n", "x={}&y=1", "\t{}\r\n"],
)
def test_a_token_is_replaced_by_a_mark_that_says_what_it_was(kind: str, around: str):
    masked = shapes_only.text(around.format(TOKENS[kind]))
    assert masked == around.format(f"[secret: {kind}]")


@pytest.mark.parametrize(
    "token",
    [
        "gho_" + MIXED[:36],
        "ghs_" + MIXED[:36],
        "github_pat_" + "11ABCDEFG0" + MIXED,
        "xoxp-" + MIXED,
        "ASIA" + "Q" * 16,
    ],
)
def test_the_relatives_of_a_token_are_found_too(token: str):
    assert token not in shapes_only.text(f"it is {token} now")


ASSIGNED = {
    "DB_PASSWORD=hunter2": "DB_PASSWORD=[secret: password]",
    "DB_PASSWORD=super_secret_1": "DB_PASSWORD=[secret: password]",
    "export API_KEY='correct horse battery'": "export API_KEY='[secret: key]'",
    "STRIPE_SECRET=p&ss;w(rd)": "STRIPE_SECRET=[secret: secret]",
    'declare -x PGPASSWORD="opensesame"': 'declare -x PGPASSWORD="[secret: password]"',
    'password: "hunter2x"': 'password: "[secret: password]"',
    "password = hunter2x": "password = [secret: password]",
    '{"client_secret": "opensesame"}': '{"client_secret": "[secret: secret]"}',
    '{\\"apiKey\\": \\"a1b2c3d4e5f6g7\\"}': '{\\"apiKey\\": \\"[secret: key]\\"}',
    "api_key: str = 'a1b2c3d4e5f6g7'": "api_key: str = '[secret: key]'",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPx": "aws_secret_access_key = [secret: secret]",
    "x-api-key: a1b2c3d4e5f6g7": "x-api-key: [secret: key]",
    "curl --token a1b2c3d4 https://x": "curl --token [secret: token] https://x",
    "mysql --password=opensesame1": "mysql --password=[secret: password]",
    "Authorization: Bearer a1b2c3d4e5f6": "Authorization: Bearer [secret: credentials]",
    'curl -H "authorization: Basic YWRtaW46aHVudGVyMg=="': 'curl -H "authorization: Basic [secret: credentials]"',
    "< Set-Cookie: sid=a1b2c3d4e5f6; Path=/": "< Set-Cookie: sid=[secret: cookie]",
    "postgres://app:opensesame@db/x": "postgres://app:[secret: password]@db/x",
    "GET /x?a=1&access_token=a1b2c3d4e5f6&b=2": "GET /x?a=1&access_token=[secret: token]&b=2",
}


@pytest.mark.parametrize("text", ASSIGNED)
def test_what_stands_behind_a_name_that_says_secret_is_masked(text: str):
    assert shapes_only.text(text) == ASSIGNED[text]


def _picture(seed: int) -> str:
    return "data:image/png;base64," + base64.b64encode(random.Random(seed).randbytes(30_000)).decode()


HARMLESS = [
    "commit 8bc0bd0e1f2a3b4c5d6e7f8091a2b3c4d5e6f708\nAuthor: Ann <ann@example.org>\nAuthorDate: Mon Jan 1",
    f"{uuid.UUID(int=2**100 + 12345)} {HEX}  dist/assent-1.0-py3-none-any.whl",
    '"integrity": "sha512-' + base64.b64encode(hashlib.sha512(b"y").digest()).decode() + '"',
    *(_picture(seed) for seed in range(5)),
    "PATH=/usr/bin:/bin\nHOME=/home/ann\nPWD=/w\nOLDPWD=/\nTERM=xterm\nSSH_AUTH_SOCK=/run/user/1000/agent",
    "KEYBOARD=de\nTOKENIZERS_PARALLELISM=false\nGIT_AUTHOR_NAME=Ann Example\nMAX_TOKENS=100000",
    "SSH_KEY=/home/ann/.ssh/id_ed25519\nAPI_KEY=$API_KEY\nTOKEN=${{ secrets.TOKEN }}\nSECRET=<your secret>",
    "API_KEY=os.environ['API_KEY']\nSECRET_KEY = settings.SECRET_KEY\nPASSWORD=getpass()",
    "def login(user: str, password: str, token: str = '') -> None:\n    key = sorted(users, key=lambda u: u.name)",
    "password = input('Password: ')\ntoken = tokens[0]\nsecret = load_secret(name)\napi_key = config.api_key",
    'token = {"type": "identifier", "value": "foo"}\nprimary_key: "user_1234567890"\ncache_key = "page:1234567890ab"',
    "Enter your password: \nThe token is wrong. Pass the key as an argument: --api-key KEY, --token TOKEN",
    "Authorization: Bearer TOKEN\ncurl -H 'Authorization: Bearer $TOKEN' https://user:password@example.org",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0abc ann@host\n-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\npk_live_" + MIXED[:24],
    ".sk-folding-cube .sk-cube-container-wrapper { } task-abcdefghijklmnopqrstuvwxyz disk-1234567890123456789012",
    "git@github.com:ann/tool.git http://localhost:8080/@scope/x https://example.org/a:b@c ftp://h:21/x",
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor: incididunt = ut labore.",
    "HEX_PAT = '[0-9A-Fa-f]{1,4}'\nCLIENT_AUTH = '1.3.6.1.5.5.7.3.2'\nheaders = {'x-auth-token': imdsv2_session_token}",
    "request.headers['Authorization'] = self._build_auth_header(a1=2)\ncookie: http.Cookie[str] = http.SimpleCookie()",
    "generateAccessToken: https://cloud.example/iam/v1/projects",
    "cookie: the jar is empty; bypass = true; compass: north; the author: nobody; monkey=see",
]


@pytest.mark.parametrize("text", HARMLESS, ids=range(len(HARMLESS)))
def test_text_that_is_not_secret_stays_unchanged(text: str):
    assert shapes_only.text(text) == text


def test_our_own_source_has_no_secret_in_it():
    from pathlib import Path

    import assent

    for path in Path(assent.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert shapes_only.text(text) == text, path


# --- exact values ---


def test_a_known_value_is_masked_wherever_it_stands_under_its_name():
    masker = Masker(lambda: {"opensesame-42": "$DOOR"})
    assert masker.text("x opensesame-42y") == "x [secret: $DOOR]y"


def test_a_known_value_that_is_a_common_word_or_a_path_is_not_looked_for():
    masker = Masker(lambda: {"postgres": "$A", "/etc/keys/app.json": "$B", "12345678": "$C", "": "$D"})
    text = "postgres reads /etc/keys/app.json 12345678 times"
    assert masker.text(text) == text


def test_the_known_values_are_asked_for_once_and_only_when_there_is_something_to_mask():
    asked: list[int] = []
    masker = Masker(lambda: (asked.append(1), {"opensesame-42": "$DOOR"})[1])
    assert not asked
    assert masker.text("a") + masker.text("opensesame-42") == "a[secret: $DOOR]"
    assert asked == [1]


# --- data, colours, pieces ---


def test_data_keeps_its_shape_and_loses_its_secrets():
    data = {"password": "opensesame", "n": 1, "list": [f"x {TOKENS['GitHub token']}", None, True], "key": "plain"}
    assert shapes_only.data(data) == {
        "password": "[secret: password]",
        "n": 1,
        "list": ["x [secret: GitHub token]", None, True],
        "key": "plain",
    }


def test_colours_within_a_token_do_not_hide_it_and_are_not_lost():
    token = TOKENS["GitHub token"]
    text = f"a \x1b[01;31m\x1b[K{token[:4]}\x1b[m\x1b[K{token[4:]} b"
    assert shapes_only.text(text) == "a \x1b[01;31m\x1b[K[secret: GitHub token]\x1b[m\x1b[K b"


@given(st.lists(st.integers(1, 400), max_size=12))
def test_a_private_key_that_comes_in_pieces_is_masked_to_its_end(cuts: list[int]):
    text, lines = f"before\n{PEM.format('')}\nafter\n", list[str]()
    stream, at = shapes_only.stream(), 0
    whole_lines = text.splitlines(keepends=True)
    for count in [*cuts, len(whole_lines)]:
        lines.append(stream.feed("".join(whole_lines[at : at + count])))
        at += count
    shown = "".join(lines)
    assert MIXED not in shown
    assert shown.startswith("before\n")
    assert shown.endswith("after\n")


def test_a_key_that_breaks_off_hides_nothing_of_what_comes_later():
    stream = shapes_only.stream()
    assert stream.feed("-----BEGIN PRIVATE KEY-----\nMIIE\n") == "[secret: private key]"
    assert stream.feed("Error: it broke off (1)\n") == "Error: it broke off (1)\n"


# --- for all texts ---

PIECES = [
    *TOKENS.values(),
    "password=",
    "API_KEY=",
    "token: ",
    '"',
    "'",
    "\x1b[31m",
    "\n",
    " ",
    "[secret: x]",
    "opensesame-42",
    "://a:",
    "@b",
]
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=20)), max_size=12).map("".join)
lines = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=20)), max_size=12).map("\n".join)


@given(lines)
@example('password="[secret: x]"')
@example("İTOKEN=İİİİİ API_KEY=abcdef")
def test_masking_twice_is_masking_once(text: str):
    masker = Masker(lambda: {"opensesame-42": "$DOOR"})
    once = masker.text(text)
    assert masker.text(once) == once


@given(texts)
def test_no_known_value_is_left_in_any_text(text: str):
    assert "opensesame-42" not in Masker(lambda: {"opensesame-42": "$DOOR"}).text(text)


@given(texts)
def test_what_is_not_masked_stays_in_its_order(text: str):
    rest = iter(text)
    masked = shapes_only.text(text)
    while "[secret: " in masked and "[secret: " not in text:
        before, _, after = masked.partition("[secret: ")
        masked = before + after.partition("]")[2]
    assert "[secret: " in text or all(character in rest for character in masked)


UNITS = [
    *(
        "key",
        "key=",
        "key : ",
        "API_KEY=a ",
        "token=abc1 ",
        "sk-",
        "eyJ",
        "eyJa.",
        "://",
        "://a:",
        "-----BEGIN ",
        "--token ",
    ),
    *(
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----",
        'password: "',
        "bearer ",
        "cookie: a=",
        "\x1b[0m",
        "\x1b]",
    ),
    *(
        "AIza",
        "ghp_",
        "SG.a",
        "--",
        "a",
        "İkey=",
        "=",
        "pass\\",
        "authorization: bearer ",
        "key: a = ",
        string.printable,
    ),
]


@pytest.mark.parametrize("unit", UNITS)
def test_no_text_takes_more_than_linear_time(unit: str):
    assert grows_in_proportion(lambda length: shapes_only.text((unit * length)[:length]), 100_000)
