"""The README.md of a model folder."""

from __future__ import annotations

from lengthwise.measurement.curve import Curve
from lengthwise.runs.plan import Plan
from lengthwise.training.loop import History


def model_card(plan: Plan, history: History, curve: Curve | None = None) -> str:
    """What the model is, how it was trained and how far it holds, for someone who finds the folder."""
    a = plan.architecture
    lines = [
        "---",
        "library_name: lengthwise",
        "tags: [length-generalization]",
        "---",
        f"# {plan.task_name}, position {plan.position_name}",
        "",
        f"A Transformer {'decoder' if a.causal else 'encoder'} of depth {a.depth}, width {a.width}, {a.heads} heads, "
        f"trained by lengthwise on sizes up to {plan.train_size} ({history.step} steps of {plan.recipe.batch} items, "
        f"seed {plan.seed}; {history.ended}).",
    ]
    if curve is not None:
        lines += ["", "| sizes | exact match | 95 % interval | token accuracy | chance |", "|---|---|---|---|---|"]
        for point in curve.bins():
            low, high = point.interval.low, point.interval.high
            lines.append(
                f"| {point.size} to {point.last} | {point.exact:.1%} | {low:.1%} to {high:.1%} "
                f"| {point.token:.1%} | {point.chance:.1%} |"
            )
        lines += ["", f"{curve.reach()}."]
    lines += [
        "",
        "Load it with `lengthwise.load_run(folder).model()`; measure it again with `lengthwise measure FOLDER`.",
    ]
    return "\n".join(lines) + "\n"
