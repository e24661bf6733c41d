"""A task's symbols as tokens of a model that was trained elsewhere: by a table, by the model's tokenizer, or by a
function of the user's; and the answers of such a model."""

from __future__ import annotations

import contextlib
import inspect
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthwise.errors import Interrupted, OutOfPositions, UsageError
from lengthwise.files import read_json
from lengthwise.models.hub_folder import in_one_sentence
from lengthwise.registry import thing_in_file
from lengthwise.subjects.run import CELLS
from lengthwise.subjects.subject import MarkedItems, first_errors
from lengthwise.subjects.tokenizer import BREAKS
from lengthwise.tasks.batch import NOTHING, Batch, Samples
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task
from lengthwise.trust import said_in

Tokens = str | Path | Mapping[str, Any] | Callable[..., Any]
Code = tuple[int, ...]

TOKENIZER = "tokenizer"  # the map that the model's own tokenizer makes
ADAPTER = "adapter"  # the function of a file that is called where none is named
_BOS, _SEP, _EOS, _PAD = "<bos>", "<sep>", "<eos>", "<pad>"
_SPECIAL = (_BOS, _SEP, _EOS, _PAD)
_LOGITS = 50_000_000  # logits that exist together, where a model cannot be asked for some places alone
_NAMED = 3  # symbols that are named where many are wrong


@dataclass(frozen=True, eq=False)
class TokenRow:
    """One item: the ids that a model reads, and, by position, the id expected there. `fed` says that the expected id is
    also what is read next, as in an answer that is written; a tag is not."""

    read: list[int]
    asked: dict[int, int]
    fed: bool = True


class TokenMap(ABC):
    """How a task's items become rows of token ids. `name` says where it comes from."""

    name: str

    @abstractmethod
    def rows(self, task: Task, samples: Samples, model: str, vocabulary: int) -> list[TokenRow]:
        """One row per item, all ids below `vocabulary`; a usage error that says what does not fit the model."""

    def names(self, task: Task) -> Mapping[int, str]:  # noqa: ARG002
        """What ids stand for, where that is known."""
        return {}

    def check(self, task: Task, model: str, vocabulary: int) -> None:  # noqa: ARG002
        """Refuse what can be refused before items are drawn."""
        if task.readout == "numbers":
            raise UsageError(f"the answers of {name_of(task)} are numbers, for which no token stands")

    @abstractmethod
    def layout(self, task: Task) -> str:
        """How an item is laid out, in a few words."""


# --- a table --------------------------------------------------------------------------------------------------------


class TokenTable(TokenMap):
    """A map from symbols to ids, or to lists of ids. A special token that the model was trained without is None and
    left out."""

    def __init__(self, name: str, entries: Callable[[Task], Mapping[str, Any]]) -> None:
        self.name, self._entries = name, entries

    def layout(self, task: Task) -> str:
        table = self._entries(task)
        parts = (_BOS, "prompt") if task.readout == "tags" else (_BOS, "prompt", _SEP, "answer", _EOS)
        return " ".join(part for part in parts if part not in _SPECIAL or table.get(part) is not None)

    def names(self, task: Task) -> Mapping[int, str]:
        table = self._entries(task)
        ids = {name: table.get(name) for name in (_PAD, _BOS, _SEP, _EOS, *task.symbols)}
        return {number: name for name, number in ids.items() if isinstance(number, int)}

    def check(self, task: Task, model: str, vocabulary: int) -> None:
        super().check(task, model, vocabulary)
        self.codes(task, model, vocabulary)

    def codes(self, task: Task, model: str, vocabulary: int) -> dict[str, Code]:
        """The ids of every symbol of a task and of the special tokens, checked; () for one that is left out."""
        table = self._entries(task)
        wanted = (_BOS,) if task.readout == "tags" else (_BOS, _SEP, _EOS)
        if missing := [name for name in wanted if name not in table]:
            raise UsageError(f"{self.name} does not say what {missing[0]} is; null means that the model has none")
        if missing := [symbol for symbol in task.symbols if table.get(symbol) is None]:
            some = ", ".join(map(repr, missing[:_NAMED])) + (" …" if len(missing) > _NAMED else "")
            lack = f"{len(missing)} of the {len(task.symbols)} symbols of {name_of(task)} ({some})"
            raise UsageError(f"{self.name} has no id for {lack}")
        named = {symbol: table.get(symbol) for symbol in (*_SPECIAL, *task.symbols)}
        codes = {symbol: self._code(symbol, value, model, vocabulary) for symbol, value in named.items()}
        self._check_apart(codes)
        return codes

    def _code(self, symbol: str, value: Any, model: str, vocabulary: int) -> Code:
        if value is None:
            return ()
        ids = tuple(value) if isinstance(value, list | tuple) else (value,)
        if not ids or not all(isinstance(one, int) and not isinstance(one, bool) for one in ids):
            raise UsageError(
                f"{self.name} gives {symbol!r} the id {value!r}, which is neither a whole number nor a list of them"
            )
        _check_known(ids, f"{self.name} gives {symbol!r}", model, vocabulary)
        return ids

    def _check_apart(self, codes: Mapping[str, Code]) -> None:
        """Refuse two symbols with the same ids, or the ids of one at the beginning of another's. Special tokens may be
        the same as each other: many models have one token for beginning and end."""
        owners: dict[Code, str] = {}
        for symbol, code in sorted(codes.items(), key=lambda pair: len(pair[1])):
            for end in range(1, len(code) + 1):
                other = owners.get(code[:end])
                if other is not None and not (symbol in _SPECIAL and other in _SPECIAL):
                    how = "the same id" if code == codes[other] else "ids that begin alike"
                    shown = ", ".join(map(str, code))
                    raise UsageError(f"{self.name} gives {other!r} and {symbol!r} {how} ({shown}); each needs its own")
            owners[code] = symbol

    def rows(self, task: Task, samples: Samples, model: str, vocabulary: int) -> list[TokenRow]:
        codes = self.codes(task, model, vocabulary)
        of_symbols = [codes[symbol] for symbol in task.symbols]
        pairs = zip(samples.prompts.tolist(), np.asarray(samples.answers).tolist(), strict=True)
        if task.readout == "tags":
            if several := [symbol for symbol in task.symbols if len(codes[symbol]) > 1]:
                raise UsageError(f"{self.name} gives {several[0]!r} several ids, and a tag is one token")
            return [self._tagged(prompt, tags, of_symbols, codes[_BOS]) for prompt, tags in pairs]
        return [self._answered(prompt, answer, of_symbols, codes) for prompt, answer in pairs]

    def _answered(self, prompt: list[int], answer: list[int], of: list[Code], codes: Mapping[str, Code]) -> TokenRow:
        read = [*codes[_BOS], *_joined(prompt, of), *codes[_SEP]]
        written = [*_joined(answer, of), *codes[_EOS]]
        if not read or not written:
            what = "no token before the answer" if not read else "an answer of no token"
            raise UsageError(f"{self.name} leaves special tokens out, and an item then has {what}")
        whole = [*read, *written]
        return TokenRow(whole[:-1], {place - 1: whole[place] for place in range(len(read), len(whole))})

    def _tagged(self, prompt: list[int], tags: list[int], of: list[Code], bos: Code) -> TokenRow:
        """Tags belong to the last columns of `<bos> prompt`, and a symbol is one token here."""
        first = len(bos) + len(prompt) - len(tags)
        asked = {first + place: of[tag][0] for place, tag in enumerate(tags) if tag != NOTHING}
        if min(asked, default=0) < 0 or not asked:
            raise UsageError(f"{self.name} leaves {_BOS} out, and the task asks for a tag there")
        return TokenRow([*bos, *_joined(prompt, of)], asked, fed=False)


def _check_known(ids: Code, who: str, model: str, vocabulary: int) -> None:
    if wrong := [one for one in ids if not 0 <= one < vocabulary]:
        raise UsageError(f"{who} the id {wrong[0]}, and the vocabulary of {model} is 0 to {vocabulary - 1}")


def _joined(row: Sequence[int], codes: list[Code]) -> Iterator[int]:
    return itertools.chain.from_iterable(codes[symbol] for symbol in row if symbol != NOTHING)


def _of_tokenizer(tokenizer: Any, name: str) -> Callable[[Task], Mapping[str, Any]]:
    """The table that a tokenizer makes: every symbol has to be one token, which reads as the symbol. A special token is
    the one of its name in the vocabulary (`<sep>`), else the one that the tokenizer declares, else left out."""
    own = tokenizer.get_vocab()
    declared = (tokenizer.bos_token_id, tokenizer.sep_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id)
    special = {symbol: own.get(symbol, number) for symbol, number in zip(_SPECIAL, declared, strict=True)}

    def entries(task: Task) -> Mapping[str, Any]:
        found: dict[str, Any] = dict(special)
        for symbol in task.symbols:
            with in_one_sentence(name, BREAKS):
                ids = tokenizer.encode(symbol, add_special_tokens=False)
                read = [tokenizer.decode([one]) for one in ids]
            if len(read) != 1 or read[0].strip() != symbol:
                raise UsageError(f"{name} reads the symbol {symbol!r} as {read}, and each symbol has to be one token")
            found[symbol] = ids[0]
        return found

    return entries


# --- an adapter -----------------------------------------------------------------------------------------------------


class TokenAdapter(TokenMap):
    """A function of the user's: `adapter(task, prompt, answer)`, the last two as lists of symbols, gives the ids of the
    whole item and the places of the answer in them; for tags the ids, and a dictionary from places to ids asked for."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name, self.function = name, function

    def layout(self, task: Task) -> str:  # noqa: ARG002
        return "the adapter says"

    def rows(self, task: Task, samples: Samples, model: str, vocabulary: int) -> list[TokenRow]:
        pairs = zip(samples.prompts, samples.answers, strict=True)
        return [self._row(task, list(task.spelled(p)), list(task.spelled(a)), model, vocabulary) for p, a in pairs]

    def _row(self, task: Task, prompt: list[str], answer: list[str], model: str, vocabulary: int) -> TokenRow:
        try:
            ids, places = self.function(task, prompt, answer)
            ids = [int(one) for one in ids]
            fed = not isinstance(places, Mapping)
            if fed:
                asked = {int(place) - 1: ids[place] for place in places}
            else:
                asked = {int(place): int(wanted) for place, wanted in places.items()}
        except (Interrupted, UsageError):
            raise
        except Exception as error:
            raise UsageError(
                f"{self.name} has to give ids and the places of the answer in them; for the prompt "
                f"{' '.join(prompt)[:60]!r} it gave {said_in(error, self.function)}"
            ) from error
        if not asked or min(asked) < 0 or max(asked) >= len(ids):
            raise UsageError(
                f"{self.name} gave {len(ids)} ids and the places {sorted(places)[:8]} for the answer, which have to be "
                f"at least one and to lie from {int(fed)} to {len(ids) - 1}"
            )
        _check_known((*ids, *asked.values()), f"{self.name} gave", model, vocabulary)
        return TokenRow(ids[: max(asked) + 1], asked, fed)


def token_map(tokens: Tokens, tokenizer: Callable[[], Any]) -> TokenMap:
    """The map of a JSON file, of the text "tokenizer", of a file my.py::adapter, which runs, or of an object.

    `tokenizer` gives the one that comes with the model, of `transformers`.
    """
    if isinstance(tokens, Mapping):
        return TokenTable("the token map", lambda _: tokens)
    if not isinstance(tokens, str | Path):
        if not callable(tokens):
            raise UsageError(
                f"a token map must be a table, a function or the name of a file, not a {type(tokens).__name__}"
            )
        return TokenAdapter(getattr(tokens, "__name__", "the adapter"), tokens)
    if tokens == TOKENIZER:
        return TokenTable("the tokenizer", _of_tokenizer(tokenizer(), "the tokenizer"))
    path, _, wanted = str(tokens).partition("::")
    if isinstance(tokens, str) and path.endswith(".py"):
        function = thing_in_file(path, wanted or ADAPTER, ADAPTER)
        if not callable(function):
            raise UsageError(f"{tokens} is not a function: an adapter takes a task, a prompt and an answer")
        return TokenAdapter(f"{Path(path).name}::{wanted or ADAPTER}", function)
    if not Path(tokens).is_file():
        kinds = f"a token map is a JSON file, {TOKENIZER!r}, or a Python file, my.py::{ADAPTER}"
        raise UsageError(f"there is no file {tokens}; {kinds}")
    table = read_json(Path(tokens))
    if not isinstance(table, dict):
        raise UsageError(f'{tokens} is not a token map: it must contain one object, such as {{"{_BOS}": 0, "a": 5}}')
    return TokenTable(Path(tokens).name, lambda _: table)


# --- answers --------------------------------------------------------------------------------------------------------


class MappedAnswers:
    """Answers of a decoder of `transformers` under teacher forcing, one forward pass per item: an item is right when
    the best of all tokens is right wherever one is asked for, which is so exactly when greedy decoding writes it."""

    def __init__(self, name: str, model: Any, tokens: TokenMap) -> None:
        self.name, self.model, self.tokens = name, model, tokens
        read, head = model.get_input_embeddings(), model.get_output_embeddings()
        self.vocabulary = min(len(read.weight), len(head.weight))
        self.longest = _end_of_positions(model)

    def check(self, task: Task) -> None:
        """Refuse a task whose symbols do not fit the map or the model."""
        self.tokens.check(task, self.name, self.vocabulary)

    def batch(self, task: Task, size: int, items: Sequence[int], seed: int) -> Batch:
        """The same items as a batch of the model's own tokens."""
        return _filled(self.rows(task, size, items, seed))

    def rows(self, task: Task, size: int, items: Sequence[int], seed: int) -> list[TokenRow]:
        """The test items of these numbers, laid out; those that the model has no positions for are refused."""
        self.check(task)
        samples = task.draw(size, seed, items, role="test")
        rows = self.tokens.rows(task, samples, self.name, self.vocabulary)
        widest = max(len(row.read) for row in rows)
        if self.longest is not None and widest > self.longest:
            raise OutOfPositions(f"{self.name} has {self.longest} positions, and an item of size {size} takes {widest}")
        return rows

    @torch.no_grad()
    def mark(self, task: Task, size: int, items: Sequence[int], seed: int) -> MarkedItems:
        whole, tokens, losses, places, instead = [], [], [], [], []
        rows, names = self.rows(task, size, items, seed), self.tokens.names(task)
        for inputs, targets, scored in self._chunks(rows):
            with _evaluating(self.model):
                logits = self._logits(inputs, scored)
            best, asked = logits.argmax(dim=-1), targets[scored]
            by_place = torch.ones_like(scored)
            by_place[scored] = best == asked
            loss = torch.nn.functional.cross_entropy(logits.float(), asked, reduction="none")
            place, given = first_errors(*(one.cpu().numpy() for one in (scored, best, asked)))
            places.append(place)
            instead += [names.get(token, f"token {token}") for token in given.tolist()]
            for kept, new in ((whole, by_place.all(dim=1)), (tokens, best == asked), (losses, loss.double())):
                kept.append(new.cpu().numpy())
        found = [np.concatenate(one) for one in (whole, tokens, losses, places)]
        return MarkedItems(*found, instead=tuple(instead))

    @torch.no_grad()
    def written_right(self, task: Task, size: int, items: Sequence[int], seed: int) -> NDArray[np.bool_]:
        """Which items greedy decoding answers exactly: the model reads what it has written. O(tokens) passes."""
        rows, right = self.rows(task, size, items, seed), []
        if not all(row.fed for row in rows):
            raise UsageError("greedy decoding needs a task whose answer is written token by token")
        for text, targets, scored in self._chunks(rows):
            hits, start, kept = ~scored, 0, None
            for column in range(int(scored.any(dim=0).nonzero()[0]), text.shape[1]):
                with _evaluating(self.model):
                    found = self.model(input_ids=text[:, start : column + 1], past_key_values=kept, use_cache=True)
                best, asked = found.logits[:, -1].argmax(dim=-1), scored[:, column]
                hits[:, column] |= best == targets[:, column]
                if column + 1 < text.shape[1]:
                    text[:, column + 1] = torch.where(asked, best, text[:, column + 1])
                start, kept = column + 1, found.past_key_values
            right.append(hits.all(dim=1).cpu().numpy())
        return np.concatenate(right)

    def _chunks(self, rows: list[TokenRow]) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Inputs, targets and where they are asked for, [rows, tokens], as many rows as fit into memory."""
        width = max(len(row.read) for row in rows)
        heads = getattr(self.model.config, "num_attention_heads", 1) or 1
        at_once = max(1, min(CELLS // (width * width * heads), _LOGITS // (width * self.vocabulary)))
        for first in range(0, len(rows), at_once):
            some = _filled(rows[first : first + at_once])
            device = self.model.get_input_embeddings().weight.device
            yield tuple(torch.from_numpy(one).to(device) for one in (some.inputs, some.targets, some.scored))  # pyright: ignore

    def _logits(self, inputs: Tensor, scored: Tensor) -> Tensor:
        """[number scored, vocabulary], computed where something is asked for alone if the model can do that."""
        if "logits_to_keep" not in inspect.signature(self.model.forward).parameters:
            return self.model(input_ids=inputs, use_cache=False).logits[scored]
        columns = scored.any(dim=0).nonzero()[:, 0]
        logits = self.model(input_ids=inputs, use_cache=False, logits_to_keep=columns).logits
        return logits[scored[:, columns]]


def _filled(rows: Sequence[TokenRow]) -> Batch:
    """Rows as one batch, filled up at the right, which a causal model never sees."""
    inputs, targets = np.zeros((2, len(rows), max(len(row.read) for row in rows)), np.int64)
    scored = np.zeros(inputs.shape, bool)
    for number, row in enumerate(rows):
        inputs[number, : len(row.read)] = row.read
        places = list(row.asked)
        targets[number, places], scored[number, places] = list(row.asked.values()), True
    return Batch(inputs, targets, scored)


def _end_of_positions(model: Any) -> int | None:
    """How many positions a model has, where they are rows of a learned table; None where they do not end."""
    embeddings = (name for name, module in model.named_modules() if isinstance(module, torch.nn.Embedding))
    learned = any("wpe" in name or "position" in name for name in embeddings)
    return getattr(model.config, "max_position_embeddings", None) if learned else None


@contextlib.contextmanager
def _evaluating(model: torch.nn.Module) -> Iterator[None]:
    """Without dropout; the modules are left as they were."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
