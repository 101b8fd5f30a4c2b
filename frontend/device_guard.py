# SPDX-License-Identifier: Apache-2.0
"""A guard of devices that outlives the thread in which the first program is captured."""

from functools import cache
from importlib import import_module
from threading import Event, Thread, current_thread, main_thread


@cache
def keep_device_guard() -> None:
    """
    Make PyTorch's device guard in a thread that never ends, unless this is the main thread.

    A build of PyTorch for CUDA makes the guard at the first trace, if there is no GPU. In PyTorch
    2.11 the guard is freed with its thread, and the next trace is a segmentation fault.
    """
    import torch

    if current_thread() is main_thread() or not torch.version.cuda or torch.cuda.is_available():
        return
    is_made = Event()

    def make() -> None:
        try:
            import_module("torch._C")._ensureCUDADeviceGuardSet()
        finally:
            is_made.set()
        Event().wait()

    Thread(target=make, name="device guard", daemon=True).start()
    is_made.wait()
