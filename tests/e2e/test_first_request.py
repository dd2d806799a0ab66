"""What is loaded when the first request leaves: the person waits for every module of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HOOK = """
import asyncio, os, sys

asyncio.BaseEventLoop.time = lambda loop: 0.0  # on a busy machine, what waits for a moment could otherwise be first

def on_connect(event, args):
    if event == "socket.connect" and isinstance(args[1], tuple):
        print("\\n".join(sys.modules), flush=True)
        os._exit(0)

sys.addaudithook(on_connect)
from assent.cli import main
sys.exit(main())
"""
PROVIDERS = {
    "gemini-2.5-flash": {"GEMINI_API_KEY": "k" * 20, "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9"},
    "claude-sonnet-5-5": {"ANTHROPIC_API_KEY": "k" * 20, "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"},
    "gpt-6.1-sol": {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": "http://127.0.0.1:9"},
    "deepseek-v4-pro": {"DEEPSEEK_API_KEY": "k" * 20, "DEEPSEEK_BASE_URL": "http://127.0.0.1:9"},
    "llamacpp:any": {"LLAMACPP_BASE_URL": "http://127.0.0.1:9"},
}
NOT_YET = (
    *("gettext", "ipaddress", "assent.models.openai_chat.local_servers"),
    *("typing_extensions", "platform", "secrets", "random", "shlex", "getpass", "shutil", "tempfile", "rapidfuzz"),
    *("httpx", "h11", "email", "http", "urllib.request", "pydantic", "textual", "litestar", "mcp"),
    *("assent.secrets.secret_search", "assent.policy.policy", "assent.web", "assent.policy.rule_words"),
    *("assent.scheduler.scheduler", "assent.scheduler.batch", "assent.scheduler.approvals", "assent.hunks"),
    *("assent.tools.builtin", "assent.tools.shell", "assent.tools.support.files", "assent.tools.web_search"),
    *("assent.agent.compression", "assent.agent.loop_guard", "assent.session.titling", "assent.app.mcp_prompts"),
    *("assent.sandbox", "assent.mcp", "assent.policy.shell", "assent.files.access", "assent.app.sandbox_setup"),
    *("assent.models.failure_signs", "assent.models.gemini.gemini_reply", "assent.models.openai.responses_reply"),
    *("assent.models.openai_chat.chat_reply", "assent.models.anthropic.anthropic_reply"),
)
MAX_MODULES = 175
"""Modules of Assent: each takes a fifth of a millisecond. Raise it only for a module that the request needs."""


@pytest.mark.parametrize("model", PROVIDERS)
@pytest.mark.spec("K1")
def test_the_first_request_waits_only_for_what_it_needs(model: str, tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ASSENT_HOME": str(tmp_path / "data"), **PROVIDERS[model]}
    ran = subprocess.run(
        [sys.executable, "-c", HOOK, "-p", "hi", "--model", model],
        env=env,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    loaded = ran.stdout.split()
    assert "assent.models.streamed_model" in loaded, ran.stderr
    assert [name for name in NOT_YET if name in loaded] == []
    assert len([name for name in loaded if name.startswith("assent")]) <= MAX_MODULES
