# SPDX-License-Identifier: Apache-2.0
"""
Mutants of IR, each of which depends only on a seed and its number.

For most mutants, several texts are drawn until one verifies, so that about half of all mutants
reach a pass.
"""

from dataclasses import dataclass
from functools import cache
from itertools import groupby
from random import Random

from xdsl.utils.exceptions import ParseError, VerifyException

from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.verification import verify_module
from tilewright.tools.fuzz.ir_corpus import Sample, samples_of_expressions, samples_of_tests
from tilewright.tools.fuzz.text_mutations import Vocabulary, mutated
from tilewright.tools.input.mlir_source import SourceParser

_MOST_DRAWS = 4


@dataclass(frozen=True)
class Mutant:
    """Mutated text, with the options of opt-tool for it."""

    origin: str
    text: str
    options: tuple[str, ...]


_LITTLE_WORK = "--check-limit=10000000"


@cache
def corpus(expressions: bool) -> tuple[tuple[Sample, ...], ...]:
    """
    Return all samples in groups by origin. Mutants draw a group first, so that a file of many small
    cases weighs as much as any other.
    """
    samples = samples_of_tests() + (samples_of_expressions() if expressions else ())
    return tuple(tuple(group) for _, group in groupby(samples, key=lambda sample: sample.origin))


@cache
def vocabulary(expressions: bool) -> Vocabulary:
    """Return the vocabulary of all samples."""
    return Vocabulary.of([sample.text for group in corpus(expressions) for sample in group])


def mutant(seed: int, number: int, expressions: bool = True) -> Mutant:
    """Return mutant number `number` of a seed."""
    random = Random(f"{seed}:{number}")
    groups = corpus(expressions)
    sample = random.choice(random.choice(groups))
    others = sample if random.random() < 0.9 else random.choice(random.choice(groups))
    options = random.choice(others.options)
    if random.random() < 0.1 and "--check=each" not in options:
        options = (*options, "--check=each")
    if "--check=each" in options:  # else many slow passes count as a hang
        options = (*options, _LITTLE_WORK)
    words, draws = vocabulary(expressions), random.choices((1, _MOST_DRAWS), (0.3, 0.7))[0]
    text = sample.text
    for _ in range(draws):
        text = mutated(sample.text, words, random)
        if draws == 1 or _verifies(text):
            break
    return Mutant(sample.origin, text, options)


def _verifies(text: str) -> bool:
    """True if the text is well-formed IR, or if the verifier fails with an internal error."""
    parser = SourceParser(context(), text, "mutant.mlir")
    try:
        verify_module(parser.parse_module())
    except (ParseError, VerifyException):
        return False
    except Exception:
        return True
    return True
