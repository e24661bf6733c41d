"""How a task is said in words, to a person or to a language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Words:
    """What a task says of itself; whatever is left out is made from the task.

    `instruction` says what to do; a setting of the task in backticks stands for its value. Without one, the first line
    of the docstring serves. `form` says what an answer looks like. `joint` stands between the symbols of an answer.
    `names` has the words for symbols that are not their own. `told` turns a prompt into a question; without it, symbols
    are written with spaces between them. `refusal` is the sentence that says why the task cannot be put in words.
    """

    instruction: str = ""
    form: str = ""
    joint: str = " "
    names: Mapping[str, str] = field(default_factory=dict, hash=False)
    told: Callable[[Sequence[str]], str] | None = None
    refusal: str = ""
