# SPDX-License-Identifier: Apache-2.0
"""Small measured kernels agree with their machine code, and disagreements are ranked."""

import ctypes
import re
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from gpu_checks import counters, estimates, micro
from gpu_checks.device import Device
from gpu_checks.disagreements import disagreements
from gpu_checks.launched import LOADED
from gpu_checks.micro import IN_A_REPEAT, MICROS
from gpu_checks.micro_launch import REPEATS, SOURCE
from gpu_checks.outcome import Outcome, missing, right, wrong
from needs import needs_nvrtc
from null_driver import NullDriver

from tilewright.codegen import nvrtc
from tilewright.codegen.launch_plan import Launch
from tilewright.codegen.report.disassemble import disassemble
from tilewright.codegen.report.instruction import Category, Code
from tilewright.codegen.report.loops import loops
from tilewright.codegen.report.sass import parse_sass
from tilewright.codegen.runtime.driver import Arguments
from tilewright.dialects.target import target as target_named
from tilewright.tools.bench import static_rows


def machine_code(target: str) -> dict[str, Code]:
    """Return the kernels of `micro.cu`."""
    cubin = nvrtc.compile_cubin(SOURCE.read_text(), target).cubin
    return parse_sass(disassemble(cubin))


def in_loop(code: Code, opcode: str) -> int:
    """
    Return the number of uses of an instruction in a loop; it occurs nowhere else in the kernel.
    """
    found = {n for n, i in enumerate(code.instructions) if i.opcode.startswith(opcode)}
    (loop,) = [loop for loop in loops(code) if found & loop.whole]
    assert found <= loop.body
    return len(found)


@needs_nvrtc
def test_a_repeat_has_the_instructions_that_its_clocks_are_divided_by():
    check_repeats("sm_90a")


@needs_nvrtc
@pytest.mark.parametrize("target", ["sm_80", "sm_86", "sm_89", "sm_100a", "sm_120"])
def test_repeats_on_other_targets(every_case: None, target: str):
    check_repeats(target)


def check_repeats(target: str) -> None:
    """Assert that loops of the kernels have the instructions by which their clocks are divided."""
    codes = machine_code(target)
    kernels = {m.kernel for m in MICROS.values() if m.is_on(target_named(target))}
    assert kernels <= {*codes}
    repeated = {kernel: IN_A_REPEAT[kernel] for kernel in IN_A_REPEAT if kernel in kernels}
    repeated |= {f"flight_{n}": ("LDG.E.128", n) for n in (1, 2, 4, 8)}
    for kernel, (opcode, count) in repeated.items():
        code = codes[kernel]
        if kernel.startswith(
            ("barrier", "cluster")
        ):  # the report does not count loops that only wait
            # two more barriers of the block begin and end it
            found = [i.opcode for i in code.instructions if i.opcode.startswith(opcode)]
            assert len(found) == count + 2 * kernel.startswith("barrier")
            continue
        assert in_loop(code, opcode) == count, kernel
        if kernel.startswith("flight"):
            loads = [n for n, i in enumerate(code.instructions) if i.opcode.startswith(opcode)]
            between = code.instructions[loads[0] : loads[-1]]
            assert all(i.category is not Category.FLOAT for i in between), (
                "not all loads are pending"
            )
        spills = [i.opcode for i in code.instructions if i.category in (Category.LDL, Category.STL)]
        assert not spills, kernel


@needs_nvrtc
def test_the_outer_product_reads_three_registers():
    # A factor that is equal in a warp would be a uniform register, which has no bank.
    code = machine_code("sm_90a")
    for kernel, most in (("ffma", 4), ("ffma_free", 3)):
        ffmas = [i.operands for i in code[kernel].instructions if i.category is Category.FFMA]
        assert all(re.fullmatch(r"(R\d+(\.reuse)?(, |$)){4}", operands) for operands in ffmas)
        registers = [len({*re.findall(r"R\d+", operands)}) for operands in ffmas]
        assert {*registers} == {most - 1}  # the sum stays in its register


def test_the_source_has_the_number_of_repeats():
    assert f"#define REPEATS {REPEATS}\n" in SOURCE.read_text()


@dataclass
class ClockDriver(NullDriver):
    """Stand-in for a driver, whose launches write a number into their first output."""

    launches: list[Launch] = field(default_factory=list[Launch])

    def load(self, source: str, target: str) -> Any:
        return self

    def function(self, name: str, dynamic_shared_bytes: int) -> Any:
        return self

    def bind(self, launch: Launch, arguments: Arguments) -> Any:
        address = arguments.outputs[0].address

        def write(stream: int) -> None:
            self.launches.append(launch)
            ctypes.c_int64.from_address(address).value = 1000 * REPEATS + len(self.launches)

        return write


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lds.16.halves", 16001 / (8 * 64 * REPEATS)),
        ("ffma", 16001 / (2 * 256 * REPEATS)),
        ("hmma", 16001 / (2 * 32 * REPEATS)),
        ("barrier", 16001 / (64 * REPEATS)),
        ("cluster.4", 16001 / (16 * REPEATS)),
    ],
)
def test_clocks_of_one(name: str, expected: float):
    driver = ClockDriver()
    device: Any = SimpleNamespace(
        place="cpu", target="sm_90a", backend=lambda: SimpleNamespace(driver=driver)
    )
    assert MICROS[name].measured(cast(Device, device)) == pytest.approx(expected)  # the fewest
    size = 4 if name == "cluster.4" else 1
    assert {(each.grid, each.block, each.cluster) for each in driver.launches} == {
        (size, 256, size)
    }


def test_assumed_clocks():
    target = target_named("sm_90a")
    assumed = {name: each.assumed(target) for name, each in MICROS.items()}
    assert assumed["lds.4.apart"] == 2
    assert (assumed["lds.16.distinct"], assumed["lds.16.uniform"]) == (4, 2)
    assert (assumed["ffma"], assumed["ffma.free"]) == (pytest.approx(1.2), 1)
    assert assumed["hmma"] == 6
    assert MICROS["cluster.2"].is_on(target)
    assert not MICROS["cluster.2"].is_on(target_named("sm_80"))


def test_loads_are_counted():
    metric = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
    assumed = {name: MICROS[name].assumed(target_named("sm_90a")) or 0 for name in LOADED}
    launches = [
        (MICROS[name].kernel, {metric: assumed[name] * micro.loads_of_block(name)})
        for name in LOADED
    ]
    assert counters.judged_loads(launches, "sm_90a").verdict == "right"
    uniform = LOADED.index("lds.16.uniform")
    launches[uniform] = ("lds_16", {metric: 4 * micro.loads_of_block("lds.16.uniform")})
    found = counters.judged_loads(launches, "sm_90a")
    assert found.says.endswith("lds.16.uniform: 4 wavefronts, assumed 2")
    (wrong_one, uniform_one) = disagreements([("counters", "loads", found)])
    assert (wrong_one.check, wrong_one.factor) == ("loads", None)
    assert (uniform_one.check, uniform_one.factor) == ("loads lds.16.uniform", 2)
    assert counters.judged_loads(launches[1:], "sm_90a").verdict == "wrong"
    assert counters.judged_loads([(k, {}) for k, _ in launches], "sm_90a").verdict == "missing"


def test_estimates_are_sums_of_launches(monkeypatch: pytest.MonkeyPatch):
    rows = [SimpleNamespace(kernel="k", launches=n, estimate_us=us) for n, us in ((2, 1.5), (1, 4))]

    def rows_of(case: object, target: str, db: object, *, by_clock: bool) -> list[Any]:
        assert not by_clock
        return rows

    monkeypatch.setattr(static_rows, "rows_of", rows_of)
    item = "suite84/softmax.qwen.s32"
    assert item in estimates.items(Device("gpu"))
    assert estimates.check(Device("simulator"), item) == right("7.0 us, 2 kernels", us=7.0)
    rows.append(SimpleNamespace(kernel="odd", launches=1, estimate_us=None))
    found = estimates.check(Device("simulator"), item)
    assert found == missing("there is no estimate of kernel 'odd'")


def test_disagreements_are_ranked():
    def measured(name: str, clocks: float) -> tuple[str, str, Outcome]:
        assumed = MICROS[name].assumed(target_named("sm_90a"))
        return "micro", name, micro.judged(MICROS[name], assumed, clocks)

    found = [
        measured("ffma", 1.25),  # noise
        measured("mufu", 4.0),
        measured("barrier", 30.0),  # without an assumption
        ("race", "softmax.tinyllama.s512", right("20 us", us=20.0)),
        ("suite", "softmax.tinyllama.s512", right("20 us", us=20.0)),  # the same file
        ("suite", "softmax.qwen.s512", right("20 us", us=20.0)),  # without an estimate
        ("half", "softmax.tinyllama.s512", wrong("the result is wrong")),
        ("estimates", "suite84/softmax.tinyllama.s512", right("5 us", us=5.0)),
        ("bitwise", "pointwise", wrong("3 of 4 elements\ndiffer")),
        ("drivers", "pycuda", missing("not installed")),
    ]
    ranked = disagreements(found)
    assert [(each.stage, each.check, each.factor) for each in ranked] == [
        ("half", "softmax.tinyllama.s512", None),
        ("bitwise", "pointwise", None),
        ("race", "softmax.tinyllama.s512", 4.0),
        ("micro", "mufu", 2.0),
    ]
    assert ranked[1].says == "3 of 4 elements differ"
    assert ranked[2].says == "20 us, assumed 5: codegen/report/estimate.py"
    assert ranked[3].says.startswith("4 clocks, assumed 8: 16 lanes of an SM")
