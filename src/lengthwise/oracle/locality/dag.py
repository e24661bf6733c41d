"""The causal function of a formulation as a graph: one instance from its first state to its last, drawn.

A node is a column of a state; an edge leads from each column that a step read to the column that it made. Columns that
are only carried over have one thin edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.figures.style import GREY, PALETTE
from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.premise import computed
from lengthwise.records import Figure, Record, Table, columns
from lengthwise.registry import format_spec
from lengthwise.seeds import Seeds
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations.formulation import Formulation, StepMove, symbol

_SIZE = 4  # of the instance that is drawn, where the task has it
_MOST = 60  # states in one picture
_EDGES = columns("step:whole | column:whole | made:text column made | read:text columns read | distance:whole")
explain(
    {
        "dag.title": "Steps of {name}, one instance of size {size}",
        "dag.words": "One row per state from top to bottom, one mark per column; coloured lines lead from the columns "
        "that a step reads to the column it makes, grey ones from a column that is carried over.",
        "dag.text": "{steps} steps make {made} columns; the widest reads columns {distance} apart.",
        "dag.table": "columns made, step by step",
        "dag.cut": "The chain has {states} states, of which the first {shown} are drawn.",
    }
)


@dataclass(frozen=True)
class StepGraph:
    """The moves of one instance: `edges` are (step, source, place, whether the column was computed)."""

    moves: tuple[StepMove, ...]

    @property
    def edges(self) -> list[tuple[int, int, int, bool]]:
        found = []
        for step, move in enumerate(self.moves):
            made = set(computed(move))
            found += [(step, source, at, at in made) for at, own in enumerate(move.sources) for source in own]
        return found


def step_graph(task: Formulation, size: int | None = None, seed: int = 0) -> tuple[StepGraph, int]:
    """The graph of one instance, of a small size unless one is given, and its size."""
    sizes = task.sizes(1, 64)
    chosen = min(sizes, key=lambda one: abs(one - _SIZE)) if size is None else size
    if not task.has(chosen):
        raise UsageError(f"the task has no size {chosen}")
    (start,) = task.starts(chosen, Seeds(seed).draws("graph", chosen, items=range(1)))
    return StepGraph(tuple(task.moves(start))), chosen


def graph_record(task: Formulation, size: int | None = None, seed: int = 0) -> Record:
    """The graph of one instance as a record: a picture, and what each step reads."""
    graph, chosen = step_graph(task, size, seed)
    name = format_spec(tasks.spec_of(task) or {"name": type(task).__name__})
    rows = []
    for step, move in enumerate(graph.moves, start=1):
        for at in computed(move):
            own = move.sources[at]
            read = " ".join(symbol(move.state[source]) for source in own)
            rows.append((step, at + 1, symbol(move.after[at]), read, own[-1] - own[0]))
    values = {"name": name, "size": chosen, "steps": len(graph.moves), "made": len(rows)}
    values["distance"] = max((row[-1] for row in rows), default=0)
    title = sentence("dag.title", values)
    text = [sentence("dag.text", values)]
    if len(graph.moves) >= _MOST:
        text.append(sentence("dag.cut", {"states": len(graph.moves) + 1, "shown": _MOST}))
    table = Table("dag.steps", _EDGES, tuple(rows), sentence("dag.table"), detail=len(rows) > _SIZE * 4)
    figure = Figure("dag.graph", _template(graph), _data(graph), title, sentence("dag.words"))
    return Record("dag", {"size": chosen, "seed": seed}, title, tuple(text), (), (table,), (figure,))


def _data(graph: StepGraph) -> dict[str, list[dict[str, Any]]]:
    moves = graph.moves[: _MOST - 1]
    states = [moves[0].state, *(move.after for move in moves)]
    nodes = [
        {"x": at, "y": step, "text": symbol(column), "made": step > 0 and at in computed(moves[step - 1])}
        for step, state in enumerate(states)
        for at, column in enumerate(state)
    ]
    off = (6.5 * _lines(graph) + 2) / _row(graph)  # lines begin below the text of a column and end above the next
    edges = [
        {"x": source, "y": step + off, "x2": at, "y2": step + 1 - off, "made": made}
        for step, source, at, made in graph.edges
        if step < len(moves)
    ]
    return {"nodes": nodes, "edges": edges}


def _lines(graph: StepGraph) -> int:
    return max(len(column) for move in graph.moves for column in move.state)


def _row(graph: StepGraph) -> int:
    """The height of a state."""
    return 34 + 12 * _lines(graph)


def _template(graph: StepGraph) -> dict[str, Any]:
    wide = max(len(move.state) for move in graph.moves)
    high = min(len(graph.moves) + 1, _MOST)
    lines = _lines(graph)
    x = {"field": "x", "type": "quantitative", "axis": None, "scale": {"domain": [-0.5, wide + 0.5], "nice": False}}
    y = {"field": "y", "type": "quantitative", "title": "step", "axis": {"grid": False, "tickMinStep": 1}}
    y["scale"] = {"domain": [high - 0.5, -0.5], "nice": False}
    color = {
        "field": "made",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": [False, True], "range": [GREY, PALETTE[0]]},
    }
    thick = {"condition": {"test": "datum.made", "value": 1.6}, "value": 0.6}
    lead = {"x": x, "y": y, "x2": {"field": "x2"}, "y2": {"field": "y2"}, "color": color, "strokeWidth": thick}
    label = {"x": x, "y": y, "text": {"field": "text"}, "color": color}
    return {
        "width": max(120, 34 * (wide + 1)),
        "height": _row(graph) * high,
        "layer": [
            {"data": {"name": "edges"}, "mark": {"type": "rule", "opacity": 0.55}, "encoding": lead},
            {
                "data": {"name": "nodes"},
                "mark": {"type": "text", "lineBreak": "|", "dy": -6 * (lines - 1), "fontSize": 11},
                "encoding": label,
            },
        ],
    }
