# SPDX-License-Identifier: Apache-2.0
"""Launch plans as text and as pictures."""

from xdsl.parser import Parser

from tilewright.codegen.host_function import plan_of
from tilewright.codegen.launch_plan import Plan
from tilewright.codegen.plan_graph import graph_of, plan_dot, plan_mermaid
from tilewright.codegen.plan_text import plan_text
from tilewright.passes.driver.lowering import context

# A layer's weight is permuted at load; one result is an input, another has no elements.
PROGRAM = """
func.func @main(%x: memref<3x5xf32>, %w: memref<5x3xf32> {torch.name = "layer.weight",
    torch.kind = "parameter", torch.layout = affine_map<(d0, d1) -> (d1, d0)>}, %unused: memref<i1>)
    -> (memref<3x3xf32>, memref<3x5xf32>, memref<0xf32>)
    attributes {plan.peak_bytes = 256 : i64, plan.sum_bytes = 256 : i64} {
  %y = memref.alloc() {plan.offset = 0 : i64} : memref<3x3xf32>
  loop.launch @linear(%x, %w) -> (%y)
    : (memref<3x5xf32>, memref<5x3xf32>) -> (memref<3x3xf32>)
  %z = memref.alloc() : memref<3x3xf32>
  loop.launch @relu(%y) -> (%z) : (memref<3x3xf32>) -> (memref<3x3xf32>)
  %y_1 = memref.alloc() : memref<0xf32>
  func.return %z, %x, %y_1 : memref<3x3xf32>, memref<3x5xf32>, memref<0xf32>
}
cuda.func grid 1 block 32 @linear(%x: !cuda.ptr<f32, const>, %w: !cuda.ptr<f32, const>)
    -> (%y: !cuda.ptr<f32>) {
}
cuda.func grid 2 block 64 @relu(%x: !cuda.ptr<f32, const>) -> (%y: !cuda.ptr<f32>) {
  %s = cuda.shared 32 : !cuda.ptr<f32>
}
"""

TEXT = """\
launches 2, kernels 2
slab of intermediate buffers: 256 B, 256 B if none shared memory

inputs
  %x       float32[3, 5]  60 B
  %w       float32[5, 3]  60 B  layer.weight  axes [1, 0] at load
  %unused  bool[]          1 B

slab
  %y  float32[3, 3]  36 B  at 0  launches 0 to 1

launches
  0  linear<<<1, 32>>>       (%x, %w) -> (%y)
  1  relu<<<2, 64, 128 B>>>  (%y) -> (%z)

results
  %z    float32[3, 3]  36 B
  %x    float32[3, 5]  60 B
  %y_1  float32[0]      0 B
"""

MERMAID = """\
```mermaid
flowchart TD
  b0(["x: float32[3, 5], 60 B"])
  b1(["layer.weight: float32[5, 3], 60 B"])
  b5(["y_1: float32[0], 0 B"])
  k0["linear<br>1 x 32"]
  k1["relu<br>2 x 64, 128 B shared"]
  r0(["result 0"])
  r1(["result 1"])
  r2(["result 2"])
  b0 --> k0
  b1 --> k0
  k0 -- "y: float32[3, 3], 36 B at 0" --> k1
  k1 -- "z: float32[3, 3], 36 B" --> r0
  b0 --> r1
  b5 -- "y_1: float32[0], 0 B" --> r2
```
"""

DOT = """\
digraph plan {
  b0 [shape=oval, label="x: float32[3, 5], 60 B"];
  b1 [shape=oval, label="layer.weight: float32[5, 3], 60 B"];
  b5 [shape=oval, label="y_1: float32[0], 0 B"];
  k0 [shape=box, label="linear\\n1 x 32"];
  k1 [shape=box, label="relu\\n2 x 64, 128 B shared"];
  r0 [shape=oval, label="result 0"];
  r1 [shape=oval, label="result 1"];
  r2 [shape=oval, label="result 2"];
  b0 -> k0;
  b1 -> k0;
  k0 -> k1 [label="y: float32[3, 3], 36 B at 0"];
  k1 -> r0 [label="z: float32[3, 3], 36 B"];
  b0 -> r1;
  b5 -> r2 [label="y_1: float32[0], 0 B"];
}
"""


def plan(text: str = PROGRAM) -> Plan:
    """Return the plan of a program."""
    return plan_of(Parser(context(), text).parse_module())


def test_text() -> None:
    assert plan_text(plan()) == TEXT


def test_pictures() -> None:
    assert plan_mermaid(plan()) == MERMAID
    assert plan_dot(plan()) == DOT


def test_an_edge_starts_where_the_buffer_was_written_last() -> None:
    again = PROGRAM.replace(
        "  %z = memref",
        "  loop.launch @relu(%x) -> (%y) : (memref<3x5xf32>) -> (memref<3x3xf32>)\n  %z = memref",
    )
    edges = {(edge.source, edge.target) for edge in graph_of(plan(again)).edges}
    assert ("k1", "k2") in edges
    assert ("k0", "k2") not in edges


def test_a_plan_without_launches() -> None:
    text = "func.func @main(%x: memref<2xi64>) -> memref<2xi64> { func.return %x : memref<2xi64> }"
    assert plan_text(plan(text)) == (
        "launches 0, kernels 0\n\ninputs\n  %x  int64[2]  16 B\n\nresults\n  %x  int64[2]  16 B\n"
    )
