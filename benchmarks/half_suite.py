# SPDX-License-Identifier: Apache-2.0
"""
Generator of `suite-half.json`: the shapes of suite84 in bfloat16, some also in float16, and large
products for tensor cores: square, flat and single-row ones of sizes 4096 and 8192.

    python benchmarks/half_suite.py

Floors are for an H100 SXM: 989.4 TFLOP/s of its tensor cores for matrix products, 66.9 TFLOP/s of
float32 elsewhere, and 3.35 TB/s (NVIDIA H100 datasheet, without sparsity).
"""

import json
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

from tilewright.tools.output.output_path import write_text

HERE = Path(__file__).parent
FILE = HERE / "suite-half.json"

SHORT = {"bfloat16": "bf16", "float16": "fp16"}
IN_BOTH = ("qwen.s512", "qwen.q_proj.s512", "qwen.down_proj.s512")
"""Endings of the names of suite84's cases that also get a case in float16."""
PRODUCTS = ((4096, 4096, 4096), (8192, 8192, 8192), (512, 4096, 4096), (1, 4096, 4096))
"""Sizes (m, n, k) of the large products."""

_TENSOR_FLOPS, _FLOPS, _BANDWIDTH = 989.4e12, 66.9e12, 3.35e12
_MULTIPLY = {"matmul", "matmul_add", "silu_mul_matmul", "sdpa", "naive_attn"}

ABOUT = (
    "The shapes of suite84.json in bfloat16, some in float16 too, and products of (m, n, k) for "
    "tensor cores; made by half_suite.py. Inputs are t0, t1, ... in input_shapes order, "
    "torch.randn unless inputs says otherwise; F = torch.nn.functional. min_bytes: every input "
    "read once, the output written once. floor_us_h100: max(flops / 989.4 TFLOP/s of bf16 tensor "
    "cores, or 66.9 TFLOP/s fp32 where nothing is multiplied, min_bytes / 3.35 TB/s) on an H100 "
    "SXM."
)


def cases() -> Iterator[dict[str, Any]]:
    """Yield all cases, those of suite84 first."""
    for case in json.loads((HERE / "suite84.json").read_text())["cases"]:
        yield _in(case, "bfloat16")
        if case["name"].endswith(IN_BOTH) and "inputs" not in case:  # float16 has no -1e9
            yield _in(case, "float16")
    for m, n, k in PRODUCTS:
        case = {
            "name": f"matmul.{m}x{n}x{k}",
            "op": "matmul",
            "model": "",
            "seq_len": m,
            "expression": "torch.matmul(t0, t1)",
            "input_shapes": [[m, k], [k, n]],
            "output_shape": [m, n],
            "flops": 2 * m * n * k,
        }
        yield from (_in(case, dtype) for dtype in SHORT)


def _in(case: dict[str, Any], dtype: str) -> dict[str, Any]:
    """Return a case with its inputs in another dtype."""
    elements = sum(map(prod, (*case["input_shapes"], case["output_shape"])))
    peak = _TENSOR_FLOPS if case["op"] in _MULTIPLY else _FLOPS
    floor_s = max(case["flops"] / peak, 2 * elements / _BANDWIDTH)
    return {
        **case,
        "name": f"{case['name']}.{SHORT[dtype]}",
        "dtype": dtype,
        "min_bytes": 2 * elements,
        "floor_us_h100": round(1e6 * floor_s, 2),
    }


def text() -> str:
    """Return the content of `suite-half.json`."""
    return json.dumps({"about": ABOUT, "cases": [*cases()]}, indent=1) + "\n"


if __name__ == "__main__":
    write_text(str(FILE), text())
