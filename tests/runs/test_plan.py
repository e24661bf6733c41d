"""The plan: what its digest notices, the way to JSON and back, and the plans that cannot be."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lengthwise as lw
from lengthwise.cli import main, parser_of
from lengthwise.cli.commands import train as train_command
from lengthwise.errors import UsageError
from lengthwise.models.architecture import Architecture
from lengthwise.models.attention import attentions
from lengthwise.models.forms import forms
from lengthwise.positions import make_position
from lengthwise.probes.curve import CurveProbe
from lengthwise.probes.ladder import LadderProbe
from lengthwise.runs.plan import SETTINGS, Plan, Settings, Start, plan_for, preset
from lengthwise.tasks import tasks
from lengthwise.tasks.algorithmic import CopyRepeat, Majority
from lengthwise.tasks.sizes import name_of
from lengthwise.training.lengths import Fixed, Increasing, SizeSchedule
from lengthwise.training.recipe import Recipe


def make(position: str = "none", **changes: Any) -> Plan:
    given = {
        "task": tasks.make("sort:alphabet=30"),
        "architecture": Architecture(position=make_position(position)),
        "recipe": Recipe(),
        "train_size": 4,
        "test_size": 12,
    }
    return Plan(**{**given, **changes})


@dataclass(frozen=True)
class Nameless(CopyRepeat):
    """A task that nobody registered."""

    setting: int = 0


class NamelessSchedule(SizeSchedule):
    def draw(self, sizes, progress, uniform):
        return sizes[0]


ARCHITECTURES = {
    "depth": {"depth": 3},
    "width": {"width": 32},
    "heads": {"heads": 2},
    "mlp_ratio": {"mlp_ratio": 2},
    "causal": {"causal": False},
    "attention": {"attention": attentions.make("log_length")},
    "attention setting": {"attention": attentions.make("softmax:temperature=2.0")},
    "position": {"position": make_position("rope")},
    "position setting": {"position": make_position("rope:base=500.0")},
    "position wrapper": {"position": make_position("rope+offset")},
    "gain": {"gain": 5.0},
}
RECIPES = {
    "steps": {"steps": 1000},
    "batch": {"batch": 32},
    "rate": {"rate": 1e-3},
    "warmup": {"warmup": 0.1},
    "decay": {"decay": "cosine"},
    "weight_decay": {"weight_decay": 0.1},
    "clip": {"clip": 2.0},
    "sizes": {"sizes": Fixed()},
    "sizes setting": {"sizes": Increasing(0.3)},
    "stop_at": {"stop_at": 0.99},
    "check_every": {"check_every": 50},
    "pool": {"pool": 4},
    "form": {"form": forms.make("lora")},
    "form setting": {"form": forms.make("lora:rank=8")},
    "precision": {"precision": "bf16"},
}
CHANGES: dict[str, Callable[[], Plan]] = {
    **{name: lambda c=c: make(architecture=Architecture(**c)) for name, c in ARCHITECTURES.items()},
    **{name: lambda c=c: make(recipe=Recipe(**c)) for name, c in RECIPES.items()},
    "task": lambda: make(task=tasks.make("copy_unique:alphabet=30")),
    "task setting": lambda: make(task=tasks.make("sort:alphabet=31")),
    "train_size": lambda: make(train_size=5),
    "test_size": lambda: make(test_size=13),
    "seed": lambda: make(seed=1),
    "start": lambda: make(start=Start("run", "0123")),
}


def test_every_field_is_tried() -> None:
    """A field that is added later has to be added here."""
    assert set(Architecture.__dataclass_fields__) <= set(ARCHITECTURES)
    assert set(Recipe.__dataclass_fields__) <= set(RECIPES)
    assert set(Plan.__dataclass_fields__) - {"architecture", "recipe", "items", "probes"} <= set(CHANGES)


@pytest.mark.parametrize("name", CHANGES)
def test_the_digest_changes_with_what_decides_the_weights(name: str) -> None:
    assert CHANGES[name]().digest() != make().digest()


def test_all_digests_differ() -> None:
    assert len({change().digest() for change in CHANGES.values()}) == len(CHANGES)


def test_the_digest_does_not_change_with_what_does_not() -> None:
    digest = make().digest()
    assert len(digest) == 8
    assert make(items=7).digest() == digest
    assert make(task=tasks.make({"name": "sort", "alphabet": 30})).digest() == digest
    even = {"task": tasks.make("tomita_2"), "train_size": 4}
    assert make(**even, test_size=12).digest() == make(**even, test_size=13).digest(), "there is no size 13"


def test_a_ladder_changes_the_digest_only_where_its_rows_are_longer() -> None:
    few, many = LadderProbe(4, 2, 2), LadderProbe(8, 4, 4)
    assert make(probes=(few,)).digest() == make(probes=(many,)).digest() == make().digest()
    assert make(probes=(few,)).interface() == make().interface()
    maze = {"task": tasks.make("tree_maze"), "train_size": 3, "test_size": 4}
    plain, climbed = make(**maze), make(**maze, probes=(few,))
    assert climbed.interface().rows > plain.interface().rows and climbed.digest() != plain.digest()
    assert climbed.digest() == make(**maze, probes=(many,)).digest()
    assert climbed.interface().trained == plain.interface().trained


def test_a_plan_with_probes_goes_there_and_back() -> None:
    plan = make(probes=(LadderProbe(8, 4, 3),))
    stored = json.loads(json.dumps(plan.plain()))
    assert stored["probes"] == [{"name": "curve"}, {"name": "ladder", "items": 8, "decoded": 4, "inside": 3}]
    assert Plan.from_plain(stored) == plan and Plan.from_plain(make().plain()).probes == (CurveProbe(),)
    assert list(plan.asked()) == ["curve", "ladder-items=8-decoded=4-inside=3"]
    for strange in ([{"rungs": 3}], ["x"], None, [{"name": "ladder", "items": "x"}]):
        with pytest.raises(UsageError):
            Plan.from_plain({**stored, "probes": strange})


def test_a_task_that_ends_at_the_training_size_has_no_ladder() -> None:
    with pytest.raises(UsageError, match="has no items beyond size 30, so there is no ladder"):
        make(train_size=30, test_size=30, probes=(LadderProbe(),))


def test_a_task_without_a_name_is_told_from_another_by_its_settings() -> None:
    one, two = make(task=Nameless(1)), make(task=Nameless(2))
    assert one.digest() == make(task=Nameless(1)).digest() != two.digest()
    assert one.task_name == "Nameless" and one.plain()["task"]["unregistered"] is True


@pytest.mark.parametrize("name", CHANGES)
def test_there_and_back(name: str) -> None:
    plan = replace(CHANGES[name](), items=17)
    stored = json.loads(json.dumps(plan.plain(), allow_nan=False))
    again = Plan.from_plain(stored)
    assert again == plan and again.digest() == plan.digest() and again.plain() == plan.plain()


def test_a_task_without_a_name_must_be_given_again() -> None:
    plan = make(task=Nameless(1))
    with pytest.raises(
        UsageError, match=r"a task object of class Nameless.*pass the task again: measure\(run, task=...\)"
    ):
        Plan.from_plain(plan.plain())
    assert Plan.from_plain(plan.plain(), Nameless(1)) == plan


def test_a_schedule_without_a_name_cannot_be_stored() -> None:
    with pytest.raises(UsageError, match=r"register NamelessSchedule, or name it as in my\.py::NamelessSchedule"):
        make(recipe=Recipe(sizes=NamelessSchedule())).plain()


@pytest.mark.parametrize("key", ["task", "model", "recipe", "train_size", "items", "seed"])
def test_an_incomplete_plan_is_refused(key: str) -> None:
    stored = make().plain()
    del stored[key]
    with pytest.raises(UsageError, match=f"incomplete or of another version: '{key}'"):
        Plan.from_plain(stored)


@pytest.mark.parametrize("key", ["task", "model", "recipe", "train_size"])
@pytest.mark.parametrize("strange", [None, "x", [], {"nonsense": 1}])
def test_a_strange_plan_is_refused(key: str, strange: Any) -> None:
    with pytest.raises(UsageError):
        Plan.from_plain({**make().plain(), key: strange})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"train_size": 0}, "train_size must be at least 1, not 0"),
        ({"test_size": 0}, "test_size must be at least 1, not 0"),
        ({"items": 0}, "items must be at least 1, not 0"),
        ({"test_size": 3}, "the test size 3 is below the training size 4"),
        (
            {"task": tasks.make("addition"), "train_size": 3},
            "the task addition has no items of size 1 to 3; its sizes begin at 4",
        ),
        (
            {"train_size": 30, "test_size": 90},
            "the task sort:alphabet=30 ends at size 30, below the test size 90: a larger alphabet=… goes further",
        ),
    ],
)
def test_plans_that_cannot_be(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        make(**changes)
    assert str(error.value) == sentence


def test_sizes_that_do_not_exist_are_left_out() -> None:
    plan = make(task=tasks.make("tomita_2"), train_size=4, test_size=9)
    assert plan.train_sizes == [size for size in range(1, 5) if plan.task.has(size)]
    assert 9 not in plan.test_sizes


def test_the_interface_is_what_the_task_fixes() -> None:
    interface = make().interface()
    assert (interface.vocabulary, interface.outputs) == (34, 34)
    assert (interface.trained, interface.rows) == (4 + 4 + 2, 12 + 12 + 2)  # <bos> prompt <sep> answer
    encoder = make(architecture=Architecture(causal=False)).interface()
    assert (encoder.trained, encoder.rows) == (4 + 4 + 3, 12 + 12 + 3)  # and <eos>


def test_names() -> None:
    assert name_of(tasks.make("sort:alphabet=30")) == "sort:alphabet=30" == make().task_name
    assert name_of(Nameless()) == "Nameless"
    assert make("learned+offset").position_name == "learned+offset"


@dataclass(frozen=True)
class Preset(CopyRepeat):
    preset = {"depth": 5, "steps": 77}


@dataclass(frozen=True)
class PresetBySpec(CopyRepeat):
    preset = {"attention": "window:size=3", "sizes": "increasing:share=0.3"}


def test_a_preset_names_objects_by_their_specs() -> None:
    architecture, recipe = preset(PresetBySpec())
    assert (architecture.attention, recipe.sizes) == (attentions.make("window:size=3"), Increasing(0.3))


def test_a_preset_fills_in_what_the_task_knows() -> None:
    architecture, recipe = preset(Preset())
    assert (architecture, recipe) == (Architecture(depth=5), Recipe(steps=77))
    assert preset(Majority()) == (Architecture(), Recipe())


@pytest.mark.parametrize(
    "name", sorted({*tasks.names()} - {"along", "hinted", "jsonl", "layout", "regular", "regular_member"})
)
def test_every_task_without_settings_has_a_plan_that_goes_beyond_training(name: str) -> None:
    plan = plan_for(name, "none")
    assert plan.test_sizes[-1] > plan.train_size


def test_plan_for_lays_settings_over_the_preset() -> None:
    given = {"width": 32, "attention": "log_length", "causal": False}
    given |= {"rate": 1, "sizes": "increasing:share=0.3", "stop_at": 0.5, "steps": 9}
    plan = plan_for("sort:alphabet=30", "rope", given, train_size=4, seed=3, items=7)
    usual, usual_recipe = preset(tasks.make("sort:alphabet=30"))
    shape = replace(
        usual, width=32, causal=False, attention=attentions.make("log_length"), position=make_position("rope")
    )
    recipe = replace(usual_recipe, rate=1.0, sizes=Increasing(0.3), stop_at=0.5, steps=9)
    assert plan == Plan(tasks.make("sort:alphabet=30"), shape, recipe, 4, 12, 7, 3)
    assert type(plan.recipe.rate) is float, "a whole number would have another digest"
    assert plan_for(Preset(), make_position("none"), train_size=4).recipe.steps == 77
    assert plan_for("sort", "none", train_size=4, probes=["ladder:items=60"]).probes[1] == LadderProbe(60)
    assert plan_for("sort", "none", {"stop_at": None}, train_size=4).recipe.stop_at is None
    assert plan_for("sort", "none", {"sizes": Fixed(3)}, train_size=4).recipe.sizes == Fixed(3)
    assert plan_for({"name": "sort", "alphabet": 30}, "none", train_size=9, test_size=10).test_size == 10


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"dept": 3}, "there is no setting 'dept' of models or training; did you mean 'depth'? they have model, depth"),
        ({"step": 3}, "there is no setting 'step' of models or training; did you mean 'steps'?"),
        (
            {"model": {"depth": 3}},
            "model takes a text such as lstm, a class of torch.nn.Module",
        ),
        ({"depth": "two"}, "depth takes a whole number, not 'two'"),
        ({"depth": True}, "depth takes a whole number, not True"),
        ({"mlp_ratio": 2.0}, "mlp_ratio takes a whole number, not 2.0"),
        ({"causal": 1}, "causal takes true or false, not 1"),
        ({"attention": 5}, "attention takes a text or an object of Attention, not 5"),
        ({"attention": "softmx"}, "did you mean 'softmax'"),
        ({"rate": "fast"}, "rate takes a number, not 'fast'"),
        ({"rate": True}, "rate takes a number, not True"),
        ({"rate": None}, "rate takes a number, not None"),
        ({"rate": 10**400}, "rate takes a number"),
        ({"decay": 3}, "decay must be one of linear, cosine, constant, not 3"),
        ({"decay": "lin"}, "decay must be one of linear"),
        ({"stop_at": "x"}, "stop_at takes a number, not 'x'"),
        ({"train_size": "4"}, "train_size takes a whole number, not '4'"),
        ({"test_size": 12.0}, "test_size takes a whole number, not 12.0"),
        ({"items": None}, "items takes a whole number, not None"),
        ({"position": 3}, "position takes a text such as learned+offset, or a Position, not 3"),
        ({"seeds": 0}, "seeds must be a number of seeds, 1 or more"),
        ({"seeds": [1, 1]}, "a list of different seeds"),
        ({"seeds": "2"}, "seeds must be a number of seeds"),
        ({"seeds": True}, "seeds must be a number of seeds"),
    ],
)
def test_wrong_names_and_types_are_refused_in_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        lw.train(**{"task": "sort", "position": "none", "train_size": 4, **changes})
    assert sentence in str(error.value) and "--" not in str(error.value) and "\n" not in str(error.value)


def test_settings_are_typed_as_the_fields_are() -> None:
    """`Settings` is what editors and type checkers see of the fields."""
    hints = get_type_hints(Settings)
    assert list(hints) == list(SETTINGS)
    for name, one in SETTINGS.items():
        wanted = one.type if one.registry is None else str | one.type
        assert hints[name] == wanted, name
        assert (one.words and "|" not in one.words) or one.flags, f"{name} is explained"


# --- from Python as from the command line ---------------------------------------------------------------------------


class Planned(Exception):
    """The plan is known, and nothing is to be trained."""


def planned_in_python(task: str, position: str, **settings: Any) -> Plan:
    """The plan that `lengthwise.train` is about to carry out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lengthwise.runs.run.carry_out", lambda plan, *_: plan)
        return lw.train(task, position, **settings)  # pyright: ignore[reportReturnType]


def planned_on_the_command_line(task: str, position: str, **settings: Any) -> Plan:
    """The plan that the parser of `lengthwise train` leads to."""
    (seed,) = settings.pop("seeds")
    causal = {True: ["--decoder"], False: ["--encoder"], None: []}[settings.pop("causal", None)]
    given = [text for name, value in settings.items() for text in (f"--{name.replace('_', '-')}", str(value))]
    words = [task, "--position", position, "--seed", str(seed), *causal, *given]
    options = parser_of("train").parse_intermixed_args(words)
    return train_command._plan(options, options.seed)


GIVEN = {
    "model": st.sampled_from(["transformer", "transformer:depth=3,width=32"]),
    "depth": st.integers(1, 6),
    "width": st.sampled_from([16, 32, 64]),
    "heads": st.sampled_from([1, 2, 4]),
    "mlp_ratio": st.integers(1, 4),
    "attention": st.sampled_from(["softmax", "log_length", "softmax:temperature=2.0", "window:size=3"]),
    "causal": st.booleans(),
    "gain": st.floats(0.1, 10),
    "steps": st.integers(1, 5000),
    "batch": st.integers(1, 256),
    "rate": st.floats(1e-5, 1e-1),
    "warmup": st.floats(0, 0.9),
    "decay": st.sampled_from(["linear", "cosine", "constant"]),
    "weight_decay": st.floats(0, 1),
    "clip": st.floats(0.1, 10),
    "sizes": st.sampled_from(["uniform", "increasing:share=0.3"]),
    "stop_at": st.floats(0.1, 1),
    "check_every": st.integers(1, 500),
    "pool": st.integers(1, 9),
    "form": st.sampled_from(["full", "lora:rank=2"]),
    "precision": st.sampled_from(["float32", "bf16"]),
}


@given(
    st.sampled_from(["sort", "binary_majority", "sort:alphabet=30", "copy_repeat", "tomita_3"]),
    st.sampled_from(["none", "rope", "learned+offset", "rope:scaling=yarn,factor=3"]),
    st.integers(1, 10),
    st.integers(0, 20),
    st.fixed_dictionaries({}, optional=GIVEN),
)
@settings(deadline=None, max_examples=200)
def test_python_and_the_command_line_mean_the_same_plan(task, position, train_size, more, chosen) -> None:
    given = {"train_size": train_size, "test_size": train_size + more, "items": 7, "seeds": [3], **chosen}
    one, two = planned_in_python(task, position, **given), planned_on_the_command_line(task, position, **given)
    assert one == two and one.digest() == two.digest()


def test_every_setting_is_in_that_comparison() -> None:
    assert set(GIVEN) == set(SETTINGS) - {"start"}  # which needs a run: tests/runs/test_start.py


def test_a_dry_run_prints_the_plan_that_python_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "sort", "--position", "rope", "--depth", "4", "--steps", "200", "--dry-run", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["plans"][0]
    assert Plan.from_plain(printed) == planned_in_python("sort", "rope", depth=4, steps=200)


def test_a_few_settings_keep_the_rest_of_the_preset() -> None:
    """The preset of sort has another rate and depth than a bare recipe and a bare architecture."""
    _, usual = preset(tasks.make("sort"))
    assert usual.rate != Recipe().rate
    plan = planned_in_python("sort", "rope", train_size=4, width=32, steps=200)
    assert plan.recipe == replace(usual, steps=200) and plan.architecture.depth == 1
    whole = planned_in_python("sort", "rope", train_size=4, **vars(Recipe(steps=200)))
    assert whole.recipe == Recipe(steps=200)
