# SPDX-License-Identifier: Apache-2.0
"""
Values of a model's tensors, and of the arguments of programs that were captured from it.

Parameters and saved buffers come from the checkpoint, all others from the model's own
initialisation. Tied weights, such as the token embeddings before and after the layers, are one
tensor, whichever of its names it was saved under.

The names of tensors in a checkpoint are matched with the model's as `transformers` does it
(`modeling_utils.py`, `core_model_loading.py`). A checkpoint of a base model lacks the prefix that
the base has in the causal language model: GPT-2's on the hub says `wte.weight`, its model
`transformer.wte.weight`. A checkpoint of a larger model may have a prefix too many. Old checkpoints
hold tensors that models now compute or do not use.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.aten import dtype_name
from tilewright.frontend.capture import Captured
from tilewright.frontend.signature import Input
from tilewright.models.buffers import rebuilt_buffers
from tilewright.models.checkpoint import Checkpoint, TensorKind
from tilewright.models.checkpoint_fit import check_fit

_FORMER = (r"\.attn\.masked_bias$",)
"""Patterns for the names of GPT-2 tensors that `transformers` reports and does not use."""


def weights_of(
    captured: Captured,
    model: Any,
    checkpoint: Checkpoint,
    dtype: str | None = None,
    whole: Any = None,
) -> list[Any]:
    """
    Return the values of all inputs of a captured program except the user's, in order, from a
    checkpoint.

    The program is one of `model`, or of a module that contains it. Raises the errors of
    `model_tensors`.
    """
    return arguments_of(captured, model_tensors(model, checkpoint, dtype, whole))


def model_tensors(
    model: Any,
    checkpoint: Checkpoint,
    dtype: str | None = None,
    whole: Any = None,
    device: str = "cpu",
) -> dict[str, Any]:
    """
    Return the parameters and buffers of a model of `transformers`, by name, on a device. The model
    may consist of fake tensors.

    Floats must be stored in the model's dtypes unless a `dtype` is given: then they are converted.
    Tensors that are neither converted nor moved have the file's memory. `whole` is the model that
    the checkpoint is of, if `model` has fewer layers. Raises `UsageError` with all problems, before
    any value is read, if the checkpoint does not fit the model.
    """
    stored, extra = _match_names(model if whole is None else whole, checkpoint.tensors)
    state: dict[str, Any] = model.state_dict(keep_vars=True)
    sources = {names[0]: _source(names, stored) for names in tied_names(state)}
    check_fit(
        checkpoint.folder,
        {name: checkpoint.tensors[keys[0]] for name, keys in sources.items() if keys},
        {name: _kind(state[name]) for name in sources},
        lacking=[name for name, keys in sources.items() if not keys],
        extra=extra,
        converts=dtype is not None,
    )
    tensors = {name: buffer.to(device) for name, buffer in rebuilt_buffers(model).items()}
    for names in tied_names(state):
        value = _one_of(checkpoint, sources[names[0]]).to(device, state[names[0]].dtype)
        tensors |= dict.fromkeys(names, value)
    return tensors


def arguments_of(captured: Captured, tensors: Mapping[str, Any]) -> list[Any]:
    """
    Return the values of all inputs of a captured program except the user's, in order, from a
    model's `tensors`.
    """
    return [_argument(input, tensors) for input in captured.inputs if input.kind != "input"]


def weight_bytes(model: Any) -> int:
    """Return the bytes of the tensors in a model's state; tied weights count once."""
    state: dict[str, Any] = model.state_dict(keep_vars=True)
    return sum(state[names[0]].nbytes for names in tied_names(state))


def tied_names(state: Mapping[str, Any]) -> list[list[str]]:
    """
    Return one list of names for each tensor of a model's state; tied weights have several names.
    """
    names: dict[int, list[str]] = {}
    for name, tensor in state.items():
        names.setdefault(id(tensor), []).append(name)
    return [*names.values()]


def _argument(input: Input, tensors: Mapping[str, Any]) -> Any:
    from torch._subclasses.fake_tensor import FakeTensor

    names = () if input.kind == "constant" else _suffixes(input.name)
    if (name := next((n for n in names if n in tensors), None)) is not None:
        return tensors[name]
    if isinstance(input.tensor, FakeTensor):
        raise UnsupportedError(f"the {input.kind} '{input.name}' of the program has no values")
    return input.tensor


def _suffixes(name: str) -> Iterator[str]:
    """Yield a path in a module and all its shorter endings: `a.b.c`, `b.c`, `c`."""
    parts = name.split(".")
    return (".".join(parts[start:]) for start in range(len(parts)))


def _source(names: Sequence[str], stored: Mapping[str, list[str]]) -> list[str]:
    """Return the names in the checkpoint of the tensor that is called `names` in the model."""
    return [key for name in names for key in stored.get(name, ())]


def _one_of(checkpoint: Checkpoint, keys: Sequence[str]) -> Any:
    """
    Return the tensor that is stored under all of `keys`. Raises `UsageError` if they hold different
    tensors.
    """
    import torch

    first, *others = (checkpoint.tensor(key) for key in keys)
    for key, other in zip(keys[1:], others, strict=True):
        if not torch.equal(first, other):
            raise UsageError(
                f"{keys[0]} and {key} are one tensor of the model, but differ in its checkpoint",
                remedy="check tie_word_embeddings in config.json",
            )
    return first


def _kind(tensor: Any) -> TensorKind:
    return TensorKind(tuple(tensor.shape), dtype_name(tensor.dtype))


class _Names(NamedTuple):
    """Names of a checkpoint, matched with those of a model."""

    stored: dict[str, list[str]]
    """
    Names of tensors in the checkpoint, by the model's name of the tensor; each tensor should have
    one name.
    """
    extra: list[str]
    """Names in the checkpoint that the model does not know."""


def _match_names(model: Any, stored: Iterable[str]) -> _Names:
    """
    Return the names of a checkpoint by the names of a model of `transformers` that they stand for,
    and the names without one.
    """
    own = model.state_dict().keys()
    found = _Names({}, [])
    ignored = _ignored(model)
    for name in stored:
        mine = _name_in(own, name, f"{model.base_model_prefix}.")
        if mine in own:
            found.stored.setdefault(mine, []).append(name)
        elif not any(re.search(pattern, mine) for pattern in ignored):
            found.extra.append(name)
    return found


def _name_in(own: Iterable[str], name: str, prefix: str) -> str:
    """
    Return the model's name for the checkpoint's `name`: without or with `prefix`, if that is one of
    `own`; else `name`.
    """
    without = name.removeprefix(prefix)
    return next((n for n in (without, f"{prefix}{name}") if n in own), name)


def _ignored(model: Any) -> list[str]:
    """Return patterns of names that a checkpoint may have and that are not read."""
    buffers = [name for name, _ in model.named_buffers()]
    patterns = [*(model._keys_to_ignore_on_load_unexpected or ()), *_FORMER]
    if any(name.endswith("rotary_emb.inv_freq") for name in buffers):
        patterns.append(r"rotary_emb\.inv_freq")
    if any(name.endswith("position_ids") for name in buffers):
        patterns.append(r"(^|\.)position_ids$")
    return patterns
