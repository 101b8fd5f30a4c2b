# SPDX-License-Identifier: Apache-2.0
"""
Whole language models of each family, with random weights. The results are right, there are as few
kernels as expected, no mask is in memory, and keys that a mask hides cost nothing.

`--every-case` runs each family with both forms of attention, and simulates all of them.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import pytest
import torch
from needs import needs_nvrtc
from tiny_models import MODEL_TYPES, tiny_config, tiny_model
from xdsl.dialects.builtin import ModuleOp, i1
from xdsl.dialects.func import CallOp, FuncOp

from tilewright import api, interpreters
from tilewright.arrays import array_of
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects import loop
from tilewright.dialects.types import memref_type
from tilewright.frontend.capture import Captured
from tilewright.interpreters.comparison import compare
from tilewright.tools.program import captured_program

TIME = 37
"""Odd number of tokens: 5 blocks of 8 queries, and 3 chunks of 16 keys."""
WINDOW = 16
"""Number of keys that a query of Mistral attends to."""

CAUSAL = "below [%bm floordiv 2 + 1]"
WITHIN_WINDOW = f"from [%bm floordiv 2 - 1] {CAUSAL}"
"""Bounds of the chunks of keys that a block of queries visits: `CAUSAL` and `WITHIN_WINDOW`."""


class Kernels(NamedTuple):
    """Numbers of kernels and launches of a model with two layers."""

    different: int
    around: int
    """Launches before and after the layers."""
    in_layer: int
    """Launches per layer."""


KERNELS = {
    # embedding, rotary tables; last norm, logits. In a layer: norm; q; k and v; attention with
    # rotated queries and keys; output; norm; gate and up; down.
    "llama": Kernels(10, 4, 8),
    "qwen2": Kernels(10, 4, 8),
    "mistral": Kernels(10, 4, 8),
    "gemma": Kernels(10, 4, 8),
    # There are two more in a layer: the norms of queries and of keys.
    "qwen3": Kernels(12, 4, 10),
    # Embeddings of tokens and positions share a kernel, and q, k and v share one.
    "gpt2": Kernels(8, 3, 7),
}

SDPA = [(family, "sdpa") for family in MODEL_TYPES]
EAGER = [(family, "eager") for family in MODEL_TYPES]
QUICK = [("mistral", "sdpa"), ("gemma", "sdpa"), ("gpt2", "eager")]
"""
Cases of each run: Mistral is Llama with a window; Qwen2 with two kinds of layers has a test of its
own, and Qwen3 has only two norms more.
"""


class Model(NamedTuple):
    """Captured model, with the tokens of its input."""

    module: Any
    tokens: torch.Tensor
    captured: Captured

    def assert_right(self, results: Sequence[Any]) -> None:
        """Check that the logits are those of `transformers`, within the error of float32."""
        inputs = [array_of(input.tensor) for input in self.captured.inputs]
        (comparison,) = compare(captured_program(self.captured), inputs, [*results])
        assert not comparison.reason
        with torch.no_grad():
            expected = self.module(self.tokens).logits
        torch.testing.assert_close(torch.as_tensor(results[0]), expected, rtol=1e-4, atol=1e-4)

    def interpreted(self, module: ModuleOp) -> list[Any]:
        inputs = (array_of(input.tensor) for input in self.captured.inputs)
        return interpreters.interpret(module, *inputs)


@cache
def model_of(family: str, attention: str, **changed: Any) -> Model:
    """Return a model with weights so large that the softmaxes are not flat."""
    window = {"sliding_window": WINDOW} if family == "mistral" else {}
    config = tiny_config(family, use_cache=False, **window, **changed)
    module = tiny_model(config, attention)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(std=0.2)
    tokens = torch.randint(3, config.vocab_size, (1, TIME))
    return Model(module, tokens, api.capture(module, tokens))


def launches(function: FuncOp) -> list[str]:
    return [op.kernel.string_value() for op in function.walk() if isinstance(op, loop.LaunchOp)]


def calls(function: FuncOp) -> list[str]:
    return [op.callee.string_value() for op in function.walk() if isinstance(op, CallOp)]


def assert_no_mask_in_memory(module: ModuleOp) -> None:
    """
    Check that no kernel reads or writes booleans, and that each kernel reads memory: none computes
    from positions alone.
    """
    for kernel in (op for op in module.ops if isinstance(op, loop.KernelOp)):
        assert i1 not in [memref_type(value).element_type for value in kernel.body.block.args]
        assert any(isinstance(op, loop.LoadOp) for op in kernel.walk()), kernel.sym_name.data


def assert_few_kernels(module: ModuleOp, expected: Kernels) -> None:
    """Check the numbers of kernels and launches, and that both layers are calls of one function."""
    main, layer = (op for op in module.ops if isinstance(op, FuncOp))
    assert calls(main) == [layer.sym_name.data] * 2
    kernels = [op.sym_name.data for op in module.ops if isinstance(op, loop.KernelOp)]
    found = Kernels(len(kernels), len(launches(main)), len(launches(layer)))
    assert found == expected, (kernels, launches(main), launches(layer))


def bounds(module: ModuleOp) -> list[str]:
    """Return the bounds of the steps of all reductions, as blocks compute them."""
    return re.findall(r"loop\.reduce \S+ in \d+ ((?:from|below) .*) with", str(module))


def check(family: str, attention: str) -> None:
    model = model_of(family, attention)
    parameters = [input for input in model.captured.inputs if input.kind == "parameter"]
    assert len(parameters) == len([*model.module.parameters()])  # tied weights are one
    tile = api.lower(model.captured, "tile")
    model.assert_right(model.interpreted(tile))
    assert_few_kernels(tile, KERNELS[family])
    assert_no_mask_in_memory(tile)
    assert bounds(tile) == bounds_expected(family, attention)


def bounds_expected(family: str, attention: str) -> list[str]:
    """
    Return the expected bounds. Chunks of keys that are masked completely are skipped, in front of a
    window and behind the diagonal.
    """
    if attention == "eager":  # a lowest number is added: a score that is NaN is not hidden by it
        return []
    return [WITHIN_WINDOW if family == "mistral" else CAUSAL]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("family", "attention"), QUICK)
def test_a_family(family: str, attention: str):
    check(family, attention)


@pytest.mark.parametrize(
    ("family", "attention"), [case for case in SDPA + EAGER if case not in QUICK]
)
def test_all_other_families(every_case: None, family: str, attention: str):
    check(family, attention)


def test_layers_of_two_kinds_are_two_functions():
    kinds = {"use_sliding_window": True, "sliding_window": WINDOW, "max_window_layers": 2}
    model = model_of("qwen2", "sdpa", num_hidden_layers=4, **kinds)
    tile = api.lower(model.captured, "tile")
    model.assert_right(model.interpreted(tile))
    main, whole, sliding = (op for op in tile.ops if isinstance(op, FuncOp))
    assert calls(main) == [whole.sym_name.data] * 2 + [sliding.sym_name.data] * 2
    # They only differ in the mask of attention.
    assert sum(a != b for a, b in zip(launches(whole), launches(sliding), strict=True)) == 1
    assert bounds(tile) == [CAUSAL, WITHIN_WINDOW]
    assert_no_mask_in_memory(tile)


def simulate(family: str, attention: str) -> None:
    model = model_of(family, attention)
    plan = plan_of(api.lower(model.captured, "cuda"))
    assert len(plan.launches) == KERNELS[family].around + 2 * KERNELS[family].in_layer
    inputs = [array_of(input.tensor) for input in model.captured.inputs]
    execution = SimulatorBackend("sm_90a").run(plan, inputs)
    assert execution.problems == []
    model.assert_right(execution.results)


@pytest.mark.every_case
@needs_nvrtc
def test_a_model_on_the_simulator():
    simulate("mistral", "sdpa")


@needs_nvrtc
@pytest.mark.parametrize(("family", "attention"), [*SDPA, *EAGER])
def test_every_model_on_the_simulator(every_case: None, family: str, attention: str):
    simulate(family, attention)
