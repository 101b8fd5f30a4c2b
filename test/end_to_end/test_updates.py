# SPDX-License-Identifier: Apache-2.0
"""
Inputs that a program writes in part: kernels store the changes directly in the input's memory.
"""

from typing import Any

import pytest
import torch
from needs import needs_nvrtc
from torch import Tensor

import tilewright
from tilewright.api import CompiledProgram
from tilewright.codegen.runtime.gpu_backend import GpuBackend
from tilewright.codegen.runtime.simulated_driver import SimulatedDriver
from tilewright.codegen.simulator_backend import SimulatorBackend

pytestmark = needs_nvrtc


def put_row(cache: Tensor, row: Tensor, at: Tensor) -> Tensor:
    cache.index_copy_(1, at, row)
    return cache.sum(-1)


def put_product(cache: Tensor, row: Tensor, at: Tensor) -> Tensor:
    cache.index_copy_(1, at, torch.relu(row @ row.mT @ row))
    return cache.sum(-1)


def put_first_rows(cache: Tensor, row: Tensor, at: Tensor) -> Tensor:
    cache[:, :3] = row + at
    return cache.sum(-1)


def put_and_return(cache: Tensor, row: Tensor, at: Tensor) -> Tensor:
    cache.index_copy_(1, at, row)
    return cache


def put_and_compare(cache: Tensor, row: Tensor, at: Tensor) -> Tensor:
    before = cache.clone()
    cache.index_copy_(1, at, row)
    return before - cache


IN_PLACE = [put_row, put_product, put_first_rows]
COPYING = [put_and_return, put_and_compare]


def arguments() -> tuple[Tensor, Tensor, Tensor]:
    return torch.ones(2, 21, 16), torch.arange(32.0).reshape(2, 1, 16) / 16, torch.tensor([13])


def compiled(function: Any) -> CompiledProgram:
    backend = GpuBackend("sm_90a", SimulatedDriver())
    return CompiledProgram(tilewright.capture(function, *arguments()), backend, "sm_90a")


def assert_right(program: CompiledProgram, function: Any, cache: Tensor) -> None:
    """
    Check that the program returns the function's result, and changes `cache` as the function does.
    """
    expected, (_, row, at) = cache.clone(), arguments()
    result = function(expected, row, at)
    torch.testing.assert_close(program(cache, row, at), result)
    torch.testing.assert_close(cache, expected)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("function", IN_PLACE, ids=lambda f: f.__name__)
def test_what_changes_is_stored_where_the_rest_is(function: Any):
    program, cache = compiled(function), arguments()[0]
    assert program.plan.written == {0}
    assert not any(0 in launch.inputs for launch in program.kernels if launch.updated)
    version = cache._version
    assert program.run([cache, *arguments()[1:]])[0] is cache
    assert cache._version > version  # PyTorch knows that it has changed
    assert_right(program, function, arguments()[0])


@pytest.mark.parametrize("function", COPYING, ids=lambda f: f.__name__)
def test_what_was_there_before_is_kept_where_it_is_needed(function: Any):
    program = compiled(function)
    assert program.plan.written == set()
    assert_right(program, function, arguments()[0])


def test_memory_that_kernels_do_not_take_as_it_is():
    program = compiled(put_row)
    assert_right(program, put_row, torch.ones(1 + 2 * 21 * 16)[1:].reshape(2, 21, 16))
    assert_right(program, put_row, torch.ones(2, 16, 21).mT)


def test_a_module_s_own_buffer():
    class Cache(torch.nn.Module):
        rows: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("rows", torch.ones(2, 21, 16))

        def forward(self, row: Tensor, at: Tensor) -> Tensor:
            return put_row(self.rows, row, at)

    module, (cache, row, at) = Cache(), arguments()
    backend = GpuBackend("sm_90a", SimulatedDriver())
    program = CompiledProgram(tilewright.capture(module, row, at), backend, "sm_90a")
    assert program.plan.written != set()
    for place in (at, at + 1, at):
        torch.testing.assert_close(program(row, place), put_row(cache, row, place))
        torch.testing.assert_close(module.rows, cache)


def test_arrays_that_are_given_to_a_backend_stay_as_they_are():
    program = compiled(put_row)
    for backend in (program.backend, SimulatorBackend("sm_90a")):
        arrays = [value.numpy() for value in arguments()]
        before = arrays[0].copy()
        new = backend.run(program.plan, arrays).results[0]
        assert (arrays[0] == before).all()
        assert (new != before).any()
