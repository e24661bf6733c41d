"""Completions by a model of `transformers`: greedy, in batches, with what prompts have in common computed once."""

from __future__ import annotations

import copy
import inspect
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface, DynamicCache, GenerationConfig
from transformers.cache_utils import DynamicLayer
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from lengthwise.errors import UsageError
from lengthwise.files import read_json
from lengthwise.models.hub_folder import in_one_sentence, inside
from lengthwise.progress import Progress, silent
from lengthwise.prompts.prompt import Prompt
from lengthwise.subjects.completion import Completion, Ending, opens_reasoning, stopped, without_reasoning
from lengthwise.subjects.predictor import grows
from lengthwise.subjects.tokenizer import BREAKS

_CELLS = 2**28  # numbers in the keys and values of a batch, or in its attention scores
_ROWS = 64  # rows of a batch: more of them save nothing on a CPU
_GENERATION = "generation_config.json"
_TRIAL, _SHARED = 7, 3  # tokens of the trial, and those that its rows share
_SDPA, _APART = "sdpa", "lengthwise_apart"  # how transformers computes attention, and how we do
_OTHER_SCORES = ("softcap", "s_aux", "position_bias")


@dataclass(eq=False)
class _PromptRow:
    """One prompt while it is completed: its tokens, whether they end inside reasoning, and the tokens written."""

    place: int
    tokens: list[int]
    opened: bool
    written: list[int] = field(default_factory=list)
    seconds: float = 0.0


class LocalCompletions:
    """Completions by a decoder of `transformers`, on whatever device it is.

    The tokens that all prompts of one instruction and one set of examples begin with run once, and their keys and
    values are shared (`shares`), where the model allows it without a copy for every row (`apart`). A batch holds
    prompts of similar length, with places left empty between the shared tokens and a row's own (`fills`); or of equal
    length. A trial decides what of this leaves the model's logits as they are.
    """

    def __init__(self, name: str, model: Any, tokenizer: Any, ends: frozenset[int]) -> None:
        if model.get_output_embeddings() is None or model.config.is_encoder_decoder:
            raise UsageError(f"{name} ({type(model).__name__}) does not write text; a decoder with its head does")
        self.name, self.model, self.tokenizer, self.ends = name, model, tokenizer, ends
        self.context: int | None = getattr(model.config, "max_position_embeddings", None)
        self.templated = tokenizer.chat_template is not None
        self._takes = set(inspect.signature(model.forward).parameters)
        # Frequencies that grow with the sequence: no key that was computed before is right for a longer one.
        self._caches = not grows(model.config)
        self._before: tuple[list[int], Any] = [], None
        # Windows are counted in places, the empty ones among them.
        plain = {type(layer) for layer in DynamicCache(config=model.config).layers} <= {DynamicLayer}
        ways = [(_SDPA, True)] * plain + [(_SDPA, False), (None, False)] if self._caches else []
        self._way, self.apart, self.shares = None, False, False
        for self._way, self.apart in ways:
            self.shares = self._agrees(_TRIAL, _TRIAL)
            if self.shares:
                break
        self.fills = self.shares and plain and self._agrees(_TRIAL, _TRIAL - 1)
        heads = getattr(model.config, "num_key_value_heads", None) or model.config.num_attention_heads
        width = getattr(model.config, "head_dim", None) or model.config.hidden_size // model.config.num_attention_heads
        self._cells = 2 * model.config.num_hidden_layers * heads * width  # per token

    def count(self, prompt: Prompt, chat: bool) -> int:
        return len(self._tokens(self._rendered(prompt, chat), chat))

    def complete(
        self,
        prompts: Sequence[Prompt],
        *,
        chat: bool,
        budget: int,
        reasoning: int = 0,
        stop: Sequence[str] = (),
        progress: Progress = silent,
    ) -> Iterator[tuple[int, Completion]]:
        """Greedy answers, short prompts first. A prompt that does not fit into the context with its budget is not
        run."""
        groups: dict[Any, list[_PromptRow]] = {}
        ends, limit = self.ends, budget + reasoning
        for place, prompt in enumerate(prompts):
            text = self._rendered(prompt, chat)
            row = _PromptRow(place, self._tokens(text, chat), chat and opens_reasoning(text))
            groups.setdefault((prompt.system, prompt.shots), []).append(row)
        if chat and prompts:
            ends |= self._turn_ends(prompts[0])
        given = 0
        for rows in groups.values():
            for row, ending in self._group(sorted(rows, key=lambda row: len(row.tokens)), limit, ends, stop):
                given += 1
                progress(f"{given:,} of {len(prompts):,} answers", given, len(prompts))
                yield row.place, self._completion(row, ending, ends, stop)

    # --- text -------------------------------------------------------------------------------------------------------

    def _rendered(self, prompt: Prompt, chat: bool, answer: str | None = None) -> str:
        """The text that the model reads. Where a template has no place for the instruction, it precedes the first
        question."""
        if not chat:
            return prompt.text()
        if not self.templated:
            raise UsageError(f"{self.name} has no chat template; ask without one")
        turns = [*prompt.messages(), *([] if answer is None else [{"role": "assistant", "content": answer}])]
        first = {"role": "user", "content": "\n\n".join(turn["content"] for turn in turns[:2])}
        said = ""
        for messages in (turns, [first, *turns[2:]]) if turns[0]["role"] == "system" else (turns,):
            try:
                text = self.tokenizer.apply_chat_template(
                    messages, tokenize=False, add_generation_prompt=answer is None
                )
            except Exception as error:  # whatever a stranger's template makes the library raise
                said = " ".join(str(error).split())[:200]
                continue
            if prompt.system.strip() in text:
                return text
        raise UsageError(f"the chat template of {self.name} does not render the prompt{said and ': '}{said}")

    def _tokens(self, text: str, chat: bool) -> list[int]:
        """A template writes the special tokens itself."""
        with in_one_sentence(self.name, BREAKS):
            return list(self.tokenizer(text, add_special_tokens=not chat, truncation=False, verbose=False)["input_ids"])

    def _turn_ends(self, prompt: Prompt) -> frozenset[int]:
        """The token with which the template ends an answer."""
        after = self._rendered(prompt, True, answer := "=|=").rpartition(answer)[2]
        return frozenset(self._tokens(after.lstrip(), chat=True)[:1]) & self.tokenizer.added_tokens_decoder.keys()

    def _text(self, row: _PromptRow, ends: frozenset[int]) -> tuple[str, str]:
        """What a row says, and its reasoning."""
        written = row.written[:-1] if row.written and row.written[-1] in ends else row.written
        with in_one_sentence(self.name, BREAKS):
            text = self.tokenizer.decode(written, skip_special_tokens=True)
        return without_reasoning(text, row.opened)

    def _completion(self, row: _PromptRow, ending: Ending, ends: frozenset[int], stop: Sequence[str]) -> Completion:
        text, thought = self._text(row, ends)
        text = stopped(text, stop)[0]
        return Completion(text, ending, len(row.tokens), len(row.written), thought, seconds=row.seconds)

    # --- batches ----------------------------------------------------------------------------------------------------

    def _group(
        self, rows: list[_PromptRow], limit: int, ends: frozenset[int], stop: Sequence[str]
    ) -> Iterator[tuple[_PromptRow, Ending]]:
        """The rows, of one instruction and by length, each when it ends."""
        fitting = [row for row in rows if self.context is None or len(row.tokens) + limit <= self.context]
        for row in rows[len(fitting) :]:
            yield row, "overlong"
        if not fitting:
            return

        def ending(row: _PromptRow) -> Ending | None:
            if row.written[-1] in ends or (stop and stopped(self._text(row, ends)[0], stop)[1]):
                return "stop"
            return "length" if len(row.written) == limit else None

        if not self.shares:
            for batch in self._batches(fitting, limit):
                self._generate(batch, limit, ends)
                for row in batch:
                    yield row, ending(row) or "stop"
            return
        began = time.perf_counter()
        same = _common(*(order(row.tokens[:-1] for row in fitting) for order in (min, max)))
        cache = self._read(same)
        for row in fitting:
            row.seconds = (time.perf_counter() - began) / len(fitting)
        for batch in self._batches(fitting, limit):
            yield from self._write(batch, cache, len(same), limit, ending)

    def _batches(self, rows: Sequence[_PromptRow], limit: int) -> Iterator[list[_PromptRow]]:
        """Rows by length in batches that fit into memory."""
        batch: list[_PromptRow] = []
        for row in rows:
            tokens = len(row.tokens) + limit
            full = len(batch) == _ROWS or (len(batch) + 1) * tokens * self._cells > _CELLS
            if batch and (full or not (self.fills or len(batch[0].tokens) == len(row.tokens))):
                yield batch
                batch = []
            batch.append(row)
        yield batch

    # --- computation ------------------------------------------------------------------------------------------------

    def _write(
        self,
        batch: list[_PromptRow],
        shared: Any,
        length: int,
        limit: int,
        ending: Callable[[_PromptRow], Ending | None],
    ) -> Iterator[tuple[_PromptRow, Ending]]:
        """Greedy tokens for every row until it ends, after `shared`, the keys and values of the `length` tokens that
        all rows begin with. Rows that have ended are taken out when they are half of the batch."""
        live: list[_PromptRow | None] = [*batch]
        tokens, at, mask, cache = self._laid_out([row.tokens[length:] for row in batch], shared, length, limit)
        while True:
            began = time.perf_counter()
            best = self._logits(tokens, at, mask, cache).argmax(dim=-1)
            seconds = (time.perf_counter() - began) / sum(row is not None for row in live)
            for number, (row, token) in enumerate(zip(live, best.tolist(), strict=True)):
                if row is None:
                    continue
                row.seconds += seconds
                row.written.append(token)
                if (end := ending(row)) is not None:
                    live[number] = None
                    yield row, end
            kept = [number for number, row in enumerate(live) if row is not None]
            if not kept:
                return
            tokens, at = best[:, None], at[:, -1:] + 1
            if 2 * len(kept) <= len(live):
                live = [live[number] for number in kept]
                tokens, at, mask = tokens[kept], at[kept], None if mask is None else mask[kept]
                cache.batch_select_indices(kept)

    def _laid_out(
        self, own: list[list[int]], shared: Any, length: int, limit: int
    ) -> tuple[Tensor, Tensor, Tensor | None, Any]:
        """What a batch runs on: its rows' own tokens, aligned at the right; their positions; the mask of empty places,
        with room for `limit` more tokens; and the shared keys and values for every row."""
        device, width = self.model.device, max(map(len, own))
        tokens = torch.tensor([[0] * (width - len(row)) + row for row in own], device=device)
        gaps = torch.tensor([[width - len(row)] for row in own], device=device)
        at = (torch.arange(length, length + width, device=device) - gaps).clamp(min=0)
        places = torch.arange(-length, width + limit, device=device)
        mask = ((places < 0) | (places >= gaps)).long() if width > min(map(len, own)) else None
        return tokens, at, mask, _spread(shared, len(own), width + limit, self.apart and length > 0)

    @torch.inference_mode()
    def _logits(self, tokens: Tensor, at: Tensor, mask: Tensor | None, cache: Any) -> Tensor:
        """Logits of the token after each row, [rows, vocabulary]; `cache` then holds its tokens too."""
        rows, width = tokens.shape
        before, loaded = cache.get_seq_length(), self.model.config._attn_implementation
        way = _APART if any(isinstance(layer, _Room) for layer in cache.layers) else self._way
        step = max(1, _CELLS // (rows * (before + width) * self.model.config.num_attention_heads))
        logits = tokens
        self.model.set_attn_implementation(way or loaded)
        try:
            for first in range(0, width, step):
                some = slice(first, first + step)
                given = {"position_ids": at[:, some], "logits_to_keep": 1}
                given = {name: one for name, one in given.items() if name in self._takes}
                if mask is not None:
                    given["attention_mask"] = mask[:, : before + min(width, first + step)]
                output = self.model(input_ids=tokens[:, some], past_key_values=cache, use_cache=True, **given)
                logits = output.logits[:, -1]
        finally:
            self.model.set_attn_implementation(loaded)
        return logits

    def _read(self, tokens: list[int]) -> Any:
        """The keys and values of tokens; those of the tokens that were read before are not computed again."""
        before, cache = self._before
        same = len(_common(before, tokens)) if self.apart else 0
        cache = _cut(cache, len(before) - same) if same else DynamicCache(config=self.model.config)
        if more := tokens[same:]:
            at = torch.arange(same, len(tokens), device=self.model.device)[None]
            self._logits(torch.tensor([more], device=self.model.device), at, None, cache)
        self._before = tokens, cache
        return cache

    @torch.inference_mode()
    def _agrees(self, *lengths: int) -> bool:
        """Whether rows of these lengths, in a batch and after tokens that they share, give the logits that they give
        alone and as a whole."""
        config = self.model.config
        tokens = [(3 + 2 * number) % config.vocab_size for number in range(max(lengths))]
        try:
            whole = self.model(input_ids=torch.tensor([tokens], device=self.model.device)).logits[0].float()
            shared = self._read(tokens[:_SHARED])
            rows = [tokens[_SHARED:length] for length in lengths]
            found = self._logits(*self._laid_out(rows, shared, _SHARED, 0)).float()
        except Exception:  # models differ in what they raise where they keep no keys
            return False
        wanted = whole[[length - 1 for length in lengths]]
        close = 1e-3 if self.model.dtype == torch.float32 else 0.1
        return bool((found - wanted).abs().max() <= close * wanted.std())

    @torch.inference_mode()
    def _generate(self, batch: list[_PromptRow], limit: int, ends: frozenset[int]) -> None:
        """The same by transformers' own generation, for models whose keys and values cannot be shared."""
        began = time.perf_counter()
        settings = GenerationConfig(
            max_new_tokens=limit, do_sample=False, eos_token_id=[*ends] or None, pad_token_id=0, use_cache=self._caches
        )
        tokens = torch.tensor([row.tokens for row in batch], device=self.model.device)
        written = self.model.generate(tokens, attention_mask=torch.ones_like(tokens), generation_config=settings)
        for row, line in zip(batch, written[:, tokens.shape[1] :].tolist(), strict=True):
            end = next((number + 1 for number, token in enumerate(line) if token in ends), len(line))
            row.written, row.seconds = line[:end], (time.perf_counter() - began) / len(batch)


class _Room(DynamicLayer):
    """A layer's keys and values for rows that begin with the same tokens: those of the shared tokens once, a row's own
    with room for the tokens to come, so that a step copies nothing. `_attention_apart` knows how to use them."""

    keys: Tensor
    values: Tensor

    def __init__(self, shared: Any, rows: int, room: int) -> None:
        super().__init__()
        self.is_initialized, self.front = True, (shared.keys, shared.values)
        self._whole = [one.new_empty(rows, one.shape[1], room, one.shape[3]) for one in self.front]
        self._show(0)

    def _show(self, length: int) -> None:
        self.keys, self.values = (whole[:, :, :length] for whole in self._whole)
        vars(self.keys)["front"] = self.front  # the way to the attention function

    def update(self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        before, length = self.keys.shape[2], self.keys.shape[2] + key_states.shape[2]
        for whole, new in zip(self._whole, (key_states, value_states), strict=True):
            whole[:, :, before:length] = new
        self._show(length)
        return self.keys, self.values

    def get_seq_length(self) -> int:
        return self.front[0].shape[2] + self.keys.shape[2]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.keys.shape[2] + query_length, self.front[0].shape[2]

    def batch_select_indices(self, indices: Any) -> None:
        self._whole = [whole[indices] for whole in self._whole]
        self._show(self.keys.shape[2])


def _attention_apart(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **settings: Any
) -> tuple[Tensor, None]:
    """Attention to shared tokens, for all rows in one product, and to a row's own, under one softmax. Heads that share
    keys are not given copies of them. Where many tokens are read at once, all scores would be much to write down, and
    shared keys are copied for the fused function. [rows, heads, width, size] → [rows, width, heads, size]"""
    if (front := getattr(key, "front", None)) is None:
        return ALL_ATTENTION_FUNCTIONS[_SDPA](module, query, key, value, attention_mask, **settings)
    if any(settings.get(name) is not None for name in _OTHER_SCORES):
        raise ValueError("scores that are more than products")
    rows, heads, width, size = query.shape
    groups, own, shared = key.shape[1], key.shape[2], front[0].shape[2]
    if width > 1 and attention_mask is not None:
        key, value = (
            torch.cat([one.expand(rows, -1, -1, -1), new], 2) for one, new in zip(front, (key, value), strict=True)
        )
        seen = torch.nn.functional.pad(attention_mask, (shared, 0))
        return ALL_ATTENTION_FUNCTIONS[_SDPA](module, query, key, value, seen, **settings)
    scaling = settings.get("scaling")
    query = query.reshape(rows, groups, -1, size) * (size**-0.5 if scaling is None else scaling)
    first = query.transpose(0, 1).reshape(groups, -1, size) @ front[0][0].transpose(1, 2)
    second = query @ key.transpose(2, 3)
    if attention_mask is not None:
        second = (second.view(rows, groups, -1, width, own) + attention_mask[:, :, None]).view(rows, groups, -1, own)
    scores = torch.cat([first.view(groups, rows, -1, shared).transpose(0, 1), second], dim=-1)
    weights = scores.softmax(dim=-1, dtype=torch.float32).to(query.dtype)
    first, second = weights.split([shared, own], dim=-1)
    found = (first.transpose(0, 1).reshape(groups, -1, shared) @ front[1][0]).view(groups, rows, -1, value.shape[3])
    found = found.transpose(0, 1) + second @ value
    return found.reshape(rows, heads, width, -1).transpose(1, 2).contiguous(), None


AttentionInterface.register(_APART, _attention_apart)
AttentionMaskInterface.register(_APART, ALL_MASK_ATTENTION_FUNCTIONS["eager"])


def _common(one: list[int], other: list[int]) -> list[int]:
    """What two lists begin with; for the first and the last in order, what all between begin with."""
    return [a for a, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))]


def _cut(cache: Any, tokens: int) -> Any:
    """Keys and values without those of the last tokens; the others are shared."""
    cut = copy.copy(cache)
    cut.layers = [*map(copy.copy, cache.layers)]
    cut.crop(-tokens)
    return cut


def _spread(shared: Any, rows: int, room: int, apart: bool) -> Any:
    """Keys and values of one row for several."""
    cache = copy.copy(shared)
    if apart:
        cache.layers = [_Room(layer, rows, room) for layer in shared.layers]
    else:
        cache.layers = copy.deepcopy(shared.layers)
        cache.batch_repeat_interleave(rows)
    return cache


def ending_tokens(folder: Path, model: Any, tokenizer: Any) -> frozenset[int]:
    """The tokens that end a text, by the settings of the model, of its tokenizer and of generation."""
    stored = read_json(inside(folder, _GENERATION)) if (folder / _GENERATION).exists() else {}
    named = [
        getattr(one, "eos_token_id", None)
        for one in (tokenizer, model.config, getattr(model, "generation_config", None))
    ]
    named += [stored.get("eos_token_id")] if isinstance(stored, dict) else []
    listed = [token for one in named for token in (one if isinstance(one, list) else [one])]
    return frozenset(token for token in listed if isinstance(token, int))
