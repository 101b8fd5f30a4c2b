# SPDX-License-Identifier: Apache-2.0
"""C++ names of IR types in the CUDA text."""

from xdsl.dialects.builtin import (
    IntegerType,
    Signedness,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute

C_TYPES: dict[Attribute, str] = {
    i1: "bool",
    i8: "signed char",
    i16: "short",
    i32: "int",
    i64: "long long",
    IntegerType(8, Signedness.UNSIGNED): "unsigned char",
    IntegerType(16, Signedness.UNSIGNED): "unsigned short",
    IntegerType(32, Signedness.UNSIGNED): "unsigned",
    IntegerType(64, Signedness.UNSIGNED): "unsigned long long",
    f16: "half",
    bf16: "bfloat16",
    f32: "float",
    f64: "double",
}
"""
C++ type of each element type. `half` and `bfloat16` are 16-bit structs of the prelude, which only
conversions read.
"""

C_VECTORS: dict[tuple[str, int], str] = {
    ("float", 2): "float2",
    ("float", 4): "float4",
    ("double", 2): "double2",
    ("int", 2): "int2",
    ("int", 4): "int4",
    ("long long", 2): "longlong2",
}
"""CUDA vector types by element type and length; one instruction loads or stores a vector."""

C_BYTES = {4: "unsigned", 8: "uint2", 16: "uint4"}
"""
Unsigned integer types of a given number of bytes, by which elements without a vector type are
moved.
"""
