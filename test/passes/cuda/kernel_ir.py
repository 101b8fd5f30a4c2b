# SPDX-License-Identifier: Apache-2.0
"""Lowers Kernel IR text to CUDA IR, CUDA text and PTX, verified on the way."""

from xdsl.context import Context
from xdsl.dialects import get_all_dialects as get_xdsl_dialects
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.codegen import nvrtc
from tilewright.codegen.printer import cuda_source
from tilewright.dialects import get_all_dialects
from tilewright.passes.cuda.convert_kernel_to_cuda import ConvertKernelToCudaPass
from tilewright.passes.driver.verification import verify_module


def converted(text: str) -> ModuleOp:
    """Return the CUDA IR of Kernel IR text, verified."""
    context = Context()
    for name in ("builtin", "func", "arith", "math", "scf", "memref"):
        context.register_dialect(name, get_xdsl_dialects()[name])
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    module = Parser(context, text).parse_module()
    verify_module(module)
    ConvertKernelToCudaPass().apply(context, module)
    verify_module(module)
    assert str(Parser(context, str(module)).parse_module()) == str(module)
    return module


def source_of(text: str) -> str:
    """Return the CUDA text of Kernel IR text."""
    return cuda_source(converted(text))


def compile_clean(source: str, target: str = "sm_90a") -> str:
    """Return the PTX of CUDA text, which must compile without warnings."""
    compiled = nvrtc.compile(source, target)
    assert compiled.log == ""
    return compiled.ptx
