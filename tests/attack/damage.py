"""Models and studies with one thing wrong: a run, folders of the Hub, a GGUF file and a study of one run, made once and
copied for each invocation."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from attack.hostile_files import VALUES
from lengthwise.studies.coordinator import carry_out_study
from lengthwise.studies.spec import Study
from small_gguf import small_llama
from small_hub import small_bert, small_gpt2
from small_runs import sealed_again, trained

MODELS, STUDY = ("run", "gpt2", "bert", "model.gguf"), "study"
STORE = "LENGTHWISE_ATTACK_MODELS"  # the variable that says where they are


def make_models(folder: Path) -> None:
    """Make what `damaged` copies."""
    trained(folder / "run", "sort", steps=2)
    small_gpt2(folder / "gpt2")
    small_bert(folder / "bert")
    small_llama(folder / "model.gguf")
    given = {"train_size": 4, "test_size": 6, "items": 4, "training": {"steps": 2}}
    shape = {"depth": 1, "width": 16, "heads": 1}
    study = Study(name=STUDY, tasks="sort", positions="none", model=shape, **given)  # pyright: ignore[reportArgumentType]
    carry_out_study(study, folder / STUDY, "local:workers=1")


def damaged(draw: random.Random, models: Sequence[str] = MODELS) -> tuple[str, Callable[[Path], None]]:
    """The name of a model, and what writes it: copied, with something wrong with one of its files."""
    name = draw.choice(models)
    own = random.Random(draw.random())  # the files are written later

    def write(folder: Path) -> None:
        source, place = Path(os.environ[STORE]) / name, folder / name
        if source.is_file():
            place.write_bytes(_broken(own, source.read_bytes()))
            return
        shutil.copytree(source, place)
        files = sorted(path for path in place.rglob("*") if path.is_file())
        path = own.choice([one for one in files if one.suffix in _DAMAGED])
        if path.name == "model.safetensors" and name in ("gpt2", "bert") and own.random() < 0.2:
            _index_leaves(own, path)
        else:
            _damage(own, path)
        if name == "run" and own.random() < 0.7 and (place / "run.json").is_file() and path.name != "run.json":
            sealed_again(place)

    return name, write


_DAMAGED = (".json", ".safetensors", ".sqlite", ".toml", ".jsonl")


def _damage(draw: random.Random, path: Path) -> None:
    kind = draw.random()
    if kind < 0.15:
        path.unlink()
        draw.choice(_REPLACED)(path)
    elif path.suffix == ".json" and kind < 0.8:
        path.write_text(json.dumps(_lying(draw, json.loads(path.read_text()))))
    elif path.suffix == ".safetensors" and kind < 0.7:
        path.write_bytes(_header_lies(draw, path.read_bytes()))
    elif path.suffix == ".safetensors" and kind < 0.8:
        _nan(path)
    elif path.suffix == ".sqlite" and kind < 0.8:
        _row_lies(draw, path)
    else:
        path.write_bytes(_broken(draw, path.read_bytes()))


_REPLACED: tuple[Callable[[Path], None], ...] = (
    os.mkfifo,
    lambda path: path.mkdir(),
    lambda path: path.symlink_to(path.name),
    lambda path: path.symlink_to("/dev/zero"),
    lambda path: path.symlink_to("/etc/hostname"),
    lambda path: path.touch(),
    lambda path: None,
)


def _lying(draw: random.Random, content: object) -> object:
    """One value somewhere in it is another, or missing."""
    holder = content
    while isinstance(holder, dict | list) and holder:
        key = draw.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if not isinstance(holder[key], dict | list) or draw.random() < 0.3:
            if draw.random() < 0.15:
                del holder[key]
            else:
                holder[key] = draw.choice(VALUES)
            break
        holder = holder[key]
    return content


def _header_lies(draw: random.Random, data: bytes) -> bytes:
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header = _lying(draw, header) if draw.random() < 0.7 else header
    text = json.dumps(header).encode()
    size = len(text) if draw.random() < 0.8 else draw.choice((0, 7, 10**9, 2**63, 2**64 - 1))
    return size.to_bytes(8, "little") + text + data[8 + length :]


def _index_leaves(draw: random.Random, weights: Path) -> None:
    """The weights lie elsewhere, as an index says that names other files or leaves the folder."""
    length = int.from_bytes(weights.read_bytes()[:8], "little")
    names = [name for name in json.loads(weights.read_bytes()[8 : 8 + length]) if name != "__metadata__"]
    outside = weights.parents[1] / "outside.safetensors"
    weights.rename(outside)
    places: tuple[object, ...] = (f"../{outside.name}", str(outside), "/etc/hostname", "none.safetensors", "", 7, None)
    where = draw.choice(places)
    if draw.random() < 0.3:
        (weights.parent / "link.safetensors").symlink_to(outside)
        where = "link.safetensors"
    index = {"metadata": {}, "weight_map": dict.fromkeys(names, where)}
    weights.with_name("model.safetensors.index.json").write_text(json.dumps(_lying(draw, index)))


def _row_lies(draw: random.Random, index: Path) -> None:
    """One value of one row of a database is another."""
    with sqlite3.connect(index) as db:
        table = draw.choice([name for (name,) in db.execute("select name from sqlite_master where type = 'table'")])
        columns = [row[1] for row in db.execute(f"pragma table_info({table})")]
        found = draw.choice(VALUES)
        value = json.dumps(found) if draw.random() < 0.5 or not isinstance(found, str | int | float | None) else found
        value = value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        rows = [row for (row,) in db.execute(f"select rowid from {table}")] or [0]
        change = f"update or replace {table} set {draw.choice(columns)} = ? where rowid = ?"
        with contextlib.suppress(sqlite3.IntegrityError):  # a column that must have a value keeps it
            db.execute(change, (value, draw.choice(rows)))
    db.close()


def _nan(path: Path) -> None:
    data = bytearray(path.read_bytes())
    begin = 8 + int.from_bytes(data[:8], "little")
    numbers = np.frombuffer(bytes(data[begin:]), dtype=np.float32).copy()
    numbers[:: max(1, len(numbers) // 7)] = np.nan
    path.write_bytes(bytes(data[:begin]) + numbers.tobytes())


def _broken(draw: random.Random, data: bytes) -> bytes:
    """Truncated, or with some bytes changed, most of them near the beginning, where headers are."""
    if draw.random() < 0.3:
        return data[: draw.randrange(len(data) + 1)]
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 8))):
        end = min(len(changed), draw.choice((32, 400, 2000, len(changed))))
        changed[draw.randrange(end)] = draw.randrange(256)
    return bytes(changed)
