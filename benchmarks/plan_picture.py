# SPDX-License-Identifier: Apache-2.0
"""
Draws the plan of a whole language model:

    python benchmarks/plan_picture.py Qwen/Qwen2.5-7B docs/whole-model-plan.svg

Launches are boxes, from top to bottom in the order in which they run. What all layers do is drawn
once, in a frame that says how many times. Each box has the bytes of weights that the launch reads.
To the right is the slab: intermediate buffers, from the launch that writes them to the last one
that reads them, at the places where they lie.
"""

import argparse
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from tilewright.codegen.host_function import plan_of
from tilewright.codegen.launch_plan import Launch, Plan
from tilewright.codegen.plan_text import launches_text
from tilewright.codegen.spill_feedback import lower_to_cuda
from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.frontend.capture import capture
from tilewright.models.config import find_model
from tilewright.models.structure import build
from tilewright.models.whole import whole_sequence

_BOX = 5.0
"""Width of a launch's box, in the units of the picture; a launch is 1 high."""
_SLAB = 5.4
"""Where the slab begins."""
_SLAB_WIDTH = 7.6
_LETTER = 0.068
"""Width of a letter in a buffer."""
_LEAST_LETTERS = 5
"""A buffer with room for no more has no label."""
_BLUE, _GREEN, _GRAY = "#dbe7f6", "#d9ecd5", "#5f6b7a"
_UNITS = ("B", "KiB", "MiB", "GiB")


class Repetition(NamedTuple):
    """Launches that come again and again: `times` times `length` of them, from `start` on."""

    start: int
    length: int
    times: int

    @property
    def stop(self) -> int:
        """The first launch after all of them."""
        return self.start + self.length * self.times


def plan_of_model(name: str, tokens: int, dtype: str | None, layers: int | None) -> Plan:
    """Return the launches of a model that reads so many tokens."""
    model = build(find_model(name).config, dtype=dtype, layers=layers)
    program = whole_sequence(model, tokens)
    captured = capture(program.module, program.args, program.kwargs)
    return plan_of(lower_to_cuda(captured.module, DEFAULT_TARGET))


def repetition(kernels: Sequence[str]) -> Repetition:
    """What covers the most launches, of the shortest piece: the layers of a model."""
    lengths = range(1, len(kernels) // 2 + 1)
    found = (each for length in lengths for each in _repetitions(kernels, length))
    whole = Repetition(0, len(kernels), 1)
    return max(found, key=lambda each: each.length * each.times, default=whole)


def _repetitions(kernels: Sequence[str], length: int) -> Iterator[Repetition]:
    """Pieces of so many launches that come again, each as often as it does up to some place."""
    equal = 0
    for place in range(len(kernels) - length):
        equal = equal + 1 if kernels[place] == kernels[place + length] else 0
        if equal >= length:
            yield Repetition(place + 1 - equal, length, equal // length + 1)


def weight_bytes(plan: Plan, launch: Launch) -> int:
    """Of the parameters and buffers of the model that a launch reads."""
    weights = (number for number in {*launch.inputs} if number in plan.source_names)
    return sum(plan.buffers[number].bytes for number in weights)


def readable(size: float) -> str:
    """Bytes, in the unit that people would take."""
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.{0 if size >= 10 or unit == 0 else 1}f} {_UNITS[unit]}"


def draw(plan: Plan, title: str, path: str) -> None:
    """One figure."""
    from matplotlib.figure import Figure

    matplotlib: Any = import_module("matplotlib")
    layers = repetition([launch.kernel for launch in plan.launches])
    once = layers.start + layers.length
    shown = [*range(once), *range(layers.stop, len(plan.launches))]
    rows = {position: row for row, position in enumerate(shown)}
    # Without a salt of its own each picture would have other names inside.
    with matplotlib.rc_context({"svg.hashsalt": "plan", "svg.fonttype": "none"}):
        figure = Figure(figsize=(11, 0.45 * len(shown) + 1.4), layout="constrained")
        axes: Any = figure.subplots()
        for position, row in rows.items():
            _draw_launch(axes, plan, position, row)
        if layers.times > 1:
            _draw_frame(axes, layers)
        _draw_slab(axes, plan, rows, layers)
        weights = sum(plan.buffers[number].bytes for number in plan.source_names)
        head = f"{title}: {launches_text(plan.launches)}"
        axes.set_title(f"{head}, {readable(weights)} of weights", fontsize=10, loc="left")
        axes.set_xlim(-0.9, _SLAB + _SLAB_WIDTH + 0.1)
        axes.set_ylim(len(shown) + 0.2, -1.1)
        axes.axis("off")
        figure.savefig(path, metadata={"Date": None})  # pyright: ignore[reportUnknownMemberType]


def _draw_launch(axes: Any, plan: Plan, position: int, row: int) -> None:
    from matplotlib.patches import FancyBboxPatch

    launch = plan.launches[position]
    style = "round,pad=0,rounding_size=0.1"
    corner = (0.0, row + 0.1)
    axes.add_patch(FancyBboxPatch(corner, _BOX, 0.8, style, facecolor=_BLUE, edgecolor=_GRAY))
    axes.text(0.12, row + 0.5, launch.kernel, fontsize=8, va="center")
    weights = weight_bytes(plan, launch)
    if weights:
        right: dict[str, Any] = {"fontsize": 7, "va": "center", "ha": "right", "color": _GRAY}
        axes.text(_BOX - 0.12, row + 0.5, readable(weights), **right)


def _draw_frame(axes: Any, layers: Repetition) -> None:
    from matplotlib.patches import Rectangle

    corner = (-0.15, layers.start)
    width = _SLAB + _SLAB_WIDTH + 0.2
    frame: dict[str, Any] = {"fill": False, "edgecolor": _GRAY, "linestyle": "--"}
    axes.add_patch(Rectangle(corner, width, layers.length, **frame))
    axes.text(-0.25, layers.start + layers.length / 2, f"x{layers.times}", ha="right", va="center")


def _draw_slab(axes: Any, plan: Plan, rows: dict[int, int], layers: Repetition) -> None:
    """The buffers that are written or read by what is shown, as wide as they are large."""
    from matplotlib.patches import Rectangle

    scale = _SLAB_WIDTH / max(plan.slab.peak_bytes, 1)
    label: dict[str, Any] = {"fontsize": 7, "color": _GRAY}
    axes.text(_SLAB, -0.2, f"slab, {readable(plan.slab.peak_bytes)}", **label)
    for number, slot in plan.slab.slots.items():
        users = [place for place, launch in enumerate(plan.launches) if _uses(launch, number)]
        if not users or users[0] not in rows:
            continue
        # What a later layer reads goes on to the end of the frame.
        last = rows.get(users[-1], layers.start + layers.length - 1)
        corner = _SLAB + slot.start * scale, rows[users[0]] + 0.1
        size = len(slot) * scale, last - rows[users[0]] + 0.8
        axes.add_patch(Rectangle(corner, *size, facecolor=_GREEN, edgecolor=_GRAY))
        place: dict[str, Any] = {"x": corner[0] + 0.04, "y": corner[1] + 0.1, "va": "top"}
        axes.text(s=_label(plan, number, size[0]), fontsize=6, **place)


def _label(plan: Plan, number: int, width: float) -> str:
    """
    Return the name of a buffer, and below it what it holds; as much of both as there is room for.
    """
    room = int(width / _LETTER)
    shape = "x".join(str(extent) for extent in plan.buffers[number].shape if extent != 1)
    names = (plan.names[number], shape) if room > _LEAST_LETTERS else ()
    return "\n".join(name if len(name) <= room else f"{name[: room - 2]}.." for name in names)


def _uses(launch: Launch, number: int) -> bool:
    return number in launch.inputs or number in launch.outputs


def main() -> None:
    """Compile, and draw."""
    parser = argparse.ArgumentParser(description="Draws the plan of a whole language model.")
    parser.add_argument("model", help="a folder with a config.json, or ORGANISATION/MODEL")
    parser.add_argument("path", help="an .svg or .png")
    parser.add_argument("--tokens", type=int, default=128, help="that the model reads (128)")
    parser.add_argument("--dtype", default="float32", help="of weights (float32)")
    parser.add_argument("--layers", type=int, help="the first so many; default: all")
    args = parser.parse_args()
    plan = plan_of_model(args.model, args.tokens, args.dtype, args.layers)
    draw(plan, f"{args.model}, {args.tokens} tokens, {args.dtype}", args.path)


if __name__ == "__main__":
    main()
