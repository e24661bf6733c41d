"""The automaton of a task that does not name one, learned from its solver, and the decision that rests on it.

The machine is learned from the rows of an observation table, with one suffix for every mistake. Two words are held
apart when some known suffix is answered differently after them. Each mistake of the machine on a word gives, by
halving, a suffix that separates two words which shared a state, so every mistake adds at least one state.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.messages import explain, sentence
from lengthwise.oracle.crasp.automata import Word, explored
from lengthwise.oracle.crasp.decide import Decision, decide
from lengthwise.oracle.crasp.promised import PromisedDecision, decide_absolute
from lengthwise.records import Assumption, Claim, Status
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.task import Task

MOST_LETTERS = 12  # in the prompts
MOST_LABELLED = 128  # letters or states of a task that labels prefixes, where short words say much of the machine
MOST_STATES = 80
MOST_WORDS = 4_000  # up to the length to which all words are checked, unless that length is given
LONG_WORDS = 200  # random words beyond it, half of them repetitions
LONGEST = 300  # letters of those
SECONDS = 5.0
Answer = Callable[[Word], str | None]
explain(
    {
        "crasp.task": "the task is in {language_class}",
        "crasp.guessed": "the task is this automaton of {states} states, checked on all words up to length "
        "{checked_to} and on {sampled} random ones up to {sampled_to}",
        "crasp.taken": "Assumed: {guess}.",
        "crasp.not_everywhere": (
            "The task does not ask about every word of its letters, so a negative answer would prove nothing."
        ),
        "crasp.words_of": "The words with the answer {answer}:",
    }
)


@dataclass(frozen=True)
class Machine:
    """`answers[state]` is what is answered after a word that leads there from state 0."""

    alphabet: tuple[str, ...]
    transitions: tuple[tuple[int, ...], ...]
    answers: tuple[str | None, ...]
    access: tuple[Word, ...]

    def states(self, word: Sequence[str]) -> list[int]:
        """The states after every prefix of a word, the empty one first."""
        found = [0]
        for letter in word:
            found.append(self.transitions[found[-1]][self.alphabet.index(letter)])
        return found


def learn(answer: Answer, alphabet: Sequence[str], tests: Callable[[], Iterable[Word]], most: int) -> Machine | None:
    """The machine that is right on all tests; None when it would have more than `most` states. The work is at most some
    |tests| + most x (letters x most + log of the longest test) answers."""
    suffixes: list[Word] = [()]
    while True:
        machine = _machine(answer, tuple(alphabet), suffixes, most)
        if machine is None:
            return None
        wrong = next((word for word in tests() if machine.answers[machine.states(word)[-1]] != answer(word)), None)
        if wrong is None:
            return machine
        suffixes.append(_separating_suffix(answer, machine, wrong))


def _machine(answer: Answer, alphabet: tuple[str, ...], suffixes: list[Word], most: int) -> Machine | None:
    """The machine whose states are the rows of the table."""

    def row(word: Word) -> tuple[str | None, ...]:
        return tuple(answer((*word, *suffix)) for suffix in suffixes)

    def step(state: tuple[str | None, ...], letter: str) -> tuple[str | None, ...]:
        onward = (*access[state], letter)
        access.setdefault(target := row(onward), onward)
        return target

    access: dict[tuple[str | None, ...], Word] = {row(()): ()}
    states, transitions = explored(row(()), alphabet, step, most)
    if len(states) > most:
        return None
    return Machine(alphabet, transitions, tuple(state[0] for state in states), tuple(access.values()))


def _separating_suffix(answer: Answer, machine: Machine, word: Word) -> Word:
    """A suffix of a wrongly answered word that separates two words of one state: replacing a longer and longer prefix
    by the access word of its state turns the right answer into the machine's, and the suffix begins where it turns."""
    states, truth = machine.states(word), answer(word)
    low, high = 0, len(word)  # right at low, wrong at high
    while high - low > 1:
        middle = (low + high) // 2
        if answer((*machine.access[states[middle]], *word[middle:])) == truth:
            low = middle
        else:
            high = middle
    return word[high:]


@dataclass(frozen=True)
class Guess:
    """A machine that answers like the task on every word that was tried.

    All words up to `checked_to` letters were, and `sampled` random ones of up to `sampled_to`. `everywhere` says
    whether the task really asks every word of its letters; where it does not, the machine is asked more than the task,
    so that only the membership of its languages carries over. The answer is read at the mark after the prompt.
    """

    machine: Machine
    checked_to: int
    sampled: int
    sampled_to: int
    queries: int
    everywhere: bool

    def languages(self) -> dict[str, Dfa]:
        """For every answer, the minimal automaton of the words that are answered so."""
        machine = self.machine
        found = {}
        for answer in sorted({answer for answer in machine.answers if answer is not None}):
            accepting = frozenset(state for state, given in enumerate(machine.answers) if given == answer)
            found[answer] = Dfa(machine.alphabet, machine.transitions, 0, accepting).minimised()
        return found

    def decide(self, positions: bool = False) -> GuessedDecision:
        """A program exists exactly when one exists for every answer; with positions, as far as can be told. No further
        answer is looked at once one has none."""
        judge, name = (decide_absolute, "C-RASP[periodic, local]") if positions else (decide, "C-RASP[]")
        parts: dict[str, Decision | PromisedDecision] = {}
        for answer, dfa in self.languages().items():
            parts[answer] = judge(dfa)
            if parts[answer].member is False:
                break
        return GuessedDecision(self, name, parts)

    def assumption(self) -> Assumption:
        values = {"states": len(self.machine.transitions), "checked_to": self.checked_to}
        return Assumption("crasp.guessed", values={**values, "sampled": self.sampled, "sampled_to": self.sampled_to})


@dataclass(frozen=True)
class GuessedDecision:
    """The decision for each answer of a guessed machine."""

    guess: Guess
    language_class: str
    parts: Mapping[str, Decision | PromisedDecision]

    @property
    def member(self) -> bool | None:
        """None where it is unknown; if the task does not ask every word, a no is unknown too."""
        verdicts = [part.member for part in self.parts.values()]
        if all(verdicts):
            return True
        return False if False in verdicts and self.guess.everywhere else None

    @property
    def deciding(self) -> tuple[str, Decision | PromisedDecision]:
        """The answer that decides and its decision: the first that is no member, else the one with most states."""
        ranked = sorted(self.parts.items(), key=lambda pair: (pair[1].member is not False, pair[1].member is not None))
        return next(
            (pair for pair in ranked if pair[1].member is not True),
            max(self.parts.items(), key=lambda pair: len(pair[1].dfa.transitions)),
        )

    def claim(self) -> Claim:
        """A prediction, not a proof: it rests on the guess."""
        answer, part = self.deciding
        inner = part.claim()
        status: Status = "unknown" if self.member is None else "holds" if self.member else "refuted"
        evidence = {**inner.evidence, "language_class": self.language_class}
        evidence |= {"answer": answer, "queries": self.guess.queries}
        assumptions = (self.guess.assumption(), *inner.assumptions)
        return Claim("crasp.task", self.member, "", "predicted", status, None, assumptions, inner.reference, evidence)

    def explain(self) -> list[str]:
        answer, part = self.deciding
        found = [sentence("crasp.taken", {"guess": self.guess.assumption().statement})]
        if not self.guess.everywhere:
            found.append(sentence("crasp.not_everywhere"))
        return [*found, sentence("crasp.words_of", {"answer": answer}), *part.explain()]


def guess_automaton(
    task: Task, *, longest: int | None = None, seconds: float = SECONDS, labels: bool = False
) -> Guess | None:
    """The machine of a task with one-symbol answers; None when it is no such task, is not total on the words of its
    prompt letters, needs too many states (as a task that is not regular does), or takes too long. With `labels`, that
    of a task that labels every prefix by itself: the answer to a word is its last label."""
    if task.readout != ("tags" if labels else "answer"):
        return None
    letters, everywhere = _letters(task)
    if not letters or len(letters) > (MOST_LABELLED if labels else MOST_LETTERS):
        return None
    if longest is None:
        words = itertools.accumulate(len(letters) ** length for length in range(13))
        longest = max(1, sum(total <= MOST_WORDS for total in words) - 1)
    solver = _Solver(task, time.monotonic() + seconds)
    long_words = list(_long_words(letters, longest))

    def tests() -> Iterator[Word]:
        for length in range(longest + 1):
            yield from itertools.product(letters, repeat=length)
        yield from long_words

    try:
        machine = learn(solver.answer, letters, tests, MOST_LABELLED if labels else MOST_STATES)
    except _NotSuchTask:
        return None
    if machine is None:
        return None
    sampled_to = max(map(len, long_words))
    return Guess(machine, longest, len(long_words), sampled_to, len(solver.known), everywhere)


class _NotSuchTask(Exception):
    """The task is not total, or answers with other than one symbol, or the time is over."""


class _Solver:
    """The answers of a task, each asked for once. The empty prompt may go without an answer."""

    def __init__(self, task: Task, deadline: float) -> None:
        self.task, self.deadline = task, deadline
        self.known: dict[Word, str | None] = {}

    def answer(self, word: Word) -> str | None:
        if word not in self.known:
            if time.monotonic() > self.deadline:
                raise _NotSuchTask
            self.known[word] = self._ask(word)
        return self.known[word]

    def _ask(self, word: Word) -> str | None:
        try:
            given = self.task.solve(word)
            (said,) = given[-1:] if self.task.readout == "tags" else given
        except Exception as error:  # a solver may refuse a prompt by any error of its own, or answer with more symbols
            if word:
                raise _NotSuchTask from error
            return None
        return str(said)


def _letters(task: Task) -> tuple[tuple[str, ...], bool]:
    """The symbols of drawn prompts, and whether every short word of them is drawn."""
    begin = task.axes[0].smallest
    sizes = task.sizes(begin, begin + 24)
    seen: set[Word] = set()
    for size in [*sizes[:4], *sizes[-1:]]:
        rows = np.unique(task.draw(size, seed=0, items=range(1000), role="guess").prompts, axis=0)
        seen |= {task.spelled(row) for row in rows}
    used = {symbol for word in seen for symbol in word}
    letters = tuple(symbol for symbol in task.symbols if symbol in used)
    first = min(map(len, seen), default=0)
    lengths = [n for n in range(first, first + 3) if len(letters) ** n <= 64] or [first]
    return letters, bool(seen) and all(word in seen for n in lengths for word in itertools.product(letters, repeat=n))


def _long_words(letters: tuple[str, ...], longest: int) -> Iterator[Word]:
    """Random words, and short random words repeated with a few letters behind, which reach what random ones miss."""
    generator = np.random.default_rng(0)

    def some(length: int) -> Word:
        return tuple(letters[index] for index in generator.integers(0, len(letters), length))

    for number in range(LONG_WORDS):
        length = int(generator.integers(longest + 1, max(LONGEST, longest + 2)))
        if number % 2:
            yield some(length)
        else:
            base = some(int(generator.integers(1, 4)))
            yield (*(base * length)[:length], *some(int(generator.integers(0, 4))))
