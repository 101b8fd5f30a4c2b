# SPDX-License-Identifier: Apache-2.0
"""
Picture of a launch plan in Mermaid (which Markdown shows) or Graphviz.

Each launch is a node. Each buffer that one launch writes and another reads is an edge.

    flowchart TD
      x(["x: float32[64], 256 B"])
      k0["double<br>1 x 64"]
      x -- "x" --> k0
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

from tilewright.codegen.launch_plan import Launch, Plan
from tilewright.codegen.plan_text import buffer_text, input_text, written_text


class Node(NamedTuple):
    """A launch, a buffer or a result in the picture."""

    id: str
    lines: tuple[str, ...]
    is_launch: bool


class Edge(NamedTuple):
    """
    One use of a buffer: an edge from the buffer's source to the launch or result that reads it.
    """

    source: str
    target: str
    label: str


class Graph(NamedTuple):
    """Picture of a launch plan: its nodes and edges."""

    nodes: Sequence[Node]
    edges: Sequence[Edge]


def graph_of(plan: Plan) -> Graph:
    """
    Return the graph of a plan: a node for each used input, each launch and each result; an edge for
    each use.
    """
    nodes: list[Node] = []
    edges: list[Edge] = []
    used = {number for launch in plan.launches for number in launch.inputs} | {*plan.results}
    written: dict[int, str] = {}
    """Name of the node that wrote the present contents of a buffer, by the buffer's number."""
    for number in range(len(plan.buffers)):
        is_input = number < len(plan.inputs)
        is_written = any(number in launch.outputs for launch in plan.launches)
        if number in used and (is_input or not is_written):  # an empty buffer is never written
            text = input_text(plan, number) if is_input else buffer_text(plan, number)
            written[number] = f"b{number}"
            nodes.append(Node(f"b{number}", (text,), False))
    for position, launch in enumerate(plan.launches):
        node = Node(f"k{position}", _launch_lines(plan, launch), True)
        nodes.append(node)
        for number in launch.inputs:
            edges.append(Edge(written[number], node.id, _label(plan, number)))
        written.update(dict.fromkeys(launch.outputs, node.id))
    for position, number in enumerate(plan.results):
        node = Node(f"r{position}", (f"result {position}",), False)
        nodes.append(node)
        edges.append(Edge(written[number], node.id, _label(plan, number)))
    return Graph(nodes, edges)


def _launch_lines(plan: Plan, launch: Launch) -> tuple[str, ...]:
    special = [output for output, _ in launch.in_place] + [fill.buffer for fill in launch.fills]
    in_place = (written_text(plan, launch, output) for output in special)
    shape = f"{launch.grid} x {launch.block}"
    shared = f", {launch.shared_bytes} B shared" if launch.shared_bytes else ""
    return launch.kernel, shape + shared, *in_place


def _label(plan: Plan, number: int) -> str:
    """
    Return the label of the edges of a buffer: a phrase that describes it. Edges from inputs have
    none, because the input's node describes the buffer.
    """
    return "" if number < len(plan.inputs) else buffer_text(plan, number)


def plan_mermaid(plan: Plan) -> str:
    """Return the picture as a Markdown page with a Mermaid block."""
    nodes, edges = graph_of(plan)
    lines = ["```mermaid", "flowchart TD"]
    for node in nodes:
        opening, closing = ("[", "]") if node.is_launch else ("([", "])")
        lines.append(f"  {node.id}{opening}{_mermaid_text('<br>'.join(node.lines))}{closing}")
    for edge in edges:
        arrow = f"-- {_mermaid_text(edge.label)} -->" if edge.label else "-->"
        lines.append(f"  {edge.source} {arrow} {edge.target}")
    return "\n".join([*lines, "```"]) + "\n"


def _mermaid_text(text: str) -> str:
    return '"' + text.replace('"', "#quot;") + '"'


def plan_dot(plan: Plan) -> str:
    """Return the picture in Graphviz's language."""
    nodes, edges = graph_of(plan)
    lines = ["digraph plan {"]
    for node in nodes:
        shape = "box" if node.is_launch else "oval"
        lines.append(f"  {node.id} [shape={shape}, label={json.dumps(chr(10).join(node.lines))}];")
    for edge in edges:
        label = f" [label={json.dumps(edge.label)}]" if edge.label else ""
        lines.append(f"  {edge.source} -> {edge.target}{label};")
    return "\n".join([*lines, "}"]) + "\n"
