"""Real-valued tasks: a limit transformer that computes the target, exactly or within its tolerance, is a reason to
hold.

C-RASP names symbols and says nothing about numbers. The witnesses here are limit transformers themselves; what they
compute at every length is proved (docs/explanation/limit.md, statement 13), and they are compared with the task's own
solver.
"""

from __future__ import annotations

import functools

from lengthwise.messages import explain, sentence
from lengthwise.oracle.limit.witnesses import Witness, WitnessTrial, verify_witness, witness_for
from lengthwise.oracle.opinion import EXPRESSED, HUANG, Advice, Opinion, Question, decoder_theory
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.task import Task

THEORY = decoder_theory("limit", "a limit transformer")
STATEMENT = Reference("docs/explanation/limit.md", "statement 13")
explain(
    {
        "limit.solves": "largest error of a limit transformer, at every length",
        "limit.witness_exact": "A limit transformer of {layers} computes the target exactly at every length{needs} "
        "(proved, docs/explanation/limit.md, statement 13).",
        "limit.witness_near": "A limit transformer of {layers}, whose MLP has {units} units, is within {error:.2g} of "
        "the target at every length{needs} (proved, docs/explanation/limit.md, statement 13); {tolerance:g} counts as "
        "right.",
        "limit.witness_checked": "It agrees with the task's solver on all {prompts} prompts of up to {checked_to} "
        "symbols and on {sampled} drawn ones of up to {sampled_to}.",
        "limit.witness_one": "one layer",
        "limit.witness_two": "two layers",
        "limit.needs_period": ", with positions of period {period}",
        "limit.needs_locality": ", with local terms up to {locality} back",
        "limit.witness_wrong": "The limit transformer for this task is wrong: off by {difference:.3g} on `{word}`.",
        "limit.needs_positions": "A limit transformer with positions computes this task, and none without is known; "
        "that none exists is not shown.",
        "limit.real_numbers": "numbers are real and attention is hard, as in the limit of long inputs; a network with "
        "norms, softmax and floating point can only approach it",
        "limit.compared": "the witness was compared with the task's solver on short and on drawn prompts",
        "advice.limit": "a limit transformer solves the task with it",
    }
)


def opinions(question: Question) -> list[Opinion]:
    """Can hold, if there is a witness and it is right; that there is none here says nothing."""
    witness = witness_for(question.task) if question.family in THEORY.families else None
    if witness is None:
        return []
    if witness.positions and question.family == "none":
        offsets = Advice("encoding", "advice.limit", ("learned+offset",))
        why = sentence("limit.needs_positions")
        return [question.opinion(THEORY, "unknown", why, reference=STATEMENT, changes=(offsets,))]
    tried = _tried(question.task)
    if tried.wrong is not None:
        wrong = {"word": " ".join(tried.wrong), "difference": tried.difference}
        return [question.opinion(THEORY, "unknown", sentence("limit.witness_wrong", wrong), reference=STATEMENT)]
    rests = (EXPRESSED, Assumption("limit.real_numbers"))
    why = " ".join(_words(witness, tried, question.task))
    return [question.opinion(THEORY, "can hold", why, _claim(witness, tried), assumptions=rests, reference=HUANG)]


@functools.lru_cache(maxsize=64)
def _tried(task: Task) -> WitnessTrial:
    witness = witness_for(task)
    assert witness is not None
    return verify_witness(witness, task)


def _words(witness: Witness, tried: WitnessTrial, task: Task) -> list[str]:
    needs = [sentence("limit.needs_period", vars(witness))] if witness.period > 1 else []
    needs += [sentence("limit.needs_locality", vars(witness))] if witness.locality else []
    layers = sentence("limit.witness_one" if witness.layers == 1 else "limit.witness_two")
    values = {**vars(witness), "layers": layers, "needs": "".join(needs), "tolerance": task.tolerance}
    key = "limit.witness_near" if witness.error else "limit.witness_exact"
    return [sentence(key, values), sentence("limit.witness_checked", vars(tried))]


def _claim(witness: Witness, tried: WitnessTrial) -> Claim:
    given = (Assumption("limit.compared", "checked"),)
    evidence = {name: getattr(witness, name) for name in ("layers", "period", "locality", "units", "positions")}
    evidence |= {name: value for name, value in vars(tried).items() if name != "wrong"}
    return Claim("limit.solves", witness.error, "", "proved", "holds", None, given, STATEMENT, evidence)
