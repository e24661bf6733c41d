"""Names become objects and objects become names again; what is wrong in a spec is told in a sentence."""

import ast
import dataclasses
import importlib.metadata
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UnknownName, UsageError
from lengthwise.registry import Registry, converted_settings, format_spec, nearest, needed_settings, parse_spec
from lengthwise.tasks import tasks
from lengthwise.tasks.algorithmic import Sort


@dataclass(frozen=True)
class Lamp:
    watts: int = 40
    height: float = 1.5
    lit: bool = False
    colour: str = "white"
    plug: Literal["two", "three"] = "two"
    shade: int | None = None


@dataclass(frozen=True)
class Cable:
    metres: float
    ends: tuple[str, ...] = field(default_factory=tuple)


@pytest.fixture
def things(tmp_path, monkeypatch) -> Iterator[Registry[Any]]:
    """A registry whose room is a package of its own, with one module that registers `stool` when it is imported."""
    room = tmp_path / "house" / "furniture"
    room.mkdir(parents=True)
    (tmp_path / "house" / "__init__.py").write_text("")
    (room / "__init__.py").write_text(
        "from lengthwise.registry import Registry\nthings = Registry('thing', 'house.furniture', 'house.things')\n"
    )
    (room / "stool.py").write_text(
        "from dataclasses import dataclass\nfrom house.furniture import things\n\n\n"
        "@things.register('stool', 'seat')\n@dataclass(frozen=True)\nclass Stool:\n    legs: int = 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import house.furniture  # pyright: ignore[reportMissingImports]

    things = house.furniture.things
    things.register("lamp")(Lamp)
    things.register("bright", "sun", watts=100)(Lamp)
    things.register("cable")(Cable)
    yield things
    for name in [name for name in sys.modules if name.split(".")[0] == "house"]:
        del sys.modules[name]


@dataclass
class Point:
    """An entry point that counts how often it is loaded."""

    name: str
    thing: Any
    loads: int = 0

    def load(self) -> Any:
        self.loads += 1
        return self.thing


# --- looking up -------------------------------------------------------------------------------------------------------


def test_room_is_entered_at_the_first_look(things):
    assert "house.furniture.stool" not in sys.modules
    assert things.names() == ["bright", "cable", "lamp", "stool"]
    assert "house.furniture.stool" in sys.modules
    assert things.make("stool").legs == 3


def test_aliases_and_presets(things):
    assert things.make("seat:legs=4") == things.make("stool:legs=4")
    assert things.spec_of(things.make("seat:legs=4")) == {"name": "stool", "legs": 4}
    assert things.make("sun:lit=true") == Lamp(watts=100, lit=True)
    assert things.make("bright:watts=60") == Lamp(watts=60)
    assert "sun" not in things.names()


def test_a_name_is_given_once(things):
    for name in ("lamp", "sun"):
        with pytest.raises(ValueError, match=f"the thing name '{name}' is taken"):
            things.register(name)(Cable)


def test_an_alias_cannot_take_a_name(things):
    with pytest.raises(ValueError, match="is taken"):
        things.register("other", "lamp")(Cable)


@pytest.mark.parametrize(
    "typed, near", [("lmap", "lamp"), ("LAMP", "lamp"), ("brigth", "bright"), ("saet", "seat"), ("stoool", "stool")]
)
def test_did_you_mean(things, typed, near):
    with pytest.raises(UnknownName) as caught:
        things.make(typed)
    assert (
        str(caught.value) == f"unknown thing {typed!r}; did you mean {near!r}? it is one of bright, cable, lamp, stool"
    )


def test_nothing_is_near(things):
    with pytest.raises(UnknownName) as caught:
        things.maker("xyzzy")
    assert str(caught.value) == "unknown thing 'xyzzy'; it is one of bright, cable, lamp, stool"
    things.listing = "house things"
    with pytest.raises(UnknownName, match="unknown thing 'xyzzy'; `house things` lists them"):
        things.maker("xyzzy")
    assert nearest("xyzzy", ["lamp"]) == "" and nearest("lam", ["lamp", "cable"]) == "did you mean 'lamp'? "


def test_entry_points_are_listed_without_being_loaded(things, monkeypatch):
    asked, point = [], Point("torch", Lamp)

    def entry_points(*, group: str) -> list[Point]:
        asked.append(group)
        return [point]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    assert "torch" in things.names() and point.loads == 0
    assert things.make("torch:watts=5") == Lamp(5)
    assert things.make({"name": "torch"}) == Lamp()
    assert point.loads == 1 and asked == ["house.things"]
    with pytest.raises(UnknownName, match="did you mean 'torch'"):
        things.make("torhc")


def test_own_names_come_before_entry_points(things, monkeypatch):
    point = Point("lamp", Cable)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: [point])
    assert things.make("lamp") == Lamp() and point.loads == 0


# --- specs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, name, chosen",
    [
        ("sort", "sort", {}),
        (" sort : alphabet = 40 ", "sort", {"alphabet": "40"}),
        ("a:x=1,y=2.5,z=true,w=None,v=text", "a", {"x": "1", "y": "2.5", "z": "true", "w": "None", "v": "text"}),
        ("a:x=(1, 2),y=[3,4]", "a", {"x": "(1, 2)", "y": "[3,4]"}),
        ("regex:pattern={a,b}*d", "regex", {"pattern": "{a,b}*d"}),
        ("jsonl:path=C:/a:b.jsonl", "jsonl", {"path": "C:/a:b.jsonl"}),
        ("jsonl:path=items.py,size=n", "jsonl", {"path": "items.py", "size": "n"}),
        ("mytask.py", "mytask.py", {}),
        ("mytask.py:x=1", "mytask.py", {"x": "1"}),
        ("dir/my.task.py::Repeat", "dir/my.task.py::Repeat", {}),
        ("mytask.py::Repeat:x=1,y=b.py", "mytask.py::Repeat", {"x": "1", "y": "b.py"}),
        (r"C:\dir\mytask.py::Repeat:x=1", r"C:\dir\mytask.py::Repeat", {"x": "1"}),
        ("pyre:x=1", "pyre", {"x": "1"}),
        ("a.pyc:x=1", "a.pyc", {"x": "1"}),
    ],
)
def test_specs_are_read(text, name, chosen):
    assert parse_spec(text) == (name, chosen)


@pytest.mark.parametrize("text", ["sort:", "sort:alphabet", "sort:=3", "sort:40"])
def test_settings_need_a_key(text):
    with pytest.raises(UsageError, match=r"settings are written name:key=value,key=value; .* has no key="):
        parse_spec(text)


word = st.from_regex(r"[a-z][a-z_]{0,6}", fullmatch=True).filter(
    lambda text: text not in ("true", "false", "none", "name")
)


@settings(deadline=None)
@given(
    st.sampled_from(["sort", "dir/mytask.py", "mytask.py::Repeat"]),
    st.dictionaries(
        word, st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False, allow_infinity=False) | word
    ),
)
def test_text_form_goes_round(name, chosen):
    read, given = parse_spec(format_spec({"name": name, **chosen}))
    assert read == name and list(given) == list(chosen)
    for key, value in chosen.items():
        assert given[key] == value if isinstance(value, str) else ast.literal_eval(given[key]) == value


@pytest.mark.parametrize("text", ["00", "none", "1e3", "true", "(1)"])
def test_text_settings_stay_text(text):
    assert tasks.make(f"regular:expression={text},alphabet=x").expression == text


@settings(deadline=None)  # the first look imports every task
@given(st.integers(1, 150))
def test_task_specs_go_round(alphabet):
    task = tasks.make(f"sort:alphabet={alphabet}")
    assert task == Sort(alphabet)
    assert tasks.make(tasks.spec_of(task)) == tasks.make(format_spec(tasks.spec_of(task))) == task


def test_spec_of_what_was_not_made_by_name(things):
    assert things.spec_of(Lamp()) == {"name": "lamp"}
    assert things.spec_of(Lamp(watts=60, shade=2)) == {"name": "lamp", "watts": 60, "shade": 2}
    assert things.spec_of(dataclasses.replace(things.make("lamp:watts=60"), lit=True)) == {
        "name": "lamp",
        "watts": 60,
        "lit": True,
    }
    assert things.make(things.spec_of(Cable(2.0, ("a",)))) == Cable(2.0, ("a",))
    assert things.spec_of(object()) == {}


def test_spec_of_gives_a_copy(things):
    lamp = things.make("lamp:watts=60")
    things.spec_of(lamp)["watts"] = 1
    assert things.spec_of(lamp) == {"name": "lamp", "watts": 60}


def test_make_leaves_the_mapping_alone(things):
    spec = {"name": "lamp", "watts": 60}
    things.make(spec)
    assert spec == {"name": "lamp", "watts": 60}


# --- settings ---------------------------------------------------------------------------------------------------------


def test_settings_take_the_type_of_their_field(things):
    lamp = things.make("lamp:height=2,colour=7,lit=True,plug=three,shade=none")
    assert lamp == Lamp(height=2.0, colour="7", lit=True, plug="three", shade=None)
    assert type(lamp.height) is float and type(lamp.colour) is str


@pytest.mark.parametrize(
    "text, said",
    [
        (
            "lamp:wats=3",
            "the thing 'lamp' has no setting 'wats'; did you mean 'watts'? it has colour, height, lit, plug, ",
        ),
        ("lamp:zzz=3", "the thing 'lamp' has no setting 'zzz'; it has colour, "),
        ("lamp:watts=many", "thing 'lamp': watts takes a whole number, not 'many'"),
        ("lamp:watts=2.5", "thing 'lamp': watts takes a whole number, not 2.5"),
        ("lamp:watts=true", "thing 'lamp': watts takes a whole number, not True"),
        ("lamp:height=tall", "thing 'lamp': height takes a number, not 'tall'"),
        ("lamp:lit=1", "thing 'lamp': lit takes true or false, not 1"),
        ("lamp:plug=four", "thing 'lamp': plug must be one of two, three, not 'four'"),
        ("bright:wats=3", "the thing 'bright' has no setting 'wats'; did you mean 'watts'?"),
        ("cable", "the thing 'cable' needs metres, as in cable:metres=…"),
        ("cable:ends=x", "the thing 'cable' needs metres, as in cable:metres=…"),
    ],
)
def test_wrong_settings_are_told(things, text, said):
    with pytest.raises(UsageError) as caught:
        things.make(text)
    assert str(caught.value).startswith(said)


def test_needed_settings_may_come_from_a_preset(things):
    things.register("short", metres=0.5)(Cable)
    assert things.make("short") == Cable(0.5)
    assert needed_settings(Cable) == {"metres"} and needed_settings(Lamp) == set()


def test_what_is_no_dataclass_has_no_settings():
    assert converted_settings("thing", "box", object, {}) == {}
    with pytest.raises(UsageError, match="the thing 'box' takes no settings, as its class is not a dataclass"):
        converted_settings("thing", "box", object, {"x": "1"})
