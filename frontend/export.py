# SPDX-License-Identifier: Apache-2.0
"""`torch.export` as capture needs it: quiet, in eval mode, functional, in ops of the dialect."""

import logging
import sys
import warnings
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial
from io import StringIO
from threading import RLock
from types import FunctionType, MethodType
from typing import Any

from tilewright.errors import TilewrightError, UsageError
from tilewright.frontend.arguments import is_transformed
from tilewright.frontend.aten import decompositions
from tilewright.frontend.baked_facts import bake_facts, collect_facts
from tilewright.frontend.call_by_call import call_by_call
from tilewright.frontend.calling import argument_error, check_kind
from tilewright.frontend.code_when_called import code_when_called
from tilewright.frontend.composite_ops import faster_composite_ops
from tilewright.frontend.device_guard import keep_device_guard
from tilewright.frontend.dropped_gradients import drop_gradients
from tilewright.frontend.export_errors import error_of_export, gradient, untraced_error
from tilewright.frontend.kept_arguments import check_arguments_unchanged
from tilewright.frontend.kept_forms import check_forms_unchanged
from tilewright.frontend.kept_views import keep_views
from tilewright.frontend.quick_export import faster_export
from tilewright.frontend.refusals import check_source, check_states, refused_in
from tilewright.frontend.repeated_calls import repeated_calls
from tilewright.frontend.scalar_subscripts import subscripts_as_tensors
from tilewright.frontend.view_writes import check_view_writes

_TRACE = RLock()
"""
Lock of tracing: PyTorch and this package patch modules during a trace, which other threads would
see.
"""

_traced: list[Any] = []
"""Program that is traced now, by the thread that holds the lock; empty outside a trace."""


def export(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], partly: bool = False
) -> Any:
    """
    Return an `ExportedProgram` of the module, functional, and in ops that the dialect defines as
    far as possible.

    Raises `UnsupportedError` for refused operators; with `partly`, they stay in the graph.
    """
    import torch
    from torch.utils import _pytree as pytree

    keep_device_guard()
    check_kind(function)
    module = _as_module(function)
    seen = {id(tensor) for tensor in (*module.parameters(), *module.buffers())}
    alone = partial(_alone, seen)
    args, kwargs = pytree.tree_map_only(torch.Tensor, alone, (args, kwargs))
    try:
        with ExitStack() as stack:
            for context in (_one_trace(module), torch.no_grad(), _eval_mode(module), _quiet()):
                stack.enter_context(context)
            stack.enter_context(code_when_called())
            stack.enter_context(faster_export())
            kept = (subscripts_as_tensors, check_forms_unchanged, check_arguments_unchanged)
            for wrapped in (drop_gradients, *kept, repeated_calls):
                stack.enter_context(wrapped(module))
            asked = stack.enter_context(collect_facts(module))
            exported: Any = torch.export.export(module, args, kwargs, strict=False)
            _check_constants(exported)
            check_states(exported)
            keep_views(exported)
            check_view_writes(exported)
            if not partly:
                check_source(exported)
            found = _decomposed(exported, but_for=refused_in(exported) if partly else ())
            bake_facts(found, asked)
            return found
    except TilewrightError:
        raise
    except (Exception, SystemExit) as error:
        raise argument_error(function, args, kwargs, error) or error_of_export(error) from error


def _alone(seen: set[int], tensor: Any) -> Any:
    """
    Return a detached alias of a tensor that is a view or was `seen` before, by `id`; else the
    tensor itself. Its `id` joins `seen`.

    PyTorch 2.13 leaves sizes open where a view's base is another input or a parameter. One tensor
    that is passed for two inputs counts as one input: the graph would read the last one everywhere.
    """
    is_repeated = id(tensor) in seen
    seen.add(id(tensor))
    if not is_repeated and not tensor._is_view():
        return tensor
    return tensor.detach().requires_grad_(tensor.requires_grad)


def break_down(exported: Any) -> Any:
    """
    Return an exported program broken down into functional ops of the dialect, for its example
    inputs.
    """
    import torch

    if not exported.example_inputs and exported.graph_signature.user_inputs:
        raise UsageError(
            "the exported program has no example inputs, which fix the sizes to compile for",
            remedy="pass inputs",
        )
    if exported.range_constraints:  # some sizes are open: the inputs fix them
        args, kwargs = exported.example_inputs
        return export(exported.module(), args, kwargs)
    keep_views(exported)
    check_view_writes(exported)
    check_source(exported)
    try:
        with _one_trace(exported), torch.no_grad(), _quiet(), code_when_called():
            return _decomposed(exported)
    except Exception as error:
        raise error_of_export(error) from error


def _decomposed(exported: Any, but_for: Collection[str] = ()) -> Any:
    def run_decompositions(exported: Any) -> Any:
        with faster_composite_ops():
            return exported.run_decompositions(decompositions(but_for))

    found = None if but_for else call_by_call(exported, run_decompositions)
    return run_decompositions(exported) if found is None else found


def _as_module(function: Any) -> Any:
    """
    Return `function` itself if it is a module; else a module with `function` as its `forward`.
    Raises `UsageError` for anything that cannot be called.
    """
    from inspect import isclass

    import torch.export
    from torch import nn

    if isinstance(function, torch.jit.ScriptModule | torch.jit.ScriptFunction):
        raise UsageError(
            "TorchScript cannot be captured",
            remedy="capture the module or function that was scripted",
        )
    if isinstance(function, nn.Module):
        return function
    if isinstance(function, torch.export.ExportedProgram):
        return function.module()
    if isclass(function) and issubclass(function, nn.Module):
        raise UsageError(f"{function.__name__} is a class: capture a module, {function.__name__}()")
    if not callable(function):
        raise UsageError(f"a module or a function can be captured, not {type(function).__name__}")
    module = nn.Module()
    for name, used in _modules_used_by(function).items():
        module.add_module(name, used)
    module.forward = _as_forward(function)
    return module


def _as_forward(function: Callable[..., Any]) -> Callable[..., Any]:
    """
    Return `function` under the name `forward`: PyTorch keeps source lines only for functions of
    that name.

    Any other callable is wrapped in a function with its signature. A builtin such as `torch.relu`
    has no signature.
    """
    from inspect import isfunction, ismethod, signature

    if ismethod(function):
        return MethodType(_as_forward(function.__func__), function.__self__)
    if isfunction(function):
        code = function.__code__.replace(co_name="forward")
        renamed = FunctionType(
            code, function.__globals__, "forward", function.__defaults__, function.__closure__
        )
        renamed.__kwdefaults__ = function.__kwdefaults__
        return renamed

    def forward(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    with suppress(ValueError):
        vars(forward)["__signature__"] = signature(function)
    return forward


def _modules_used_by(function: Callable[..., Any]) -> dict[str, Any]:
    """
    Return the modules among the values of `_surroundings`, by name, so that they keep a name in the
    capture.
    """
    from torch import nn

    around = _surroundings(function)
    return {name: value for name, value in around.items() if isinstance(value, nn.Module)}


def _surroundings(function: Callable[..., Any]) -> Mapping[str, Any]:
    """
    Return the values that a function uses besides its arguments, by name: globals, closure
    variables, and `self` of a method.
    """
    from inspect import getclosurevars, isfunction, ismethod

    from torch import nn

    if ismethod(function):
        return {"self": function.__self__}
    if isfunction(function):
        variables = getclosurevars(function)
        return {**variables.globals, **variables.nonlocals}
    if not isinstance(function, partial):
        return getattr(function, "__dict__", {})
    made_of: Callable[..., Any] = function.func
    return {"func": made_of} if isinstance(made_of, nn.Module) else _surroundings(made_of)


@contextmanager
def _one_trace(program: Any) -> Generator[None]:
    """
    Hold the lock of tracing within the `with` block. Raises `UsageError` if this thread is tracing
    already.
    """
    with _TRACE:
        if _traced:
            raise UsageError(
                "a program cannot be captured or compiled while another one is captured",
                remedy="call the plain function there: the outer program compiles it",
            )
        _traced.append(program)
        try:
            yield
        finally:
            _traced.clear()


@contextmanager
def _eval_mode(module: Any) -> Generator[None]:
    """
    Put a module and its submodules into eval mode within the `with` block, then restore the mode of
    each.
    """
    modes = {child: child.training for child in module.modules()}
    with suppress(NotImplementedError):  # modules of exported programs have no modes
        module.eval()
    try:
        yield
    finally:
        for child, training in modes.items():
            child.training = training


@contextmanager
def _quiet() -> Generator[None]:
    """
    Keep PyTorch's own reports off the terminal within the `with` block: the relevant ones also come
    as exceptions.

    Text that the user's code prints during tracing goes to stderr, because stdout is for the
    compiler.
    """
    printed, handle = StringIO(), logging.Logger.handle

    def handle_worse(self: logging.Logger, record: logging.LogRecord) -> None:
        # The handler of torch.__trace removes itself at its first record; until then, each step of
        # export is written out for it.
        if record.levelno > logging.ERROR or record.name == "torch.__trace":
            handle(self, record)

    # `logging.disable` clears the cached levels of all loggers, and each is asked many times.
    logging.Logger.handle = handle_worse
    try:
        with redirect_stdout(printed), redirect_stderr(printed), warnings.catch_warnings():
            # PyTorch 2.13's export uses functions that PyTorch 2.13 deprecates.
            warnings.filterwarnings("ignore", ".*treespec", FutureWarning)
            yield
    finally:
        logging.Logger.handle = handle
    sys.stderr.write(printed.getvalue())


def _check_constants(exported: Any) -> None:
    """
    Raise `UnsupportedError` for constants that tracing made up for tensors of unknown origin, such
    as `x.data`.

    PyTorch 2.13 itself raises only where inputs are real. Where they are fake, it continues with a
    constant that has no memory, and crashes.
    """
    from torch._subclasses.fake_tensor import FakeTensor

    for name, value in exported.constants.items():
        if is_transformed(value):
            raise gradient()
        if "lifted_tensor_" in name and isinstance(value, FakeTensor):
            raise untraced_error()
