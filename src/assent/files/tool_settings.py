"""Files that a tool may run or obey, by where they lie and what they look like, for whatever the lists do not name.

No list of tools is complete, so this looks at places instead: what is hidden, what is at the top of a project and is
neither source nor a document, what is in a folder for configuration, what was installed, and what is compiled. At the
top, an ending that nobody knows counts as configuration; below, it does not. Source, documents, pictures and tables are
ordinary.

Only the file tools use it, for `auto_edit` and for grants that cover a folder. A command names what it writes, so a
rule for it covers that (`cp a.json out.json`).
"""

import os
import re
from collections.abc import Callable, Sequence
from itertools import islice

from assent.files.protected import fold

_HARMLESS = re.compile(r"\.[\w-]*ignore|\.(?:git|hg)?keep|\.nojekyll|\.editorconfig|\.mailmap|\.placeholder")
_SOURCE = """
    py pyi pyx pxd pyw js cjs mjs jsx ts cts mts tsx vue svelte astro coffee rb erb php phtml java kt kts scala
    groovy clj cljs cljc go rs c h cc hh cpp hpp cxx hxx inl ipp m mm swift cs fs fsx fsi vb d di dart ex exs erl
    hrl hs lhs ml mli mly mll re rei res elm purs lean v sv svh vhd vhdl zig nim cr jl r rmd lua pl pm t tcl awk sed
    sh bash zsh fish ps1 psm1 bat cmd el lisp lsp scm rkt pas pp f f77 f90 f95 f03 f08 for ada adb ads cob cbl asm s
    cu cuh cl glsl vert frag hlsl wgsl metal sql psql graphql gql proto thrift avsc fbs capnp g4 y l ipynb qml gd
    vala hx sol move cairo wat hbs mustache ejs pug jinja jinja2 j2 tmpl tpl twig liquid haml slim jsp aspx cshtml
    razor xaml ftl sml prolog st apl idr agda ino pde mojo gleam
"""
_OTHERS = """
    md mdx markdown rst txt text adoc asciidoc org tex bib typ rtf pdf doc docx odt ods odp xls xlsx ppt pptx epub
    man 1 2 3 4 5 6 7 8 html htm xhtml css scss sass less styl svg png jpg jpeg gif webp avif ico bmp tif tiff eps
    ai psd mp3 mp4 ogg wav webm mov ttf otf woff woff2 csv tsv psv parquet arrow feather jsonl ndjson geojson log po
    pot mo strings xliff xlf arb srt vtt diff patch bak orig out eml ics vcf
"""
_DOCUMENTS = """
    readme license licence unlicense copying copyright notice notices authors contributors contributing credits
    thanks maintainers changes changelog history news version todo bugs hacking roadmap faq security
    support acknowledgements acknowledgments patents
"""
_COMPILED = re.compile(
    r".+\.(?:so(?:\.\d+)*|dll|dylib|pyd|pyc|pyo|node|jar|war|class|wasm|exe|com|scr|msi|[ao]|lib|rlib|beam|elc|phar|whl|gem)"
)
_MAY_BE_OBEYED = frozenset(("config", "conf"))
"""Before the last ending: `x.conf.rb`."""
_FOR_CONFIGURATION = frozenset(("config", "configs", "conf", "etc"))
_TRANSLATIONS = "locales locale i18n l10n lang translations"
_INSTALLED = "node_modules bower_components jspm_packages site-packages elm-stuff pods carthage"
_INSTALLED_AT_TOP = frozenset(("vendor", "vendored"))
_OF_OTHERS = frozenset(("vendor", "vendored", "third_party", "third-party", "thirdparty", "external"))
_MANIFESTS = """
    .git .hg package.json pyproject.toml setup.py setup.cfg requirements.txt cargo.toml go.mod go.work pom.xml
    build.xml build.gradle build.gradle.kts settings.gradle build.sbt composer.json gemfile mix.exs rebar.config
    deno.json pubspec.yaml package.swift build.zig cmakelists.txt meson.build makefile gnumakefile justfile
    stack.yaml project.clj deps.edn dune-project shard.yml elm.json project.toml dockerfile build.bazel
    module.bazel
"""
_MANIFEST_ENDINGS = ".csproj .fsproj .vbproj .sln .gemspec .cabal .rockspec .nimble .opam .tf"
_MAX_ENTRIES = 10_000

IsTop = Callable[[int], bool]
"""Whether so many components of a path lead to the top of a project."""


def only_workspace(depth: int) -> bool:
    return depth == 0


def why_setting(names: Sequence[str], is_top: IsTop = only_workspace) -> str | None:
    """The reason if a tool may run or obey the file with this path below the workspace (its components)."""
    folded = [fold(name) for name in names]
    return (
        _why_hidden(names, folded)
        or _why_installed(names, folded, is_top)
        or _why_compiled(names, folded)
        or _why_configured(names, folded, is_top)
    )


def at_top(folder: str) -> bool:
    """Whether a folder is the top of a project. Follows no link in it; with very many entries, it counts as one."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name.casefold() for entry in islice(entries, _MAX_ENTRIES + 1)]
    except OSError:
        return False
    if len(names) > _MAX_ENTRIES:
        return True
    endings = tuple(_MANIFEST_ENDINGS.split())
    return not set(_MANIFESTS.split()).isdisjoint(names) or any(name.endswith(endings) for name in names)


def _why_hidden(names: Sequence[str], folded: Sequence[str]) -> str | None:
    for index, name in enumerate(folded):
        last = index == len(folded) - 1
        if name.startswith(".") and not (last and _HARMLESS.fullmatch(name)):
            return f"{names[index]} is hidden, and tools obey many hidden files"
    return None


def _why_installed(names: Sequence[str], folded: Sequence[str], is_top: IsTop) -> str | None:
    for index, name in enumerate(folded[:-1]):
        programs = name == "bin" and index > 0 and folded[index - 1] in _OF_OTHERS
        if programs or name in _INSTALLED.split() or (name in _INSTALLED_AT_TOP and is_top(index)):
            return f"{names[index]} holds installed packages, which tools load and run"
    return None


def _why_compiled(names: Sequence[str], folded: Sequence[str]) -> str | None:
    if not names or not _COMPILED.fullmatch(folded[-1]):
        return None
    return f"{names[-1]} is compiled code, which programs load and run"


def _why_configured(names: Sequence[str], folded: Sequence[str], is_top: IsTop) -> str | None:
    if not names or _is_ordinary(folded[-1]):
        return None
    if is_top(len(names) - 1):
        return f"{names[-1]} is a configuration file at the top of the project and may decide what tools run"
    for index, name in enumerate(folded[:-1]):
        if (about := _in_folder(name, folded[index + 1 :])) and is_top(index):
            return f"{'/'.join(names[index:])} is {about}"
    return None


def _in_folder(name: str, below: Sequence[str]) -> str:
    """What a file that is neither source nor a document is in a folder at the top of a project."""
    if name == "bin" and "." not in below[-1]:
        return "a program of the project"
    configures = name in _FOR_CONFIGURATION and set(below).isdisjoint(_TRANSLATIONS.split())
    return "a configuration file and may decide what tools run" if configures else ""


def _is_ordinary(name: str) -> bool:
    """Whether a file is source, a document or a table, by its folded name."""
    start, *endings = name.split(".")
    if name.startswith(".") and _HARMLESS.fullmatch(name):
        return True
    if not endings:
        return re.split("[-_]", start)[0] in _DOCUMENTS.split()
    if endings[-1] in _SOURCE.split():
        return not _MAY_BE_OBEYED.intersection(endings[:-1])
    return endings[-1] in _OTHERS.split()
