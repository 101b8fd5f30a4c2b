# SPDX-License-Identifier: Apache-2.0
"""
The steps of a plan: fills and launches, bound to the addresses of their buffers.

A program is mostly called with memory at the same few places, for PyTorch's allocator gives back
what was freed last; so the bindings made last are kept.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence

from tilewright.codegen.launch_plan import Fill, Launch, Plan
from tilewright.codegen.runtime.driver import Arguments, Bound, Driver, Function, Memory

_MOST_BOUND = 8
"""How many bindings of a step are kept."""


class Step(ABC):
    """A fill or a launch of a plan."""

    def __init__(self, plan: Plan, buffers: Sequence[int]):
        self.buffers = tuple(dict.fromkeys(buffers))
        """Those that it touches, by number in the plan."""
        self._types = plan.buffers
        self._bound: OrderedDict[tuple[int, ...], Bound] = OrderedDict()

    def bound(self, addresses: Sequence[int]) -> Bound:
        """
        Return the step for buffers at these addresses, which are told for all buffers of the plan.
        """
        key = tuple([addresses[number] for number in self.buffers])
        if (bound := self._bound.get(key)) is not None:
            return bound
        memory = {n: Memory(addresses[n], self._types[n]) for n in self.buffers}
        bound = self._bound[key] = self._bind(memory)
        if len(self._bound) > _MOST_BOUND:
            self._bound.popitem(last=False)
        return bound

    @abstractmethod
    def _bind(self, memory: Mapping[int, Memory]) -> Bound: ...


class LaunchStep(Step):
    """A launch."""

    def __init__(self, plan: Plan, launch: Launch, function: Function):
        super().__init__(plan, (*launch.inputs, *launch.outputs))
        self.name = f"kernel '{launch.kernel}'"
        self._launch = launch
        self._function = function

    def _bind(self, memory: Mapping[int, Memory]) -> Bound:
        launch = self._launch
        arguments = Arguments(
            tuple((map, memory[map.buffer]) for map in launch.tensor_maps),
            tuple(memory[number] for number in launch.inputs),
            tuple(memory[number] for number in launch.outputs),
        )
        return self._function.bind(launch, arguments)


class FillStep(Step):
    """A fill."""

    def __init__(self, plan: Plan, fill: Fill, driver: Driver):
        super().__init__(plan, [fill.buffer])
        self.name = f"the fill of %{plan.names[fill.buffer]}"
        self._fill = fill
        self._driver = driver

    def _bind(self, memory: Mapping[int, Memory]) -> Bound:
        return self._driver.bind_fill(memory[self._fill.buffer], self._fill.value, self.name)


def steps_of(
    plan: Plan, functions: Mapping[str, Function], driver: Driver
) -> Iterator[LaunchStep | FillStep]:
    """Yield a plan's launches, each after the fills that it needs."""
    for launch in plan.launches:
        for fill in launch.fills:
            yield FillStep(plan, fill, driver)
        yield LaunchStep(plan, launch, functions[launch.kernel])
