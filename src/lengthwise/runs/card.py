"""The README.md of a model folder."""

from __future__ import annotations

from lengthwise.models.architecture import Architecture
from lengthwise.probes.curve.curve import Curve, learned_sentence, reach_sentence, rounded_percent
from lengthwise.runs.plan import Plan
from lengthwise.training.loop import History


def model_card(plan: Plan, history: History, curve: Curve | None = None) -> str:
    """What the model is, how it was trained and how far it holds, for someone who finds the folder."""
    a = plan.architecture
    ours = isinstance(a, Architecture)
    lines = [
        "---",
        "library_name: lengthwise",
        "tags: [length-generalization]",
        "---",
        f"# {plan.task_name}, {'position' if ours else 'model'} {plan.model_name}",
        "",
        f"{_described(a) if isinstance(a, Architecture) else f'The network {plan.model_name}'}, "
        f"trained by lengthwise on sizes up to {plan.train_size} ({history.step} steps of {plan.recipe.batch} items, "
        f"seed {plan.seed}; {history.ended}).",
    ]
    if curve is not None:
        if said := learned_sentence(curve):
            lines += ["", f"**{said[:1].upper()}{said[1:]}.**"]
        lines += ["", "| sizes | exact match | 95 % interval | token accuracy | chance |", "|---|---|---|---|---|"]
        for point in curve.bins():
            shares = (point.exact, point.interval.low, point.interval.high, point.token, point.chance)
            exact, low, high, token, chance = (f"{rounded_percent(share)} %" for share in shares)
            lines.append(f"| {point.size} to {point.last} | {exact} | {low} to {high} | {token} | {chance} |")
        said = reach_sentence(curve.reach())
        lines += ["", f"{said[:1].upper()}{said[1:]}."]
    lines += [
        "",
        "Load it with `lengthwise.load_run(folder).model()`; measure it again with `lengthwise measure FOLDER`.",
    ]
    return "\n".join(lines) + "\n"


def _described(a: Architecture) -> str:
    kind = "decoder" if a.causal else "encoder"
    return f"A Transformer {kind} of depth {a.depth}, width {a.width}, {a.heads} head{'s' * (a.heads != 1)}"
