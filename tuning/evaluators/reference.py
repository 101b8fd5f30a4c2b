# SPDX-License-Identifier: Apache-2.0
"""
Reference results of a kernel in float64, for random inputs.

The kernel's Loop IR is interpreted if that takes about a minute at most. For larger kernels, the
device computes the same loops unchanged, with float64 in the place of float32. These references use
no rewrite that schedules consist of. Their way from the loops to CUDA is the one on which smaller
kernels are compared with the interpreter.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import FloatAttr, FunctionType, MemRefType, ModuleOp, f32, f64
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import Rewriter

from tilewright.arrays import array_of
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.launch_plan import ArrayType
from tilewright.codegen.random_inputs import random_inputs
from tilewright.codegen.runtime.driver import Driver
from tilewright.codegen.runtime.gpu_backend import GpuBackend
from tilewright.codegen.spill_feedback import lower_to_cuda
from tilewright.dialects import loop
from tilewright.interpreters.judge import Judge
from tilewright.interpreters.program import (
    Array,
    Program,
    interpreted_program,
    perturbed_inputs,
)
from tilewright.interpreters.rounded_factors import with_rounded_factors
from tilewright.passes.cost.kernel_cost import kernel_cost
from tilewright.passes.driver.verification import verify_module
from tilewright.tuning.evaluators.compiled import scheduled
from tilewright.tuning.executors.child import heartbeat

SEED = 0
"""Seed of the inputs: each process draws the same ones."""

INTERPRETED = 2e10
"""Most operations and loads to interpret: a product of matrices of 1600 x 1600."""

PLAIN = "tileify"
"""Schedule that keeps the loops of a kernel as they are."""


class Where(NamedTuple):
    """Device that computes large references."""

    driver: Driver
    target: str


class Reference:
    """
    The inputs of a kernel or program, and the judgement of its results by the rules of `tilewright
    run`.

    The constructor is slow. It raises `TilewrightError` if no reference can be computed.
    """

    def __init__(
        self,
        kernel: str,
        inputs: Sequence[ArrayType],
        where: Where,
        interpreted: float = INTERPRETED,
    ):
        self.inputs: list[Array] = random_inputs(inputs, SEED)
        module = scheduled(kernel)
        is_small = _work(module) <= interpreted
        program = interpreted_program(module) if is_small else _computed_program(kernel, where)
        self._judge = Judge(program, self.inputs)
        # An interpreter always ends; a kernel on a device might not.
        with heartbeat("computing what is right") if is_small else nullcontext():
            self._judge.prepare()

    def complaint(self, outputs: Sequence[Any]) -> str:
        """Return the error in the output tensors; empty if there is none."""
        return self._judge.problem([array_of(output) for output in outputs])


def _work(module: ModuleOp) -> float:
    """
    Return the number of operations, loads and stores (of 4 bytes each) if every kernel is launched
    once.
    """
    costs = [kernel_cost(op) for op in module.ops if isinstance(op, loop.KernelOp)]
    return sum(cost.flops + cost.accessed_bytes / 4 for cost in costs)


def _computed_program(kernel: str, where: Where) -> Program:
    """Return a program whose exact results the device computes with plain loops."""
    module = scheduled(kernel, PLAIN)
    wide, coarse = widened(module), with_rounded_factors(module)

    def exact(arrays: Sequence[Array]) -> list[Array]:
        return _computed(wide, arrays, where)

    return Program(
        module,
        exact=exact,
        perturbed=lambda arrays, roundings: exact(perturbed_inputs(arrays, roundings)),
        rounded=lambda arrays: _computed(module, arrays, where),
        rounded_by=where.driver.name,
        coarse=None if coarse is None else lambda arrays: _computed(coarse, arrays, where),
    )


def _computed(module: ModuleOp, arrays: Sequence[Array], where: Where) -> list[Array]:
    """Run a module on the device, with arrays cast to the types of its inputs."""
    plan = plan_of(lower_to_cuda(module, where.target))
    cast = [array.astype(type.dtype) for array, type in zip(arrays, plan.inputs, strict=True)]
    return GpuBackend(where.target, where.driver).run(plan, cast).results


def widened(module: ModuleOp) -> ModuleOp:
    """
    Return a copy of a program at Loop IR with float64 in the place of float32.

        %1 = arith.extf %0 : f16 to f32             %1 = arith.extf %0 : f16 to f64
        %2 = arith.extf %1 : f32 to f64     -->
        %3 = math.exp %2 : f64                      %3 = math.exp %1 : f64

    Half types stay, because they are only loaded and stored. Arithmetic uses the type they are
    extended to.
    """
    wide = module.clone()
    for op in [*wide.walk()]:
        _widen(op)
    for op in [*wide.walk()]:
        if isinstance(op, arith.ExtFOp | arith.TruncFOp) and op.input.type == op.result.type:
            Rewriter.replace_op(op, (), (op.input,))
    verify_module(wide)
    return wide


def _widen(op: Operation) -> None:
    """Replace float32 by float64 in the results, block arguments and attributes of an operation."""
    blocks = [block for region in op.regions for block in region.blocks]
    for value in [*op.results, *(argument for block in blocks for argument in block.args)]:
        hint, type = value.name_hint, _wide(value.type)
        if type != value.type:
            Rewriter.replace_value_with_new_type(value, type).name_hint = hint
    for name, attribute in op.properties.items():
        op.properties[name] = _wide(attribute)
    if isinstance(op, func.FuncOp):
        types = op.function_type
        widths = [map(_wide, each) for each in (types.inputs, types.outputs)]
        op.function_type = FunctionType.from_lists(*map(list, widths))


def _wide(attribute: Attribute) -> Attribute:
    match attribute:
        case FloatAttr() if attribute.type == f32:
            return FloatAttr(attribute.value.data, f64)
        case MemRefType() if attribute.element_type == f32:
            shape, layout = attribute.get_shape(), attribute.layout
            return MemRefType(f64, shape, layout, attribute.memory_space)
        case _:
            return f64 if attribute == f32 else attribute
