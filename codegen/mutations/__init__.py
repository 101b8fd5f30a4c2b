# SPDX-License-Identifier: Apache-2.0
"""
Mutations: bugs planted in kernels by rule, which the interpreter and the simulator must find.

A mutation changes one operation of Kernel IR in place, or one place of the CUDA text. The result
may be invalid. If the verifier or the lowering refuses it, it is no mutant, as it cannot run.
"""

from collections.abc import Iterator

from xdsl.ir import Operation

from tilewright.codegen.mutations.accesses import ACCESSES
from tilewright.codegen.mutations.blocks import BLOCKS, VALUES
from tilewright.codegen.mutations.matrices import MATRICES
from tilewright.codegen.mutations.mutation import Mutation
from tilewright.codegen.mutations.synchronisation import SHUFFLES, SYNCHRONISATION
from tilewright.codegen.mutations.text import planted_texts
from tilewright.codegen.mutations.warpgroups import MATRICES_OF_GROUPS, WARPGROUPS

__all__ = ["Mutation", "mutations", "planted_texts"]


_TABLES = (
    (SYNCHRONISATION, False),
    (SHUFFLES, True),
    (BLOCKS, False),
    (VALUES, True),
    (ACCESSES, True),
    (MATRICES, True),
    (WARPGROUPS, False),
    (MATRICES_OF_GROUPS, True),
)
"""Tables of rules, each with true if its bugs are of values; a rule may be in tables of both."""

_RULES = tuple(
    (type, rules, is_of_values) for table, is_of_values in _TABLES for type, rules in table.items()
)


def mutations(op: Operation) -> Iterator[Mutation]:
    """
    Yield all mutations of `op`; there are some only for ops that synchronise, access memory or
    control the flow.
    """
    for type, rules, is_of_values in _RULES:
        if isinstance(op, type):
            for rule in rules:
                yield from (each._replace(is_of_values=is_of_values) for each in rule(op))
