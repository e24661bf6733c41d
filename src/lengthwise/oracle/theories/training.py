"""What holds whatever the encoding: the training size that is needed, the depth, and what limit transformers say."""

from __future__ import annotations

from dataclasses import replace

from lengthwise.oracle.depth import depth_claims
from lengthwise.oracle.limit.claims import limit_claims
from lengthwise.oracle.limit.no_bound import dfa_length
from lengthwise.oracle.programs.find import program_for
from lengthwise.oracle.programs.measures import locality, period
from lengthwise.oracle.theories.layout import layout_asked
from lengthwise.oracle.theories.question import Question
from lengthwise.oracle.theories.regular import automaton_of, decided_with_positions
from lengthwise.records import Claim
from lengthwise.tasks.formulations.formulation import Formulation


def training_claims(question: Question) -> list[Claim]:
    """The training size needed and, for reasoning steps, how much of it the planned items show."""
    task = question.task
    if isinstance(task, Formulation):
        layout = layout_asked(question)
        return layout.claims() if layout else []
    dfa = automaton_of(task)
    return [_automaton_claim(len(dfa.transitions))] if dfa is not None else []


def _automaton_claim(states: int) -> Claim:
    """The length by which two automata of this many states must differ, as what training has to show at least."""
    note = f"two automata of {states} states that agree on all words up to this length are equal; below it not all are"
    found = dfa_length(states)
    return replace(found, name="least training length", evidence={**found.evidence, "note": note})


def depth_claims_of(question: Question) -> list[Claim]:
    return depth_claims(question.task)


def limit_claims_of(question: Question) -> list[Claim]:
    """For tasks whose period and locality are known, from the decision or from a program."""
    task, dfa = question.task, automaton_of(question.task)
    if dfa is not None:
        decision = decided_with_positions(task)
        found = decision.found if decision else None
        if found is None:
            return []
        needs = (found.period, found.locality)
    else:
        program = program_for(task, "absolute")
        if program is None:
            return []
        needs = (period(program), locality(program).total)
    return limit_claims(*needs, len(task.symbols), question.train_size, question.test_size)
