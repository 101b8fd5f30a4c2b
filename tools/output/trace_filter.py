# SPDX-License-Identifier: Apache-2.0
"""
Filter of `--only TEXT`: the matching part of a trace, and a warning for a text without matches.

A text matches as part of a rule (`t:007`, `stage_inputs`), of a pass (`stage-inputs`) or of a
kernel's name. `t:007@matmul` matches a rule at a kernel.
"""

import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

from xdsl.ir import Operation

from tilewright.errors import did_you_mean
from tilewright.passes.reporting.trace import Listener, Rule, listening


class Only(Listener[Any]):
    """
    Listener that forwards events that match one of `texts` to `inner`; without texts, all events.
    """

    def __init__(self, inner: Listener[Any], texts: Sequence[str]):
        self.inner = inner
        self.unmatched = dict.fromkeys(texts)
        self._texts = texts
        self._rules: set[str] = set()
        self._sites: set[str] = set()

    def look(self, scope: Operation) -> Any:
        """Return the snapshot that `inner` takes of the scope."""
        return self.inner.look(scope)

    def rewrote(self, rule: Rule, site: str, before: Any, after: Any) -> None:
        """Forward a rewrite that matches."""
        if self._matches(rule, site):
            self.inner.rewrote(rule, site, before, after)

    def matched_without_change(self, rule: Rule, site: str) -> None:
        """Forward a match without a change, if it matches the texts."""
        if self._matches(rule, site):
            self.inner.matched_without_change(rule, site)

    def skipped(self, rule: Rule, site: str, reason: str) -> None:
        """Forward a remark that matches."""
        if self._matches(rule, site):
            self.inner.skipped(rule, site, reason)

    def decided(self, rule: Rule, site: str, reason: str) -> None:
        """Forward a decision that matches."""
        if self._matches(rule, site):
            self.inner.decided(rule, site, reason)

    def _matches(self, rule: Rule, site: str) -> bool:
        self._rules.add(str(rule))
        self._sites.add(site)
        matching = [text for text in self._texts if _is_match(text, rule, site)]
        for text in matching:
            self.unmatched.pop(text, None)
        return bool(matching) or not self._texts

    def warnings(self) -> Iterable[str]:
        """
        Yield a warning for each text without matches, then the rules and kernels that were seen.
        """
        passes = {rule.partition("_")[2].replace("_", "-") for rule in self._rules}
        for text in self.unmatched:
            remedy = did_you_mean(text, sorted({*self._rules, *passes, *self._sites}))
            hint = f" ({remedy})" if remedy else ""
            yield f"warning: --only '{text}' matches nothing{hint}"
        if self.unmatched:
            yield f"  rules: {', '.join(sorted(self._rules)) or 'none'}"
            yield f"  kernels and functions: {', '.join(sorted(self._sites)) or 'none'}"


def _is_match(text: str, rule: Rule, site: str) -> bool:
    """True if `text` is part of the rule, its pass or the site; `RULE@SITE` must match both."""
    of_rule, at, of_site = text.partition("@")
    in_rule = of_rule in str(rule) or of_rule in rule.pass_name
    return in_rule and of_site in site if at else in_rule or text in site


@contextmanager
def listening_to(inner: Listener[Any], texts: Sequence[str]) -> Generator[None]:
    """
    Forward the events that match `texts` to `inner`; at the end, warn on stderr of texts without
    matches.
    """
    only = Only(inner, texts)
    with listening(only):
        yield
    for line in only.warnings():
        print(line, file=sys.stderr)
