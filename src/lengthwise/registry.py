"""The only registry: names of tasks, position encodings, attention rules and so on, and how a name becomes an object.

An object is asked for by a *spec*: `sort`, `sort:alphabet=40`, `rope:scaling=yarn,factor=4`. The part before the colon
is a registered name, the rest are fields of its dataclass. The modules of the room are imported when the first name is
looked up, not before; entry points of other packages are loaded when their name is asked for. A name may also be a
Python file of the user's, `mytask.py::Repeat`, which must keep the contract of its kind. `make` takes what a user
wrote, whose files may run; `restore` takes stored data, whose files may not unless the data are trusted
(`lengthwise.trust`).

A dataclass of settings that stands in a plan (`Architecture`, `Recipe`) declares its fields with `setting`: their words
are the help of the command line, and `settings_of` is where options, axes of studies and stored plans come from.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import functools
import importlib
import importlib.metadata
import inspect
import pkgutil
import re
import reprlib
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lengthwise.errors import Interrupted, UnknownName, UsageError
from lengthwise.limits import LARGEST, MOST_SETTING, check_count, shown_count
from lengthwise.trust import allow, data_is_trusted, module_in, said_in

T = TypeVar("T")
R = TypeVar("R")
C = TypeVar("C", bound=Callable[..., Any])

# What a spec starts with: a Python file, perhaps on a drive and with a class, `C:\dir\mytask.py::Repeat`; else a name.
_NAME = re.compile(r"(?:[A-Za-z]:(?=[\\/]))?[^:]*\.py(?:::[^:]*)?(?=:|$)|[^:]*")


class Registry(Generic[T]):
    """Names of one kind of thing. `room` is the package whose modules register into it (a module that holds them all is
    one too), `group` its entry points, `listing` the command that lists it, if there is one. Of a room that is not
    `deep`, the packages inside it are imported and their modules are not.

    `base` is the class that a class in a user's file must extend; without it the registry takes no files. `contract`
    names the function, "module:function", that an object of such a class is given to before it is used.
    """

    def __init__(
        self,
        kind: str,
        room: str,
        group: str,
        listing: str = "",
        deep: bool = True,
        base: type | None = None,
        contract: str = "",
    ) -> None:
        self.kind, self.room, self.group, self.listing, self.deep = kind, room, group, listing, deep
        self.base, self.contract = base, contract
        self._makers: dict[str, Callable[..., T]] = {}
        self._aliases: dict[str, str] = {}
        self._found: dict[str, Callable[..., T]] = {}  # classes of files by their full names
        self._kept: set[tuple[type, str]] = set()  # what was seen to keep the contract
        self._discovered = False

    @property
    def of_files(self) -> set[Any]:
        """The classes of the user's that were found in files."""
        return set(self._found.values())

    def register(self, name: str, *aliases: str, **settings: Any) -> Callable[[C], C]:
        """Decorator: `name` makes the decorated dataclass, with `settings` filled in."""

        def add(maker: C) -> C:
            for new in (name, *aliases):
                if new in self._makers or new in self._aliases:
                    raise ValueError(f"the {self.kind} name {new!r} is taken")
            self._makers[name] = functools.partial(maker, **settings) if settings else maker
            self._aliases.update(dict.fromkeys(aliases, name))
            return maker

        return add

    def names(self) -> list[str]:
        self._discover()
        return sorted({*self._makers, *(point.name for point in self._entry_points())})

    def maker(self, name: str) -> Callable[..., T]:
        """The dataclass (or preset of one) behind a name."""
        return self._named(name)[1]

    def _named(self, name: str) -> tuple[str, Callable[..., T]]:
        """The full name, with aliases resolved, and what it makes."""
        self._discover()
        name = self._aliases.get(name, name)
        if name in self._makers:
            return name, self._makers[name]
        for point in self._entry_points():
            if point.name == name:
                return name, self._makers.setdefault(name, point.load())
        if self.base is not None and name.partition("::")[0].endswith(".py"):
            name, found = _class_in_file(name, self.bases(), self.kind)
            self._found[name] = found
            return name, found
        near = nearest(name, [*self.names(), *self._aliases])
        hint = f"`{self.listing}` lists them" if self.listing else f"it is one of {', '.join(self.names())}"
        raise UnknownName(f"unknown {self.kind} {name!r}; {near}{hint}")

    def make(self, spec: str | Mapping[str, Any]) -> T:
        """The object that a spec from the user describes, as text or as a mapping. The Python files it names may run
        from now on, so this is never called with what was read from a file: that is for `restore`."""
        self.allow(spec)
        return self._made(spec)

    def restore(self, spec: str | Mapping[str, Any]) -> T:
        """The object that a stored spec describes: the mapping that `spec_of` gives, or text. A Python file named in it
        is refused unless the user named it too, or trusts the data."""
        if data_is_trusted():
            self.allow(spec)
        return self._made(spec)

    def bases(self) -> tuple[type, ...]:
        """The classes of which a class in a user's file must extend one."""
        return (self.base,) if self.base is not None else ()

    def allow(self, spec: str | Mapping[str, Any]) -> None:
        """Let the Python files that a spec names run."""
        if self.base is not None:
            allow_code(spec)

    def _made(self, spec: str | Mapping[str, Any]) -> T:
        name, given = name_and_settings(spec)
        name, maker = self._named(name)
        settings = converted_settings(self.kind, name, maker, given)
        made = maker(**settings)
        object.__setattr__(made, "_spec", {"name": name, **settings})
        if name in self._found:
            self.hold_to_contract(made)
        return made

    def hold_to_contract(self, thing: T) -> None:
        """Refuse, in one sentence, an object of the user's that breaks the contract of its kind; equal ones are looked
        at once."""
        key = (type(thing), repr(thing))
        if self.contract and key not in self._kept:
            self.tried(thing, lambda: named_in(self.contract)(thing))
            self._kept.add(key)

    def tried(self, thing: T, call: Callable[[], R]) -> R:
        """What a call gives that runs code of the user's; what it raises is one sentence that names the object, and the
        line in the user's file where there is one."""
        where = f"the {self.kind} {self.text_of(thing)}"
        try:
            return call()
        except AssertionError as error:
            raise UsageError(f"{where} does not keep its contract: {error}") from error
        except (Interrupted, UsageError):
            raise
        except Exception as error:
            raise UsageError(f"{where} failed when it was tried: {said_in(error, type(thing))}") from error

    def spec_of(self, thing: T) -> dict[str, Any]:
        """The mapping from which `restore` gives an equal object; {} when its class is not registered."""
        self._discover()
        if hasattr(thing, "_spec"):
            return dict(thing._spec)  # pyright: ignore[reportAttributeAccessIssue]
        for name, maker in {**self._makers, **self._found}.items():
            if maker is type(thing):
                return {"name": name, **_settings_of(thing)}
        return {}

    def text_of(self, thing: T) -> str:
        """The text from which `restore` gives an equal object; a usage error when its class is not registered."""
        if not (spec := self.spec_of(thing)):
            name = type(thing).__name__
            raise UsageError(f"a {self.kind} is stored by its name; register {name}, or name it as in my.py::{name}")
        return format_spec(spec)

    def _discover(self) -> None:
        if self._discovered:
            return
        self._discovered = True
        package = importlib.import_module(self.room)
        search = pkgutil.walk_packages if self.deep else pkgutil.iter_modules
        for module in search(getattr(package, "__path__", []), self.room + "."):
            importlib.import_module(module.name)

    @functools.cached_property
    def _points(self) -> tuple[importlib.metadata.EntryPoint, ...]:
        return tuple(importlib.metadata.entry_points(group=self.group))

    def _entry_points(self) -> tuple[importlib.metadata.EntryPoint, ...]:
        return self._points


def named_in(place: str) -> Any:
    """What "module:name" names: contracts and networks are named and not imported, as they need what they check or
    torch."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def _class_in_file(name: str, bases: tuple[type, ...], kind: str) -> tuple[str, Any]:
    """`path.py` or `path.py::Class` → the name with the class, and the class. Of the classes in the file those count
    that it defines itself."""
    path, colons, wanted = name.partition("::")
    module = module_in(path)
    found = {
        thing.__name__: thing
        for thing in vars(module).values()
        if isinstance(thing, type) and issubclass(thing, bases) and thing.__module__ == module.__name__
    }
    if not found:
        wanted = " or ".join(f"{base.__module__}.{base.__name__}" for base in bases)
        raise UsageError(f"{path} defines no subclass of {wanted}")
    if colons and wanted not in found:
        raise UnknownName(f"{path} has no {kind} {wanted!r}; {nearest(wanted, found)}it has {', '.join(found)}")
    # A base class that leaves methods open is no rival to the class that fills them in.
    choice = [wanted] if colons else [key for key, cls in found.items() if not inspect.isabstract(cls)] or list(found)
    if len(choice) > 1:
        raise UsageError(f"{path} has several {kind}s ({', '.join(choice)}); choose one as in {path}::{choice[0]}")
    cls = found[choice[0]]
    if inspect.isabstract(cls):
        raise UsageError(f"{path}: the {kind} {choice[0]} lacks {', '.join(sorted(cls.__abstractmethods__))}")
    return f"{path}::{choice[0]}", cls


def thing_in_file(path: str, name: str, usual: str) -> Any:
    """What a file of the user's defines under a name. The file runs, so this is called with what a user wrote."""
    allow(path)
    module = module_in(path)
    if not hasattr(module, name):
        names = [key for key, value in vars(module).items() if callable(value) and value.__module__ == module.__name__]
        raise UnknownName(f"{path} defines no {name!r}; {nearest(name, names)}write it as in {path}::{usual}")
    return getattr(module, name)


def allow_code(spec: str | Mapping[str, Any]) -> None:
    """Let the Python files that a spec names run: its own, or one that a setting names (`along:task=my.py`)."""
    try:
        name, settings = name_and_settings(spec)
    except (UsageError, KeyError):  # told when the object is made
        return
    file = str(name).partition("::")[0]
    if file.endswith(".py"):
        allow(file)
    for value in settings.values():
        if isinstance(value, str):
            allow_code(with_commas(value))


def with_commas(text: str) -> str:
    """A spec that was the setting of another, in which semicolons separate the settings, as a spec of its own."""
    return re.sub(r";(?=\s*\w+=)", ",", text)


def name_and_settings(spec: str | Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The two parts of a spec, as text or as a mapping."""
    if isinstance(spec, str):
        return parse_spec(spec)
    return spec["name"], {key: value for key, value in spec.items() if key != "name"}


def parse_spec(text: str) -> tuple[str, dict[str, str]]:
    """`name:key=value,key=value` → (name, {key: value}); a value is text until the type of its field is known."""
    text = text.strip()
    name = _NAME.match(text)[0]  # pyright: ignore[reportOptionalSubscript]  # it matches any text
    rest = text[len(name) + 1 :]
    settings: dict[str, str] = {}
    if len(name) < len(text):
        for part in re.split(r",(?=\s*\w+=)", rest):
            key, equals, value = part.partition("=")
            if not equals or not key.strip():
                raise UsageError(f"{text!r}: settings are written name:key=value,key=value; {part!r} has no key=")
            settings[key.strip()] = value.strip()
    return name.strip(), settings


def format_spec(spec: Mapping[str, Any]) -> str:
    """The text form of a spec mapping, as a user would type it."""
    settings = ",".join(f"{key}={_as_text(value)}" for key, value in spec.items() if key != "name")
    return f"{spec['name']}:{settings}" if settings else str(spec["name"])


def _as_text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def nearest(name: str, names: Iterable[str]) -> str:
    """`did you mean 'x'? ` or nothing."""
    close = difflib.get_close_matches(name.lower(), list(names), n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}? " if close else ""


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return {"true": True, "false": False, "none": None}.get(text.lower(), text)


def _settings_of(thing: Any) -> dict[str, Any]:
    """The dataclass fields that differ from their defaults."""
    if not dataclasses.is_dataclass(thing):
        return {}
    return {
        f.name: getattr(thing, f.name)
        for f in dataclasses.fields(thing)
        if f.init and getattr(thing, f.name) != (f.default if f.default is not dataclasses.MISSING else None)
    }


def converted_settings(kind: str, name: str, maker: Callable[..., Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in the types their fields declare; wrong or missing names and wrong types are usage errors."""
    preset = maker.keywords if isinstance(maker, functools.partial) else {}
    cls: Any = maker.func if isinstance(maker, functools.partial) else maker
    if not dataclasses.is_dataclass(cls):
        if settings:
            raise UsageError(f"the {kind} {name!r} takes no settings, as its class is not a dataclass")
        return {}
    hints = typing.get_type_hints(cls)
    fields = {f.name: f for f in dataclasses.fields(cls) if f.init}
    converted = {}
    for key, value in settings.items():
        if key not in fields:
            known = f"it has {', '.join(sorted(fields))}" if fields else "it has no settings"
            raise UsageError(f"the {kind} {name!r} has no setting {key!r}; {nearest(key, fields)}{known}")
        named = hints[key] is str or value in typing.get_args(hints[key]) or "registry" in fields[key].metadata
        if isinstance(value, str) and not named:  # a choice may be called none, and so may an encoding
            value = _literal(value)
        converted[key] = as_type(hints[key], value, f"{kind} {name!r}: {key}")
        if kind == "task" and type(converted[key]) is int and "seed" not in key:
            check_count(converted[key], f"task {name!r}: {key}", MOST_SETTING)
    if missing := needed_settings(cls) - {*preset, *settings}:
        raise UsageError(f"the {kind} {name!r} needs {' and '.join(sorted(missing))}, as in {name}:{min(missing)}=…")
    return converted


def needed_settings(cls: Any) -> set[str]:
    """The fields of a dataclass that have no default."""
    absent = dataclasses.MISSING
    return {f.name for f in dataclasses.fields(cls) if f.init and f.default is f.default_factory is absent}


_TAKEN: Mapping[Any, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def as_type(wanted: Any, value: Any, what: str) -> Any:
    """A value in the type that a field declares: a whole number serves as a number. Anything else is a usage error."""
    if isinstance(wanted, types.UnionType):
        choices = [kind for kind in typing.get_args(wanted) if kind is not types.NoneType]
        if len(choices) > 1 or (value is None and types.NoneType in typing.get_args(wanted)):
            return value  # of several types: the class itself knows what it takes
        wanted = choices[0]
    if typing.get_origin(wanted) is typing.Literal:
        if value not in (choices := typing.get_args(wanted)):
            raise UsageError(f"{what} must be one of {', '.join(map(str, choices))}, not {value!r}")
        return value
    if wanted is int and type(value) is int and abs(value) > LARGEST:
        raise UsageError(f"{what} takes a whole number of 64 bits, not {shown_count(value)}")
    if wanted is float and type(value) is int and abs(value) < 2**1000:
        return float(value)
    if wanted is str and not isinstance(value, str):
        return str(value)
    if wanted in _TAKEN and (not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool)):
        raise UsageError(f"{what} takes {_TAKEN[wanted]}, not {reprlib.repr(value)}")
    return value


def setting(default: Any, words: str, shown: str = "", **more: Any) -> Any:
    """A field of a dataclass of settings, with the `words` and the metavariable that a command line shows for it.

    `registry` is where a text that stands for an object is looked up; `flags` are the two options, for true and for
    false, of a setting that is either; one that came `later` is stored only where it is not its default.
    """
    return dataclasses.field(default=default, metadata={"words": words, "shown": shown, **more})


@dataclass(frozen=True)
class SettingField:
    """One field of a dataclass of settings: its type, and what `setting` said of it."""

    name: str
    type: Any
    words: str = ""
    shown: str = ""
    registry: Registry[Any] | None = None
    flags: tuple[str, str] | None = None
    later: bool = False

    @property
    def kind(self) -> type:
        """The type of what is written for it: int, float, bool or str."""
        kinds = [kind for kind in typing.get_args(self.type) or (self.type,) if kind in _TAKEN]
        return kinds[0] if kinds else str

    def typed(self, value: Any) -> Any:
        """What a user gave, in the type of the field: a text where the field is an object is a spec of the user's."""
        if self.registry is None:
            return as_type(self.type, value, self.name)
        if isinstance(value, str):
            return self.registry.make(value)
        if not isinstance(value, self.type):
            raise UsageError(f"{self.name} takes a text or an object of {self.type.__name__}, not {value!r}")
        return value

    def restored(self, value: Any) -> Any:
        """What `plain` wrote, or what stored data says in its place."""
        if self.registry is None:
            return as_type(self.type, value, self.name)
        return self.registry.restore(value) if isinstance(value, str) else value

    def plain(self, value: Any) -> Any:
        """A value as it is stored: an object by its spec."""
        return value if self.registry is None else self.registry.text_of(value)


@functools.cache
def settings_of(cls: type) -> Mapping[str, SettingField]:
    """The settings of a dataclass by their names, in the order of its fields."""
    hints = typing.get_type_hints(cls)
    return {f.name: SettingField(f.name, hints[f.name], **f.metadata) for f in dataclasses.fields(cls)}


def plain_settings(thing: Any) -> dict[str, Any]:
    """A dataclass of settings as JSON-ready data."""
    own = settings_of(type(thing)).items()
    kept = [(name, one) for name, one in own if not one.later or getattr(thing, name) != getattr(type(thing), name)]
    return {name: one.plain(getattr(thing, name)) for name, one in kept}


def restored_settings(cls: type[T], data: Mapping[str, Any]) -> T:
    """What `plain_settings` described. A setting that is missing is a KeyError, unless it came later."""
    own = {name: one for name, one in settings_of(cls).items() if name in data or not one.later}
    return cls(**{name: one.restored(data[name]) for name, one in own.items()})
