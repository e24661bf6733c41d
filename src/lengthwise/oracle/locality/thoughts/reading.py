"""Records with chains of thought, one JSON object per line, as chains of states.

A record holds `messages` (chat turns: each answer of the assistant is a chain that begins with the turn before it),
`prompt` and `completion`, or `states`. Texts of the first two are split into steps by one rule, and every state into
tokens by another; both are stated, and neither is guessed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.progress import Progress, silent
from lengthwise.reading import read_lines
from lengthwise.tasks.batch import SPECIALS
from lengthwise.tasks.formulations.layouts import DROP, KEEP
from lengthwise.tasks.jsonl import object_of

TELL_EVERY = 5_000
KINDS = {"messages": ("messages",), "prompt": ("prompt", "completion"), "states": ("states",)}
EXAMPLE = '{"states": ["1 0 1", "1 1", "0"]}'
# words of a text that would read like labels, or like what stands beyond a state
_RESERVED = {word: f"<{word}>" for word in (KEEP, DROP, *SPECIALS)}
explain({"thoughts.read": "lines read"})

Rule = Callable[[str], list[str]]


@dataclass(frozen=True)
class Chain:
    """The states of one chain and the line of the file it comes from."""

    line: int
    states: tuple[tuple[str, ...], ...]


def splitting(rule: str) -> Rule:
    """How a text becomes steps: at every line, or wherever a regular expression matches."""
    if rule == "lines":
        return lambda text: [part.strip() for part in text.splitlines() if part.strip()]
    pattern = _pattern(rule, "split")

    def parts(text: str) -> list[str]:  # re.split would also give what the groups of the expression match
        cuts = [(0, 0), *(found.span() for found in pattern.finditer(text)), (len(text), len(text))]
        between = (text[end:begin].strip() for (_, end), (begin, _) in itertools.pairwise(cuts))
        return list(filter(None, between))

    return parts


def tokenising(rule: str) -> Rule:
    """How a state becomes tokens: words between white space, characters without it, or what an expression matches."""
    if rule == "words":
        return str.split
    if rule == "characters":
        return lambda text: [sign for sign in text if not sign.isspace()]
    pattern = _pattern(rule, "tokenise")
    return lambda text: [found.group() for found in pattern.finditer(text) if found.group()]


def _pattern(rule: str, what: str) -> re.Pattern[str]:
    try:
        return re.compile(rule)
    except re.error as error:
        raise UsageError(
            f"the rule to {what} must be a word or a regular expression, and {rule!r} is neither: {error}"
        ) from None


def holds_chains(path: str) -> bool:
    """Whether the first line of a file is a record with a chain of thought. What cannot be read is not."""
    try:
        first = next((line for _, line in read_lines(path) if line.strip()), None)
        return first is not None and bool(_kind(object_of(first, EXAMPLE)))
    except UsageError:
        return False


def read_chains(path: str, split: Rule, tokens: Rule, progress: Progress = silent) -> list[Chain]:
    """All chains of a file; what is wrong with a line is one sentence that names it."""
    chains: list[Chain] = []
    kind = ""
    for number, text in read_lines(path):
        if number % TELL_EVERY == 0:
            progress(sentence("thoughts.read"), number, 0)
        if not text.strip():
            continue
        try:
            record = object_of(text, EXAMPLE)
            found = _kind(record)
            if not found:
                raise UsageError(f"a record has messages, prompt and completion, or states, such as {EXAMPLE}")
            kind = kind or found
            if found != kind:
                raise UsageError(f"this record has {found}, and those before it {kind}; one file has one kind")
            chains += [Chain(number, states) for states in _states(record, kind, split, tokens)]
        except UsageError as error:
            raise UsageError(f"{path}, line {number}: {error}") from None
    if not chains:
        raise UsageError(f"{path} contains no chain; each line is a record such as {EXAMPLE}")
    return chains


def _kind(record: dict[str, Any]) -> str:
    found = [kind for kind, keys in KINDS.items() if any(key in record for key in keys)]
    if len(found) > 1:
        raise UsageError(f"a record has {found[0]} or {found[1]}, not both")
    return found[0] if found else ""


def _states(record: dict[str, Any], kind: str, split: Rule, tokens: Rule) -> Iterator[tuple[tuple[str, ...], ...]]:
    if kind == "states":
        given = record["states"]
        if not isinstance(given, list) or not all(isinstance(state, str) for state in given):
            raise UsageError(f"states must be a list of texts, not {str(given)[:40]!r}")
        texts = [given]
    elif kind == "prompt":
        for key in KINDS["prompt"]:
            if not isinstance(record.get(key), str):
                raise UsageError(f"{key} is missing or no text")
        texts = [[record["prompt"], *split(record["completion"])]]
    else:
        texts = _answers(record["messages"], split)
    for chain in texts:
        if len(chain) < 2:
            raise UsageError("a chain has at least two states: a question or state, and a step")
        states = tuple(tuple(_RESERVED.get(token, token) for token in tokens(text)) for text in chain)
        for at, state in enumerate(states, 1):
            if not state:
                raise UsageError(f"state {at} has no token by this rule: {chain[at - 1][:40]!r}")
        yield states


def _answers(messages: Any, split: Rule) -> list[list[str]]:
    """A chain for each answer of the assistant, which begins with the turn before it."""
    if not isinstance(messages, list) or not all(isinstance(turn, dict) for turn in messages):
        raise UsageError("messages is a list of turns with role and content")
    turns = [(turn.get("role"), _content(turn.get("content"))) for turn in messages]
    if not any(role == "assistant" for role, _ in turns):
        raise UsageError("no turn has the role assistant")
    return [
        [*([turns[at - 1][1]] if at else []), *split(text)]
        for at, (role, text) in enumerate(turns)
        if role == "assistant"
    ]


def _content(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(part, dict) for part in value):
        value = "\n".join(str(part.get("text", "")) for part in value if part.get("type", "text") == "text")
    if not isinstance(value, str):
        raise UsageError("the content of a turn is text")
    return value
