"""Model files as a provider: `gguf:PATH`. It needs no key and no network."""

from assent.models.gguf.gguf_model import LARGEST_WINDOW, GgufModel
from assent.models.provider import Access, Provider


def _connect(path: str, access: Access) -> GgufModel:
    return GgufModel(path, access.env)


GGUF = Provider(
    name="gguf", title="A model file on this machine", connect=_connect, default_window=LARGEST_WINDOW, is_local=True
)

PROVIDERS = {"gguf": GGUF}
