# SPDX-License-Identifier: Apache-2.0
"""All searches in one loop: the leaves they measure, when they stop, and what they find."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from math import log, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.distinct import Distinct
from tilewright.tuning.search.evolution import Evolution
from tilewright.tuning.search.frame import Limits, Search, Trial, at_once, schedule_of, trials
from tilewright.tuning.search.greedy import Greedy
from tilewright.tuning.search.mcts import Mcts, deviation
from tilewright.tuning.search.random_search import RandomSearch
from tilewright.tuning.search.rewards import Rewards
from tilewright.tuning.search.tree import Node, Tally

from ..trees import Digits, Tree, planted

BEST = (2, 1, 3, 0, 2, 1)
WIDTHS = (3, 4, 4, 3, 4, 2)

Measure = Callable[[str], Measurement]


def of(measure: Measure) -> Callable[[Node], Measurement]:
    """Return a measure of leaves."""

    def of_leaf(leaf: Node) -> Measurement:
        assert leaf.schedule is not None
        return measure(leaf.schedule)

    return of_leaf


def as_model(measure: Measure) -> Callable[[Node], float]:
    """Return a model that knows the measurement in advance."""
    return lambda leaf: of(measure)(leaf).us or 0.0


SEARCHES: dict[str, Callable[[Tree, int], Search]] = {
    "mcts": Mcts,
    "random": RandomSearch,
    "greedy": lambda root, seed: Greedy(root, as_model(planted(BEST))),
    "evolution": Evolution,
}


def run(search: Search, measure: Measure = planted(BEST), limits: Limits = Limits()) -> list[Trial]:
    return [*trials(search, at_once(of(measure)), limits)]


@pytest.mark.parametrize("name", SEARCHES)
def test_the_default_comes_first_and_nothing_is_slower(name: str):
    found = run(SEARCHES[name](Tree(WIDTHS), 0), limits=Limits(budget=30))
    assert found[0].leaf.schedule == str((0,) * len(WIDTHS))
    assert [trial.number for trial in found] == [*range(1, 31)]
    best = [trial.best.us or 0.0 for trial in found]
    assert best == sorted(best, reverse=True)


@pytest.mark.parametrize("name", SEARCHES)
def test_a_seed_gives_one_run(name: str):
    runs = [run(SEARCHES[name](Tree(WIDTHS), 7), limits=Limits(budget=40)) for _ in range(2)]
    schedules = [[trial.measurement for trial in each] for each in runs]
    assert schedules[0] == schedules[1]


@pytest.mark.parametrize("name", ["mcts", "random", "evolution"])
def test_another_seed_gives_another_run(name: str):
    runs = [run(SEARCHES[name](Tree(WIDTHS), seed), limits=Limits(budget=40)) for seed in (1, 2)]
    assert [t.measurement for t in runs[0]] != [t.measurement for t in runs[1]]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2)) | st.tuples(st.integers(0, 2))),
    st.sampled_from(["mcts", "random", "greedy"]),
    st.integers(0, 5),
)
def test_each_leaf_is_measured_once(
    widths: list[int], dead: set[Digits], name: str, seed: int
) -> None:
    root = Tree(widths, is_dead=lambda digits: digits in dead)
    same = planted((0,) * len(widths))
    search = Greedy(root, as_model(same)) if name == "greedy" else SEARCHES[name](root, seed)
    asked = [trial.leaf.schedule for trial in run(search, same)]
    assert sorted(filter(None, asked)) == sorted(leaves(root))


def leaves(node: Tree) -> list[str]:
    if node.schedule is not None:
        return [node.schedule]
    return [leaf for child in node.children for leaf in leaves(child)]


def evaluations_until_best(search: Search) -> int:
    best = planted(BEST)(str(BEST)).us
    found = trials(search, at_once(of(planted(BEST))))
    return next(trial.number for trial in found if trial.best.us == best)


def test_mcts_finds_the_planted_best_sooner_than_chance():
    needed = {
        name: sorted(evaluations_until_best(SEARCHES[name](Tree(WIDTHS), s)) for s in range(9))[4]
        for name in ("mcts", "random")
    }
    assert 3 * needed["mcts"] < needed["random"]


def test_the_deviation_of_single_player_mcts():
    # Rewards 1, 2 and 3, the best being 4: as shares 0.25, 0.5 and 0.75, mean 0.5. The sum of
    # squares is 0.875, less 3 * 0.25; with D = 0.1 and a leaf that is pending, over 4.
    tally = Tally()
    for reward in (1.0, 2.0, 3.0):
        tally.add(reward)
    assert deviation(tally, 4, 4.0, 0.1) == pytest.approx(sqrt((0.125 + 0.1) / 4))
    assert deviation(Tally(), 1, 4.0, 0.1) == pytest.approx(sqrt(0.1))


def test_rewards_are_logarithms():
    rewards = Rewards()
    times = [rewards.of(Measurement("", us)) for us in (20.0, 10.0, 25.0, 1000.0, None)]
    assert times == pytest.approx([log(2), log(4), log(1.6), 0.0, 0.0])
    assert rewards.best == pytest.approx(log(4))


def test_limits():
    assert len(run(Mcts(Tree(WIDTHS)), limits=Limits(budget=5))) == 5
    assert not run(Mcts(Tree(WIDTHS)), limits=Limits(seconds=0))
    found = run(RandomSearch(Tree(WIDTHS)), limits=Limits(patience=25))
    since = [trial.best for trial in found].index(found[-1].best)
    assert len(found) - since == 26


def test_a_schedule_without_a_time_is_never_best():
    def measure(schedule: str) -> Measurement:
        us = None if schedule == str((0, 0)) else 5.0
        return Measurement(schedule, us, "it is wrong" if us is None else "")

    found = run(Mcts(Tree((2, 2))), measure)
    assert [trial.best.us for trial in found] == [None, 5.0, 5.0, 5.0]


def test_known_schedules_are_not_measured_again():
    first = run(Mcts(Tree(WIDTHS)), limits=Limits(budget=20))
    known = {trial.measurement.schedule: trial.measurement for trial in first}
    again = trials(Mcts(Tree(WIDTHS)), at_once(of(planted(BEST))), Limits(budget=10), known=known)
    found = [*again]
    assert [trial.number for trial in found[:20]] == [0] * 20
    assert not known.keys() & {t.measurement.schedule for t in found if t.number}
    assert [t.number for t in found if t.number] == [*range(1, 11)]


@pytest.mark.parametrize("name", SEARCHES)
def test_many_at_once_ask_for_nothing_twice(name: str):
    under_way: list[int] = []
    pending = set[str]()

    def measure(leaf: Node) -> Measurement:
        under_way.append(len(pending))
        return of(planted(BEST))(leaf)

    with ThreadPoolExecutor(4) as pool:

        def submit(leaf: Node) -> Future[Measurement]:
            assert leaf.schedule not in pending
            pending.add(leaf.schedule or "")
            return pool.submit(measure, leaf)

        search = SEARCHES[name](Tree(WIDTHS), 0)
        found = [*trials(search, submit, Limits(budget=40), slots=4)]
    assert len(found) == len(pending) == 40
    assert under_way[0] == 1, "the default is measured before all else is begun"


@pytest.mark.parametrize("name", ["mcts", "random"])
def test_equal_leaves_are_measured_once(name: str):
    search = Distinct(SEARCHES[name](Tree((3, 4)), 0), lambda leaf: schedule_of(leaf)[1])
    asked = [trial.measurement.schedule for trial in run(search, planted((2, 3)))]
    assert sorted(each[1] for each in asked) == ["0", "1", "2"]
    assert asked[0] == "(0, 0)"
