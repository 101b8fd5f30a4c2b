# SPDX-License-Identifier: Apache-2.0
"""
Steps of a plan: fills and launches, bound to the addresses of their buffers.

Most calls of a program use the same few addresses, because PyTorch's allocator returns the memory
that was freed last. The most recent bindings are therefore cached.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence

from tilewright.codegen.launch_plan import Fill, Launch, Plan
from tilewright.codegen.runtime.driver import Arguments, Bound, Driver, Function, Memory

_MOST_BOUND = 8
"""Maximum number of cached bindings of a step."""


class Step(ABC):
    """A fill or a launch of a plan."""

    def __init__(self, plan: Plan, buffers: Sequence[int]):
        self.buffers = tuple(dict.fromkeys(buffers))
        """Numbers in the plan of the buffers that the step uses."""
        self._types = plan.buffers
        self._bound: OrderedDict[tuple[int, ...], Bound] = OrderedDict()

    def bound(self, addresses: Sequence[int]) -> Bound:
        """
        Return the step bound to the addresses of its buffers, from the cache if possible.

        `addresses` has the address of each buffer of the plan, by the buffer's number.
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
    """A launch as a step of a plan."""

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
    """A fill as a step of a plan."""

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
    """Yield a plan's launches in order, each after the fills that it needs."""
    for launch in plan.launches:
        for fill in launch.fills:
            yield FillStep(plan, fill, driver)
        yield LaunchStep(plan, launch, functions[launch.kernel])
