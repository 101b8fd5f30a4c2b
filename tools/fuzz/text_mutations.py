# SPDX-License-Identifier: Apache-2.0
"""
Mutations of IR as text. Most of them keep the syntax, and about half keep the types valid, so that
many mutants parse and verify. The other mutations break the text.

Each mutation takes a text and a `random.Random` and returns a text; `mutated` applies a few.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tilewright.tools.fuzz.line_mutations import (
    delete_line,
    duplicate_line,
    empty_region,
    splice_lines,
    swap_lines,
)

Mutation = Callable[[str, Random], str]

_EXTENT = r"(?<=x)\d+(?=x)|(?<=<)\d+(?=x)"
_NUMBER = re.compile(rf"(?<![\w%@#.^])-?\d+(?![\w.])|{_EXTENT}")
_FLOAT = re.compile(r"(?<![\w%@#.])-?\d+\.\d+(?:e[+-]?\d+)?")
_VALUE = re.compile(r"%\w+")
_DEFINED = re.compile(r"%\w+(?= =|:)")
_USE = re.compile(r"%\w+(?!\w|:| =)")
_FORWARDED = re.compile(r"^ *(%\w+) = (?:arith|math|prim|torch)\.\w+ (%\w+).*[^{]\n", re.MULTILINE)
_SYMBOL = re.compile(r"@\w+")
_TYPE = re.compile(r"(?:(?<=x)|\b)(?:bf16|f16|f32|f64|i1|i8|i32|i64|index)\b")
_OPERATION = re.compile(r"\b[a-z]\w*\.[a-z][\w.]*")
_WORD = re.compile(r"(?<![\w%@#.])[a-z_]\w*(?![\w.])")
_OPERATOR = re.compile(r" (?:[+*-]|floordiv|mod|ceildiv) ")
_TOKEN = re.compile(r"[%@#!^]?[\w.]+|[^\w\s]")
_PAIR = re.compile(r"(%?[\w.]+), (%?[\w.]+)")

_NUMBERS = (
    *(0, 1, -1, 2, 3, 7, 16, 31, 32, 33, 1000, 2**31 - 1, 2**31, 2**32 + 1, 2**40),
    *(2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**31), -(2**63), -(2**63) - 1, 10**40),
)
_FLOATS = ("0.0", "-0.0", "1.0", "-1.0", "1e-45", "70000.0", "1e39", "1e308", "1e400", "0x7F800000")
_TYPES = ("f16", "bf16", "f32", "f64", "i1", "i8", "i32", "i64", "index")
_OPERATORS = (" + ", " - ", " * ", " floordiv ", " mod ", " ceildiv ")


@dataclass(frozen=True)
class Vocabulary:
    """Words of other texts, which mutations may insert."""

    operations: Sequence[str]
    words: Sequence[str]
    texts: Sequence[str]

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Vocabulary":
        """Return the vocabulary of `texts`, with sorted words."""
        joined = "\n".join(texts)
        operations = sorted(set(_OPERATION.findall(joined)))
        return cls(operations, sorted(set(_WORD.findall(joined))), texts)


def mutated(text: str, vocabulary: Vocabulary, random: Random) -> str:
    """
    Return the text after one to three mutations, usually one; the result always differs from
    `text`.
    """
    original, rounds = text, random.choices((1, 2, 3), (7, 2, 1))[0]
    for _ in range(rounds):
        if text.strip():  # a mutation may delete the whole text
            text = _mutation(vocabulary, random)(text, random)
    return text if text != original else change_number(text, random)


def _mutation(vocabulary: Vocabulary, random: Random) -> Mutation:
    """Return a random mutation."""
    foreign: tuple[tuple[Mutation, int], ...] = (
        (lambda text, r: _one(_OPERATION, text, r, _relative(vocabulary.operations, r)), 4),
        (lambda text, r: _one(_WORD, text, r, lambda _: r.choice(vocabulary.words)), 2),
        (lambda text, r: splice_lines(text, r, r.choice(vocabulary.texts)), 2),
    )
    choices = (*MUTATIONS, *foreign)
    return random.choices([m for m, _ in choices], [weight for _, weight in choices])[0]


def _relative(operations: Sequence[str], random: Random) -> Callable[[str], str]:
    """Return a function that replaces an operation, usually by another one of its dialect."""

    def replacement(old: str) -> str:
        dialect = old.split(".")[0]
        near = [each for each in operations if each.startswith(f"{dialect}.")]
        return random.choice(near if near and random.random() < 0.8 else operations)

    return replacement


def _one(pattern: re.Pattern[str], text: str, random: Random, new: Callable[[str], str]) -> str:
    """
    Return the text with one random match of the pattern replaced by `new(match)`; unchanged without
    a match.
    """
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = random.choice(found)
    return text[: match.start()] + new(match[0]) + text[match.end() :]


def _number(old: str, random: Random) -> str:
    """
    Return a random number, often near the old one. Negative numbers are rarer, because few places
    accept them.
    """
    near = (int(old) + 1, int(old) - 1, int(old) * 2, int(old) // 2, -int(old))
    new = random.choice(near if random.random() < 0.5 else _NUMBERS)
    return str(abs(new) if random.random() < 0.5 else new)


def change_number(text: str, random: Random) -> str:
    """Return the text with one number changed; an extent of a type keeps its sign."""
    found = list(_NUMBER.finditer(text))
    if not found:
        return text
    match = random.choice(found)
    new = _number(match[0], random)
    new = new.lstrip("-") if text[match.start() - 1] in "<x" else new
    return text[: match.start()] + new + text[match.end() :]


def change_number_everywhere(text: str, random: Random) -> str:
    """Return the text with one number changed at all its places, which keeps shapes consistent."""
    found = sorted(set(_NUMBER.findall(text)))
    if not found:
        return text
    old = random.choice(found)
    new = _number(old, random).lstrip("-")
    return _NUMBER.sub(lambda match: new if match[0] == old else match[0], text)


def change_float(text: str, random: Random) -> str:
    """Return the text with one floating-point number changed."""
    return _one(_FLOAT, text, random, lambda _: random.choice(_FLOATS))


def change_type(text: str, random: Random) -> str:
    """Return the text with one element type changed."""
    return _one(_TYPE, text, random, lambda _: random.choice(_TYPES))


def change_type_everywhere(text: str, random: Random) -> str:
    """Return the text with one element type changed at all its places."""
    found = sorted(set(_TYPE.findall(text)))
    if not found:
        return text
    old, new = random.choice(found), random.choice(_TYPES)
    return _TYPE.sub(lambda match: new if match[0] == old else match[0], text)


def rename_use(text: str, random: Random) -> str:
    """Return the text with one use of a value replaced, usually by a value defined before."""
    found = list(_USE.finditer(text))
    if not found:
        return text
    match = random.choice(found)
    before = _DEFINED.findall(text[: match.start()])[-8:]
    values = before if before and random.random() < 0.8 else _VALUE.findall(text)
    return text[: match.start()] + random.choice(values) + text[match.end() :]


def forward_operand(text: str, random: Random) -> str:
    """
    Return the text without one operation; uses of its result are replaced by its first operand.
    """
    found = list(_FORWARDED.finditer(text))
    if not found:
        return text
    match = random.choice(found)
    rest = re.sub(rf"{match[1]}\b", match[2], text[match.end() :])
    return text[: match.start()] + rest


def rename_symbol(text: str, random: Random) -> str:
    """Return the text with one symbol replaced by another symbol of the text."""
    symbols = _SYMBOL.findall(text)
    return _one(_SYMBOL, text, random, lambda _: random.choice(symbols))


def change_operator(text: str, random: Random) -> str:
    """Return the text with one operator of an index expression changed."""
    return _one(_OPERATOR, text, random, lambda _: random.choice(_OPERATORS))


def swap_words(text: str, random: Random) -> str:
    """Return the text with two neighbours in a list swapped, such as two operands or two axes."""
    found = list(_PAIR.finditer(text))
    if not found:
        return text
    match = random.choice(found)
    return f"{text[: match.start()]}{match[2]}, {match[1]}{text[match.end() :]}"


def swap_tokens(text: str, random: Random) -> str:
    """Return the text with two tokens swapped, at any places."""
    found = list(_TOKEN.finditer(text))
    if len(found) < 2:
        return text
    first, second = sorted(random.sample(found, 2), key=lambda match: match.start())
    between = text[first.end() : second.start()]
    return f"{text[: first.start()]}{second[0]}{between}{first[0]}{text[second.end() :]}"


def delete_token(text: str, random: Random) -> str:
    """Return the text without one token."""
    return _one(_TOKEN, text, random, lambda _: "")


MUTATIONS: tuple[tuple[Mutation, int], ...] = (
    (change_number, 16),
    (change_number_everywhere, 30),
    (change_float, 4),
    (change_type, 1),
    (change_type_everywhere, 8),
    (rename_use, 10),
    (forward_operand, 12),
    (rename_symbol, 2),
    (change_operator, 10),
    (swap_words, 6),
    (swap_tokens, 1),
    (delete_token, 1),
    (delete_line, 4),
    (duplicate_line, 5),
    (swap_lines, 3),
    (empty_region, 2),
)
"""Mutations, each with its relative frequency."""
