# SPDX-License-Identifier: Apache-2.0
"""
Staging operands does not change a kernel's results, for every choice of staging, over layouts,
masks, types and shapes of launches.
"""

from collections.abc import Callable

import numpy as np
import pytest
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp

from tilewright.api import capture, interpret, lower
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.poison import Array
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects import loop, tile
from tilewright.dialects.types import memref_type
from tilewright.interpreters.kernels import interpret_kernel
from tilewright.passes.rewriting.launching import with_main
from tilewright.passes.tile.operands import find_operands
from tilewright.passes.tile.scheduling_decision import rewrite
from tilewright.passes.tile.scheduling_pass import prefer
from tilewright.passes.tile.stage_inputs import StageInputsPass

Parse = Callable[[str], ModuleOp]


# 33x21 times 21x17, in tiles of 8x8 and chunks of 4: no extent is a multiple of its tile.
_PRODUCT = """
loop.kernel @k({arguments}) -> (%out: memref<33x17xf32>) {{
  tile.launch (%bm = block 5 m, %bn = block 3 n, %tm = thread 8 m, %tn = thread 8 n) {{
    {before}
    %sum = loop.reduce %ko in 6 with add {{
      %chunk = loop.reduce %ki in 4 with add {{
        {body}
        %xy = arith.mulf %x, %y : f32
        loop.yield %xy : f32
      }} : f32
      loop.yield %chunk : f32
    }} : f32
    loop.store %sum, %out[%bm * 8 + %tm, %bn * 8 + %tn]
      where [32 - %bm * 8 - %tm, 16 - %bn * 8 - %tn] : memref<33x17xf32>
  }}
}}"""

_M, _N, _K = "%bm * 8 + %tm", "%bn * 8 + %tn", "%ko * 4 + %ki"
_M_MASK, _N_MASK, _K_MASK = "32 - %bm * 8 - %tm", "16 - %bn * 8 - %tn", "20 - %ko * 4 - %ki"


def _load(result: str, argument: str, *subscripts: str, mask: str, type: str) -> str:
    where = f"[{', '.join(subscripts)}] where [{mask}]"
    return f"%{result} = loop.load %{argument}{where} : memref<{type}>\n"


_A = _load("x", "a", _M, _K, mask=f"{_M_MASK}, {_K_MASK}", type="33x21xf32")
_A_T = _load("x", "a", _K, _M, mask=f"{_M_MASK}, {_K_MASK}", type="21x33xf32")
_B = _load("y", "b", _K, _N, mask=f"{_K_MASK}, {_N_MASK}", type="21x17xf32")
_B_T = _load("y", "b", _N, _K, mask=f"{_K_MASK}, {_N_MASK}", type="17x21xf32")


def _product(arguments: str, body: str, before: str = "") -> str:
    return _PRODUCT.format(arguments=arguments, body=body, before=before)


PROGRAMS = {
    "nn": _product("%a: memref<33x21xf32>, %b: memref<21x17xf32>", _A + _B),
    "nt": _product("%a: memref<33x21xf32>, %b: memref<17x21xf32>", _A + _B_T),
    "tn": _product("%a: memref<21x33xf32>, %b: memref<21x17xf32>", _A_T + _B),
    "tt": _product("%a: memref<21x33xf32>, %b: memref<17x21xf32>", _A_T + _B_T),
    # The prologue is cheap, but a block with 8 columns would repeat it 8 times.
    "bias": _product(
        "%a: memref<33x21xf32>, %bias: memref<21xf32>, %b: memref<21x17xf32>",
        _A.replace("%x =", "%x0 =")
        + _load("x1", "bias", _K, mask=_K_MASK, type="21xf32")
        + "%x = arith.addf %x0, %x1 : f32\n"
        + _B,
    ),
    "gated": _product(
        "%g: memref<33x21xf32>, %u: memref<33x21xf32>, %b: memref<21x17xf32>",
        _A.replace("%x =", "%g0 =").replace("%a", "%g")
        + _A.replace("%x =", "%u0 =").replace("%a", "%u")
        + """%n = arith.negf %g0 : f32
        %e = math.exp %n : f32
        %one = arith.constant 1.0 : f32
        %d = arith.addf %e, %one : f32
        %s = arith.divf %g0, %d : f32
        %x = arith.mulf %s, %u0 : f32
        """
        + _B,
    ),
    # One operand is cast from half precision; the other is cast from integers.
    "casts": _product(
        "%a: memref<33x21xf16>, %b: memref<21x17xi8>",
        _A.replace("%x =", "%h =").replace("f32", "f16")
        + "%x = arith.extf %h : f16 to f32\n"
        + _B.replace("%y =", "%q =").replace("f32", "i8")
        + "%w = arith.extsi %q : i8 to i32\n%y = arith.sitofp %w : i32 to f32\n",
    ),
    # The slab depends on a statistic of each row, which the threads share with those that fill the
    # slab.
    "statistic": _product(
        "%a: memref<33x21xf32>, %b: memref<21x17xf32>",
        _A.replace("%x =", "%s =")
        + "%t = arith.subf %s, %max : f32\n%x = math.exp %t : f32\n"
        + _B
        + f"%dead = loop.predicate [{_K_MASK}] : i1\n",
        f"""%max = loop.reduce %l in 21 with max {{
          %m = loop.load %a[{_M}, %l] where [{_M_MASK}] : memref<33x21xf32>
          loop.yield %m : f32
        }} : f32""",
    ),
    # The scale of a row is the same for each step, and is loaded before the loop.
    "scale": _product(
        "%a: memref<33x21xf32>, %r: memref<33xf32>, %b: memref<21x17xf32>",
        _A.replace("%x =", "%s =") + "%x = arith.mulf %s, %scale : f32\n" + _B,
        _load("scale", "r", _M, mask=_M_MASK, type="33xf32"),
    ),
    # Rows are gathered: data gives their indices.
    "gather": _product(
        "%ids: memref<33xi64>, %a: memref<50x21xf32>, %b: memref<21x17xf32>",
        _load("x", "a", "%row", _K, mask=f"{_M_MASK}, {_K_MASK}", type="50x21xf32") + _B,
        _load("id", "ids", _M, mask=_M_MASK, type="33xi64")
        + "%row = loop.to_index %id below 50 : i64\n",
    ),
    # Padding beyond the edge is one, not zero.
    "select": _product(
        "%a: memref<33x19xf32>, %b: memref<21x17xf32>",
        _load(
            "v",
            "a",
            _M,
            f"{_K} - 1",
            mask=f"{_M_MASK}, {_K} - 1, 19 - %ko * 4 - %ki",
            type="33x19xf32",
        )
        + f"""%p = loop.predicate [{_M_MASK}, {_K} - 1, 19 - %ko * 4 - %ki] : i1
        %fill = arith.constant 1.0 : f32
        %x = arith.select %p, %v, %fill : f32
        """
        + _B,
    ),
    # One argument is read by both operands.
    "gram": _product(
        "%a: memref<33x21xf32>",
        _A + _load("y", "a", _N, _K, mask=f"{_K_MASK}, {_N_MASK}", type="33x21xf32"),
    ),
    # Arguments without names.
    "unnamed": _product(
        "%0: memref<33x21xf32>, %1: memref<21x17xf32>",
        (_A + _B).replace("%a", "%0").replace("%b[", "%1["),
    ),
    # Two products share an operand, which has one slab.
    "siblings": """
loop.kernel @k(%x: memref<16x24xf32>, %wg: memref<24x12xf32>, %wu: memref<24x12xf32>)
  -> (%out: memref<16x12xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 3 n, %tm = thread 8 m, %tn = thread 4 n) {
    %g, %u = loop.reduce %ko in 3 with add {
      %cg, %cu = loop.reduce %ki in 8 with add {
        %0 = loop.load %x[%bm * 8 + %tm, %ko * 8 + %ki] : memref<16x24xf32>
        %1 = loop.load %wg[%ko * 8 + %ki, %bn * 4 + %tn] : memref<24x12xf32>
        %2 = loop.load %wu[%ko * 8 + %ki, %bn * 4 + %tn] : memref<24x12xf32>
        %3 = arith.mulf %0, %1 : f32
        %4 = arith.mulf %0, %2 : f32
        loop.yield %3, %4 : f32, f32
      } : f32, f32
      loop.yield %cg, %cu : f32, f32
    } : f32, f32
    %o = arith.mulf %g, %u : f32
    loop.store %o, %out[%bm * 8 + %tm, %bn * 4 + %tn] : memref<16x12xf32>
  }
}""",
    # Batches, heads that share values, and threads with register tiles.
    "registers": """
loop.kernel @k(%a: memref<4x32x20xf32>, %b: memref<2x20x24xf32>) -> (%out: memref<4x32x24xf32>) {
  tile.launch (%h = block 4 batch, %bm = block 2 m, %tm = thread 4 m,
    %tn = thread 3 n, %sm = register 2 m, %vm = register 2 m,
    %sn = register 2 n, %vn = register 4 n) {
    %sum = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 2 with add unroll {
        %four = loop.reduce %kv in 4 with add unroll {
          %x = loop.load %a[%h, %bm * 16 + %sm * 8 + %tm * 2 + %vm, %ko * 8 + %ki * 4 + %kv]
            where [19 - %ko * 8 - %ki * 4 - %kv] : memref<4x32x20xf32>
          %y = loop.load %b[%h floordiv 2, %ko * 8 + %ki * 4 + %kv, %sn * 12 + %tn * 4 + %vn]
            where [19 - %ko * 8 - %ki * 4 - %kv] : memref<2x20x24xf32>
          %xy = arith.mulf %x, %y : f32
          loop.yield %xy : f32
        } : f32
        loop.yield %four : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%h, %bm * 16 + %sm * 8 + %tm * 2 + %vm, %sn * 12 + %tn * 4 + %vn]
      : memref<4x32x24xf32>
  }
}""",
    # Convolution of 3x3 windows, 6 channels of 10x10, and 8 filters: m is filters, n positions, k
    # channels and offsets.
    "convolution": """
loop.kernel @k(%x: memref<2x6x10x10xf32>, %w: memref<8x6x3x3xf32>) -> (%out: memref<2x8x8x8xf32>) {
  tile.launch (%i = block 2 batch, %bm = block 1 m, %bn = block 2 n, %tm = thread 8 m,
    %tn = thread 32 n) {
    %sum = loop.reduce %ko in 4 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %w[%tm, (%ko * 16 + %ki) floordiv 9,
                          (%ko * 16 + %ki) floordiv 3 mod 3, (%ko * 16 + %ki) mod 3]
          where [53 - %ko * 16 - %ki] : memref<8x6x3x3xf32>
        %1 = loop.load %x[%i, (%ko * 16 + %ki) floordiv 9,
                          (%bn * 32 + %tn) floordiv 8 + (%ko * 16 + %ki) floordiv 3 mod 3,
                          (%bn * 32 + %tn) mod 8 + (%ko * 16 + %ki) mod 3]
          where [53 - %ko * 16 - %ki] : memref<2x6x10x10xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%i, %tm, (%bn * 32 + %tn) floordiv 8, (%bn * 32 + %tn) mod 8]
      : memref<2x8x8x8xf32>
  }
}""",
    # Three factors: the product of two of them is larger than both, so it is not staged.
    "three": """
loop.kernel @k(%a: memref<8x16xf32>, %c: memref<4x16xf32>, %b: memref<4x16x8xf32>)
  -> (%out: memref<4x8x8xf32>) {
  tile.launch (%g = thread 4 batch, %i = thread 8 m, %j = thread 8 n) {
    %sum = loop.reduce %ko in 4 with add {
      %chunk = loop.reduce %ki in 4 with add {
        %0 = loop.load %a[%i, %ko * 4 + %ki] : memref<8x16xf32>
        %1 = loop.load %c[%g, %ko * 4 + %ki] : memref<4x16xf32>
        %2 = arith.mulf %0, %1 : f32
        %3 = loop.load %b[%g, %ko * 4 + %ki, %j] : memref<4x16x8xf32>
        %4 = arith.mulf %2, %3 : f32
        loop.yield %4 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%g, %i, %j] : memref<4x8x8xf32>
  }
}""",
    # A contraction with a single chunk.
    "short": """
loop.kernel @k(%a: memref<32x12xf64>, %b: memref<12x16xf64>) -> (%out: memref<32x16xf64>) {
  tile.launch (%bm = block 4 m, %tm = thread 8 m, %tn = thread 16 n) {
    %sum = loop.reduce %k in 12 with add {
      %0 = loop.load %a[%bm * 8 + %tm, %k] : memref<32x12xf64>
      %1 = loop.load %b[%k, %tn] : memref<12x16xf64>
      %2 = arith.mulf %0, %1 : f64
      loop.yield %2 : f64
    } : f64
    loop.store %sum, %out[%bm * 8 + %tm, %tn] : memref<32x16xf64>
  }
}""",
    # Rows of 100, three a block: the maximum, the sum and the result all read them.
    "softmax": """
loop.kernel @k(%x: memref<8x100xf32>) -> (%out: memref<8x100xf32>) {
  tile.launch (%rb = block 3 row, %rw = thread 3 row, %t = thread 32 k) {
    %p = loop.reduce %k in 4 with max {
      %0 = loop.load %x[%rb * 3 + %rw, %k * 32 + %t]
        where [7 - %rb * 3 - %rw, 99 - %k * 32 - %t] : memref<8x100xf32>
      loop.yield %0 where [99 - %k * 32 - %t] : f32
    } : f32
    %max = tile.combine %p across %t with max : f32
    %q = loop.reduce %k in 4 with add {
      %0 = loop.load %x[%rb * 3 + %rw, %k * 32 + %t]
        where [7 - %rb * 3 - %rw, 99 - %k * 32 - %t] : memref<8x100xf32>
      %1 = arith.subf %0, %max : f32
      %2 = math.exp %1 : f32
      loop.yield %2 where [99 - %k * 32 - %t] : f32
    } : f32
    %sum = tile.combine %q across %t with add : f32
    loop.for %j in 4 {
      %0 = loop.load %x[%rb * 3 + %rw, %j * 32 + %t]
        where [7 - %rb * 3 - %rw, 99 - %j * 32 - %t] : memref<8x100xf32>
      %1 = arith.subf %0, %max : f32
      %2 = math.exp %1 : f32
      %3 = arith.divf %2, %sum : f32
      loop.store %3, %out[%rb * 3 + %rw, %j * 32 + %t]
        where [7 - %rb * 3 - %rw, 99 - %j * 32 - %t] : memref<8x100xf32>
    }
  }
}""",
    # A residual is added first, and the slab holds the sum. Two rows of a block read each weight,
    # once each.
    "layer_norm": """
loop.kernel @k(%x: memref<6x64xf16>, %r: memref<6x64xf32>, %w: memref<64xf32>)
  -> (%out: memref<6x64xf32>) {
  %n = arith.constant 64.0 : f32
  tile.launch (%rb = block 3 row, %rw = thread 2 row, %t = thread 16 k) {
    %p = loop.reduce %k in 4 with add {
      %0 = loop.load %x[%rb * 2 + %rw, %k * 16 + %t] : memref<6x64xf16>
      %1 = arith.extf %0 : f16 to f32
      %2 = loop.load %r[%rb * 2 + %rw, %k * 16 + %t] : memref<6x64xf32>
      %3 = arith.addf %1, %2 : f32
      loop.yield %3 : f32
    } : f32
    %sum = tile.combine %p across %t with add : f32
    %mean = arith.divf %sum, %n : f32
    %q = loop.reduce %k in 4 with add {
      %0 = loop.load %x[%rb * 2 + %rw, %k * 16 + %t] : memref<6x64xf16>
      %1 = arith.extf %0 : f16 to f32
      %2 = loop.load %r[%rb * 2 + %rw, %k * 16 + %t] : memref<6x64xf32>
      %3 = arith.addf %1, %2 : f32
      %4 = arith.subf %3, %mean : f32
      %5 = arith.mulf %4, %4 : f32
      loop.yield %5 : f32
    } : f32
    %squares = tile.combine %q across %t with add : f32
    %var = arith.divf %squares, %n : f32
    %std = math.rsqrt %var : f32
    loop.for %j in 4 {
      %0 = loop.load %x[%rb * 2 + %rw, %j * 16 + %t] : memref<6x64xf16>
      %1 = arith.extf %0 : f16 to f32
      %2 = loop.load %r[%rb * 2 + %rw, %j * 16 + %t] : memref<6x64xf32>
      %3 = arith.addf %1, %2 : f32
      %4 = arith.subf %3, %mean : f32
      %5 = arith.mulf %4, %std : f32
      %6 = loop.load %w[%j * 16 + %t] : memref<64xf32>
      %7 = arith.mulf %5, %6 : f32
      loop.store %7, %out[%rb * 2 + %rw, %j * 16 + %t] : memref<6x64xf32>
    }
  }
}""",
    # The weights of a row are the same for all threads, though they depend on the maximum of the
    # row.
    "row_product": """
loop.kernel @k(%s: memref<3x50xf32>, %v: memref<50x70xf32>) -> (%out: memref<3x70xf32>) {
  tile.launch (%i = block 3 row, %t = thread 32 k) {
    %p = loop.reduce %k in 2 with max {
      %0 = loop.load %s[%i, %k * 32 + %t] where [49 - %k * 32 - %t] : memref<3x50xf32>
      loop.yield %0 where [49 - %k * 32 - %t] : f32
    } : f32
    %m = tile.combine %p across %t with max : f32
    loop.for %e in 3 {
      %o = loop.reduce %k in 50 with add {
        %1 = loop.load %s[%i, %k] : memref<3x50xf32>
        %2 = arith.subf %1, %m : f32
        %3 = math.exp %2 : f32
        %4 = loop.load %v[%k, %e * 32 + %t] where [69 - %e * 32 - %t] : memref<50x70xf32>
        %5 = arith.mulf %3, %4 : f32
        loop.yield %5 : f32
      } : f32
      loop.store %o, %out[%i, %e * 32 + %t] where [69 - %e * 32 - %t] : memref<3x70xf32>
    }
  }
}""",
}


def launch_of(module: ModuleOp) -> tile.LaunchOp:
    """Return the only launch of a module."""
    (launch,) = [op for op in module.walk() if isinstance(op, tile.LaunchOp)]
    return launch


def random_inputs(kernel: loop.KernelOp) -> list[Array]:
    """Return a random array for each input; integers are below 50, since some index 50 rows."""
    random = np.random.default_rng(0)
    arrays: list[Array] = []
    for argument in kernel.inputs:
        type = memref_type(argument)
        integers = random.integers(0, 50, type.get_shape())
        name = str(type.element_type)
        dtype = {"f16": np.float16, "f32": np.float32, "f64": np.float64}.get(name)
        if dtype is None:
            arrays.append(integers.astype({"i8": np.int8, "i64": np.int64}[name]))
        else:
            arrays.append(random.standard_normal(type.get_shape()).astype(dtype))
    return arrays


def staged(module: ModuleOp, choice: StageInputsPass) -> ModuleOp:
    """Return a copy of the module in which the operands that `choice` names are staged."""
    copy = module.clone()
    launch = launch_of(copy)
    assert choice.reason_not_possible(launch) is None
    rewrite(choice, launch)
    copy.verify()
    return copy


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_choice_computes_the_same(parse: Parse, name: str):
    module = parse(PROGRAMS[name])
    launch = launch_of(module)
    assert StageInputsPass().reason_against(launch) is None
    inputs = random_inputs(launch.kernel)
    expected = interpret_kernel(launch.kernel, inputs)
    for choice in prefer(StageInputsPass(), launch):
        kernel = launch_of(staged(module, choice)).kernel
        for one, other in zip(interpret_kernel(kernel, inputs), expected, strict=True):
            np.testing.assert_array_equal(one, other, choice.step())


def test_analysis_changes_nothing(parse: Parse):
    for text in PROGRAMS.values():
        module = parse(text)
        before = str(module)
        prefer(StageInputsPass(), launch_of(module))
        find_operands(launch_of(module))
        assert str(module) == before
        uses = [use for argument in launch_of(module).kernel.inputs for use in argument.uses]
        assert all(use.operation.parent is not None for use in uses)


# First choice of the pass for each program: `computed` where threads would repeat a prologue.
GUESSES = {
    "nn": "raw=a,b",
    "nt": "raw=a,b",
    "tn": "raw=a,b",
    "tt": "raw=a,b",
    "bias": "raw=b computed=a",
    "gated": "raw=b computed=g",
    "casts": "raw=a,b",
    "statistic": "raw=b computed=a none=a-1",
    "scale": "raw=b computed=a",
    "gather": "raw=a,b",
    "select": "raw=b computed=a",
    "gram": "raw=a,a-1",
    "unnamed": "raw=arg0,arg1",
    "siblings": "raw=x,wg,wu",
    "registers": "raw=a,b",
    "convolution": "raw=w,x",
    "three": "raw=a,b",
    "short": "raw=a,b",
    "softmax": "raw=x",
    "layer_norm": "computed=x none=w",
    "row_product": "computed=s",
}


def test_every_program_has_an_expected_choice():
    assert [*GUESSES] == [*PROGRAMS]


@pytest.mark.parametrize("name", PROGRAMS)
def test_guess(parse: Parse, name: str):
    best = next(iter(prefer(StageInputsPass(), launch_of(parse(PROGRAMS[name])))))
    assert best.step() == f"stage-inputs{{{GUESSES[name]}}}"


# Shapes of the slabs: neighbours in memory are neighbours in the slab. Overruns are included.
SLABS = {
    "nn": ["8x4xf32", "4x8xf32"],
    "nt": ["8x4xf32", "8x4xf32"],
    "tn": ["4x8xf32", "4x8xf32"],
    "tt": ["4x8xf32", "8x4xf32"],
    "casts": ["8x4xf16", "4x8xi8"],
    "gather": ["8x4xf32", "4x8xf32"],
    "siblings": ["8x8xf32", "8x4xf32", "8x4xf32"],
    "registers": ["16x8xf32", "8x24xf32"],
    "convolution": ["8x16xf32", "16x32xf32"],
    "three": ["8x4xf32", "4x4xf32", "4x4x8xf32"],
    "short": ["8x12xf64", "12x16xf64"],
    "softmax": ["3x128xf32"],
    "layer_norm": ["2x64xf32"],
    "row_product": ["50xf32"],
}


@pytest.mark.parametrize("name", SLABS)
def test_slabs(parse: Parse, name: str):
    module = parse(PROGRAMS[name])
    copy = staged(module, next(iter(prefer(StageInputsPass(), launch_of(module)))))
    slabs = [memref_type(stage.slab) for stage in tile.stages_of(launch_of(copy))]
    shapes = ["x".join(map(str, (*s.get_shape(), s.element_type))) for s in slabs]
    assert shapes == SLABS[name]


IN_CI = ["gated", "gather", "convolution", "layer_norm"]


def assert_simulated(module: ModuleOp, choice: StageInputsPass) -> None:
    """
    Assert that the staged kernel runs in the simulator without problems and gives the expected
    results.
    """
    inputs = random_inputs(launch_of(module).kernel)
    expected = interpret_kernel(launch_of(module).kernel, inputs)
    program = lower(with_main(staged(module, choice)), "cuda")
    execution = SimulatorBackend("sm_90a").run(plan_of(program), inputs)
    assert not execution.problems
    for one, other in zip(execution.results, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.one_in(4)
@needs_nvrtc
@pytest.mark.parametrize("name", PROGRAMS)
def test_simulated(parse: Parse, name: str, request: pytest.FixtureRequest):
    if name not in IN_CI and not request.config.getoption("--every-case"):
        pytest.skip("--every-case does them all")
    module = parse(PROGRAMS[name])
    assert_simulated(module, next(iter(prefer(StageInputsPass(), launch_of(module)))))


@needs_nvrtc
def test_transposed_slabs_simulated(parse: Parse):
    choice = StageInputsPass(raw=("b",), computed=("g",), transposed=("b", "g"))
    assert_simulated(parse(PROGRAMS["gated"]), choice)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_120"])
def test_pairs_of_int64_that_become_bools_are_no_vector(target: str):
    """
    Two bools are two bytes, which no instruction moves at once: the slab is written element by
    element.
    """
    import torch

    x, subscripts, y = torch.randn(64, 512), torch.randint(0, 64, (64,)), torch.randn(64, 512)

    def added(x: torch.Tensor, i: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.index_add(0, i, y)

    program = capture(added, x, subscripts, y)
    (found,) = interpret(lower(program, "kernel", target, db=False), x, subscripts, y)
    np.testing.assert_allclose(found, x.index_add(0, subscripts, y), 1e-4, 1e-4)
