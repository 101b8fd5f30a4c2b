# SPDX-License-Identifier: Apache-2.0
"""
The questions that the options of a pass answer, so that a search can decide them one by one.

An option with one value is a question: `register-tile{fm=8 fn=4}` answers `fm` and `fn`. An option
that lists names asks about each of them: `stage-inputs{raw=x,w transposed=w}` answers that `x` is
`raw` and `w` is `raw transposed`.

A register tile has a few hundred combinations of options, most of them bad for the same few
reasons. With one question at a time, the search learns only once what `fm=1` costs.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from tilewright.passes.driver.pipeline_string import text_of
from tilewright.passes.tile.scheduling_pass import SchedulingPass

OMITTED = "left out"
"""Answer to the first question of a pass that is skipped: `async-copy left out`."""

UNANSWERED = "-"
"""
Answer of a choice whose options do not mention a question, for example a slab that is not a box.
"""

Choice = TypeVar("Choice", bound=SchedulingPass | None)


def aspects(choice: SchedulingPass) -> dict[str, str]:
    """Return each question that the options answer, with the answer."""
    answers: dict[str, list[str]] = {}
    for option, values in choice.options().items():
        if isinstance(getattr(choice, option), tuple):
            for name in values:
                answers.setdefault(f"{choice.name} {name}", []).append(option)
        else:
            answers[f"{choice.name} {option}"] = [*map(text_of, values)]
    return {question: " ".join(answer) for question, answer in answers.items()}


def split(choices: Sequence[Choice]) -> Mapping[str, list[Choice]]:
    """
    Group choices by their answers to the first question on which they differ, in the order of the
    first occurrence. If all choices have the same answers, only the first is kept.
    """
    answers = [None if choice is None else aspects(choice) for choice in choices]
    questions = dict.fromkeys(q for answer in answers if answer is not None for q in answer)
    name = next((choice.name for choice in choices if choice is not None), "")
    question = next((q for q in questions if _differ(q, answers)), "")
    parts: dict[str, list[Choice]] = {}
    for choice, answer in zip(choices, answers, strict=True):
        parts.setdefault(_label(name, question, answer), []).append(choice)
    return parts if question else {label: part[:1] for label, part in parts.items()}


def _differ(question: str, answers: Iterable[Mapping[str, str] | None]) -> bool:
    return len({None if answer is None else answer.get(question) for answer in answers}) > 1


def _label(name: str, question: str, answer: Mapping[str, str] | None) -> str:
    if answer is None:
        return f"{name} {OMITTED}"
    return f"{question}={answer.get(question, UNANSWERED)}" if question else name
