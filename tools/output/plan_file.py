# SPDX-License-Identifier: Apache-2.0
"""Output of `--plan FILE`: a launch plan in the format of the file name's extension."""

from collections.abc import Callable, Mapping
from pathlib import Path

from tilewright.codegen.launch_plan import Plan
from tilewright.codegen.plan_graph import plan_dot, plan_mermaid
from tilewright.codegen.plan_text import plan_text
from tilewright.errors import UsageError
from tilewright.tools.output.output_path import write_text

FORMS: Mapping[str, Callable[[Plan], str]] = {
    ".txt": plan_text,
    ".md": plan_mermaid,
    ".dot": plan_dot,
}


def form_of(path: str) -> Callable[[Plan], str]:
    """
    Return the function that formats a plan for the file `path`, or for stdout if it is `-`; raises
    `UsageError` for other extensions.
    """
    form = plan_text if path == "-" else FORMS.get(Path(path).suffix)
    if form is None:
        raise UsageError(
            f"'{path}' is not a file name for a plan",
            remedy="names end in .txt (text), .md (Mermaid) or .dot (Graphviz)",
        )
    return form


def write_plan(plan: Plan, path: str) -> None:
    """Write the plan to a file, or to stdout if `path` is `-`."""
    write_text(path, form_of(path)(plan))
