# SPDX-License-Identifier: Apache-2.0
"""
One cubin with the machine code and the line numbers of several cubins.

    .text.a, .debug_line, ...   and   .text.b, .debug_line, ...
    ->  .text.a, .text.b, .debug_line with the lines of a, then those of b

nvdisasm takes a quarter of a second to start, and a few hundredths of a second for a kernel.
References: ELF-64 Object File Format; DWARF, "Line Number Information", of which a section may have
several programs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple

_HEADER = Struct("<16sHHIQQQIHHHHHH")
_SECTION = Struct("<IIQQQQIIQQ")
_SYMBOL = Struct("<IBBHQQ")
_RELOCATION = Struct("<QQq")

_SEGMENTS_AT, _SECTIONS_AT, _SEGMENTS, _SECTIONS, _NAMES = 5, 6, 10, 12, 13
"""Fields of the header: offsets and numbers of segments and sections, and the section of names."""

_PLAIN, _SYMBOLS, _STRINGS, _RELOCATIONS, _NO_BITS = 1, 2, 3, 4, 8
"""Kinds of sections."""

_OF_SECTION = 0x40
"""Flag of a section whose `info` is the index of another section."""

_OF_CODE = 0xFF000000
"""Bits of a code section's `info` that are the number of registers; the others are a symbol."""

_LINES = ".debug_line"
_NEEDED = {".symtab", ".strtab", _LINES, f".rela{_LINES}"}
_ON_TARGET = (".note.nv.cuinfo", ".nv.compat")
"""Sections that are equal in all cubins for one target."""

_FIRST_CODE = 7
"""Index of the first code section in a joined cubin."""


class _Row(NamedTuple):
    """Row of a table of sections; `name` is an offset in a section of names."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


class Section(NamedTuple):
    """A section of a cubin. `link`, `info`, `align` and `entry` are fields of ELF's header."""

    name: str
    kind: int
    flags: int
    data: bytes
    link: int = 0
    info: int = 0
    align: int = 1
    entry: int = 0

    @property
    def is_code(self) -> bool:
        """True for machine code."""
        return self.name.startswith(".text.")


class _Symbol(NamedTuple):
    name: str
    info: int
    other: int
    section: int
    value: int
    size: int

    @property
    def is_local(self) -> bool:
        return self.info >> 4 == 0


@dataclass(frozen=True)
class Cubin:
    """Sections of a cubin."""

    header: tuple[int, ...]
    sections: tuple[Section, ...]

    @property
    def code(self) -> dict[int, Section]:
        """Sections with machine code, by index."""
        return {n: section for n, section in enumerate(self.sections) if section.is_code}

    @property
    def names(self) -> list[str]:
        """Names of the sections with machine code."""
        return [section.name for section in self.code.values()]

    @property
    def is_joinable(self) -> bool:
        """True if lines of the code are known, and no code refers to other sections."""
        has = {section.name for section in self.sections}
        return has >= _NEEDED and not any(self.data(f".rela{name}") for name in self.names)

    def data(self, name: str) -> bytes:
        """Return the content of the section `name`; empty without one."""
        return next((each.data for each in self.sections if each.name == name), b"")


def parsed(cubin: bytes) -> Cubin:
    """Return the sections of a cubin."""
    header: tuple[int, ...] = _HEADER.unpack_from(cubin)
    begin, number = header[_SECTIONS_AT], header[_SECTIONS]
    rows = [_Row(*_SECTION.unpack_from(cubin, begin + n * _SECTION.size)) for n in range(number)]
    names = rows[header[_NAMES]].offset
    return Cubin(header, tuple(_section(cubin, row, names) for row in rows))


def _section(cubin: bytes, row: _Row, names: int) -> Section:
    data = b"" if row.kind == _NO_BITS else cubin[row.offset : row.offset + row.size]
    name = _string(cubin, names + row.name)
    return Section(name, row.kind, row.flags, data, row.link, row.info, row.align, row.entry)


def _string(data: bytes, begin: int) -> str:
    return data[begin : data.index(b"\0", begin)].decode()


def joined(cubins: Sequence[Cubin]) -> bytes:
    """
    Return one cubin with the code of joinable cubins, which are for one target. Names of all code
    sections differ.
    """
    symbols = [*_symbols(cubins)]
    # Local symbols are first in a table.
    order = sorted(range(len(symbols)), key=lambda n: not symbols[n][1].is_local)
    index = {symbols[n][0]: place for place, n in enumerate(order, start=1)}
    strings, table = _tables([symbols[n][1] for n in order])
    relocations = b"".join(_line_relocations(cubins, index))
    # Offsets of inlined functions' names are not changed. nvdisasm does not print the names.
    names = max((cubin.data(".debug_str") for cubin in cubins), key=len)
    first_global = 1 + sum(symbol.is_local for _, symbol in symbols)
    sections = [
        Section(".strtab", _STRINGS, 0, strings),
        Section(".symtab", _SYMBOLS, 0, table, 2, first_global, 8, _SYMBOL.size),
        Section(_LINES, _PLAIN, 0, b"".join(cubin.data(_LINES) for cubin in cubins)),
        Section(".debug_str", _PLAIN, 0, names),
        Section(
            f".rela{_LINES}", _RELOCATIONS, _OF_SECTION, relocations, 3, 4, 8, _RELOCATION.size
        ),
    ]
    for number, cubin in enumerate(cubins):
        for code in cubin.code.values():
            symbol = index.get((number, code.info & ~_OF_CODE), 0)
            sections.append(code._replace(link=3, info=code.info & _OF_CODE | symbol))
    target = (each for each in cubins[0].sections if each.name in _ON_TARGET)
    return _file(cubins[0].header, [*sections, *(each._replace(link=0, info=0) for each in target)])


def _symbols(cubins: Sequence[Cubin]) -> Iterator[tuple[tuple[int, int], _Symbol]]:
    """
    Yield the symbols in code sections, with the number of their cubin and their index in it.
    Sections are those of the joined cubin.
    """
    first = _FIRST_CODE
    for number, cubin in enumerate(cubins):
        places = {section: first + n for n, section in enumerate(cubin.code)}
        first += len(places)
        strings = cubin.data(".strtab")
        for n, row in enumerate(_SYMBOL.iter_unpack(cubin.data(".symtab"))):
            name, info, other, section, value, size = row
            if section in places:
                symbol = _Symbol(_string(strings, name), info, other, places[section], value, size)
                yield (number, n), symbol


def _tables(symbols: Sequence[_Symbol]) -> tuple[bytes, bytes]:
    """Return a table of strings, and a table of symbols that uses it."""
    strings, table = bytearray(1), bytearray(_SYMBOL.size)
    for symbol in symbols:
        table += _SYMBOL.pack(len(strings), *symbol[1:])
        strings += symbol.name.encode() + b"\0"
    return bytes(strings), bytes(table)


def _line_relocations(
    cubins: Sequence[Cubin], index: Mapping[tuple[int, int], int]
) -> Iterator[bytes]:
    """
    Yield relocations of lines: places where the lines of a code section begin. Symbols are those
    of the joined cubin.
    """
    begin = 0
    for number, cubin in enumerate(cubins):
        for offset, info, addend in _RELOCATION.iter_unpack(cubin.data(f".rela{_LINES}")):
            symbol = index[number, info >> 32]
            yield _RELOCATION.pack(begin + offset, symbol << 32 | info & 0xFFFFFFFF, addend)
        begin += len(cubin.data(_LINES))


def _file(header: Sequence[int], sections: Sequence[Section]) -> bytes:
    """
    Return a file with a header like `header`. A section for names is added before the others.
    """
    names = b"".join(
        f"{name}\0".encode() for name in ("", ".shstrtab", *(s.name for s in sections))
    )
    every = [Section(".shstrtab", _STRINGS, 0, names), *sections]
    content, table, name = bytearray(_HEADER.size), bytearray(_SECTION.size), 1
    for section in every:
        content += bytes(-len(content) % section.align)
        row = _Row(
            name, section.kind, section.flags, 0, len(content), len(section.data), *section[4:]
        )
        table += _SECTION.pack(*row)
        content += section.data
        name += len(section.name) + 1
    content += bytes(-len(content) % 8)
    fields = [*header]
    fields[_SEGMENTS_AT] = fields[_SEGMENTS] = 0
    fields[_SECTIONS_AT], fields[_SECTIONS], fields[_NAMES] = len(content), 1 + len(every), 1
    _HEADER.pack_into(content, 0, *fields)
    return bytes(content + table)
