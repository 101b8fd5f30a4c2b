# SPDX-License-Identifier: Apache-2.0
"""
Uses that a pass leaves behind: by ops that it built but did not insert, or detached but did not
erase.
"""

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue


def assert_no_dangling_uses(module: Operation, made_by: str) -> None:
    """
    Check that every op that uses a value of `module` is inside it; `made_by` names the pass that is
    blamed.
    """
    attached = set(module.walk())
    users = {use.operation for value in _values(module) for use in value.uses}
    assert users <= attached, f"after {made_by}: {sorted(op.name for op in users - attached)}"


def _values(module: Operation) -> Iterator[SSAValue]:
    for op in module.walk():
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args
