"""Other people's models, from a local folder in the layout of the Hugging Face Hub or from a GGUF file, as parts.

This is the only place where such models are loaded. Nothing is downloaded, no code of a model is run, no pickle is read
and no weight is made up: `hub_folder` refuses what asks for that. The weights are read by `transformers`, and
`lengthwise.models.layouts` says which of them is which part. A weight that is used nowhere is either listed with its
reason (`Anatomy.skipped`) or the model is refused: the tests compare the logits of the parts with transformers' own.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from lengthwise.errors import UsageError
from lengthwise.interrupts import held_back
from lengthwise.models.anatomy import check_finite
from lengthwise.models.gguf_header import header_numbers, tensor_count
from lengthwise.models.hub_folder import (
    CONFIG,
    check_number,
    checked_config,
    in_one_sentence,
    staged,
    staged_folder,
    weight_files,
)
from lengthwise.models.layouts import (
    Weights,
    anatomy_of_bert,
    anatomy_of_gpt2,
    anatomy_of_llama,
    anatomy_of_neox,
    anatomy_of_opt,
)
from lengthwise.models.parts import Anatomy
from lengthwise.models.placed import placed
from lengthwise.reading import open_file

DECODERS = ("gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma", "gpt_neox", "opt")
ENCODERS = ("bert", "roberta", "xlm-roberta", "camembert")
# Above this many parameters the parts are float32: float64 would take 8 bytes each and twice the time.
DOUBLE_UP_TO = 300_000_000

# Stored by some versions of transformers, and computed again from the config: masks, places and angles.
_NO_WEIGHTS = (".position_ids", ".token_type_ids", ".attn.bias", ".attn.masked_bias", ".inv_freq")
_PER_BYTE, _SPARE = 4, 1 << 26  # numbers that a model may have for each byte of its files, and besides
_NAMED = 3  # weights that are named where many are missing


def read_huggingface(path: Path) -> tuple[Any, tuple[tuple[str, str], ...]]:
    """The model of a folder or a GGUF file, in float32 and of a kind whose layout is known, and the weights in it that
    the model has no place for."""
    if path.is_file():
        return _load_gguf(path)
    config = checked_config(path)
    check_supported(config["model_type"], str(path))
    named = config.get("architectures")
    head = str(named[-1]) if isinstance(named, list) and named else ""
    causal = config["model_type"] in DECODERS and head.endswith(("ForCausalLM", "LMHeadModel"))
    return _load_folder(path, config, "AutoModelForCausalLM" if causal else "AutoModel")


def read_decoder(folder: Path) -> Any:
    """The model of a folder with its language-modelling head, of any kind that `transformers` has, in float32."""
    config = checked_config(folder)
    if config["model_type"] not in _transformers().models.auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        raise UsageError(
            f"{folder} is a model of the type {config['model_type']!r}; text is written by a decoder that transformers "
            "knows, such as gpt2 or llama"
        )
    return _load_folder(folder, config, "AutoModelForCausalLM")[0]


def read_text_model(folder: Path) -> Any:
    """The model of a folder without its head, of any kind that `transformers` has for text, in float32."""
    config = checked_config(folder)
    kind = config["model_type"]
    names = _transformers().models.auto.modeling_auto
    known = {*names.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, *names.MODEL_FOR_MASKED_LM_MAPPING_NAMES}
    model = _load_folder(folder, config, "AutoModel")[0] if kind in known else None
    if model is None or model.config.is_encoder_decoder:
        raise UsageError(
            f"{folder} is a model of the type {kind!r}; states of texts are read from an encoder or a decoder that "
            "transformers knows, such as bert, mpnet, gpt2 or llama"
        )
    return model


def anatomy_of_huggingface(model: Any, name: str = "the model", dtype: torch.dtype | None = None) -> Anatomy:
    """The parts of a model of `transformers`: float64, or float32 where there are over 300 million parameters."""
    config, parameters = model.config, sum(parameter.numel() for parameter in model.parameters())
    check_supported(config.model_type, name)
    dtype = dtype or (torch.float64 if parameters <= DOUBLE_UP_TO else torch.float32)
    tensors = {key: value for key, value in model.state_dict().items() if not key.endswith(_NO_WEIGHTS)}
    weights = Weights(name, tensors, dtype)
    if config.model_type == "gpt2":
        anatomy = anatomy_of_gpt2(config, weights)
    elif config.model_type == "opt":
        anatomy = anatomy_of_opt(config, weights)
    elif config.model_type in ENCODERS:
        anatomy = anatomy_of_bert(config, weights)
    else:
        rotary = model.base_model.rotary_emb
        layout = anatomy_of_neox if config.model_type == "gpt_neox" else anatomy_of_llama
        anatomy = layout(config, weights, rotary.inv_freq, float(rotary.attention_scaling))
    if not anatomy.blocks:
        raise UsageError(f"{name} has no layers; its config must describe at least one")
    check_finite(anatomy)
    return dataclasses.replace(anatomy, parameters=parameters)


def check_supported(model_type: object, name: str) -> None:
    """Refuse a kind of model whose layout is not known."""
    if model_type in ("gemma2", "gemma3_text"):
        raise UsageError(
            f"{name} is a model of the type {model_type!r}, which has norms behind its parts and may cap its logits, "
            "and the parts here have neither; the first Gemma (gemma) can be taken apart"
        )
    if model_type not in (*DECODERS, *ENCODERS):
        raise UsageError(
            f"{name} is a model of the type {model_type!r}, whose layout is not known; "
            f"those of {', '.join((*DECODERS, *ENCODERS))} are"
        )


def _load_folder(folder: Path, config: dict[str, Any], loader: str) -> tuple[Any, tuple[tuple[str, str], ...]]:
    """The model of a checked config, by a loader of `transformers`, which is shown only what was checked."""
    with staged_folder(folder, config) as place:
        with _silence(), in_one_sentence(folder):
            _check_described(folder, place, loader)
        load = getattr(_transformers(), loader).from_pretrained
        return _load(folder, lambda: load(place, use_safetensors=True, **_plainly()))


def _check_described(folder: Path, place: Path, loader: str) -> None:
    """Refuse a config that describes far more numbers than its files hold, before they are made in memory: weights that
    do not fit are drawn at random in the shapes of the config, and only then is it said that they do not."""
    config = _transformers().AutoConfig.from_pretrained(place, local_files_only=True, trust_remote_code=False)
    try:
        with torch.device("meta"):
            model = getattr(_transformers(), loader).from_config(config, attn_implementation="eager")
        described = sum(one.numel() for one in (*model.parameters(), *model.buffers()))
    except Exception:  # loading says what it is
        return
    held = sum(path.stat().st_size for path in weight_files(folder))
    if described > _PER_BYTE * held + _SPARE:
        raise UsageError(f"{folder / CONFIG} describes {described:,} numbers, and its weights are {held:,} bytes")


def _load_gguf(path: Path) -> tuple[Any, tuple[tuple[str, str], ...]]:
    with open_file(path) as file:
        if file.read(4) != b"GGUF":
            raise UsageError(f"{path} is not a GGUF file; you can also give a folder with config.json and safetensors")
        tensors = tensor_count(file)
        for key, value in header_numbers(file).items():
            name = key.partition(".")[2]
            check_number(name, value, path)
            if name == "block_count" and tensors is not None and value > tensors:  # building them takes minutes
                raise UsageError(f"{path} says that {name} is {value:,}, but it holds only {tensors:,} tensors")
    load = _transformers().AutoModelForCausalLM.from_pretrained
    try:
        import accelerate  # noqa: F401  # transformers asks for it
        import gguf  # noqa: F401
    except ImportError:
        raise UsageError(
            f"reading {path} needs gguf and accelerate; `pip install 'lengthwise[hf]'` installs them"
        ) from None
    with staged({path.name: path}) as place:
        return _load(path, lambda: load(place, gguf_file=path.name, **_plainly()))


def _plainly() -> dict[str, Any]:
    """Local files, no code from them or for them, and a full account of what did not fit, which `_load` judges."""
    account = {"output_loading_info": True, "ignore_mismatched_sizes": True}
    computed = {"attn_implementation": "eager", "dtype": torch.float32}
    return {"local_files_only": True, "trust_remote_code": False, **computed, **account}


def _transformers() -> Any:
    try:
        import transformers
    except ImportError:
        raise UsageError(
            "models of other libraries need transformers; `pip install 'lengthwise[hf]'` installs it"
        ) from None
    return transformers


def _load(path: Path, load: Callable[[], Any]) -> tuple[Any, tuple[tuple[str, str], ...]]:
    """The model, and the weights of the file that it has no place for. Weights that the file lacks would be drawn at
    random by transformers: that is refused, unless nothing here reads them."""
    with _silence(), torch.random.fork_rng(devices=[]), in_one_sentence(path):
        before = torch.random.get_rng_state()
        with held_back():
            model, info = load()
        drawn = not torch.equal(before, torch.random.get_rng_state())
    wrong = sorted(str(key[0] if isinstance(key, tuple | list) else key) for key in info["mismatched_keys"])
    unread = {key for key in info["missing_keys"] if key.startswith("pooler.")}
    missing = sorted({*info["missing_keys"]} - unread - {*wrong})
    if missing or wrong:
        raise UsageError(
            f"{path} is not complete: {_counted(missing, wrong)}; all weights that its config.json describes are needed"
        )
    if drawn and not unread:
        raise UsageError(f"{path} is not complete: some weights of the model are drawn at random when it is loaded")
    with _silence(), torch.inference_mode(), in_one_sentence(path):
        model.eval()(input_ids=torch.zeros(1, 2, dtype=torch.long))  # settings that do not fit show themselves here
    unused = sorted({key.split(".")[0] for key in info["unexpected_keys"] if not key.endswith(_NO_WEIGHTS)})
    return placed(model), tuple((name, "weights in the file that the model has no place for") for name in unused)


def _counted(missing: list[str], wrong: list[str]) -> str:
    """How many weights do not fit, and the names of some."""
    names, what = (missing, "missing") if missing else (wrong, "of another shape")
    some = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    return f"{len(names)} weights are {what} ({some})" if len(names) > 1 else f"the weight {some} is {what}"


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """No bars and warnings of transformers: what matters in them is said by us."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # the bar of GGUF files does not ask the settings
            yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
