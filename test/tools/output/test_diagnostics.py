# SPDX-License-Identifier: Apache-2.0
"""Error messages for exhausted memory, and for names with control characters."""

import pytest
import torch

from tilewright.errors import UsageError
from tilewright.tools.output.diagnostics import explain

PYTORCH_SAYS = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of "
    "which 1.06 GiB is free. Including non-PyTorch memory, this process has 78.04 GiB memory in "
    "use. See documentation for Memory Management"
)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            torch.OutOfMemoryError(PYTORCH_SAYS),
            "error: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
            "79.11 GiB of which 1.06 GiB is free",
        ),
        (MemoryError(), "error: this machine has no memory left: for Python"),
        (
            MemoryError("Unable to allocate 8.00 TiB"),
            "error: this machine has no memory left: Unable to allocate 8.00 TiB",
        ),
    ],
    ids=["gpu", "host", "NumPy"],
)
def test_no_memory_is_no_bug(error: Exception, message: str):
    assert explain(error) == (message, 1)


def test_other_errors_of_a_library_are_bugs():
    message, code = explain(RuntimeError("CUDA out of memory"))
    assert message.endswith("the input and the traceback above.")
    assert code == 1


def test_control_characters_are_printed_as_escapes():
    name = "\x1b[2Jé.mlir"
    shown = r"error: cannot open '\x1b[2Jé.mlir': not there"
    assert explain(OSError(2, "not there", name)) == (shown, 2)
    assert explain(UsageError(f"cannot open '{name}': not there")) == (shown, 2)
