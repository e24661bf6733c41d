"""Files that users name: what is not a file, too large, in another encoding, or broken ends in one sentence."""

from __future__ import annotations

import ast
import gzip
import json
import os
import re
from pathlib import Path

import pytest

import lengthwise
from lengthwise import reading
from lengthwise.errors import UsageError
from lengthwise.reading import (
    open_file,
    parse_json,
    parse_toml,
    read_bytes,
    read_csv,
    read_json_file,
    read_lines,
    read_packed_json,
    read_text,
    stamp_of,
)

READERS = (open_file, stamp_of, read_bytes, read_text, read_json_file, read_packed_json, read_csv)


def place_of(kind: str, folder: Path) -> str:
    path = folder / "given"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "link to a device":
        path.symlink_to("/dev/zero")
    return {"device": "/dev/zero", "null byte": "a\0b", "long": "a" * 5_000}.get(kind, str(path))


@pytest.mark.parametrize(
    "kind", ["pipe", "device", "link to a device", "folder", "loop", "nothing", "null byte", "long"]
)
def test_only_files_are_read(kind: str, tmp_path: Path) -> None:
    """Nothing waits for the writer of a pipe, and nothing is read from a device without an end."""
    path = place_of(kind, tmp_path)
    for read in READERS:
        with pytest.raises(UsageError, match="cannot be read"):
            read(path)
    with pytest.raises(UsageError, match="cannot be read"):
        list(read_lines(path))


def test_no_more_is_read_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"1" * 101)
    assert len(read_bytes(path, 101)) == 101
    for read in (read_bytes, read_text, read_json_file):
        with pytest.raises(UsageError, match="more than 100 bytes"):
            read(path, 100)
    with pytest.raises(UsageError, match="line 1: a line has at most 100 bytes"):
        list(read_lines(path, 100))
    monkeypatch.setattr(reading, "MOST_DATA", 1_000)
    path.write_bytes(b"123456789\n" * 101)
    with pytest.raises(UsageError, match="has more than"):
        list(read_lines(path))


def test_a_small_file_that_unpacks_to_a_large_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b" " * 1_000_000 + b"1"))
    assert read_packed_json(path) == 1
    monkeypatch.setattr(reading, "MOST_WHOLE", 100_000)
    with pytest.raises(UsageError, match="unpacks to more than"):
        read_packed_json(path)
    path.write_bytes(gzip.compress(b"[1, 2]")[:-4])
    with pytest.raises(UsageError, match="cannot be unpacked"):
        read_packed_json(path)


def test_encodings(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\n")
    assert read_text(path) == "a\nb\n" and list(read_lines(path)) == [(1, "a"), (2, "b")]
    for content in ("aé\n".encode("utf-16"), b"a\n\xff\n", b"\xed\xa0\x80"):
        path.write_bytes(content)
        for read in (read_text, lambda where: list(read_lines(where))):
            with pytest.raises(UsageError, match="not UTF-8"):
                read(path)


@pytest.mark.parametrize(
    "text, said",
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ("9" * 400, "64 bits"),
        ("-" + "9" * 5_000, "64 bits"),
        (f"[{2**63}]", "64 bits"),
        ("1e400", "not a finite number"),
        ("9" * 400 + ".5", "not a finite number"),
        ("[NaN]", "NaN is not a finite number"),
        ("-Infinity", "not a finite number"),
        ('{"a": ["\\ud800"]}', "surrogate"),
        ('{"\\uDFFF": 1}', "surrogate"),
        ("{", "Expecting"),
    ],
)
def test_json_that_would_break_what_reads_it(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=said):
        parse_json(text)
    (tmp_path / "given.json").write_text(text)
    with pytest.raises(UsageError, match=f"given.json cannot be read as JSON: .*{said}"):
        read_json_file(tmp_path / "given.json")


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63) + 1, 1e308, "é\U0001f600", "\\ud800", {"e100": ["1" * 400]}])
def test_json_that_is_right_is_kept(value: object) -> None:
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


def test_fields_of_csv_files(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("x,a\n\n" + "y" * 200_000 + ",b\n")  # Python's own limit is 131,072
    assert [len(field) for field in read_csv(path)[1]] == [200_000, 1]
    path.write_text("x,a\n" + "y" * (reading.MOST_FIELD + 1) + ",b\n")
    with pytest.raises(UsageError, match="field larger than field limit"):
        read_csv(path)


def test_toml() -> None:
    for text, said in (("a = " + "[" * 100_000, "nested"), ("a = " + "9" * 5_000, "not TOML"), ("a = 1\nb", "line 2")):
        with pytest.raises(UsageError, match=f"given.toml.*{said}"):
            parse_toml(text, "given.toml")


# Where files are opened or JSON is parsed outside `reading`, how often, and what is read there.
OWN = {
    "text/__init__.py": (1, "the text that ships with the package"),
    "bounds/compression/envelope.py": (2, "the header of a message, whose length is checked before"),
    "training/loop.py": (1, "the history in a checkpoint whose digest is compared"),
    "outputs.py": (2, "an output just written; one that is there, read by `reading`"),
    "probes/description/messages.py": (1, "a header of our own, made plain"),
    "probes/guarantee/message.py": (1, "a header of our own, made plain"),
    "probes/guarantee/store.py": (3, "a request of our own; losses, whose file `reading` opened; losses written"),
    "probes/conformance/differences.py": (1, "the name of a token, quoted by us"),
    "figures/design.py": (1, "the design sheet of the package"),
    "figures/drawer.py": (2, "figures from the process that asks"),
    "figures/drawing.py": (1, "a process, and no file"),
    "figures/chart_files.py": (1, "a script of the package"),
    "executors/call.py": (5, "jobs and replies between our processes"),
    "executors/luggage.py": (1, "files of a study that travel to a worker"),
    "executors/ray.py": (1, "a place of our own"),
    "executors/slurm.py": (3, "what our own jobs and the system write"),
    "executors/local.py": (1, "settings of our own"),
    "studies/record.py": (1, "records in the index"),
    "studies/export.py": (1, "an output"),
    "studies/spec.py": (1, "studies of the package"),
    "studies/sound.py": (2, "records and columns of the index, whose types are checked"),
    "cli/commands/view.py": (1, "an address for the browser"),
    "training/journal.py": (2, "a journal, appended; a line of one that `reading` opened"),
    "view/page.py": (2, "a figure of our own; assets of the package"),
    "studies/lock.py": (1, "the lock, which is written too; a link or a pipe is not followed"),
    "files.py": (2, "the part that was just written"),
    "oracle/locality/repairs/writing.py": (1, "code of the package"),
    "oracle/locality/trained.py": (2, "outcomes that ship with the package"),
    "terminal.py": (1, "the null device, in place of a stream that is closed"),
    "cli/completion.py": (1, "scripts of the package"),
    "cli/commands/examples.py": (2, "examples of the package"),
    "cli/commands/check_thoughts.py": (1, "an output"),
    "cli/commands/number_files.py": (4, "numbers in what `reading` opened; two outputs"),
    "probes/prompted/store.py": (1, "answers, appended"),
    "testing/executors.py": (1, "a file that a test wrote"),
    "testing/rules.py": (2, "records just written"),
    "reports/record_section.py": (1, "assets of the package"),
    "evidence/atlas.py": (1, "content of our own, made plain"),
    "evidence/search_layers.py": (2, "data that ship with the package"),
    "evidence/gather.py": (1, "settings of our own"),
}
_METHODS = {"open", "read_text", "read_bytes"}
_PARSERS = {"json": {"load", "loads"}, "csv": {"reader", "DictReader"}, "tomllib": {"load", "loads"}}
_PARSERS |= {"np": {"load", "loadtxt", "genfromtxt", "fromfile"}, "os": {"open"}}
_SOME = re.compile(r"\bopen\(|read_text\(|read_bytes\(|\.(loads?|loadtxt|genfromtxt|fromfile|reader|DictReader)\(")


def reads(tree: ast.AST) -> int:
    """How often files are opened or formats parsed. `Store.open` is no file, nor is `open_file`."""
    found = 0
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            found += node.func.id == "open"
        elif isinstance(node.func, ast.Attribute):
            owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
            found += (
                node.func.attr in _PARSERS[owner]
                if owner in _PARSERS
                else node.func.attr in _METHODS and owner != "Store"
            )
    return found


def test_files_are_opened_in_one_place() -> None:
    """A new place that opens a file calls `lengthwise.reading`, or says here why the file is nobody else's."""
    room = Path(lengthwise.__file__).parent
    texts = {path.relative_to(room).as_posix(): path.read_text() for path in room.rglob("*.py")}
    del texts["reading.py"]
    found = {name: reads(ast.parse(text)) for name, text in texts.items() if _SOME.search(text)}
    assert {name: count for name, count in found.items() if count} == {name: count for name, (count, _) in OWN.items()}


def test_the_search_for_readers_finds_them() -> None:
    for text in ("open(x)", "Path(x).open()", "a.read_text()", "json.loads(x)", "csv.reader(x)", "np.load(x)"):
        assert reads(ast.parse(text)) == 1
    assert reads(ast.parse("open_file(x); Store.open(x); json.dumps(x)")) == 0
