"""The capability `completions`: the text with which a language model continues a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from lengthwise.progress import Progress, silent
from lengthwise.prompts.prompt import Prompt

Ending = Literal["stop", "length", "refused", "overlong", "failed"]
_THINK, _THOUGHT = "<think>", "</think>"


@dataclass(frozen=True)
class Completion:
    """What came back for one prompt.

    `ending` is how it ended: "stop" by itself or at a stop string, "length" cut off at the budget, "refused" by the
    model or its server, "overlong" never asked because prompt and budget do not fit into the context, "failed" when the
    server gave no usable answer in all tries. `tokens` includes those of the reasoning, which is not part of `text`.
    `said` is what a server said about a prompt that it did not answer.
    """

    text: str
    ending: Ending
    prompt_tokens: int | None
    tokens: int | None
    reasoning: str = ""
    said: str = ""
    seconds: float = 0.0


class Completions(Protocol):
    """Anything that continues prompts. `context` is how many tokens fit, prompt and answer together (None: not known);
    `templated` is whether there is a chat template."""

    context: int | None
    templated: bool

    def count(self, prompt: Prompt, chat: bool) -> int | None:
        """A prompt's tokens, by the subject's own tokenizer; None where only the server knows."""
        ...

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
        """Greedy answers in whatever order they are finished, each given at once with the place of its prompt.

        An answer has at most `budget` tokens, and `reasoning` more to think before it; it ends before the first of the
        stop strings, which do not count inside reasoning.
        """
        ...


def without_reasoning(text: str, opened: bool = False) -> tuple[str, str]:
    """An answer without the reasoning that precedes it, and that reasoning. `opened` says that the prompt ends inside
    it, as some chat templates do."""
    thought, closed, answer = text.rpartition(_THOUGHT)
    if closed:
        return answer.lstrip(), thought.replace(_THINK, "").strip()
    if opened or text.lstrip().startswith(_THINK):
        return "", text.replace(_THINK, "").strip()
    return text, ""


def opens_reasoning(prompt: str) -> bool:
    """Whether a rendered prompt ends where reasoning begins."""
    return prompt.rstrip().endswith(_THINK)


def stopped(text: str, stop: Sequence[str]) -> tuple[str, bool]:
    """A text up to the first stop string in it, and whether there is one."""
    found = [place for one in stop if (place := text.find(one)) >= 0]
    return (text[: min(found)], True) if found else (text, False)
