#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures of README and the manual are what the program makes today:   pictures.py charts|page BUILD SOURCE

Each is made anew by docs/pictures/charts.sh or serve.sh, and compared with the one in the tree by what it says, not by how
it is drawn, so that fonts, the browser's version and the speed of this machine do not matter:

- charts (SVG): the texts in their order (title, description, axes, legend), and how many elements of each kind there are.
  Losses are equal on every machine, so the texts of curves.svg have to be equal. The others show measured times: only their
  texts with a letter are compared, and numbers in them may differ.
- page (PNG): serve.sh writes the texts that a picture shows into NAME.txt, with the picture's SHA-256. So the PNG in the tree
  belongs to its text, and the text is compared with that of the page of today. Times, keys, paths and the metrics of the
  machine (system/...) may differ. Of a table of more than 20 lines, as that of all GPUs and prices, the head is compared.

charts also looks whether every picture in docs/pictures is shown on a page. When a picture has changed on purpose, run the
script and commit what it makes."""
import collections
import difflib
import glob
import hashlib
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

MEASURED = ["times.svg", "front.svg", "contour.svg"]
TIME = r"\b\d+(\.\d+)?([eE][-+]?\d+)? (ns|us|µs|ms|s|min|h|d)\b"


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def svg(path):
    """The lines to compare of a chart."""
    elements = list(xml.parse(path).getroot().iter())
    texts = ["".join(e.itertext()) for e in elements if e.tag.split("}")[1] in ("title", "desc", "text")]
    if os.path.basename(path) in MEASURED:
        text = " ".join(re.sub(r"\d+(\.\d+)?", "N", text) for text in texts if re.search(r"[A-Za-z]{2}", text))
        return re.sub("; a bar that reaches the frame goes on beyond it", "", text).split(", ") # as far as times decide
    count = collections.Counter(e.tag.split("}")[1] for e in elements)
    return texts + ["%s: %d" % pair for pair in sorted(count.items())]


def page(path):
    """The lines to compare of a page's texts."""
    out = []
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()[1:]
    tables = [list(rows) for _, rows in itertools.groupby(lines, lambda line: line.count("\t") >= 3)]
    for line in itertools.chain(*(rows[:1] if len(rows) > 20 and rows[0].count("\t") >= 3 else rows for rows in tables)):
        if line.startswith("system/"):
            continue
        line = re.sub(TIME, "TIME", line)
        line = re.sub(r"\S*/\.orch/results\.db", "STORE", line)
        line = re.sub(r"\b[0-9a-f]{8}\b", "KEY", line)
        line = re.sub(r"\$\d+(\.\d+)?", "$N", line)
        out.append(re.sub(r"\s+", " ", line).strip())
    return [line for line in out if line]


def differences(source, made, names, read):
    """What differs between the pictures in the tree and those that were made."""
    out = []
    for name in names:
        old, new = (read(os.path.join(folder, name)) for folder in (os.path.join(source, "docs/pictures"), made))
        if old != new:
            out += difflib.unified_diff(old, new, "docs/pictures/" + name, "made now", lineterm="", n=1)
    return out


def of_their_texts(source):
    """The PNG files that do not belong to the text beside them."""
    out = []
    for path in glob.glob(source + "/docs/pictures/*.png"):
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        text = path[:-4] + ".txt"
        if not os.path.exists(text) or open(text, encoding="utf-8").readline().split() != ["sha256", digest]:
            out.append("%s is not the picture of %s" % (os.path.basename(path), os.path.basename(text)))
    return out


def not_shown(source):
    """The pictures that no page shows or links."""
    pages = "".join(open(path, encoding="utf-8").read() for path in [source + "/README.md"] + glob.glob(source + "/docs/*.md"))
    return ["no page shows " + os.path.basename(path) for path in glob.glob(source + "/docs/pictures/*.[ps][nv]g")
            if "pictures/%s)" % os.path.basename(path) not in pages]


def main():
    what, build, source = sys.argv[1], *map(os.path.realpath, sys.argv[2:4])
    script = {"charts": "charts.sh", "page": "serve.sh"}[what]
    faults = not_shown(source) + of_their_texts(source)
    if what == "page":
        for program in ("chromium", "chromedriver"):
            if not shutil.which(program):
                skip("%s is not installed (./build.sh browser)" % program)
        if subprocess.run(["/usr/bin/python3", "-c", "import selenium"], stderr=subprocess.DEVNULL).returncode:
            skip("python3-selenium is not installed (./build.sh browser)")
    with tempfile.TemporaryDirectory() as made:
        env = dict(os.environ, LC_ALL="C.UTF-8", ORCH_SLOTS=made + "/slots", HOME=made, TMPDIR=made)
        done = subprocess.run([os.path.join(source, "docs/pictures", script), build, made], env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit("FAILED: %s ended with %d\n%s" % (script, done.returncode, done.stdout))
        kind, read = (".svg", svg) if what == "charts" else (".txt", page)
        names = sorted(name for name in os.listdir(os.path.join(source, "docs/pictures")) if name.endswith(kind))
        faults += differences(source, made, names, read)
    if faults:
        sys.exit("\n".join(["FAILED: run docs/pictures/%s when this is as it should be" % script] + faults))
    print("%d pictures say what the program shows today" % len(names))


main()
