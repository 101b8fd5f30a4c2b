# SPDX-License-Identifier: Apache-2.0
"""Recompilations are logged, with the input that has changed, and its old and new facts."""

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from logging import Handler
from subprocess import PIPE, run

import pytest
import torch
from torch._dynamo import reset

from tilewright.frontend.recompiles import LOGGER

from .test_dynamo import Interpreted


@pytest.fixture
def log() -> Iterator[list[str]]:
    """Messages that the logger `tilewright` receives."""
    messages: list[str] = []
    handler = Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    LOGGER.addHandler(handler)
    LOGGER.setLevel("INFO")
    yield messages
    LOGGER.removeHandler(handler)
    LOGGER.setLevel("NOTSET")


def scaled(x: torch.Tensor, factor: int, flag: bool = True) -> torch.Tensor:
    """Return a product that depends on a tensor and on Python values."""
    return x * factor if flag else x


def reasons(log: Sequence[str]) -> list[str]:
    """Return the logged messages, without the names of graphs."""
    place = f"{__file__}:{scaled.__code__.co_firstlineno + 2}: "
    assert all(place in message for message in log), log
    return [message.partition(place)[2] for message in log]


def test_shapes_dtypes_strides_and_values(log: list[str]):
    fast = Interpreted().compile(scaled)
    for args in (
        (torch.ones(3, 2), 2),
        (torch.ones(4, 2), 2),
        (torch.ones(4, 2).double(), 2),
        (torch.ones(2, 4).T, 2),
        (torch.ones(2, 4).T, 3),
        (torch.ones(3, 2), 3),
    ):
        fast(*args)
    assert reasons(log) == [
        "compile for x float32[3, 2]",
        "recompile: x: shape [3, 2] -> [4, 2]",
        "recompile: x: dtype float32 -> float64",
        "recompile: x: strides [2, 1] -> [1, 4]",
        "recompile: factor: now an input, 3",
        "recompile: x: shape [4, 2] -> [3, 2]",
    ]


def test_what_is_compiled_already_is_not_logged(log: list[str]):
    fast = Interpreted().compile(scaled)
    for _ in range(2):
        fast(torch.ones(3, 2), 2)
    assert len(reasons(log)) == 1


def test_what_runs_in_pytorch_is_logged_each_time(log: list[str]):
    for _ in range(2):
        with warnings.catch_warnings(record=True):
            Interpreted().compile(torch.sort)(torch.ones(3))
        reset()
    assert sum("a graph runs in PyTorch: " in message for message in log) == 2


def test_torch_logs_shows_it():
    code = (
        "import torch\n"
        "from tilewright.frontend.recompiles import LOGGER\n"
        "LOGGER.info('a recompilation')\n"
    )
    environment = {**os.environ, "TORCH_LOGS": "tilewright"}
    done = run([sys.executable, "-c", code], env=environment, stderr=PIPE, text=True, timeout=100)
    assert done.stderr.endswith("a recompilation\n")
