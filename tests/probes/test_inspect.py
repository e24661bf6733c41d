"""One call: every kind of model, every kind of input, and sections that fail in their place."""

import json
import math
import re
import shutil
from pathlib import Path

import pytest
import torch
import transformers

import lengthwise as lw
from lengthwise.errors import UsageError
from lengthwise.models.folder import save_model
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.positions import make_position
from lengthwise.probes import probes
from lengthwise.probes.inspection import INSPECTED
from lengthwise.probes.margins import MarginsProbe
from lengthwise.probes.shift_gap import ShiftGapProbe
from lengthwise.tasks import tasks
from small_runs import sealed_again

QUICK = ["layers", "shift_gap", "margins"]


def inputs(found: lw.Inspection) -> str:
    return dict(found.facts)["inputs"]


def ours(task: str = "sort", position: str = "rope") -> Transformer:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        vocabulary = len(tasks.make(task).vocabulary)
        architecture = Architecture(1, 8, 2, 2, position=make_position(position))
        return Transformer(architecture, Interface(vocabulary, vocabulary, 40, 12))


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """What a run leaves, as far as an inspection reads it."""
    folder = tmp_path_factory.mktemp("runs") / "sorting"
    save_model(folder, ours(), "a model")
    sealed_again(folder, plan={"task": {"name": "sort"}, "train_size": 5})
    return folder


@pytest.fixture(scope="module")
def llama_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "llama"
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=31, **sizes)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def whole(run_folder):
    return lw.inspect(run_folder)


def test_a_run_is_shown_its_own_task(whole):
    found = whole
    assert found.model == "sorting" and "8 items of size 5 of the run's own task sort" in inputs(found)
    assert tuple(r.source for r in found.records) == INSPECTED and not any(r.failed for r in found.records)
    assert {claim.kind for claim in found.claims} >= {"measured", "proved", "certified"}
    json.dumps(found.plain(), allow_nan=False)


def test_bounds_from_below_stay_under_those_from_above(whole):
    table = whole.record("lipschitz").table("lipschitz.constants")
    both = [(row[1], row[2]) for row in table.rows if row[1] is not None]
    assert len(both) == 2 and all(0 < seen <= certified for seen, certified in both)


def test_other_models_are_shown_made_up_sequences_and_that_is_said(llama_folder):
    found = lw.inspect(llama_folder, probes=QUICK)
    assert "made-up sequences" in inputs(found) and "no text" in inputs(found)
    assert found.record("shift_gap").claims[0].value <= 1e-10
    assert (
        lw.inspect(llama_folder, probes=["margins"], seed=1).plain()
        != lw.inspect(llama_folder, probes=["margins"], seed=2).plain()
    )


def test_a_model_object_is_inspected_as_well():
    assert lw.inspect(ours("sort", "learned"), probes=QUICK).record("shift_gap").claims[-1].value == "unbounded"


def test_items_of_a_file_are_read_in_the_symbols_of_the_run(run_folder, tmp_path):
    path = tmp_path / "items.jsonl"
    path.write_text('{"input": "5 3 9", "answer": "3 5 9"}\n{"input": "7 3 1", "answer": "1 3 7"}\n')
    found = lw.inspect(run_folder, data=path, items=2, probes=["margins"])
    assert "2 items of size 3" in inputs(found)
    path.write_text('{"input": "5 x 9", "answer": "5 9 x"}\n')
    with pytest.raises(UsageError, match="the symbol 'x', which is not one of those"):
        lw.inspect(run_folder, data=path)


def test_tokens_of_a_file_are_cut_to_the_shortest(llama_folder, tmp_path):
    path = tmp_path / "tokens.jsonl"
    path.write_text('{"tokens": [1, 2, 3, 4]}\n{"tokens": [5, 6, 7]}\n')
    found = lw.inspect(llama_folder, data=path, probes=["margins"])
    assert "cut to the 3 tokens of the shortest" in inputs(found)
    assert found.record("margins").claims[0].evidence["tokens"] == 3


def test_texts_need_the_tokenizer_beside_the_model(llama_folder, tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "a b a c"}\n{"text": "b b"}\n')
    with pytest.raises(UsageError, match=r"no tokenizer\.json with the model"):
        lw.inspect(llama_folder, data=path)
    from tokenizers import Tokenizer, models, pre_tokenizers

    cutter = Tokenizer(models.WordLevel({"a": 3, "b": 4, "c": 5}))
    cutter.pre_tokenizer = pre_tokenizers.Whitespace()  # pyright: ignore[reportAttributeAccessIssue]
    (llama_folder / "tokenizer.json").write_text(cutter.to_str())
    try:
        assert "cut to the 2 tokens" in inputs(lw.inspect(llama_folder, data=path, probes=["margins"]))
    finally:
        (llama_folder / "tokenizer.json").unlink()


BAD = {
    '{"tokens": [1, 99]}': "reads the tokens 0 to 30, and 99 is not one",
    '{"tokens": ["a"]}': "list of whole numbers",
    '{"tokens": [1]}': "a sequence of 1 tokens",
    "": "is empty",
    "[1, 2]": "a line is",
    "{": "is not JSON",
}


@pytest.mark.parametrize("line", BAD)
def test_bad_data_is_one_sentence(llama_folder, tmp_path, line):
    path = tmp_path / "bad.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(UsageError, match=BAD[line]):
        lw.inspect(llama_folder, data=path, probes=QUICK)


def test_bad_choices_are_one_sentence(run_folder, llama_folder, tmp_path):
    with pytest.raises(UsageError, match="another vocabulary"):
        lw.inspect(run_folder, task="parity")
    with pytest.raises(UsageError, match="another vocabulary"):
        lw.inspect(llama_folder, task="sort")
    with pytest.raises(UsageError, match="given twice"):
        lw.inspect(run_folder, task="sort", data="x.jsonl")
    with pytest.raises(UsageError, match="did you mean 'margins'"):
        lw.inspect(run_folder, probes=["margin"])
    with pytest.raises(UsageError, match=r"there is no .*nowhere"):
        lw.inspect(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="is not a model"):
        lw.inspect(tmp_path)
    with pytest.raises(UsageError, match="not a int"):
        lw.inspect(3)
    broken = ours()
    broken.norm.weight.data[0] = math.nan
    with pytest.raises(UsageError, match="NaN or infinite"):
        lw.inspect(broken)


def test_a_probe_that_fails_says_why_in_its_place(run_folder, monkeypatch):
    def refuses(self, look):
        raise UsageError("there is nothing to see")

    def breaks(self, look):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(ShiftGapProbe, "answer", refuses)
    monkeypatch.setattr(MarginsProbe, "answer", breaks)
    found = lw.inspect(run_folder, probes=QUICK)
    assert found.record("layers").failed == "" and found.broken == ("margins",)
    assert found.record("shift_gap").failed == "there is nothing to see"
    assert found.record("margins").failed == "internal error: ZeroDivisionError: by zero"


def test_probes_have_settings_of_their_own(run_folder):
    found = lw.inspect(run_folder, probes=["margins:items=3,size=2", "layers"], items=4)
    assert found.record("margins").claims[0].evidence["n"] == 3 and found.record("margins").settings["size"] == 2
    assert found.record("layers").settings == {"items": 4, "size": None}
    with pytest.raises(UsageError, match="items takes a whole number"):
        lw.inspect(run_folder, probes=["margins:items=few"])


def test_a_subject_that_lacks_weights_says_so_in_every_record(tmp_path):
    (tmp_path / "mine.py").write_text("class Sorter:\n    def answer(self, prompts):\n        return prompts\n")
    found = lw.inspect(f"{tmp_path}/mine.py::Sorter", probes=QUICK)
    assert all("does not offer" in record.failed for record in found.records) and not found.broken


def test_the_first_three_lines_lead_with_keys_that_probes_have(whole, run_folder):
    assert len(whole.headline) == 3 and all(whole.headline)
    assert {"lipschitz.whole", "shift_gap.largest", "attention.entropy"} <= {claim.key for claim in whole.claims}
    assert len(lw.inspect(run_folder, probes=["layers"]).headline) == 3


def test_a_lost_task_is_said(run_folder, tmp_path):
    folder = tmp_path / "lost"
    shutil.copytree(run_folder, folder)
    sealed_again(folder, plan={"task": {"name": "gone.py::Task"}, "train_size": 5})
    assert "the task of the run cannot be loaded" in inputs(lw.inspect(folder, probes=["margins"]))


def test_the_probe_of_the_page_about_inspecting_works(run_folder, tmp_path):
    """The example of docs/how-to/inspect.md, as it stands there."""
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "inspect.md").read_text(encoding="utf-8")
    (example,) = [code for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "WeightsProbe" in code]
    place = {}
    exec(example, place)
    (found,) = lw.inspect(run_folder, probes=[place["SinksProbe"]()]).records
    assert re.fullmatch(r"block 0: [01]\.\d\d", found.text[0]) and not found.failed
    assert "layers" in probes.names()
