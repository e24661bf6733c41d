"""Folders and files as somebody with bad intentions would write them: whatever runs of their code leaves a mark.

Every plant writes the same file, the canary, when it runs; a test asserts that the file is not there.
"""

from __future__ import annotations

import dataclasses
import json
import pickle
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lengthwise.files import sha256
from lengthwise.integrity import sealed
from lengthwise.runs.stored import write_record
from lengthwise.studies.record import packed
from lengthwise.studies.shifts import write_shifts
from lengthwise.studies.store import RUNS, Store
from own_classes import EVERYTHING
from own_tasks import REPEAT
from synthetic_ladders import TRAIN_SIZE, synthetic_evidence

CANARY = "it-ran"
STAND_IN = "subset_sum"  # the task whose name is exchanged for that of the planted file


def mark(folder: Path) -> str:
    """Python code that leaves the mark."""
    return f"open({str(folder / CANARY)!r}, 'a').write('ran')\n"


def planted_file(folder: Path) -> Path:
    """A file with a proper task, encoding, attention rule and so on that leaves the mark when it is imported."""
    path = folder / "evil.py"
    path.write_text(mark(folder) + REPEAT + EVERYTHING)
    return path


# --- runs -----------------------------------------------------------------------------------------------------------

TASKS_OF_RUNS: dict[str, Callable[[str], dict[str, Any]]] = {
    "class": lambda path: {"name": f"{path}::Repeat"},
    "file": lambda path: {"name": path},
    "settings": lambda path: {"name": f"{path}::Repeat", "letters": 3},
    "along": lambda path: {"name": "along", "task": f"{path}::Repeat", "axis": "depth", "at": 3},
    "hinted": lambda path: {"name": "hinted", "task": f"{path}::Repeat"},
    "member": lambda path: {"name": "regular_member", "language": f"{path}::Repeat"},
}


def planted_run(run: Path, folder: Path, task: str, file: str = "run.json") -> Path:
    """A copy of a run whose record names a file of code, with checksums that fit; `plan.json` is that of a run that is
    not finished."""
    place, path = folder / "run", str(planted_file(folder))
    shutil.copytree(run, place)
    record = json.loads((place / "run.json").read_text())
    record["plan"]["task"] = TASKS_OF_RUNS[task](path)
    record["plan"]["recipe"]["sizes"] = record["plan"]["recipe"]["sizes"] if task != "file" else path
    if file == "plan.json":
        (place / "run.json").unlink()
    (place / file).write_text(json.dumps(sealed(record)))  # whoever plants a name can write a checksum too
    return place


SETTINGS_OF_RUNS: dict[str, tuple[str, str]] = {
    "position": ("model", "PATH::Slope"),
    "wrapped": ("model", "PATH::Slope+offset"),
    "wrapper": ("model", "rope+PATH::Slope"),
    "file": ("model", "PATH"),
    "attention": ("model", "PATH::Sharp"),
    "sizes": ("recipe", "PATH::Ends"),
    "form": ("recipe", "PATH::Biases"),
    "probes": ("", "PATH::Nothing"),
}


def planted_setting(run: Path, folder: Path, plant: str, file: str = "run.json") -> Path:
    """A copy of a run in whose record and config a setting names a file of code, with checksums that fit."""
    place, (table, spec) = folder / "run", SETTINGS_OF_RUNS[plant]
    setting = plant if plant in ("attention", "sizes", "form") else "position"
    shutil.copytree(run, place)
    record, config = (json.loads((place / name).read_text()) for name in ("run.json", "config.json"))
    spec = spec.replace("PATH", str(planted_file(folder)))
    if plant == "probes":
        record["plan"]["probes"] = [*record["plan"]["probes"], spec, {"name": spec}]
    for content in [record["plan"].get(table, {}), *([config] if table == "model" else [])]:
        content[setting] = spec
    (place / "config.json").write_text(json.dumps(config))
    record["files"]["config.json"] = sha256(place / "config.json")
    if file == "plan.json":
        (place / "run.json").unlink()
    (place / file).write_text(json.dumps(sealed(record)))
    return place


# --- studies --------------------------------------------------------------------------------------------------------


def planted_study(make: Callable[..., Path], folder: Path, shifts: bool, plant: str = STAND_IN) -> Path:
    """The folder of a study with ladders, in whose index, files and records the task, or the encoding, is a file of
    code."""
    evidence = synthetic_evidence(tasks=(STAND_IN,), positions=("alibi",), depths=(1, 2), widths=(16,))
    settings = {"tasks": [STAND_IN], "positions": ["alibi"], "seeds": 2, "train_size": TRAIN_SIZE, "failed": 0}
    study = make(folder / "study", **settings)
    with Store.open(study, write=True) as store:
        for run, climb in zip(store.runs("done"), evidence.climbs, strict=True):
            shape = {**run.settings, "depth": climb.depth, "width": climb.width}
            stored = {**run.stored, **packed({"ladder": climb.ladder.record()})}
            store.finish(dataclasses.replace(run, stored=stored, settings=shape))
            (study / RUNS / run.key).mkdir(parents=True)
            write_record(study / RUNS / run.key, "ladder", climb.ladder.record())
        store.note("shifts", [[STAND_IN, TRAIN_SIZE]])
    if shifts:
        write_shifts(study, [{"train_size": TRAIN_SIZE, **shift.plain()} for shift in evidence.shifts])
    (study / "study.toml").write_text(f'tasks = ["{STAND_IN}"]\npositions = ["alibi"]\n')
    _exchange(study, plant, f"{planted_file(folder)}::{'Repeat' if plant == STAND_IN else 'Slope'}")
    return study


def _exchange(study: Path, name: str, spec: str) -> None:
    for path in [*study.rglob("*.json"), *study.glob("*.toml")]:
        path.write_text(path.read_text().replace(name, spec))
    with sqlite3.connect(study / "index.sqlite") as index:
        tables = [row[0] for row in index.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for column in [row[1] for row in index.execute(f"PRAGMA table_info({table})")]:
                index.execute(
                    f"UPDATE {table} SET {column} = replace({column}, ?, ?) WHERE typeof({column}) = 'text'",
                    (name, spec),
                )
    index.close()


# --- models ---------------------------------------------------------------------------------------------------------


class _Reduced:
    def __init__(self, code: str) -> None:
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (self.code,)


def planted_model(model: Path, folder: Path, plant: str) -> Path:
    """A copy of a model of the Hub with one plant."""
    place = folder / "model"
    shutil.copytree(model, place)  # makes `folder` too
    _MODELS[plant](place, folder)
    return place


def _settings(place: Path, name: str = "config.json", **settings: Any) -> None:
    path = place / name
    content = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**content, **settings}))


def _code(place: Path, folder: Path, **settings: Any) -> None:
    (place / "evil_model.py").write_text(mark(folder) + "class EvilConfig: pass\nclass Evil: pass\n")
    _settings(place, auto_map={"AutoConfig": "evil_model.EvilConfig", "AutoModel": "evil_model.Evil"}, **settings)


def _tokenizer(place: Path, folder: Path) -> None:
    (place / "evil_tokens.py").write_text(mark(folder) + "class Evil: pass\n")
    named = {"AutoTokenizer": ["evil_tokens.Evil", "evil_tokens.Evil"]}
    _settings(place, "tokenizer_config.json", auto_map=named, tokenizer_class="Evil")


def _pickle(place: Path, folder: Path, name: str) -> None:
    (place / "model.safetensors").unlink()
    (place / name).write_bytes(pickle.dumps(_Reduced(mark(folder))))


def _index(place: Path, folder: Path, target: str) -> None:
    """An index that leads to a file: a pickle, or weights that are not in the folder."""
    weights = place / "model.safetensors"
    if target.endswith(".bin"):
        _pickle(place, folder, target)
    else:
        weights.rename(folder / "elsewhere.safetensors")
    named = {"transformer.wte.weight": target.replace("HERE", str(folder))}
    (place / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": named}))


def _link(place: Path, folder: Path) -> None:
    (place / "model.safetensors").rename(folder / "elsewhere.safetensors")
    (place / "model.safetensors").symlink_to(folder / "elsewhere.safetensors")


def without(place: Path, part: str) -> None:
    """Take the weights out whose name holds a text."""
    from safetensors.torch import load_file, save_file

    weights = load_file(place / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if part not in name}
    assert len(kept) < len(weights)
    save_file(kept, place / "model.safetensors", metadata={"format": "pt"})


def _nested(**settings: Any) -> dict[str, Any]:
    return {"text_config": {"task_specific": [settings]}}


_MODELS: dict[str, Callable[[Path, Path], None]] = {
    "code for a known model": lambda place, folder: _code(place, folder),
    "code for an unknown model": lambda place, folder: _code(place, folder, model_type="evil"),
    "code in a nested config": lambda place, _: _settings(place, **_nested(auto_map={"AutoModel": "evil.Evil"})),
    "pickle": lambda place, folder: _pickle(place, folder, "pytorch_model.bin"),
    "pickle under another name": lambda place, folder: _pickle(place, folder, "model.safetensors"),
    "index of a pickle": lambda place, folder: _index(place, folder, "pytorch_model.bin"),
    "index that leaves the folder": lambda place, folder: _index(place, folder, "../elsewhere.safetensors"),
    "index with a whole path": lambda place, folder: _index(place, folder, "HERE/elsewhere.safetensors"),
    "link out of the folder": _link,
    "kernel": lambda place, _: _settings(place, attn_implementation="evil/kernel"),
    "kernel by its inner name": lambda place, _: _settings(place, _attn_implementation="evil/kernel@main:evil"),
    "kernel in a table": lambda place, _: _settings(place, attn_implementation={"": "eager", "text": "evil/kernel"}),
    "quantised": lambda place, _: _settings(place, quantization_config={"quant_method": "gptq", "bits": 4}),
    "other weights": lambda place, _: _settings(place, transformers_weights="../elsewhere.safetensors"),
    "adapter": lambda place, folder: _settings(
        place, "adapter_config.json", peft_type="LORA", base_model_name_or_path=str(folder / "elsewhere")
    ),
    "missing weights": lambda place, _: without(place, "h.1."),
    "tokenizer code": _tokenizer,
}
REFUSED_MODELS = tuple(name for name in _MODELS if name != "tokenizer code")
