"""From a study to its plans: how many, in which order; overrides and exclusions against a plain reference."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UnknownName, UsageError
from lengthwise.runs.plan import Plan, plan_for
from lengthwise.studies.grid import plans
from lengthwise.studies.spec import Study
from lengthwise.trust import trusting
from own_tasks import BROKEN, written

SMALL: dict[str, Any] = {"train_size": 4, "test_size": 6, "items": 10}


def flat(plan: Plan) -> dict[str, Any]:
    """The settings of a plan side by side."""
    content = plan.plain()
    both = {**content["model"], **content["recipe"]}
    return {name: value for name, value in both.items() if name != "position"}


def place(plan: Plan) -> dict[str, Any]:
    """All that an exclusion can name."""
    names = {"task": plan.task_name, "position": plan.position_name}
    sizes = {name: getattr(plan, name) for name in ("train_size", "test_size", "items", "seed")}
    return {**names, **sizes, **flat(plan)}


def test_the_order_is_fixed() -> None:
    study = Study(
        "x", ["sort", "parity"], ["rope", "none"], train_size=[4, 3], test_size=6, seeds=[5, 1],
        training={"rate": [2e-3, 1e-3]}, model={"width": [32, 16], "depth": [2, 1]},
    )  # fmt: skip
    keys = ("task", "position", "train_size", "depth", "width", "rate", "seed")
    axes = (["sort", "parity"], ["rope", "none"], [4, 3], [2, 1], [32, 16], [2e-3, 1e-3], [5, 1])
    made = [tuple(place(plan)[key] for key in keys) for plan in plans(study)]
    assert made == list(itertools.product(*axes))


def test_a_plan_is_the_one_of_plan_for() -> None:
    (plan,) = plans(Study("x", "(aa)*", "nope", **SMALL, seeds=[3], model={"depth": 2}, training={"steps": 7}))
    assert plan == plan_for("aa_star", "none", {"depth": 2, "steps": 7}, **SMALL, seed=3)
    assert flat(plan)["heads"] == 16 and flat(plan)["sizes"] == "uniform", "the preset of the task"


def test_test_sizes() -> None:
    def sizes(**more: Any) -> list[tuple[int, int]]:
        return [(plan.train_size, plan.test_size) for plan in plans(Study("x", "sort:alphabet=20", **more))]

    assert sizes(train_size=[4, 8]) == [(4, 12), (8, 20)], "three times, or where the task ends"
    assert sizes(train_size=[4, 8], test_size=9) == [(4, 9), (8, 9)]
    assert sizes(train_size=[4, 8], test_size=[9, 15]) == [(4, 9), (8, 15)]
    override = {"task": "sort:alphabet=20", "train_size": [3, 4, 5]}
    assert sizes(train_size=8, test_size=9, override=[override]) == [(3, 9), (4, 9), (5, 9)]
    with pytest.raises(UsageError, match=r"sort:alphabet=20 with none: .* 2 test sizes for 3 training sizes"):
        sizes(train_size=[4, 8], test_size=[9, 15], override=[override])


def test_aliases_are_one_task_and_match() -> None:
    study = Study("x", ["(aa)*", "aa_star", "sort"], ["ape+offset", "learned+offset"], **SMALL)
    assert [(p.task_name, p.position_name) for p in plans(study)] == [
        ("aa_star", "learned+offset"),
        ("sort", "learned+offset"),
    ]
    override = [{"task": "(aa)*", "position": "ape+offset", "items": 3}]
    made = plans(Study("x", ["aa_star", "sort"], "learned+offset", **SMALL, override=override))
    assert [plan.items for plan in made] == [3, 10]


def test_equal_plans_are_merged() -> None:
    study = Study("x", "sort", model={"attention": ["softmax", "softmax:temperature=1.0", "softmax:temperature=1"]})
    assert len(plans(study)) == 2, "one without its default named, and one with it"
    assert len(plans(Study("x", "sort", seeds=2, training={"sizes": ["uniform", "fixed:size=3"]}))) == 4


def test_an_override_replaces_axis_by_axis_and_the_last_wins() -> None:
    study = Study(
        "x", ["sort", "parity"], ["none", "rope"], **SMALL, seeds=2, model={"depth": [1, 2], "width": 16},
        override=[
            {"task": "sort", "model": {"depth": 3}, "seeds": [9], "training": {"steps": 5}},
            {"position": "rope", "model": {"heads": [1, 2]}, "training": {"steps": 6}},
            {"task": ["sort"], "position": ["rope"], "model": {"depth": [4]}},
        ],
    )  # fmt: skip
    keys = ("task", "position", "depth", "width", "heads", "steps", "seed")
    made = {tuple(place(plan)[key] for key in keys) for plan in plans(study)}
    assert made == {
        *(("sort", "none", 3, 16, 2, 5, 9),),
        *(("sort", "rope", 4, 16, heads, 6, 9) for heads in (1, 2)),
        *(("parity", "none", depth, 16, 4, 2000, seed) for depth in (1, 2) for seed in (0, 1)),
        *(("parity", "rope", depth, 16, heads, 6, s) for depth in (1, 2) for heads in (1, 2) for s in (0, 1)),
    }


def test_an_impossible_run_may_be_excluded() -> None:
    axes = {"width": [16, 30], "heads": [4, 3]}
    with pytest.raises(UsageError, match=r"the run with .*width 16, heads 3 is not possible: .* 15 or 18 would be"):
        plans(Study("x", "sort", **SMALL, model=axes))
    left = plans(
        Study("x", "sort", **SMALL, model=axes, exclude=[{"width": 16, "heads": 3}, {"width": 30, "heads": 4}])
    )
    assert [(p.architecture.width, p.architecture.heads) for p in left] == [(16, 4), (30, 3)]


def test_an_exclusion_sees_what_the_preset_decides() -> None:
    study = Study("x", ["sort", "binary_majority"], **SMALL, exclude=[{"width": 32, "depth": 1, "test_size": 6}])
    assert [plan.task_name for plan in plans(study)] == ["sort"]


WRONG: dict[str, tuple[dict[str, Any], list[str]]] = {
    "unknown task": ({"tasks": "srt"}, ["unknown task 'srt'", "did you mean 'sort'"]),
    "unknown encoding": ({"positions": "ropee"}, ["unknown position encoding 'ropee'", "did you mean 'rope'"]),
    "unknown attention": ({"model": {"attention": "softmx"}}, ["'softmx'", "did you mean 'softmax'"]),
    "unknown task excluded": ({"exclude": [{"task": "srt"}]}, ["[[exclude]] 1: unknown task 'srt'", "'sort'"]),
    "task of another study": (
        {"exclude": [{"task": "sort"}, {"task": "tomita_3"}], "tasks": ["sort", "tomita_4"]},
        ["[[exclude]] 2 matches nothing", "no run has task 'tomita_3'; did you mean 'tomita_4'"],
    ),
    "one task of a list": ({"exclude": [{"task": ["sort", "parity"]}]}, ["no run has task 'parity'; there is sort"]),
    "a setting that no run changes": (
        {"exclude": [{"precision": "bf16"}]},
        ["no run has precision 'bf16'; there is float32"],
    ),
    "a depth that is not there": ({"exclude": [{"depth": 3}]}, ["no run has depth 3; there is 1"]),
    "nothing at the same time": (
        {"model": {"depth": [1, 2]}, "override": [{"position": "rope", "model": {"depth": 1}}],
         "exclude": [{"position": "rope", "depth": 2}], "positions": ["rope", "none"]},
        ["[[exclude]] 1 matches nothing: no run has position and depth like that"],
    ),
    "an override of nothing": (
        {"override": [{"task": "sort", "items": 3}, {"position": "rope", "items": 3}]},
        ["[[override]] 2 matches nothing, as no run has position 'rope'; there is none"],
    ),
    "everything excluded": ({"exclude": [{"task": "sort"}]}, ["leave no run"]),
    "beyond the alphabet": ({"tasks": "sort:alphabet=5"}, ["sort:alphabet=5, position none", "ends at size 5"]),
    "test below training": ({"test_size": 3}, ["train size 4", "the test size 3 is below the training size 4"]),
    "no items": ({"items": 0}, ["items must be at least 1, not 0"]),
    "a rate below 0": ({"training": {"rate": [1e-3, -1.0]}}, ["rate -1.0 is not possible", "above 0"]),
    "an odd head for RoPE": ({"positions": "rope", "model": {"width": 15, "heads": 5}}, ["heads 5", "even head width"]),
    "too few positions": ({"positions": "rope+randomized:limit=8"}, ["randomized:limit=8", "too few"]),
    "a size out of range": ({"training": {"sizes": "fixed:size=5"}}, ["the fixed size 5 is not in the training range"]),
    "too many runs": ({"budget": {"runs": 2}, "seeds": 3}, ["has 3 runs and its budget is 2"]),
    "far too many runs": (
        {"seeds": 1000, "train_size": list(range(4, 600)), "test_size": 700},
        ["multiply to 596000 runs", "100000"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_studies_that_cannot_be(name: str) -> None:
    change, parts = WRONG[name]
    study = Study.from_plain({"name": "x", "tasks": "sort", **SMALL, **change})
    with pytest.raises(UsageError) as error:
        plans(study)
    assert all(part in str(error.value) for part in parts), str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_name_stays_one() -> None:
    for change in ({"tasks": "srt"}, {"tasks": "sort", "exclude": [{"task": "srt"}]}):
        with pytest.raises(UnknownName):
            plans(Study.from_plain({"name": "x", **change}))


def test_the_budget_counts_what_is_left() -> None:
    study = Study("x", "sort", **SMALL, seeds=3, budget={"runs": 2}, exclude=[{"seed": 1}])
    assert [plan.seed for plan in plans(study)] == [0, 2]


def test_a_task_of_the_users(tmp_path: Path) -> None:
    """It is found from the file's folder; one that breaks is planned, so that its run can say how."""
    written(tmp_path / "mine.py", BROKEN + "@dataclass(frozen=True)\nclass Fine(CopyRepeat):\n    pass\n")
    (tmp_path / "my.toml").write_text(
        'tasks = ["mine.py::Fine", "mine.py::Broken"]\ntrain_size = 4\n'
        '[[override]]\ntask = "mine.py::Fine"\nitems = 5\n'
    )
    study = Study.read(tmp_path / "my.toml")
    with pytest.raises(UsageError, match="named by stored data"):
        plans(study)
    with trusting():
        fine, broken = plans(study)
    assert (fine.task_name, fine.items) == (f"{tmp_path}/mine.py::Fine", 5) and broken.items == 200


def test_planning_leaves_the_random_state_alone() -> None:
    before = torch.random.get_rng_state()
    plans(Study("x", "sort", "learned", **SMALL))
    assert torch.equal(torch.random.get_rng_state(), before)


TASKS, POSITIONS = ["sort", "parity", "aa_star"], ["none", "rope", "learned+offset"]
VALUES: dict[str, list[Any]] = {
    "train_size": [4, 5, 6],
    "seeds": [0, 1, 2],
    "depth": [1, 2, 3],
    "width": [32, 64],
    "steps": [10, 20],
    "batch": [4, 8],
}


def chosen(values: list[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True)


def part(*names: str) -> st.SearchStrategy[dict[str, list[Any]]]:
    return st.fixed_dictionaries({}, optional={name: chosen(VALUES[name]) for name in names})


replacements = st.fixed_dictionaries(
    {"items": st.integers(1, 3)},
    optional={
        "train_size": chosen(VALUES["train_size"]),
        "seeds": chosen(VALUES["seeds"]),
        "model": part("depth", "width"),
        "training": part("steps", "batch"),
    },
)


@st.composite
def grids(draw: st.DrawFn, matched: bool = True) -> dict[str, Any]:
    """A study of small axes; with `matched`, overrides and exclusions of values that it has."""
    content = {
        "name": "x",
        "tasks": draw(chosen(TASKS)),
        "positions": draw(chosen(POSITIONS)),
        "train_size": draw(chosen(VALUES["train_size"])),
        "test_size": 6,
        "seeds": draw(chosen(VALUES["seeds"])),
        "model": draw(part("depth", "width")),
        "training": draw(part("steps", "batch")),
    }
    if matched:
        which = st.fixed_dictionaries(
            {"task": chosen(content["tasks"])}, optional={"position": chosen(content["positions"])}
        )
        pairs = st.tuples(which, replacements).map(lambda pair: {**pair[0], **pair[1]})
        content["override"] = draw(st.lists(pairs, max_size=2))
        keys = {"position": content["positions"], "train_size": VALUES["train_size"], "seed": VALUES["seeds"]}
        keys |= {name: VALUES[name] for name in ("depth", "steps")}
        exclusion = st.fixed_dictionaries(
            {"task": st.sampled_from(content["tasks"])}, optional={k: chosen(v) for k, v in keys.items()}
        )
        content["exclude"] = draw(st.lists(exclusion, max_size=2))
    return content


def reference(content: dict[str, Any]) -> list[dict[str, Any]]:
    """What the grid should be, the slow way: every run of every value there is, kept if its block has the value."""
    runs = []
    for task, position in itertools.product(content["tasks"], content["positions"]):
        usual = flat(plan_for(task, position, train_size=4))
        axes: dict[str, list[Any]] = {name: [value] for name, value in usual.items()}
        layers = [content]
        for override in content.get("override", []):
            if task in override["task"] and position in override.get("position", [position]):
                layers.append(override)
        axes |= {"items": [200]}
        for layer in layers:
            axes |= {name: layer[name] for name in ("train_size", "seeds") if name in layer}
            axes |= layer.get("model", {}) | layer.get("training", {})
            axes |= {"items": [layer["items"]]} if "items" in layer else {}
        for row in itertools.product(*axes.values()):
            run = dict(zip(axes, row, strict=True)) | {"task": task, "position": position, "test_size": 6}
            run["seed"] = run.pop("seeds")
            runs.append(run)
    return runs


def fits(run: dict[str, Any], exclusion: dict[str, Any]) -> bool:
    return all(run[key] in (value if isinstance(value, list) else [value]) for key, value in exclusion.items())


def as_set(runs: list[dict[str, Any]]) -> set[str]:
    return {repr(sorted(run.items())) for run in runs}


@settings(max_examples=40, deadline=None)
@given(grids())
def test_overrides_and_exclusions_do_what_the_reference_does(content: dict[str, Any]) -> None:
    everything = reference(content)
    exclusions = content["exclude"]
    typo = any(
        not any(fits(run, one) for run in everything)
        or any(
            not any(run[key] == value for run in everything)
            for key, wanted in one.items()
            for value in (wanted if isinstance(wanted, list) else [wanted])
        )
        for one in exclusions
    )
    left = [run for run in everything if not any(fits(run, one) for one in exclusions)]
    if typo or not left:
        with pytest.raises(UsageError, match="leave no run" if not typo else r"\[\[exclude\]\] \d matches nothing"):
            plans(Study.from_plain(content))
        return
    made = [place(plan) for plan in plans(Study.from_plain(content))]
    assert as_set(made) == as_set(left) and len(made) == len(left)


@settings(max_examples=25, deadline=None)
@given(grids(matched=False))
def test_without_exclusions_the_axes_multiply(content: dict[str, Any]) -> None:
    count = 1
    for axis in (*(content[k] for k in ("tasks", "positions", "train_size", "seeds")),
                 *content["model"].values(), *content["training"].values()):  # fmt: skip
        count *= len(axis)
    made = plans(Study.from_plain(content))
    assert len(made) == count == len({repr(plan.plain()) for plan in made})
