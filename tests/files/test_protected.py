"""The list of special names, each by itself: what decides what runs, what tools run, and where secrets are."""

import os
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from assent.files import protected
from assent.files.protected import (
    fold,
    secrets_below,
    why_contains_protected,
    why_protected,
    why_run,
    why_secret,
)
from assent.files.secret_names import secret_folders, secret_globs, secret_samples

DECIDES = """
    .git .hg .svn .bzr .jj git~1
    .githooks .git-hooks .husky .huskyrc .overcommit.yml .gitconfig .gitmodules .gitattributes
    .git-credentials .pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml
    lefthook.yml lefthook.yaml lefthook-local.yml .lefthook.yml .lefthook.yaml .lefthook .lefthook-local
    .lintstagedrc .simple-git-hooks.json .simple-git-hooks.js
    .vscode .vscode-server .idea .vs .fleet .zed .nova .theia .devcontainer .devcontainer.json
    .vim .vimrc .gvimrc .exrc .nvimrc .nvim.lua .emacs .emacs.d .dir-locals.el .nanorc
    .assent .claude .claude.json .gemini .codex .cursor .cursorrules .cursorignore .windsurf .windsurfrules
    .roo .roomodes .cline .clinerules .continue .opencode opencode.json opencode.jsonc .goose .goosehints
    .kiro .qwen .copilot .agents .amazonq .junie .trae .augment .crush .factory .geminiignore .assentignore
    .mcp.json .mcp.yaml .mcp.yml .mcp.toml .aider.conf.yml .assent.toml .assent-local
    .circleci .buildkite .woodpecker .teamcity .semaphore .builds .build.yml .drone.yml .drone.yaml
    .drone.star .woodpecker.yml .woodpecker.yaml .travis.yml .travis.yaml .appveyor.yml appveyor.yml
    .cirrus.yml .cirrus.star bitbucket-pipelines.yml bitbucket-pipelines.yaml Jenkinsfile Jenkinsfile.release
    codefresh.yml wercker.yml cloudbuild.yaml cloudbuild.yml bitrise.yml codemagic.yaml buildspec.yml buildspec.yaml
    .gitlab-ci.yml azure-pipelines.yml azure-pipelines-release.yaml
    .direnv .mise .mise.toml mise.toml .mise.local.toml mise.local.toml .asdfrc .rtx.toml
    .profile .login .logout .inputrc .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc
    .bashrc .bash_aliases .oh-my-zsh .xinitrc .xprofile .xsession .xsessionrc .xserverrc .pam_environment
    .tmux.conf .screenrc .gdbinit .lldbinit .pythonrc .pythonrc.py .pythonstartup .pdbrc .irbrc .pryrc
    .rprofile .renviron .psqlrc .sqliterc .my.cnf .wgetrc .curlrc .ripgreprc .hgrc .lesskey .lessfilter
    .ackrc .perltidyrc .ssh .gnupg .aws .azure .kube .netrc _netrc .pgpass .pypirc .vault-token
    .npmrc .yarnrc .yarnrc.yml .yarn .pnpmfile.cjs .pnp.cjs .pnp.js .bunfig.toml bunfig.toml .bundle .gemrc
    .condarc .cargo .mvn .m2 pip.conf .pip sitecustomize.py usercustomize.py
    .env .envrc .env.local my.code-workspace x.sublime-project x.sublime-workspace
    .lintstagedrc.json lint-staged.config.js .huskyrc.json simple-git-hooks.cjs .pre-commit-local.yaml
    .github/workflows .github/actions .github/copilot-instructions.md .github/hooks .github/agents
    .github/prompts .gitea/workflows .forgejo/workflows .gitlab/ci
    .config/git .config/fish .config/assent .config/gcloud .config/gh .config/nvim .config/autostart
    .config/mise .config/systemd .config/environment.d .config/direnv .config/pip .config/code .config/husky
    .docker/config.json .docker/cli-plugins .local/bin .local/share/assent .local/state/assent
"""
RUN = """
    ormconfig.js codegen.ts jasmine.json .eleventy.js melos.yaml Snapfile vendor/bundle alembic/env.py
    schema.prisma .mailcap .ipython
    package.json Makefile GNUmakefile justfile .justfile Taskfile.yml Taskfile.yaml Rakefile Gemfile Podfile
    setup.py setup.cfg pyproject.toml tox.ini noxfile.py tasks.py fabfile.py conftest.py pytest.ini dodo.py
    toxfile.py mocha.opts .lfsconfig .gitpod.yml
    Cargo.toml build.rs build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradlew mvnw pom.xml
    build.xml build.sbt CMakeLists.txt meson.build build.zig mix.exs deno.json deno.jsonc composer.json
    Dockerfile Containerfile docker-compose.yml docker-compose.yaml compose.yml compose.yaml Procfile
    Vagrantfile gulpfile.js Gruntfile.js .venv venv .config .docker .github
    rust-toolchain rust-toolchain.toml .tool-versions go.mod go.work mypy.ini .mypy.ini phpunit.xml phpunit.xml.dist
    .rspec karma.conf.js BUILD.bazel MODULE.bazel WORKSPACE.bazel SConstruct wscript Snakefile Package.swift project.clj
    flake.nix shell.nix default.nix Earthfile Tiltfile skaffold.yaml Jakefile Brewfile
    AGENTS.md CLAUDE.md GEMINI.md ASSENT.md
    rules.mk x.cmake x.pth jest.config.js jest.config.mts .eslintrc .eslintrc.json .babelrc.yaml Dockerfile.dev .zsh_x
    ruff.toml .ruff.toml pdm.toml .gitlint activate env/bin tslint.json app.yaml spec_helper.rb
    local.properties .plzconfig x.plz x.sublime-project spago.dhall Project.toml pubspec.yaml gleam.toml elm.json v.mod
    config.exs project.godot activate.R .ctags.d .terraform-version .opencode.json
    node_modules .flake8 pylintrc .pylintrc .isort.cfg hatch_build.py pdm_build.py tox.toml requirements.txt
    requirements-dev.txt requirements.in dev-requirements.txt requirements_test.txt Pipfile.lock uv.lock pyvenv.cfg
    .python-version mkdocs.yml entry_points.txt
    x.egg-info y.dist-info __pycache__ site-packages gunicorn.conf.py pyrightconfig.json
    package-lock.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml binding.gyp tsconfig.json tsconfig.build.json
    .c8rc.json .lint-x-rc gulpfile.babel.js webpack.config.babel.js karma.conf.ts nodemon.json turbo.json nx.json
    babel.config.json .storybook .markdownlint-cli2.jsonc firebase.json vercel.json
    x.gemspec x.rake Guardfile Capfile .rubocop.yml config.ru Gemfile.lock Dangerfile.ts
    phpstan.neon.dist rector.php .htaccess composer.lock .php-cs-fixer.dist.php
    gradle-wrapper.properties gradle.properties x.gradle plugins.sbt buildSrc gradle/wrapper deps.edn libs.versions.toml
    x.csproj Directory.Build.props x.targets NuGet.Config global.json x.runsettings x.sln launchSettings.json
    go.sum .golangci.yml magefile.go Cargo.lock Cross.toml Makefile.toml
    build.ninja x.bzl .bazelrc .bazelversion .buckconfig SConscript meson_options.txt configure.ac x.m4 Makefile.am
    Makefile.inc CMakePresets.json conanfile.py premake5.lua xmake.lua compile_commands.json tools/bazel x.nimble
    ansible.cfg x.tf terragrunt.hcl kustomization.yaml helmfile.yaml Puppetfile .kitchen.yml cdk.json Pulumi.prod.yaml
    compose.override.yml docker-compose.prod.yaml x.dockerfile docker-bake.hcl x.service x.desktop
    x.nix flake.lock devbox.json Taskfile.dist.yml x.just mcp.json SKILL.md AGENT.md .project .settings .run
    docs/conf.py docs/en/conf.py sphinx/conf.py gunicorn_conf.py pelicanconf.py meltano.yml requirements/dev.txt
    requirements/base.in cypress/support cypress/plugins cucumber.mjs moon.yml tauri.conf.json tauri.linux.conf.json
    action.yml Brocfile.js gatsby-ssr.js vitest.setup.mts features/support features/environment.py _plugins
    test_helper.exs config/dev.exs config/puma.rb config/unicorn.rb config/schedule.rb config/boot.rb user.clj
    data_readers.cljc project/Dependencies.scala package.mill x.csproj.user x.cake x.gyp x.gypi x.gni x.bp x.pro x.prf
    x.smk x.thor _tags _oasis pkg/pkg.ml deps/build.jl Makevars Makevars.win tests/testthat/setup.R
    tests/testthat/helper-db.R tests/testthat/teardown.R build.yaml shakefile.hs tlconfig.lua config.ld book.toml
    hugo.toml antora-playbook.yml goreleaser.yml modd.conf Dioxus.toml Taskfile_linux.yml docker-bake.ci.hcl
    x.nomad.hcl x.tofu x.tofu.json Jamfile.v2 premake.lua x.sublime-build roles/web/tasks roles/web/handlers
    roles/web/library ansible/library filter_plugins callback_plugins group_vars host_vars hosts.ini inventory.yml
    playbook.yml Kustomization patches/left-pad+1.0.0.patch debian/rules bare.git prog-gdb.py
"""
SECRET = """
    .ssh .gnupg .aws .azure .kube .password-store
    .netrc _netrc .pgpass .pypirc .npmrc .git-credentials .vault-token .htpasswd
    id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk cookies.sqlite
    .env .env.local .env-local .environment x.pem x.key x.p12 x.pfx x.jks x.keystore x.kdbx x.ppk
    .envrc prod.env env.production id_rsa.bak id_ed25519_work server.key.old x.tfvars
    x.auto.tfvars.json terraform.tfstate.1
    wp-config.php .vault_pass vault-password.txt kubeconfig rclone.conf .mozilla logins.json db-secret.yaml
    my-credentials.json service-account-prod.json .m2/settings.xml .gradle/gradle.properties run/secrets etc/ssl/private
    .bash_history login.keychain-db credentials credentials.json environ
    .docker/config.json .config/gcloud .config/gh etc/shadow etc/gshadow etc/sudoers etc/sudoers.d Library/Keychains
"""
LISTS: list[tuple[Callable[[Sequence[str]], str | None], str, str]] = [
    (why_protected, DECIDES, "decides what runs or what is allowed here"),
    (why_run, RUN, "decides what tools run or do here"),
    (why_secret, SECRET, "usually holds secrets"),
]


@pytest.mark.spec("I2")
@pytest.mark.parametrize(("why", "names", "sentence"), LISTS)
def test_each_name_is_special_in_any_folder_and_any_case(
    why: Callable[[Sequence[str]], str | None], names: str, sentence: str
) -> None:
    for name in names.split():
        assert why(name.split("/")) == f"{name} {sentence}"
        assert why(["some", "where", *name.upper().split("/")]) == f"{name.upper()} {sentence}"


@pytest.mark.spec("I2")
@pytest.mark.parametrize(("why", "names", "sentence"), LISTS)
def test_what_is_below_a_special_name_is_special_too(
    why: Callable[[Sequence[str]], str | None], names: str, sentence: str
) -> None:
    for name in {*names.split()} - {"credentials", "credentials.json", "environ", "env.production"}:
        assert why([*name.split("/"), "x", "y"]) == f"{name} {sentence}"


def test_names_that_only_contain_a_special_one_are_ordinary() -> None:
    for name in (f"x{name}" for name in DECIDES.split() if name[0] == "."):
        assert why_protected(name.split("/")) is None or "/" in name
    assert why_protected(["workflows", ".github"]) is None
    assert why_secret(["credentials", "load.py"]) is None, "a folder of code may be called so"


def test_part_of_a_path_counts_only_where_something_new_arrives() -> None:
    assert why_protected([".github"]) is None
    assert why_protected([".local", "share"]) is None
    assert why_protected([".github"], may_bring=True) == ".github decides what runs or what is allowed here"
    assert why_protected(["a", ".local", "share"], may_bring=True) is not None
    assert why_protected([".github", "other"], may_bring=True) is None
    assert why_protected([".local", "x", "assent"], may_bring=True) is None


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        (".GIT", ".git"),
        (".git. .", ".git"),
        (".git:stream", ".git"),
        (".g\u200cit", ".git"),
        ("．ｇｉｔ", ".git"),
        ("...", "..."),
        (":x", ":x"),
        ("Größe", "grösse"),
    ],
)
def test_a_name_is_compared_as_the_most_forgiving_file_system_does(name: str, folded: str) -> None:
    assert fold(name) == folded


# --- folders and what they hold ---


def test_a_folder_with_protected_files_deep_inside_says_which(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "link").symlink_to("/etc")
    assert why_contains_protected(str(tmp_path), ("w",)) is None
    (tmp_path / "a" / "b" / ".envrc").touch()
    assert why_contains_protected(str(tmp_path), ("w",)) == (
        "it contains a/b/.envrc, which decides what runs or what is allowed"
    )


def test_a_folder_is_searched_up_to_a_number_and_beyond_that_it_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protected, "_MAX_ENTRIES", 3)
    for number in range(3):
        (tmp_path / str(number)).touch()
    assert why_contains_protected(str(tmp_path), ()) is None
    (tmp_path / "one more").touch()
    assert "more than 3 entries" in (why_contains_protected(str(tmp_path), ()) or "")


def test_a_folder_that_cannot_be_read_hides_no_secrets_elsewhere(tmp_path: Path) -> None:
    (tmp_path / ".env").touch()
    deep = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):  # its path becomes longer than any that can be opened
        os.mkdir("x" * 250, dir_fd=deep)
        deep, above = os.open("x" * 250, os.O_RDONLY, dir_fd=deep), deep
        os.close(above)
    os.close(deep)
    assert secrets_below(str(tmp_path)) == 1


def test_secrets_below_a_folder_are_counted_but_not_folders_and_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("x.pem", "sub/.env", ".ssh/id", "ordinary"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert secrets_below(str(tmp_path)) == 3
    assert secrets_below(str(tmp_path / "missing")) == 0
    monkeypatch.setattr(protected, "_SHORT_LOOK", 0)
    assert secrets_below(str(tmp_path)) == 0


def test_a_link_on_the_way_is_an_entry_and_not_a_way_on(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / ".git").mkdir()
    (tmp_path / "inside").mkdir()
    os.symlink(tmp_path / "outside", tmp_path / "inside" / "link")
    assert why_contains_protected(str(tmp_path / "inside"), ()) is None


# --- secrets as globs ---


def test_each_sample_is_a_secret_where_it_usually_is() -> None:
    for name in secret_samples():
        assert why_secret(["etc", name]) is not None
    assert {"server.key", "server.pem", "credentials", "environ", ".bash_history"} <= secret_samples()
    assert {".env", "shadow", "sudoers", "id_rsa", ".ssh", ".npmrc"} <= secret_samples()


def test_globs_match_every_secret_file_and_no_example() -> None:
    def found(name: str) -> bool:
        return any(fnmatchcase(name, glob) for glob in secret_globs())

    kinds = ("pem", "key", "p12", "pfx", "jks", "keystore", "kdbx", "ppk")
    files = [
        ".env",
        ".env.",
        ".env.local",
        ".env.exam",
        ".env.example2",
        ".env.defaultsx",
        ".env-x",
        ".env_x",
        ".x_history",
    ]
    for name in (*files, *(f"x.{kind}" for kind in kinds), "credentials", "credentials.json", "environ", "id_rsa"):
        assert found(name), name
    examples = ("example", "sample", "template", "dist", "default", "defaults")
    for name in (*(f".env.{word}" for word in examples), "env.py", "key.py", "README.md", "history"):
        assert not found(name), name


@pytest.mark.spec("I2")
def test_the_token_of_our_own_server_is_a_secret_and_searches_pass_it_over() -> None:
    assert why_secret(["home", "ann", ".local", "share", "assent", "serve.json"]) is not None
    assert why_secret(["srv", "Assent", "SERVE.json"]) is not None
    assert why_secret(["site", "serve.json"]) is None
    assert "serve.json" in secret_globs()


def test_folders_that_hold_secrets_are_passed_over() -> None:
    assert {".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store"} <= {*secret_folders()}
    assert {".env", ".docker", "gcloud", "gh"} <= {*secret_folders()}


@pytest.mark.spec("I2")
def test_a_file_may_be_special_where_a_folder_of_that_name_is_not() -> None:
    names = ("BUILD", "WORKSPACE", "BUCK", "TARGETS", "dune", "configure", "build", "Build.", "WORKSPACE ", "DUNE")
    for name in (*names, "pre-commit", "commit-msg", "post-checkout", "pre-push"):
        assert why_run([name]) == f"{name} decides what tools run or do here"
        assert why_run(["some", "where", name]) is not None
        assert why_run([name, "output.txt"]) is None
        assert why_run([name], folder=True) is None
    assert why_run(["Makefile"], folder=True) is not None


@pytest.mark.spec("I2")
def test_other_spellings_of_a_name_are_the_same_name() -> None:
    for name in (
        ".FLAKE8",
        "pylintrc.",
        "pylintrc ",
        "build.ninja::$DATA",
        "p\u200bylintrc",
        "ａnsible.cfg",
        "BU\u00adILD",
    ):
        assert why_run([name]) is not None, ascii(name)


@pytest.mark.spec("C7")
def test_ordinary_files_are_ordinary() -> None:
    ordinary = """
        src/app.py README.md index.html config.yaml config.yml config.json config/settings.json app.config.json main.go
        src/main.rs lib/index.js src/index.ts App.tsx styles.css docs/guide.md data.csv notes.txt tests/test_app.py
        src/build/index.ts build/output.txt targets/list.py workspace/a.md description/x.md Program.cs Main.java app.rb
        index.php schema.sql templates/base.html settings.py urls.py models.py manage.py wsgi.py user.service.ts
        app.module.ts router.js store.ts util.c util.h main.cpp CMake.md LICENSE CHANGELOG.md .editorconfig .gitignore
        .dockerignore values.yaml deployment.yaml openapi.yaml locale/en.json i18n/de.po logo.svg src/hooks/use.ts
        src/rules.py requirements.md tsconfig.md component.vue page.svelte query.graphql api.proto script.sh run.bat
        notebook.ipynb package.md my-package.json.md rc.py source.rc.py src/configure.py src/projects.json App.xaml
        requirements/README.md cypress/e2e/login.cy.ts features/login.feature tests/testthat/test-cart.R src/user.py
        docs/conf/a.py config/routes.rb project/notes.md roles/web/README.md docs/requirements/api.md
    """
    for name in ordinary.split():
        assert why_run(name.split("/")) is None, name
        assert why_protected(name.split("/")) is None, name


def test_a_module_at_the_top_that_python_loads_instead_of_another_is_run_by_tools() -> None:
    for names in (["pytest.py"], ["json.py"], ["Typing.py"], ["coverage.so"], ["pytest", "__init__.py"]):
        assert why_run(names) is not None, names
    for names in (["json.cpython-311-x86_64-linux-gnu.so"], ["pycodestyle.py"], ["tox", "__main__.py"], ["yaml.py"]):
        assert why_run(names) is not None, names
    for names in (["app.py"], ["test.py"], ["src", "json.py"], ["app", "logging.py"], ["json.md"], ["json", "a.json"]):
        assert why_run(names) is None, names
