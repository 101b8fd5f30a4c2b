# SPDX-License-Identifier: Apache-2.0
"""
Identifiers of CUDA C++ text: which names are reserved, and how any name hint becomes a valid one.
"""

import re
from functools import lru_cache

from tilewright.dialects.matrix_instruction import MOST_COLUMNS

KEYWORDS = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
    constinit continue decltype default delete do double dynamic_cast else enum explicit export
    extern false final float for friend goto if import inline int long module mutable namespace new
    noexcept not not_eq nullptr operator or or_eq override private protected public register
    reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast
    struct switch template this thread_local throw true try typedef typeid typename typeof union
    unsigned using virtual void volatile wchar_t while xor xor_eq
    """.split()
)
"""Keywords of C++20 (working draft N4861, section 5.11), and `restrict`, `typeof` of GNU C++."""

_CUDA = frozenset(
    """
    threadIdx blockIdx blockDim gridDim warpSize dim3 cuda nvcuda std main printf puts malloc free
    memcpy memset memcmp memmove assert clock clock64 alloca abort exit trap brkpt prof div
    cudaError cudaStream_t size_t ptrdiff_t nullptr_t va_list
    NULL NAN INFINITY HUGE_VAL EOF FLT_MAX DBL_MAX INT_MAX INT_MIN linux unix i386 errno
    """.split()
)
"""Names and macros that headers of CUDA or of a host compiler define in every file."""

_VECTORS = frozenset(
    f"{scalar}{lanes}"
    for scalar in "char uchar short ushort int uint long ulong longlong ulonglong float double "
    "half bfloat16".split()
    for lanes in ("", 1, 2, 3, 4)
)

_MATH = frozenset(
    f"{name}{suffix}"
    for name in """
    abs acos acosh acospi asin asinh asinpi atan atan2 atanh cbrt ceil copysign cos cosh cospi
    cyl_bessel_i0 cyl_bessel_i1 erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs fdim
    fdivide finite floor fma fmax fmin fmod frexp hypot ilogb isfinite isinf isnan isnormal j0 j1 jn
    labs ldexp lgamma llabs llmax llmin llrint llround log log10 log1p log2 logb lrint lround max
    min modf nan nearbyint nextafter nexttoward norm norm3d norm4d normcdf normcdfinv pow powi rcbrt
    remainder remquo rhypot rint rnorm rnorm3d rnorm4d round rsqrt saturate scalb scalbln scalbn
    signbit significand sin sincos sincospi sinh sinpi sqrt tan tanh tgamma gamma trunc umax umin
    ullmax ullmin y0 y1 yn
    """.split()
    for suffix in ("", "f", "l")
)
"""Functions of the CUDA math library; a kernel with the same name would clash with it."""

PRELUDE = frozenset(
    """
    arrives_last ceil_div checked_index differ divide_approximately exp2_approximately
    exp_approximately floor_div floor_mod halve_tf32 infinity integer_pow matrix_descriptor max_nan
    min_nan nearest_finite quiet_nan round_tf32 shared_address shift_left shift_right
    shift_right_logical steps_unknown to_bfloat16 to_float to_half wrapping_abs wrapping_add
    wrapping_mul wrapping_sub
    """.split()
)
"""Functions of `codegen/prelude.cuh` that return a value."""

_ACTIONS = frozenset(
    """
    atomic_add_long cluster_arrive cluster_barrier cluster_wait copy_async copy_async_commit
    copy_async_or_zero copy_async_wait group_commit group_fence group_wait mbarrier_arrive
    mbarrier_expect mbarrier_init mbarrier_init_fence mbarrier_wait named_barrier proxy_fence
    tma_copy_1d tma_copy_2d tma_copy_3d tma_copy_4d tma_copy_5d
    """.split()
)
"""Functions of the prelude that are called for their effect and return nothing."""

_TYPES = frozenset(["TensorMap"])
"""Types that the prelude defines, in addition to the half types."""

CUDA_ACTIONS = frozenset(["__syncwarp", "atomicAdd", "atomicMax", "atomicMin"])
"""CUDA's own functions that have an effect (CUDA C++ Programming Guide)."""

EFFECTS = _ACTIONS | CUDA_ACTIONS
"""Functions that a statement `cuda.perform` may call for their effect."""

_CONVERSIONS = frozenset(
    """
    __double2int_rz __double2ll_rz __double2uint_rz __double2ull_rz __double_as_longlong
    __float2int_rz __float2ll_rz __float2uint_rz __float2ull_rz __float_as_int __int_as_float
    __longlong_as_double
    """.split()
)
"""
CUDA math API, type casting intrinsics: their results are defined for values out of range, too.
"""

FUNCTIONS = _MATH | PRELUDE | _CONVERSIONS
"""Functions that an expression `cuda.call` may call."""

_POINTERS = frozenset(["of_rank"])
"""Functions of the prelude that return a pointer."""

_MATRICES = frozenset(
    """
    load_matrix_x1 load_matrix_x1_transposed load_matrix_x2 load_matrix_x2_transposed
    load_matrix_x4 load_matrix_x4_transposed multiply_m16n8k16_bf16 multiply_m16n8k16_f16
    multiply_m16n8k8_tf32
    """.split()
)
"""Functions of the prelude that load and multiply matrices; they return nothing."""

_GROUPS = frozenset(
    f"group_multiply_m64n{columns}k16_{element}"
    for columns in range(8, MOST_COLUMNS + 1, 8)
    for element in ("bf16", "f16")
)
"""Functions that `codegen/group_functions.py` writes."""

_PRELUDE_NAMES = PRELUDE | _ACTIONS | _TYPES | _POINTERS | _MATRICES | _GROUPS

RESERVED = KEYWORDS | _CUDA | _VECTORS | _MATH | CUDA_ACTIONS | _PRELUDE_NAMES

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_identifier(name: str) -> bool:
    """
    True if `name` may be declared.

    Names with a double underscore, or with an underscore before a capital, are reserved for the
    compiler.
    """
    shaped = _IDENTIFIER.fullmatch(name) and "__" not in name
    return bool(shaped) and not re.match(r"_[A-Z]", name) and name not in RESERVED


@lru_cache(maxsize=1 << 12)  # kernels have few distinct name hints
def identifier(hint: str) -> str:
    """Return `hint` if it may be declared, else a valid name derived from it."""
    if is_identifier(hint):
        return hint
    name = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9]", "_", hint)).strip("_") or "v"
    if name[0].isdigit():
        name = f"v{name}"
    return f"{name}_" if name in RESERVED else name
