# SPDX-License-Identifier: Apache-2.0
"""
Generator of the pages `docs/rewrites/*.md`, one for each pass that schedules Tile IR.

    python -m tilewright.tools.pass_pages docs/rewrites

writes them from the docstrings of the passes' files and of their options.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path

from xdsl.passes import ModulePass

from tilewright.dialects.schedule import parse_spec_list
from tilewright.passes.driver.pipelines import available_passes, to_tile
from tilewright.passes.reporting.trace import Rule
from tilewright.tools.output.output_path import write_text


def pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    kinds = {spec.name: available_passes()[spec.name]() for spec in parse_spec_list(to_tile())}
    own = {name: kind for name, kind in kinds.items() if _is_scheduling(kind)}
    return {"index.md": _index(own), **{f"{name}.md": _page(own[name]) for name in own}}


def _is_scheduling(kind: type[ModulePass]) -> bool:
    return kind.__module__.startswith("tilewright.passes.tile.")


def _index(kinds: Mapping[str, type[ModulePass]]) -> str:
    rows = "\n".join(
        f"| [`{name}`]({name}.md) | {_options_in_short(kind)} | {_first_sentence(kind)} |"
        for name, kind in kinds.items()
    )
    return (
        "# The rewrites that schedule a kernel\n\n"
        "The passes in the order in which `to-tile` runs them. Each pass works by itself on any\n"
        "Tile IR. It skips kernels to which it does not apply, and gives the reason in a remark.\n"
        "Options override what the pass or a [plan](plan-schedules.md) would decide. These pages\n"
        "are written by `python -m tilewright.tools.pass_pages docs/rewrites`.\n\n"
        f"| pass | options | what it does |\n|------|---------|--------------|\n{rows}\n"
    )


def _page(kind: type[ModulePass]) -> str:
    rule = _rule(kind)
    number = "" if rule is None else f"\n`{rule}` in traces.\n"
    parts = [f"# {kind.name}\n{number}", _docstring(kind)]
    if options := list(_options(kind)):
        rows = "\n".join(f"| `{name}` | {type} | {says} |" for name, type, says in options)
        parts.append(f"| option | type | meaning |\n|--------|------|---------|\n{rows}\n")
    return "\n".join(parts)


def _rule(kind: type[ModulePass]) -> Rule | None:
    found = getattr(kind, "RULE", None) or getattr(inspect.getmodule(kind), "RULE", None)
    return found if isinstance(found, Rule) else None


def _docstring(kind: type[ModulePass]) -> str:
    return f"{inspect.getdoc(inspect.getmodule(kind))}\n"


def _first_sentence(kind: type[ModulePass]) -> str:
    text = " ".join(_docstring(kind).partition("\n\n")[0].split())
    return text.partition(". ")[0].rstrip(":.").replace("|", "\\|")


def _options_in_short(kind: type[ModulePass]) -> str:
    return ", ".join(f"`{name}`" for name, *_ in _options(kind)) or "-"


def _options(kind: type[ModulePass]) -> Iterator[tuple[str, str, str]]:
    """Yield name, type and docstring of each option, except the target, which every pass has."""
    docs = _field_docs(kind)
    for field in fields(kind):
        if field.name != "target":
            type = str(field.type).replace(" | None", "").replace("|", "\\|")
            yield field.name, type.removeprefix("<class '").removesuffix("'>"), docs[field.name]


def _field_docs(kind: type[ModulePass]) -> dict[str, str]:
    """
    Return the docstring below each field of a class, by the field's name; empty if there is none.
    """
    (definition,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(definition, ast.ClassDef)
    docs: dict[str, str] = {}
    for statement, after in zip(definition.body, definition.body[1:], strict=False):
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            continue
        match after:
            case ast.Expr(ast.Constant(str(text))):
                docs[statement.target.id] = " ".join(text.split())
            case _:
                docs[statement.target.id] = ""
    return docs


def main(folder: Path) -> None:
    """Write all pages to the folder."""
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        write_text(str(folder / name), text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
