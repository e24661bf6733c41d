"""The public names of the package as Markdown with Sphinx directives: signatures with their types, fields, docstrings.

Docstrings are written in Markdown, so they are taken as they are; examples (`>>>`) become blocks of code.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import re
import types
import typing
from collections.abc import Iterator
from typing import Any

PACKAGE = "lengthwise"
_SHOWN_DUNDERS = ("__call__", "__contains__", "__getitem__", "__iter__", "__len__")
_FENCES = {"class": "``````", "member": "`````"}


def public_names(module: str = PACKAGE) -> list[str]:
    """What a module offers: its `__all__`."""
    return list(importlib.import_module(module).__all__)


def room_names(room: str) -> list[str]:
    """What a room offers and neither the package nor the room above it does: the rest is described there."""
    ours, parts = importlib.import_module(f"{PACKAGE}.{room}"), f"{PACKAGE}.{room}".split(".")
    known = set()
    for end in range(1, len(parts)):
        above = importlib.import_module(".".join(parts[:end]))
        shared = set(getattr(above, "__all__", ())) & set(ours.__all__)
        known |= {name for name in shared if getattr(ours, name) is getattr(above, name)}
    return [name for name in ours.__all__ if name not in known]


def described(dotted: str) -> str:
    """A public name as text: `lengthwise.train`, `lengthwise.bounds.token_bound`."""
    module, _, name = dotted.rpartition(".")
    found = getattr(importlib.import_module(module), name)
    if inspect.isclass(found):
        return _class(dotted, found)
    if inspect.isroutine(found):
        return _block("py:function", f"{dotted}{signature_of(found)}", _words(found) + _keywords(found), "class")
    return _block("py:data", dotted, [_value(found)], "class")


def signature_of(function: Any) -> str:
    """A signature with its types as they are written in the source."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return "()"
    shown, stars = [], False
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not stars:
            shown.append("*")
        stars = stars or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        shown.append(_parameter(parameter))
    result = _annotation(signature.return_annotation)
    return f"({', '.join(shown)})" + (f" -> {result}" if result else "")


def _parameter(parameter: inspect.Parameter) -> str:
    star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    text, kind = star + parameter.name, _annotation(parameter.annotation)
    if kind:
        text += f": {kind}"
    if parameter.default is not inspect.Parameter.empty:
        text += f" = {_default(parameter.default)}" if kind else f"={_default(parameter.default)}"
    return text


def _annotation(annotation: Any) -> str:
    if annotation is inspect.Signature.empty:
        return ""
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _default(value: Any) -> str:
    """A default that is Python again; what has no short form is `...`."""
    if isinstance(value, types.FunctionType | type):
        return value.__name__
    text = repr(value)
    return text if len(text) <= 60 and "<" not in text and "\n" not in text else "..."


def _class(dotted: str, found: type) -> str:
    content = _words(found) + _fields(found)
    content += [_member(name, member) for name, member in _members(found)]
    return _block("py:class", f"{dotted}{_made(found)}", content, "class")


def _made(found: type) -> str:
    """How an object is made, where it is made by calling its class."""
    if inspect.isabstract(found) or getattr(found, "_is_protocol", False):
        return ""
    return signature_of(found).removesuffix(" -> None")


def _fields(found: type) -> list[str]:
    """The fields of a dataclass that have words of their own."""
    if not dataclasses.is_dataclass(found):
        return []
    words = {field.name: field.metadata.get("words", "") for field in dataclasses.fields(found) if field.init}
    if not any(words.values()):
        return []
    kinds = {field.name: _annotation(field.type) for field in dataclasses.fields(found)}
    return [_table(("field", "type", "meaning"), [(name, kinds[name], text) for name, text in words.items()])]


def _keywords(function: Any) -> list[str]:
    """What `**settings: Unpack[Settings]` takes."""
    parameters = inspect.signature(function).parameters.values()
    rest = next((one for one in parameters if one.kind is one.VAR_KEYWORD), None)
    named = re.fullmatch(r"Unpack\[(\w+)\]", _annotation(rest.annotation)) if rest else None
    if named is None:
        return []
    taken = getattr(inspect.unwrap(function), "__globals__", {}).get(named[1])
    if taken is None:
        return []
    rows = [(name, _forward(kind)) for name, kind in taken.__annotations__.items()]
    return [_table(("keyword", "type"), rows)]


def _forward(kind: Any) -> str:
    return kind.__forward_arg__ if isinstance(kind, typing.ForwardRef) else _annotation(kind)


def _members(found: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class or one of our classes above it defines."""
    seen: set[str] = set()
    for owner in found.__mro__:
        if not owner.__module__.startswith(PACKAGE):
            continue
        for name, member in vars(owner).items():
            shown = not name.startswith("_") or name in _SHOWN_DUNDERS
            if shown and name not in seen and isinstance(member, _MEMBERS):
                seen.add(name)
                yield name, member


_MEMBERS = (types.FunctionType, classmethod, staticmethod, property, functools.cached_property)


def _member(name: str, member: Any) -> str:
    if isinstance(member, classmethod | staticmethod):
        kind = "py:classmethod" if isinstance(member, classmethod) else "py:staticmethod"
        return _block(kind, name + signature_of(member.__func__), _words(member.__func__), "member")
    if isinstance(member, types.FunctionType):
        return _block("py:method", name + signature_of(member), _words(member), "member")
    getter = member.fget if isinstance(member, property) else member.func
    result = _annotation(inspect.signature(getter).return_annotation)
    return _block(
        "py:property", name, [f":type: {result}", "", *_words(getter)] if result else _words(getter), "member"
    )


def _words(found: Any) -> list[str]:
    """The docstring of an object itself; what a dataclass writes for itself is left out."""
    text = inspect.cleandoc(getattr(found, "__doc__", None) or "")
    if inspect.isclass(found) and text.startswith(f"{found.__name__}("):
        return []
    return [_fenced(text)] if text else []


def _fenced(text: str) -> str:
    """Examples as blocks of Python."""
    blocks = []
    for block in re.split(r"\n\s*\n", text):
        example = block.lstrip().startswith(">>>")
        blocks.append(f"```pycon\n{inspect.cleandoc(block)}\n```" if example else block)
    return "\n\n".join(blocks)


def _value(found: Any) -> str:
    text = repr(found)
    return f"`{text}`" if len(text) < 80 and "<" not in text else f"A `{type(found).__name__}`."


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [" | ".join(head), "|".join("---" for _ in head)]
    for first, kind, *rest in rows:
        lines.append(
            " | ".join([f"`{first}`", f"`{kind}`".replace("|", "\\|"), *(text.replace("|", "\\|") for text in rest)])
        )
    return "\n".join(f"| {line} |" for line in lines)


def _block(directive: str, title: str, content: list[str], level: str) -> str:
    """A directive; options, which begin with a colon, come first."""
    fence = _FENCES[level]
    return f"{fence}{{{directive}}} {title}\n" + "\n\n".join(content) + f"\n{fence}"
