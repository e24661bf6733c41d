"""Models of `transformers`: a local folder with config.json and safetensors, a GGUF file, or a model in memory."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.files import sha256
from lengthwise.messages import explain, sentence
from lengthwise.models.hub_folder import CONFIG, INDEX, checked_config, in_one_sentence, weight_files
from lengthwise.models.huggingface import (
    DECODERS,
    ENCODERS,
    anatomy_of_huggingface,
    read_decoder,
    read_huggingface,
    read_text_model,
)
from lengthwise.models.parts import Anatomy
from lengthwise.subjects.completion import Completions
from lengthwise.subjects.predictor import (
    HiddenStates,
    ModelWeights,
    Predictor,
    TheirPredictor,
    TheirWeights,
    grows,
    states_of_huggingface,
)
from lengthwise.subjects.subject import Subject
from lengthwise.subjects.symbols import MappedAnswers, Tokens, token_map
from lengthwise.subjects.tokenizer import TOKENIZER, TextTokenizer, chat_tokenizer, tokenizer_beside
from lengthwise.tasks.task import Task

explain({"symbols.layout": "Items are laid out as {layout}; token ids come from {name}."})

_OF_TEXT = ("tokenizer", "completions")  # what needs a tokenizer


class HubSubject(Subject):
    """A model of `transformers`, read from `path` or given as `model`.

    A GGUF file holds weights that are quantised already, often with their tokenizer; a tokenizer.json in its folder
    takes precedence over the tokenizer inside. `scaling` is how its positions are read, if not as it was made
    (`subjects.scaled`).
    """

    scaling = ""

    def __init__(self, path: Path | None, model: Any = None, name: str = "the model") -> None:
        self.path, self._given = path, model
        self.gguf = path if path is not None and path.is_file() else None
        self.folder = path if self.gguf is None else self.gguf.parent
        self.tokens: Tokens | None = None  # how a task's symbols are its tokens
        self.name = name if path is None else path.resolve().name if self.gguf is None else path.stem

    @property
    def source(self) -> str:
        return "folder" if self.gguf is None else "GGUF file"

    @cached_property
    def loaded(self) -> tuple[Any, tuple[tuple[str, str], ...]]:
        """The model in float32, and the weights of the file that it has no place for."""
        if self.path is None:
            return self._given, ()
        return read_huggingface(self.path)

    @cached_property
    def decoder(self) -> Any:
        """The model with its head, of any kind."""
        return self.loaded[0] if self._unknown is None or self.path is None else read_decoder(self.path)

    def reread(self, change: Callable[[Any], Any], scaling: str) -> HubSubject:
        """The same subject with a changed model; `scaling` says in what it differs."""
        made = copy.copy(self)
        for name in ("_kept", "_look"):
            vars(made).pop(name, None)
        made.scaling, made.name = scaling, f"{self.name}, rope {scaling}"
        vars(made)["decoder"] = change(self.decoder)
        if self._unknown is None:
            vars(made)["loaded"] = made.decoder, self.loaded[1]
        return made

    @cached_property
    def _unknown(self) -> str | None:
        """The type of the model where its layout is not known, so that it gives text at most."""
        if self.path is None or self.gguf is not None:
            return None
        kind = checked_config(self.path)["model_type"]
        return None if kind in (*DECODERS, *ENCODERS) else kind

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        scaling = (("rope", self.scaling),) if self.scaling else ()
        if self._unknown is not None:
            return (("kind", f"{self._unknown} of transformers"), *scaling)
        if self.scaling and grows(self.loaded[0].config):  # it has no parts
            return (("kind", f"{self.loaded[0].config.model_type} of transformers"), *scaling)
        anatomy: Anatomy = self.capability("anatomy")
        block, attention = anatomy.blocks[0], anatomy.blocks[0].attention
        heads = f"{attention.heads} head{'s' * (attention.heads != 1)}"
        shared = f", {attention.key_heads} of keys" if attention.key_heads not in (None, attention.heads) else ""
        kind = "decoder" if attention.causal else "encoder"
        order = "attention and MLP in parallel" if block.order == "parallel" else f"{block.order}-norm"
        precision = str(anatomy.embed.dtype).removeprefix("torch.")
        positions = "rotary" if attention.rotary is not None else "learned" if anatomy.table is not None else "none"
        config = self.loaded[0].config
        longest = anatomy.longest or getattr(config, "max_position_embeddings", None)
        return (
            ("kind", f"{config.model_type} of transformers, {kind}, {order}, weights in {precision}"),
            ("layers", f"{len(anatomy.blocks)} of width {anatomy.width} with {heads}{shared}"),
            ("attention", attention.rule),
            ("positions", positions),
            *((("context", f"{longest:,} tokens"),) if longest else ()),
            *scaling,
        )

    def capabilities(self) -> Mapping[str, Callable[[], Any]]:
        found: dict[str, Callable[[], Any]] = {
            "anatomy": self._anatomy,
            "weights": self._weights,
            "predictor": self._predictor,
            "states": self._states,
        }
        if self.scaling:
            del found["states"]  # they are read from the folder
        if self.tokens is not None:
            found["answers"] = self._answers
        if self.gguf is not None:
            found["gguf"] = lambda: self.gguf
        if self.gguf is not None or (self.folder is not None and (self.folder / TOKENIZER).exists()):
            found |= {"tokenizer": self._tokenizer, "completions": self._completions}
        return found

    def offers(self, name: str) -> bool:
        known = name not in _OF_TEXT or self.gguf is None or tokenizer_beside(self.folder, self.gguf) is not None
        return known and super().offers(name)

    def lacking(self, name: str) -> str:
        if name in _OF_TEXT:
            return f"there is no {TOKENIZER} with its weights"
        if name == "answers":
            return "a token map has to say which token stands for each symbol of the task"
        return "it was not trained here" if name in ("run", "transformer") else ""

    def remarks(self, task: Task) -> tuple[str, ...]:
        if self.tokens is None:
            return ()
        answers: MappedAnswers = self.capability("answers")
        answers.check(task)
        tokens = answers.tokens
        return (sentence("symbols.layout", {"layout": tokens.layout(task), "name": tokens.name}),)

    def files(self) -> Mapping[str, str]:
        if self.path is None or self.folder is None:
            return {}
        names = [self.path.name, TOKENIZER]
        if self.gguf is None:
            names = [CONFIG, INDEX, TOKENIZER, *(path.name for path in weight_files(self.path))]
        return {name: sha256(self.folder / name) for name in names if (self.folder / name).exists()}

    def _anatomy(self) -> Anatomy:
        model, skipped = self.loaded
        with contextlib.nullcontext() if self.path is None else in_one_sentence(self.path, "cannot be taken apart"):
            anatomy = anatomy_of_huggingface(model, self.name)
        return dataclasses.replace(anatomy, skipped=(*anatomy.skipped, *skipped))

    def _weights(self) -> ModelWeights:
        model = self.loaded[0]
        headed = model.config.model_type in DECODERS and model.get_output_embeddings() is not None
        return self.capability("predictor") if headed else TheirWeights(model)

    def _predictor(self) -> Predictor:
        model = self.loaded[0]
        if model.config.model_type in ENCODERS:
            raise UsageError(
                f"{self.name} is an encoder ({model.config.model_type}), which also sees what comes after a token; "
                f"next-token probabilities need a decoder ({', '.join(DECODERS)})"
            )
        return TheirPredictor(model)

    def _states(self) -> HiddenStates:
        if self.path is None or not self.path.is_dir():
            raise UsageError(f"hidden states are read from a folder with {CONFIG}, which {self.name} is not")
        return states_of_huggingface(read_text_model(self.path))

    def _completions(self) -> Completions:
        from lengthwise.subjects.generation import LocalCompletions, ending_tokens  # it needs transformers

        assert self.folder is not None and self.path is not None
        tokenizer = self._chat_tokenizer()
        model = self.decoder
        return LocalCompletions(self.name, model, tokenizer, ending_tokens(self.folder, model, tokenizer))

    def _answers(self) -> MappedAnswers:
        assert self.tokens is not None
        tokens = token_map(self.tokens, self._chat_tokenizer)
        if self._unknown is not None:
            return MappedAnswers(self.name, self.decoder, tokens)
        return MappedAnswers(self.name, self.capability("predictor").model, tokens)

    def _chat_tokenizer(self) -> Any:
        found = None if self.folder is None else chat_tokenizer(self.folder, self.gguf)
        if found is None:
            raise UsageError(f"{self.path or self.name} has no tokenizer that transformers can read")
        return found

    def _tokenizer(self) -> TextTokenizer:
        found = tokenizer_beside(self.folder, self.gguf)
        if found is None:
            raise UsageError(f"{self.path} has no tokenizer that transformers can read")
        return found
