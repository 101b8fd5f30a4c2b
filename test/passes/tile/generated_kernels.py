# SPDX-License-Identifier: Apache-2.0
"""
Random kernels in Loop IR: batched contractions in every layout with prologues and epilogues,
reductions of rows and of columns, and elementwise kernels. Most sizes are 1 to 70, and few are
multiples of a tile.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

_LARGE = (96, 128, 130, 197)
"""Large extents, drawn for M or K of some contractions."""


class Loads(NamedTuple):
    """
    Loads of some arguments, and the value computed from them: lines of IR, its name, and the
    arguments.
    """

    lines: tuple[str, ...]
    value: str
    arguments: tuple[str, ...]


def kernel_text(seed: int) -> str:
    """Return the text of the random kernel with this seed."""
    random = Random(seed)
    kinds = (_contraction, _contraction, _contraction, _rows, _columns, _elements)
    return random.choice(kinds)(random)


def _size(random: Random) -> int:
    return random.choice((1, 2, 3, 4, 8, 16, 31, 32, 33, 48, 59, 64, 65, random.randint(1, 70)))


def _kernel(name: str, arguments: Sequence[str], outputs: Sequence[str], body: str) -> str:
    return f"loop.kernel @{name}({', '.join(arguments)}) -> ({', '.join(outputs)}) {{\n{body}\n}}\n"


def _contraction(random: Random) -> str:
    m, n, k = _size(random), _size(random), _size(random)
    if random.random() < 0.15:
        m = random.choice(_LARGE)
    elif random.random() < 0.15:
        k = random.choice(_LARGE)
    batch = random.choice((0, 0, 0, 1, 2, 3))
    axes = {"g": batch, "i": m, "j": n}
    left = _operand(random, "a", "i", "k", axes | {"k": k})
    right = _operand(random, "b", "j", "k", axes | {"k": k})
    after = _epilogue(random, axes)
    shape = "x".join(str(size) for size in axes.values() if size)
    place = ", ".join(f"%{axis}" for axis, size in axes.items() if size)
    nest = ", ".join(f"%{axis} in {size}" for axis, size in axes.items() if size)
    lines = [
        f"  loop.for {nest} {{",
        f"    %sum = loop.reduce %k in {k} with add {{",
        *(f"      {line}" for line in (*left.lines, *right.lines)),
        f"      %product = arith.mulf {left.value}, {right.value} : f32",
        "      loop.yield %product : f32",
        "    } : f32",
        *(f"    {line}" for line in after.lines),
        f"    loop.store {after.value}, %out[{place}] : memref<{shape}xf32>",
    ]
    outputs = [f"%out: memref<{shape}xf32>"]
    if random.random() < 0.2:
        lines.append(f"    loop.store %sum, %more[{place}] : memref<{shape}xf32>")
        outputs.append(f"%more: memref<{shape}xf32>")
    lines.append("  }")
    arguments = [*left.arguments, *right.arguments, *after.arguments]
    return _kernel("contraction", arguments, outputs, "\n".join(lines))


def _operand(random: Random, name: str, free: str, k: str, sizes: dict[str, int]) -> Loads:
    """Return an operand of the product: loaded in either layout, unchanged or with a prologue."""
    order = [free, k] if random.random() < 0.5 else [k, free]
    if sizes["g"] and random.random() < 0.8:
        order.insert(0, "g")
    kind = random.choice(("plain", "plain", "plain", "gate", "shift", "half"))
    element = "f16" if kind == "half" else "f32"
    shape = "x".join(str(sizes[axis]) for axis in order)
    place = ", ".join(f"%{axis}" for axis in order)
    type = f"memref<{shape}x{element}>"
    load = f"%{name}0 = loop.load %{name}[{place}] : {type}"
    argument = f"%{name}: {type}"
    if kind == "half":
        lines = (load, f"%{name}1 = arith.extf %{name}0 : f16 to f32")
        return Loads(lines, f"%{name}1", (argument,))
    if kind == "gate":
        lines = (
            load,
            f"%{name}1 = loop.load %{name}g[{place}] : {type}",
            f"%{name}2 = math.tanh %{name}0 : f32",
            f"%{name}3 = arith.mulf %{name}2, %{name}1 : f32",
        )
        return Loads(lines, f"%{name}3", (argument, f"%{name}g: {type}"))
    if kind == "shift":
        vector = f"memref<{sizes[k]}xf32>"
        lines = (
            load,
            f"%{name}1 = loop.load %{name}s[%{k}] : {vector}",
            f"%{name}2 = arith.addf %{name}0, %{name}1 : f32",
        )
        return Loads(lines, f"%{name}2", (argument, f"%{name}s: {vector}"))
    return Loads((load,), f"%{name}0", (argument,))


def _epilogue(random: Random, sizes: dict[str, int]) -> Loads:
    """Return a random epilogue of `%sum`: none, a bias, a residual, or ReLU."""
    kind = random.choice(("none", "bias", "residual", "relu"))
    if kind == "bias":
        type = f"memref<{sizes['j']}xf32>"
        lines = (f"%e0 = loop.load %bias[%j] : {type}", "%e1 = arith.addf %sum, %e0 : f32")
        return Loads(lines, "%e1", (f"%bias: {type}",))
    if kind == "residual":
        type = f"memref<{sizes['i']}x{sizes['j']}xf32>"
        lines = (f"%e0 = loop.load %r[%i, %j] : {type}", "%e1 = arith.addf %sum, %e0 : f32")
        return Loads(lines, "%e1", (f"%r: {type}",))
    if kind == "relu":
        zero = "%e0 = arith.constant 0.0 : f32"
        return Loads((zero, "%e1 = arith.maximumf %sum, %e0 : f32"), "%e1", ())
    return Loads((), "%sum", ())


def _rows(random: Random) -> str:
    """
    Return a kernel of rows: softmax, subtraction of the maximum, or only the sum of `exp(x - max)`.
    """
    rows, length = _size(random), random.choice((_size(random), 100, 197, 256, 513))
    x, out = f"memref<{rows}x{length}xf32>", f"memref<{rows}x{length}xf32>"
    kind = random.choice(("softmax", "center", "sum"))
    lines = [
        f"  loop.for %i in {rows} {{",
        f"    %m = loop.reduce %k in {length} with max {{",
        f"      %0 = loop.load %x[%i, %k] : {x}",
        "      loop.yield %0 : f32",
        "    } : f32",
    ]
    if kind != "center":
        lines += [
            f"    %s = loop.reduce %k in {length} with add {{",
            f"      %0 = loop.load %x[%i, %k] : {x}",
            "      %1 = arith.subf %0, %m : f32",
            "      %2 = math.exp %1 : f32",
            "      loop.yield %2 : f32",
            "    } : f32",
        ]
    if kind == "sum":
        out = f"memref<{rows}xf32>"
        lines += [f"    loop.store %s, %out[%i] : {out}", "  }"]
        return _kernel("rows", [f"%x: {x}"], [f"%out: {out}"], "\n".join(lines))
    lines += [
        f"    loop.for %j in {length} {{",
        f"      %0 = loop.load %x[%i, %j] : {x}",
        "      %1 = arith.subf %0, %m : f32",
    ]
    value = "%1"
    if kind == "softmax":
        lines += ["      %2 = math.exp %1 : f32", "      %3 = arith.divf %2, %s : f32"]
        value = "%3"
    lines += [f"      loop.store {value}, %out[%i, %j] : {out}", "    }", "  }"]
    return _kernel("rows", [f"%x: {x}"], [f"%out: {out}"], "\n".join(lines))


def _columns(random: Random) -> str:
    """Return a kernel that sums each column."""
    rows, length = random.choice((33, 64, 100, 197)), _size(random)
    x, out = f"memref<{rows}x{length}xf32>", f"memref<{length}xf32>"
    body = "\n".join(
        (
            f"  loop.for %i in {length} {{",
            f"    %s = loop.reduce %k in {rows} with add {{",
            f"      %0 = loop.load %x[%k, %i] : {x}",
            "      loop.yield %0 : f32",
            "    } : f32",
            f"    loop.store %s, %out[%i] : {out}",
            "  }",
        )
    )
    return _kernel("columns", [f"%x: {x}"], [f"%out: {out}"], body)


def _elements(random: Random) -> str:
    """
    Return a kernel that adds a vector to each row of a matrix, which may be stored transposed.
    """
    rows, length = _size(random), random.choice((_size(random), 128, 1000))
    turned = random.random() < 0.3
    x = f"memref<{length}x{rows}xf32>" if turned else f"memref<{rows}x{length}xf32>"
    out = f"memref<{rows}x{length}xf32>"
    place = "%j, %i" if turned else "%i, %j"
    body = "\n".join(
        (
            f"  loop.for %i in {rows}, %j in {length} {{",
            f"    %0 = loop.load %x[{place}] : {x}",
            f"    %1 = loop.load %y[%j] : memref<{length}xf32>",
            "    %2 = arith.addf %0, %1 : f32",
            f"    loop.store %2, %out[%i, %j] : {out}",
            "  }",
        )
    )
    arguments = [f"%x: {x}", f"%y: memref<{length}xf32>"]
    return _kernel("elements", arguments, [f"%out: {out}"], body)
