"""The reference of the Python API covers every public name, with the types that the source has."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import lengthwise
from site_texts import DOCS, blocks, pages

SOURCE = Path(lengthwise.__file__).parent
PAGES = pages()
LISTED = {
    page: [f"lengthwise.{line.strip()}" for block in blocks(PAGES[page], "{api}") for line in block.splitlines()]
    for page in ("reference/api.md", "reference/api-guides.md")
}
ROOMS = re.findall(r"^```\{api-room\} ([\w.]+)$", PAGES["reference/api-rooms.md"], re.MULTILINE)


@pytest.fixture(scope="module")
def api() -> ModuleType:
    sys.path.insert(0, str(DOCS / "_ext"))
    try:
        return importlib.import_module("api_text")
    finally:
        sys.path.remove(str(DOCS / "_ext"))


def exported() -> dict[str, list[str]]:
    """The packages that say what they offer, and what that is; what is a module is none of it."""
    found = {}
    for path in sorted(SOURCE.rglob("__init__.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                names = [name for name in ast.literal_eval(node.value) if not (path.parent / f"{name}.py").exists()]
                found[".".join(("lengthwise", *path.parent.relative_to(SOURCE).parts))] = names
    return {room: names for room, names in found.items() if names}


def test_every_public_name_is_in_the_reference_once() -> None:
    names = LISTED["reference/api.md"]
    assert sorted(names) == sorted(f"lengthwise.{name}" for name in lengthwise.__all__)


def test_every_package_that_exports_names_has_a_section(api: ModuleType) -> None:
    rooms = exported()
    assert sorted(f"lengthwise.{room}" for room in ROOMS) == sorted(rooms.keys() - {"lengthwise"})
    described = {f"lengthwise.{room}.{name}" for room in ROOMS for name in api.room_names(room)}
    for room, names in rooms.items():
        for name in names:
            above = [room.rpartition(".")[0], "lengthwise"]
            assert f"{room}.{name}" in described or any(name in rooms.get(other, ()) for other in (room, *above))


def test_names_that_the_guides_import_are_in_the_reference(api: ModuleType) -> None:
    places = [name.rpartition(".") for name in all_names(api)]
    known = [getattr(importlib.import_module(module), name) for module, _, name in places]
    missing = []
    for page, text in PAGES.items():
        if not page.startswith(("tutorial/", "how-to/", "reference/")):
            continue
        code = "\n".join(blocks(text, "python") + blocks(text, "pycon"))
        for module, names in re.findall(r"^(?:>>> )?from (lengthwise[\w.]*) import (.+)$", code, re.MULTILINE):
            for name in names.split(", "):
                found = getattr(importlib.import_module(module), name)
                if not any(found is one for one in known):
                    missing.append(f"{page}: {module}.{name}")
    assert not missing


def all_names(api: ModuleType) -> list[str]:
    rooms = [f"lengthwise.{room}.{name}" for room in ROOMS for name in api.room_names(room)]
    return [*LISTED["reference/api.md"], *LISTED["reference/api-guides.md"], *rooms]


def test_a_signature_has_the_types_of_the_source(api: ModuleType) -> None:
    text = api.described("lengthwise.Claim")
    assert text.startswith(
        "``````{py:class} lengthwise.Claim(key: str, value: float | int | str | bool | None, unit: str"
    )
    assert "{py:classmethod} from_plain(data: Mapping[str, Any]) -> Claim" in text
    assert "`````{py:property} title\n:type: str\n" in text


def test_settings_of_train_are_listed(api: ModuleType) -> None:
    text = api.described("lengthwise.train")
    assert "**settings: Unpack[Settings]" in text
    for name in ("depth", "width", "steps", "batch"):
        assert f"| `{name}` | `" in text


def test_every_description_can_be_written(api: ModuleType) -> None:
    """Words for every name: a class or function without a docstring is a gap in the reference."""
    bare = []
    for name in all_names(api):
        text = api.described(name)
        body = text.partition("\n")[2].rpartition("\n")[0].strip()
        if not body or body.startswith("`````{"):
            bare.append(name)
    assert not bare
