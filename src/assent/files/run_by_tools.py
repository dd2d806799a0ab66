"""Names of files that tools run or obey, by ecosystem: changing one decides what the next command does.

Included: build files and task runners; configuration that names programs, plug-ins or modules to load; manifests and
lock files that decide what is installed and from where; what interpreters load by themselves; what editors, servers and
agents obey. Not included: ordinary source, documentation, data, and settings that only change how something looks.

All names are in lower case and count at any depth, also as the name of a folder; those of `FILES` only as the name of
the file itself, because folders often have these names. In `PATHS`, `*` stands for anything within one name. Data only;
`protected` compares.
"""

import sys
from functools import cache

# Tools that are run as `python -m TOOL`, and what they import.
_PYTHON_TOOLS = """
    pytest _pytest py pluggy iniconfig packaging pygments exceptiongroup tomli xdist execnet pytest_cov pytest_asyncio
    pytest_mock hypothesis coverage tox nox nose2 behave robot
    mypy mypyc mypy_extensions typing_extensions librt black blib2to3 blackd click pathspec platformdirs ruff isort
    flake8 pycodestyle pyflakes mccabe pylint astroid dill tomlkit autopep8 yapf pydocstyle pyupgrade vulture radon
    bandit stevedore pyright nodeenv pre_commit cfgv identify colorama rich markdown_it mdurl
    pip pip_audit piptools setuptools pkg_resources _distutils_hack wheel build pyproject_hooks twine poetry hatch
    hatchling flit flit_core pdm maturin uv virtualenv distlib filelock pipenv pipx cython
    django flask celery alembic sqlalchemy mako uvicorn gunicorn fastapi starlette werkzeug jinja2 markupsafe
    itsdangerous yaml toml requests urllib3 certifi idna charset_normalizer attr attrs six dateutil
    sphinx docutils mkdocs markdown pdoc ipykernel ipython jupyter notebook nbconvert debugpy pudb
"""
_OWN_NAMES = frozenset(("test", "this", "antigravity", "turtle", "turtledemo", "idlelib"))  # nothing loads them

_PYTHON = """
    setup.py setup.cfg pyproject.toml tox.ini tox.toml noxfile.py tasks.py fabfile.py conftest.py pytest.ini
    ruff.toml .ruff.toml
    .pytest.ini pytest.toml .pytest.toml dodo.py pavement.py duties.py invoke.yaml invoke.yml hatch_build.py
    hatch.toml pdm_build.py mypy.ini .mypy.ini .flake8 flake8.cfg pylintrc pylintrc.toml .pylintrc.toml .isort.cfg
    .bandit .style.yapf .sqlfluff pyrightconfig.json .coveragerc.toml behave.ini nose.cfg unittest.cfg locustfile.py
    robot.toml robot.yaml pipfile pipfile.lock poetry.lock poetry.toml uv.lock uv.toml pdm.lock pixi.toml pixi.lock
    pylock.toml environment.yml environment.yaml conda-lock.yml pip.ini pyvenv.cfg .python-version runtime.txt
    buildout.cfg pants.toml pants.ini mkdocs.yml mkdocs.yaml readthedocs.yml .readthedocs.yml .readthedocs.yaml
    scrapy.cfg alembic.ini uwsgi.ini supervisord.conf gunicorn.conf.py celeryconfig.py ipython_config.py
    jupyter_config.py jupyter_notebook_config.py jupyter_server_config.py jupyter_lab_config.py entry_points.txt
    .ycm_extra_conf.py pdm.toml .gitlint activate activate.fish activate.csh activate_this.py
    site-packages dist-packages __pycache__ .venv venv .tox .nox .eggs toxfile.py mlproject
    .pdm.toml airflow.cfg prefect.yaml asv.conf.json .pixi
    gunicorn_conf.py gunicorn_config.py hypercorn.toml pelicanconf.py publishconf.py meltano.yml
"""
_JAVASCRIPT = """
    package.json package.json5 package.yaml package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml
    pnpm-workspace.yaml bun.lock bun.lockb bower.json binding.gyp lerna.json nx.json turbo.json turbo.jsonc
    rush.json angular.json nodemon.json cypress.json cypress.env.json wallaby.js ember-cli-build.js brunch-config.js
    jsconfig.json deno.json deno.jsonc deno.lock .node-version karma.conf.js firebase.json vercel.json now.json
    netlify.toml wrangler.toml wrangler.json wrangler.jsonc serverless.yml serverless.yaml serverless.json
    serverless.js serverless.ts amplify.yml renovate.json renovate.json5 electron-builder.yml electron-builder.yaml
    electron-builder.json import_map.json importmap.json typedoc.json codegen.yml codegen.yaml gatsby-node.js
    gatsby-config.js truffle-config.js foundry.toml node_modules bower_components .storybook .vitepress .vuepress
    .docusaurus .yalc tslint.json app.yaml
    .eleventy.js .release-it.json .cz-config.js app.json biome.json biome.jsonc eas.json dprint.json jasmine.json
    jasmine.js jasmine.mjs schema.prisma testem.js testem.json setupproxy.js mocha.opts jest.setup.js jest.setup.ts
    .dependency-cruiser.js .dependency-cruiser.cjs .dependency-cruiser.mjs .dependency-cruiser.json .solhint.json
    project.json electron-builder.js .pnp.loader.mjs .pnp.cjs .pnp.js
    cucumber.js cucumber.cjs cucumber.mjs moon.yml tauri.conf.json tauri.conf.json5 tauri.toml action.yml action.yaml
"""
_RUBY = """
    gemfile gemfile.lock gems.rb gems.locked rakefile capfile guardfile dangerfile thorfile steepfile berksfile
    appraisals fastfile appfile matchfile pluginfile fastlane podfile podfile.lock config.ru .rspec .rspec-local
    .rubocop.yml .rubocop_todo.yml .simplecov .ruby-version .ruby-gemset .standard.yml .haml-lint.yml .slim-lint.yml
    .erb-lint.yml .reek.yml .solargraph.yml cucumber.yml cucumber.yaml spec_helper.rb rails_helper.rb test_helper.rb
    snapfile deliverfile gymfile scanfile screengrabfile supplyfile _config.yml
    _plugins
"""
_PHP = """
    composer.json composer.lock phpunit.xml phpunit.xml.dist phpunit.dist.xml phpstan.neon phpstan.neon.dist
    phpstan.dist.neon psalm.xml psalm.xml.dist .php-cs-fixer.php .php-cs-fixer.dist.php .php_cs .php_cs.dist
    rector.php phpcs.xml phpcs.xml.dist .phpcs.xml .phpcs.xml.dist grumphp.yml grumphp.yml.dist infection.json
    infection.json5 infection.json.dist phpbench.json behat.yml behat.yaml behat.yml.dist codeception.yml
    codeception.dist.yml robofile.php deploy.php castor.php ecs.php phinx.php captainhook.json artisan .htaccess
    .user.ini php.ini
"""
_JVM = """
    build.gradle build.gradle.kts settings.gradle settings.gradle.kts init.gradle init.gradle.kts gradle.properties
    gradle-wrapper.properties gradle-wrapper.jar gradle-daemon-jvm.properties libs.versions.toml gradlew gradlew.bat
    maven-wrapper.properties maven-wrapper.jar mvnw mvnw.cmd pom.xml jvm.config build.xml ivy.xml ivysettings.xml
    build.sbt build.sc build.mill build.boot project.clj deps.edn shadow-cljs.edn bb.edn buildsrc build-logic
    .java-version local.properties lombok.config .scalafix.conf .scalafmt.conf jitpack.yml
    .sbtopts .jvmopts profiles.clj .mill-jvm-opts .mill-opts .bloop build.scala
    user.clj user.cljs user.cljc data_readers.clj data_readers.cljc
"""
_DOTNET = """
    directory.build.props directory.build.targets directory.build.rsp directory.packages.props msbuild.rsp
    nuget.config packages.config paket.dependencies paket.lock global.json dotnet-tools.json launchsettings.json
    build.cake cake.config build.fsx omnisharp.json web.config
"""
_GO_AND_RUST = """
    go.mod go.sum go.work go.work.sum magefile.go magefiles .air.toml air.toml buf.gen.yaml buf.work.yaml sqlc.yaml
    sqlc.yml sqlc.json cargo.toml cargo.lock build.rs rust-toolchain rust-toolchain.toml cross.toml trunk.toml
    makefile.toml bacon.toml rust-analyzer.toml .rust-analyzer.toml nextest.toml
    .go-version gqlgen.yml .gqlgen.yml .mockery.yaml .mockery.yml ko.yaml .ko.yaml anchor.toml scarb.toml move.toml
    goreleaser.yml goreleaser.yaml modd.conf reflex.conf dioxus.toml
"""
_BUILDERS = """
    makefile gnumakefile bsdmakefile makefile.am makefile.in makefile.pl build.pl cmakelists.txt cmakepresets.json
    cmakeuserpresets.json cmakecache.txt cmakefiles configure.ac configure.in aclocal.m4 acinclude.m4 autogen.sh
    config.status libtool meson.build meson.options meson_options.txt build.ninja build.bazel workspace.bazel
    workspace.bzlmod module.bazel module.bazel.lock .bazelversion .bazelignore .buckconfig .buckconfig.local
    .buckversion buck.v2 build.v2 targets.v2 sconstruct sconscript site_scons wscript premake4.lua premake5.lua
    xmake.lua conanfile.py conanfile.txt conan.lock vcpkg.json vcpkg-configuration.json jamfile jamroot tupfile
    tuprules.tup tupfile.lua compile_flags.txt compile_commands.json .clangd .clang-tidy kbuild kconfig
    package.swift package.resolved cartfile build.zig build.zig.zon dub.json dub.sdl nim.cfg shard.yml shard.lock
    mix.exs mix.lock rebar.config rebar.lock stack.yaml cabal.project cabal.project.local hie.yaml setup.hs
    setup.lhs dune-project dune-workspace dune.inc cpanfile dist.ini .luacov renv.lock _targets.r packrat snakefile
    nextflow.config .busted dvc.yaml dbt_project.yml .plzconfig spago.dhall packages.dhall project.toml manifest.toml
    pubspec.yaml pubspec.lock gleam.toml elm.json v.mod config.exs runtime.exs project.godot activate.r .ctags .ctags.d
    rebar.config.script emakefile myocamlbuild.ml .please sconstruct.py tup.config nimble.cfg
    bsconfig.json rescript.json esy.json wscript_build platformio.ini west.yml idf_component.yml juliaproject.toml
    juliamanifest.toml doxyfile latexmkrc _quarto.yml _bookdown.yml .ghci .ocamlinit
    _tags _oasis makevars makevars.in makevars.win build.yaml test_helper.exs shakefile.hs tlconfig.lua config.ld
    book.toml hugo.toml hugo.yaml hugo.json antora.yml antora-playbook.yml
"""
_TASKS = """
    justfile .justfile taskfile.yml taskfile.yaml taskfile.dist.yml taskfile.dist.yaml jakefile cakefile gulpfile
    gruntfile gulpfile.js gruntfile.js runfile maskfile.md procfile mprocs.yaml process-compose.yml
    process-compose.yaml crontab .tool-versions devbox.json devbox.lock devenv.nix devenv.yaml devenv.lock earthfile
    tiltfile skaffold.yaml skaffold.yml garden.yml brewfile brewfile.lock.json .shellspec flake.lock
    melos.yaml
"""
_MACHINES = """
    dockerfile containerfile docker-bake.hcl docker-bake.json dagger.json .dagger vagrantfile .vagrant .docker
    kustomization.yaml kustomization.yml helmfile.yaml helmfile.yml helmfile.d chart.lock terragrunt.hcl root.hcl
    .terraform.lock.hcl .terraform .tflint.hcl pulumi.yaml pulumi.yml cdk.json cdktf.json samconfig.toml
    samconfig.yaml ansible.cfg .ansible.cfg .ansible-lint requirements.yml requirements.yaml galaxy.yml molecule.yml
    puppetfile environment.conf hiera.yaml knife.rb kitchen.yml .kitchen.yml .kitchen.local.yml fly.toml render.yaml
    railway.toml railway.json .terraform-version cloud-init.yaml user-data autorun.inf
    chart.yaml .lando.yml .ddev devspace.yaml okteto.yml okteto.yaml werf.yaml devfile.yaml .devfile.yaml heroku.yml
    nixpacks.toml nixpacks.json .gitpod.yml .gitpod.yaml terraform.rc atlantis.yaml policyfile.rb cheffile
    kustomization hosts.ini inventory.ini inventory.yml inventory.yaml playbook.yml playbook.yaml group_vars host_vars
"""
_EDITORS_AND_CHECKS = """
    .github .gitlab .azure-pipelines .jenkins .tekton .harness .trunk .config .settings .run .project .classpath
    nbproject .helix .vimspector.json .neoconf.json coc-settings.json _vimrc .dir-locals-2.el .projectile
    .goreleaser.yml .goreleaser.yaml .golangci.yml .golangci.yaml .golangci.toml .golangci.json .swiftlint.yml
    .checkov.yml .checkov.yaml .mega-linter.yml .megalinter.yml .vale.ini sonar-project.properties profile.ps1
    microsoft.powershell_profile.ps1 .mailcap .ipython .aliases .functions .exports .xmodmap .lfsconfig .kakrc
    .kakrc.local .autoenv .autoenv.zsh .watchmanconfig .ccls .clj-kondo .atom .cgdb analysis_options.yaml
    .tmuxinator.yml .runsettings
"""
_AGENTS = """
    agents.md agent.md agents.override.md claude.md claude.local.md gemini.md assent.md qwen.md codex.md warp.md
    crush.md crush.json .crush.json .roorules opencode.json .opencode.json
    copilot-instructions.md skill.md .rules mcp.json mcp_config.json mcp-config.json mcp_settings.json
"""

NAMES = " ".join(
    (
        *(_PYTHON, _JAVASCRIPT, _RUBY, _PHP, _JVM, _DOTNET, _GO_AND_RUST, _BUILDERS, _TASKS, _MACHINES),
        *(_EDITORS_AND_CHECKS, _AGENTS),
    )
)
FILES = (
    "build workspace buck targets dune waf configure bootstrap description repo "
    # what makes a folder a repository, whose settings git then obeys
    "head gitdir commondir "
    # hooks of git, in whatever folder `core.hooksPath` names
    "pre-commit commit-msg prepare-commit-msg post-commit pre-merge-commit post-merge post-checkout post-rewrite "
    "pre-push pre-rebase pre-receive post-receive post-update applypatch-msg pre-applypatch post-applypatch"
)
PATTERNS = r"""
    .+\.(?:mk|mak|make|cmake|ninja|bzl|bxl|star|wrap|jam|qbs|pri|pro|prf|do|m4|just|nix|gradle|sbt|mill) |
    .+\.(?:gypi?|gni?|bp|smk|cake|thor|rake|gemspec|podspec|cabal|opam|plz|sublime-(?:project|build)) |
    \.sublime-project |
    .+\.(?:rockspec|nimble|nims|nomad|tf|tofu|bicep|pth|egg-link|nuspec|runsettings|ruleset|props|targets|sln|slnx) |
    .+\.(?:cs|fs|vb|vcx|js|pb|es|shared|sql)proj(?:\.user)? | .+\.(?:xcconfig|xcscheme|pbxproj|xcodeproj|xcworkspace) |
    .+\.(?:service|timer|desktop) | .+\.(?:egg|dist)-info | .+\.(?:gradle|main)\.kts |
    .+\.(?:tf|tofu)\.json | .+\.(?:pkr|nomad)\.hcl |
    .+\.(?:config|conf)\.(?:[cm]?[jt]sx?|babel\.js|py) | (?:babel|ecosystem|jest|karma|release|vitest)\.config\.json |
    \.[\w-]+rc(?:\.(?:[cm]?[jt]s|json[5c]?|ya?ml|toml|lua))? |
    (?:gulp|grunt|jake|cake|danger|rake|thor|knex|plop|broc)file\..+ | ormconfig\..+ | codegen\.(?:[cm]?[jt]s|json) |
    setuptests\.[jt]sx? |
    (?:[tj]sconfig)(?:[.-].+)?\.json | \.markdownlint.* | \..+\.exs |
    (?:dockerfile|containerfile|makefile|procfile)[.-](?!txt$|md$).+ | .+\.(?:docker|container|make|just)file |
    \.zsh.* |
    (?:docker-)?compose(?:[.-].+)?\.ya?ml | (?:.+[._-])?requirements(?:[._-].+)?\.(?:txt|in) |
    (?:.+[._-])?constraints(?:[._-].+)?\.txt |
    (?:jest|vitest|karma|babel|webpack|rollup|vite|eslint|nx)\.(?:preset|workspace)\.[cm]?[jt]s(?:on)? |
    (?:webpack|rollup|karma|wdio|protractor)\..+\.[cm]?[jt]s | .+\.config\.[\w-]+\.[cm]?[jt]s |
    tauri\..+\.conf\.json5? | docker-bake\..+\.(?:hcl|json) | taskfile[._-].+\.ya?ml | gatsby-(?:ssr|browser)\.[jt]sx? |
    (?:action|become|cache|callback|connection|filter|inventory|lookup|strategy|test|vars)_plugins |
    (?:jest|vitest)\.setup\.[cm]?[jt]sx? | jamfile\..+ | premake\d*\.lua |
    .+\.git | .+-gdb\.(?:py|gdb|scm) |
    pulumi\..+\.ya?ml | \.?phpunit\..*xml.* | phpstan.*\.neon(?:\.dist)? | cmake(?:user)?presets.*\.json
"""
PATHS = """
    tools/bazel gradle/wrapper project/build.properties docs/conf.py doc/conf.py docs/source/conf.py
    doc/source/conf.py env/bin alembic/env.py migrations/env.py vendor/bundle vendor/autoload.php vendor/composer
    config/cucumber.yml config/deploy.rb config/deploy.yml etc/profile.d meta-inf/services
    docs/*/conf.py doc/*/conf.py documentation/conf.py sphinx/conf.py
    requirements/*.txt requirements/*.in requirements/*.pip cypress/support cypress/plugins
    features/support features/environment.py config/*.exs config/puma.rb config/unicorn.rb config/schedule.rb
    config/boot.rb config/spring.rb project/*.scala pkg/pkg.ml deps/build.jl
    patches/*.patch patches/*.diff debian/*
    tests/testthat/setup*.r tests/testthat/helper*.r tests/testthat/teardown*.r
    roles/*/tasks roles/*/handlers roles/*/library ansible/library
"""


@cache
def shadowed() -> frozenset[str]:
    """Modules that Python or its tools load by name; one of the same name at the top of the workspace comes first."""
    return frozenset((*(name.lower() for name in sys.stdlib_module_names), *_PYTHON_TOOLS.split())) - _OWN_NAMES
