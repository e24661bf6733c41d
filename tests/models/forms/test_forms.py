"""Forms: their contract, training through them, and the same model again from seed and coordinates."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from lengthwise.errors import Interrupted, UsageError
from lengthwise.models.folder import load_model
from lengthwise.models.formed import (
    COORDINATES,
    Formed,
    Moved,
    SubspaceMap,
    in_form,
    load_coordinates,
    random_groups,
    random_signs,
    rebuilt,
)
from lengthwise.models.forms import Form, Full, Map, forms
from lengthwise.models.transformer import Transformer, fresh_model
from lengthwise.registry import format_spec
from lengthwise.runs.plan import Plan, plan_for
from lengthwise.runs.run import build_model, carry_out, load_run
from lengthwise.seeds import Seeds
from lengthwise.testing import check_form
from lengthwise.training import loop
from lengthwise.training.loop import train_model
from lengthwise.training.recipe import Recipe

FORMS = ("lora:rank=2", "subspace:dimensions=100", "sublora:rank=2,dimensions=50")


def plan(form: str = "full", position: str = "learned", seed: int = 3, **training: object) -> Plan:
    return plan_for(
        "prose:order=1",
        position,
        {"depth": 2, "width": 16, "heads": 2, "steps": 12, "batch": 8, "check_every": 5, "form": form, **training},
        train_size=8,
        test_size=8,
        items=4,
        seed=seed,
    )


def fresh() -> Transformer:
    usual = plan()
    return fresh_model(usual.architecture, usual.interface(), usual.seed)


def weights_of(model: torch.nn.Module) -> dict[str, Tensor]:
    return {name: weight.detach() for name, weight in model.named_parameters()}


@pytest.mark.parametrize("spec", FORMS)
def test_contract(spec: str) -> None:
    check_form(forms.make(spec), weights_of(fresh()), seed=5)


class Stuck(Moved):
    """Leaves the first weight where it is."""

    def weights(self, coordinates: Mapping[str, Tensor]) -> dict[str, Tensor]:
        made = super().weights(coordinates)
        first = next(iter(made))
        return {**made, first: self.initial[first] + 0 * coordinates[first]}


class Off(Moved):
    """Begins a little beside the initial weights."""

    def weights(self, coordinates: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {name: weight + 1e-6 for name, weight in super().weights(coordinates).items()}


@dataclasses.dataclass(frozen=True)
class Broken(Form):
    kind: type[Moved]

    def map_for(self, initial: Mapping[str, Tensor], seeds: Seeds) -> Map:
        return self.kind(initial)


@pytest.mark.parametrize(("kind", "said"), [(Stuck, "no gradient"), (Off, "not the initial one")])
def test_a_form_that_breaks_the_contract_is_caught(kind: type[Moved], said: str) -> None:
    check_form(Broken(Moved), weights_of(fresh()))
    with pytest.raises(AssertionError, match=said):
        check_form(Broken(kind), weights_of(fresh()))


@pytest.mark.parametrize("spec", FORMS)
def test_a_run_keeps_coordinates_from_which_it_is_rebuilt(spec: str, tmp_path: Path) -> None:
    made = plan(spec)
    run = carry_out(made, tmp_path / "run")
    coordinates = load_coordinates(run.folder)
    assert all(np.any(value) for value in coordinates.values()), "training moved nothing"
    read = load_run(run.folder).plan
    assert read.recipe.form == forms.make(spec) and read.digest() == made.digest() != plan().digest()
    model = rebuilt(read.architecture, read.interface(), read.recipe.form, read.seed, coordinates)
    for name, weight in load_model(run.folder).state_dict().items():
        assert torch.equal(weight, model.state_dict()[name]), name
    other = rebuilt(read.architecture, read.interface(), read.recipe.form, read.seed + 1, coordinates)
    assert not torch.equal(other.embedding.weight, model.embedding.weight), "the seed does not enter"
    assert run.history.losses[-1][1] < 3.4, "it did not learn"


def test_full_runs_keep_no_coordinates(tmp_path: Path) -> None:
    run = carry_out(plan(), tmp_path / "run")
    assert not (run.folder / COORDINATES).exists()
    with pytest.raises(UsageError, match="has no form"):
        load_coordinates(run.folder)
    weights = {name: weight.numpy() for name, weight in run.model().state_dict().items()}
    again = rebuilt(run.plan.architecture, run.plan.interface(), Full(), 99, weights)
    assert all(torch.equal(again.state_dict()[name], torch.from_numpy(weight)) for name, weight in weights.items())


@pytest.mark.parametrize("spec", FORMS)
def test_an_interruption_changes_nothing(spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = plan(spec)
    task, path = made.task, tmp_path / "checkpoint"
    straight = build_model(made)
    train_model(straight, task, made.recipe, 8, made.seed)
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    real = loop._step

    def stops(*arguments: object) -> None:
        if arguments[-1].step == 7:  # pyright: ignore[reportAttributeAccessIssue]
            raise Interrupted("here")
        real(*arguments)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(loop, "_step", stops)
    with pytest.raises(Interrupted):
        train_model(build_model(made), task, made.recipe, 8, made.seed, path)
    monkeypatch.setattr(loop, "_step", real)
    resumed = build_model(made)
    train_model(resumed, task, made.recipe, 8, made.seed, path)
    for name, value in straight.state_dict().items():
        assert torch.equal(value, resumed.state_dict()[name]), name
    assert isinstance(resumed, Formed) and set(resumed.state_dict()) == {
        n.replace(".", "/") for n in resumed.map.shapes
    }


def test_a_subspace_of_all_dimensions_trains_like_the_model_itself() -> None:
    """Each weight then has a number of its own, and AdamW does not care about its sign."""
    whole = plan(weight_decay=0.0)
    count = sum(weight.numel() for weight in fresh().parameters())
    free = dataclasses.replace(
        whole, recipe=dataclasses.replace(whole.recipe, form=forms.make(f"subspace:dimensions={count}"))
    )
    one, two = build_model(whole), build_model(free)
    for model, each in ((one, whole), (two, free)):
        train_model(model, each.task, each.recipe, 8, each.seed)
    assert isinstance(two, Formed)
    for name, weight in two.settled().state_dict().items():
        assert torch.allclose(weight, one.state_dict()[name], atol=2e-3), name


def test_a_model_in_a_form_answers_like_the_settled_one() -> None:
    model = in_form(fresh(), forms.make("lora:rank=2"), 3)
    assert isinstance(model, Formed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.1)
    tokens = torch.arange(8)[None]
    assert torch.equal(model(tokens), model.settled()(tokens))
    assert torch.equal(model.generate(tokens[:, :3], 4), model.settled().generate(tokens[:, :3], 4))


def test_columns_are_orthogonal_and_equally_long() -> None:
    groups, signs = random_groups(4, 103, 10), random_signs(4, 103)
    projection = torch.zeros(103, 10)
    projection[torch.arange(103), groups] = signs
    gram = projection.T @ projection
    assert torch.equal(gram, torch.diag(gram.diag())) and set(gram.diag().tolist()) == {10.0, 11.0}
    assert abs(float(random_signs(1, 10_000).mean())) < 0.05
    made = SubspaceMap(Moved({"w": torch.zeros(103)}), 10, Seeds(4))
    point = torch.randn(10)
    by_hand = made.signs * point[made.groups]
    assert torch.equal(made.weights({"point": point})["w"], by_hand)


def test_only_matrices_that_become_smaller_are_factored() -> None:
    made = forms.make("lora:rank=4").map_for({"big": torch.zeros(9, 9), "small": torch.zeros(8, 8)}, Seeds(0))
    assert made is not None and set(made.shapes) == {"big.tall", "big.flat", "small.whole"}


@pytest.mark.parametrize(
    ("spec", "said"),
    [("lora:rank=0", "at least 1"), ("subspace:dimensions=0", "at least 1"), ("loro", "did you mean 'lora'")],
)
def test_bad_specs(spec: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        plan(spec)


def test_bad_input() -> None:
    with pytest.raises(UsageError, match="does not fit into"):
        build_model(plan("subspace:dimensions=1000000"))
    usual = plan("lora")
    with pytest.raises(UsageError, match="names or shapes"):
        rebuilt(usual.architecture, usual.interface(), usual.recipe.form, 3, {"point": torch.zeros(4)})
    with pytest.raises(UsageError, match="not in"):
        train_model(fresh(), usual.task, usual.recipe, 8, 3)
    with pytest.raises(UsageError, match="register"):
        dataclasses.replace(usual, recipe=Recipe(form=Broken(Moved))).plain()
    assert format_spec(forms.spec_of(usual.recipe.form)) == "lora"
