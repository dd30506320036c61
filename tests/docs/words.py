#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual stays short and readable:   words.py weight|language SOURCE [--write]

weight: README, CONTRIBUTING, CHANGELOG and docs/*.md have at most so many words as words.tsv says, and no page is
without a row. language: at most so many per cent of a page's sentences are longer than 25 and than 35 words, and so
many of its paragraphs longer than 100. A page has at most 3,300 words, all together 62,000. The limits of words.tsv may only fall: --write lowers those that a page has
left behind, and adds pages."""
import glob
import math
import os
import re
import sys

TABLE = "tests/docs/words.tsv"
ALL_WORDS, PAGE_WORDS = 62000, 3300


def paragraphs(text):
    """The prose of a page: no code, tables, headings and pictures."""
    text = re.sub(r"^( *)```.*?^\1``` *$", "\n\n", text, flags=re.M | re.S)
    found, lines = [], []
    for line in text.split("\n") + [""]:
        words = line.strip()
        begins = re.match(r"[-*] |\d+\. ", words)
        if line.startswith("    ") and not begins and not lines:
            continue
        if not words or words[0] in "|#!" or begins:
            found += [" ".join(lines)] if lines else []
            lines = []
        if words and words[0] not in "|#!":
            lines.append(re.sub(r"^([-*] |\d+\. )", "", words))
    return found


def sentences(paragraph):
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
    text = re.sub(r"`[^`]*`", "CODE", text)
    text = re.sub(r"\b(e\.g|i\.e|etc|al|vs|cf)\.", r"\1", text)
    for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z\"'(])", text):
        words = re.findall(r"[A-Za-z0-9][\w'%.-]*", sentence)
        if len(words) >= 4:
            yield len(words)


def measure(path):
    """words, and per cent of sentences above 25 and 35 words, of paragraphs above 100."""
    text = open(path, encoding="utf-8").read()
    prose = paragraphs(text)
    lengths = [n for p in prose for n in sentences(p)] or [0]
    long = [len(re.findall(r"\w+", p)) > 100 for p in prose] or [False]
    share = lambda flags: math.ceil(100 * sum(flags) / len(flags))
    return [len(text.split()), share([n > 25 for n in lengths]), share([n > 35 for n in lengths]), share(long)]


def main():
    what, source = sys.argv[1:3]
    os.chdir(source)
    pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"] + sorted(glob.glob("docs/*.md"))
    now = {page: measure(page) for page in pages}
    rows = [line.rstrip("\n").split("\t") for line in open(TABLE)] if os.path.exists(TABLE) else []
    limits = {row[0]: [int(n) for n in row[1:]] for row in rows[1:]}
    if "--write" in sys.argv:
        lowered = {p: [min(a, b) for a, b in zip(now[p], limits.get(p, now[p]))] for p in pages}
        with open(TABLE, "w") as file:
            print("page\twords\tsentences above 25 words, %\tabove 35, %\tparagraphs above 100 words, %", file=file)
            for page in pages:
                print(page, *lowered[page], sep="\t", file=file)
        return 0
    faults = [f"{page}: no row in {TABLE}" for page in pages if page not in limits]
    faults += [f"{TABLE}: there is no {page}" for page in limits if page not in now]
    names = ["words", "% of sentences above 25 words", "% of sentences above 35 words", "% of paragraphs above 100 words"]
    for page in set(pages) & set(limits):
        for i in [0] if what == "weight" else [1, 2, 3]:
            if now[page][i] > limits[page][i]:
                faults.append(f"{page}: {now[page][i]} {names[i]}, at most {limits[page][i]}")
    total = sum(n[0] for n in now.values())
    if what == "weight":
        faults += [f"{page}: more than {PAGE_WORDS} words" for page in pages if now[page][0] > PAGE_WORDS]
        faults += [f"{total} words in all, at most {ALL_WORDS}"] if total > ALL_WORDS else []
    print(*sorted(faults), sep="\n")
    print(f"{total} words of {len(pages)} pages; at most {ALL_WORDS}, {PAGE_WORDS} a page")
    return bool(faults)


sys.exit(main())
