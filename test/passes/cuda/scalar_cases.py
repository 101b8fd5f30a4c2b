# SPDX-License-Identifier: Apache-2.0
"""Every scalar operation on every type it takes, as cases for `elementwise.py`."""

from .elementwise import DTYPES, Case, simple

FLOATS = ("f32", "f64")
INTEGERS = ("i32", "i64")

UNARY = """
arith.negf math.absf math.acos math.acosh math.asin math.asinh math.atan math.atanh math.cbrt
math.ceil math.cos math.cosh math.erf math.exp math.exp2 math.expm1 math.floor math.log math.log10
math.log1p math.log2 math.round math.roundeven math.rsqrt math.sin math.sinh math.sqrt math.tan
math.tanh math.trunc scalar.erfc
""".split()
BINARY = """
arith.addf arith.subf arith.mulf arith.divf arith.maximumf arith.minimumf arith.maxnumf
arith.minnumf math.atan2 math.copysign math.powf scalar.fmod
""".split()
ARITIES = {**dict.fromkeys(UNARY, 1), **dict.fromkeys(BINARY, 2), "math.fma": 3}
FUNCTIONS = {(op, t): simple(op, n, t) for op, n in ARITIES.items() for t in FLOATS}

ON_INTEGERS = """
arith.addi arith.subi arith.muli arith.maxsi arith.minsi arith.andi arith.ori arith.xori math.ipowi
arith.divsi arith.floordivsi arith.ceildivsi arith.remsi arith.shli arith.shrsi arith.shrui
""".split()
ON_BOOLS = "arith.addi arith.subi arith.muli arith.andi arith.ori arith.xori".split()
ARITHMETIC = {
    **{(op, t): simple(op, 2, t) for op in ON_INTEGERS for t in INTEGERS},
    **{(op, "i1"): simple(op, 2, "i1") for op in ON_BOOLS},
    **{("math.absi", t): simple("math.absi", 1, t) for t in INTEGERS},
}

PREDICATES = ("eq", "ne", *(f"{s}{c}" for s in "su" for c in ("lt", "le", "gt", "ge")))
COMPARISONS = {
    (p, t): Case(f"%r = arith.cmpi {p}, %v0, %v1 : {t}", (t, t), "i1")
    for p in PREDICATES
    for t in (*INTEGERS, "i1")
}

CONSTANTS = {
    value: Case(
        f"%c = arith.constant {value} : i64\n  %r = arith.xori %v0, %c : i64", ("i64",), "i64"
    )
    for value in (-(2**63), 2**63 - 1, 2**40 + 1, -(2**31), -1)
}

# op -> pairs of types, as `from-to`, with commas between alternatives.
_CASTS = {
    "extf": "f16,bf16-f32,f64 f32-f64",
    "truncf": "f32,f64-f16,bf16 f64-f32",
    "extsi": "i8,i16-i32,i64 i32-i64",
    "extui": "i1,ui8,i8,i16-i32,i64 i1-i8,ui8,i16 i32-i64",
    "trunci": "i32,i64-i1,i8,ui8,i16 i64-i32",
    "sitofp": "i8,i16,i32,i64-f32,f64",
    "uitofp": "i1,ui8,i32,i64-f32,f64",
    "fptosi": "f32,f64-i32,i64",
    "fptoui": "f32,f64-i32,i64",
    "bitcast": "f32-i32 i32-f32 f64-i64 i64-f64",
}
CASTS = {
    (op, source, result): Case(f"%r = arith.{op} %v0 : {source} to {result}", (source,), result)
    for op, pairs in _CASTS.items()
    for sources, results in (pair.split("-") for pair in pairs.split())
    for source in sources.split(",")
    for result in results.split(",")
}


def _constant(type: str) -> str:
    """Return a line that defines %c as 1; `arith.constant` takes no unsigned type."""
    if type == "ui8":
        return "%w = arith.constant 1 : i32\n  %c = arith.trunci %w : i32 to ui8"
    return f"%c = arith.constant {'1.0' if 'f' in type else 1} : {type}"


def _chosen(type: str, other: str) -> Case:
    """Return the case of a select: %v0 where %v1 is true, and `other` elsewhere."""
    line = f"%r = arith.select %v1, %v0, {other} : {type}"
    return Case(f"{_constant(type)}\n  {line}", (type, "i1"), type)


def _through_index(type: str) -> Case:
    there = f"%i = arith.index_cast %v0 : {type} to index"
    return Case(f"{there}\n  %r = arith.index_cast %i : index to {type}", (type,), type)


COPIES = {type: _chosen(type, "%v0") for type in DTYPES}
CHOICES = {type: _chosen(type, "%c") for type in DTYPES}
INDEX_CASTS = {type: _through_index(type) for type in INTEGERS}

MOVES = [*COPIES.values(), *CHOICES.values(), *CASTS.values(), *INDEX_CASTS.values()]
INTEGER_CASES = [*ARITHMETIC.values(), *COMPARISONS.values(), *CONSTANTS.values()]
EVERY_CASE = [*MOVES, *FUNCTIONS.values(), *INTEGER_CASES]
