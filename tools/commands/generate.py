# SPDX-License-Identifier: Apache-2.0
"""Command `tilewright generate`: continue a text with a language model, token by token."""

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

from tilewright.codegen.execution import backend_for
from tilewright.codegen.gpu import target_for
from tilewright.errors import UsageError
from tilewright.models.checkpoint import Checkpoint
from tilewright.models.config import find_model
from tilewright.models.generation import Generator
from tilewright.models.generation_config import FILE, GenerationConfig, generation_config_of
from tilewright.models.sampling import Choose, Sampling, greedy, penalised, sampler
from tilewright.models.structure import build
from tilewright.models.weights import model_tensors
from tilewright.stages import stage
from tilewright.tools.input.prompts import prompt_of, weights_folder
from tilewright.tools.model_runs import Compiler, check_room, device_of, interpreted
from tilewright.tools.options.database import database_of
from tilewright.tools.output.token_stream import Clock, print_summary, print_tokens
from tilewright.tools.toolkit import use_cuda_home


def run(args: argparse.Namespace) -> int:
    """Print the new tokens as they are generated; return 0."""
    use_cuda_home()
    choose = _choose(args)
    found = find_model(args.model)
    folder = weights_folder(found)
    prompt = prompt_of(args, folder, found.config.vocab_size)
    asked = generation_config_of(found.config, folder)
    _warn_of_ignored(asked)
    choose = penalised(choose, _penalty(args, asked))
    with stage("build the model"):
        model = build(found.config, dtype=args.dtype)
    with stage("read weights"):
        generator = _generator(args, model, folder)
    clock = Clock(generator.tokens(prompt.tokens, args.max_new_tokens, choose, asked.ends))
    print_tokens(clock, prompt.tokenizer)
    if args.verbose:
        print_summary(generator, clock)
    return 0


def _choose(args: argparse.Namespace) -> Choose:
    given = {"temperature": args.temperature, "top_k": args.top_k, "top_p": args.top_p}
    asked = {name: value for name, value in given.items() if value is not None}
    if not asked and args.seed is not None:
        remedy = "--temperature, --top-k or --top-p requests sampling"
        raise UsageError("--seed needs sampling, but the likeliest token is taken", remedy=remedy)
    return sampler(Sampling(**asked, seed=args.seed or 0)) if asked else greedy


def _warn_of_ignored(asked: GenerationConfig) -> None:
    if asked.ignored:
        names = ", ".join(asked.ignored)
        print(f"warning: settings in {FILE} are ignored: {names}", file=sys.stderr)


def _penalty(args: argparse.Namespace, asked: GenerationConfig) -> float:
    """Return the repetition penalty of the command line, or else of the model."""
    given = args.repetition_penalty
    return asked.repetition_penalty if given is None else given


def _generator(args: argparse.Namespace, model: Any, folder: Path) -> Generator:
    """Return the generator, with the model's weights on the device of the kernels."""
    checkpoint = Checkpoint.open(folder)
    if args.device == "interpreter":
        run = partial(interpreted, precision=args.matmul_precision)
        return Generator(model, run, model_tensors(model, checkpoint, args.dtype))
    target = target_for(args.target)
    backend = backend_for(args.device, target)
    device = device_of(backend)
    check_room(model, device)
    tensors = model_tensors(model, checkpoint, args.dtype, device=device)
    compiler = Compiler(backend, target, database_of(args), args.matmul_precision)
    return Generator(model, compiler, tensors, device)
