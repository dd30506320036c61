# SPDX-License-Identifier: GPL-3.0-or-later
"""circles.py ROOT LEAST: files of one folder, or folders, that call each other in a circle.

A file that calls another cannot be understood, tested or moved without it; files in a circle are one file in pieces.
For each folder: which file defines which function (functions at the beginning of a line, in .c files, not static), and
which file names it (comments and texts left out). The strongly connected groups of more than one file are the circles.
The same holds of the folders below core, of those below lib, and so on, for which docs/layers.txt looks at includes alone.
Those that are meant stand in docs/circles.txt, a line each: the files, a colon, the reason. Any other circle fails, and
so does a line that names none: it is out of date.

A folder has fewer than 40 .c files, but those of WIDE, whose figures may only fall.
The names of .c files are unique in the whole program: two files of one name fail, whatever their folders.
A function that other files can call has a name that begins with orch_; main and the torch adapter's C++ are exempt.
"""
import collections
import os
import re
import sys

FOLDERS = ("core", "features", "lib", "plugins", "predictors", "store")
CLEAN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
# what stands before a '{' at the beginning of a line, from the end of the previous thing on
DEFINITION = re.compile(r"(?:^|\n)([A-Za-z_][^;{}#]*?)\)\s*\n\{", re.S)
TYPE_OR_MEMBER = re.compile(r"\b(?:struct|enum|union)\s+\w+|(?:\.|->)\s*[A-Za-z_]\w*")
WORD = re.compile(r"[A-Za-z_]\w*")
WIDEST = 39
WIDE = {"core/render": 42}


def defined(text):
    """The names of the functions of a cleaned C text that other files can call."""
    names = set()
    for head in DEFINITION.findall(text):
        name = re.match(r"[^(]*?(\w+)\s*\(", head, re.S)
        if name and not re.search(r"\bstatic\b", head):
            names.add(name.group(1))
    return names


def read(path):
    with open(path, encoding="utf-8") as file:
        return CLEAN.sub(" ", file.read())


def uses(texts, place):
    """Place -> {other place: names of its functions that it uses}; place() says where a file of `texts` belongs."""
    owner = collections.defaultdict(set)
    for name, text in texts.items():
        for function in defined(text):
            owner[function].add(place(name))
    found = collections.defaultdict(lambda: collections.defaultdict(set))
    for name, text in texts.items():
        mine = found[place(name)]
        for word in set(WORD.findall(TYPE_OR_MEMBER.sub(" ", text))):
            if place(name) not in owner.get(word, {place(name)}) and len(owner[word]) == 1:
                mine[next(iter(owner[word]))].add(word)
    return found


def calls(folder):
    """File -> {file of the same folder: names of its functions that it uses}."""
    return uses({name: read(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".c")}, str)


def rooms(root, top):
    """Folder -> {folder below the same top: names of its functions that it uses}."""
    texts = {os.path.relpath(os.path.join(folder, name), root): read(os.path.join(folder, name))
             for folder, _, names in sorted(os.walk(os.path.join(root, top))) for name in sorted(names) if name.endswith(".c")}
    return uses(texts, os.path.dirname)


def groups(graph):
    """Tarjan's strongly connected components with more than one member."""
    index, low, stack, out = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                out.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return out


def listed(path):
    """The circles that are meant: {files: reason}."""
    out = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            files, colon, reason = line.partition(":")
            if not colon or not reason.strip():
                sys.exit(f"{path}:{number}: write 'FILE FILE ...: reason'")
            out[tuple(sorted(files.split()))] = reason.strip()
    return out


def repeated(root):
    """Name -> paths, of each .c file name that occurs more than once in the program."""
    paths = collections.defaultdict(list)
    for top in FOLDERS + ("bench",):
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in names:
                if name.endswith(".c"):
                    paths[name].append(os.path.relpath(os.path.join(folder, name), root))
    return {name: sorted(found) for name, found in paths.items() if len(found) > 1}


# This file stands before functions of mbed TLS.
BEFORE_LIBRARIES = (("lib/vcs", "libgit2_init.c"),)


def unprefixed(root):
    """Lines "file: name", one for each function without the prefix that other files can call."""
    found = []
    for top in FOLDERS:
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            place = os.path.relpath(folder, root)
            for name in sorted(names):
                if name.endswith(".c"):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        functions = defined(CLEAN.sub(" ", file.read()))
                    found += [f"{place}/{name}: {f}" for f in sorted(functions)
                              if f != "main" and not re.match("orch_|ORCH_", f)
                              and (place, name) not in BEFORE_LIBRARIES]
    return found


def report(graph, name_of, allowed, seen):
    """Prints the circles of a graph that are not allowed and returns their number; `seen` gets all."""
    wrong = 0
    for group in groups(graph):
        paths = tuple(sorted(name_of(one) for one in group))
        seen.add(paths)
        if paths in allowed:
            continue
        wrong += 1
        print(f"circle: {' '.join(paths)}")
        for one in group:
            for other in group:
                if graph[one].get(other):
                    print(f"  {one} uses of {other}: {', '.join(sorted(graph[one][other]))}")
    return wrong


def main(root, least):
    allowed, seen, wrong = listed(os.path.join(root, "docs/circles.txt")), set(), 0
    files = 0
    for top in FOLDERS:
        for folder, _, _ in sorted(os.walk(os.path.join(root, top))):
            graph, place = calls(folder), os.path.relpath(folder, root)
            files += len(graph)
            wrong += report(graph, lambda name: f"{place}/{name}", allowed, seen)
            if len(graph) > WIDE.get(place, WIDEST):
                wrong += 1
                print(f"wide: {place} has {len(graph)} .c files, at most {WIDE.get(place, WIDEST)}: give a subject of it its own folder")
        wrong += report(rooms(root, top), str, allowed, seen)
    if files < least:
        sys.exit(f"only {files} files found in '{root}': is it orch's source?")
    same = repeated(root)
    for name, paths in sorted(same.items()):
        print(f"repeated file name: {' '.join(paths)}")
    if same:
        sys.exit("hint: rename one of them, so that its name says what it is about within its folder")
    bare = unprefixed(root)
    for line in bare:
        print(f"no prefix: {line}")
    if bare:
        sys.exit("hint: make the function static, or begin its name with orch_")
    for paths in set(allowed) - seen:
        print(f"docs/circles.txt lists no circle: {' '.join(paths)}")
        wrong += 1
    if wrong:
        sys.exit("hint: move what both need into a file below, or call it through a table that is passed down;"
                 " a circle that is meant goes into docs/circles.txt with its reason")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
