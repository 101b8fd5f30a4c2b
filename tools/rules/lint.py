# SPDX-License-Identifier: Apache-2.0
"""
Findings about rules that are applied together, over programs of the corpus and random ones.

    broken           a rule raises, leaves invalid IR, or changes an op without its rewriter
    never fires      no program has a site that the rule matches
    shadowed         wherever the rule matches, an earlier rule matches, too
    does not end     a program recurs, or the rules apply more often than the limit
    order            another order of the rules, or of the ops, ends with another program
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.prim import Prim
from tilewright.tools.output.minimal_diff import minimal_diff
from tilewright.tools.rules.corpus import programs_with
from tilewright.tools.rules.drawn import drawn_program, draws
from tilewright.tools.rules.fixpoint import Order, Run, run
from tilewright.tools.rules.groups import Group
from tilewright.tools.rules.hints import Hints, hints_of
from tilewright.tools.rules.limits import Limits
from tilewright.tools.rules.rule import BrokenRuleError, Rule, op_at, reason_not_valid

_MOST_OPS = 120
"""Number of ops from which on a program is skipped, because runs take long."""

_FEWEST_SITES = 3
"""Number of sites from which on a rule may be called shadowed."""

Make = Callable[[], ModuleOp]


@dataclass(frozen=True)
class Finding:
    """Finding about one or several rules, with the program that shows it."""

    kind: str
    message: str
    program: ModuleOp | None = None
    difference: tuple[str, ...] = ()
    """Lines of the diff between the final programs of two orders."""


@dataclass
class Lint:
    """Facts about a group of rules."""

    group: Group
    programs: int = 0
    """Number of programs that were tried."""
    sites: Counter[str] = field(default_factory=Counter[str])
    """Number of sites that each rule matches."""
    free: Counter[str] = field(default_factory=Counter[str])
    """Number of sites that a rule matches, and no earlier one."""
    before: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    """Number of sites of each rule at which an earlier rule matches, by the earlier rule."""
    broken: set[str] = field(default_factory=set[str])
    """Names of the rules that are broken; runs are without them."""
    endless: set[str] = field(default_factory=set[str])
    """Names of the rules that do not end; runs are without them from then on."""
    runs: dict[str, Finding] = field(default_factory=dict[str, Finding])
    """Findings about runs by their kind, and by the rules that do not end."""

    def keep(self, found: Finding) -> None:
        """Keep a finding about runs, unless one is known in a program that is as small."""
        by_rule = found.kind in ("does not end", "broken")
        key = found.message.partition(", ")[0] if by_rule else found.kind
        if key not in self.runs or _size(found) < _size(self.runs[key]):
            self.runs[key] = found

    @property
    def findings(self) -> list[Finding]:
        """All findings, those about single rules first."""
        return [*self._unused(), *self._shadowed(), *self.runs.values()]

    def _unused(self) -> Iterator[Finding]:
        for rule in self.group.rules:
            if self.programs and not self.sites[rule.name]:
                yield Finding("never fires", f"{rule.name} never fires")

    def _shadowed(self) -> Iterator[Finding]:
        for rule in self.group.rules:
            sites = self.sites[rule.name]
            if sites >= _FEWEST_SITES and not self.free[rule.name]:
                earlier = ", ".join(self.before[rule.name])
                message = f"{rule.name} is shadowed: at all of its {sites} sites, {earlier} matches"
                yield Finding("shadowed", f"{message} before it")


def _size(finding: Finding) -> int:
    return 0 if finding.program is None else sum(1 for _ in finding.program.walk())


def lint_of(
    group: Group, limits: Limits, report: Callable[[str], None] = lambda text: None
) -> Lint:
    """Return the facts about a group of rules; `report` is called with each step."""
    lint = Lint(group)
    for origin, make in _programs(group, limits):
        report(f"{group.name}: {origin}")
        program = make()
        if sum(1 for _ in program.walk()) > _MOST_OPS:
            continue
        lint.programs += 1
        if _count_sites(lint, make):
            _compare_orders(lint, make)
    return lint


def _programs(group: Group, limits: Limits) -> Iterator[tuple[str, Make]]:
    """Yield programs of the corpus, and random ones, with the ops of the rules."""
    roots = [*dict.fromkeys(op for rule in group.rules for op in rule.roots or Prim.operations)]
    drawn = [op for op in roots if draws(op)]
    others = [op for op in roots if not draws(op)]
    for ops in filter(None, (drawn, others)):
        for origin, program in programs_with(ops, limits.texts, group.name):
            yield origin, program.clone
    hints = [hints_of(rule.pattern) for rule in group.rules] or [Hints()]
    for number in range(limits.programs if drawn else 0):
        root, hint = drawn[number % len(drawn)], hints[number % len(hints)]
        yield f"random program {number}", partial(drawn_program, number, root, hint)


def _count_sites(lint: Lint, make: Make) -> bool:
    """Count which rules match at each op of a program; return True if one does."""
    program, matches = make(), False
    for site in range(sum(1 for _ in program.walk())):
        earlier = list[str]()
        for rule in lint.group.rules:
            if not _applies(lint, rule, program, site, make):
                continue
            program, matches = make(), True
            lint.sites[rule.name] += 1
            lint.free[rule.name] += not earlier
            lint.before.setdefault(rule.name, Counter()).update(earlier)
            earlier.append(rule.name)
    return matches


def _applies(lint: Lint, rule: Rule, program: ModuleOp, site: int, make: Make) -> bool:
    """Return True if a rule changes a program at a site; keep the finding that it is broken."""
    op = op_at(program, site)
    if not rule.may_match(op):
        return False
    try:
        if not rule.apply(op):
            return False
    except BrokenRuleError as err:
        problem = str(err)
    else:
        reason = reason_not_valid(program)
        problem = reason and f"leaves invalid IR: {reason}"
    if problem:
        lint.broken.add(rule.name)
        lint.keep(Finding("broken", f"{rule.name} {problem}", make()))
    return True


def _compare_orders(lint: Lint, make: Make) -> None:
    """Run the rules to the end in each order, and keep the findings in the smallest programs."""
    left_out = lint.endless | lint.broken
    rules = [rule for rule in lint.group.rules if rule.name not in left_out]
    runs = {order: run(rules, make(), order) for order in Order}
    for order, each in runs.items():
        if each.failure:
            lint.keep(Finding("broken", each.failure, make()))
        elif not each.ends and not lint.endless.issuperset(each.recurring):
            lint.endless |= {*each.recurring}
            lint.keep(Finding("does not end", _endless(order, each), make()))
    if all(each.ends and not each.failure for each in runs.values()):
        _compare_results(lint, runs, make)


def _endless(order: Order, found: Run) -> str:
    reason = "the same program recurs" if found.cycle else f"{len(found.applied)} applications"
    return f"without end: {' and '.join(found.recurring)}, {order}: {reason}"


def _compare_results(lint: Lint, runs: Mapping[Order, Run], make: Make) -> None:
    first = runs[Order.FORWARD]
    for order, each in runs.items():
        if each.result != first.result:
            message = f"the result depends on the order: {_names(first)} {Order.FORWARD}, "
            message += f"{_names(each)} {order}"
            lines = minimal_diff(str(first.program), str(each.program))
            lint.keep(Finding("order", message, make(), tuple(lines)))


def _names(found: Run) -> str:
    """Return the rules that a run applied, in their order."""
    return ", ".join(found.applied[:6]) + (", ..." if len(found.applied) > 6 else "")
