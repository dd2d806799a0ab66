"""Which variables hold a secret: by their names, and by what their values look like."""

import pytest

from assent.secrets.variables import holds_secret, known_values

pytestmark = pytest.mark.spec("I3")


def words(text: str) -> list[str]:
    return text.split()


SECRET = words(
    """
    GEMINI_API_KEY OPENAI_API_KEY GITHUB_TOKEN GH_TOKEN NPM_TOKEN AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
    AWS_SESSION_TOKEN DB_PASSWORD PGPASSWORD MYSQL_PWD SMTP_PASS CLIENT_SECRET SECRETS GOOGLE_APPLICATION_CREDENTIALS
    AZURE_CREDENTIALS GITHUB_PAT NPM_CONFIG__AUTH ASSENT_TOKEN apiKey SSH_PRIVATE_KEY TOKEN2 DOCKER_AUTH
    """
)
ORDINARY = words(
    """
    PATH HOME LANG LC_ALL TERM TMPDIR PWD OLDPWD USER SHELL VIRTUAL_ENV CONDA_PREFIX SSH_AUTH_SOCK SSH_AGENT_PID DISPLAY
    XAUTHORITY DBUS_SESSION_BUS_ADDRESS GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL TOKENIZERS_PARALLELISM KEYBOARD KEYTIMEOUT
    AWS_REGION AWS_PROFILE HTTPS_PROXY NO_PROXY CI EDITOR BYPASS COMPASS MAX_TOKENS SSH_PUBLIC_KEY XDG_RUNTIME_DIR
    PYTHONPATH NODE_OPTIONS PAT
    """
)


@pytest.mark.parametrize("name", SECRET)
def test_a_name_that_says_secret_is_believed(name: str):
    assert holds_secret(name, "x")


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_variable_is_none(name: str):
    assert not holds_secret(name, "/some/value:1")


def test_a_value_that_looks_like_a_secret_makes_it_one():
    assert holds_secret("MY_THING", "ghp_" + "a1B2" * 9)
    assert holds_secret("DATABASE_URL", "postgres://app:opensesame@db/x")
    assert not holds_secret("DATABASE_URL", "postgres://db/x")


def test_a_proxy_is_passed_on_even_with_a_password():
    assert not holds_secret("https_proxy", "http://ann:opensesame@proxy:3128")


def test_known_values_are_the_secret_parts_in_the_ways_they_are_written():
    found = known_values(
        [
            ("TOKEN", "a b/c-12345"),
            ("DATABASE_URL", "postgres://app:opensesame1@db/x"),
            ("K_KEY", "line-1-abc\nline-2-abc"),
        ]
    )
    assert found == {
        "a b/c-12345": "$TOKEN",
        "a%20b%2Fc-12345": "$TOKEN",
        "opensesame1": "$DATABASE_URL",
        "line-1-abc": "$K_KEY",
        "line-2-abc": "$K_KEY",
    }
