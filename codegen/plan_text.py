# SPDX-License-Identifier: Apache-2.0
"""
A launch plan as text: tables of inputs, intermediate buffers, launches and results.

    launches
      0  double<<<1, 64>>>  (%x) -> (%a)
      1  double<<<1, 64>>>  (%a) -> (%b)
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from tilewright.codegen.launch_plan import Fill, Launch, MapOf, Plan


def plan_text(plan: Plan) -> str:
    """Return the text of a plan: totals, then a table for each part that is not empty."""
    slab = plan.slab
    kernels = {launch.kernel for launch in plan.launches}
    lines = [f"launches {len(plan.launches)}, kernels {len(kernels)}"]
    if slab.slots:
        lines.append(
            f"slab of intermediate buffers: {slab.peak_bytes} B, "
            f"{slab.sum_bytes} B if none shared memory"
        )
    results = [[f"%{plan.names[number]}", *_type(plan, number)] for number in plan.results]
    launches = [_launch(plan, *launch) for launch in enumerate(plan.launches)]
    for title, rows in (
        ("inputs", [_input(plan, number) for number in range(len(plan.inputs))]),
        ("kept from launch to launch", [_kept(plan, fill) for fill in plan.kept]),
        ("slab", [_intermediate(plan, number) for number in slab.slots]),
        ("launches", launches),
        ("results", results),
    ):
        if rows:
            lines += ["", title, *_table(rows)]
    return "\n".join(lines) + "\n"


def launches_text(launches: Collection[Launch]) -> str:
    """Return the number of launches and of their kernels, as `22 launches of 11 kernels`."""
    return f"{len(launches)} launches of {len({launch.kernel for launch in launches})} kernels"


def buffer_text(plan: Plan, number: int) -> str:
    """Return a buffer in one phrase: its name, type, size, and place in the slab if it has one."""
    slot = plan.slab.slots.get(number)
    place = "" if slot is None else f" at {slot.start}"
    return f"{plan.names[number]}: {', '.join(_type(plan, number))}{place}"


def input_text(plan: Plan, number: int) -> str:
    """Return an input in one phrase: its name (PyTorch's, if known), type and size."""
    name = plan.source_names.get(number, plan.names[number])
    return f"{name}: {', '.join(_type(plan, number))}"


def written_text(plan: Plan, launch: Launch, number: int) -> str:
    """
    Return the name of a launch's output, with the inputs in whose place it is written, and its
    fill.
    """
    places = "".join(
        f" in place of %{plan.names[read]}" for output, read in launch.in_place if output == number
    )
    filled = "".join(f" filled with {fill.value}" for fill in launch.fills if fill.buffer == number)
    return f"%{plan.names[number]}{places}{filled}"


def _kept(plan: Plan, fill: Fill) -> list[str]:
    return [f"%{plan.names[fill.buffer]}", *_type(plan, fill.buffer), f"filled with {fill.value}"]


def _type(plan: Plan, number: int) -> list[str]:
    buffer = plan.buffers[number]
    return [str(buffer), f"{buffer.bytes} B"]


def _input(plan: Plan, number: int) -> list[str]:
    axes = plan.permuted.get(number)
    loaded = "" if axes is None else f"axes {list(axes)} at load"
    name, source = plan.names[number], plan.source_names.get(number, "")
    return [f"%{name}", *_type(plan, number), source, loaded]


def _intermediate(plan: Plan, number: int) -> list[str]:
    using = [
        position
        for position, launch in enumerate(plan.launches)
        if number in (*launch.inputs, *launch.outputs)
    ]
    slot = plan.slab.slots[number]
    needed = f"launches {using[0]} to {using[-1]}" if using else "not used"
    return [f"%{plan.names[number]}", *_type(plan, number), f"at {slot.start}", needed]


def _launch(plan: Plan, position: int, launch: Launch) -> list[str]:
    shared = f", {launch.shared_bytes} B" if launch.shared_bytes else ""
    outputs = ", ".join(written_text(plan, launch, number) for number in launch.outputs)
    maps = "".join(f"{_map(plan, map)}, " for map in launch.tensor_maps)
    arguments = f"({maps}{_names(plan, launch.inputs)}) -> ({outputs})"
    return [str(position), f"{launch.kernel}<<<{launch.grid}, {launch.block}{shared}>>>", arguments]


def _map(plan: Plan, map: MapOf) -> str:
    swizzle = f", swizzle {map.swizzle} B" if map.swizzle else ""
    return f"map of %{plan.names[map.buffer]}: box {list(map.box)}{swizzle}"


def _names(plan: Plan, numbers: Iterable[int]) -> str:
    return ", ".join(f"%{plan.names[number]}" for number in numbers)


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """
    Yield the lines of a table. Columns of numbers and sizes are aligned right; columns without text
    are omitted.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (_aligned(cell, width) for cell, width in zip(row, widths, strict=True) if width)
        yield f"  {'  '.join(cells)}".rstrip()


def _aligned(cell: str, width: int) -> str:
    return cell.rjust(width) if cell.isdigit() or cell.endswith(" B") else cell.ljust(width)
