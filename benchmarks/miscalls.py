#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Random calls of the Python API: functions, modules and programs of `tilewright.compile` and
`torch.compile`, with arguments of unusual layouts or of unexpected types.

    benchmarks/miscalls.py --seed 1 --count 200

Each call must return what PyTorch returns, and write what PyTorch writes, or raise one of our
errors.
"""

import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from seeded_attack import attack

import tilewright
from tilewright.errors import TilewrightError, summary_of

A = Any

np: A = import_module("numpy")
torch: A = import_module("torch")
nn = torch.nn


def _added(x: A, k: A) -> A:
    return x + k


def _written(x: A, k: A) -> A:
    x.mul_(2)
    return x.sum() + k


def _part_written(x: A, k: A) -> A:
    x[1:].add_(k)
    return {"x": x * 2, "rest": (x.t(), None, 3)}


def _several(x: A, k: A) -> A:
    return [x.softmax(-1), (x, x.amax(0)), x @ x.t() * k]


def _counted() -> A:
    module = nn.Sequential(nn.Linear(5, 5), nn.BatchNorm1d(5), nn.ReLU()).eval()
    module[0].register_forward_hook(_doubled)

    def scaled(x: A, k: A) -> A:
        return module(x) * k

    return scaled


def _doubled(module: A, given: A, result: A) -> A:
    return result * 2


FUNCTIONS: dict[str, Callable[[], A]] = {
    "add": lambda: _added,
    "write": lambda: _written,
    "write a part": lambda: _part_written,
    "several results": lambda: _several,
    "a module with hooks": _counted,
}


def _spread(x: A) -> A:
    return torch.zeros(8, 10)[::2, ::2].copy_(x)


TENSORS: dict[str, Callable[[A], A]] = {
    "plain": lambda x: x,
    "transposed": lambda x: x.t().contiguous().t(),
    "spread": _spread,
    "expanded": lambda x: x[:1].expand(4, 5),
    "windows": lambda x: x.reshape(-1).as_strided((4, 5), (2, 1)),
    "with a gradient": lambda x: x.clone().requires_grad_(),
    "a parameter": nn.Parameter,
    "behind others": lambda x: torch.cat([x, x])[4:],
    "negated lazily": lambda x: torch.complex(x, x).conj().imag,
    "an array": lambda x: x.numpy(),
    "an array backwards": lambda x: x.numpy()[::-1],
    "an array by columns": lambda x: np.asfortranarray(x.numpy()),
    "a field": lambda x: np.rec.fromarrays([x.numpy(), x.numpy()], names="a,b")["a"],
    "read-only": lambda x: np.broadcast_to(x.numpy(), (4, 5)),
    "of another byte order": lambda x: x.numpy().astype(">f4"),
    "of objects": lambda x: x.numpy().astype(object),
    "float64": lambda x: x.double(),
    "int32": lambda x: x.int(),
    "complex": lambda x: x + 0j,
    "of another shape": lambda x: x[:, :4],
    "without dims": lambda x: x.sum(),
    "empty": lambda x: x[:0],
    "sparse": lambda x: x.to_sparse(),
    "nested": lambda x: torch.nested.nested_tensor([x[0], x[1, :2]]),
    "quantised": lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8),
    "on meta": lambda x: x.to("meta"),
    "a list": lambda x: x.tolist(),
    "nothing": lambda x: None,
    "a module": lambda x: nn.ReLU(),
    "a text": lambda x: "x",
}

NUMBERS: tuple[A, ...] = (1, 2, 1.0, 2.5, 0.0, -0.0, True, False, -3, float("inf"), 2**40)


def attempt(draw: random.Random) -> tuple[str, str]:
    """
    Try one random call; return how it ended, and what is wrong with that: empty if nothing is.
    """
    function = FUNCTIONS[name := draw.choice([*FUNCTIONS])]()
    x = torch.randn(4, 5, generator=torch.Generator().manual_seed(draw.randrange(99)))
    kind = draw.choice([*TENSORS])
    baked = draw.choice(NUMBERS)
    given = baked if draw.random() < 0.7 else draw.choice(NUMBERS)
    compiles_odd, by_dynamo = draw.random() < 0.3, draw.random() < 0.2
    label = f"{name}({kind}, {given}), compiled for {kind if compiles_odd else 'plain'}, {baked}"
    label += " by torch.compile" if by_dynamo else ""
    try:
        ours, theirs = TENSORS[kind](x.clone()), TENSORS[kind](x.clone())
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            if by_dynamo:
                torch.compiler.reset()
                program: A = torch.compile(function, backend="tilewright")
            else:
                like = TENSORS[kind](x.clone()) if compiles_odd else x
                program = tilewright.compile(function, like, baked, device="sim")
            found = program(ours, given)
    except TilewrightError as err:
        return f"refused: {summary_of(err)}", "" if str(err) else f"{label}: no message"
    except BaseException as err:
        if by_dynamo and _fails_too(function, TENSORS[kind](x.clone()), given):
            return "refused by PyTorch", ""
        return "leaked", f"{label}: leaks {summary_of(err)}"
    return "ran", _difference(label, function, found, ours, theirs, given)


def _fails_too(function: A, x: A, k: A) -> bool:
    try:
        function(x, k)
    except Exception:
        return True
    return False


def _difference(label: str, function: A, found: A, ours: A, theirs: A, given: A) -> str:
    """
    Return a text on how results and written inputs differ from PyTorch's; empty if they agree.
    """
    try:
        is_array = isinstance(theirs, np.ndarray) and theirs.dtype == np.float32
        tensor = torch.from_numpy(np.ascontiguousarray(theirs)) if is_array else theirs
        with torch.no_grad():
            expected = function(tensor, given)
        for one, other in zip(_plain(found), _plain(expected), strict=True):
            _check_close(one, other)
        torch.testing.assert_close(_plain(ours), _plain(tensor), equal_nan=True)
    except Exception as err:
        return f"{label}: {summary_of(err)}"
    return ""


def _check_close(found: A, expected: A) -> None:
    """
    Raise `AssertionError` if results differ: floats by more than 1e-5 of the value plus 1e-5 of the
    largest element.
    """
    is_float = isinstance(expected, torch.Tensor) and expected.is_floating_point()
    if not is_float or expected.is_meta:
        torch.testing.assert_close(found, expected, equal_nan=True)
        return
    most = expected[expected.isfinite()].abs().max().item() if expected.isfinite().any() else 0.0
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5 * most, equal_nan=True)


def _plain(value: A) -> A:
    from torch.utils import _pytree as pytree

    def plain(leaf: A) -> A:
        if isinstance(leaf, np.ndarray):
            return torch.from_numpy(leaf.astype(np.float32))
        if not isinstance(leaf, torch.Tensor):
            return leaf
        return leaf.detach().to_padded_tensor(0.0) if leaf.is_nested else leaf.detach()

    return [leaf for leaf in map(plain, pytree.tree_leaves(value)) if leaf is not None]


def run(seed: int, count: int, *, shows: bool = False) -> tuple[Counter[str], list[str]]:
    """Try `count` random calls; return counts of how they ended, and the failures."""
    draw = random.Random(seed)
    ends, wrong = Counter[str](), list[str]()
    for number in range(count):
        end, problem = attempt(draw)
        ends[end.partition(":")[0]] += 1
        if shows:
            print(f"{seed}/{number}: {end}", flush=True)
        if problem:
            wrong.append(f"{seed}/{number}: {problem}")
    return ends, wrong


def main(argv: Sequence[str] | None = None) -> int:
    """Try random calls, and print how they ended."""
    return attack(run, "Try random calls of the Python API.", "calls", 200, argv)


if __name__ == "__main__":
    sys.exit(main())
