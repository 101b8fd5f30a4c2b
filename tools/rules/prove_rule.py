# SPDX-License-Identifier: Apache-2.0
"""
Command `opt-tool prove-rule FILE.py:Pattern`: search programs that a rewrite rule matches, compare
both sides, and print a counterexample or the number of matches.
"""

from collections.abc import Sequence

from tilewright.tools.options.prove_rule import parser
from tilewright.tools.output.progress import progress
from tilewright.tools.rules.answer import Proof
from tilewright.tools.rules.limits import Limits
from tilewright.tools.rules.named import rules_named
from tilewright.tools.rules.pdl_rules import pdl_rules
from tilewright.tools.rules.printed import text_of, verdicts
from tilewright.tools.rules.prove import proof_of


def main(argv: Sequence[str]) -> int:
    """Check the rules that the arguments name; return the exit code."""
    options = parser()
    args = options.parse_args(argv)
    rules = [rule for text in args.rules for rule in rules_named(text)]
    rules += [rule for path in args.pdl for rule in pdl_rules(path)]
    if not rules:
        options.error("a RULE or --pdl FILE is missing")
    limits = Limits(args.matches, args.programs, args.texts, args.real, args.first)
    proofs: list[Proof] = []
    for rule in rules:
        with progress() as report_stage:
            proofs.append(proof_of(rule, limits, report_stage))
        print(text_of(proofs[-1]))
    return verdicts(proofs)
