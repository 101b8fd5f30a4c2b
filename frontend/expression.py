# SPDX-License-Identifier: Apache-2.0
"""
`-c TEXT`: a PyTorch expression, or statements that end in one, becomes a module and its inputs.

    torch.nn.RMSNorm(2048)(torch.randn(1, 32, 2048))
    x = torch.randn(4, 8); F.softmax(x, -1)

`torch`, `nn`, `F` and `math` are in scope. A call of a tensor constructor, also with a cast after
it, is an input. The input is called x if it is bound to that name, else t0, t1, ... A module, made
anywhere, is a submodule with its parameters' names. All code that computes with an input becomes
the module's forward.

Inside a loop, a branch or a function, constructors stay where they are, and random ones are refused
at capture. A text that asks for training mode is refused too: programs are compiled for inference.
"""

import ast
import linecache
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from tilewright.errors import TilewrightError, UnsupportedError, UsageError
from tilewright.frontend.global_names import names_of
from tilewright.frontend.hoist import read
from tilewright.frontend.partition import Partition, place_of
from tilewright.frontend.source import (
    FILE,
    Place,
    error_at,
    error_of,
    place_of_caller,
    place_of_exception,
)


@dataclass(frozen=True)
class Expression:
    """
    Module or function and its inputs, ready for `capture`: `module(*args, **kwargs)` is the value
    of the text.
    """

    module: Any
    """Module or function, or the `ExportedProgram` of a `.pt2` file, which has its own inputs."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict[str, Any])


def parse_expression(text: str, fake: bool = False, seed: int = 0) -> Expression:
    """
    Parse a text, and evaluate the parts that run outside the captured function.

    With `fake`, nothing is allocated: tensors have shapes but no values. Otherwise the text draws
    the same random numbers as a program that starts with `torch.manual_seed(seed)`. Raises
    `UsageError` with line, column and source line, and `UnsupportedError` where a module is put
    into training mode.
    """
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    statements, result = _parse(text)
    partition = Partition()
    partition.reserved |= {n.id for s in (*statements, result) for n in _names_in(s)}
    # stdout is for the compiler: text that the program prints goes to stderr.
    with _evaluation(fake, seed), _training_mode_refused(FILE), redirect_stdout(sys.stderr):
        try:
            for statement in (*statements, result):
                read(partition, statement)
            _check_result(partition, result)
        except TilewrightError:
            raise
        except (Exception, SystemExit) as error:
            if isinstance(error, RecursionError) and place_of_exception(error) is None:
                raise _too_deep() from None  # no line of the text ran: parsing failed
            raise error_of(error) from error
    return _expression(partition)


def _too_deep() -> UsageError:
    message = "not a Python expression: nested too deeply"
    return UsageError(message, where=FILE, remedy="write several statements")


def _names_in(statement: ast.stmt) -> list[ast.Name]:
    return [node for node in ast.walk(statement) if isinstance(node, ast.Name)]


@contextmanager
def _evaluation(fake: bool, seed: int) -> Generator[None]:
    """Make tensors fake if `fake`, else seed the random numbers, within the `with` block."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode(allow_non_fake_inputs=True) if fake else seeded(seed):
        yield


@contextmanager
def seeded(seed: int) -> Generator[None]:
    """
    Draw random numbers, within the `with` block, as a program that starts with
    `torch.manual_seed(seed)`; then restore the generator's state.
    """
    import torch.random

    state = torch.random.get_rng_state()
    torch.random.manual_seed(seed)  # pyright: ignore[reportUnknownMemberType]
    try:
        yield
    finally:
        torch.random.set_rng_state(state)


def _parse(text: str) -> tuple[list[ast.stmt], ast.Return]:
    """Return the statements of a text, and the expression at its end as a `return` statement."""
    try:
        statements = ast.parse(text, FILE).body
        compile(text, FILE, "exec")
    except SyntaxError as error:
        place = Place(FILE, error.lineno or 1, error.offset or 1)
        raise error_at(place, f"not a Python expression: {error.msg}") from None
    except ValueError as error:
        raise UsageError(f"not a Python expression: {error}", where=FILE) from None
    except (RecursionError, MemoryError):
        raise _too_deep() from None
    if not statements:
        raise UsageError("the text is empty: it should end in an expression", where=FILE)
    *statements, last = statements
    if not isinstance(last, ast.Expr):
        raise error_at(place_of(last), "the text must end in an expression: its value is compiled")
    return statements, ast.copy_location(ast.Return(last.value), last)


def _check_result(partition: Partition, result: ast.Return) -> None:
    """Raise `UsageError` if the result is known not to hold a tensor: a module, a number."""
    assert result.value is not None
    if partition.is_dynamic(names_of(result.value)):
        return
    _check_value(partition.evaluate(result.value), result)


def _check_value(value: Any, result: ast.Return) -> None:
    if _holds_tensor(value):
        return
    kind = type(value).__name__
    remedy = "call it on an input" if callable(value) else "compute with a tensor"
    raise error_at(place_of(result), f"the value is of type {kind}, not a tensor: {remedy}")


def _holds_tensor(value: Any) -> bool:
    import torch
    from torch.utils import _pytree as pytree

    return any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(value))


def _expression(partition: Partition) -> Expression:
    """
    Return the module whose forward is the body, and whose submodules are the modules made outside.
    """
    from torch import nn

    module = nn.Module()
    for name, value in partition.outside.items():
        submodule = value if isinstance(value, nn.Module) else _module_list(value)
        if submodule is not None:
            module.add_module(f"{name}_" if hasattr(module, name) else name, submodule)
    module.forward = _function(partition)
    return Expression(module, tuple(partition.inputs.values()))


def _module_list(value: Any) -> Any:
    """
    Return the modules in a list, tuple or dict as one `ModuleList`, so that they have names; else
    None.
    """
    from torch import nn
    from torch.utils import _pytree as pytree

    if not isinstance(value, list | tuple | dict):
        return None
    modules = [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, nn.Module)]
    return nn.ModuleList(modules) if modules else None


def _function(partition: Partition) -> Any:
    """
    Return the body as a function of the inputs.

    Names that the body binds are local variables; a name that had a value before starts with that
    value. The function checks its result when it returns.
    """
    before = {n: partition.outside[n] for n in partition.made_inside if n in partition.outside}
    body: list[ast.stmt] = []
    for name in sorted(before):
        body += ast.parse(f"{name} = __before__[{name!r}]").body
    arguments = ast.arguments([], [ast.arg(n) for n in partition.inputs], None, [], [], None, [])
    function = ast.parse("def forward(): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    *statements, result = partition.inside
    assert isinstance(result, ast.Return)
    assert result.value is not None
    call = ast.Call(ast.Name("__checked__", ast.Load()), [result.value], [])
    returned = ast.Return(ast.copy_location(call, result.value))
    function.args, function.body = arguments, [*body, *statements, returned]
    scope = partition.outside | {"__before__": before, "__checked__": _checker(result)}
    module = ast.fix_missing_locations(ast.Module([function], []))
    exec(compile(module, FILE, "exec"), scope)
    return scope["forward"]


def _checker(result: ast.Return) -> Callable[[Any], Any]:
    def checked(value: Any) -> Any:
        _check_value(value, result)
        return value

    return checked


@contextmanager
def _training_mode_refused(file: str) -> Generator[None]:
    """
    Raise `UnsupportedError`, within the `with` block, where code of `file` calls `train()` on a
    module or sets its `training`.

    A new module is in training mode by default: only an explicit call shows that the user requests
    it. Code of other files may switch modes.
    """
    from torch import nn

    original, set_attribute = nn.Module.train, nn.Module.__setattr__

    def train(self: Any, mode: bool = True) -> Any:
        if mode:
            _refuse_training(file, f"{type(self).__name__}.train()")
        return original(self, mode)

    def setattr_(self: Any, name: str, value: Any) -> None:
        if name == "training" and value:
            _refuse_training(file, f"{type(self).__name__}.training = {value!r}")
        set_attribute(self, name, value)

    nn.Module.train, nn.Module.__setattr__ = train, setattr_
    try:
        yield
    finally:
        nn.Module.train, nn.Module.__setattr__ = original, set_attribute


def _refuse_training(file: str, what: str) -> None:
    """
    Raise `UnsupportedError` for the action `what` if the running line of the user's code is in
    `file`.
    """
    place = place_of_caller()
    if place is not None and place.file == file:
        raise UnsupportedError(
            f"{what}: training mode is not supported",
            where=str(place),
            remedy="leave it out: programs are compiled for inference, in eval mode",
        )
