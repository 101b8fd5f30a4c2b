# SPDX-License-Identifier: Apache-2.0
"""The attention of `examples/attention` is one kernel, is right, and takes the page's schedule."""

# PyTorch's functions are typed in part.
# pyright: reportUnknownMemberType=false

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import torch
from needs import needs_nvrtc
from xdsl.dialects.memref import AllocOp

import tilewright
from tilewright.dialects import loop
from tilewright.tools.run_lines import run_in_terminal

FOLDER = Path(__file__).parents[2] / "examples" / "attention"
FILE = FOLDER / "attention.py"


@pytest.fixture(scope="module")
def example() -> Any:
    """The file, as a module."""
    spec = spec_from_file_location("attention", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def inputs(example: Any) -> list[torch.Tensor]:
    """Return queries, keys and values, with some scores that are far larger than the others."""
    torch.manual_seed(0)
    q, k, v = (torch.randn_like(each) for each in example.example_inputs)
    k[:, :, 40] *= 50
    return [q, k, v]


def test_it_is_one_kernel_that_allocates_only_its_result(example: Any):
    module = tilewright.lower(
        tilewright.capture(example.attention, *example.example_inputs), "loop"
    )
    assert sum(isinstance(op, loop.LaunchOp) for op in module.walk()) == 1
    (result,) = (op for op in module.walk() if isinstance(op, AllocOp))
    assert result.memref.type.get_shape() == (1, 2, 64, 32)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("level", ["tensor", "loop", "tile", "kernel"])
def test_every_level_gives_the_result(level: str, example: Any):
    given = inputs(example)
    lowered = tilewright.lower(tilewright.capture(example.attention, *given), level)
    (result,) = tilewright.interpret(lowered, *given)
    wanted = example.attention(*given)
    torch.testing.assert_close(torch.from_numpy(result), wanted, rtol=1e-4, atol=1e-5)


@needs_nvrtc
def test_the_kernel_gives_the_result(example: Any):
    given = inputs(example)
    program = tilewright.compile(example.attention, *given, device="sim")
    torch.testing.assert_close(program(*given), example.attention(*given), rtol=1e-4, atol=1e-5)


def test_the_schedule_of_the_page_sets_queries_and_keys():
    """A slab has the weights of all queries of a block, and of the keys of a chunk."""
    (schedule,) = re.findall(r"'(tileify,[^']*)'", (FOLDER / "README.md").read_text())
    for queries, keys in [(32, 16), (16, 32)]:
        changed = schedule.replace("m=32", f"m={queries}").replace("bk=16", f"bk={keys}")
        done = run_in_terminal(
            f"tilewright compile {FILE}:attention --ir tile --schedule '{changed}'"
        )
        assert done.code == 0, done.out
        assert re.search(rf"tile\.share .* : memref<{queries}x{keys}xf32, ", done.out.decode())
