"""A model folder: what comes out is what went in, bit for bit, and a damaged folder is refused in one sentence."""

import json
import pickletools
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lengthwise.models.attention import attentions
from lengthwise.models.attention.softmax import Softmax
from lengthwise.models.folder import load_model, save_model
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.positions import make_position, positions
from lengthwise.positions.encodings import NoPosition
from lengthwise.registry import plain_settings, restored_settings
from refusals import refused

ENCODINGS = [*positions.names(), "rope:scaling=yarn,factor=3", "learned+offset", "fire+randomized:limit=64"]
FILES = {"README.md", "config.json", "model.safetensors"}


def make(position: str = "rope", attention: str = "softmax", causal: bool = True) -> Transformer:
    architecture = Architecture(2, 8, 2, 3, causal, attentions.make(attention), make_position(position))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return Transformer(architecture, Interface(vocabulary=6, outputs=5, rows=9, trained=4))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    save_model(folder, make(), "# a card\n")
    return folder


@pytest.fixture
def copy(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "copy"))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("position", ENCODINGS)
def test_saved_and_loaded_bit_for_bit(position: str, dtype: torch.dtype, tmp_path: Path) -> None:
    model = make(position, "log_length:reference=3.0", causal=False).to(dtype)
    save_model(tmp_path / "deep" / "folder", model, "# a card\n")
    again = load_model(tmp_path / "deep" / "folder")
    assert again.architecture == model.architecture and again.interface == model.interface
    before, after = model.state_dict(), again.state_dict()
    assert before.keys() == after.keys()
    for name, value in before.items():
        assert after[name].dtype == dtype and after[name].equal(value), name
    assert not again.training


def test_the_loaded_model_computes_the_same(tmp_path: Path) -> None:
    for attention in attentions.names():
        model, tokens = make("fire", attention), torch.arange(6)[None]
        save_model(tmp_path, model, "")
        assert load_model(tmp_path)(tokens).equal(model.eval()(tokens)), attention


def test_loading_leaves_the_random_state_alone(saved: Path) -> None:
    before = torch.random.get_rng_state()
    load_model(saved)
    assert torch.random.get_rng_state().equal(before)


def test_files_are_those_of_the_hub_and_none_is_a_pickle(saved: Path) -> None:
    assert {file.name for file in saved.iterdir()} == FILES
    config = json.loads((saved / "config.json").read_text())
    assert config["model_type"] == "lengthwise" and config["position"] == "rope" and config["dtype"] == "float32"
    for file in saved.iterdir():
        content = file.read_bytes()
        assert content[:1] != b"\x80" and content[:2] != b"PK", (
            "neither a pickle nor a zip of pickles, as torch.save writes"
        )
        with pytest.raises(ValueError):
            list(pickletools.genops(content))


def test_saving_over_a_model_replaces_it(copy: Path) -> None:
    model = make("learned")
    save_model(copy, model, "# another\n")
    assert load_model(copy).state_dict()["encoder.table"].equal(model.state_dict()["encoder.table"])
    assert {file.name for file in copy.iterdir()} == FILES


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_changed_byte_and_any_cut_is_noticed(saved: Path, copy: Path, data: st.DataObject) -> None:
    content = (saved / "model.safetensors").read_bytes()
    place = data.draw(st.integers(0, len(content) - 1))
    flipped = bytearray(content)
    flipped[place] ^= data.draw(st.integers(1, 255))
    for damaged in (bytes(flipped), content[:place], content + b"\0"):
        (copy / "model.safetensors").write_bytes(damaged)
        assert "is not the file that was saved" in refused(lambda: load_model(copy))


def test_a_missing_file_is_named(copy: Path, tmp_path: Path) -> None:
    (copy / "README.md").unlink()
    load_model(copy)  # the card is for people
    (copy / "model.safetensors").unlink()
    assert "has no model.safetensors" in refused(lambda: load_model(copy))
    (copy / "model.safetensors").mkdir()
    assert "has no model.safetensors" in refused(lambda: load_model(copy))
    (copy / "config.json").unlink()
    assert "there is no config.json" in refused(lambda: load_model(copy))
    assert "there is no config.json" in refused(lambda: load_model(tmp_path / "nowhere"))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        '{"depth": 2,',
        "[]",
        "3",
        "null",
        '"text"',
        '{"model_type": "gpt2", "n_layer": 12}',
        "\ud800".encode("utf-8", "surrogatepass"),
    ],
)
def test_a_config_that_is_broken_or_of_another_kind(copy: Path, content: str | bytes) -> None:
    (copy / "config.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert "config.json" in refused(lambda: load_model(copy))


NEEDED = ["depth", "width", "heads", "mlp_ratio", "causal", "attention", "position", "vocabulary", "outputs", "rows"]


@pytest.mark.parametrize("key", [*NEEDED, "trained", "dtype", "weights_sha256"])
def test_every_entry_of_the_config_is_needed(copy: Path, key: str) -> None:
    config = json.loads((copy / "config.json").read_text())
    del config[key]
    (copy / "config.json").write_text(json.dumps(config))
    assert f"'{key}' is missing" in refused(lambda: load_model(copy))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("depth", "two"),
        ("depth", 0),
        ("depth", 1),
        ("depth", 3),
        ("width", 9),
        ("width", 16),
        ("heads", None),
        ("mlp_ratio", 2.5),
        ("vocabulary", -1),
        ("vocabulary", 7),
        ("outputs", "x"),
        ("attention", "softmax:temperature=0"),
        ("attention", "no_such_rule"),
        ("attention", 4),
        ("position", "learned"),
        ("position", "no_such_encoding"),
        ("position", None),
        ("dtype", "int64"),
        ("dtype", "nn"),
        ("dtype", "no_such_type"),
        ("weights_sha256", "0"),
    ],
)
def test_wrong_entries_are_refused(copy: Path, key: str, value: Any) -> None:
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, key: value}))
    refused(lambda: load_model(copy))


def test_another_encoding_with_the_same_parameters(saved: Path) -> None:
    model = load_model(saved, "rope:scaling=interpolation,factor=2")
    assert model.architecture.position == make_position("rope:scaling=interpolation,factor=2")
    tokens = torch.arange(6)[None]
    assert (model(tokens) - load_model(saved)(tokens)).abs().max() > 1e-7
    assert "'learned' does not fit these weights" in refused(lambda: load_model(saved, "learned"))
    assert "unknown position encoding" in refused(lambda: load_model(saved, "ropes"))


@pytest.mark.parametrize("position", ENCODINGS)
def test_an_architecture_goes_there_and_back(position: str) -> None:
    for attention in (*attentions.names(), "window:size=3", "hardmax:tie=0.01", "forgetting:start=2"):
        if attention == "path" and position.startswith("rope"):
            continue  # it has no scores to be turned
        architecture = make(position, attention).architecture
        stored = json.loads(json.dumps(plain_settings(architecture)))
        assert restored_settings(Architecture, stored) == architecture


class NamelessRule(Softmax):
    pass


class NamelessPosition(NoPosition):
    pass


def test_what_has_no_name_cannot_be_stored() -> None:
    assert "register" in refused(lambda: plain_settings(Architecture(attention=NamelessRule())))
    assert "register" in refused(lambda: plain_settings(Architecture(position=NamelessPosition())))


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot write to" in refused(lambda: save_model(tmp_path / "file" / "below", make(), ""))
    assert "cannot write to" in refused(lambda: save_model(tmp_path / "file", make(), ""))


def test_a_save_that_fails_leaves_the_old_model(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(tensors: Any, path: Path, metadata: Any) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lengthwise.models.folder.save_file", full)
    assert "No space left on device" in refused(lambda: save_model(copy, make("learned"), ""))
    assert {file.name for file in copy.iterdir()} == FILES
    load_model(copy)
