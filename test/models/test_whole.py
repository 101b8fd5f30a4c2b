# SPDX-License-Identifier: Apache-2.0
"""
A model on a whole sequence: its inputs and outputs, and equal layers that become one function.
"""

import pytest
from tiny_models import MODEL_TYPES, tiny_config
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.errors import UsageError
from tilewright.frontend.capture import Captured, capture
from tilewright.models.buffers import rebuilt_buffers
from tilewright.models.structure import build
from tilewright.models.whole import whole_sequence
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower

LENGTH = 9

TIED = {"gpt2": {"transformer.wte.weight"}, "gemma": {"model.embed_tokens.weight"}}
"""Embeddings that are passed in as the weight of the head."""


def captured_model(family: str, attention: str = "sdpa", layers: int = 2) -> Captured:
    config = tiny_config(family, num_hidden_layers=layers)
    program = whole_sequence(build(config, attention=attention), LENGTH)
    return capture(program.module, program.args, program.kwargs)


def kernels(module: ModuleOp) -> set[str]:
    nests = lower(module, Level.LOOP)
    return {op.sym_name.data for op in nests.ops if isinstance(op, loop.KernelOp)}


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("family", "attention"), [*((family, "sdpa") for family in MODEL_TYPES), ("qwen2", "eager")]
)
def test_tokens_and_what_is_stored_go_in_and_logits_come_out(family: str, attention: str):
    captured = captured_model(family, attention)
    by_kind = {
        kind: {input.name for input in captured.inputs if input.kind == kind}
        for kind in ("input", "parameter", "buffer")
    }
    model = build(tiny_config(family))
    assert by_kind["input"] == {"input_ids"}
    names = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    assert names - by_kind["parameter"] == TIED.get(family, set())
    assert by_kind["parameter"] <= names
    assert by_kind["buffer"] <= rebuilt_buffers(model).keys()
    assert [output.value.meta["val"].shape for output in captured.outputs] == [(1, LENGTH, 100)]


def check_number_of_kernels(family: str) -> None:
    two, four = (kernels(captured_model(family, layers=n).module) for n in (2, 4))
    assert 5 < len(two)
    assert len(four) <= len(two) + 2


@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("family", MODEL_TYPES)
def test_more_layers_of_all_families(family: str):
    check_number_of_kernels(family)


@pytest.mark.parametrize("length", [0, 65])
def test_a_length_that_the_model_is_not_made_for(length: int):
    with pytest.raises(UsageError, match=f"the model takes 1 to 64 tokens, not {length}"):
        whole_sequence(build(tiny_config("gpt2")), length)
