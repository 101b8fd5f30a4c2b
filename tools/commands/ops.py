# SPDX-License-Identifier: Apache-2.0
"""Command `tilewright ops`: list the ATen operators that can be compiled, and the refused ones."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape

from tilewright.errors import UsageError, format_error
from tilewright.tools.ops_markdown import markdown
from tilewright.tools.ops_table import (
    Family,
    Overload,
    Refused,
    families,
    find,
    near,
    refusal_text,
    refused,
)
from tilewright.tools.output.terminal import console, show, table

SCHEMA = 1
"""Version of the JSON's schema."""


def run(args: argparse.Namespace) -> int:
    """Print the operators that the arguments select; return 0."""
    if args.markdown and (args.names or args.unsupported):
        raise UsageError("--markdown prints the whole page", remedy="omit NAME and --unsupported")
    if args.names and args.unsupported:
        raise UsageError("--unsupported lists all refused operators", remedy="omit the names")
    if args.markdown:
        sys.stdout.write(markdown(families(), refused()))
        return 0
    known = [name for name in args.names if any(find(name))]
    unknown = [_unknown(name) for name in args.names if name not in known]
    if known or not unknown:
        _print_chosen(args, known)
    sys.stdout.flush()
    for error in unknown:
        print(format_error(error), file=sys.stderr)
    return UsageError.exit_code if unknown else 0


def _print_chosen(args: argparse.Namespace, names: Sequence[str]) -> None:
    """Print the operators called `names`, or all operators if no name is given."""
    groups, refusals = _chosen(args, names)
    if args.json:
        print(json.dumps(_json(groups, refusals), indent=2))
    else:
        _print(args, groups, refusals, console(args.color, sys.stdout))


def _chosen(args: argparse.Namespace, names: Sequence[str]) -> tuple[list[Family], list[Refused]]:
    if args.unsupported:
        return [], refused()
    if not names:
        return families(), refused()
    found = [find(name) for name in names]
    overloads = {o.aten: o for supported, _ in found for o in supported}
    refusals = {group.names: group for _, groups in found for group in groups}
    asked = [
        Family(f.name, f.summary, tuple(o for o in f.overloads if o.aten in overloads))
        for f in families()
    ]
    return [family for family in asked if family.overloads], [*refusals.values()]


def _unknown(name: str) -> UsageError:
    """Return the error for a name that is not in the table."""
    meant = near(name)
    remedy = f"did you mean {' or '.join(meant)}?" if meant else "tilewright ops lists them"
    return UsageError(
        f"'{name}' is not in the table: PyTorch decomposes it into operators that are, or it is "
        "refused",
        remedy=remedy,
    )


def _print(
    args: argparse.Namespace, groups: list[Family], refusals: list[Refused], out: Console
) -> None:
    if args.names:
        for overload in (o for family in groups for o in family.overloads):
            _print_details(overload, out)
        for group in refusals:
            out.print(f"[bold]{escape(' '.join(group.names))}[/]\n  [red]refused[/]: ", end="")
            out.print(group.text, markup=False)
        return
    for family in groups:
        out.print(f"[bold]{family.name}[/]: {escape(family.summary)}\n")
        rows = table("operator", "overloads", "what it computes", "refused")
        for operator, overloads in family.operators().items():
            rows.add_row(*map(escape, _row(operator, overloads)))
        show(out, rows)
        out.print()
    _print_refusals(refusals, out)
    out.print(f"\n{count_text(groups, refusals)}", markup=False)


def _row(operator: str, overloads: Sequence[Overload]) -> tuple[str, str, str, str]:
    first = overloads[0]
    names = " ".join(o.aten.partition(".")[2] or "default" for o in overloads)
    return operator, names, first.summary, first.refusal.only if first.refusal else ""


def _print_details(overload: Overload, out: Console) -> None:
    out.print(f"[bold]{escape(overload.signature)}[/]")
    out.print(f"  {overload.summary}", markup=False)
    if overload.notes:
        out.print(f"  {overload.notes}", markup=False)
    out.print(f"  {overload.example}", markup=False)
    if overload.refusal is not None:
        out.print(f"  {refusal_text(overload.refusal)}", markup=False)


def _print_refusals(refusals: Sequence[Refused], out: Console) -> None:
    out.print("[bold]refused[/]: each is an error with this reason\n")
    rows = table("operators", "reason, and what to do instead")
    for group in refusals:
        rows.add_row(escape(" ".join(group.names)), escape(group.text))
    show(out, rows)


def count_text(groups: Sequence[Family], refusals: Sequence[Refused]) -> str:
    """Return the last line of the output: the numbers of operators, overloads and refusals."""
    counts = _counts(groups, refusals)
    named = f"{counts['refused']} are refused by name"
    if not groups:
        return named
    return f"{counts['operators']} operators in {counts['overloads']} overloads; {named}"


def _counts(groups: Sequence[Family], refusals: Sequence[Refused]) -> dict[str, int]:
    overloads = [o for family in groups for o in family.overloads]
    return {
        "operators": len({o.operator for o in overloads}),
        "overloads": len(overloads),
        "refused": sum(len(group.names) for group in refusals),
    }


def _json(groups: Sequence[Family], refusals: Sequence[Refused]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "counts": _counts(groups, refusals),
        "supported": [_overload_json(f.name, o) for f in groups for o in f.overloads],
        "refused": [
            {
                "names": list(group.names),
                "only": group.refusal.only or None,
                "reason": group.refusal.reason,
                "remedy": group.refusal.remedy,
            }
            for group in refusals
        ],
    }


def _overload_json(family: str, overload: Overload) -> dict[str, Any]:
    return {
        "aten": overload.aten,
        "op": overload.op,
        "family": family,
        "arguments": [
            {"name": a.name, "kind": a.kind, "default": a.default} for a in overload.arguments
        ],
        "summary": overload.summary,
        "notes": overload.notes or None,
        "example": overload.example,
        "refused": None if overload.refusal is None else refusal_text(overload.refusal),
    }
