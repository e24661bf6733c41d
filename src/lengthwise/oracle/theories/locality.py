"""Layouts of reasoning steps: whether a bounded number of windows settles every step, and whether training shows them.

The theory says that a model *can* hold where windows settle every step. Where they do not, it binds only models whose
attention is limited to windows: attention to everything has other ways, as majority and sorting show.
"""

from __future__ import annotations

from dataclasses import replace

from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.layout import Layout, layout_asked
from lengthwise.oracle.locality.trained import outcomes
from lengthwise.oracle.opinion import Advice, Case, Opinion, Question, columns_seen, theory
from lengthwise.oracle.theories.sight import XIAO, obstruction
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.sizes import name_of

THEORY = theory(
    "locality",
    "locality of steps",
    "models that settle a step from windows, as sliding-window attention does, with any encoding but a learned table "
    "some rows of which were never trained",
    "none",
    "absolute",
    "other",
)
_LACKING = 0.3  # of the items at the size of use; above it too much of what they need was not shown
MOVES = (Advice("layout", "advice.columns"), Advice("marks", "advice.marks"))
explain(
    {
        "locality.reads": "the model settles a step from windows, as sliding-window attention does, and sees offsets "
        "inside them",
        "locality.gathers": "the model finds windows anywhere in a state by their content, and reads several together",
        "locality.alphabet_ends": "the alphabet is bounded",
        "locality.tokens_continue": "new tokens keep appearing at larger sizes",
        "locality.why_one": "One window of {r} columns settles every step",
        "locality.why_several": "{n} windows of {r} columns settle every step",
        "locality.why_proved": "{windows}, at every size, by its bimachine.",
        "locality.why_examined": "{windows} in {scope}. Larger sizes were not examined.",
        "locality.why_sample": "A sample is too small to judge several windows by: their clashes are rare.",
        "locality.why_finds": "A model can hold that finds these windows wherever they are.",
        "locality.why_none": "No number of windows of {r} columns settles every step: {witness} This binds models "
        "whose attention is limited to windows; nothing follows for attention to everything.",
        "locality.why_no_step": "No step was found.",
        "locality.why_later": "But the last of them appears only at size {needed}.",
        "locality.why_not_all": "But the training items do not show all of them.",
        "locality.why_still_new": "But new windows still appeared at the last size that was examined.",
        "locality.why_but": "But {lacking}",
        "locality.why_attention": "Attention must be limited to such windows (`--attention window:size={reach}`).",
        "locality.why_missing": "Of {entries} windows that were found the planned items show {seen}; one they lack is "
        "{example}.",
        "locality.why_shown": "Training to size {size} shows them all.",
        "locality.why_items_show": "The training items show them all.",
        "locality.why_lacking": "{share:.0%} of {instances} instances of size {size} have a step that the planned "
        "items lack.",
        "locality.not_shown": "Whether a model is right on what it was not shown is not known.",
        "advice.columns": "lay the steps out in aligned columns, so that what a step reads stands together",
        "advice.marks": "give each pointer its own mark",
        "advice.digits": "write numbers digit by digit",
        "advice.longer": "train to size {size} at least",
        "advice.larger": "train to a larger size",
        "advice.items": "draw more training items",
        "advice.items_or_larger": "draw more training items, or train to a larger size",
    }
)


def opinions(question: Question) -> list[Opinion]:
    """What windows say about a formulation; and about any written answer, taken as a decoder's steps, where the preset
    of the task limits attention to windows."""
    task = question.task
    if question.family not in THEORY.families:
        return []
    columns = None if question.decoder else columns_seen(task, question.encoding)
    if not isinstance(task, Formulation) and (task.readout != "answer" or columns is None):
        return []
    layout = layout_asked(question)
    if layout is None:
        return []
    if (blind := obstruction(question, layout, columns)) is not None:
        return [_measured(question, blind)]
    return [_measured(question, judge(question, layout))] if isinstance(task, Formulation) else []


def judge(question: Case, layout: Layout) -> Opinion:
    """The outlook that follows from the windows of a layout and from what training shows of them."""
    found = layout.locality
    details = tuple(found.explain() + layout.explain())
    if found.window is None:
        return _unsettled(question, layout, details)
    n, r = found.window
    windows = sentence("locality.why_one" if n == 1 else "locality.why_several", {"n": n, "r": r})
    if found.best is None or found.verdict == "PROVED":
        why = sentence("locality.why_proved", {"windows": windows})
    else:
        why = sentence("locality.why_examined", {"windows": windows, "scope": found.best.scope})
    if n == 1:
        return _by_coverage(question, layout, why, details)
    rests = {"reference": XIAO, "details": details}
    if layout.sampled:
        why = f"{why} {sentence('locality.why_sample')}"
        return question.opinion(THEORY, "unknown", why, found.claim(), **rests)
    gathers = (Assumption("locality.gathers"),)
    why = f"{why} {sentence('locality.why_finds')}"
    return question.opinion(THEORY, "can hold", why, found.claim(), assumptions=gathers, **rests)


def _unsettled(question: Case, layout: Layout, details: tuple[str, ...]) -> Opinion:
    """Unknown, where no windows are known to settle every step."""
    found = layout.locality
    last = found.by_width[-1] if found.by_width else None
    why = last.explain()[0] if last else sentence("locality.why_no_step")
    if found.verdict == "REFUTED":
        last = [one for one in found.by_width if one.witness][-1]
        witness = " ".join(last.witness.explain()) if last.witness else ""
        why = sentence("locality.why_none", {"r": last.r, "witness": witness})
    if layout.stopping.local is False:
        why = f"{layout.stopping.sentence} {why}"
    grounds = last.claim() if last else found.claim()
    return question.opinion(THEORY, "unknown", why, grounds, reference=XIAO, details=details, changes=MOVES)


def without_end(question: Case, note: str) -> Opinion:
    """Unknown: over an unbounded alphabet no training sample shows every step [xiao2024, Theorem 3.1.2]."""
    continues = (Assumption("locality.tokens_continue"),)
    theorem = Reference("xiao2024", "Theorem 3.1.2")
    grounds = Claim("locality.alphabet_ends", False, "", "measured", "refuted", None, continues, theorem)
    why = f"{note} {sentence('locality.not_shown')}"
    changes = (Advice("digits", "advice.digits"),)
    return question.opinion(THEORY, "unknown", why, grounds, reference=XIAO, changes=changes)


def _by_coverage(question: Case, layout: Layout, why: str, details: tuple[str, ...]) -> Opinion:
    """With one window settling every step, what is left to ask is whether training shows all of them. That it does not
    refutes nothing."""
    needed, seen, lacking = layout.training_size, layout.seen, layout.lacking
    missed = seen is not None and bool(seen.unseen)
    said, lacks = [why], ""
    if lacking is not None:
        size, share = lacking.last
        lacks = sentence("locality.why_lacking", {"share": share, "instances": lacking.instances, "size": size})
    if needed is not None and needed > question.train_size:
        said.append(sentence("locality.why_later", {"needed": needed}))
        estimate, change = layout.needed, Advice("longer", "advice.longer", values={"size": needed})
    elif lacking is not None and lacking.last[1] > _LACKING:
        said.append(sentence("locality.why_but", {"lacking": lacks}))
        estimate, change = lacking, Advice("items", "advice.items_or_larger")
    elif lacking is None and missed and seen is not None:
        said.append(sentence("locality.why_not_all"))
        estimate, change = seen, Advice("items", "advice.items")
    elif lacking is None and needed is None:
        said.append(sentence("locality.why_still_new"))
        estimate, change = layout.needed, Advice("longer", "advice.larger")
    else:
        reach = ((layout.locality.window or (1, 1))[1] + 1) // 2
        shown = lacks or sentence("locality.why_items_show")
        if seen is not None and not missed and needed is not None:
            shown = sentence("locality.why_shown", {"size": needed})
        said += [shown, sentence("locality.why_attention", {"reach": reach})]
        rests = {"assumptions": (Assumption("locality.reads"),), "reference": XIAO, "details": details}
        return question.opinion(THEORY, "can hold", " ".join(said), layout.locality.claim(), **rests)
    if seen is not None and missed:
        values = {"entries": len(seen.coverage.entries), "seen": len(seen.seen), "example": seen.unseen[0]}
        said.append(sentence("locality.why_missing", values))
    if seen is not None and seen.capped:
        said.append(seen.capped)
    said.append(sentence("locality.not_shown"))
    grounds = estimate.claim() if estimate is not None else None
    rests = {"reference": XIAO, "details": details, "changes": (change,)}
    return question.opinion(THEORY, "unknown", " ".join(said), grounds, **rests)


def _measured(question: Question, opinion: Opinion) -> Opinion:
    """With what training a built-in layout gave, where the encoding is the same or the theory says that it can hold."""
    outcome = None if question.decoder else outcomes().get(name_of(question.task))
    if outcome is None or (opinion.outlook != "can hold" and question.encoding != outcome.position):
        return opinion
    return replace(opinion, why=f"{opinion.why} {outcome.sentence}")
