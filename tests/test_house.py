"""The house rules that a program can check: names, parameters, imports, and that code never branches on English."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import lengthwise
from lengthwise.probes import probes

ROOT = Path(lengthwise.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py") if path.parent.name != "examples")  # those are a user's
TREES = {path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
KEY = re.compile(r"[a-z0-9_]+(\.[a-z0-9_+-]+)+")
MOST_INNER_IMPORTS, MOST_PARAMETERS, MOST_FILES = 120, 9, 4


def functions() -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def test_no_two_classes_share_a_name() -> None:
    places: dict[str, list[str]] = {}
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name.lstrip("_"), []).append(f"{path}:{node.lineno}")
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_few_imports_stand_inside_functions() -> None:
    found = Counter[str]()
    for path, node in functions():
        inner = [n for n in ast.walk(node) if isinstance(n, ast.Import | ast.ImportFrom)]
        found[str(path)] += len(inner)
    assert found.total() <= MOST_INNER_IMPORTS, found.most_common(20)


def test_public_functions_have_few_parameters() -> None:
    many = []
    for path, node in functions():
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        count = sum(argument.arg not in ("self", "cls") for argument in arguments)
        public = not node.name.startswith("_") or node.name == "__init__"
        is_study = path == Path("studies/spec.py") and node.name == "__init__"
        if count > MOST_PARAMETERS and public and not is_study:
            many.append(f"{path}:{node.lineno} {node.name} ({count})")
    assert not many


def test_code_branches_on_keys_and_never_on_words() -> None:
    """`claim.title` and `assumption.statement` are shown; nothing is compared with them or searched in them."""
    words = ("title", "statement")
    found = []
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            methods = ("startswith", "endswith", "partition", "rpartition", "split", "find", "index", "removeprefix")
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods:
                sides.append(node.func.value)
            if isinstance(node, ast.Compare) and any(_is_sentence(side) for side in sides):
                found.append(f"{path}:{node.lineno} compares with a sentence")
            if any(isinstance(side, ast.Attribute) and side.attr in words for side in sides):
                found.append(f"{path}:{node.lineno} looks into words")
    assert not found


def _is_sentence(node: ast.expr) -> bool:
    """A literal of three words or more."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.split()) >= 3


def test_every_claim_and_assumption_has_a_key() -> None:
    found = []
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            if node.func.id not in ("Claim", "Assumption"):
                continue
            named = next((word.value for word in node.keywords if word.arg == "key"), None)
            key = named or (node.args[0] if node.args else None)
            text = _literal(key)
            if text is not None and not KEY.fullmatch(text):
                found.append(f"{path}:{node.lineno} {text!r}")
    assert not found


def _literal(node: ast.expr | None) -> str | None:
    """The text of a literal; of an f-string with its fields filled by a word."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
    return None


@pytest.mark.parametrize("name", sorted({*probes.names()} - {"curve"}))
def test_a_probe_is_known_in_few_other_files(name: str) -> None:
    """Modules outside a probe's folder that import from it. The curve, which every run
    has, is what tables and answers are made of."""
    home, where = f"lengthwise.probes.{name}", set()
    for path, tree in TREES.items():
        own = path.parts[:2] in (("probes", name), ("probes", f"{name}.py"))
        for node in ast.walk(tree):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if not own and any(f"{module}.".startswith(f"{home}.") for module in modules):
                where.add(str(path))
    assert len(where) <= MOST_FILES, sorted(where)
