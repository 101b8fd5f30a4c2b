# SPDX-License-Identifier: Apache-2.0
"""
Compiled programs on disk (`codegen/file_cache`): a program that any process of the user compiled
before is neither lowered nor looked up again.

The cache key of a program contains all that its plan depends on:

- its IR with locations, that is the exported graph with its shapes;
- the target, and the GPU that is present, whose measurements are preferred;
- the database of measurements, by the time of its last change, and the goldens;
- the sources of this compiler, by the times of their last changes, and the versions of xDSL and
  NVRTC (which reports spills);
- the steps of schedules that installed packages add, with the sources of these packages.

Plans do not depend on the values of parameters.
"""

import pickle
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from tilewright.codegen import nvrtc
from tilewright.codegen.file_cache import FileCache, digest_of
from tilewright.codegen.gpu import present_gpu
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.launch_plan import Plan
from tilewright.codegen.spill_feedback import lower_to_cuda
from tilewright.passes.reporting.trace import is_listening
from tilewright.passes.scheduling_steps import SchedulingStep, added_steps
from tilewright.stages import stage
from tilewright.tuning.knowledge import Db, path_of
from tilewright.tuning.known_schedules import with_known_schedules

_PACKAGES = ("codegen", "dialects", "passes", "tuning")
"""Packages whose sources determine plans."""


def compiled_plan(module: ModuleOp, target: str, db: Db = True) -> Plan:
    """
    Return the plan of a program at any level, with its known schedules: from the cache, or compiled
    and stored there. With a listener for rewrites it is always compiled.

    Raises `DatabaseError` as `Knowledge` does, and all errors of lowering.
    """
    if is_listening():
        return _compiled(module, target, db)
    files = FileCache(".plan")
    name = digest_of(_parts(module, target, db))
    with stage("look for the compiled program"):
        kept = files.read(name)
    if kept is not None:
        return pickle.loads(kept)
    with warnings.catch_warnings(record=True) as caught:
        plan = _compiled(module, target, db)
    for each in caught:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    if not caught:  # a cached plan would not repeat the warnings
        files.write(name, pickle.dumps(plan))
    return plan


def _compiled(module: ModuleOp, target: str, db: Db) -> Plan:
    return plan_of(lower_to_cuda(with_known_schedules(module, target, db), target))


def _parts(module: ModuleOp, target: str, db: Db) -> Iterator[str]:
    """Yield the parts of the cache key: everything on which the plan of a program depends."""
    text = StringIO()
    Printer(text, print_debuginfo=True).print_op(module)
    yield text.getvalue()
    yield target
    yield str(present_gpu())
    yield from _database(db)
    yield from _compiler()


def _database(db: Db) -> Iterator[str]:
    """Yield the state of the database: of its file, and of its write-ahead log, a separate file."""
    yield str(db is False)
    if (path := path_of(db)) is not None:
        yield from map(_state, (path, path.with_name(f"{path.name}-wal")))


@cache
def _compiler() -> tuple[str, ...]:
    folders = [Path(*import_module(f"tilewright.{each}").__path__) for each in _PACKAGES]
    folders += [path for step in added_steps() for path in _sources_of(step)]
    files = (file for folder in folders for file in _files(folder) if file.suffix != ".pyc")
    has_nvrtc = "{}.{}".format(*nvrtc.version()) if nvrtc.available() else "no NVRTC"
    return version("xdsl"), has_nvrtc, str(added_steps()), *sorted(map(_state, files))


def _sources_of(step: SchedulingStep) -> Iterator[Path]:
    """Yield the files and folders of the packages that add a step."""
    paths = [each for each in (step.path, step.cost, step.taste, step.may_be_left_out) if each]
    for top in sorted({p.partition(":")[0].partition(".")[0] for p in paths if isinstance(p, str)}):
        if (spec := find_spec(top)) is not None:
            folders = spec.submodule_search_locations or ([spec.origin] if spec.origin else [])
            yield from map(Path, folders)


def _files(path: Path) -> Iterable[Path]:
    return path.rglob("*") if path.is_dir() else [path]


def _state(file: Path) -> str:
    """
    Return the path, size and time of a file; empty for an empty file, which SQLite makes to read.
    """
    try:
        state = file.stat()
    except OSError:
        return ""
    return f"{file}: {state.st_size} bytes at {state.st_mtime_ns} ns" if state.st_size else ""
