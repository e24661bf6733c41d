"""A folder in the layout of the Hugging Face Hub, checked before a library that loads models is shown any of it.

Such folders come from strangers, and a library that loads them may do what they say: run code that they bring, fetch
code or base models from elsewhere, unpickle. So the config is read here and refused where it asks for more than a model
of `transformers` in plain weights; weights are safetensors files in the folder itself; and `staged` makes a folder that
holds these and nothing else, which is all that the library is shown.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.files import read_json
from lengthwise.reading import open_file, place_of

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
_ADAPTER = "adapter_config.json"
_PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
_PLAIN = re.compile(r"\w[\w.-]*\.safetensors")
_HEADER = 8  # bytes, the length of the JSON that a safetensors file begins with

_CODE = "asks for code of its own ({key}), and no code of a model is run; give a model that transformers itself knows"
_QUANTISED = "says that its weights are quantised ({key}); give the weights before that, or a GGUF file"
_ADAPTS = "describes an adapter ({key}); merge it into its base model and save that"
# What a config may not ask for, and how that is said.
_REFUSED = {
    **dict.fromkeys(("auto_map", "custom_pipelines", "trust_remote_code"), _CODE),
    **dict.fromkeys(("quantization_config", "compression_config"), _QUANTISED),
    **dict.fromkeys(("peft_config", "adapters", "base_model_name_or_path"), _ADAPTS),
    "transformers_weights": f"keeps its weights under another name ({{key}}); they are read from {WEIGHTS}",
}
# How attention and experts are computed: ours to say. A name that is none of these leads to a kernel from elsewhere.
_COMPUTED = re.compile(r"_?(attn|experts)_implementation\w*|use_kernels|kernel_config|_?kernels?")
_KNOWN_WAYS = {"eager", "sdpa", "flex_attention", "flash_attention_2", "flash_attention_3", "grouped_mm", "batched_mm"}
_NUMBER_TYPES = ("dtype", "torch_dtype")
_LAYERS = re.compile(
    r"(n|num)_(hidden_|decoder_|encoder_)?(layers?|heads?|experts)|num_(attention|key_value)_heads"
    r"|block_count|expert_count|attention\.head_count(_kv)?"  # in a GGUF file
)
_MOST_LAYERS, _MOST = 1_000, 2**31 - 1


def checked_config(folder: Path) -> dict[str, Any]:
    """The config of a folder's model, without what says how it is computed; a usage error where it asks for more than
    plain weights in a model that `transformers` knows."""
    config = read_json(inside(folder, CONFIG))
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise UsageError(f"{folder / CONFIG} is not the config of a model: it names no model_type")
    if (folder / _ADAPTER).exists():
        raise UsageError(f"{folder} holds an adapter ({_ADAPTER}); merge it into its base model and save that")
    try:
        found = _checked(config, folder / CONFIG)
        _check_numbers(found, folder / CONFIG)
    except RecursionError:
        raise UsageError(f"{folder / CONFIG} is not the config of a model: it is nested too deeply") from None
    return {key: value for key, value in found.items() if key not in _NUMBER_TYPES}


def weight_files(folder: Path) -> tuple[Path, ...]:
    """The safetensors files that hold a folder's weights, each checked to be one and to lie in the folder."""
    if (folder / WEIGHTS).exists():
        names = [WEIGHTS]
    elif (folder / INDEX).exists():
        names = sorted(set(_index(folder).values()))
    else:
        pickled = sorted(path.name for path in folder.iterdir() if path.suffix in _PICKLED)
        only = f"only pickled weights ({pickled[0]}), which can run code and are not read" if pickled else "no weights"
        raise UsageError(f"{folder} holds {only}; a {WEIGHTS} is needed")
    return tuple(_safetensors(inside(folder, name)) for name in names)


def inside(folder: Path, name: str) -> Path:
    """A file of a folder. A link that leads elsewhere is refused, unless the folder is one of the cache of the Hub,
    whose files are links to blobs."""
    path, home = folder / name, place_of(folder)
    place = place_of(path)
    cached = home.parent.name == "snapshots" and place.parent == home.parent.parent / "blobs"
    if place.parent != home and not cached:
        raise UsageError(f"{path} leads out of its folder, to {place}; put the file itself there")
    return path


@contextlib.contextmanager
def in_one_sentence(path: Path | str, what: str = "could not be loaded") -> Iterator[None]:
    """Whatever a stranger's files make a library raise, which no list covers, as a usage error. A panic of a library
    in Rust is no Exception."""
    try:
        yield
    except (LengthwiseError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise UsageError(f"{path} {what}: {said[:200]}") from error


@contextlib.contextmanager
def staged(files: Mapping[str, Path], config: Mapping[str, Any] | None = None) -> Iterator[Path]:
    """A folder that holds these files, by their names, and a config; it is gone after the block."""
    with tempfile.TemporaryDirectory(prefix="lengthwise-") as made:
        folder = Path(made)
        for name, path in files.items():
            try:
                os.symlink(path.resolve(), folder / name)
            except OSError:  # a system without links
                shutil.copyfile(path, folder / name)
        if config is not None:
            (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
        yield folder


def staged_folder(folder: Path, config: Mapping[str, Any]) -> contextlib.AbstractContextManager[Path]:
    """The model of a folder, with its config and weights alone."""
    files = {path.name: path for path in weight_files(folder)}
    if WEIGHTS not in files:
        files[INDEX] = inside(folder, INDEX)
    return staged(files, config)


def _checked(value: Any, path: Path) -> Any:
    """Settings and all that is nested in them, without what says how things are computed."""
    if isinstance(value, list):
        return [_checked(one, path) for one in value]
    if not isinstance(value, dict):
        return value
    for key, one in value.items():
        if key in _REFUSED and one:
            raise UsageError(f"{path} {_REFUSED[key].format(key=key)}")
        if _COMPUTED.fullmatch(key):
            _check_way(key, one, path)
    return {key: _checked(one, path) for key, one in value.items() if not _COMPUTED.fullmatch(key)}


def _check_numbers(config: Mapping[str, Any], path: Path) -> None:
    """Refuse what no model has, before a library builds it: layers by the million would take hours and all memory."""
    for key, value in config.items():
        if isinstance(value, dict):
            _check_numbers(value, path)
        elif type(value) is int:
            check_number(key, value, path, _MOST)


def check_number(key: str, value: int, path: Path, most: float = math.inf) -> None:
    """Refuse a number of layers, heads or experts that no model has, and any other beyond `most`."""
    if abs(value) > (_MOST_LAYERS if _LAYERS.fullmatch(key) else most):
        raise UsageError(f"{path} says that {key} is {value:,}, and no model has that")


def _check_way(key: str, value: Any, path: Path) -> None:
    ways = list(value.values()) if isinstance(value, dict) else [value]
    for way in ways:
        if way not in (None, True, False) and not (isinstance(way, str) and way in _KNOWN_WAYS):
            raise UsageError(
                f"{path} asks for the kernel {str(way)[:60]!r} ({key}), and no code from elsewhere is run; "
                "take the setting out, and the model is computed without it"
            )


def _index(folder: Path) -> dict[str, str]:
    """weight → file, of a model in several files."""
    content = read_json(inside(folder, INDEX))
    found = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(found, dict) or not found:
        raise UsageError(f"{folder / INDEX} has no weight_map, which says in which file each weight is")
    for name in found.values():
        if not isinstance(name, str) or not _PLAIN.fullmatch(name):
            raise UsageError(
                f"{folder / INDEX} names the file {str(name)[:80]!r}; weights are read from safetensors files in the "
                "folder itself, such as model-00001-of-00002.safetensors"
            )
    return found


def _safetensors(path: Path) -> Path:
    """The path, if a file is there and begins as safetensors files do: the length of a header, and the header."""
    with open_file(path) as file:
        start = file.read(_HEADER + 1)
        size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(start[:_HEADER], "little")
    if start[_HEADER:] != b"{" or length > size - _HEADER:
        raise UsageError(f"{path} is not a whole safetensors file, whatever its name says")
    return path
