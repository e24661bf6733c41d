"""One call: every kind of model and data, what it says of them, and work that goes on where it stopped."""

import dataclasses
import json
import shutil

import numpy as np
import pytest

import lengthwise as lw
from lengthwise.bounds.compression.message import decode
from lengthwise.errors import Interrupted, UsageError
from lengthwise.models.batches import logits_of, loss_of
from lengthwise.models.folder import load_model
from lengthwise.probes.guarantee import GuaranteeProbe
from lengthwise.probes.guarantee import bound as entry
from lengthwise.probes.guarantee import source as sources
from lengthwise.probes.guarantee.source import ItemSource
from lengthwise.probes.probe import Context, ask
from lengthwise.progress import silent
from lengthwise.runs.run import load_run
from lengthwise.subjects.open import open_subject
from lengthwise.training.batches import Batches
from small_runs import trained

QUICK = {"quantiser": "uniform:levels=16"}


def bound(model, *, data=None, folder=None, seed=0, progress=silent, **settings) -> lw.Guarantee:
    return lw.bound(model, GuaranteeProbe(**settings), data=data, folder=folder, seed=seed, progress=progress)


@pytest.fixture(scope="module")
def prose(prose_run, tmp_path_factory):
    return bound(prose_run, held_out=100, folder=tmp_path_factory.mktemp("prose") / "bound")


def test_a_run_is_bounded_on_its_own_items(prose):
    assert prose.losses.tokens == 30 * 16 * 12 and prose.losses.documents == 480 and prose.vocabulary == 31
    assert {one.level for one in prose.bounds} == {"documents", "tokens"}
    assert {one.risk.kind for one in prose.bounds} == {"certified"}
    checks = {a.key: a.check for one in prose.bounds for a in one.risk.assumptions}
    assert [check for check in checks.values() if check != "checked"] == ["assumed"]
    assert {"guarantee.own_items", "guarantee.drawn_items", "guarantee.count_paid"} <= set(checks)
    for one in prose.bounds:
        assert one.total >= one.risk.terms[0].value
    json.dumps(prose.plain(), allow_nan=False)


def test_what_is_charged_is_what_is_on_disk(prose):
    data = (prose.folder / "message.bin").read_bytes()
    parts = prose.message.parts
    assert sum(parts.values()) == prose.message.bits
    assert prose.message.bits >= 8 * len(data) + parts["number of tokens"]
    header, tensors = decode(data)
    assert header["model"] == "lengthwise" and sum(tensor.size for tensor in tensors.values()) == prose.message.numbers


def test_the_losses_are_those_of_the_decoded_model(prose, prose_run):
    run = load_run(prose_run)
    given = open_subject(prose_run).capability("predictor")
    before = given.digest()
    decoded = given.with_weights(decode((prose.folder / "message.bin").read_bytes())[1])
    assert given.digest() == before != decoded.digest()
    batches = Batches(run.plan.task, run.plan.recipe, run.plan.train_sizes, run.plan.seed, True)
    model = decoded.network
    found = [
        float(
            loss_of(
                run.plan.task, logits_of(model, run.plan.task, batches.at(step), None, False).detach(), batches.at(step)
            )
        )
        for step in range(30)
    ]
    assert prose.losses.loss == pytest.approx(np.mean(found), abs=1e-5)
    original = load_model(prose_run)
    first = [logits_of(m, run.plan.task, batches.at(0), None, False) for m in (model, original)]
    assert float((first[0] - first[1]).detach().abs().max()) > 0  # it is not the original that was looked at


def test_what_is_true_stays_below_the_bounds(prose):
    assert prose.measured and not prose.broken
    assert {claim.key for claim in prose.measured} == {"guarantee.on_fresh_items", "guarantee.in_contexts"}
    for claim in prose.measured:
        assert claim.value < claim.evidence["bound"]


def test_the_plain_loss_of_fresh_items_is_that_of_the_decoded_model(prose, prose_run):
    from lengthwise.probes.guarantee.losses import losses_on

    subject = open_subject(prose_run)
    predictor = subject.capability("predictor").with_weights(decode((prose.folder / "message.bin").read_bytes())[1])
    source = ItemSource(subject.capability("run"), GuaranteeProbe(sample=100), 1, "held-out")
    fresh = next(iter(source.stretches(1 << 20)))
    surprise = losses_on(predictor, fresh).surprise.astype(np.float64)
    assert len(surprise) == 100 * 12 and prose.plain_loss.value == pytest.approx(surprise.mean(), abs=1e-5)
    assert prose.plain_loss.interval.low < prose.plain_loss.value < prose.plain_loss.interval.high
    assert prose.plain_loss in prose.claims and prose.plain()["plain_loss"]["unit"] == "nats per token"


def test_items_that_are_all_alike_leave_a_doubt(prose):
    """No spread among a hundred items is not certainty about all the others."""
    from lengthwise.probes.guarantee.held_out import _of_contexts, _of_documents

    one, sums, counts = prose.bounds[0], np.zeros(100), np.full(100, 12.0)
    assert _of_documents(one, sums, counts).interval.level == 0.95
    assert _of_contexts(one, sums, counts, whole=False).interval.level == 0.95
    assert _of_contexts(one, sums, counts, whole=True).interval.level == 1.0


def test_exact_risk_is_the_mean_over_many_draws(prose_run):
    """Drawing the next symbol many times from the chain gives the loss that was computed without a draw."""
    from lengthwise.probes.guarantee import held_out

    subject = open_subject(prose_run)
    run, predictor = subject.capability("run"), subject.capability("predictor")
    rows = next(iter(held_out._rows(run, 40, 0, "train")))
    setting = held_out._Setting("loss", 0.1)
    (sums, counts) = held_out._by_item(
        predictor, iter([rows]), [setting], lambda *given: held_out._expected_loss(run, *given)
    )[setting]
    import torch

    batch = rows.batch
    with torch.no_grad():
        logits = predictor.states(torch.from_numpy(batch.inputs), torch.from_numpy(batch.scored)).double()
    losses = held_out._loss_of_all(logits, setting).numpy()
    true = np.exp(run.task.log_probabilities(batch.targets - 4)).reshape(-1, 27)
    rng = np.random.default_rng(0)
    drawn = (rng.random((2000, len(true), 1)) > true.cumsum(axis=1)[None]).sum(axis=2).clip(max=26) + 4
    mean = losses[np.arange(len(true))[None], drawn].mean()
    assert sums.sum() / counts.sum() == pytest.approx(mean, abs=0.01)


def test_a_bound_that_is_exceeded_is_said_aloud(prose_run, prose):
    from lengthwise.probes.guarantee.held_out import held_out_check

    lower = tuple(
        dataclasses.replace(one, risk=dataclasses.replace(one.risk, terms=one.risk.terms[:0])) for one in prose.bounds
    )
    found = held_out_check(
        open_subject(prose_run).capability("run"), open_subject(prose_run).capability("predictor"), lower, 20, 0
    )
    assert (
        len(found.broken) >= len([one for one in lower if one.target == "loss"])
        and "above the bound" in found.broken[0]
    )


def test_fresh_items_have_the_sizes_of_training_and_other_content(sort_run):
    run = open_subject(sort_run).capability("run")
    train, fresh = (ItemSource(run, GuaranteeProbe(), 0, role) for role in ("train", "held-out"))
    items = np.arange(100)
    assert np.array_equal(train.sizes_of(items), fresh.sizes_of(items))
    first, second = (source.laid_out(items).rows[-1].batch.inputs for source in (train, fresh))
    assert first.shape == second.shape and not np.array_equal(first, second)


@pytest.mark.parametrize("pool", [1, 4])
def test_all_items_of_training_come_once(tmp_path, pool):
    folder = trained(tmp_path / "run", "sort", pool=pool, steps=8)
    run = load_run(folder)
    source = ItemSource(open_subject(folder).capability("run"), GuaranteeProbe())
    rows = [row for part in source.stretches(300) for some in part.rows for row in _texts(some.batch)]
    batches = Batches(run.plan.task, run.plan.recipe, run.plan.train_sizes, run.plan.seed, True)
    assert sorted(rows) == sorted(row for step in range(8) for row in _texts(batches.at(step)))


def _texts(batch) -> list[tuple]:
    return [
        tuple(row[: mark.nonzero()[0][-1] + 1].tolist()) for row, mark in zip(batch.inputs, batch.scored, strict=True)
    ]


def test_answers_that_follow_from_prompts_are_spoken_of(sort_run, tmp_path):
    found = bound(sort_run, folder=tmp_path / "b", held_out=20, **QUICK)
    assert "guarantee.certain_answers" in [note.key for note in found.notes]
    assert {claim.key for claim in found.measured} == {"guarantee.on_fresh_items"}


def test_a_sample_of_items_pays_for_being_one(prose_run, sort_run, tmp_path):
    some = bound(prose_run, folder=tmp_path / "some", sample=100, **QUICK)
    assert some.losses.documents == 100 and {one.level for one in some.bounds} == {"documents", "tokens"}
    assert all(one.risk.terms[-1].key == "sampling" for one in some.bounds)
    trained_on = {one.level: one.claim().evidence["trained_on"]["count"] for one in some.bounds}
    assert trained_on == {"documents": 480, "tokens": 480 * 12}
    unequal = bound(sort_run, folder=tmp_path / "unequal", sample=100, **QUICK)
    assert {one.level for one in unequal.bounds} == {"documents"} and unequal.notes[
        0
    ].key == "guarantee.unequal_documents"
    every = bound(sort_run, folder=tmp_path / "all", sample=10**6, **QUICK)
    assert every.losses.documents == 480 and {one.level for one in every.bounds} == {"documents", "tokens"}


@pytest.mark.parametrize(
    "form",
    [
        pytest.param("lora:rank=1", marks=pytest.mark.slow),
        pytest.param("subspace:dimensions=300", marks=pytest.mark.slow),
        "sublora:rank=2,dimensions=200",
    ],
)
def test_a_form_is_charged_for_its_coordinates(tmp_path, form):
    folder = trained(tmp_path / "run", form=form, steps=5)
    found = bound(folder, folder=tmp_path / "b", **QUICK)
    header, tensors = decode((found.folder / "message.bin").read_bytes())
    assert header["form"].startswith(form.split(":")[0]) and header["seed"] == 0
    if "dimensions" in form:
        assert sum(tensor.size for tensor in tensors.values()) == int(form.split("dimensions=")[1])
    exact = bound(folder, folder=tmp_path / "exact", quantiser="exact")
    plain = open_subject(folder).capability("predictor")
    assert exact.message.quantised == pytest.approx(exact.message.original, abs=1e-9)
    assert all(np.array_equal(a, b) for a, b in zip(plain.tensors().values(), plain.coordinates.values(), strict=True))


def test_a_file_of_documents(llama_folder, texts, tmp_path):
    found = bound(llama_folder, data=texts, folder=tmp_path / "b", **QUICK)
    assert found.losses.tokens == sum(1 + number % 37 for number in range(60)) and found.losses.documents == 60
    assert "window of 16 tokens" in found.data and found.vacuous
    assert {one.risk.kind for one in found.bounds} == {"certified"}
    claims = [claim for claim in found.claims if claim.status == "vacuous"]
    assert len(claims) == len(found.bounds)


def test_the_size_of_the_training_set_makes_it_a_prediction(llama_folder, texts, tmp_path):
    found = bound(llama_folder, data=texts, tokens=10**9, folder=tmp_path / "b", **QUICK)
    assert {(one.level, one.risk.kind) for one in found.bounds} == {("tokens", "predicted")}
    (word,) = [a for a in found.bounds[0].risk.assumptions if a.key == "guarantee.sample_of_tokens"]
    assert word.values["tokens"] == 10**9
    with pytest.raises(UsageError, match="5 tokens is smaller than the data"):
        bound(llama_folder, data=texts, tokens=5, folder=tmp_path / "c", **QUICK)
    assert not (tmp_path / "c").exists()
    with pytest.raises(UsageError, match="`documents` is about the documents of a file"):
        bound(llama_folder, documents=5, **QUICK)
    with pytest.raises(UsageError, match="59 documents is smaller than the data, which hold 60"):
        bound(llama_folder, data=texts, tokens=10**9, documents=59, folder=tmp_path / "d", **QUICK)


def test_the_built_in_text_certifies_nothing(llama_folder, tmp_path, monkeypatch):
    from lengthwise.probes.guarantee import texts

    monkeypatch.setattr(texts, "built_in_parts", lambda count: ["a b c d e f g h i j"] * count)
    found = bound(llama_folder, tokens=10**12, folder=tmp_path / "b", **QUICK)
    assert {(one.level, one.risk.kind) for one in found.bounds} == {("tokens", "heuristic")}
    assert "guarantee.stands_in" in [a.key for a in found.bounds[0].risk.assumptions]


def test_repeated_documents_violate_independence_of_documents_alone(llama_folder, texts, tmp_path):
    path = tmp_path / "twice.jsonl"
    path.write_text(texts.read_text() * 2)
    found = bound(llama_folder, data=path, folder=tmp_path / "b", **QUICK)
    kinds = {one.level: one.risk.kind for one in found.bounds}
    assert kinds == {"documents": "heuristic", "tokens": "certified"}
    (violated,) = [a for a in found.bounds[0].risk.assumptions if a.check == "violated"]
    assert violated.key == "guarantee.repeated" and (violated.values["repeated"], violated.values["documents"]) == (
        60,
        120,
    )


def test_a_limit_cuts_the_last_document(llama_folder, texts, tmp_path):
    found = bound(llama_folder, data=texts, limit=100, folder=tmp_path / "b", **QUICK)
    assert found.losses.tokens == 100
    assert {one.level: one.risk.kind for one in found.bounds} == {"documents": "heuristic", "tokens": "certified"}
    assert ("guarantee.limited", {"tokens": 100}) in [(note.key, note.values) for note in found.notes]


def test_what_comes_after_a_limit_is_not_read(llama_folder, texts, tmp_path):
    """The same bound, from the same folder, whatever stands in the file after the tokens that are wanted."""
    longer = tmp_path / "longer.jsonl"
    longer.write_text(texts.read_text().rstrip() + "\nthis line is no JSON\n")
    first, again = (
        bound(llama_folder, data=data, limit=100, folder=tmp_path / "b", **QUICK) for data in (texts, longer)
    )
    assert first.losses == again.losses and [one.total for one in first.bounds] == [one.total for one in again.bounds]
    assert first.data.startswith(f"the first {first.losses.documents} documents of ")


@pytest.mark.slow
def test_a_sample_of_a_file_is_the_same_each_time(llama_folder, texts, tmp_path):
    first, again, other = (
        bound(llama_folder, data=texts, sample=20, seed=seed, folder=tmp_path / name, **QUICK)
        for name, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert first.losses == again.losses != other.losses and first.losses.documents == 20
    assert first.bounds[0].claim().evidence["trained_on"]["count"] == 60


def test_the_best_quantiser_is_chosen_and_exact_loses_nothing(prose, prose_run, tmp_path):
    tried = prose.message.tried
    assert len(tried) > 5 and min(tried, key=lambda one: one.foreseen).quantiser == prose.message.facts["quantiser"]
    assert len({(one.bits, one.loss) for one in tried}) == len(tried)  # each was tried on the weights as they were
    for_documents = bound(prose_run, folder=tmp_path / "d", aim="documents").message
    assert [one.bits for one in for_documents.tried] == [one.bits for one in tried]
    assert all(one.foreseen != other.foreseen for one, other in zip(for_documents.tried, tried, strict=True))
    assert min(for_documents.tried, key=lambda one: one.foreseen).quantiser == for_documents.facts["quantiser"]
    exact = bound(prose_run, folder=tmp_path / "b", quantiser="exact")
    assert exact.message.bits_per_weight > 24 and exact.message.quantised == exact.message.original


# --- work that goes on -----------------------------------------------------------------------------------------------


@pytest.fixture
def small_stretches(monkeypatch):
    monkeypatch.setattr(sources, "SMALLEST", 256)
    monkeypatch.setattr(sources, "LARGEST", 256)


def test_it_goes_on_where_it_was_stopped(prose_run, tmp_path, small_stretches, monkeypatch):
    import signal

    whole = bound(prose_run, folder=tmp_path / "whole", **QUICK)

    def stop(doing, step, steps):
        if doing == "predicting" and step > 3 * 256:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted, match=r"stopped after \d+ tokens; run the same command again") as stopped:
        bound(prose_run, folder=tmp_path / "part", progress=stop, **QUICK)
    kept = sorted(path.name for path in (tmp_path / "part").glob("losses-*"))
    assert 3 <= len(kept) < 20 and stopped.value.exit_code == 130 and not (tmp_path / "part" / "bound.json").exists()
    (tmp_path / "part" / kept[0]).write_bytes(b"half")  # from a disk that was full: it is made again
    seen = []
    real = entry.losses_on
    monkeypatch.setattr(entry, "losses_on", lambda *given: seen.append(given) or real(*given))
    resumed = bound(prose_run, folder=tmp_path / "part", **QUICK)
    assert resumed.losses == whole.losses and resumed.bounds == whole.bounds
    files = sorted(path.name for path in (tmp_path / "whole").glob("losses-*"))
    assert len(seen) == len(files) - len(kept) + 1
    for name in files:
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "part" / name).read_bytes()
    assert (tmp_path / "whole" / "message.bin").read_bytes() == (tmp_path / "part" / "message.bin").read_bytes()


def test_a_folder_refuses_another_model_or_other_data(prose_run, sort_run, llama_folder, texts, tmp_path):
    bound(llama_folder, data=texts, folder=tmp_path / "b", **QUICK)
    changed = tmp_path / "changed.jsonl"
    changed.write_text(texts.read_text().replace('"a', '"b', 1))
    with pytest.raises(UsageError, match="holds another bound"):
        bound(llama_folder, data=changed, folder=tmp_path / "b", **QUICK)
    with pytest.raises(UsageError, match="holds another bound"):
        bound(sort_run, folder=tmp_path / "b", **QUICK)
    with pytest.raises(UsageError, match="holds other files"):
        bound(sort_run, folder=prose_run, **QUICK)
    with pytest.raises(UsageError, match="holds another bound"):
        bound(llama_folder, data=texts, folder=tmp_path / "b", limit=10, **QUICK)


def test_the_usual_folder_tells_models_and_data_apart(llama_folder, texts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = bound(llama_folder, data=texts, **QUICK)
    same = bound(llama_folder, data=texts, delta=0.01, **QUICK)
    other = bound(llama_folder, data=texts, limit=50, **QUICK)
    assert first.folder == same.folder != other.folder and str(first.folder).startswith("bounds/llama-")
    for one, surer in zip(first.bounds, same.bounds, strict=True):
        assert surer.complexity > one.complexity and surer.delta == 0.01


# --- what cannot be done --------------------------------------------------------------------------------------------

REFUSED = [
    ({"delta": 0.0}, "delta must be a probability"),
    ({"delta": 1.5}, "delta must be a probability"),
    ({"sample": 0}, "sample must be at least 1"),
    ({"sample": 5, "limit": 5}, "cut the sample short"),
    ({"aim": "words"}, "tokens or of documents"),
    ({"quantiser": "median"}, "unknown quantiser 'median'"),
    ({"quantiser": "kmeans:levels=0"}, "levels"),
    ({"window": 17}, "1 to 16 tokens"),
    ({"held_out": 5}, "fresh ones from the run's own task"),
    ({"data": "nowhere.jsonl"}, "there is no file nowhere.jsonl"),
    ({"sample": 3, "tokens": 10**9}, "leave out the numbers of tokens"),
]


@pytest.mark.parametrize("options, sentence", REFUSED)
def test_wrong_wishes_are_refused_before_the_work(llama_folder, texts, tmp_path, options, sentence):
    with pytest.raises(UsageError, match=sentence):
        bound(llama_folder, **{"data": texts, "folder": tmp_path / "b", **options})
    assert not (tmp_path / "b").exists()


def test_a_run_has_its_own_data(prose_run, texts, tmp_path):
    for options in ({"data": texts}, {"tokens": 10**9}, {"window": 8}):
        with pytest.raises(UsageError, match="leave out"):
            bound(prose_run, folder=tmp_path / "b", **options)


def test_models_that_predict_no_token_are_refused(tmp_path, llama_folder):
    with pytest.raises(UsageError, match="there is no"):
        bound(tmp_path / "nowhere")
    encoder = {"depth": 1, "width": 8, "heads": 1, "causal": False}
    lw.train("sort", train_size=3, **encoder, steps=1, folder=tmp_path / "encoder")
    with pytest.raises(UsageError, match="is an encoder"):
        bound(tmp_path / "encoder")
    shutil.copytree(tmp_path / "encoder", tmp_path / "lost")
    (tmp_path / "lost" / "run.json").unlink()
    with pytest.raises(UsageError, match="its training items are unknown"):
        bound(tmp_path / "lost")


def test_the_probe_gives_the_record_of_the_bounds(prose_run, prose):
    subject = open_subject(prose_run)
    probe = GuaranteeProbe(held_out=20, **QUICK)
    record = ask(probe, subject, Context())
    assert record.source == "guarantee" and record.settings["held_out"] == 20
    assert ask(probe, subject, Context()) == record  # and nothing was changed by asking
    tables = {table.key: table for table in record.tables}
    assert {"guarantee.documents", "guarantee.tokens", "guarantee.measured", "guarantee.message"} <= set(tables)
    for level in ("documents", "tokens"):
        for row in tables[f"guarantee.{level}"].records():
            assert row["verdict"] == ("below" if row["bound"] < row["chance"] else "vacuous")
    json.dumps(record.plain(), allow_nan=False)
