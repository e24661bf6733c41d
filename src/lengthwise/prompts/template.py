"""Where instruction, examples, question and answer stand in a text: the built-in template, or a file of the user's.

    {instruction}

    {examples}
    Question: {input}
    Answer: {answer}

Everything from the line of {input} on is the pattern of one item: it is repeated for each worked example, and ends
before {answer} for the item that is asked. What stands above is written once. A brace that begins no field is doubled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from lengthwise.errors import UsageError
from lengthwise.reading import read_text

FIELDS = ("instruction", "examples", "input", "answer")
_FIELD = re.compile(r"\{\{|\}\}|\{(\w*)\}")
_MOST = 100_000  # characters of a template


@dataclass(frozen=True)
class Template:
    """`head` is written once, `item` for every example and for the question."""

    head: str = "{instruction}\n\n{examples}"
    item: str = "Question: {input}\nAnswer: {answer}\n\n"

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """The template in a file; a usage error says what is wrong with it."""
        text = read_text(path)
        try:
            return cls.parse(text)
        except UsageError as error:
            raise UsageError(f"the template {path}: {error}") from None

    @classmethod
    def parse(cls, text: str) -> Self:
        """The template that a text describes."""
        if len(text) > _MOST:
            raise UsageError(f"a template must have at most {_MOST:,} characters, not {len(text):,}")
        found = [match[1] for match in _FIELD.finditer(text) if match[1] is not None]
        for name in found:
            if name not in FIELDS:
                raise UsageError(
                    f"{{{name}}} is not a field; the fields are {', '.join(f'{{{one}}}' for one in FIELDS)}, "
                    "and a literal brace is doubled"
                )
            if found.count(name) > 1:
                raise UsageError(f"the field {{{name}}} occurs {found.count(name)} times instead of once")
        for name in ("input", "answer"):
            if name not in found:
                raise UsageError(f"the field {{{name}}} is missing")
        if found[-2:] != ["input", "answer"]:
            raise UsageError(f"{{input}} and then {{answer}} must come last, after {{{found[-1]}}}")
        start = text.rfind("\n", 0, text.index("{input}")) + 1
        head, item = text[:start], text[start:]
        if "examples" in found and "{examples}" not in head:
            raise UsageError("{examples} must be on a line above {input}")
        if "instruction" in found and "{instruction}" not in head:
            raise UsageError("{instruction} must be on a line above {input}")
        if not re.search(r"\s", filled(item.partition("{input}")[2].partition("{answer}")[0])):
            raise UsageError(
                "there must be white space between {input} and {answer}; otherwise they cannot be distinguished"
            )
        return cls(head.replace("{examples}\n", "{examples}"), item.rstrip("\n") + "\n\n")

    def once(self, instruction: str, examples: str) -> str:
        """The head. A template without {examples} has them right above the item."""
        text = filled(self.head, instruction=instruction, examples=examples)
        return text if "{examples}" in self.head else text + examples

    def example(self, question: str, answer: str) -> str:
        """One worked example."""
        return filled(self.item, input=question, answer=answer)

    @property
    def before(self) -> str:
        """What stands before a question."""
        return filled(self.item.partition("{input}")[0])

    @property
    def cue(self) -> str:
        """What stands between a question and its answer, without the spaces at its end: a model writes them."""
        return filled(self.item.partition("{input}")[2].partition("{answer}")[0]).rstrip(" \t")


BUILT_IN = Template()


def filled(text: str, **values: str) -> str:
    """The text with its fields filled in, once: a value that holds a field stays as it is."""

    def value(match: re.Match[str]) -> str:
        return match[0][0] if match[1] is None else values[match[1]]

    return _FIELD.sub(value, text)
