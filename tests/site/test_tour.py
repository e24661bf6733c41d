"""Every command and every line of Python of the tour (docs/how-to/tour.md) is run.

The tour shows commands as a reader would type them; some train for minutes. Here they run as they stand but for what
the tables below say: options that make a command short (`SHORTER`), files and folders that the reader is meant to have
(`_files`, `PLACES`), and arguments that make a call short (`SHORTER_CALLS`). A command that no table knows fails.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

import lengthwise as lw
from lengthwise.cli import COMMANDS, main
from lengthwise.studies.grid import plans
from lengthwise.studies.spec import Study
from own_tasks import REPEAT, lines
from site_texts import ROOT, blocks, pages
from small_language_models import small_decoder

pytestmark = pytest.mark.system

TOUR = pages()["how-to/tour.md"]
TINY = "--steps 2 --batch 4 --depth 1 --width 16 --heads 2 --items 5 --train-size 4 --test-size 6"

# What is added to a command, by its first words; the longest match counts. "" runs it as it stands.
SHORTER = {
    "train": TINY,
    "train parity --model": "--steps 2 --batch 4 --items 5 --train-size 4 --test-size 6",
    "measure": "--items 5",
    "study": "--dry-run",
    "study depths.toml": "--seeds 1",  # carried out: its file, too, is shortened, see `_files`
    "study depths.toml --executor": "--dry-run",
    "study show": "",
    "check": "",
    "shift": "",
    "shift dyck_k": "--items 20 --resamples 20",
    "shift subset_sum": "--items 20",
    "inspect": "--items 2",
    "bound": "",
    "bound runs/": "--held-out 10",
    "bound plan": "",
    "particles": "--n 8 --time 1 --frames 3",
    "particles phases": "--d 2 --n 8 --starts 2 --betas 2 --time 1 --frames 3",
}

# What stands for a place that only the reader knows.
PLACES = {
    "path/to/hub/folder": "hub",
    "SmolLM2-135M-Instruct.Q4_1.gguf": "model.gguf",
    "SmolLM2.gguf": "chat",
    "ray:address=auto": "local:workers=2",  # there is no cluster; the tests of executors start one
}
RUN = re.compile(r"runs/([a-z_0-9]+)-([a-z+]+)-…")  # the folder of a run of a task with an encoding

# Arguments that replace or join those of a call in Python, by the name of the function.
SMALL = {"depth": 1, "width": 16, "heads": 1, "steps": 2, "batch": 4}
SHORTER_CALLS = {
    "train": {"train_size": 4, "test_size": 6, "items": 5, **SMALL},
    "measure": {"items": 5},
    "Study": {"train_size": 3, "items": 5, "seeds": 1, "training": {"steps": 2, "batch": 4}},
}


def commands() -> list[str]:
    """The lines of the terminals, without prompt and remark; a line may go on after a backslash."""
    found = []
    for block in blocks(TOUR, "console"):
        for line in block.replace("\\\n", " ").splitlines():
            assert line.startswith("$ "), f"a line of a terminal in the tour is a command, not {line!r}"
            found.append(shlex.join(shlex.split(line[2:], comments=True)))
    return found


def shortened(command: str) -> list[str]:
    """A command of ours as it is run here."""
    words = shlex.split(command)
    assert words[0] == "lengthwise", f"the tour shows {command!r}, for which this test has no rule"
    known = [start for start in SHORTER if " ".join(words[1:]).startswith(start)]
    assert known, f"the tour shows {command!r}, for which SHORTER has no rule"
    given = [_placed(word) for word in words[1:]]
    return [*given, *shlex.split(SHORTER[max(known, key=len)] if "--dry-run" not in given else "")]


def _placed(word: str) -> str:
    run = RUN.fullmatch(word)
    return f"runs/{run[1]}-{run[2]}" if run else PLACES.get(word, word)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with all that the commands take for granted."""
    folder = tmp_path_factory.mktemp("reader")
    _files(folder)
    for command in commands():
        for task, position in RUN.findall(command):
            run = folder / "runs" / f"{task}-{position}"
            lw.train(task, position, train_size=4, test_size=6, items=5, **SMALL, folder=run)
    return folder


def _files(folder: Path) -> None:
    _hub(folder / "hub")
    from small_gguf import small_llama

    small_llama(folder / "model.gguf")
    small_decoder(folder / "chat", max_position_embeddings=4000)
    small_decoder(folder / "my-gpt2", "gpt2", n_positions=200)
    specials = {"<bos>": 0, "<sep>": 1, "<eos>": 2}
    (folder / "map.json").write_text(json.dumps({**specials, **{str(number): 3 + number for number in range(20)}}))
    (folder / "my.py").write_text(NETWORK)
    texts = [" ".join("abcdefghij"[(number + place) % 10] for place in range(2 + number % 5)) for number in range(12)]
    for name in ("train.jsonl", "test.jsonl"):
        lines(folder / name, *({"text": text} for text in texts))
    lines(folder / "sample.jsonl", *({"tokens": [(number + place) % 40 for place in range(9)]} for number in range(12)))
    items = [[str((3 * number + place) % 5) for place in range(size)] for size in range(1, 7) for number in range(4)]
    unique = {" ".join(item): {"input": item, "answer": sorted(item), "n": len(item)} for item in items}
    lines(folder / "items.jsonl", *unique.values())
    (folder / "mytask.py").write_text(REPEAT)
    (folder / "layout.py").write_text(LAYOUT)
    (settings,) = blocks(TOUR, "toml")
    assert settings.rstrip().splitlines()[-2].startswith("[model]")  # what follows joins that table
    small = "width = 16\nheads = 1\n\n[training]\nsteps = 2\nbatch = 4\n"
    (folder / "depths.toml").write_text(f"train_size = 3\nitems = 5\n{settings}{small}")
    (folder / "docs/data").mkdir(parents=True)
    shutil.copy(ROOT / "docs/data/search54.json.gz", folder / "docs/data")


NETWORK = """
from torch import nn


class Net(nn.Module):
    def __init__(self, vocabulary, outputs):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, 8)
        self.lstm = nn.LSTM(8, 8, batch_first=True)
        self.output = nn.Linear(8, outputs)

    def forward(self, tokens):
        return self.output(self.lstm(self.embedding(tokens))[0])


def build():
    return Net(8, 8)
"""


LAYOUT = '''
"""Drop the first bit of a string of bits until one is left."""

import itertools


def starts(size):
    return [list(bits) for bits in itertools.product("01", repeat=size)]


def step(state):
    return state[1:] if len(state) > 1 else None
'''


def _hub(folder: Path) -> None:
    """A Llama of 31 tokens with a tokenizer of words, as a folder of the Hub."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40}
    config = transformers.LlamaConfig(vocab_size=31, max_position_embeddings=16, tie_word_embeddings=True, **sizes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        transformers.LlamaForCausalLM(config).save_pretrained(folder)
    cutter = Tokenizer(models.WordLevel({letter: number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz")}))
    cutter.pre_tokenizer = pre_tokenizers.Whitespace()  # pyright: ignore[reportAttributeAccessIssue]
    (folder / "tokenizer.json").write_text(cutter.to_str())


@pytest.mark.parametrize("command", commands())
def test_a_command_runs(command: str, place: Path, monkeypatch, synthetic_study, capsys) -> None:
    monkeypatch.chdir(place)
    words = shortened(command)
    for name in [words[2]] if words[:2] == ["check", "--against"] else []:
        synthetic_study(Path("runs") / name, seeds=1)  # the measurements that the prediction is compared with
    if words[:3] == ["study", "show", "depths"] and not Path("runs/depths").exists():
        assert main(["study", "depths.toml", "--seeds", "1", "--quiet"]) == 0
    code = main([*words, "--quiet"])
    said = capsys.readouterr()
    assert code == 0, said.err
    for option in ("--page", "--gif", "--figure"):
        if option in words:
            assert Path(words[words.index(option) + 1]).stat().st_size > 0


def test_the_study_has_as_many_runs_as_its_remark_says(tmp_path) -> None:
    (settings,) = blocks(TOUR, "toml")
    (tmp_path / "depths.toml").write_text(settings)
    promised = int(re.findall(r"lengthwise study depths\.toml --dry-run +# (\d+) runs", TOUR)[0])
    assert len(plans(Study.read(tmp_path / "depths.toml"))) == promised


class Shorter(ast.NodeTransformer):
    """Calls of the package with the arguments of `SHORTER_CALLS`."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "lw":
            for argument, value in SHORTER_CALLS.get(node.func.attr, {}).items():
                node.keywords = [keyword for keyword in node.keywords if keyword.arg != argument]
                node.keywords.append(ast.keyword(argument, ast.parse(repr(value), mode="eval").body))
        return node


@pytest.mark.parametrize("block", blocks(TOUR, "python"))
def test_python_runs(block: str, place: Path, tmp_path, monkeypatch) -> None:
    for file in place.glob("*.jsonl"):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    tree = ast.fix_missing_locations(Shorter().visit(ast.parse(block)))
    names: dict[str, object] = {}
    exec(compile(tree, "tour.md", "exec"), names)
    assert isinstance(names["run"], lw.Run) and json.loads((names["run"].folder / "run.json").read_text())


def test_what_is_measured_is_within_what_is_trained() -> None:
    """A learned table ends where the test ended, so measuring further cannot work."""
    (block,) = blocks(TOUR, "python")
    calls = [node for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Call)]
    given: dict[str, dict] = {}
    for node in calls:
        if isinstance(node.func, ast.Attribute):  # the first call of a name is the one that is shown in full
            given.setdefault(node.func.attr, {keyword.arg: keyword.value for keyword in node.keywords})
    largest = ast.literal_eval(given["train"]["test_size"])
    assert ast.literal_eval(given["measure"].get("test_size", ast.Constant(largest))) <= largest


def test_the_table_names_every_command():
    missing = [name for name in COMMANDS if f"`lengthwise {name}" not in TOUR and f"`{name}" not in TOUR]
    assert (
        missing == ["study show", "study export", "study rebuild"] and "study status\\|show\\|export\\|rebuild" in TOUR
    )
