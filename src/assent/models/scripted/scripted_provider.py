"""The scripted model as a provider: `scripted:FILE` plays a scenario. It needs no key and no network."""

from pathlib import Path

from assent.models.provider import Access, Provider
from assent.models.scripted.scripted_model import ScriptedModel


def _connect(path: str, access: Access) -> ScriptedModel:
    return ScriptedModel.from_file(Path(path))


SCRIPTED = Provider(name="scripted", title="A scenario file", connect=_connect)

PROVIDERS = {"scripted": SCRIPTED}
