"""Layouts of reasoning steps: whether a bounded number of windows settles every step, and whether training shows them.

The theory is sufficient and not necessary: a layout that windows do not settle can still be learned by other means, as
majority and sorting are. It therefore speaks after the theories of C-RASP where these decide.
"""

from __future__ import annotations

from lengthwise.oracle.opinion import Opinion
from lengthwise.oracle.programs.find import program_for
from lengthwise.oracle.theories.layout import Layout, layout_of
from lengthwise.oracle.theories.order import Clash, bag_clash, mirror_clash
from lengthwise.oracle.theories.question import Asked, Question
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.formulations.appending import Appending
from lengthwise.tasks.formulations.formulation import Formulation

THEORY = "locality of steps"
_FEW = 5  # symbols of a task that is no layout of steps; with more, windows seldom come twice
XIAO = Reference("xiao2024", "Theorems 3.3 to 3.7, which are sufficient and not necessary")
READS = Assumption(
    "the model settles a step from windows, as sliding-window attention does, and can tell offsets in them"
)
ONLY = Assumption("the model has no other way to settle a step (counting is one, and this theory does not see it)")
MOVES = (
    "lay the steps out in aligned columns, so that what a step reads stands together",
    "give each pointer its own mark",
)


def opinions(question: Question) -> list[Opinion]:
    """What windows say about a formulation, or about any written answer taken as a decoder's steps."""
    task = question.task
    if not isinstance(task, Formulation) and (task.readout != "answer" or len(task.symbols) > _FEW):
        return []
    layout = layout_of(task, question.train_size, question.test_size, question.items, question.seed, question.quick)
    if layout is None:
        return []
    if isinstance(task, Formulation) and not isinstance(task, Appending):
        if question.family == "none" and (clash := bag_clash(layout.steps, layout.sizes)):
            sees = "Without an encoding and a causal mask a model sees a bag of columns"
            return [_order_blind(question, clash, sees)]
        n, r = layout.locality.window or (0, 0)
        one_sided = n == 1 and _one_sided(question.encoding)
        if one_sided and (clash := mirror_clash(layout.steps, layout.sizes, r)):
            sees = f"Without a causal mask {question.encoding} tells how far a column is and not on which side"
            return [_order_blind(question, clash, sees)]
    opinion = judge(question, layout)
    if isinstance(task, Formulation):
        return [opinion]
    # A task that counting solves shows that windows are not the only way, whatever the encoding.
    beside = question.family == "other" and program_for(task, "absolute") is not None
    return [] if beside or opinion.outlook == "unknown" else [opinion]


def judge(question: Asked, layout: Layout) -> Opinion:
    """The outlook that follows from the windows of a layout and from what training shows of them."""
    found = layout.locality
    details = tuple(found.explain() + layout.explain())
    if found.verdict == "REFUTED":
        widest = [one for one in found.by_width if one.witness][-1]
        why = " ".join(widest.explain())
        return question.opinion(
            THEORY,
            "will fail",
            why,
            widest.claim(),
            assumptions=(ONLY,),
            reference=XIAO,
            details=details,
            changes=MOVES,
        )
    if found.window is None:
        why = found.by_width[-1].explain()[0] if found.by_width else "no step was found"
        return question.opinion(THEORY, "unknown", why, found.claim(), reference=XIAO, details=details, changes=MOVES)
    n, r = found.window
    windows = "One window" if n == 1 else f"{n} windows"
    how = {"PROVED": "for every size, by its bimachine", "CONSISTENT": f"in {found.best.scope}" if found.best else ""}
    why = f"{windows} of {r} columns settle{'s' if n == 1 else ''} every step, {how[str(found.verdict)]}."
    return _by_coverage(question, layout, why, details)


def _by_coverage(question: Asked, layout: Layout, why: str, details: tuple[str, ...]) -> Opinion:
    """With the windows settled, what decides is whether training shows all of them."""
    grounds = layout.locality.claim()
    needed = layout.training_size
    if needed is None:
        why += " It is not known from which size on training shows all of them."
        return question.opinion(THEORY, "unknown", why, grounds, reference=XIAO, details=details)
    if needed > question.train_size:
        why += f" But the last of them shows only at size {needed}."
        changes = (f"train to size {needed} at least",)
        return question.opinion(
            THEORY, "will fail", why, grounds, assumptions=(READS,), reference=XIAO, details=details, changes=changes
        )
    if layout.seen is not None and layout.seen.unseen:
        missed = len(layout.seen.unseen)
        total = len(layout.seen.coverage.entries)
        share = layout.failing.failing[-1][1] if layout.failing else None
        predicted = (
            "" if share is None else f", and {share:.0%} of the items at size {question.test_size} need one of them"
        )
        why += f" Training shows {total - missed} of {total}{predicted}: {layout.seen.unseen[0]}."
        outlook = "will fail" if share is None or share > 0.3 else "will hold"
        changes = (f"draw more training items: {missed} windows are not among {layout.seen.states:,} states",)
        return question.opinion(
            THEORY, outlook, why, grounds, assumptions=(READS,), reference=XIAO, details=details, changes=changes
        )
    why += f" Training to size {needed} shows them all."
    return question.opinion(THEORY, "will hold", why, grounds, assumptions=(READS,), reference=XIAO, details=details)


def _one_sided(encoding: str) -> bool:
    """Whether an encoding adds the same at a distance to the left and to the right."""
    return encoding.split("+")[0].split(":")[0] in ("alibi", "kerple")


def _order_blind(question: Asked, clash: Clash, sees: str) -> Opinion:
    why = (
        f"{sees}; `{clash.one}` needs {clash.label!r} at the place in brackets and `{clash.other}`, which then looks "
        f"the same, {clash.other_label!r}."
    )
    grounds = Claim(
        name="the step depends on what the encoding does not tell",
        value=True,
        unit="",
        kind="proved",
        assumptions=(Assumption("the model has no causal mask, as the task's preset says"),),
        evidence=vars(clash),
    )
    changes = ("take an encoding that tells offsets with their side, as t5, rope or learned+offset",)
    return question.opinion(THEORY, "will fail", why, grounds, reference=XIAO, changes=changes)
