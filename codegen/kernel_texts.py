# SPDX-License-Identifier: Apache-2.0
"""
Division of a CUDA text into one text for each kernel.

NVRTC compiles the texts in parallel on all cores, and a cached kernel that did not change is not
compiled again.

    struct ...                                  struct ...                struct ...
    // grid 4, block 256                  ->    #line 9 "kernels.cu"      #line 14 "kernels.cu"
    extern "C" __global__ void ... a(...) {     // grid 4, block 256      // grid 8, block 128
    ...                                         ... a(...) {              ... b(...) {

Lines keep their numbers of the whole text.
"""

import re
from collections.abc import Iterable

from tilewright.codegen.launch_plan import SOURCE_NAME

_BEGIN = re.compile(r"^(?=// grid \d+, block \d+)", re.MULTILINE)
"""Pattern of the comment that the printer writes above each kernel."""

_NAME = re.compile(r'^extern "C" __global__ .*?(\w+)\((?!\d)', re.MULTILINE)


def kernel_texts(source: str, names: Iterable[str]) -> dict[str, str]:
    """
    Return for each kernel in `names` a text that compiles without the other kernels.

    A source that the printer did not write, or one with a single kernel, is not divided: each
    kernel gets the whole source.
    """
    head, *kernels = _BEGIN.split(source)
    if len(kernels) < 2:
        return dict.fromkeys(names, source)
    texts, line = dict[str, str](), 1 + head.count("\n")
    for kernel in kernels:
        if (name := _NAME.search(kernel)) is not None:
            texts[name[1]] = f'{head}#line {line} "{SOURCE_NAME}"\n{kernel}'
        line += kernel.count("\n")
    return {name: texts.get(name, source) for name in names}
