"""The header of a model file: what it tells, and what is not a model file. Row K1."""

import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.models.gguf.gguf_file import read_gguf
from assent.models.gguf.gguf_model import LARGEST_WINDOW, GgufModel, temperature_of, threads_of, window_of
from assent.models.model_protocol import BadRequest

pytestmark = pytest.mark.spec("K1")


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def model_file(window: int = 8_192, template: str = "{% for tool in tools %}") -> bytes:
    entries = [
        entry("general.architecture", 8, text("llama")),
        entry("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 2) + text("a") + text("b")),
        entry("tokenizer.ggml.scores", 9, struct.pack("<IQff", 6, 2, 0.5, 1.5)),
        entry("general.name", 8, text("Tiny")),
        entry("llama.context_length", 4, struct.pack("<I", window)),
        entry("tokenizer.chat_template", 8, text(template)),
    ]
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(entries)


def test_a_model_file_has_a_name_a_window_and_tool_support(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(model_file())
    file = read_gguf(str(path))
    assert (file.name, file.window, file.knows_tools) == ("Tiny", 8_192, True)
    path.write_bytes(model_file(template="{{ messages }}"))
    assert not read_gguf(str(path)).knows_tools


def test_a_file_cut_anywhere_is_refused_with_its_name(tmp_path: Path) -> None:
    whole, path = model_file(), tmp_path / "cut.gguf"
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(BadRequest, match=r"cut\.gguf"):
            read_gguf(str(path))


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_no_content_causes_an_unexpected_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.gguf"
    path.write_bytes(b"GGUF" + content)
    try:
        read_gguf(str(path))
    except BadRequest as error:
        assert "any.gguf" in str(error)


@pytest.mark.parametrize(
    ("name", "words"), [("", "path of a model file"), ("missing.gguf", "cannot read"), (".", "cannot read")]
)
def test_a_name_that_is_no_file_is_refused(name: str, words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        GgufModel(name, {})


def test_the_window_is_the_models_own_within_reason_or_what_the_person_says(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(model_file(window=131_072))
    file = read_gguf(str(path))
    assert window_of(file, {}) == LARGEST_WINDOW
    assert window_of(file, {"GGUF_CONTEXT": "65536"}) == 65_536
    with pytest.raises(BadRequest, match="GGUF_CONTEXT"):
        window_of(file, {"GGUF_CONTEXT": "much"})


def test_threads_and_temperature_are_what_the_person_says() -> None:
    assert threads_of({"GGUF_THREADS": "3"}) == 3 and threads_of({}) >= 1
    assert temperature_of({"GGUF_TEMPERATURE": "0"}) == 0.0 and temperature_of({}) is None
    for wrong in ("warm", "-1", "nan"):
        with pytest.raises(BadRequest, match="GGUF_TEMPERATURE"):
            temperature_of({"GGUF_TEMPERATURE": wrong})
    with pytest.raises(BadRequest, match="GGUF_THREADS"):
        threads_of({"GGUF_THREADS": "all"})
