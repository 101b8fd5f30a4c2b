# SPDX-License-Identifier: Apache-2.0
"""Programs as text, and arrays to run them on."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
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
Rand = Callable[..., NDArray[np.float32]]


@pytest.fixture
def parse() -> Parse:
    """Text to a verified module."""

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


@pytest.fixture
def rand() -> Rand:
    """Normal float32 arrays, the same in every run."""
    rng = np.random.default_rng(0)
    return lambda *shape: rng.standard_normal(shape).astype(np.float32)
