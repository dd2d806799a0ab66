"""The child process that runs a model file: llama.cpp's own HTTP server on loopback, from the package `xllamacpp`.

    python -I -m assent.models.gguf.gguf_server < settings

The first line of standard input has the settings as JSON; when the input ends, the process exits. It prints one line of
JSON with its address; the server answers `/health` with 200 once the model is loaded. It imports nothing else from
Assent, and serves only clients that have the key.
"""

import json
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    settings = json.loads(sys.stdin.readline())
    server = _serve(settings)
    address: str = server.listening_address
    sys.stdout.write(json.dumps({"address": address}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()  # until Assent closes it or exits


def _serve(settings: dict[str, Any]) -> Any:
    llama: Any = import_module("xllamacpp")  # an optional dependency without types
    params = llama.CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {settings["name"]}
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.api_keys = [settings["key"]]
    params.n_ctx, params.n_parallel, params.n_predict = settings["window"], 1, -1
    params.use_jinja, params.ui, params.offline = True, False, True
    params.cpuparams.n_threads = settings["threads"]
    params.cache_prompt = settings.get("cache_prompt", True)
    if settings["temperature"] is not None:
        params.sampling.temp = settings["temperature"]
    if settings["chat_template"]:
        params.chat_template = settings["chat_template"]
    return llama.Server(params)


if __name__ == "__main__":
    main()
