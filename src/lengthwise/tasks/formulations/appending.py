"""States that grow: a step appends one token after `=`, as a decoder does."""

from __future__ import annotations

import abc
from collections.abc import Sequence

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks.batch import EOS, SPECIALS, Samples
from lengthwise.tasks.formulations.formulation import Formulation, Labels, Sources, State

EQUALS = "="
END = SPECIALS[EOS]


class Appending(Formulation):
    """A formulation of one line for a decoder: the state is what was written so far, the label the next token.

    As a task the tokens before `=` are the prompt and those after it the answer; the `=` of the state is the `<sep>` of
    the layout, and the last step appends `<eos>`, which a decoder has to find too. Only the last position is asked for
    something, and as the step is taken there it counts as a source.
    """

    @abc.abstractmethod
    def lay(self, rows: Ints) -> Samples:
        """Instances (rows of numbers) as prompts and whole answers."""

    @abc.abstractmethod
    def following(self, given: Sequence[str], written: Sequence[str]) -> tuple[str, tuple[int, ...]] | None:
        """The token after those `written` so far, and the positions in `given` it depends on; None when all is written.

        Beyond these it may depend on the last token written and on how many were written.
        """

    def sample(self, size: int, draws: Draws) -> Samples:
        return self.lay(self.some(size, draws))

    def start(self, size: int, row: Sequence[int] | Ints) -> State:  # noqa: ARG002
        prompt = self.lay(np.array([row], dtype=np.int64)).prompts[0]
        return tuple((token,) for token in (*self.spelled(prompt), EQUALS))

    def step(self, state: State) -> State | None:
        found = self._following(state)
        return None if found is None else (*state, (found[0],))

    def labels(self, state: State) -> Labels:
        found = self._following(state)
        return (*(None for _ in state[1:]), None if found is None else found[0])

    def apply(self, state: State, labels: Labels) -> State:
        return state if labels[-1] is None else (*state, (labels[-1],))

    def sources(self, state: State) -> Sources:
        found, last = self._following(state), len(state) - 1
        carried = tuple((place,) for place in range(len(state)))
        return carried if found is None else (*carried, tuple(sorted({*found[1], last})))

    def answer(self, state: State) -> tuple[str, ...]:
        return tuple(token for (token,) in state[state.index((EQUALS,)) + 1 :] if token != END)

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        *_, final = self.chain((*self.read(prompt), (EQUALS,)))
        return self.answer(final)

    def _following(self, state: State) -> tuple[str, tuple[int, ...]] | None:
        tokens = [token for (token,) in state]
        if EQUALS not in tokens:
            raise UsageError(f"a state holds {EQUALS!r}, and {' '.join(tokens)!r} does not")
        if tokens[-1] == END:
            return None
        equals = tokens.index(EQUALS)
        return self.following(tokens[:equals], tokens[equals + 1 :]) or (END, (equals,))
