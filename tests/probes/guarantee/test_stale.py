"""Attack: a folder of a bound in which anything was changed gives the number that a new folder gives, or refuses."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

import lengthwise as lw
from lengthwise.bounds.compression.message import bits_by_part, encode
from lengthwise.bounds.compression.quantisers import quantisers
from lengthwise.errors import UsageError
from lengthwise.probes.guarantee.result import Guarantee

QUANTISER = "uniform:levels=16"


def bounded(model: Path, data: Path, folder: Path) -> Guarantee:
    return lw.bound(model, f"guarantee:quantiser={QUANTISER}", data=data, folder=folder)


def figures(found: Guarantee) -> dict[str, object]:
    """All numbers that a reader could quote."""
    plain = found.plain()
    names = ("message", "losses", "bounds", "vacuous", "notes")
    return {name: plain[name] for name in names}


@pytest.fixture
def model(llama_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(llama_folder, tmp_path / "model"))


@pytest.fixture
def data(texts: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(texts, tmp_path / "texts.jsonl"))


@pytest.fixture
def folder(model: Path, data: Path, tmp_path: Path) -> Path:
    """A finished bound."""
    bounded(model, data, tmp_path / "bound")
    return tmp_path / "bound"


def never_stale(model: Path, data: Path, folder: Path) -> None:
    """The bound in the folder is the one that a new folder gives, or both are refused, or the folder is."""
    try:
        expected = bounded(model, data, folder.with_name("new"))
    except UsageError:
        with pytest.raises(UsageError):
            bounded(model, data, folder)
        return
    try:
        found = bounded(model, data, folder)
    except UsageError:
        with pytest.raises(UsageError, match=re.escape(str(folder))):
            bounded(model, data, folder)
        return
    assert figures(found) == figures(expected)


def _edit_description(**changes: object) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        content = json.loads((folder / "message.json").read_text())
        (folder / "message.json").write_text(json.dumps({**content, **changes}))

    return edit


def _edit_losses(change: Callable[[dict[str, np.ndarray]], None]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / "losses-00000.npz"
        with np.load(path) as arrays:
            content = {name: np.array(arrays[name]) for name in arrays.files}
        change(content)
        np.savez(path, **content)

    return edit


def _halved(arrays: dict[str, np.ndarray]) -> None:
    arrays["surprise"] *= 0.5


def _one_less(arrays: dict[str, np.ndarray]) -> None:
    arrays["rank"][0] = 0 if arrays["rank"][0] else 1


def _one_document(arrays: dict[str, np.ndarray]) -> None:
    arrays["documents"][:] = np.arange(len(arrays["documents"]))


def _other_message(folder: Path) -> None:
    """A shorter message that decodes to another model: its losses are not those that are stored."""
    from lengthwise.bounds.compression.message import decode

    header, tensors = decode((folder / "message.bin").read_bytes())
    zeros = {name: np.zeros_like(tensor) for name, tensor in tensors.items()}
    (folder / "message.bin").write_bytes(encode(zeros, header, quantisers.make(QUANTISER)).data)


CHANGES: dict[str, Callable[[Path], None]] = {
    "one bit is charged": _edit_description(bits=1, parts={"symbols": 1}),
    "the loss before quantising": _edit_description(original=0.0),
    "the loss after quantising": _edit_description(quantised=0.0),
    "no notes": _edit_description(notes=["all is well"]),
    "losses halved": _edit_losses(_halved),
    "one rank": _edit_losses(_one_less),
    "every token a document": _edit_losses(_one_document),
    "another message": _other_message,
    "no description": lambda folder: (folder / "message.json").unlink(),
    "no message": lambda folder: (folder / "message.bin").unlink(),
    "half a message": lambda folder: (folder / "message.bin").write_bytes(b"half") and None,
    "no losses": lambda folder: (folder / "losses-00000.npz").unlink(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_an_edited_folder_never_gives_another_number(model: Path, data: Path, folder: Path, change: str) -> None:
    CHANGES[change](folder)
    never_stale(model, data, folder)


def test_bits_are_counted_from_the_message(model: Path, data: Path, folder: Path) -> None:
    found = bounded(model, data, folder)
    parts = bits_by_part((folder / "message.bin").read_bytes())
    assert {name: bits for name, bits in found.message.parts.items() if name in parts} == parts
    _edit_description(bits=1)(folder)
    assert bounded(model, data, folder).message.bits == found.message.bits > 1000


def test_another_tokenizer_is_another_bound(model: Path, data: Path, folder: Path) -> None:
    """The same file means other tokens to another tokenizer, so the old losses are of another text."""
    letters = "zyxwvutsrqponmlkjihgfedcba"
    cutter = Tokenizer(models.WordLevel({letter: number for number, letter in enumerate(letters)}))
    cutter.pre_tokenizer = pre_tokenizers.Whitespace()  # pyright: ignore[reportAttributeAccessIssue]
    before = bounded(model, data, folder)
    (model / "tokenizer.json").write_text(cutter.to_str())
    assert bounded(model, data, folder.with_name("other")).losses.loss != before.losses.loss
    with pytest.raises(UsageError, match="first tokens differs"):
        bounded(model, data, folder)


def test_tokens_that_change_after_the_first_ones_are_read_again(
    model: Path, data: Path, tmp_path: Path, monkeypatch
) -> None:
    """A change that the first tokens do not show: the stretch that it is in is computed again."""
    monkeypatch.setattr("lengthwise.probes.guarantee.source.PART", 16)
    monkeypatch.setattr("lengthwise.probes.guarantee.source.SMALLEST", 32)
    monkeypatch.setattr("lengthwise.probes.guarantee.source.LARGEST", 32)
    monkeypatch.setattr("lengthwise.probes.guarantee.source.WORK", 1)
    lines = [json.dumps({"text": "a b c d"}) for _ in range(40)] + [json.dumps({"text": f"x y {c} b"}) for c in "klmn"]
    data.write_text("\n".join(lines) + "\n")
    folder = tmp_path / "late"
    bounded(model, data, folder)
    tokenizer = json.loads((model / "tokenizer.json").read_text())
    words = tokenizer["model"]["vocab"]
    words["x"], words["y"] = words["y"], words["x"]
    (model / "tokenizer.json").write_text(json.dumps(tokenizer))
    never_stale(model, data, folder)
    assert bounded(model, data, folder).folder == folder, "it is not refused: the first tokens are the same"


def _other_weights(folder: Path) -> Path:
    config = transformers.LlamaConfig.from_pretrained(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        transformers.LlamaForCausalLM(config).save_pretrained(folder.with_name("others"))  # pyright: ignore
    return folder.with_name("others") / "model.safetensors"


def test_weights_behind_a_link(model: Path, data: Path, tmp_path: Path) -> None:
    kept = tmp_path / "elsewhere.safetensors"
    shutil.move(model / "model.safetensors", kept)
    (model / "model.safetensors").symlink_to(kept)
    with pytest.raises(UsageError, match="leads out of its folder"):
        bounded(model, data, tmp_path / "bound")


def test_other_weights(model: Path, data: Path, folder: Path) -> None:
    before = bounded(model, data, folder).losses.loss
    shutil.copy(_other_weights(model), model / "model.safetensors")
    never_stale(model, data, folder)
    assert bounded(model, data, folder.with_name("third")).losses.loss != before


def test_weights_that_an_index_names_elsewhere(model: Path, data: Path, tmp_path: Path) -> None:
    """Whether such an index is followed or refused: a number is never that of the weights before."""
    from safetensors import safe_open

    shutil.move(model / "model.safetensors", tmp_path / "elsewhere.safetensors")
    with safe_open(tmp_path / "elsewhere.safetensors", "pt") as file:
        places = dict.fromkeys(file.keys(), "../elsewhere.safetensors")
    (model / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))
    shutil.copy(tmp_path / "elsewhere.safetensors", model / "unused.safetensors")
    folder = tmp_path / "bound"
    try:
        bounded(model, data, folder)
    except UsageError:
        return
    shutil.copy(_other_weights(model), tmp_path / "elsewhere.safetensors")
    never_stale(model, data, folder)


def test_a_setting_of_the_model(model: Path, data: Path, folder: Path) -> None:
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, "rms_norm_eps": 0.5}))
    never_stale(model, data, folder)


def test_losses_of_another_model_are_not_taken_over(model: Path, data: Path, folder: Path, gpt2_folder: Path) -> None:
    other = folder.with_name("gpt2")
    bounded(gpt2_folder, data, other)
    shutil.copy(other / "losses-00000.npz", folder / "losses-00000.npz")
    never_stale(model, data, folder)
