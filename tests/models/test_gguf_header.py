"""The numbers in the header of a GGUF file, and files whose header lies."""

from __future__ import annotations

import struct
from pathlib import Path

import gguf
import pytest

from lengthwise.errors import UsageError
from lengthwise.models.gguf_header import header_numbers, tensor_count
from lengthwise.subjects.open import open_subject
from small_gguf import small_llama

LAYERS = "llama.block_count"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A file with a number of each kind, behind lists of texts, numbers and lists."""
    path = tmp_path / "model.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_array("tokenizer.ggml.tokens", ["a", "bc", "ü"])
    writer.add_array("tokenizer.ggml.scores", [0.5, 1.5])
    writer.add_bool("llama.flag", True)
    writer.add_float32("llama.eps", 1e-5)
    writer.add_int8("llama.small", -3)
    writer.add_uint64("general.parameter_count", 7_000_000_000)
    writer.add_uint32("tokenizer.ggml.padding_token_id", 2**32 - 1)
    writer.add_block_count(2)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def numbers(path: Path) -> dict[str, int]:
    with path.open("rb") as file:
        return header_numbers(file)


def test_whole_numbers_are_found_behind_lists(model: Path) -> None:
    wanted = {"llama.small": -3, "general.parameter_count": 7_000_000_000, LAYERS: 2}
    assert numbers(model) == {**wanted, "tokenizer.ggml.padding_token_id": 2**32 - 1}


def test_a_header_that_ends_early_gives_what_it_has(model: Path) -> None:
    whole, all_of_it = model.read_bytes(), numbers(model)
    for end in range(len(whole)):
        model.write_bytes(whole[:end])
        assert numbers(model).items() <= all_of_it.items()


def test_lengths_that_lie_end_the_reading(model: Path) -> None:
    whole = model.read_bytes()
    for place in range(len(whole) - 8):
        model.write_bytes(whole[:place] + struct.pack("<Q", 2**63 + 5) + whole[place + 8 :])
        numbers(model)


def test_a_number_of_layers_that_no_model_has_is_refused_at_once(model: Path) -> None:
    whole = model.read_bytes()
    place = whole.index(LAYERS.encode()) + len(LAYERS) + 4
    model.write_bytes(whole[:place] + struct.pack("<I", 1_795_162_114) + whole[place + 4 :])
    with pytest.raises(UsageError, match="block_count"):
        open_subject(model).capability("anatomy")


def test_more_layers_than_tensors_are_refused_at_once(tmp_path: Path) -> None:
    """Few enough for a model, but no library reads them from a file of two layers in a minute."""
    path = tmp_path / "model.gguf"
    small_llama(path)
    whole = path.read_bytes()
    place = whole.index(LAYERS.encode()) + len(LAYERS) + 4
    path.write_bytes(whole[:place] + struct.pack("<I", 148) + whole[place + 4 :])
    with path.open("rb") as file:
        assert 0 < (tensor_count(file) or 0) < 148
    with pytest.raises(UsageError, match="block_count"):
        open_subject(path).capability("anatomy")


def test_what_is_no_file_of_this_format_has_no_numbers(tmp_path: Path) -> None:
    path = tmp_path / "other"
    for content in (b"", b"GGUF", b"GGUF" + struct.pack("<IQQ", 1, 0, 9), b"GGML" + bytes(100)):
        path.write_bytes(content)
        assert numbers(path) == {}
        with path.open("rb") as file:
            assert tensor_count(file) is None
