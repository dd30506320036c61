#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds a report's page against what it promises: check_page.py FILE.

Tags are closed in order, headings leave no level out, ids are there once and links lead somewhere,
pictures and charts have a text, table headers a scope; there is no script, no handler, and nothing
that a browser would fetch.
"""
import html.parser
import re
import sys

VOID = {"meta", "img", "br", "hr", "link", "input", "col"}
SVG_ALONE = {"path", "rect", "circle", "use", "polygon", "polyline", "line", "ellipse"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.faults, self.levels = [], [], [], [], []
        self.charts = self.titles = self.tables = 0

    def fault(self, text):
        self.faults.append(f"line {self.getpos()[0]}: {text}")

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        names = dict(attrs)
        if len(names) != len(attrs):
            self.fault(f"<{tag}> has an attribute twice")
        if tag in ("script", "iframe", "object", "embed", "link", "form", "base", "foreignobject"):
            self.fault(f"<{tag}>")
        for name, value in attrs:
            self.check_attribute(tag, name, value or "")
        if tag == "img" and not names.get("alt"):
            self.fault("a picture without alt")
        if tag == "th" and names.get("scope") not in ("row", "col", "colgroup"):
            self.fault("a header without scope")
        if re.fullmatch("h[1-6]", tag):
            level = int(tag[1])
            if level > (self.levels[-1] if self.levels else 0) + 1:
                self.fault(f"<{tag}> leaves a level out")
            self.levels.append(level)
        self.charts += tag == "svg"
        self.titles += tag == "title" and "svg" in self.open
        self.tables += tag == "table"

    def check_attribute(self, tag, name, value):
        if name.startswith("on"):
            self.fault(f"<{tag} {name}>")
        if name == "id":
            self.ids.append(value)
        if name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
            if value.startswith("#"):
                self.links.append(value[1:])
            elif name == "src" and not value.startswith("data:image/png;base64,"):
                self.fault(f"fetches {value[:60]}")
            elif re.match(r"[a-z]+:|//", value) and name != "src":
                self.fault(f"leads out: {value[:60]}")
        if "url(" in value and "url(#" not in value:
            self.fault(f"<{tag} {name}> fetches")

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.fault(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    page = Page()
    page.feed(text)
    page.close()
    faults = page.faults
    if page.open:
        faults.append(f"never closed: {page.open}")
    faults += [f"id '{i}' is there twice" for i in sorted(set(page.ids)) if page.ids.count(i) > 1]
    faults += [f"'#{link}' leads nowhere" for link in page.links if link not in page.ids]
    if page.charts != page.titles:
        faults.append(f"{page.charts} charts, {page.titles} of them with a title")
    if page.levels.count(1) != 1:
        faults.append("not one <h1>")
    if "Content-Security-Policy" not in text or "default-src 'none'" not in text:
        faults.append("no content security policy")
    style = re.search(r"<style>(.*?)</style>", text, re.S).group(1)
    if "@import" in style or "url(" in style:
        faults.append("the style sheet fetches")
    for fault in faults:
        print(fault)
    print(f"{page.tables} tables, {page.charts} charts")
    return bool(faults)


sys.exit(main())
