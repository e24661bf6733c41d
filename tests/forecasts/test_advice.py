"""Advice: its grounds are the cells of other tasks and the verdicts, it makes up no number, and its score is exact on a
planted atlas."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import pytest

from lengthwise.cli import parser_of
from lengthwise.errors import UsageError
from lengthwise.evidence import Atlas, AtlasRun, TaskFacts
from lengthwise.forecasts.advice import advise
from lengthwise.forecasts.ranking import cells_of, rank
from lengthwise.forecasts.regret import evaluate_advice
from lengthwise.models.architecture import Architecture
from lengthwise.models.attention import attentions
from lengthwise.runs.plan import preset
from lengthwise.tasks import make_task
from lengthwise.training.lengths import schedules
from synthetic_atlas import SIZES, TRAIN_SIZE

BEST = {"counting": "none", "positions": "learned+offset", "neither": "alibi"}
FACTS = {name: TaskFacts(name, 3, 2, "tag", 1.0) for name in BEST}  # pyright: ignore[reportArgumentType]
LANGUAGE = "regular:expression=[ab]*ab[ab]*"  # counting alone


def planted_run(task: str, facts: TaskFacts, position: str, holds: bool, seed: int) -> AtlasRun:
    exact = tuple(1.0 if holds or size <= TRAIN_SIZE else 0.0 for size in SIZES)
    return AtlasRun(task, "language", facts, position, "can", {}, TRAIN_SIZE, seed, True, SIZES, exact, 100, {}, ())


def planted_atlas(each: int = 4, **odd: str) -> Atlas:
    """Tasks that hold with the encoding of their class alone; odd ones, by their names, with another."""
    runs = []
    for oracle_class, facts in FACTS.items():
        for number in range(each):
            name = f"{oracle_class}_{number}"
            right = odd.get(name, BEST[oracle_class])
            runs += [planted_run(name, facts, one, one == right, seed) for one in BEST.values() for seed in (0, 1)]
    return Atlas(tuple(runs))


@pytest.mark.parametrize("oracle_class", BEST)
def test_the_best_encoding_of_similar_tasks_comes_first_with_its_cells(oracle_class: str) -> None:
    first, *others = rank(cells_of(planted_atlas(), 4.0), FACTS[oracle_class], dict.fromkeys(BEST.values(), "unknown"))
    assert first.design == BEST[oracle_class] and first.similar == ("oracle_class", "readout", "local")
    assert (first.tasks, first.held, first.runs) == (4, 4, 8) and first.interval is not None
    assert first.interval.high == 1 and all(one.held == 0 for one in others)


def test_what_cannot_hold_comes_last_and_what_was_not_measured_after_what_was() -> None:
    verdicts = {"none": "cannot", "alibi": "unknown", "rope": "can", "learned+offset": "unknown"}
    names = [one.design for one in rank(cells_of(planted_atlas(), 4.0), FACTS["counting"], verdicts)]
    assert names[-1] == "none" and names[-2] == "rope"


def test_runs_of_the_very_task_outweigh_similar_ones() -> None:
    cells, verdicts = cells_of(planted_atlas(counting_0="alibi"), 4.0), dict.fromkeys(BEST.values(), "unknown")
    assert rank(cells, FACTS["counting"], verdicts)[0].design == "none"
    own = rank(cells, FACTS["counting"], verdicts, "counting_0")[0]
    assert own.design == "alibi" and own.own is not None and own.tasks == 3


def test_regret_is_exact_on_planted_outcomes_and_uses_nothing_of_the_task_itself() -> None:
    regrets = evaluate_advice(planted_atlas()).table("advise.regret").column("regret")
    assert regrets == pytest.approx([0, *[2 / 3] * 4])  # the advice, fixed rules, and one encoding for all
    odd = evaluate_advice(planted_atlas(counting_0="alibi")).table("advise.regret").column("regret")
    assert odd[0] == pytest.approx(1 / 12)  # the odd task is advised as the others of its class are


def test_languages_that_can_hold_are_counted_and_none_is_no_number() -> None:
    claim = evaluate_advice(planted_atlas(neither_0="none")).claim("advise.languages")
    assert claim.evidence["tasks"] == 12 and claim.evidence["held"] == 11 and claim.interval is not None
    none = Atlas(tuple(replace(run, verdict="unknown") for run in planted_atlas().runs))
    assert evaluate_advice(none).claim("advise.languages").value is None


def with_a_model(atlas: Atlas) -> Atlas:
    """The same with a model that holds on every task."""
    own = {"position": "none", "model": "lstm", "verdict": "unknown", "exact": (1.0,) * len(SIZES)}
    return Atlas((*atlas.runs, *(replace(run, **own) for run in atlas.runs if run.position == "none")))


def test_another_model_that_holds_everywhere_is_advised_and_the_best_encoding_is_named_too() -> None:
    atlas = with_a_model(planted_atlas())
    record = advise(LANGUAGE, train_size=20, test_size=80, atlas=atlas)
    assert record.claim("advise.model").value == "lstm" and record.claim("advise.encoding").value == "none"
    first, second = (shlex.split(command) for command in record.data["commands"])
    parse = parser_of("train").parse_intermixed_args
    assert (parse(first[2:]).model, parse(second[2:]).position) == ("lstm", "none")


def test_models_are_scored_in_a_table_of_their_own_and_encodings_without_them() -> None:
    plain, joint = planted_atlas(counting_0="alibi"), with_a_model(planted_atlas(counting_0="alibi"))
    record = evaluate_advice(joint)
    assert record.table("advise.regret").rows == evaluate_advice(plain).table("advise.regret").rows
    assert record.table("advise.regret_models").column("regret")[0] == 0
    assert record.claim("advise.languages_models").value == 1 > record.claim("advise.languages").value


def test_an_atlas_too_small_to_score_is_refused() -> None:
    with pytest.raises(UsageError):
        evaluate_advice(Atlas(planted_atlas(1).runs[:2]))


def test_advice_has_a_claim_for_every_line_and_a_command_that_the_parser_takes() -> None:
    record = advise(LANGUAGE, train_size=20, test_size=80, atlas=planted_atlas())
    keys = [claim.key.removeprefix("advise.") for claim in record.claims]
    assert keys == ["encoding", "share", "attention", "shape", "recipe", "train_size", "seeds"]
    chosen, share = record.claim("advise.encoding"), record.claim("advise.share")
    assert chosen.value == "none" and chosen.evidence["verdict"] == "can"
    assert share.value == 1 and share.kind == "measured" and share.interval is not None
    assert record.claim("advise.train_size").kind == "proved" and record.claim("advise.seeds").value == 1
    words = shlex.split(record.data["commands"][0])
    options = parser_of("train").parse_intermixed_args(words[2:])
    assert (options.task, options.position, options.train_size, options.test_size) == (LANGUAGE, "none", 20, 80)
    json.dumps(record.plain(), allow_nan=False)


def test_without_evidence_no_number_is_made_up() -> None:
    """At 50 times the training size nothing was measured."""
    known = advise(LANGUAGE, train_size=20, test_size=1000, atlas=planted_atlas())
    assert known.claim("advise.encoding").value == "none"  # by theory
    assert {claim.key for claim in known.claims if claim.value is None} == {"advise.seeds"}
    assert known.table("advise.designs").column("expected") == [None] * 3
    alibi = planted_atlas().select(position="alibi")
    claim = advise("copy_repeat", train_size=20, test_size=1000, atlas=alibi).claim("advise.encoding")
    assert (claim.value, claim.status) == (None, "unknown")


def test_an_empty_atlas_leaves_theory_and_the_usual_settings() -> None:
    record = advise(LANGUAGE, atlas=Atlas(()))
    assert record.claim("advise.encoding").value == "none"
    assert record.claim("advise.attention").value == attentions.text_of(Architecture().attention)
    assert record.claim("advise.recipe").evidence["settings"]["sizes"] == schedules.text_of(
        preset(make_task(LANGUAGE))[1].sizes
    )


def test_another_training_size_is_an_assumption() -> None:
    claim = advise(LANGUAGE, train_size=200, test_size=800, atlas=planted_atlas()).claim("advise.encoding")
    assert [one.key for one in claim.assumptions] == ["advise.other_size"]


def test_one_seed_gives_no_number_of_seeds() -> None:
    record = advise(LANGUAGE, train_size=20, test_size=80, atlas=planted_atlas().select(seed=0))
    assert record.claim("advise.seeds").value is None
