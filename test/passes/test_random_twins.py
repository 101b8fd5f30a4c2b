# SPDX-License-Identifier: Apache-2.0
"""Random kernels, each written twice under other names: only one of each pair remains."""

from draws import drawn
from hypothesis import HealthCheck, given, note, settings
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation
from xdsl.parser import Parser

from tilewright.dialects import loop
from tilewright.interpreters.check import check_pass
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import available_passes
from tilewright.passes.driver.verification import verify_module
from tilewright.passes.loop.dedupe_kernels import DedupeKernelsPass

from .plans import plans

NORMAL_FORM = "simplify-accesses,hoist-invariants,share-values,normalize-kernels,dedupe-kernels"


def parsed(text: str) -> ModuleOp:
    return Parser(context(), text).parse_module()


def renamed(op: Operation) -> Operation:
    """Return a copy in which every symbol and value has another name."""
    copy = op.clone()
    for inner in copy.walk():
        if isinstance(name := inner.properties.get("sym_name"), StringAttr):
            inner.properties["sym_name"] = StringAttr(f"twin_of_{name.data}")
        if isinstance(inner, loop.LaunchOp):
            inner.properties["kernel"] = SymbolRefAttr(f"twin_of_{inner.kernel.string_value()}")
        arguments = (a for region in inner.regions for block in region.blocks for a in block.args)
        for value in (*inner.results, *arguments):
            value.name_hint = None if value.name_hint is None else f"twin_{value.name_hint}"
    return copy


def with_twins(plan: ModuleOp) -> ModuleOp:
    """Return the plan followed by a copy under other names; printed and read again."""
    both = plan.clone()
    both.body.block.add_ops([renamed(op) for op in plan.ops])
    return parsed(str(both))


def run(module: ModuleOp, pipeline: str) -> None:
    """Run the passes; each must keep the results of the functions."""
    for step in parse_pipeline(pipeline, available_passes()):
        before = module.clone()
        step.apply(context(), module)
        verify_module(module)
        assert check_pass(before, module, step.name).notes == ()


def kernels(module: ModuleOp) -> list[loop.KernelOp]:
    return [op for op in module.ops if isinstance(op, loop.KernelOp)]


@settings(max_examples=drawn(12), suppress_health_check=[HealthCheck.too_slow])
@given(plans())
def test_twins_are_one_kernel(text: str):
    note(text)
    alone = parsed(text.replace("@main", "@plan"))
    both = with_twins(alone)
    assert len(kernels(both)) == 2 * len(kernels(alone))
    run(alone, "dedupe-kernels")
    run(both, "dedupe-kernels")
    assert [str(k) for k in kernels(both)] == [str(k) for k in kernels(alone)]


@settings(max_examples=drawn(12), suppress_health_check=[HealthCheck.too_slow])
@given(plans())
def test_twins_have_one_normal_form(text: str):
    note(text)
    alone = parsed(text.replace("@main", "@plan"))
    both = with_twins(alone)
    run(alone, NORMAL_FORM)
    run(both, NORMAL_FORM)
    assert len(kernels(both)) == len(kernels(alone))


@settings(max_examples=drawn(12), suppress_health_check=[HealthCheck.too_slow])
@given(plans())
def test_the_normal_form_has_itself_as_normal_form(text: str):
    note(text)
    once = parsed(text)
    run(once, NORMAL_FORM)
    twice = once.clone()
    run(twice, NORMAL_FORM)
    assert str(twice) == str(once)


def test_a_kernel_that_differs_is_kept():
    text = """
    func.func @plan(%x: memref<3xf32>) -> (memref<3xf32>, memref<3xf32>) {
      %a = memref.alloc() : memref<3xf32>
      loop.launch @add(%x) -> (%a) : (memref<3xf32>) -> (memref<3xf32>)
      %b = memref.alloc() : memref<3xf32>
      loop.launch @sub(%x) -> (%b) : (memref<3xf32>) -> (memref<3xf32>)
      func.return %a, %b : memref<3xf32>, memref<3xf32>
    }"""
    kernel = """
    loop.kernel @NAME(%x: memref<3xf32>) -> (%out: memref<3xf32>) {
      loop.for %i in 3 {
        %0 = loop.load %x[%i] : memref<3xf32>
        %1 = arith.NAMEf %0, %0 : f32
        loop.store %1, %out[%i] : memref<3xf32>
      }
    }"""
    module = parsed(text + kernel.replace("NAME", "add") + kernel.replace("NAME", "sub"))
    DedupeKernelsPass().apply(context(), module)
    assert [k.sym_name.data for k in kernels(module)] == ["add", "sub"]
