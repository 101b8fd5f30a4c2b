# SPDX-License-Identifier: Apache-2.0
"""
Greedy shrinker of a counterexample of Tensor IR: each step keeps a smaller program if the rule is
still wrong in it.

    returns    a returned value less
    ops        an op less, whose result becomes an argument or one of its operands
    sizes      all axes of one size with size 1 or 2, and multiples of it in proportion
"""

from collections.abc import Callable, Iterator, Mapping

from xdsl.dialects import func
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineExpr, AffineMap
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from tilewright.dialects.types import element_of, shape_of, tensor_of
from tilewright.tools.smallest import Attempts

_MOST_TRIES = 300

Fails = Callable[[ModuleOp], bool]


def can_shrink(module: ModuleOp) -> bool:
    """True if a module is one function of Tensor IR."""
    ops = [*module.ops]
    inner = [op for op in module.walk() if op.parent_op() is not module and op is not module]
    is_tensor = all(op.name.startswith("prim.") for op in inner[:-1])
    return len(ops) == 1 and isinstance(ops[0], func.FuncOp) and bool(inner) and is_tensor


def shrunk(module: ModuleOp, fails: Fails) -> ModuleOp:
    """Return a program that fails, of which no program with one thing less does."""
    return Attempts(_MOST_TRIES).smallest(
        module, _smaller, lambda smaller: _is_valid(smaller) and fails(smaller), str
    )


def _is_valid(module: ModuleOp) -> bool:
    try:
        module.verify()
    except (VerifyException, ValueError):
        return False
    return True


def _function(module: ModuleOp) -> tuple[func.FuncOp, Block]:
    function = next(op for op in module.ops if isinstance(op, func.FuncOp))
    return function, function.body.block


def _smaller(module: ModuleOp) -> Iterator[ModuleOp]:
    """Yield programs with one thing less; those that may lose most come first."""
    _, block = _function(module)
    returned = block.last_op
    assert returned is not None
    if len(returned.operands) > 1:
        for at in range(len(returned.operands)):
            yield _with_returned(module, at)
    count = len([*block.ops]) - 1
    for at in reversed(range(count)):
        yield from _without(module, at)
    sizes = {size for value in _values(block) for size in _shape(value)}
    for size in sorted(sizes, reverse=True):
        for less in (1, 2):
            if less < size:
                multiples = {n: n * less // size for n in sizes if n % size == 0 and n}
                yield _with_sizes(module, {size: less})
                yield _with_sizes(module, multiples)


def _values(block: Block) -> Iterator[SSAValue]:
    yield from block.args
    for op in block.ops:
        yield from op.results


def _shape(value: SSAValue) -> tuple[int, ...]:
    return shape_of(value) if isinstance(value.type, TensorType) else ()


def _with_returned(module: ModuleOp, at: int) -> ModuleOp:
    copy = module.clone()
    function, block = _function(copy)
    returned = block.last_op
    assert returned is not None
    kept = returned.operands[at]
    returned.detach()
    returned.erase()
    block.add_op(func.ReturnOp(kept))
    return _cleaned(copy, function, block)


def _without(module: ModuleOp, at: int) -> Iterator[ModuleOp]:
    """Yield programs without an op: its result is an argument, or an operand of the same type."""
    _, block = _function(module)
    op = [*block.ops][at]
    for choice in range(-1, len(op.operands)):
        if choice >= 0 and op.operands[choice].type != op.results[0].type:
            continue
        copy = module.clone()
        function, inner = _function(copy)
        removed = [*inner.ops][at]
        for result in removed.results:
            if choice < 0 or result.type != removed.operands[choice].type:
                new: SSAValue = inner.insert_arg(result.type, len(inner.args))
            else:
                new = removed.operands[choice]
            result.replace_all_uses_with(new)
        yield _cleaned(copy, function, inner)


def _with_sizes(module: ModuleOp, sizes: Mapping[int, int]) -> ModuleOp:
    """Return a program with other sizes in its types and its affine maps."""
    copy = module.clone()
    function, block = _function(copy)
    for value in _values(block):
        if isinstance(value.type, TensorType):
            shape = tuple(sizes.get(size, size) for size in shape_of(value))
            _set_type(value, tensor_of(element_of(value), shape))
    for op in block.ops:
        for name, attr in op.properties.items():
            op.properties[name] = _resized(attr, sizes)
    return _cleaned(copy, function, block)


def _set_type(value: SSAValue, type: Attribute) -> None:
    value._type = type  # pyright: ignore[reportPrivateUsage]  # xDSL has no other way in place


def _resized(attr: Attribute, sizes: Mapping[int, int]) -> Attribute:
    if isa(attr, ArrayAttr[Attribute]):
        return ArrayAttr([_resized(each, sizes) for each in attr.data])
    if not isinstance(attr, AffineMapAttr):
        return attr
    map = attr.data
    exprs = tuple(_with_constants(each, sizes) for each in map.results)
    return AffineMapAttr(AffineMap(map.num_dims, map.num_symbols, exprs))


def _with_constants(expr: AffineExpr, sizes: Mapping[int, int]) -> AffineExpr:
    if isinstance(expr, AffineConstantExpr):
        return AffineConstantExpr(sizes.get(expr.value, expr.value))
    if isinstance(expr, AffineBinaryOpExpr):
        sides = (_with_constants(each, sizes) for each in (expr.lhs, expr.rhs))
        return AffineBinaryOpExpr(expr.kind, *sides)
    return expr


def _cleaned(module: ModuleOp, function: func.FuncOp, block: Block) -> ModuleOp:
    """Erase ops and arguments that are not used, and update the function's type."""
    for op in reversed([*block.ops]):
        if op is not block.last_op and not any(result.uses for result in op.results):
            Rewriter.erase_op(op)
    for argument in reversed([*block.args]):
        if not argument.uses:
            block.erase_arg(argument)
    function.update_function_type()
    return module
