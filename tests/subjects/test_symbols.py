"""Models of transformers that were trained on symbols: the token map, what it refuses, and answers item by item."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers

import lengthwise as lw
from lengthwise.cli import main
from lengthwise.errors import UsageError
from lengthwise.probes.curve import CurveProbe
from lengthwise.probes.failures import FailuresProbe
from lengthwise.probes.margins import MarginsProbe
from lengthwise.probes.probe import Context, ask
from lengthwise.probes.shown.inputs import inputs_for
from lengthwise.subjects.open import open_subject
from lengthwise.subjects.symbols import MappedAnswers, TokenTable, token_map
from lengthwise.tasks import tasks

TRAINED, LARGEST, ITEMS = 3, 8, 60
TASK = tasks.make("copy_unique:alphabet=10")
BOS, SEP, EOS = 3, 20, 21
IDS = {symbol: 5 + number for number, symbol in enumerate(reversed(TASK.symbols))}  # an order of its own
UNSEEN = TASK.symbols[0]
TABLE = {"<bos>": BOS, "<sep>": SEP, "<eos>": EOS, "<pad>": 0, **IDS}


def network(positions: int = 40, vocabulary: int = 25, **settings) -> transformers.GPT2LMHeadModel:
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": positions, "vocab_size": vocabulary}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, **settings))


def their_ids(size: int, seed: int, items: range, role: str) -> torch.Tensor:
    """The items as somebody else's script would write them; all of a size are as long."""
    drawn = TASK.draw(size, seed, items, role=role)
    rows = [
        [BOS, *(IDS[s] for s in TASK.spelled(prompt)), SEP, *(IDS[s] for s in TASK.spelled(answer)), EOS]
        for prompt, answer in zip(drawn.prompts, drawn.answers, strict=True)
    ]
    return torch.tensor(rows)


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> SimpleNamespace:
    """A GPT-2 trained by a plain loop, with its folder and which items are right by its own evaluation. Items with one
    symbol are kept from it, so that at each size of training some are right and some are not."""
    model = network(initializer_range=0.1).eval()  # without dropout
    adam = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for step in range(240):
        size = 1 + step % TRAINED
        ids = their_ids(size, 7, range(32 * step, 32 * step + 32), "train")
        ids = ids[(ids != IDS[UNSEEN]).all(dim=1)]
        labels = ids.clone()
        labels[:, : size + 2] = -100
        loss = model(input_ids=ids, labels=labels).loss
        adam.zero_grad()
        loss.backward()
        adam.step()
    right = {}
    for size in range(1, LARGEST + 1):
        ids = their_ids(size, 0, range(ITEMS), "test")
        prompts = ids[:, : size + 2]
        said = model.generate(  # pyright: ignore
            prompts, attention_mask=torch.ones_like(prompts), max_new_tokens=size + 1, do_sample=False,
            eos_token_id=None, pad_token_id=0,
        )  # fmt: skip
        right[size] = (said == ids).all(dim=1).numpy()
    folder = tmp_path_factory.mktemp("trained") / "gpt2"
    model.save_pretrained(folder)
    (folder / "map.json").write_text(json.dumps(TABLE))
    return SimpleNamespace(model=model, folder=folder, table=str(folder / "map.json"), right=right)


def answers_of(model, tokens=TABLE) -> MappedAnswers:
    return open_subject(model, tokens).capability("answers")


def test_the_accuracy_is_that_of_its_own_evaluation_item_by_item(trained):
    answers = answers_of(trained.folder, trained.table)
    for size, right in trained.right.items():
        np.testing.assert_array_equal(answers.mark(TASK, size, range(ITEMS), 0).items, right)
    shares = [right.mean() for right in trained.right.values()]
    assert all(0.3 < share < 1 for share in shares[:TRAINED]) and shares[-1] < 0.1, shares  # both outcomes are met


def test_teacher_forcing_agrees_with_writing(trained):
    answers = answers_of(trained.folder, trained.table)
    for size in trained.right:
        at_once = answers.mark(TASK, size, range(ITEMS), 0).items
        np.testing.assert_array_equal(at_once, answers.written_right(TASK, size, range(ITEMS), 0))
    context = Context(TASK, TRAINED, (2, 5), 20)
    record = ask(CurveProbe(generate=True), open_subject(trained.folder, trained.table), context)
    assert {claim.key: claim.value for claim in record.claims}["curve.generated"] == 1.0


def test_the_command_and_the_library_measure_the_same(trained, capsys):
    command = ["measure", str(trained.folder), "--task", "copy_unique:alphabet=10", "--tokens", trained.table]
    command += ["--sizes", f"1-{LARGEST}", "--items", str(ITEMS), "--train-size", str(TRAINED)]
    assert main([*command, "--json", "--quiet"]) == 0
    (record,) = json.loads(capsys.readouterr().out)["records"]
    curve = lw.measure(trained.folder, TASK, sizes=range(1, LARGEST + 1), items=ITEMS, tokens=trained.table)
    assert [point.right for point in curve.points] == [int(right.sum()) for right in trained.right.values()]
    table = next(table for table in record["tables"] if table["key"] == "curve.points")
    names = [column["name"] for column in table["columns"]]
    assert [row[names.index("right")] for row in table["rows"]] == [point.right for point in curve.points]
    reach = next(claim["value"] for claim in record["claims"] if claim["key"] == "curve.reach")
    assert reach == curve.reach().value
    assert lw.measure(trained.model, TASK, sizes=(3,), items=ITEMS, tokens=TABLE).points[0].right == curve.at(3).right


def test_failures_show_the_first_wrong_token(trained):
    subject = open_subject(trained.folder, trained.table)
    record = ask(FailuresProbe(shown=400), subject, Context(TASK, TRAINED, tuple(trained.right), ITEMS))
    wrong = [(size, item) for size, right in trained.right.items() for item in np.flatnonzero(~right)]
    rows = record.table("failures.items").records()
    assert [(row["size"], row["item"]) for row in rows] == wrong
    for row in rows:
        answer = [*str(row["answer"]).split(), "<eos>"]
        assert row["instead"] != answer[int(row["place"] or 0)]  # pyright: ignore


def test_probes_of_attention_are_shown_the_tokens_of_the_map(trained):
    inputs = inputs_for(open_subject(trained.folder, trained.table), Context(TASK, sizes=(3,), items=4), 4)
    assert torch.equal(inputs.tokens, their_ids(3, 0, range(4), "test")[:, :-1])
    assert inputs.name(SEP) == "<sep>" and inputs.name(24) == "24"
    subject = open_subject(trained.folder, trained.table)
    assert not ask(MarginsProbe(), subject, Context(TASK, sizes=(3,), items=4)).failed


def test_an_inspection_shows_the_items_of_a_task(trained, capsys):
    asked = ["--task", "copy_unique:alphabet=10", "--size", "3", "--probes", "layers,margins"]
    given = [str(trained.folder), *asked, "--json"]
    assert main(["inspect", *given, "--tokens", str(trained.table)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [record["failed"] for record in found["records"]] == ["", ""]
    assert main(["inspect", *given]) == 2  # without a map the task has other symbols than the model
    with pytest.raises(UsageError, match="name the task"):
        lw.inspect(trained.folder, tokens=trained.table)


def test_the_model_is_left_as_it_was(trained):
    model = network(attn_pdrop=0.5, resid_pdrop=0.5).train()
    first = answers_of(model).mark(TASK, 3, range(5), 0).losses
    np.testing.assert_array_equal(answers_of(model).mark(TASK, 3, range(5), 0).losses, first)
    model.train()
    answers = answers_of(model)
    model.train()
    answers.mark(TASK, 3, range(5), 0)
    assert all(module.training for module in model.modules())


# --- other maps -----------------------------------------------------------------------------------------------------


def read(model, table, task=TASK, size=2, item=0):
    (row,) = answers_of(model, table).rows(task, size, [item], 0)
    return row


def test_a_special_token_that_the_model_has_not_is_left_out():
    prompt = [IDS[symbol] for symbol in TASK.spelled(TASK.draw(2, 0, [0], role="test").prompts[0])]
    row = read(network(), TABLE)
    assert row.read == [BOS, *prompt, SEP, *prompt] and row.asked == {3: prompt[0], 4: prompt[1], 5: EOS}
    row = read(network(), {**TABLE, "<bos>": None, "<sep>": None, "<eos>": None})
    assert row.read == [*prompt, prompt[0]] and row.asked == {1: prompt[0], 2: prompt[1]}


def test_a_symbol_may_be_several_tokens():
    pieces = {symbol: [22, number] for symbol, number in IDS.items()}
    row = read(network(), {**TABLE, **pieces}, size=1)
    symbol = row.read[2]
    assert row.read == [BOS, 22, symbol, SEP, 22, symbol] and row.asked == {3: 22, 4: symbol, 5: EOS}


@pytest.mark.parametrize("name", sorted(tasks.names()))
def test_the_numbers_of_our_own_vocabulary_give_our_own_layout(name):
    """Whatever the task: items of different lengths, tags, empty answers."""
    task = _plain(name)
    if task is None or task.readout == "numbers":
        return
    table = TokenTable("ours", lambda _: {symbol: number for number, symbol in enumerate(task.vocabulary)})
    size = task.sizes(1, 60)[:3][-1]
    rows = table.rows(task, task.draw(size, 0, range(12), role="test"), "a model", len(task.vocabulary))
    batch = task.batch(size, 0, range(12), role="test")
    for number, row in enumerate(rows):
        places = np.flatnonzero(batch.scored[number])
        assert row.asked == dict(zip(places.tolist(), batch.targets[number, places].tolist(), strict=True))
        assert row.read == batch.inputs[number, : len(row.read)].tolist() and len(row.read) > max(places)


def test_tags_are_asked_for_where_they_stand():
    tagged = next(made for made in map(_plain, tasks.names()) if made is not None and made.readout == "tags")
    size = tagged.sizes(1, 20)[2]
    table = {"<bos>": 0, **{symbol: 1 + number for number, symbol in enumerate(tagged.symbols)}}
    vocabulary = 1 + len(tagged.symbols)
    row, batch = read(network(100, vocabulary), table, tagged, size), tagged.batch(size, 0, [0], role="test")
    places = np.flatnonzero(batch.scored[0])
    assert list(row.asked) == places.tolist() and not row.fed
    ours = [tagged.vocabulary[number] for number in batch.targets[0, places]]
    assert [table[symbol] for symbol in ours] == list(row.asked.values())
    answers = answers_of(network(100, vocabulary), table)
    assert len(answers.mark(tagged, size, range(3), 0).items) == 3
    with pytest.raises(UsageError):
        answers.written_right(tagged, size, range(3), 0)


def _plain(name):
    try:
        return tasks.make(name)
    except UsageError:
        return None


def test_an_adapter_says_the_same_as_its_table(trained, tmp_path):
    path = tmp_path / "my.py"
    path.write_text(
        f"IDS = {IDS!r}\n"
        "def adapter(task, prompt, answer):\n"
        f"    before = [{BOS}, *(IDS[s] for s in prompt), {SEP}]\n"
        f"    ids = [*before, *(IDS[s] for s in answer), {EOS}]\n"
        "    return ids, range(len(before), len(ids))\n"
    )
    for tokens in (str(path), f"{path}::adapter"):
        answers = answers_of(trained.folder, tokens)
        np.testing.assert_array_equal(answers.mark(TASK, 5, range(ITEMS), 0).items, trained.right[5])
        np.testing.assert_array_equal(answers.written_right(TASK, 5, range(ITEMS), 0), trained.right[5])


def test_the_tokenizer_of_the_model_is_a_map(trained, tmp_path):
    from tokenizers import Tokenizer, models

    trained.model.save_pretrained(tmp_path)
    pieces = {**{f"[{n}]": n for n in range(25)}, **TABLE}
    taken = set(TABLE.values())
    pieces = {piece: n for piece, n in pieces.items() if piece in TABLE or n not in taken}
    Tokenizer(models.WordLevel(pieces, unk_token="[1]")).save(str(tmp_path / "tokenizer.json"))
    answers = answers_of(tmp_path, "tokenizer")
    np.testing.assert_array_equal(answers.mark(TASK, 4, range(ITEMS), 0).items, trained.right[4])
    with pytest.raises(UsageError, match="has to be one token"):
        answers.mark(tasks.make("copy_unique:alphabet=11"), 4, range(2), 0)


@pytest.mark.parametrize(
    "kind, settings",
    [
        ("Llama", {"num_key_value_heads": 1}),
        ("Gemma2", {"head_dim": 8, "num_key_value_heads": 1}),  # its layout is not known, and it answers all the same
    ],
)
def test_any_decoder_of_transformers_answers(tmp_path, kind, settings):
    sizes = {"vocab_size": 25, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    sizes |= {"intermediate_size": 16, "max_position_embeddings": 12, "pad_token_id": 0}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        config = getattr(transformers, f"{kind}Config")(**sizes, **settings)
        model = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
    model.save_pretrained(tmp_path)
    marked = answers_of(tmp_path).mark(TASK, 9, range(6), 0)  # beyond the context of its config: RoPE does not end
    ids = their_ids(9, 0, range(6), "test")
    with torch.no_grad():
        logits = model(input_ids=ids[:, :-1]).logits[:, 10:]
    expected = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 11:].flatten(), reduction="none")
    assert marked.losses is not None
    np.testing.assert_allclose(marked.losses, expected.numpy(), rtol=1e-4)


# --- what is refused, before anything runs --------------------------------------------------------------------------

FIRST, SECOND = TASK.symbols[:2]
SPOILED = {
    "a symbol without an id": ({FIRST: None}, "has no id for 1 of the 10 symbols"),
    "two symbols with one id": ({FIRST: IDS[SECOND]}, "the same id"),
    "a symbol with the id of a special token": ({FIRST: EOS}, "the same id"),
    "ids that begin alike": ({FIRST: [IDS[SECOND], 22]}, "begin alike"),
    "an id outside the vocabulary": ({FIRST: 25}, "the vocabulary of the model is 0 to 24"),
    "a negative id": ({FIRST: -1}, "the vocabulary of the model is 0 to 24"),
    "no number": ({FIRST: "5"}, "neither a whole number"),
    "no ids": ({FIRST: []}, "neither a whole number"),
}


@pytest.mark.parametrize("what", SPOILED)
def test_a_map_that_does_not_fit_is_one_sentence(what):
    change, holds = SPOILED[what]
    model = network()
    model.forward = None  # pyright: ignore  # nothing runs
    with pytest.raises(UsageError, match=holds) as caught:
        lw.measure(model, TASK, sizes=(2,), items=2, tokens={**TABLE, **change})
    assert "\n" not in str(caught.value)


def test_special_tokens_have_to_be_named_and_may_be_the_same():
    model = network()
    with pytest.raises(UsageError, match="does not say what <sep> is"):
        lw.measure(model, TASK, sizes=(2,), items=2, tokens={k: v for k, v in TABLE.items() if k != "<sep>"})
    assert lw.measure(model, TASK, sizes=(2,), items=2, tokens={**TABLE, "<eos>": BOS}).points
    bare = {**TABLE, "<bos>": None, "<sep>": None, "<eos>": None}
    assert read(model, bare, size=1).read


def test_every_task_is_checked_before_the_first_is_measured(trained, capsys):
    command = ["measure", str(trained.folder), "--tokens", trained.table, "--sizes", "2", "--items", "3"]
    command += ["--task", "copy_unique:alphabet=10", "--task", "copy_unique:alphabet=11"]
    assert main(command) == 2
    said = capsys.readouterr()
    assert "has no id for 1 of the 11" in said.err and not said.out and "exact" not in said.err


@pytest.mark.parametrize("probe", [CurveProbe(), FailuresProbe()])
def test_no_probe_runs_into_the_end_of_positions(probe):
    model = network(positions=15)
    model.forward = None  # pyright: ignore  # nothing runs
    with pytest.raises(UsageError, match="measured up to size 6"):
        ask(probe, open_subject(model, TABLE), Context(TASK, sizes=(2, 7), items=4))


def test_positions_that_end_are_said_before_anything_runs():
    model = network(positions=15)
    ran = []
    model.register_forward_pre_hook(lambda *_: ran.append(1))
    with pytest.raises(UsageError, match=r"measured up to size 6: the model has 15 positions.* takes 16"):
        lw.measure(model, TASK, sizes=(2, 7), items=4, tokens=TABLE)
    assert not ran
    assert len(lw.measure(model, TASK, sizes=(2, 6), items=4, tokens=TABLE).points) == 2


@pytest.mark.parametrize(
    "body, holds",
    [
        ("return [1, 2, 3], [5]", "IndexError"),
        ("return [1, 2, 3], []", "at least one"),
        ("return [1, 2, 3], [0]", "lie from 1 to 2"),
        ("return [1, 99], [1]", "gave the id 99"),
        ("return 5", "TypeError"),
    ],
)
def test_an_adapter_that_fails_is_one_sentence(tmp_path, body, holds):
    (tmp_path / "my.py").write_text(f"def adapter(task, prompt, answer):\n    {body}\n")
    with pytest.raises(UsageError, match=holds) as caught:
        lw.measure(network(), TASK, sizes=(2,), items=2, tokens=str(tmp_path / "my.py"))
    assert "\n" not in str(caught.value)


def test_files_that_are_no_map_are_refused(tmp_path):
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "my.py").write_text("adapter = 3\n")
    for name in ("list.json", "broken.json", "missing.json", "my.py", "my.py::other"):
        with pytest.raises(UsageError):
            token_map(str(tmp_path / name), lambda: None)


def test_a_map_is_for_models_of_transformers(tmp_path, capsys):
    class Oracle:
        def answer(self, prompts):
            return prompts

    with pytest.raises(UsageError, match="is for models of transformers"):
        lw.measure(Oracle(), TASK, sizes=(2,), tokens=TABLE)
    with pytest.raises(UsageError, match="a token map"):
        lw.measure(network(), TASK, sizes=(2,))
    with pytest.raises(TypeError, match="token_map"):
        lw.measure(network(), TASK, token_map=TABLE)  # pyright: ignore
    assert main(["measure", str(tmp_path), "--task", "sort", "--tokens", "missing.json"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_encoders_and_number_tasks_have_no_such_answers():
    config = transformers.BertConfig(
        vocab_size=25, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    with pytest.raises(UsageError, match="is an encoder"):
        lw.measure(transformers.BertModel(config), TASK, sizes=(2,), tokens=TABLE)
    numbers = next(made for made in map(_plain, tasks.names()) if made is not None and made.readout == "numbers")
    with pytest.raises(UsageError, match="are numbers"):
        lw.measure(network(), numbers, sizes=tuple(numbers.sizes(1, 9)[:1]), items=2, tokens=TABLE)


@pytest.mark.wording
def test_the_record_says_how_items_were_laid_out():
    record = ask(CurveProbe(), open_subject(network(), {**TABLE, "<sep>": None}), Context(TASK, sizes=(2,), items=2))
    assert any("<bos> prompt answer <eos>" in line for line in record.text)


def test_a_path_is_read_and_never_run(tmp_path):
    (tmp_path / "my.py").write_text("raise SystemExit\n")
    with pytest.raises(UsageError, match="cannot be read as JSON"):
        token_map(Path(tmp_path / "my.py"), lambda: None)
