"""Files of every kind that the command line reads, right or broken in one of many ways."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import random
import socket
from collections.abc import Callable
from pathlib import Path

import numpy as np

from own_tasks import UNFINISHED

_ITEMS = "".join(f'{{"input": "{"ab" * n}", "answer": "{"a" * n}"}}\n' for n in range(1, 9))
_PAIRS = '{"state": "1 0 1", "next": "1 1"}\n{"state": "1 1", "next": "0"}\n{"state": "0 1", "next": "1"}\n'
_DFA = {
    "alphabet": ["a", "b"],
    "start": 0,
    "accepting": [0],
    "transitions": {"0": {"a": 1, "b": 0}, "1": {"a": 0, "b": 1}},
}
_HEAD = {"match": [[0, 0], [0, 0]], "local": [0, "1/2"], "value": [[1, 0], [0, 1]]}
_LIMIT = {"symbols": ["a", "b"], "embeddings": [[1, 0], [0, 1]], "positions": [[0, 0]], "layers": [{"heads": [_HEAD]}]}
_STUDY = 'tasks = ["sort"]\npositions = ["rope"]\ntrain_size = [4]\nseeds = 1\nitems = 4\n\n[training]\nsteps = [2]\n'
_LAYOUT = """def starts(size):
    STARTS
def step(state):
    BODY
MORE
"""
_SYMBOLS = ("('a', 'b')", "(-1, float('nan'))", "iter(int, 1)", "exit(7)", "1 / 0", "()", "('a', 'a')", "'ab' * 10**7")
_ANSWERS = ("prompts", "prompts - 9", "prompts * float('nan')", "prompts + 10**9", "[[]]", "None", "np.zeros((1, 1))")
_SOLVED = ("list(prompt)", "prompt", "exit(3)", "iter(int, 1)", "None", "[float('nan')]", "__import__('sys').exit('x')")
_STARTS = (
    *("return [['1'] * size]", "return None", "return [None]", "return [[None]]", "return iter(int, 1)", "return []"),
    *(
        "return [['1'] * 10**6]",
        "yield ['1']; exit(2)",
        "return [['\\ud800']]",
        "return [['keep']]",
        "raise GeneratorExit",
    ),
)
_BODIES = (
    *(
        "return state[1:] or None",
        "return state[1:]",
        "exit(5)",
        "while True: pass",
        "raise SystemExit(6)",
        "return state * 2",
        "return None",
    ),
    *("return 1 / 0", "return [float('nan')]", "return iter(int, 1)", "return [['1']]", "return ['1' * 10**7]"),
    *("return [*state, '1']", "return state[::-1]", "raise GeneratorExit"),
)
_MORE = (
    "",
    *(f"def {name}(state):\n    return {value}" for name in ("labels", "sources") for value in (
        *("None", "3", "[3]", "[object()] * len(state)", "iter(int, 1)", "exit(6)", "[[10**30]] * len(state)"),
        *("['keep'] * len(state)", "[[-5]] * (len(state) - 1)", "[[0]] * (len(state) - 1)"),
    )),
    *(f"def draw(size, random):\n    return {value}" for value in ("['1'] * size", "None", "[object()]", "exit(4)")),
    *("labels = 3", "sources = 4", "draw = 5"),
)  # fmt: skip
_NET = """import torch
class Net(torch.nn.Module):
    def __init__(self, vocabulary, outputs):
        super().__init__()
        self.inner = torch.nn.Embedding(vocabulary, outputs)
    def forward(self, tokens):
        FORWARD
def build():
    BUILD
"""
_FORWARD = (
    *("return self.inner(tokens)", "return tokens", "return None", "return self.inner(tokens) * float('nan')"),
    *("exit(8)", "return self.inner(tokens)[:, :1]", "return torch.zeros(10**6, 10**6)", "return 1 / 0"),
)
_BUILD = (
    *("return Net(100, 100)", "return None", "return exit", "exit(9)", "return iter(int, 1)"),
    *("class A:\n        def answer(self, prompts): return prompts\n    return A()", "return lambda tokens: tokens"),
    *("class A:\n        def answer(self, prompts): return [[-1, None]]\n    return A()", "return torch.zeros(2)"),
    *("class A:\n        def answer(self, prompts): return 1 / 0\n    return A()", "return [exit]"),
)


def _array(values: object) -> bytes:
    """A file of NumPy."""
    file = io.BytesIO()
    np.save(file, np.array(values))
    return file.getvalue()


# What works, by the ending that says what it is.
RIGHT: dict[str, str | bytes] = {
    "items": _ITEMS,
    "pairs": _PAIRS,
    "chains": '{"states": ["1 0 1", "1 1", "0"]}\n{"states": ["0 1", "1"]}\n',
    "ids": '{"tokens": [3, 1, 2]}\n{"tokens": [1, 2, 4, 0]}\n',
    "dfa": json.dumps(_DFA),
    "limit": json.dumps({**_LIMIT, "readout": [[1, 0]]}),
    "text": "It was the best of times, it was the worst of times. " * 20,
    "crasp": 'n := count("a")\nout := n >= 1\n',
    "toml": _STUDY,
    "csv": "x,a\n1,2\n2,1\n1,1\n2,2\n",
    "table.csv": "1,2\n3,4\n5,6\n",
    "py": "",
    "layout.py": "",
    "net.py": "",
    "npy": _array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
    "json.gz": json.dumps({"schema": 1, "tasks": {}, "rows": [], "records": []}),  # packed when it is written
}
KINDS = tuple(RIGHT)
_LINES = ("items", "pairs", "chains", "ids")
ENDINGS = {**dict.fromkeys(_LINES, "jsonl"), "dfa": "json", "limit": "json", "text": "txt"}
_DEEP, _DIGITS = "[" * 100_000, "9" * 5000


def file(draw: random.Random, word: str) -> tuple[str, Callable[[Path], None]]:
    """The name of a file for a word such as prose:path=FILE.text, and what writes it."""
    kind = word.rpartition("FILE.")[2]
    name = f"f{draw.randrange(1000)}.{ENDINGS.get(kind, kind)}"
    how = draw.choice(_SPECIAL) if draw.random() < 0.15 else None
    if how is not None:
        return name, lambda folder: how(folder / name)
    content = _content(draw, kind)
    return name, lambda folder: (folder / name).write_bytes(content) and None


def _content(draw: random.Random, kind: str) -> bytes:
    given = RIGHT[kind]
    text = given if isinstance(given, str) else ""
    if kind == "py":
        choices = {"SYMBOLS": _SYMBOLS, "ANSWERS": _ANSWERS, "SOLVED": _SOLVED}
        text = UNFINISHED
        for mark, values in choices.items():
            text = text.replace(mark, values[0] if draw.random() < 0.5 else draw.choice(values))
    elif kind == "layout.py":
        text = _LAYOUT
        for mark, values in {"STARTS": _STARTS, "BODY": _BODIES, "MORE": _MORE}.items():
            text = text.replace(mark, values[0] if draw.random() < 0.5 else draw.choice(values))
    elif kind == "net.py":
        for mark, values in {"FORWARD": _FORWARD, "BUILD": _BUILD}.items():
            text = (text or _NET).replace(mark, values[0] if draw.random() < 0.4 else draw.choice(values))
    content = text.encode() if isinstance(given, str) else given
    if draw.random() >= (0.6 if kind.endswith("py") else 0.15):  # a line that Python cannot read says little
        for _ in range(draw.choice((1, 1, 2, 4))):
            content = draw.choice(_BREAKS)(draw, content)
    return gzip.compress(content, mtime=0) if kind == "json.gz" and draw.random() < 0.9 else content


def _flipped(draw: random.Random, content: bytes) -> bytes:
    place = draw.randrange(max(1, len(content)))
    return content[:place] + bytes([draw.randrange(256)]) + content[place + 1 :]


def _cut(draw: random.Random, content: bytes) -> bytes:
    return content[: draw.randrange(max(1, len(content)))]


def _put(draw: random.Random, content: bytes) -> bytes:
    place = draw.randrange(max(1, len(content)))
    return content[:place] + draw.choice(_PIECES) + content[place:]


def _number(draw: random.Random, content: bytes) -> bytes:
    """One of the digits becomes another number."""
    places = [at for at, byte in enumerate(content) if 48 <= byte < 58]
    if not places:
        return content
    at = draw.choice(places)
    return content[:at] + draw.choice(_NUMBERS) + content[at + 1 :]


def _value(draw: random.Random, content: bytes) -> bytes:
    """A JSON value inside becomes another one."""
    try:
        found = json.loads(content.splitlines()[0]) if content else {}
    except (ValueError, UnicodeDecodeError, RecursionError):
        return content
    holder = found
    while isinstance(holder, dict | list) and holder:
        key = draw.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if not isinstance(holder[key], dict | list) or draw.random() < 0.4:
            holder[key] = draw.choice(VALUES)
            break
        holder = holder[key]
    return json.dumps(found).encode() + b"\n"


VALUES = (
    None,
    True,
    -1,
    0,
    1.5,
    10**18,
    "",
    "x",
    "\ud800",
    [],
    {},
    [[]],
    {"a": 1},
    "a" * 5000,
    float("nan"),
    1e308,
    -(2**63),
)
_BREAKS = (_flipped, _cut, _put, _number, _value)
_NUMBERS = (
    b"-1",
    b"0",
    b"1e400",
    b"NaN",
    b"2147483648",
    b"9223372036854775808",
    b"1000000000",
    b"9" * 400,
    b"1.5",
    b'"x"',
)
_PIECES = (
    *(
        b"\xff",
        b"\x00",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\n",
        b"\r",
        b'"',
        b"{",
        b"}",
        b",",
        b"\\ud800",
        b"\xe2\x80\xae",
    ),
    *(_DEEP.encode(), _DIGITS.encode(), b"a" * 200_000, b"{" * 2000, b'{"a":' * 20_000, b"\x1b[2J", b"null", b"\n\n"),
)


def _endless_line(path: Path) -> None:
    path.write_text('{"input": "' + "ab" * 5_000_000)


def _bomb(path: Path) -> None:
    """Much more than it seems, once it is unpacked."""
    path.write_bytes(gzip.compress(bytes(300 << 20), compresslevel=1, mtime=0))


def _socket(path: Path) -> None:
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as made:
        made.bind(str(path))


_SPECIAL: tuple[Callable[[Path], None], ...] = (
    lambda path: path.symlink_to("/dev/zero"),
    lambda path: path.symlink_to(path.name),
    lambda path: path.symlink_to("/proc/self/mem"),
    lambda path: path.mkdir(),
    os.mkfifo,
    _socket,
    _bomb,
    lambda path: None,
    lambda path: path.touch(),
    lambda path: os.close(os.open(path, os.O_CREAT, 0o000)),
    _endless_line,
)
