"""The only registry: names of tasks, position encodings, attentions and schedules, and how a name becomes an object.

An object is asked for by a *spec*: `sort`, `sort:alphabet=40`, `rope:scaling=yarn,factor=4`. The part before the colon
is a registered name, the rest are fields of its dataclass. The modules of the room are imported when the first name is
looked up, not before; entry points of other packages are loaded when their name is asked for. A name may also be a
Python file of the user's, `mytask.py::Repeat`, in a registry that has a finder for it. `make` takes what a user wrote,
whose files may run; `restore` takes stored data, whose files may not unless the data are trusted (`lengthwise.trust`).
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import functools
import importlib
import importlib.metadata
import pkgutil
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from lengthwise.errors import UnknownName, UsageError
from lengthwise.trust import allow, data_is_trusted

T = TypeVar("T")
C = TypeVar("C", bound=Callable[..., Any])

# What a spec starts with: a Python file, perhaps on a drive and with a class, `C:\dir\mytask.py::Repeat`; else a name.
_NAME = re.compile(r"(?:[A-Za-z]:(?=[\\/]))?[^:]*\.py(?:::[^:]*)?(?=:|$)|[^:]*")


class Registry(Generic[T]):
    """Names of one kind of thing. `room` is the package whose modules register into it, `group` its entry points,
    `listing` the command that lists it, if there is one. Of a room that is not `deep`, the packages inside it are
    imported and their modules are not."""

    def __init__(self, kind: str, room: str, group: str, listing: str = "", deep: bool = True) -> None:
        self.kind, self.room, self.group, self.listing, self.deep = kind, room, group, listing, deep
        self._makers: dict[str, Callable[..., T]] = {}
        self._aliases: dict[str, str] = {}
        self._finders: list[Callable[[str], tuple[str, Callable[..., T]] | None]] = []
        self._found: dict[str, Callable[..., T]] = {}
        self._discovered = False

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

    def finder(self, find: C) -> C:
        """Decorator: `find` is asked about a name nobody registered; it gives its full name and dataclass, or None."""
        self._finders.append(find)
        return find

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
        for find in self._finders:
            if found := find(name):
                self._found[found[0]] = found[1]
                return found
        near = nearest(name, [*self.names(), *self._aliases])
        hint = f"`{self.listing}` lists them" if self.listing else f"it is one of {', '.join(self.names())}"
        raise UnknownName(f"unknown {self.kind} {name!r}; {near}{hint}")

    def make(self, spec: str | Mapping[str, Any]) -> T:
        """The object that a spec from the user describes, as text or as a mapping. The Python files it names may run
        from now on, so this is never called with what was read from a file: that is for `restore`."""
        self._discover()
        if self._finders:
            allow_code(spec)
        return self._made(spec)

    def restore(self, spec: str | Mapping[str, Any]) -> T:
        """The object that a stored spec describes: the mapping that `spec_of` gives, or text. A Python file named in it
        is refused unless the user named it too, or trusts the data."""
        if data_is_trusted():
            allow_code(spec)
        return self._made(spec)

    def _made(self, spec: str | Mapping[str, Any]) -> T:
        name, given = _name_and_settings(spec)
        name, maker = self._named(name)
        settings = converted_settings(self.kind, name, maker, given)
        made = maker(**settings)
        object.__setattr__(made, "_spec", {"name": name, **settings})
        return made

    def spec_of(self, thing: T) -> dict[str, Any]:
        """The mapping from which `restore` gives an equal object; {} when its class is not registered."""
        self._discover()
        if hasattr(thing, "_spec"):
            return dict(thing._spec)  # pyright: ignore[reportAttributeAccessIssue]
        for name, maker in {**self._makers, **self._found}.items():
            if maker is type(thing):
                return {"name": name, **_settings_of(thing)}
        return {}

    def _discover(self) -> None:
        if self._discovered:
            return
        self._discovered = True
        package = importlib.import_module(self.room)
        search = pkgutil.walk_packages if self.deep else pkgutil.iter_modules
        for module in search(package.__path__, self.room + "."):
            importlib.import_module(module.name)

    @functools.cached_property
    def _points(self) -> tuple[importlib.metadata.EntryPoint, ...]:
        return tuple(importlib.metadata.entry_points(group=self.group))

    def _entry_points(self) -> tuple[importlib.metadata.EntryPoint, ...]:
        return self._points


def allow_code(spec: str | Mapping[str, Any]) -> None:
    """Let the Python files that a spec names run: the task itself, or one that a setting names (`along:task=my.py`)."""
    try:
        name, settings = _name_and_settings(spec)
    except (UsageError, KeyError):  # told when the object is made
        return
    file = str(name).partition("::")[0]
    if file.endswith(".py"):
        allow(file)
    for value in settings.values():
        if isinstance(value, str):
            allow_code(with_commas(value))


def with_commas(text: str) -> str:
    """A spec that was the setting of another, in which semicolons part the settings, as a spec of its own."""
    return re.sub(r";(?=\s*\w+=)", ",", text)


def _name_and_settings(spec: str | Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
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
    types = typing.get_type_hints(cls)
    fields = {f.name for f in dataclasses.fields(cls) if f.init}
    converted = {}
    for key, value in settings.items():
        if key not in fields:
            known = f"it has {', '.join(sorted(fields))}" if fields else "it has no settings"
            raise UsageError(f"the {kind} {name!r} has no setting {key!r}; {nearest(key, fields)}{known}")
        converted[key] = _as_type(types[key], value, f"{kind} {name!r}: {key}")
    if missing := needed_settings(cls) - {*preset, *settings}:
        raise UsageError(f"the {kind} {name!r} needs {' and '.join(sorted(missing))}, as in {name}:{min(missing)}=…")
    return converted


def needed_settings(cls: Any) -> set[str]:
    """The fields of a dataclass that have no default."""
    absent = dataclasses.MISSING
    return {f.name for f in dataclasses.fields(cls) if f.init and f.default is f.default_factory is absent}


def _as_type(wanted: Any, value: Any, what: str) -> Any:
    choices = typing.get_args(wanted) if typing.get_origin(wanted) is typing.Literal else ()
    if isinstance(value, str) and wanted is not str and value not in choices:  # a choice may be called none
        value = _literal(value)
    if choices and value not in choices:
        raise UsageError(f"{what} is one of {', '.join(map(str, choices))}, not {value!r}")
    if wanted is float and type(value) is int:
        return float(value)
    if wanted is str and not isinstance(value, str):
        return str(value)
    if wanted in (int, float, bool) and type(value) is not wanted:
        raise UsageError(f"{what} takes {'a whole number' if wanted is int else wanted.__name__}, not {value!r}")
    return value
