# SPDX-License-Identifier: Apache-2.0
"""
The static report: properties of a program's machine code that decide its speed, without a GPU.

    report = report_of(module, target("sm_90a"))
    report.kernels[0].occupancy.share

NVRTC compiles each kernel for the target, and nvdisasm disassembles it. Without a disassembler, the
PTX is read instead of the machine code, and a note in `notes` reports this.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.host_function import plan_of
from tilewright.codegen.launch_plan import Launch, Plan
from tilewright.codegen.machine_code import machine_code
from tilewright.codegen.nvrtc import CompiledCubin
from tilewright.codegen.printer import kernels_of
from tilewright.codegen.report.clock.launch_clock import LaunchFacts
from tilewright.codegen.report.clock.machine import note_on
from tilewright.codegen.report.clock.trips import sharing_blocks
from tilewright.codegen.report.disassemble import NvdisasmUnavailable, disassemble_each
from tilewright.codegen.report.estimate import Estimate, estimate, roofline_seconds
from tilewright.codegen.report.evidence import KernelEvidence, MainLoop
from tilewright.codegen.report.instruction import Category, Code
from tilewright.codegen.report.instruction_mix import InstructionMix, instruction_mix
from tilewright.codegen.report.loops import main_loop, reachable
from tilewright.codegen.report.occupancy import Occupancy, occupancy
from tilewright.codegen.report.ptx import parse_ptx
from tilewright.codegen.report.resources import (
    Resources,
    parse_resources,
    register_limit,
)
from tilewright.codegen.report.sass import parse_sass
from tilewright.codegen.report.text import kernel_text
from tilewright.codegen.report.traffic import Traffic, traffic_of
from tilewright.codegen.report.work import source_line, work_of
from tilewright.codegen.simulator import Counters
from tilewright.codegen.spill_feedback import lower_to_cuda
from tilewright.dialects import kernel
from tilewright.dialects.target import Target
from tilewright.errors import counted
from tilewright.passes.cost.kernel_cost import kernel_cost
from tilewright.passes.cost.launch_cost import KernelCost
from tilewright.passes.driver.levels import Level, level_of
from tilewright.passes.driver.lowering import lower


@dataclass(frozen=True)
class StaticReport:
    """Report on a program's kernels, each kernel once, in the order of their first launches."""

    target: Target
    kernels: tuple[KernelEvidence, ...]
    notes: tuple[str, ...]
    """Reasons why parts of the report are missing."""

    def __repr__(self) -> str:
        return f"<StaticReport: {counted(len(self.kernels), 'kernel')}, {self.target.name}>"

    def __str__(self) -> str:
        head = f"target {self.target.name}, {self.target.product}"
        cards = (kernel_text(kernel) for kernel in self.kernels)
        return "\n\n".join([head, *cards, *(f"note: {note}" for note in self.notes)]) + "\n"


def kernel_costs(kernel_ir: ModuleOp, cuda_ir: ModuleOp) -> dict[str, KernelCost]:
    """
    Return the cost of each kernel of the module `kernel_ir` at Kernel IR, by the kernel's name in
    `cuda_ir`, which was lowered from it.
    """
    kernels = [op for op in kernel_ir.ops if isinstance(op, kernel.FuncOp)]
    names = [op.sym_name.data for op in kernels_of(cuda_ir)]
    return {name: kernel_cost(op) for name, op in zip(names, kernels, strict=True)}


def static_report(
    plan: Plan,
    target: Target,
    costs: Mapping[str, KernelCost] | None = None,
    counters: Mapping[str, Counters] | None = None,
) -> StaticReport:
    """
    Return the report on the kernels of `plan`, compiled for `target`.

    `costs` of kernels come from the IR; without them there is no estimate. `counters` of kernels
    come from a run in the simulator, and replace estimated counts. Raises `NvrtcUnavailable`.
    """
    if not plan.launches:
        return StaticReport(target, (), ("there are no kernels",))
    launches = {launch.kernel: launch for launch in reversed(plan.launches)}
    compiled = machine_code(plan.source, launches, target.name)
    codes, notes = _codes(compiled)
    if costs is None:
        notes.append("no estimates: they need IR above CUDA")
    elif (note := note_on(target)) is not None:
        notes.append(note)
    kernels = [
        _evidence(
            plan,
            launch,
            target,
            codes[name],
            _resources(compiled[name], name, target),
            (costs or {}).get(name),
            (counters or {}).get(name),
        )
        for name, launch in reversed(launches.items())
    ]
    return StaticReport(target, tuple(kernels), tuple(notes))


def report_of(
    module: ModuleOp,
    target: Target,
    counters: Mapping[str, Counters] | None = None,
    kernel_ir: ModuleOp | None = None,
) -> StaticReport:
    """
    Return the report on a module at any level that has a host function.

    If the module is CUDA IR, `kernel_ir` is the module at Kernel IR that it was lowered from.
    """
    cuda_ir = module
    if level_of(module) not in (None, Level.CUDA):
        kernel_ir = lower(module, Level.KERNEL, target=target.name)
        cuda_ir = lower_to_cuda(kernel_ir, target.name)
    costs = None if kernel_ir is None else kernel_costs(kernel_ir, cuda_ir)
    return static_report(plan_of(cuda_ir), target, costs, counters)


def _codes(compiled: Mapping[str, CompiledCubin]) -> tuple[dict[str, Code], list[str]]:
    """
    Return each kernel's code by name, and notes. Without a disassembler the code is PTX instead of
    machine code, and a note reports this.
    """
    try:
        texts = disassemble_each([each.cubin for each in compiled.values()])
    except NvdisasmUnavailable as err:
        notes = [f"instructions are those of PTX, and there is no clock: {err}"]
        return {name: parse_ptx(each.ptx)[name] for name, each in compiled.items()}, notes
    return {name: parse_sass(text)[name] for name, text in zip(compiled, texts, strict=True)}, []


def _evidence(
    plan: Plan,
    launch: Launch,
    target: Target,
    code: Code,
    resources: Resources,
    cost: KernelCost | None,
    counters: Counters | None,
) -> KernelEvidence:
    loop = main_loop(code)
    shared = max(resources.static_shared_bytes, launch.shared_bytes)
    resident = occupancy(target, launch.block, shared, resources.registers, resources.barriers)
    mix = instruction_mix(code, reachable(code))
    traffic = traffic_of(plan, launch, cost, counters)
    return KernelEvidence(
        launch,
        sum(other.kernel == launch.kernel for other in plan.launches),
        target,
        code.language,
        resources,
        shared,
        resident,
        mix,
        MainLoop(source_line(code, loop), instruction_mix(code, loop.body)) if loop else None,
        traffic,
        _roofline(mix, cost, target) if cost else None,
        _estimate(code, cost, resident, traffic, launch.cluster, target),
        mix.count(Category.TMA) * _bytes_of_copy(plan, launch),
        _facts(plan, launch, code, cost, resident, traffic),
    )


def _facts(
    plan: Plan,
    launch: Launch,
    code: Code,
    cost: KernelCost | None,
    resident: Occupancy,
    traffic: Traffic,
) -> LaunchFacts | None:
    """Return the input of the clock; None for PTX, for unknown costs, and if no block fits."""
    if code.language != "SASS" or cost is None or not resident.blocks:
        return None
    warps = resident.warps // resident.blocks
    return LaunchFacts(
        code,
        cost,
        traffic,
        resident.blocks,
        warps,
        launch.cluster,
        _bytes_of_copy(plan, launch),
        sharing_blocks(launch.schedule),
    )


def _resources(compiled: CompiledCubin, name: str, target: Target) -> Resources:
    limit = register_limit(compiled.ptx, name, target)
    return replace(parse_resources(compiled.log)[name], register_limit=limit)


def _roofline(mix: InstructionMix, cost: KernelCost, target: Target) -> float:
    bits = min((shape.bits for shape in mix.matrices), default=None)
    return roofline_seconds(cost.flops, cost.global_bytes, target, bits)


def _bytes_of_copy(plan: Plan, launch: Launch) -> float:
    """
    Return the number of bytes that one copy by the tensor memory accelerator moves: the average
    over the launch's tensor maps.
    """
    boxes = [prod(map.box) * plan.buffers[map.buffer].dtype.itemsize for map in launch.tensor_maps]
    return sum(boxes) / max(1, len(boxes))


def _estimate(
    code: Code,
    cost: KernelCost | None,
    resident: Occupancy,
    traffic: Traffic,
    cluster: int,
    target: Target,
) -> Estimate | None:
    if cost is None or not resident.blocks or traffic.sector_bytes is None:
        return None
    wavefronts = traffic.wavefronts or 0
    work = work_of(code, cost, resident.blocks, traffic.sector_bytes, wavefronts, cluster)
    return estimate(work, target)
