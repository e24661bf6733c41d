"""The names of the package: where each is defined, and that an access never changes what it gives."""

from __future__ import annotations

import importlib
import pkgutil
import random
import subprocess
import sys

import pytest

import lengthwise as lw

ROOMS = [module.name for module in pkgutil.iter_modules(lw.__path__) if not module.name.startswith("_")]
PUBLIC = [name for name in lw.__all__ if name != "__version__"]

TWICE = """
import sys, types
import lengthwise as lw

names, rooms = sys.argv[1].split(","), sys.argv[2].split(",")
first = {name: getattr(lw, name) for name in names}
for name in reversed(names):
    assert getattr(lw, name) is first[name], name
    assert isinstance(first[name], types.ModuleType) == (name in rooms), name
"""


def run_alone(code: str, *arguments: str) -> None:
    """In an interpreter that has imported nothing of the package yet."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.system
@pytest.mark.parametrize("order", ["as listed", "reversed", "shuffled"])
def test_a_name_gives_the_same_object_whatever_was_asked_for_before(order: str) -> None:
    names = [*PUBLIC, *(room for room in ROOMS if room != "cli")]
    names = names[::-1] if order == "reversed" else names
    if order == "shuffled":
        random.Random(0).shuffle(names)
    run_alone(TWICE, ",".join(names), ",".join(ROOMS))


@pytest.mark.system
@pytest.mark.parametrize("first", ["tasks", "positions", "bounds"])
def test_a_module_is_itself_at_the_first_access(first: str) -> None:
    run_alone(TWICE, first, first)


def test_no_public_name_is_that_of_a_module() -> None:
    """Python sets such a name to the module as soon as something imports it."""
    assert not set(lw.__all__) & set(ROOMS)


def test_every_home_is_where_the_thing_is_defined() -> None:
    assert sorted(lw._HOMES) == sorted(PUBLIC)
    for name, home in lw._HOMES.items():
        module, _, own = home.partition(":")
        found = getattr(importlib.import_module(module), own or name)
        assert found.__module__ == module and found is getattr(lw, name)


def test_importing_the_package_loads_neither_torch_nor_numpy() -> None:
    run_alone("import sys, lengthwise; assert not {'torch', 'numpy'} & set(sys.modules)")


def test_an_unknown_name_is_an_attribute_error() -> None:
    for name in ("taks", "_tasks", "__wrapped__"):
        with pytest.raises(AttributeError, match="no attribute"):
            getattr(lw, name)
    assert {"make_task", "train"} <= set(dir(lw))


def test_a_task_is_made_by_its_name() -> None:
    assert lw.make_task("sort:alphabet=9") == lw.tasks.tasks.make("sort:alphabet=9")
