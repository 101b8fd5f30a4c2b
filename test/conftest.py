# SPDX-License-Identifier: Apache-2.0
"""Fixtures and hooks for all tests: repeatable random tests, and parsed modules."""

import gc
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from draws import use_draws
from example_package import install
from kept_machine_code import keep_machine_code, remove_unused
from no_gpu import hide_gpu
from no_hub import hide_hub
from one_thread import use_one_thread
from one_universe import use_one_universe
from own_database import hide_own_database
from some_cases import leave_out, needs_every_case, require_every_case
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.dialects.math import Math
from xdsl.dialects.memref import MemRef
from xdsl.dialects.scf import Scf
from xdsl.parser import Parser

from tilewright.dialects import get_all_dialects

Parse = Callable[[str], ModuleOp]

hide_own_database()
hide_gpu()
hide_hub()
use_one_thread()
use_one_universe()

_searches = [0]
"""Number of searches of all objects for garbage before the last objects were exempted."""

# Imported objects stay: searching them for garbage again and again took a third of the time.
gc.disable()


def pytest_configure(config: pytest.Config) -> None:
    """
    Set the number of examples that random tests draw, fewer without `--every-case`; keep machine
    code.
    """
    use_draws(all_of_them=bool(config.getoption("--every-case")))
    if (kept := getattr(config, "cache", None)) is not None:  # none with -p no:cacheprovider
        folder = kept.mkdir("machine_code")
        remove_unused(folder)
        keep_machine_code(folder)
    config.addinivalue_line("markers", "every_case: a case that runs only with --every-case")
    config.addinivalue_line("markers", "one_in(n): one in n cases runs without --every-case")


def pytest_collection_finish() -> None:
    """Turn garbage collection on, except for the objects that have been imported so far."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish() -> None:
    """
    Exempt what is left from later collections if all objects were searched during this test: caches
    grow, and a search of all of them took seconds in the end.
    """
    if (searches := gc.get_stats()[2]["collections"]) != _searches[0]:
        gc.collect(1)  # what the test left behind
        gc.freeze()
        _searches[0] = searches


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give a case with the mark `every_case` the fixture of that name."""
    if item.get_closest_marker("every_case"):
        require_every_case(item)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Leave out cases of tests with the mark `one_in`, and all that runs only with `--every-case`:
    skipping thousands of tests takes seconds. If nothing else is left, each is skipped.
    """
    leave_out(items)
    if not config.getoption("--every-case"):
        left = [item for item in items if not needs_every_case(item)]
        if left and len(left) < len(items):
            config.hook.pytest_deselected(items=[*filter(needs_every_case, items)])
            items[:] = left


def pytest_runtest_setup() -> None:
    """
    Seed PyTorch, so that the tensors that a test draws are the same in every run.

    `torch.manual_seed` also keeps a stack trace of each call, for the GPUs of a later time.
    """
    if (torch := sys.modules.get("torch")) is not None:
        torch.default_generator.manual_seed(0)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """End the process without five searches for garbage in all that the tests have kept."""
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for checks that take minutes."""
    parser.addoption("--every-case", action="store_true", help="simulate every case of every op")


@pytest.fixture(scope="session")
def every_case(request: pytest.FixtureRequest) -> None:
    """Skip a test that takes minutes, without `--every-case`."""
    if not request.config.getoption("--every-case"):
        pytest.skip("takes minutes: --every-case")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder in which the package of `examples/my_pass` is installed."""
    return install(tmp_path_factory.mktemp("my_pass"))


@pytest.fixture
def parse() -> Parse:
    """Function that parses text into a verified module."""

    def parse_text(text: str) -> ModuleOp:
        context = Context()
        for dialect in (Builtin, Func, Arith, Math, MemRef, Scf):
            context.load_dialect(dialect)
        for name, factory in get_all_dialects().items():
            context.register_dialect(name, factory)
        module = Parser(context, text).parse_module()
        module.verify()
        return module

    return parse_text
