"""Regular languages, tagged or decided, by a program made from the decision about their automaton."""

from __future__ import annotations

from collections.abc import Iterator

from lengthwise.oracle.crasp.absolute import decide_absolute
from lengthwise.oracle.crasp.decide import Decision
from lengthwise.oracle.crasp.promise import Promise, everything, prefixes
from lengthwise.oracle.crasp.promised import decide_promised
from lengthwise.oracle.programs.library.automata import States, read_states, readable_parts
from lengthwise.oracle.programs.measures import EncodingClass
from lengthwise.oracle.programs.prompts import BOS, EOS, SEP
from lengthwise.oracle.programs.syntax import Boolean, Draft, Letter, Program, all_of, any_of, letters
from lengthwise.tasks.languages.dfa import Dfa

_LARGEST = 150  # states of a product: a larger one makes a program nobody wants to read or run


def tags_program(dfa: Dfa, end: str, encoding_class: EncodingClass) -> Program | None:
    """Which letters may come next, and whether the word may end. Only prefixes of words are ever asked about, so that
    states which need no different answers there may be one in the automaton that the program follows."""
    promise = prefixes(dfa)
    decision = _found(promise, encoding_class, dead=False)
    if decision is None:
        return None
    draft = Draft()
    states = read_states(draft, decision, dead=False)
    for place, letter in enumerate((*promise.dfa.alphabet, end)):
        ways: list[Boolean] = [Letter(BOS)] if _allows(promise.dfa, promise.dfa.start, place) else []
        draft.output(letter, any_of([*ways, *_after(promise, decision, states, place)]))
    return draft.program()


def _after(promise: Promise, decision: Decision, states: States, place: int) -> Iterator[Boolean]:
    """The states before a letter, each with the letter, behind which the symbol of this place may come."""
    dfa, wanted = promise.dfa, {}
    seen = {(dfa.start, decision.dfa.start)}
    for state, follower in (queue := list(seen)):  # both automata on all prefixes, side by side
        for letter, (to,) in promise.moves(state):
            if _allows(dfa, to, place):
                wanted.setdefault(letter, {})[follower] = None
            target = (to, decision.dfa.transitions[follower][letter])
            if target not in seen:
                seen.add(target)
                queue.append(target)
    for letter, followers in sorted(wanted.items()):
        yield all_of([Letter(dfa.alphabet[letter]), any_of(states.before[follower] for follower in followers)])


def _allows(dfa: Dfa, state: int, place: int) -> bool:
    """Whether the letter of this place may come next in a state; behind the letters, whether the word may end."""
    return state in dfa.accepting if place == len(dfa.alphabet) else dfa.transitions[state][place] in dfa.live


def member_program(dfa: Dfa, answers: tuple[str, str], encoding_class: EncodingClass) -> Program | None:
    """Whether the word before `<sep>` belongs to the language, for words of every length."""
    decision = _found(everything(dfa), encoding_class, dead=True)
    if decision is None:
        return None
    draft = Draft()
    states = read_states(draft, decision, dead=True)
    for answer, wanted in zip(answers, (True, False), strict=True):
        here = (before for state, before in states.before.items() if (state in decision.dfa.accepting) == wanted)
        draft.output(answer, all_of([Letter(SEP), any_of(here)]))
    draft.output(EOS, letters(answers))
    return draft.program()


def _found(promise: Promise, encoding_class: EncodingClass, dead: bool) -> Decision | None:
    """The decision that counting is enough, if it is and if its program is not too large."""
    if len(promise.dfa.transitions) > _LARGEST + 1:  # with a dead state that may be left out
        return None
    decision = decide_absolute(promise).found if encoding_class == "absolute" else decide_promised(promise).found
    if decision is None:
        return None
    size = sum(len(part.component.states) for part in readable_parts(decision, dead))
    return decision if size <= _LARGEST else None
