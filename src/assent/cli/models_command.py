"""`assent models`: the providers and their models, what they cost, and whether they can be used from here."""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from assent import exit_codes
from assent.app.model_access import ModelAccess, ModelError
from assent.app.style import Style
from assent.app.wording import one_line, safe
from assent.cli.parsing import Parser, complain
from assent.cli.running import run
from assent.config import load_settings

if TYPE_CHECKING:
    from assent.app.model_catalog import ModelView, ProviderView

EPILOG = """\
  assent models                  what you can use, and what is missing for the rest
  assent models openrouter       all models of one provider
  assent -m ollama:qwen3 -p "…"  use one; ASSENT_MODEL and `model` in the settings name a default

Context windows are in tokens. Prices are in dollars per million tokens of input and output, as of the date shown."""
MAX_LISTED_MODELS = 15
"""Models to list per provider, unless one provider is named."""


def main(argv: list[str]) -> int:
    parser = Parser(
        "assent models", "Lists the providers and their models. Asks every provider that has a key.", EPILOG
    )
    parser.add_argument("provider", nargs="?", metavar="PROVIDER")
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    args = parser.parse_args(argv)
    access = ModelAccess(os.environ, load_settings(os.environ))
    return run(_list(access, args.provider, as_json=args.json), ModelError)


async def _list(access: ModelAccess, only: str | None, *, as_json: bool) -> int:
    from assent.app.model_catalog import ModelCatalog

    for warning in access.keys.warnings():
        complain(warning)
    views = await ModelCatalog(access).survey(only)
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode({"providers": views})).decode() + "\n")
    else:
        style = Style.for_stream(sys.stdout)
        lines = _lines(views, style, MAX_LISTED_MODELS if only is None else None)
        sys.stdout.writelines(f"{line}\n" for line in (*lines, *await _in_use(access)))
    usable = any(view.state == "usable" for view in views)
    return exit_codes.OK if only is None or usable else exit_codes.ERROR


async def _in_use(access: ModelAccess) -> Sequence[str]:
    try:
        return ("", f"Without -m: {safe(await access.choose(), 'label')}")
    except ModelError as error:
        return ("", str(error))


def _lines(views: "Sequence[ProviderView]", style: Style, most: int | None) -> Iterator[str]:
    usable = [view for view in views if view.state == "usable"]
    for view in usable:
        yield from _provider_lines(view, style, most)
    for view in (view for view in views if view.state != "usable"):
        yield f"{_head(view)}  {style.dim(f'{view.state}: {_label(view.problem)}')}"
        if most is None:
            yield from (f"  {line}" for line in _table(view, style))


def _provider_lines(view: "ProviderView", style: Style, most: int | None) -> Iterator[str]:
    key = f" (key: {view.key_from})" if view.key_from else ""
    yield f"{_head(view)}  {style.green('usable')}{key}"
    if view.warning:
        yield style.yellow(f"  ! {one_line(view.warning)}")
    rows = _table(view, style)
    yield from (f"  {line}" for line in rows[:most])
    if most is not None and len(rows) > most:
        yield style.dim(f"  … and {len(rows) - most} more: assent models {view.name}")


def _head(view: "ProviderView") -> str:
    return f"{view.name:<12} {view.title:<28}"


def _table(view: "ProviderView", style: Style) -> list[str]:
    width = max((len(_label(model.name)) for model in view.models), default=0)
    unknown = "price unknown" if view.key_from else ""  # a provider without a key costs nothing
    return [_row(model, width, unknown, style) for model in view.models]


def _row(model: "ModelView", width: int, unknown: str, style: Style) -> str:
    window = f"{model.window:,}" if model.window else "?"
    facts = f"{_label(model.name):<{width}}  {window:>9}  {_price(model) or unknown:<25}"
    notes = [note for note, holds in (("default", model.is_default), ("no tools", model.tools is False)) if holds]
    return f"{facts}  {style.dim(', '.join(notes))}".rstrip()


def _price(model: "ModelView") -> str:
    if model.input_price is None or model.output_price is None:
        return ""
    date = f" {model.price_date}" if model.price_date else ""
    return f"${model.input_price:g} / ${model.output_price:g}{date}"


def _label(text: str) -> str:
    return safe(text.replace("\n", " "), "label")
