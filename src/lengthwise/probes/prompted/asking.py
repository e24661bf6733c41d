"""From a subject and a task to marked answers: which prompts, how many tokens for an answer, and what each one is."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lengthwise.errors import Interrupted, UsageError
from lengthwise.hardware import current
from lengthwise.probes.probe import Context
from lengthwise.probes.prompted.store import ItemStore, folder_of
from lengthwise.prompts.parsing import is_right
from lengthwise.prompts.prompt import Prompt
from lengthwise.prompts.rendering import Rendering, make_rendering, prompts_of, renderings
from lengthwise.prompts.said import sayable
from lengthwise.subjects.completion import Completion, Completions
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task

if TYPE_CHECKING:
    from lengthwise.probes.prompted import PromptedProbe
    from lengthwise.subjects.subject import Subject

ITEMS = 100  # per size, unless the user says how many
OUTCOMES = ("right", "wrong", "unread", "cut", "empty", "refused", "overlong", "failed")
_BY_ENDING = {"length": "cut", "refused": "refused", "overlong": "overlong", "failed": "failed"}
_SAMPLE = 32  # items from which the budget of a size is taken
_ROOM, _SPARE = 1.5, 24  # a budget is this many times the longest right answer, and some tokens more
_BYTES = 3.0  # of a token, where nobody can count them


@dataclass(frozen=True)
class MarkedAnswer:
    """One item after marking. `outcome` is one of `OUTCOMES`: right, wrong or unread (nothing in it is an answer) for
    an answer, by the lenient reading; otherwise why there is none. `strict` is whether it is right as it is written."""

    size: int
    item: int
    outcome: str
    strict: bool
    tokens: int | None
    depth: float | None = None


@dataclass
class Asked:
    """All answers to one task, and how they were asked for."""

    task: Task
    chat: bool
    shots: int
    items: int
    seed: int
    budgets: dict[int, int] = field(default_factory=dict)
    answers: list[MarkedAnswer] = field(default_factory=list)
    folder: str = ""
    said: Counter[str] = field(default_factory=Counter)  # what a server said of prompts that it did not answer


def check_askable(task: Task | None, sizes: Iterable[int], subject: str) -> Task:
    """The task, if it can be put in words and has items of these sizes; else a usage error."""
    if task is None:
        raise UsageError(f"say which task to ask {subject}")
    sayable(task)
    if not (wanted := sorted(set(sizes))):
        raise UsageError(f"the task {name_of(task)} has no items in the range of sizes asked for")
    for size in wanted:
        try:
            task.part("test").draw(size, 0, [0], role="test")  # where there are no items, it says which sizes there are
        except UsageError as error:
            raise UsageError(f"{name_of(task)}: {error}") from None
    return task


class Questions:
    """The prompts of one task as a subject is asked them, and the budget of each size."""

    def __init__(self, probe: PromptedProbe, subject: Subject, context: Context) -> None:
        self.task = check_askable(context.task, context.sizes, subject.name)
        self.completions: Completions = subject.capability("completions")
        self.rendering: Rendering = make_rendering(probe.rendering)
        self.probe, self.subject, self.seed = probe, subject, context.seed
        self.sizes, self.items = sorted(set(context.sizes)), ITEMS if context.items is None else context.items
        if self.items < 1:
            raise UsageError(f"items per size must be at least 1, not {self.items}")
        if probe.chat == "chat" and not self.completions.templated:
            raise UsageError(f"{subject.name} has no chat template; ask without one")
        self.chat = self.completions.templated if probe.chat == "auto" else probe.chat == "chat"

    @property
    def stop(self) -> tuple[str, ...]:
        """Where the next question would begin, if the model does not stop by itself and continues with one."""
        before = self.rendering.template.before.strip()
        return (f"\n{before}",) if before else ("\n\n",)

    def request(self) -> dict[str, Any]:
        """What decides the answers, as plain data."""
        files, template = dict(self.subject.files()), self.rendering.template
        return {
            "subject": self.subject.name,
            "task": name_of(self.task),
            "files": files or [list(fact) for fact in self.subject.facts],
            "seed": self.seed,
            "chat": self.chat,
            "context": self.completions.context,
            **{name: getattr(self.probe, name) for name in ("shots", "budget", "reasoning")},
            "rendering": renderings.spec_of(self.rendering).get("name", type(self.rendering).__name__),
            "template": [template.head, template.item],
            **({} if current().precision == "float32" else {"precision": current().precision}),
        }

    def store(self) -> ItemStore:
        """Where the answers are kept."""
        request = self.request()
        return ItemStore(folder_of(self.probe.folder, request) if self.probe.folder else None, request)

    def of_size(self, size: int, items: Sequence[int]) -> list[tuple[Prompt, tuple[str, ...]]]:
        return prompts_of(self.task, size, items, self.seed, self.rendering, self.probe.shots)

    def budget(self, size: int) -> int:
        """Tokens for an answer: those of the settings, or what the longest of some right answers takes and half as much
        again. It does not depend on which items are asked."""
        return self.probe.budget or math.ceil(_ROOM * self.longest_answer(size)) + _SPARE

    def longest_answer(self, size: int) -> int:
        """The tokens of the longest of the first right answers; their bytes where the subject cannot count."""
        written = (self.rendering.answer(self.task, right) for _, right in self.of_size(size, range(_SAMPLE)))
        empty = self._count("")
        return max(len(text.encode()) if empty is None else (self._count(text) or 0) - empty for text in written)

    def _count(self, text: str) -> int | None:
        return self.completions.count(Prompt("", (), text), False)

    def tokens(self, prompt: Prompt) -> tuple[int, int, bool]:
        """A prompt's tokens, those that it does not share with others, and whether they were counted; they are
        estimated where only a server could count them."""
        whole = self.completions.count(prompt, self.chat)
        if whole is not None:
            shared = self.completions.count(dataclasses.replace(prompt, question=""), self.chat) or 0
            return whole, whole - shared, True
        lengths = (len(text.encode()) / _BYTES for text in (prompt.text(), prompt.question))
        whole, own = (math.ceil(length) for length in lengths)
        return whole, own, False

    def shown(self, prompt: Prompt) -> object:
        """A prompt as it is kept: the messages of a chat, or a text."""
        return prompt.messages() if self.chat else prompt.text()

    def depth(self, size: int, items: Sequence[int]) -> list[float | None]:
        """Where in each text the answer stands, for a task that knows."""
        task: Any = self.task
        if not callable(getattr(task, "depth", None)):
            return [None] * len(items)
        drawn = self.task.part("test").draw(size, self.seed, items, role="test")
        return [task.depth(task.spelled(row)) for row in drawn.prompts]

    def mark(self, completion: Completion, right: Sequence[str]) -> tuple[str, bool]:
        """The outcome of one item, and whether it is right as it is written."""
        if completion.ending in _BY_ENDING:
            return _BY_ENDING[completion.ending], False
        if not completion.text.strip():
            return "empty", False
        readers = (self.rendering.strict, self.rendering.lenient)
        strict, lenient = (reader(self.task, completion.text) for reader in readers)
        exactly = is_right(self.task, strict, right)
        if exactly or is_right(self.task, lenient, right):
            return "right", exactly
        return ("unread" if lenient is None and strict is None else "wrong"), False


def ask_items(probe: PromptedProbe, subject: Subject, context: Context) -> Asked:
    """Ask a subject all items of the context, apart from those whose answers are kept in the folder of the probe."""
    questions = Questions(probe, subject, context)
    store = questions.store()
    found = Asked(questions.task, questions.chat, probe.shots, questions.items, questions.seed)
    found.folder = str(store.folder or "")
    try:
        for size in questions.sizes:
            _ask_size(questions, size, store, found, context)
    except KeyboardInterrupt:
        if store.folder is None:
            raise
        done = f"{len(found.answers):,} of {len(questions.sizes) * questions.items:,} answers"
        raise Interrupted(f"stopped; {done} are kept in {store.folder}, run the same command again to resume") from None
    found.answers.sort(key=lambda answer: (answer.size, answer.item))
    return found


def _ask_size(questions: Questions, size: int, store: ItemStore, found: Asked, context: Context) -> None:
    numbers = range(questions.items)
    asked, depths = questions.of_size(size, numbers), questions.depth(size, numbers)
    budget = found.budgets[size] = questions.budget(size)
    total = len(questions.sizes) * questions.items

    def take(item: int, completion: Completion, new: bool) -> None:
        prompt, right = asked[item]
        outcome, strict = questions.mark(completion, right)
        if new:
            marks = {"right": list(right), "outcome": outcome, "strict": strict, "depth": depths[item]}
            line = {"size": size, "item": item, "budget": budget, "prompt": questions.shown(prompt), **marks}
            store.add({**line, **dataclasses.asdict(completion)})
        found.answers.append(MarkedAnswer(size, item, outcome, strict, completion.prompt_tokens, depths[item]))
        if completion.said and outcome in ("refused", "overlong", "failed"):
            found.said[completion.said] += 1
        context.progress(f"{name_of(questions.task)}, size {size}", len(found.answers), total)

    missing = []
    for item in numbers:
        kept = store.find(size, item, questions.shown(asked[item][0]), budget)
        if kept is None:
            missing.append(item)
        else:
            take(item, kept, new=False)
    if not missing:
        return
    for place, completion in questions.completions.complete(
        [asked[item][0] for item in missing],
        chat=questions.chat,
        budget=budget,
        reasoning=questions.probe.reasoning,
        stop=questions.stop,
    ):
        take(missing[place], completion, new=True)
