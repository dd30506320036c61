#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A reader's first questions are answered from README:   paths.py SOURCE

paths.tsv has a row for each question: the links that the reader follows, the heading below which the answer stands,
and a piece of the answer. A link is WORDS@TARGET: README, or the page before, has a line with these words and a link
to TARGET, which is a page or page#heading as seen from SOURCE. There are at most two. The answer stands on the last
page, below its heading, within 400 words.

Also: a page above 1,500 words has a contents list, a link to each heading of the second level, before the first of them.
And reports.md has a heading for each kind of report item."""
import glob
import os
import re
import sys

CLICKS, WORDS, LONG_PAGE = 2, 400, 1500
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")


def anchor(heading):
    """GitHub's name of a heading."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).lower()).replace(" ", "-")


def sections(text):
    """(level, heading, anchor, text below it up to the next heading) of each heading outside of code."""
    out, fenced = [], False
    for line in text.splitlines(keepends=True):
        fenced ^= bool(re.match(r" *```", line))
        found = None if fenced else re.match(r"(#+) (.*)", line)
        if found:
            out.append([len(found.group(1)), found.group(2), anchor(found.group(2)), ""])
        elif out:
            out[-1][3] += line
    return out


def chunks(text):
    """What is read as one: a row of a table, an item of a list, a paragraph."""
    out = [""]
    for line in text.splitlines():
        if not line.strip() or re.match(r" *([-*|]|\d+\.) ", line):
            out.append("")
        out[-1] += line + " "
    return out


class Manual:
    def __init__(self, source):
        self.source = source

    def text(self, page):
        with open(os.path.join(self.source, page), encoding="utf-8") as file:
            return file.read()

    def leads(self, page, words, target):
        """Has the page a line with these words and a link to the target?"""
        for chunk in chunks(self.text(page)):
            targets = [os.path.normpath(os.path.join(os.path.dirname(page), to)) if to[0] != "#" else page + to
                       for _, to in LINK.findall(chunk)]
            if target in targets and words.lower() in LINK.sub(r"\1", chunk).lower():
                return True
        return False

    def problem(self, links, heading, answer):
        """What is wrong with a row, or None."""
        page, at = "README.md", ""
        if len(links) > CLICKS:
            return f"{len(links)} links, at most {CLICKS}"
        for link in links:
            words, _, target = link.partition("@")
            if not self.leads(page, words, target):
                return f"{page} has no line with '{words}' and a link to {target}"
            page, _, at = target.partition("#")
        found = [s for s in sections(self.text(page)) if s[1] == heading]
        if at and at not in [s[2] for s in sections(self.text(page))]:
            return f"{page} has no heading '{at}'"
        if len(found) != 1:
            return f"{page} has {len(found)} headings '{heading}'"
        plain = re.sub(r"\s+", " ", found[0][3])
        if answer not in plain:
            return f"{page}, '{heading}', does not say '{answer}'"
        before = len(plain[:plain.index(answer)].split())
        return f"{before} words are read until '{answer}', at most {WORDS}" if before > WORDS else None

    def contents_problem(self, page):
        """Which heading the contents list of a long page lacks, or None."""
        text = self.text(page)
        headings = [s for s in sections(text) if s[0] == 2]
        if len(text.split()) <= LONG_PAGE or not headings:
            return None
        first = text.index("\n## ")
        listed = [to for _, to in LINK.findall(text[:first])]
        lacking = [s[1] for s in headings if "#" + s[2] not in listed]
        return f"{page}: its contents list lacks {', '.join(lacking)}" if lacking else None


def kinds_without_heading(manual, source):
    """The kinds of report items that reports.md does not explain."""
    named = re.compile(r"struct orch_report_kind ORCH_REPORT_\w+ = \{\s*\.name = \"(\w+)\"")
    kinds = [kind for path in glob.glob(source + "/**/item_*.c", recursive=True) for kind in named.findall(open(path).read())]
    known = {word for s in sections(manual.text("docs/reports.md")) for word in re.findall(r"\w+", s[1])}
    return ["docs/reports.md has no heading for '%s'" % kind for kind in kinds if kind not in known] if len(kinds) > 20 else [
        "only %d kinds of report items were found" % len(kinds)]


def main():
    source = sys.argv[1]
    manual = Manual(source)
    rows = [line.rstrip("\n").split("\t") for line in open(os.path.join(source, "tests/docs/paths.tsv"), encoding="utf-8")][1:]
    faults = []
    for question, path, heading, answer in rows:
        why = manual.problem([link for link in path.split(" > ") if link], heading, answer)
        faults += [f"{question}\n    {why}"] if why else []
    pages = ["CONTRIBUTING.md"] + ["docs/" + name for name in sorted(os.listdir(source + "/docs")) if name.endswith(".md")]
    faults += [why for why in map(manual.contents_problem, pages) if why] + kinds_without_heading(manual, source)
    print(*faults, sep="\n")
    print(f"{len(rows)} questions")
    return bool(faults) or len(rows) < 15


sys.exit(main())
