"""An automaton together with what positions show: the place modulo a period, and the last few letters."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.tasks.languages.dfa import Dfa

LARGEST = 20_000  # states of a product

State = tuple[int, int, tuple[int, ...]]


@dataclass(frozen=True)
class Product:
    """`states[i]` is (state of the automaton, letters read modulo the period, the last letters as numbers).

    Only what the start reaches is here. With period 1 and no window it is the automaton itself, in its own numbering
    when that is breadth-first, as in a minimised one.
    """

    alphabet: tuple[str, ...]
    states: tuple[State, ...]
    transitions: tuple[tuple[int, ...], ...]

    def label(self, state: int) -> tuple[int, tuple[int, ...]]:
        """What is known without counting: the phase and the window."""
        return self.states[state][1:]

    def name(self, state: int) -> str:
        """The state as a person would write it: `2`, or `2 (place 1, after ab)`."""
        number, phase, window = self.states[state]
        marks = [f"place {phase}"] if any(other[1] for other in self.states) else []
        marks += [f"after {' '.join(self.alphabet[letter] for letter in window)}"] if window else []
        return f"{number} ({', '.join(marks)})" if marks else str(number)


def product(dfa: Dfa, period: int, window: int, most: int = LARGEST) -> Product | None:
    """Breadth-first from the start; None where there are more than `most` states.

    At most states x period x letters^window of them.
    """
    start: State = (dfa.start, 0, ())
    number: dict[State, int] = {start: 0}
    rows = []
    queue: list[State] = [start]
    for state, phase, letters in queue:
        row = []
        for letter, target in enumerate(dfa.transitions[state]):
            onward: State = (target, (phase + 1) % period, (*letters, letter)[-window:] if window else ())
            if onward not in number:
                number[onward] = len(number)
                queue.append(onward)
            row.append(number[onward])
        rows.append(tuple(row))
        if len(number) > most:
            return None
    return Product(dfa.alphabet, tuple(number), tuple(rows))
