# SPDX-License-Identifier: Apache-2.0
"""
Picture of the launch plan of a whole language model:

    python benchmarks/plan_picture.py Qwen/Qwen2.5-7B docs/whole-model-plan.svg

Launches are boxes, from top to bottom in their order. The launches of one layer are drawn once, in
a frame with the number of layers. Each box shows the bytes of weights that the launch reads. To the
right is the slab with its intermediate buffers, at their offsets. Each buffer extends from the
launch that writes it to the last one that reads it.
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
"""Width of a launch's box, in units of its height."""
_SLAB = 5.4
"""Left edge of the slab."""
_SLAB_WIDTH = 7.6
_LETTER = 0.068
"""Average width of a letter of a buffer's label, in units of a box's height."""
_LEAST_LETTERS = 5
"""Number of letters: a buffer with room for no more letters gets no label."""
_BLUE, _GREEN, _GRAY = "#dbe7f6", "#d9ecd5", "#5f6b7a"
_UNITS = ("B", "KiB", "MiB", "GiB")


class Repetition(NamedTuple):
    """
    Repeated launches: a sequence of `length` launches from `start` on, which occurs `times` times.
    """

    start: int
    length: int
    times: int

    @property
    def stop(self) -> int:
        """Position of the first launch after the repetition."""
        return self.start + self.length * self.times


def plan_of_model(name: str, tokens: int, dtype: str | None, layers: int | None) -> Plan:
    """Return the launch plan of a model on a sequence of `tokens` tokens."""
    model = build(find_model(name).config, dtype=dtype, layers=layers)
    program = whole_sequence(model, tokens)
    captured = capture(program.module, program.args, program.kwargs)
    return plan_of(lower_to_cuda(captured.module, DEFAULT_TARGET))


def repetition(kernels: Sequence[str]) -> Repetition:
    """
    Return the repetition that covers the most launches; of several, the one with the shortest
    sequence. In a model, these are its layers.
    """
    lengths = range(1, len(kernels) // 2 + 1)
    found = (each for length in lengths for each in _repetitions(kernels, length))
    whole = Repetition(0, len(kernels), 1)
    return max(found, key=lambda each: each.length * each.times, default=whole)


def _repetitions(kernels: Sequence[str], length: int) -> Iterator[Repetition]:
    """
    Yield each place where a sequence of `length` launches occurs at least twice in a row, with the
    number of times up to there.
    """
    equal = 0
    for place in range(len(kernels) - length):
        equal = equal + 1 if kernels[place] == kernels[place + length] else 0
        if equal >= length:
            yield Repetition(place + 1 - equal, length, equal // length + 1)


def weight_bytes(plan: Plan, launch: Launch) -> int:
    """Return the bytes of the model's parameters and buffers that a launch reads."""
    weights = (number for number in {*launch.inputs} if number in plan.source_names)
    return sum(plan.buffers[number].bytes for number in weights)


def readable(size: float) -> str:
    """Return a number of bytes as text, in a suitable unit."""
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.{0 if size >= 10 or unit == 0 else 1}f} {_UNITS[unit]}"


def draw(plan: Plan, title: str, path: str) -> None:
    """Draw the picture, and write it to a file."""
    from matplotlib.figure import Figure

    matplotlib: Any = import_module("matplotlib")
    layers = repetition([launch.kernel for launch in plan.launches])
    once = layers.start + layers.length
    shown = [*range(once), *range(layers.stop, len(plan.launches))]
    rows = {position: row for row, position in enumerate(shown)}
    # Without a fixed salt, the identifiers in the SVG would differ in each run.
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
    """Draw the slab's buffers that the drawn launches use, as wide as their sizes."""
    from matplotlib.patches import Rectangle

    scale = _SLAB_WIDTH / max(plan.slab.peak_bytes, 1)
    label: dict[str, Any] = {"fontsize": 7, "color": _GRAY}
    axes.text(_SLAB, -0.2, f"slab, {readable(plan.slab.peak_bytes)}", **label)
    for number, slot in plan.slab.slots.items():
        users = [place for place, launch in enumerate(plan.launches) if _uses(launch, number)]
        if not users or users[0] not in rows:
            continue
        # A buffer that a later layer reads extends to the end of the frame.
        last = rows.get(users[-1], layers.start + layers.length - 1)
        corner = _SLAB + slot.start * scale, rows[users[0]] + 0.1
        size = len(slot) * scale, last - rows[users[0]] + 0.8
        axes.add_patch(Rectangle(corner, *size, facecolor=_GREEN, edgecolor=_GRAY))
        place: dict[str, Any] = {"x": corner[0] + 0.04, "y": corner[1] + 0.1, "va": "top"}
        axes.text(s=_label(plan, number, size[0]), fontsize=6, **place)


def _label(plan: Plan, number: int, width: float) -> str:
    """Return the name of a buffer and its shape, cut to the width of its box."""
    room = int(width / _LETTER)
    shape = "x".join(str(extent) for extent in plan.buffers[number].shape if extent != 1)
    names = (plan.names[number], shape) if room > _LEAST_LETTERS else ()
    return "\n".join(name if len(name) <= room else f"{name[: room - 2]}.." for name in names)


def _uses(launch: Launch, number: int) -> bool:
    return number in launch.inputs or number in launch.outputs


def main() -> None:
    """Compile the model, and draw its plan."""
    parser = argparse.ArgumentParser(description="Draw the plan of a whole language model.")
    parser.add_argument("model", help="a folder with a config.json, or ORGANISATION/MODEL")
    parser.add_argument("path", help="picture to write: .svg or .png")
    parser.add_argument("--tokens", type=int, default=128, help="number of tokens (128)")
    parser.add_argument("--dtype", default="float32", help="dtype of the weights (float32)")
    parser.add_argument("--layers", type=int, help="number of first layers; default: all")
    args = parser.parse_args()
    plan = plan_of_model(args.model, args.tokens, args.dtype, args.layers)
    draw(plan, f"{args.model}, {args.tokens} tokens, {args.dtype}", args.path)


if __name__ == "__main__":
    main()
