"""Checkpoints from elsewhere that are broken or lie: one sentence, and nothing waits, runs or fills the memory."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from lengthwise.errors import UsageError
from lengthwise.models.hub_folder import in_one_sentence
from lengthwise.subjects.open import open_subject
from lengthwise.subjects.tokenizer import BREAKS, tokenizer_beside
from small_gguf import small_llama
from small_hub import small_gpt2
from small_runs import trained


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_gpt2(tmp_path_factory.mktemp("hub"))


@pytest.fixture
def copied(gpt2: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(gpt2, tmp_path / "model"))


def complaint(call: Callable[[], object]) -> str:
    """What a call is refused with, one sentence; empty where it is not."""
    try:
        call()
    except UsageError as error:
        said = str(error)
    else:
        return ""
    assert said and "\n" not in said and len(said) < 500
    return said


def refused(folder: Path) -> str:
    """The sentence with which a model is refused when it is taken apart."""
    said = complaint(lambda: open_subject(folder).capability("anatomy"))
    assert said
    return said


@pytest.mark.parametrize(
    "key, value",
    [
        ("n_layer", "two"),
        ("n_layer", [2]),
        ("n_layer", 1_001),
        ("n_layer", 10**18),
        ("n_head", None),
        ("n_head", 0),
        ("n_embd", 1.5),
        ("n_embd", {"a": 1}),
        ("vocab_size", -1),
        ("vocab_size", 100_000_000),
        ("activation_function", 3),
        ("layer_norm_epsilon", "x"),
        ("architectures", 7),
        ("architectures", [None]),
    ],
)
def test_a_config_that_lies(copied: Path, key: str, value: Any) -> None:
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps({**config, key: value}))
    said = complaint(lambda: open_subject(copied).capability("anatomy"))
    assert said or key == "architectures"  # which decides no number


def test_a_config_that_is_nested_deeply(copied: Path) -> None:
    """Not so deeply that it is no JSON."""
    text = (copied / "config.json").read_text().rstrip().removesuffix("}")
    (copied / "config.json").write_text(f'{text}, "more": {"[" * 600 + "]" * 600}}}')
    assert complaint(lambda: open_subject(copied).capability("anatomy"))


def test_a_config_may_not_describe_more_than_the_weights_hold(copied: Path) -> None:
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps({**config, "vocab_size": 2**30}))
    assert "describes" in refused(copied)


NO_FILES: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "device": lambda place: place.symlink_to("/dev/zero"),
    "folder": Path.mkdir,
    "loop": lambda place: place.symlink_to(place.name),
    "empty": Path.touch,
}


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
@pytest.mark.parametrize("kind", NO_FILES)
def test_files_that_are_none(copied: Path, name: str, kind: str) -> None:
    (copied / name).unlink()
    NO_FILES[kind](copied / name)
    refused(copied)


@pytest.mark.parametrize("name", ["run.json", "config.json", "model.safetensors"])
@pytest.mark.parametrize("kind", NO_FILES)
def test_files_of_a_run_that_are_none(run: Path, tmp_path: Path, name: str, kind: str) -> None:
    """Nothing waits for a pipe, and nothing reads a device to its end."""
    folder = Path(shutil.copytree(run, tmp_path / "run"))
    (folder / name).unlink()
    NO_FILES[kind](folder / name)
    refused(folder)


@pytest.mark.parametrize("kind", NO_FILES)
def test_gguf_files_that_are_none(tmp_path: Path, kind: str) -> None:
    NO_FILES[kind](tmp_path / "model.gguf")
    refused(tmp_path / "model.gguf")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("own") / "run", "sort", steps=2)


@pytest.mark.parametrize("length", [0, 7, 10**9, 2**63, 2**64 - 1])
def test_headers_of_safetensors_that_lie_about_their_length(copied: Path, length: int) -> None:
    path = copied / "model.safetensors"
    path.write_bytes(length.to_bytes(8, "little") + path.read_bytes()[8:])
    refused(copied)


@pytest.mark.parametrize("change", [{"dtype": "F99"}, {"shape": [-1]}, {"shape": "x"}, {"data_offsets": [0, 2**62]}])
def test_headers_of_safetensors_that_lie_about_a_tensor(copied: Path, change: dict[str, Any]) -> None:
    path = copied / "model.safetensors"
    data = path.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    header[max(header)] |= change
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[end:])
    refused(copied)


def test_weights_that_are_not_numbers(copied: Path) -> None:
    weights = load_file(copied / "model.safetensors")
    weights["transformer.wte.weight"][0, 0] = torch.nan
    save_file(weights, copied / "model.safetensors", {"format": "pt"})
    assert "NaN" in refused(copied)


@pytest.mark.parametrize(
    "change",
    [
        {"model": None},
        {"model": {"type": "WordLevel", "vocab": {"a": -1}, "unk_token": "a"}},
        {"model": {"type": "WordLevel", "vocab": {}, "unk_token": "[UNK]"}},
        {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Removed", "invert": False}},
        {"decoder": 7},
        {"added_tokens": [{"id": 10**18}]},
    ],
)
def test_tokenizers_that_are_broken(copied: Path, change: dict[str, Any]) -> None:
    content = json.loads((copied / "tokenizer.json").read_text())
    (copied / "tokenizer.json").write_text(json.dumps({**content, **change}))

    def used() -> None:
        tokenizer = tokenizer_beside(copied, None)
        assert tokenizer is not None
        tokenizer.text(tokenizer.cut("a b ( zzz"))

    said = complaint(used)
    assert not said or "cannot be read as a tokenizer" in said or BREAKS in said


def test_a_panic_of_a_library_is_a_sentence(tmp_path: Path) -> None:
    class Panic(BaseException):
        """What a library in Rust raises: no Exception."""

    with pytest.raises(UsageError, match="could not be loaded: index out of bounds"), in_one_sentence(tmp_path):
        raise Panic("index out of bounds")
    with pytest.raises(KeyboardInterrupt), in_one_sentence(tmp_path):
        raise KeyboardInterrupt


@pytest.mark.parametrize("place", range(4, 400, 37))
def test_gguf_files_with_a_byte_that_is_another(tmp_path: Path, gguf: bytes, place: int) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf[:place] + bytes([gguf[place] ^ 0x9F]) + gguf[place + 1 :])
    subject = open_subject(path)
    complaint(lambda: subject.offers("tokenizer"))
    complaint(lambda: subject.capability("anatomy"))  # a byte of a name or a weight may well do no harm


@pytest.fixture(scope="module")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("gguf") / "model.gguf"
    small_llama(path)
    return path.read_bytes()
