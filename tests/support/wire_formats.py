"""All wire formats, each with its fake, for the tests that every one of them must pass. A new one is one entry here.

As a program, `python -m support.wire_formats FORMAT`, it runs one of the fakes: see `fake_server`.
"""

import sys
from typing import Any

from msgspec import Struct

from assent.models.model_choice import open_model
from assent.models.model_protocol import Model
from support.fake_anthropic import FakeAnthropic
from support.fake_chat import FakeChat
from support.fake_gemini import FakeGemini
from support.fake_responses import FakeResponses
from support.fake_server import FakeServer, run_as_program


class Spoken(Struct, frozen=True):
    """A wire format, and a model that speaks it."""

    fake: type[FakeServer]
    model: str
    key_variable: str
    base_url_variable: str
    finish: bytes = b""
    """Part of an event that may end a reply, although others usually follow; empty: only the last event ends it."""

    def serve(self, *replies: dict[str, Any]) -> FakeServer:
        return self.fake({"replies": list(replies)})

    def env(self, fake: FakeServer) -> dict[str, str]:
        return self._env(fake.url)

    def open(self, fake: FakeServer) -> Model:
        return self.open_at(fake.url)

    def open_at(self, url: str) -> Model:
        return open_model(self.model, self._env(url))

    def _env(self, url: str) -> dict[str, str]:
        return {self.key_variable: "test-key-123", self.base_url_variable: url}


FORMATS = {
    "chat": Spoken(FakeChat, "deepseek-v4-pro", "DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL", b'"finish_reason":"'),
    "gemini": Spoken(FakeGemini, "gemini-2.5-pro", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
    "messages": Spoken(FakeAnthropic, "claude-opus-5-5", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "responses": Spoken(FakeResponses, "gpt-6.1-sol", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
}

if __name__ == "__main__":
    run_as_program(FORMATS[sys.argv.pop(1)].fake)
