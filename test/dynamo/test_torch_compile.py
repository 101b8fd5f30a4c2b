# SPDX-License-Identifier: Apache-2.0
"""The backend as users name it: its options, its errors, and kernels on the simulator."""

import copy
import gc
import weakref
from importlib import import_module
from importlib.metadata import distributions
from typing import Any, cast
from unittest.mock import Mock

import pytest
import torch
from needs import needs_nvrtc
from torch import nn

from tilewright.codegen import nvrtc
from tilewright.codegen.runtime.gpu_backend import GpuBackend
from tilewright.codegen.runtime.simulated_driver import SimulatedDriver
from tilewright.codegen.simulator import SimulationTooLarge
from tilewright.errors import TilewrightError, UsageError
from tilewright.torch_compile import backend

from .modules import CASES
from .test_dynamo import check


def compiled(function: Any, **options: Any) -> Any:
    """Return `function` compiled by `torch.compile` with the backend."""
    return cast(Any, torch).compile(function, backend=backend, **options)


QUICK = ("language model", "cache", "topk")
"""Cases that are simulated in each run of the tests."""


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.filterwarnings("ignore:tilewright")
@pytest.mark.parametrize("name", QUICK)
def test_kernels_do_what_pytorch_does(name: str):
    _check_on_the_simulator(name)


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
@pytest.mark.filterwarnings("ignore:tilewright")
@pytest.mark.parametrize("name", [name for name in CASES if name not in QUICK])
def test_all_kernels_do_what_pytorch_does(name: str):
    _check_on_the_simulator(name)


def _check_on_the_simulator(name: str) -> None:
    eager = CASES[name].make()
    check(CASES[name], compiled(copy.deepcopy(eager), options={"device": "sim"}), eager)


@needs_nvrtc
def test_tensors_go_through_the_runtime_as_they_do_on_a_gpu(monkeypatch: pytest.MonkeyPatch):
    device = GpuBackend("sm_90a", SimulatedDriver())

    def given(name: str, target: str) -> GpuBackend:
        return device

    monkeypatch.setattr("tilewright.torch_compile.backend_for", given)
    for name in ("cache", "write"):
        eager = CASES[name].make()
        check(CASES[name], compiled(copy.deepcopy(eager)), eager)


def test_pytorch_lists_the_backend():
    if not [*distributions(name="tilewright")]:
        pytest.skip("tilewright is on the path only, and not installed")
    registry: Any = import_module("torch._dynamo")
    assert "tilewright" in registry.list_backends()
    assert registry.lookup_backend("tilewright") is backend


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown option": (
        {"options": {"tagret": "sm_90a"}},
        r"^unknown option 'tagret' of the backend tilewright \(did you mean 'target'\?\)$",
    ),
    "an option like no other": (
        {"options": {"x": 1}},
        r"\(options: db, device, matmul_precision, target\)$",
    ),
    "an option that is no text": ({"options": {"target": 90}}, "'target' is a text, not 90"),
    "a database that is a number": ({"options": {"db": 3}}, "'db' is a text or a bool, not 3"),
    "an option that is a number": ({"options": {3: 4}}, "unknown option '3'"),
    "an unknown precision": (
        {"options": {"matmul_precision": "hi"}},
        r"unknown matmul_precision 'hi' \(known: highest, high, medium\)",
    ),
    "a precision that is no text": (
        {"options": {"matmul_precision": 3}},
        "'matmul_precision' is a text, not 3",
    ),
    "an unknown target": ({"options": {"target": "sm_1"}}, "sm_1"),
    "an unknown device": ({"options": {"device": "tpu"}}, "unknown device 'tpu'"),
    "a mode": ({"mode": "max-autotune"}, "the mode 'max-autotune' is not supported"),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_our_error_and_not_dynamos(name: str):
    arguments, message = REFUSED[name]
    with pytest.raises(TilewrightError, match=message) as caught:
        compiled(torch.sin, **arguments)(torch.ones(2))
    assert isinstance(caught.value, UsageError)


def test_what_takes_the_simulator_minutes_is_refused_before_it_starts():
    x = torch.empty(2048, 2048)
    with pytest.raises(
        SimulationTooLarge, match=r"simulating the graph takes about 1\.\d+e\+10 .*GPU"
    ):
        compiled(nn.Linear(2048, 2048), options={"device": "sim"})(x)


def _sorted(x: torch.Tensor) -> torch.Tensor:
    """Sort the positive parts of values: only relu is compiled."""
    return torch.sort(torch.relu(x))[0]


@pytest.mark.one_in(2)
@needs_nvrtc
@pytest.mark.filterwarnings("ignore:tilewright")
@pytest.mark.parametrize("function", [torch.relu, _sorted])
def test_tensors_of_the_first_call_do_not_live_on(function: Any):
    fast, x = compiled(function, options={"device": "sim"}), torch.ones(3)
    fast(x)
    given = weakref.ref(x)
    del x
    gc.collect()
    assert given() is None


@needs_nvrtc
def test_a_parameter_that_is_replaced_does_not_live_on():
    module, x = nn.Linear(3, 3, bias=False), torch.ones(2, 3)
    fast, before = compiled(module, options={"device": "sim"}), weakref.ref(module.weight)
    with torch.no_grad():
        fast(x)
        module.weight = nn.Parameter(torch.ones(3, 3))
        assert torch.equal(fast(x), torch.full((2, 3), 3.0))
    gc.collect()
    assert before() is None


@needs_nvrtc
def test_the_target_is_that_of_the_options(monkeypatch: pytest.MonkeyPatch):
    compile = Mock(wraps=nvrtc.compile)
    monkeypatch.setattr(nvrtc, "compile", compile)
    options = {"target": "sm_80", "device": "sim"}
    assert torch.equal(compiled(torch.neg, options=options)(torch.ones(3)), -torch.ones(3))
    assert {call.args[1] for call in compile.call_args_list} == {"sm_80"}
