"""Keys from the settings, from commands, from the keyring and from a private file."""

import stat
import sys
from pathlib import Path

import msgspec
import pytest

from assent.app.model_access import ModelAccess
from assent.app.secret_masking import export_masker
from assent.app.stored_keys import StoredKeys
from assent.config import BadSettings, KeyReference, Settings, parse_settings
from assent.models.model_choice import access_to
from assent.models.model_protocol import AuthFailed
from support.program import NO_SERVERS

KEY = "sk-test-0123456789abcdefXYZ"


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Without a keyring."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    _forget_backend(monkeypatch)
    return {"ASSENT_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}


@pytest.fixture
def keyring_file(env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "support.file_keyring.FileKeyring")
    monkeypatch.setenv("TEST_KEYRING", str(tmp_path / "keyring"))
    _forget_backend(monkeypatch)
    return tmp_path / "keyring"


def _forget_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    import keyring.core

    monkeypatch.setattr(keyring.core, "_keyring_backend", None)


def stored(env: dict[str, str], **keys: str | KeyReference) -> StoredKeys:
    return StoredKeys(env, Settings(keys=dict(keys)))


@pytest.mark.spec("K3")
def test_the_environment_takes_precedence_over_the_settings_and_these_over_a_login(env: dict[str, str]) -> None:
    StoredKeys(env, Settings()).store("anthropic", "by-login")
    models = ModelAccess(env, Settings(keys={"anthropic": "by-settings"}))
    provider = models.find_provider("anthropic")
    assert access_to(provider, {"ANTHROPIC_API_KEY": "by-env"}, models.keys.find).key == "by-env"
    assert access_to(provider, env, models.keys.find).key == "by-settings"
    assert access_to(provider, env, StoredKeys(env, Settings()).find).key == "by-login"


@pytest.mark.spec("K3")
@pytest.mark.spec("I5")
def test_without_a_keyring_a_login_is_kept_in_a_file_that_only_the_owner_can_read(env: dict[str, str]) -> None:
    keys = stored(env)
    assert keys.store("anthropic", KEY) == "file"
    assert stat.S_IMODE(keys.file.stat().st_mode) == 0o600
    assert (stored(env).find("anthropic"), stored(env).find("openai")) == (KEY, "")
    assert keys.forget("anthropic") and not keys.forget("anthropic")
    assert stored(env).find("anthropic") == ""


@pytest.mark.spec("K3")
@pytest.mark.parametrize("content", ["", "{", "[]", '{"anthropic": 5}', '{"anthropic": {"key": "\\ud800"}}'])
async def test_a_damaged_file_of_keys_is_told_instead_of_a_missing_key(env: dict[str, str], content: str) -> None:
    models = ModelAccess(env | NO_SERVERS, Settings())
    models.keys.file.write_text(content)
    models.keys.file.chmod(0o600)
    with pytest.raises(AuthFailed, match=r"needs a key(.|\n)*keys\.json is damaged .*run `assent login` again"):
        models.open("claude-opus-5-5")
    with pytest.raises(AuthFailed, match=r"no model to use(.|\n)*keys\.json is damaged"):
        await models.choose()
    assert any("is damaged" in warning for warning in models.keys.warnings())
    models.keys.store("anthropic", KEY)
    assert not list(models.keys.warnings()) and models.keys.find("anthropic") == KEY


@pytest.mark.spec("K3")
def test_with_a_keyring_the_key_is_stored_only_there(env: dict[str, str], keyring_file: Path) -> None:
    keys = stored(env)
    assert keys.store("anthropic", KEY) == "keyring"
    assert KEY not in keys.file.read_text() and KEY in keyring_file.read_text()
    assert stored(env).find("anthropic") == KEY
    assert keys.forget("anthropic") and KEY not in keyring_file.read_text()


def test_a_key_missing_from_the_keyring_is_reported(env: dict[str, str], keyring_file: Path) -> None:
    stored(env).store("anthropic", KEY)
    keyring_file.unlink()
    with pytest.raises(AuthFailed, match="assent login anthropic"):
        stored(env).find("anthropic")


def test_a_new_login_counts_at_once(env: dict[str, str], keyring_file: Path) -> None:
    keys = stored(env)
    keys.store("anthropic", "old-key-0123456789")
    assert keys.find("anthropic") == "old-key-0123456789"
    stored(env).store("anthropic", KEY)
    assert keys.find("anthropic") == KEY


def test_the_settings_can_name_a_keyring_entry(env: dict[str, str], keyring_file: Path) -> None:
    keyring_file.write_bytes(msgspec.json.encode({"work/tools/ann": KEY}))
    assert stored(env, openai=KeyReference(keyring="work/tools/ann")).find("openai") == KEY


@pytest.mark.spec("K3")
def test_a_command_can_print_the_key(env: dict[str, str], tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    line = f"import os; open({str(runs)!r}, 'a').write('x'); print({KEY!r}); print('more')"
    keys = stored(env | {"OTHER_API_KEY": "never"}, openai=KeyReference(command=(sys.executable, "-c", line)))
    assert not runs.exists() and keys.has("openai")
    assert (keys.find("openai"), keys.find("openai"), runs.read_text()) == (KEY, KEY, "x")


def test_a_command_gets_no_key_in_its_environment(env: dict[str, str]) -> None:
    line = "import os; print('seen' if 'ANTHROPIC_API_KEY' in os.environ else 'none-seen')"
    keys = stored(env | {"ANTHROPIC_API_KEY": KEY}, openai=KeyReference(command=(sys.executable, "-c", line)))
    assert keys.find("openai") == "none-seen"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (("sh", "-c", f"echo {KEY}; echo locked >&2; exit 3"), r"failed \(3\): locked"),
        (("true",), "printed nothing"),
        (("/no/such/program",), "cannot be run"),
    ],
)
def test_a_command_that_fails_says_why_without_its_output(
    env: dict[str, str], command: tuple[str, ...], why: str
) -> None:
    with pytest.raises(AuthFailed, match=why) as failed:
        stored(env, openai=KeyReference(command=command)).find("openai")
    assert KEY not in str(failed.value)


@pytest.mark.spec("K3")
def test_a_settings_file_with_keys_that_others_can_read_causes_a_warning(env: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("")
    path.chmod(0o644)
    (warning,) = stored(env, anthropic=KEY).warnings()
    assert "chmod 600" in warning and KEY not in warning
    path.chmod(0o600)
    assert not list(stored(env, anthropic=KEY).warnings())
    path.chmod(0o644)
    assert not list(stored(env, anthropic=KeyReference(command="pass")).warnings())


@pytest.mark.spec("K3")
@pytest.mark.spec("I3")
def test_stored_keys_are_masked_wherever_they_appear(env: dict[str, str], keyring_file: Path) -> None:
    odd = "Correct-Horse-Battery-9"  # like no provider's key
    keys = stored(env, openai=odd)
    assert odd not in export_masker(env, Settings(keys={"openai": odd})).text(f"it is {odd}")
    keys.store("anthropic", odd + "-2")
    keys.find("anthropic")
    assert odd not in export_masker(env, Settings(), (), keys).text(f"it is {odd}-2")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[keys]\nx = { command = "a", keyring = "b/c" }', "either `command` or `keyring`"),
        ("[keys]\nx = {}", "either `command` or `keyring`"),
        ('[keys]\nx = { keyring = "only-service" }', "SERVICE/USER"),
    ],
)
def test_an_invalid_key_reference_is_rejected(text: str, why: str) -> None:
    with pytest.raises(BadSettings, match=why):
        parse_settings(text.encode(), Path("settings.toml"))
