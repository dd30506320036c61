#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the pages of a SQLite file refer to one another in ways that no writer of SQLite does.

    forge_pages.py FILE TABLE shared   TABLE's root is 12 levels of pages that name one child each many times (300 in
                                       pages of 4096 bytes), above the rows that it had: 300^12 times as many
    forge_pages.py FILE TABLE self     TABLE's root names itself
    forge_pages.py FILE TABLE log      as shared, but the pages stand in FILE-wal

TABLE 'sqlite_schema' is the first page's."""
import sqlite3
import struct
import sys

LEVELS = 12


def interior(size, header, children):
    """An interior page of a table whose every cell names the same child."""
    page = bytearray(size)
    at, cells = size, []
    for key, child in enumerate(children[:-1]):
        cell = struct.pack(">IB", child, key % 127 + 1)
        at -= len(cell)
        page[at:at + len(cell)] = cell
        cells.append(at)
    page[header:header + 12] = struct.pack(">BHHHBI", 5, 0, len(cells), at, 0, children[-1])
    for i, cell in enumerate(cells):
        struct.pack_into(">H", page, header + 12 + 2 * i, cell)
    return page


def checksum(data, a, b):
    for i in range(0, len(data), 8):
        x, y = struct.unpack_from(">II", data, i)
        a = (a + x + b) & 0xffffffff
        b = (b + y + a) & 0xffffffff
    return a, b


def write_log(path, size, pages, count):
    head = struct.pack(">IIIIII", 0x377f0683, 3007000, size, 0, 17, 18)
    a, b = checksum(head, 0, 0)
    with open(path, "wb") as log:
        log.write(head + struct.pack(">II", a, b))
        for i, (number, page) in enumerate(pages):
            begin = struct.pack(">II", number, count if i == len(pages) - 1 else 0)
            a, b = checksum(begin, a, b)
            a, b = checksum(bytes(page), a, b)
            log.write(begin + struct.pack(">IIII", 17, 18, a, b) + page)


def main():
    path, table, kind = sys.argv[1:]
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = DELETE")
    root = 1 if table == "sqlite_schema" else db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
    db.close()
    data = bytearray(open(path, "rb").read())
    size = struct.unpack_from(">H", data, 16)[0]
    cells = (size - 120) // 8
    pages = [data[i:i + size] for i in range(0, len(data), size)]
    header = 100 if root == 1 else 0
    first = bytes(pages[0][:100])
    changed = {}
    if kind == "self":
        changed[root] = interior(size, header, [root, root])
    else:
        leaf = len(pages) + 1
        old = bytearray(pages[root - 1])
        if header:  # the cells' places stay, the header moves
            rows = struct.unpack_from(">H", old, header + 3)[0]
            old[0:8 + 2 * rows] = old[header:header + 8 + 2 * rows]
        changed[leaf] = old
        for level in range(1, LEVELS):
            changed[leaf + level] = interior(size, 0, [leaf + level - 1] * cells)
        changed[root] = interior(size, header, [leaf + LEVELS - 1] * cells)
    if header:
        changed[root][:100] = first
    count = max(len(pages), *changed)
    one = changed.setdefault(1, bytearray(pages[0]))
    struct.pack_into(">I", one, 28, count)
    one[92:96] = one[24:28]
    if kind == "log":
        pages[0][18:20] = one[18:20] = b"\2\2"
        write_log(path + "-wal", size, sorted(changed.items()), count)
        changed = {}
    pages += [bytearray(size)] * (count - len(pages) if kind != "log" else 0)
    for number, page in changed.items():
        pages[number - 1] = page
    with open(path, "wb") as file:
        file.write(b"".join(pages))


main()
