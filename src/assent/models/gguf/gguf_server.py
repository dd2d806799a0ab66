"""The child process that runs a model file: llama.cpp's own HTTP server on loopback, from the package `xllamacpp`.

    python -I -m assent.models.gguf.gguf_server < settings

The first line of standard input has the settings as JSON; when the input ends, the process exits. Once the model is
loaded, it prints one line of JSON with its address. It imports nothing else of Assent and serves only whoever has the
key.
"""

import json
import sys
import time
import urllib.error
import urllib.request
from typing import Any

LOAD_CHECK_INTERVAL = 0.05


def main() -> None:
    settings = json.loads(sys.stdin.readline())
    server = _serve(settings)
    address: str = server.listening_address
    _wait_until_loaded(address, settings["key"])
    print(json.dumps({"address": address}), flush=True)
    sys.stdin.read()  # until Assent closes it, or is gone


def _serve(settings: dict[str, Any]) -> Any:
    import xllamacpp  # pyright: ignore[reportMissingImports]

    params: Any = xllamacpp.CommonParams()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    params.model.path = settings["path"]
    params.model_alias = {settings["name"]}
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.api_keys = [settings["key"]]
    params.n_ctx, params.n_parallel, params.n_predict = settings["window"], 1, -1
    params.use_jinja, params.ui, params.offline = True, False, True
    params.cpuparams.n_threads = settings["threads"]
    if settings["chat_template"]:
        params.chat_template = settings["chat_template"]
    return xllamacpp.Server(params)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]


def _wait_until_loaded(address: str, key: str) -> None:
    """A server that could not load the file raises an exception before this."""
    request = urllib.request.Request(f"{address}/health", headers={"Authorization": f"Bearer {key}"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while True:
        try:
            with opener.open(request, timeout=10) as reply:
                if reply.status == 200:
                    return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            pass
        time.sleep(LOAD_CHECK_INTERVAL)


if __name__ == "__main__":
    main()
