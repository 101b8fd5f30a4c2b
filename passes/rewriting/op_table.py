# SPDX-License-Identifier: Apache-2.0
"""Tables of patterns or handlers by the class of an op, in parts that are loaded when needed."""

from collections.abc import Mapping, Sequence
from pkgutil import resolve_name
from typing import Generic, TypeVar

from xdsl.ir import Operation

Value = TypeVar("Value")


class OpTable(Generic[Value]):
    """Table by the class of an op; a part of it is loaded for the first op that it may contain."""

    def __init__(
        self,
        loaded: Mapping[type[Operation], Value],
        parts: Mapping[str, Sequence[str]],
    ):
        """
        Create a table with the values that are `loaded`, and with `parts`: paths of tables such as
        `package.module:TABLE`, by the module that defines the ops.
        """
        self._known: dict[type[Operation], Value | None] = dict(loaded)
        self._parts = parts

    def get(self, kind: type[Operation]) -> Value | None:
        """Return the value for ops of the class `kind`, or None."""
        if kind not in self._known:
            self._known[kind] = self._found(kind)
        return self._known[kind]

    def _found(self, kind: type[Operation]) -> Value | None:
        for path in self._parts.get(kind.__module__, ()):
            part: Mapping[type[Operation], Value] = resolve_name(path)
            if kind in part:
                return part[kind]
        return None
