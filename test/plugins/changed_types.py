# SPDX-License-Identifier: Apache-2.0
"""
Run pyright on the files whose types may have changed: `python test/plugins/changed_types.py`.

A file without errors is checked again after a change of its text, or of a file that it imports,
directly or through others. After a change of the configuration, of an installed package or of
Python's version, all files are.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".venv" / "types.json"
"""The state of each file when it was last without errors."""


class Sources:
    """Python files that import each other, and the folders in which pyright looks for imports."""

    def __init__(self, included: Iterable[Path], roots: Iterable[Path]) -> None:
        self.files = sorted({str(file) for each in included for file in each.rglob("*.py")})
        self._numbers = {file: number for number, file in enumerate(self.files)}
        self._roots = [str(root) for root in roots]

    def states(self) -> dict[str, str]:
        """Return for each file a digest of all texts that its types may come from."""
        texts = [Path(file).read_text() for file in self.files]
        named = [f"{file}={_digest(text)}\n" for file, text in zip(self.files, texts, strict=True)]
        direct = [self._imported(file, text) for file, text in zip(self.files, texts, strict=True)]
        return {
            file: _digest("".join(named[each] for each in _numbers_in(reached)))
            for file, reached in zip(self.files, _closed(direct), strict=True)
        }

    def _imported(self, file: str, text: str) -> set[int]:
        """Return the numbers of the files that the imports of a file may mean."""
        folder = Path(file).parent
        found: set[int] = set()
        for level, module, name in imports(text):
            places = (
                [*self._roots, str(folder)]
                if level == 0
                else [str([folder, *folder.parents][level - 1])]
            )
            for place in places:
                base = "/".join([place, *module.split(".")]) if module else place
                names = (
                    f"{base}.py",
                    f"{base}/__init__.py",
                    f"{base}/{name}.py",
                    f"{base}/{name}/__init__.py",
                )
                found.update(self._numbers[each] for each in names if each in self._numbers)
        return found


_IMPORT = re.compile(
    r"^ *(?:from +(?P<dots>\.*)(?P<module>[\w.]*) +import +(?P<names>\([^)]*\)|.*)"
    r"|import +(?P<modules>.*))",
    re.MULTILINE,
)


def imports(text: str) -> Iterator[tuple[int, str, str]]:
    """
    Yield dots, module and name of each import; of `import a.b`, each module with no name.

    A few words of the text that are no names do no harm: they are no files.
    """
    for found in _IMPORT.finditer(text):
        if found["modules"] is None:
            for name in re.findall(r"\w+", found["names"]):
                yield len(found["dots"]), found["module"], name
            continue
        for dotted in re.findall(r"[\w.]+", found["modules"]):
            parts = dotted.split(".")
            yield from ((0, ".".join(parts[: n + 1]), "") for n in range(len(parts)))


def _closed(direct: Sequence[set[int]]) -> list[int]:
    """Return what each file reaches, itself included, as a number with a bit for each file."""
    reached = [1 << number for number in range(len(direct))]
    is_growing = True
    while is_growing:
        is_growing = False
        for number, imported in enumerate(direct):
            before = reached[number]
            for each in imported:
                reached[number] |= reached[each]
            is_growing |= reached[number] != before
    return reached


def _numbers_in(bits: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set."""
    return (number for number, bit in enumerate(reversed(f"{bits:b}")) if bit == "1")


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def surroundings() -> str:
    """Return a digest of what the types of all files depend on."""
    packages = sorted(f"{each.name} {each.version}" for each in distributions())
    settings = (ROOT / "pyproject.toml").read_text()
    return _digest("\n".join([sys.version, settings, *packages]))


def sources() -> Sources:
    """Return the files that the configuration includes, in the folders that it names."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pyright"]
    included = [ROOT / folder for folder in settings["include"]]
    roots = [ROOT / "typings", *(ROOT / folder for folder in settings["extraPaths"])]
    return Sources(included, roots)


def main() -> int:
    """Check what may have changed; return pyright's exit code."""
    known, around = _known(), surroundings()
    states = {file: f"{around} {state}" for file, state in sources().states().items()}
    changed = [file for file, state in states.items() if known.get(file) != state]
    print(f"pyright: {len(changed)} of {len(states)} files may have other types", flush=True)
    if not changed:
        return 0
    code = checked(changed)
    if code == 0:
        KEPT.write_text(json.dumps(states))
    return code


def checked(files: list[str]) -> int:
    """Return pyright's exit code for files."""
    command = [sys.executable, "-m", "pyright", *files]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def _known() -> dict[str, Any]:
    try:
        return json.loads(KEPT.read_text())
    except (OSError, ValueError):
        return {}


if __name__ == "__main__":
    sys.exit(main())
