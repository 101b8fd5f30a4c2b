# SPDX-License-Identifier: Apache-2.0
"""Uses that a pass left behind: by ops that it built or detached, and did not insert or erase."""

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue


def assert_no_dangling_uses(module: Operation, made_by: str) -> None:
    """Whoever uses a value of `module` is in it; `made_by` is the pass to blame."""
    attached = set(module.walk())
    users = {use.operation for value in _values(module) for use in value.uses}
    assert users <= attached, f"after {made_by}: {sorted(op.name for op in users - attached)}"


def _values(module: Operation) -> Iterator[SSAValue]:
    for op in module.walk():
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args
