# SPDX-License-Identifier: Apache-2.0
"""Translation of the exceptions of `torch.export` into errors about the user's program."""

import re
import traceback
from collections.abc import Callable

from tilewright.errors import TilewrightError, UnsupportedError, UsageError
from tilewright.frontend.kept_forms import form_error
from tilewright.frontend.source import error_of, place_of_exception

_SHAPES = "shapes and branches must follow from the inputs' shapes alone"
_CAUSAL = "pass is_causal (tgt_is_causal) with the mask: otherwise PyTorch reads its values"


def untraced_error() -> UnsupportedError:
    """Return the error for a tensor whose creation tracing did not see."""
    return UnsupportedError(
        "PyTorch's tracing does not know the origin of a tensor that the program uses",
        remedy="write x.detach() for x.data, and keep parameters and modules in modules such as "
        "nn.ModuleList",
    )


def gradient() -> UnsupportedError:
    """Return the error for a program that computes gradients of its own."""
    return UnsupportedError(
        "torch.func.grad and the transforms made of it are not supported",
        remedy="leave the gradient out, or write the derivative as an expression",
    )


def _depends_on_values(error: BaseException) -> UnsupportedError:
    functions = {frame.name for frame in traceback.extract_tb(error.__traceback__)}
    # nn.TransformerEncoder and nn.TransformerDecoder read the mask unless is_causal is passed.
    remedy = _CAUSAL if "_detect_is_causal_mask" in functions else _SHAPES
    return UnsupportedError(
        "the program depends on the values of a tensor", where=_place(error), remedy=remedy
    )


def _shape_depends_on_values(error: BaseException) -> UnsupportedError:
    return UnsupportedError(
        f"{_operator(error)} is not supported: the size of its result depends on values",
        where=_place(error),
        remedy=_SHAPES,
    )


def _not_dense(error: BaseException) -> UnsupportedError:
    return UnsupportedError(
        f"{_operator(error)} is not supported: PyTorch cannot trace it",
        where=_place(error),
        remedy="use dense tensors, neither quantised nor nested ones",
    )


def _shared_inputs(error: BaseException) -> UnsupportedError:
    return UnsupportedError(
        "two inputs share memory, and one of them is written in place", remedy="pass a copy"
    )


def _returned(error: BaseException) -> UsageError:
    return UsageError(
        f"the program returns a value of type {_type(error)}",
        remedy="return tensors and numbers, in tuples, lists, dicts or registered dataclasses",
    )


def _without_hash(error: BaseException) -> UsageError:
    """
    Return the error for a program that returns a value without a hash, which PyTorch 2.11 needs. If
    the exception has another cause, return its own error.
    """
    functions = {frame.name for frame in traceback.extract_tb(error.__traceback__)}
    return _returned(error) if "is_opaque_type" in functions else error_of(error)


def _given(error: BaseException) -> UsageError:
    return UsageError(
        f"an argument has the type {_type(error)}, which is not supported",
        remedy="bind it in a function: lambda x: function(x, ...)",
    )


def _type(error: BaseException) -> str:
    """Return the name of the class in the message of a PyTorch exception."""
    return re.findall(r"(?:<class|unhashable type:) '(?:.*\.)?(\w+)'", str(error))[0]


def _constant(error: BaseException) -> UnsupportedError:
    name = re.findall(r"Constant (\S+) is", str(error))[0]
    if name.startswith("lifted_tensor_"):  # PyTorch's name for a tensor outside modules
        return UnsupportedError(
            "the program writes to a tensor that is neither an input nor in a module",
            remedy="pass it in, or make it a buffer of a module",
        )
    return UnsupportedError(
        f"the program writes to {name!r}, a tensor that is not a buffer",
        remedy=f"register_buffer({name!r}, ...)",
    )


def _operator(error: BaseException) -> str:
    names = re.findall(r"\b\w+\.\w+\.\w+\b", str(error).partition("\n")[0])
    return names[0] if names else "an operator"


def _place(error: BaseException) -> str:
    return str(place_of_exception(error) or "")


_KNOWN: tuple[tuple[str, str, Callable[[BaseException], TilewrightError]], ...] = (
    ("AttributeError", "'Tensor' object has no attribute 'constant'", lambda error: gradient()),
    ("AssertionError", "Expected FakeTensor, got", lambda error: gradient()),  # PyTorch 2.11
    ("", "Expected a real tensor, not a FakeTensor", lambda error: untraced_error()),
    ("", "a fake tensor in the exported program", lambda error: untraced_error()),
    ("DynamicOutputShapeException", "", _shape_depends_on_values),
    ("GuardOnDataDependentSymNode", "", _depends_on_values),
    ("DataDependentOutputException", "", _depends_on_values),
    ("PendingUnbackedSymbolNotFound", "", _depends_on_values),
    ("UnsupportedFakeTensorException", "", _not_dense),
    ("UnsupportedOperatorException", "", _not_dense),
    ("AssertionError", "expected compiled_fn to be GraphModule", _shared_inputs),
    ("AssertionError", "num_mutated_inp_runtime_indices", lambda error: form_error("an input")),
    ("AssertionError", "Encountered a set_", lambda error: form_error("an input")),
    ("RuntimeError", "is mutated in the forward method", _constant),
    ("RuntimeError", "in output, which is not a known type", _returned),
    ("TypeError", "unhashable type: '", _without_hash),
    ("ValueError", "Unsupported input type <class", _given),
)
"""
Known exceptions of PyTorch 2.11 to 2.13: a part of the class name, a part of the message, and the
function that makes the error.
"""


def error_of_export(error: BaseException) -> TilewrightError:
    """Return the error about the user's program that an exception of `torch.export` stands for."""
    for kind, words, meaning in _KNOWN:
        if kind in type(error).__name__ and words in str(error):
            return meaning(error)
    return error_of(error)
