# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of losses."""

from collections.abc import Iterator
from math import nan
from typing import Any

from tilewright.dialects import torch as T
from tilewright.dialects.torch.op import TorchOp

from .dtypes import dtypes_of
from .inputs import COLUMN, ROW, SPECIAL, Cases, Classes, pytorch, rand, tensor

NONE, MEAN, SUM = T.NONE, T.MEAN, T.SUM
_REDUCTIONS = (NONE, MEAN, SUM)


def _unit(*shape: int) -> Any:
    """Return elements from 0 to 1, as of probabilities."""
    return rand(*shape).sigmoid()


def _reduced(*args: Any, **kwargs: Any) -> list[tuple[Any, ...]]:
    """Return one case for each reduction."""
    return [(*args, {"reduction": reduction, **kwargs}) for reduction in _REDUCTIONS]


def _halves(op: type[TorchOp], x: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    for dtype in dtypes_of(op):
        kind = getattr(pytorch, dtype)
        yield x.to(kind), y.to(kind)


def _pairs(op: type[TorchOp]) -> list[tuple[Any, ...]]:
    """Return cases for losses of any two numbers."""
    return [
        *_reduced(rand(4, 8), rand(4, 8)),
        *_reduced(rand(), rand()),
        *_reduced(rand(0, 3), rand(0, 3)),
        *_reduced(rand(2, 1, 5), rand(3, 1)),
        (COLUMN, ROW, {"reduction": NONE}),
        *_halves(op, rand(4, 8), rand(4, 8)),
        *((*pair, NONE) for pair in _halves(op, rand(4, 8), rand(4, 8))),
        (rand(4, 8), rand(4, 8)),
    ]


_ENDS = tensor([0.0, 1.0, 1e-30, 0.5, 1.0])
_BERNOULLI = tensor([0.0, 0.0, 1.0, 0.25, 1.0])
_WEIGHT = _unit(5)
_CLASSES = pytorch.tensor([4, 0, -100, 2])
_PIXELS = pytorch.tensor([[[0, 1, 2], [4, 3, -100]], [[-100, 1, 1], [2, 0, 4]]])
_IGNORED = pytorch.tensor([-100, -100])


def _by_class() -> list[tuple[Any, ...]]:
    """Return cases whose targets are classes: with dimensions and without, weighted, ignored."""
    scores = rand(4, 5).log_softmax(1)
    return [
        *_reduced(scores, _CLASSES),
        *_reduced(scores, _CLASSES, weight=_WEIGHT),
        *_reduced(scores, pytorch.tensor([4, 0, 7, 2]), ignore_index=7),
        *_reduced(scores, pytorch.tensor([4, 0, 1, 1]), weight=_WEIGHT, ignore_index=1),
        *_reduced(rand(5), pytorch.tensor(3)),
        *_reduced(rand(5), pytorch.tensor(3), weight=_WEIGHT),
        *_reduced(rand(2, 5, 2, 3), _PIXELS),
        *_reduced(rand(2, 5, 2, 3), _PIXELS, weight=_WEIGHT),
        *_reduced(rand(2, 5, 6), _PIXELS.reshape(2, 6)),
        *_reduced(rand(2, 5, 2, 3, 1), _PIXELS[..., None]),
        *_reduced(rand(2, 5), _IGNORED),
        *_reduced(rand(0, 5), _IGNORED[:0]),
        (scores, pytorch.tensor([4, 0, 1, 2], dtype=pytorch.uint8)),
        *((rand(4, 5).to(kind), _CLASSES) for kind in (pytorch.float64, pytorch.bfloat16)),
    ]


def _by_probability() -> list[tuple[Any, ...]]:
    target = rand(4, 5).softmax(1)
    return [
        *_reduced(rand(4, 5), target),
        *_reduced(rand(4, 5), target, weight=_WEIGHT),
        *_reduced(rand(4, 5), target, weight=_WEIGHT, label_smoothing=0.2),
        *_reduced(rand(4, 5), target, label_smoothing=1.0),
        *_reduced(rand(5), target[0], weight=_WEIGHT),
        *_reduced(rand(2, 5, 3), rand(2, 5, 3).softmax(1), label_smoothing=0.1),
        *((rand(4, 5).to(k), target.to(k)) for k in (pytorch.float64, pytorch.float16)),
    ]


def _smoothed() -> list[tuple[Any, ...]]:
    return [
        *_reduced(rand(4, 5), _CLASSES, label_smoothing=0.2),
        *_reduced(rand(4, 5), _CLASSES, weight=_WEIGHT, label_smoothing=0.2),
        *_reduced(rand(2, 5, 2, 3), _PIXELS, weight=_WEIGHT, label_smoothing=0.1),
        *_reduced(rand(4, 5), pytorch.tensor([4, 0, 1, 2]), ignore_index=0, label_smoothing=1.0),
        *_reduced(rand(5), pytorch.tensor(3), label_smoothing=0.3),
    ]


CASES: Cases = {
    T.MseLossOp: _pairs(T.MseLossOp),
    T.L1LossOp: _pairs(T.L1LossOp),
    T.SmoothL1LossOp: [
        *_pairs(T.SmoothL1LossOp),
        *_reduced(rand(4, 8), rand(4, 8), beta=0.3),
        *_reduced(rand(4, 8), rand(4, 8), beta=0.0),
    ],
    T.HuberLossOp: [
        *_pairs(T.HuberLossOp),
        *_reduced(rand(4, 8), rand(4, 8), delta=0.3),
        (tensor([1.0]), tensor([2.0]), {"reduction": NONE}),
    ],
    T.KlDivOp: [
        *_reduced(rand(4, 8), _unit(4, 8)),
        *_reduced(rand(4, 8), rand(4, 8), log_target=True),
        *_reduced(rand(3, 1), _unit(4)),
        (rand(4), tensor([0.0, -0.0, 1.0, nan]), {"reduction": NONE}),
        (tensor([0.0, -1e30, 1.0, nan]), _unit(4), {"reduction": NONE}),
        (rand(), _unit()),
        *_halves(T.KlDivOp, rand(4, 8), _unit(4, 8)),
    ],
    T.BinaryCrossEntropyOp: [
        *_reduced(_unit(4, 8), _unit(4, 8)),
        *_reduced(_unit(4, 8), _unit(4, 8), weight=_unit(8)),
        (_ENDS, _BERNOULLI, None, NONE),
        (_ENDS, _BERNOULLI, _unit(5), SUM),
        (_unit(), _unit()),
        *_halves(T.BinaryCrossEntropyOp, _unit(4, 8), _unit(4, 8)),
    ],
    T.BinaryCrossEntropyWithLogitsOp: [
        *_reduced(rand(4, 8), _unit(4, 8)),
        *_reduced(rand(4, 8), _unit(4, 8), weight=_unit(4, 1)),
        *_reduced(rand(4, 8), _unit(4, 8), pos_weight=_unit(8)),
        *_reduced(rand(4, 8), _unit(4, 8), weight=_unit(8), pos_weight=_unit(4, 1)),
        (SPECIAL, _unit(15), None, None, NONE),
        (rand(), _unit()),
        *_halves(T.BinaryCrossEntropyWithLogitsOp, rand(4, 8), _unit(4, 8)),
    ],
    T.CosineSimilarityOp: [
        (rand(4, 8), rand(4, 8)),
        (rand(4, 8), rand(8), {"dim": -1}),
        (rand(4, 1, 3), rand(2, 3), {"dim": 0}),
        (rand(4, 8) * 1e-6, rand(4, 8), 1, 1e-3),
        (rand(5), rand(5), 0),
        (pytorch.zeros(2, 3), rand(2, 3)),
        (rand(2, 0), rand(2, 0)),
        (rand(4, 1), rand(4, 1)),
        # PyTorch rounds the vectors to half types before it adds them: terms must not cancel.
        *_halves(T.CosineSimilarityOp, _unit(4, 8), _unit(4, 8)),
    ],
    T.NllLossOp: _by_class(),
    T.CrossEntropyLossOp: [*_by_class(), *_by_probability(), *_smoothed()],
}

INEXACT: Classes = (*T.ops_of(T.loss),)
