"""Which names are those of secrets: lists that were written down before the grammar was."""

import re
from fnmatch import fnmatchcase

import pytest

from assent.files.protected import why_secret
from assent.files.secret_names import (
    brief_secret_globs,
    harmless_globs,
    secret_folders,
    secret_globs,
    secret_pattern,
    secret_samples,
)

# `_SP_` is a blank.
SECRET = """
    .env .env.bak .env~ .ENV .env.uat .env.local .env.production .env.prod.old prod.env .env-prod .env_prod #.env#
    .env.swp ..env.swp .env.swo .#.env .envrc .env.1 .env.orig .env.save .env.copy .env.txt .env.tmp .env.gz
    .env.2024-01-01 .env(1) .env.bak.1 .env.~1~ .env.rej .env.bk .env.backup .env.development .env.staging .env.test
    .env.ci .Env.Local local.env db.env .env.enc.bak env.prod .env_SP_copy Copy_SP_of_SP_.env .env.zip .env.old~
    my.env.bak id_rsa id_rsa.bak id_rsa.old id_rsa~ id_ed25519 id_ed25519_github id_ecdsa id_dsa id_rsa-prod
    id_rsa_github id_rsa.uat ID_RSA id_ecdsa_sk id_ed25519_sk id_rsa.txt deploy_rsa deploy_ed25519 github_rsa
    key.pem server.pem cert.pem.bak server.key private.key tls.key SERVER.KEY x.p12 x.pfx x.jks x.kdbx x.ppk
    x.keystore x.p8 server.key.old server.key~ x.pem.1 private.asc secret.asc secring.gpg private-key.asc .netrc
    _netrc .pgpass .npmrc .pypirc .git-credentials .docker/config.json .dockercfg .dockerconfigjson kubeconfig
    kubeconfig.yaml .kube/config .aws/credentials .aws/config credentials.json credentials service-account.json
    service-account-prod.json service_account.json serviceAccountKey.json gcp-key.json client_secret.json
    client_secret_123.json terraform.tfvars prod.tfvars terraform.tfstate terraform.tfstate.backup
    prod.auto.tfvars.json secrets.yaml secrets.yml secrets.json secrets.toml secret.yaml .secrets secrets.env
    .htpasswd .vault_pass vault_pass.txt .vault-password wp-config.php wp-config.php.bak .bash_history .zsh_history
    .python_history .psql_history .mysql_history .node_repl_history
    .config/gcloud/application_default_credentials.json application_default_credentials.json .config/gh/hosts.yml
    .config/rclone/rclone.conf rclone.conf .ssh/config .ssh/known .gnupg/x .my.cnf .s3cfg .boto .credentials
    .vault-token master.key config/master.key credentials.yml.enc .netrc.bak .npmrc.old .pgpass~ secrets.yaml.bak
    .gem/credentials .cargo/credentials.toml .m2/settings.xml .gradle/gradle.properties passwords.txt password.txt
    .password .passwd token.txt .token api_key.txt apikey.txt .mylogin.cnf .terraformrc .azure/accessTokens.json
    creds.json .authinfo .msmtprc token.json github_token deploy_key secret_key.txt appsettings.Production.json wg0.conf
    .cache/huggingface/token .dbt/profiles.yml .huggingface/token bitwarden_export.json
    .env.vault .env.keys .dbshell local.settings.json secrets.tfvars
"""
ORDINARY = """
    environment.ts env.py .env.example .env.sample .env.template .env.dist tokens.py secret_santa.md keyboard.json
    id_rsa.pub id_ed25519_github.pub key.pub env.ts env.js env.d.ts environment.yml README.md main.py app.bak
    main.py.bak notes.old notes.txt~ config.json config.yaml settings.py settings.json settings.xml package.json
    pyproject.toml Makefile docs/env.md src/env/index.ts tokenizer.py token.go tokens.json design-tokens.json
    password_reset.html password.py passwords.md passwd.c credentials.py credentials_test.go secrets.py secrets.md
    secrets.rs secret.go keys.py key.ts keymap.c keyboard.py keynote.key.md monkey.py history.py history.md
    .history.md known_hosts.go rclone.go kubeconfig.go hosts.yml hosts config auth.py auth.ts auth_test.py
    terraform.tf main.tf variables.tf example.tfvars.md wp-config-sample.php wp-login.php netrc.py npmrc.md
    test_env.py dotenv.js dotenv-expand.md env.example environment.prod.ts .gitignore .editorconfig .eslintrc
    .prettierrc .nvmrc .bashrc .profile release-prod notes-prod a.uat x_github deploy-prod.sh service-account.ts
    service_account.py pemmican.txt keyring.py rsa.py rsa.md test_rsa.py id_card.png id.txt identity.json ids.csv
    envoy.yaml envelope.txt .environment-docs.md convent.env.md public.key.md env_test.go sample.env example.env
    template.env .env.example.bak test.txt vault.py vault.md .vaultrc.md gradle.properties LICENSE.asc
    release.tar.gz.asc SHA256SUMS.asc appsettings.json appsettings.Development.json token.ts nginx.conf
"""


def names(text: str) -> list[str]:
    return [name.replace("_SP_", " ") for name in text.split()]


@pytest.mark.spec("I2")
@pytest.mark.parametrize("name", names(SECRET))
def test_the_name_of_a_secret_and_of_its_copies_is_known_to_all_who_ask(name: str) -> None:
    parts = name.split("/")
    assert why_secret(parts) is not None
    assert re.search(secret_pattern(), f"/w/{name.lower()}")
    if name not in (
        ".m2/settings.xml",
        ".gradle/gradle.properties",
        ".cache/huggingface/token",
    ):  # no glob of a name says this
        low = name.lower().split("/")
        for globs in (secret_globs(), brief_secret_globs()):
            assert any(fnmatchcase(low[-1], glob) for glob in globs) or {*low} & {*secret_folders()}


@pytest.mark.spec("I2")
@pytest.mark.parametrize("name", names(ORDINARY))
def test_an_ordinary_name_is_not_a_secret(name: str) -> None:
    assert why_secret(name.split("/")) is None
    assert not re.search(secret_pattern(), f"/w/{name.lower()}")


def test_ordinary_code_is_not_passed_over_by_programs_that_know_globs() -> None:
    code = [name for name in names(ORDINARY) if re.search(r"\.(?:py|ts|js|go|rs|c|tf|json|yml|html)$", name)]
    assert [name for name in code if any(fnmatchcase(name, glob) for glob in secret_globs())] == []


@pytest.mark.spec("I2")
@pytest.mark.parametrize(
    "rest", ["~", ".bak", "_backup", "-old", ".orig", ".save", ".copy", ".tmp", ".rej", ".gz", ".1"]
)
def test_globs_cover_copies_of_every_secret(rest: str) -> None:
    """Names that were added to the list may need a family of their own."""
    missed = [
        name
        for name in (f"{sample}{rest}" for sample in secret_samples() - {*secret_folders(), "shadow", "sudoers"})
        if why_secret([name]) is not None and not any(fnmatchcase(name, glob) for glob in secret_globs())
    ]
    assert missed == []


def test_one_glob_for_the_copies_of_many_names_hides_no_code() -> None:
    words = """
        env_test_2.py env_and_dev.py env_settings.py env_prod.py id_data_loader.py id_server.go tokens.py tokens.txt.py
        password.test.ts secrets.md secret_store.py vault.yml.py environment_dev.py http_old.py kube_dev.go test_rsa.py
        to_do.md parsers.json.md apply.txt.md env_utils.ts htpasswd.py id_rsa.pub
    """.split()  # noqa: SIM905
    hidden = [name for name in words if any(fnmatchcase(name, glob) for glob in secret_globs())]
    assert hidden == [
        "tokens.txt.py",
        "vault.yml.py",
        "parsers.json.md",
        "apply.txt.md",
    ]  # copies of data, by the look of it


def test_the_short_way_for_code_leads_past_no_secret() -> None:
    """Whatever may stand before and behind a secret's name, and however it is written."""
    parts = {re.sub(r"\[(.).*?\]", r"\1", word) for word in (*secret_samples(), *secret_globs(), *secret_folders())}
    middle = {part.replace("*", star).replace("?", "x") for part in parts for star in ("", "v.b")}
    before = ("", ".", "#", "._", "copy of ", "server.")
    behind = ("", "~", ".bak", "-prod", " (2)", ".env")
    whole = [f"{one}{name}{two}.py" for name in middle for one in before for two in behind]
    checked = [name for name in whole if fnmatchcase(name, harmless_globs()["*.py"])]
    assert len(checked) > 1000
    assert [name for name in checked if why_secret([name]) is not None] == []


def test_all_kinds_of_code_are_treated_alike() -> None:
    assert [why_secret([f"server.key.{kind[2:]}"]) for kind in harmless_globs()] == [None] * len(harmless_globs())
    assert len({harmless.partition("]")[0] for harmless in harmless_globs().values()}) == 1
