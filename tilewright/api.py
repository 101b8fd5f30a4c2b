# SPDX-License-Identifier: Apache-2.0
"""
The Python API: `capture`, `lower`, `interpret` and `compile`, as `tilewright.compile(...)` etc.

    program = tilewright.compile(torch.nn.RMSNorm(64), torch.randn(8, 64))
    program(torch.randn(8, 64))      # runs the kernels
    print(program.cuda_source)       # or program.ir("tile")
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tilewright import interpreters
from tilewright.arrays import as_array, tensor_of
from tilewright.codegen.execution import Backend, RunTensors, backend_for, runner
from tilewright.codegen.gpu import target_for
from tilewright.codegen.launch_plan import Launch, Plan
from tilewright.codegen.report import StaticReport, report_of
from tilewright.dialects.target import target as target_named
from tilewright.dialects.torch.precision import set_precisions
from tilewright.errors import UsageError
from tilewright.frontend.arguments import check_tensor, check_values
from tilewright.frontend.call import Call
from tilewright.frontend.capture import Captured
from tilewright.frontend.capture import capture as capture_call
from tilewright.frontend.in_place_writes import check_writable, write_back
from tilewright.frontend.pytorch_precision import precisions_named
from tilewright.matrix_sums import MatrixSums
from tilewright.passes.driver import lowering
from tilewright.passes.driver.levels import Level, level_of
from tilewright.tuning.knowledge import Db
from tilewright.tuning.known_schedules import with_known_schedules
from tilewright.tuning.plan_cache import compiled_plan

__all__ = ["CompiledProgram", "capture", "compile", "interpret", "lower"]


def capture(
    function: Any,
    *inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    matmul_precision: str = "highest",
) -> Captured:
    """
    Capture a module or a function, called with `inputs` and `kwargs`, as Torch IR for inference.

    `function` may also be a `torch.export.ExportedProgram`, whose example inputs are used if none
    are given. The result's `module` is the IR, its `inputs` name the arguments of `@main`. Tensors
    may be fake. `matmul_precision` is the same as for `compile`. Raises `UnsupportedError` for
    unsupported operations, and `UsageError` if the function itself fails.
    """
    from torch.utils import _pytree as pytree

    if isinstance(function, CompiledProgram):
        raise UsageError(
            "a compiled program cannot be captured", remedy="capture its module or function"
        )
    precisions = precisions_named(matmul_precision)
    given = (inputs, _named(kwargs))
    args, named = pytree.tree_map_only(np.ndarray, tensor_of, given)
    captured = capture_call(function, args, named)
    set_precisions(captured.module, precisions)
    return captured


def _named(kwargs: object) -> dict[str, Any]:
    if not isinstance(kwargs, Mapping | None):
        kind = type(kwargs).__name__
        raise UsageError(f"kwargs is a mapping of names to values, not {kind}")
    return {**cast(Mapping[str, Any], kwargs or {})}


def lower(
    module: ModuleOp | Captured, level: str, target: str | None = None, db: Db = True
) -> ModuleOp:
    """
    Return a copy of `module` at a lower level: torch, tensor, loop, tile, kernel or cuda.

    `target` is a GPU architecture such as `sm_90a`, by default that of the GPU present. `db` is the
    same as for `compile`. Raises `UsageError` for an unknown level, and for a level above the
    module's.
    """
    return _lowered(_module_of(module), level, target_for(target), _checked(db))


def _checked(db: object) -> Db:
    """Return `db` if it is a path or a bool; raise `UsageError` otherwise."""
    if not isinstance(db, str | Path | bool) or db == "":
        raise UsageError(f"db is a path or a bool, not {db!r}")
    return db


def _lowered(module: ModuleOp, level: str, target: str, db: Db) -> ModuleOp:
    named = lowering.level_named(level)
    has_kernels = named not in (Level.TORCH, Level.TENSOR)
    planned = with_known_schedules(module, target, has_kernels and db)
    return lowering.lower(planned, named, target=target)


def interpret(
    module: ModuleOp | Captured, *arrays: Any, matrix_sums: str = "rounded-once"
) -> list[np.ndarray[Any, Any]]:
    """
    Run `@main` on `arrays` in the interpreters and return its results, at any level except CUDA.

    Arrays are tensors or values that `numpy.asarray` takes, one for each argument of `@main`. For a
    `Captured`, inputs that the program mutates are written in place, and the results of the user's
    function are returned. For a module of IR, all results of `@main` are returned. `matrix_sums` is
    the arithmetic of matrix instructions in Kernel IR: sums are `rounded-once`, or `truncated` as
    an A100 does.
    """
    import torch

    sums = _sums_named(matrix_sums)
    ir = _module_of(module)
    if level_of(ir) is Level.CUDA:
        raise UsageError("CUDA IR has no interpreter", remedy="interpret a higher level")
    for position, value in enumerate(arrays):
        if isinstance(value, torch.Tensor):
            check_tensor(f"argument {position} of @main", value)
            check_values(f"argument {position} of @main", value)
    if not isinstance(module, Captured):
        return interpreters.interpret(ir, *map(as_array, arrays), matrix_sums=sums)
    if len(arrays) == len(module.inputs):
        check_writable(module, arrays)
    results = interpreters.interpret(ir, *map(as_array, arrays), matrix_sums=sums)
    write_back(module, arrays, results)
    return results[len(module.mutated) :]


def _sums_named(name: object) -> MatrixSums:
    """Return the model of sums called `name`; raise `UsageError` for another name."""
    if name not in [*MatrixSums]:
        raise UsageError(f"unknown matrix_sums {name!r}", remedy=f"known: {', '.join(MatrixSums)}")
    return MatrixSums(name)


def compile(
    function: Any,
    *inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    target: str | None = None,
    device: str = "auto",
    db: Db = True,
    matmul_precision: str = "highest",
) -> "CompiledProgram":
    """
    Compile a module, a function or an exported program for inputs like `inputs` and `kwargs`.

    `target` is a GPU architecture such as `sm_90a`, by default that of the GPU present. `device` is
    where calls run: `sim`, `gpu`, or `auto` for the best device present. `db` is the path of a
    database of measurements from which schedules of kernels are looked up. True means the user's
    own database, if it exists, and the goldens; False means none.

    `matmul_precision` is that of float32 matrix products: `highest`, `high` (factors may be rounded
    to tf32) or `medium` (to bfloat16). Convolutions may round factors to tf32 unless it is
    `highest`. PyTorch's own settings are not read. Raises the errors of `capture`, and
    `DatabaseError` for a path that is not a database.
    """
    target = target_for(target)
    backend = backend_for(device, target)
    db = _checked(db)
    captured = capture(function, *inputs, kwargs=kwargs, matmul_precision=matmul_precision)
    return CompiledProgram(captured, backend, target, db)


def _module_of(module: ModuleOp | Captured | object) -> ModuleOp:
    module = module.module if isinstance(module, Captured) else module
    if not isinstance(module, ModuleOp):
        raise UsageError(
            f"not a module of IR, but {type(module).__name__}", remedy="call capture first"
        )
    return module


@dataclass(frozen=True, eq=False, repr=False)
class CompiledProgram:
    """
    A compiled module or function: call it as the original, with tensors or NumPy arrays.

    A module's parameters and buffers are read at each call. Changes in place, as by an optimizer or
    `load_state_dict`, take effect; a replaced parameter object does not.
    """

    captured: Captured
    backend: Backend
    target: str
    """GPU architecture that the program is compiled for."""
    db: Db = True
    """Database in which schedules are looked up, as for `compile`."""
    _called: Callable[..., Any] = field(init=False)

    def __post_init__(self) -> None:
        import torch

        _ = self.plan  # report what cannot be compiled now, not at the first call
        # If torch.compile traces the caller, Dynamo would also trace the code that runs kernels.
        vars(self)["_called"] = cast(Any, torch.compiler).disable(self._results)

    def __repr__(self) -> str:
        names = [*dict.fromkeys(launch.kernel for launch in self.kernels)]
        name = "".join([*(f" {first}" for first in names[:1]), ", ..." if names[1:] else ""])
        counts = f"{self.captured.signature}, {self.plan.kernels_text}"
        return f"<CompiledProgram{name}: {counts}, {self.target}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse `copy` and `pickle`: raise `UsageError`."""
        raise UsageError(
            "a compiled program is neither copied nor pickled",
            remedy="copy or save the module, and compile that",
        )

    @cached_property
    def plan(self) -> Plan:
        """
        Launch plan of the program: its kernels' launches in order, and the buffers that they use.
        """
        return compiled_plan(self.captured.module, self.target, self.db)

    @cached_property
    def _planned(self) -> ModuleOp:
        """
        Captured program at Loop IR, with the best known schedules of its kernels in `db`; the
        captured module itself if there are none.
        """
        return with_known_schedules(self.captured.module, self.target, self.db)

    @cached_property
    def _run(self) -> RunTensors:
        return runner(self.plan, self.backend)

    @property
    def kernels(self) -> tuple[Launch, ...]:
        """The launches in order, each with kernel name, grid, block and shared memory."""
        return self.plan.launches

    @property
    def cuda_source(self) -> str:
        """The CUDA C++ text of the kernels."""
        return self.plan.source

    @property
    def schedule(self) -> dict[str, str]:
        """
        The pipeline that scheduled each kernel, by kernel name, in the syntax of `opt-tool -p`.
        """
        return {launch.kernel: launch.schedule for launch in self.kernels}

    def ir(self, level: str) -> str:
        """Return the text of the program at a level: torch, tensor, loop, tile, kernel or cuda."""
        named = lowering.level_named(level)
        is_above = named in (Level.TORCH, Level.TENSOR)
        module = self.captured.module if is_above else self._planned
        return str(lowering.lower(module, named, target=self.target))

    def report(self) -> StaticReport:
        """
        Return a report on each kernel's machine code: registers, occupancy, instructions, traffic,
        and an estimated time.

        `print` shows the report as text; its attribute `kernels` holds the figures. Raises
        `NvrtcUnavailable`.
        """
        return report_of(self._planned, target_named(self.target))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """
        Run the program; the result is nested like the original's.

        Results are NumPy arrays if all inputs are, else tensors. Inputs and buffers that the
        original writes in place are written. Raises `UsageError` if inputs differ from those of the
        compilation in number, shape, dtype, or in a Python value. Also raises `UsageError` for an
        input that the program writes but that is not writable. On a GPU, the kernels are queued on
        PyTorch's current stream.
        """
        return self._called(*args, **kwargs)

    def _results(self, *args: Any, **kwargs: Any) -> Any:
        from torch._subclasses.fake_tensor import unset_fake_temporarily

        # A fake-tensor mode of the caller would turn these results into fake tensors.
        with unset_fake_temporarily():
            call = Call(self.captured, args, kwargs)
            return call.results(self.run(call.values()))

    def run(self, values: Sequence[Any]) -> list[Any]:
        """
        Return the results of `@main` for `values`: tensors or arrays for `captured.inputs`, in
        order.

        New values of inputs written in place come first among the results. On a GPU, results are
        new tensors, or tensors of `values` that kernels write in place. The simulator returns
        arrays and writes nothing into `values`.
        """
        return self._run(values)
