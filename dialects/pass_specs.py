# SPDX-License-Identifier: Apache-2.0
"""
Syntax of pipelines: names of passes with their options, whether or not there are such passes.

Kernels keep pipelines as properties: the schedule that made them, and the planned steps.
"""

import re
from functools import lru_cache

from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.arg_spec import parse_pipeline as parse_specs
from xdsl.utils.exceptions import ArgSpecParseError

from tilewright.errors import UsageError

_MODULE_ANCHOR = re.compile(r"\s*builtin\.module\((.*)\)\s*", re.DOTALL)
_OTHER_ANCHOR = re.compile(r"([\w.]+)\(")
_OPTIONS = re.compile(r"\{([^{}]*)\}")
_QUOTED_WORD = re.compile(r'"(?!true"|false")([A-Za-z_][\w-]*)"')
_VERBATIM = re.compile(r'("(?:\\.|[^"\\])*"|\[[^\]]*\])')  # "text", and mlir-opt[passes]


@lru_cache(maxsize=1 << 10)  # each pass looks at the steps of all kernels
def parse_spec_list(text: str) -> tuple[ArgSpec, ...]:
    """Return the names and options in `text`, of passes that may not exist."""
    text = _normalized(text)
    try:
        specs = tuple(parse_specs(text))
    except ArgSpecParseError as err:
        raise malformed(err) from err
    except RuntimeError as err:  # the tokens ran out: the parser's generator raised StopIteration
        raise UsageError(f"the pipeline ends too early: '{text}'") from err
    _check_once(text)
    return specs


def spec_text(spec: object) -> str:
    """A pass with its options, quoted where that is needed only."""
    return _QUOTED_WORD.sub(r"\1", str(spec))


def _check_once(text: str) -> None:
    """Raise `UsageError` for an option that one pass is given twice: xDSL takes the last."""
    for options in _OPTIONS.findall(_VERBATIM.sub('""', text)):
        names = [option.partition("=")[0].replace("-", "_") for option in options.split()]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UsageError(f"the option '{twice}' is given twice in '{{{options}}}'")


def malformed(err: ArgSpecParseError) -> UsageError:
    """Convert xDSL's error about the text of a pipeline or target."""
    _, place, source, caret, message = str(err).splitlines()
    return UsageError(f"{message.strip()}\n{source}\n{caret}", where=place)


def _normalized(text: str) -> str:
    """Remove MLIR's anchor, and white space that xDSL's grammar does not allow."""
    if anchored := _MODULE_ANCHOR.fullmatch(text):
        text = anchored[1]
    pieces = _VERBATIM.split(text.strip())
    for i in range(0, len(pieces), 2):  # the odd ones are verbatim
        if other := _OTHER_ANCHOR.search(pieces[i]):
            raise UsageError(
                f"cannot nest passes in '{other[1]}': all passes run on builtin.module"
            )
        pieces[i] = re.sub(r"\s*([,={}])\s*", r"\1", pieces[i])
    return "".join(pieces)
