# SPDX-License-Identifier: Apache-2.0
"""Program of `tilewright run MODEL --prompt TEXT`: a language model on a prompt."""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.arrays import array_of
from tilewright.codegen.execution import Backend
from tilewright.codegen.simulator_backend import check_simulation_size
from tilewright.errors import UsageError
from tilewright.frontend.capture import Captured
from tilewright.frontend.reference import perturbed
from tilewright.interpreters.program import Program
from tilewright.models.checkpoint import Checkpoint
from tilewright.models.expected_logits import ExpectedLogits
from tilewright.models.prompt import Prompt
from tilewright.models.structure import build
from tilewright.models.weights import weights_of
from tilewright.models.whole import whole_sequence
from tilewright.tools.input.prompts import prompt_of, weights_folder
from tilewright.tools.input.source import ModelSource
from tilewright.tools.model_runs import check_room, device_of
from tilewright.tools.output.progress import ReportStage
from tilewright.tools.program import coarse_function, unjudged_program

Array = NDArray[Any]

_EXCLUDED_BY_PROMPT = {
    "seq_len": "--seq-len",
    "inputs": "--inputs",
    "against": "--against",
    "blocks": "--blocks",
    "bench": "--bench",
    "profile": "--profile",
}
"""Options of `run` that cannot be combined with a prompt, by their `dest`."""


def prompted_program(
    source: ModelSource, args: argparse.Namespace, backend: Backend, report_stage: ReportStage
) -> tuple[Prompt, Program]:
    """
    Return the prompt and the model's program for it, with expected results only if `--check` is
    given.

    Raises `UsageError` for an invalid prompt or a checkpoint of another model, and
    `SimulationTooLarge` if only a GPU can run the program within minutes.
    """
    model = source.language_model(report_stage)
    folder = weights_folder(model.found)
    prompt = prompt_of(args, folder, model.structure.config.vocab_size)
    checkpoint = Checkpoint.open(folder)
    check_room(model.structure, device_of(backend))
    whole = whole_sequence(model.structure, len(prompt.tokens))
    report_stage("capture")
    captured = source.capture(whole)
    check_simulation_size(backend, model.found.name, captured.module)
    report_stage("weights")
    # The checkpoint has more weights than a model that is cut to its first layers.
    full = build(model.found.config) if source.layers else None
    weights = weights_of(captured, model.structure, checkpoint, source.dtype, full)
    inputs = _inputs(captured, prompt, weights)
    if args.check == "none":
        return prompt, unjudged_program(captured.module, inputs)
    expected = ExpectedLogits(folder, model.structure, prompt.tokens)
    return prompt, _judged(captured, expected, inputs)


def check_prompt_options(source: ModelSource, args: argparse.Namespace) -> None:
    """Raise `UsageError` for options of `run` that cannot be combined with a prompt."""
    for option, spelled in _EXCLUDED_BY_PROMPT.items():
        if getattr(args, option):
            raise UsageError(f"{spelled} cannot be combined with a MODEL's prompt")
    if args.prompt is None and args.prompt_ids is None:
        remedy = "--prompt TEXT or --prompt-ids 1,2,3"
        raise UsageError(f"'{source.text}' is a model, which needs a prompt", remedy=remedy)


def _inputs(captured: Captured, prompt: Prompt, weights: Sequence[Any]) -> list[Array]:
    """
    Return the program's inputs: the prompt's tokens, and the weights in the order of the program.
    """
    stored = iter(weights)
    ids = np.array([prompt.tokens], np.int64)
    return [ids if i.kind == "input" else array_of(next(stored)) for i in captured.inputs]


def _judged(captured: Captured, expected: ExpectedLogits, inputs: Sequence[Array]) -> Program:
    """Return the program with `transformers` as the reference for its results."""
    return Program(
        captured.module,
        exact=lambda arrays: [expected.exact()],
        perturbed=lambda arrays, roundings: perturbed(captured, arrays, roundings),
        rounded=lambda arrays: [expected.rounded()],
        rounded_by="transformers",
        inputs=inputs,
        coarse=coarse_function(captured),
    )
