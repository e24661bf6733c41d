"""A language model that answers as it is told, without a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lengthwise.prompts.prompt import Prompt
from lengthwise.subjects.completion import Completion
from lengthwise.subjects.subject import Subject

Reply = Callable[[str], Completion | str]


class FakeCompletions:
    """Replies to questions; counts a token per word. `asked` are the questions it was really asked."""

    def __init__(self, reply: Reply, context: int | None = None, templated: bool = True, counts: bool = True) -> None:
        self.reply, self.context, self.templated, self.counts = reply, context, templated, counts
        self.asked: list[str] = []
        self.calls: list[dict[str, Any]] = []

    def count(self, prompt: Prompt, chat: bool) -> int | None:
        return len(prompt.text().split()) if self.counts else None

    def complete(
        self, prompts: Sequence[Prompt], *, chat, budget, reasoning=0, stop=(), progress=None
    ) -> Iterator[tuple[int, Completion]]:
        self.calls.append({"chat": chat, "budget": budget, "reasoning": reasoning, "stop": tuple(stop)})
        for place, prompt in reversed(list(enumerate(prompts))):  # in whatever order
            tokens = self.count(prompt, chat)
            if self.context is not None and tokens is not None and tokens + budget > self.context:
                yield place, Completion("", "overlong", tokens, 0)
                continue
            self.asked.append(prompt.question)
            found = self.reply(prompt.question)
            yield place, found if isinstance(found, Completion) else Completion(found, "stop", tokens, 3)


class FakeSubject(Subject):
    """A subject that offers completions and nothing else."""

    def __init__(self, completions: FakeCompletions, name: str = "parrot") -> None:
        self.name, self.completions = name, completions

    def capabilities(self) -> Mapping[str, Callable[[], Any]]:
        return {"completions": lambda: self.completions}


def sorts(question: str) -> str:
    """The right answer to `sort`."""
    return " ".join(sorted(question.split(), key=int))


def build() -> FakeSubject:
    """For the command line, `fake_completions.py::build`."""
    return FakeSubject(FakeCompletions(sorts))
