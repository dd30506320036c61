#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""structure.py [ROOT]: how the source is divided, in figures (docs/architecture.md has the map).

Counted are the tracked files of C, C++ and CUDA of the product, with headers: core, features, include, lib, plugins, predictors and
store; of structs those with a name. One file of a folder uses another when it includes its header or names a function that the other alone defines. A module is
x.c with x.h. `levels` is the longest chain of modules of a folder that use each other, counted without circles; `arrows`
the pairs of which one uses the other; `back` the arrows inside of circles that go against the order of fewest such.
For parts of the tree the nodes are folders and an arrow is an include.
"""
import collections
import os
import re
import subprocess
import sys

TOPS = ("core", "features", "include", "lib", "plugins", "predictors", "store")
SOURCE = re.compile(r"\.(c|h|cpp|cu)$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)
CLEAN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DEFINITION = re.compile(r"(?:^|\n)([A-Za-z_][^;{}#]*?)\)\s*\n\{", re.S)
TYPE_OR_MEMBER = re.compile(r"\b(?:struct|enum|union)\s+\w+|(?:\.|->)\s*[A-Za-z_]\w*")
STRUCT = re.compile(r"\bstruct\s+\w+\s*\{")
WORD = re.compile(r"[A-Za-z_]\w*")


class Tree:
    def __init__(self, root):
        names = subprocess.run(["git", "-C", root, "ls-files", "--", *TOPS], capture_output=True, text=True, check=True).stdout.split("\n")
        self.text = {}
        for name in names:
            if SOURCE.search(name) and os.path.exists(os.path.join(root, name)):
                with open(os.path.join(root, name), encoding="utf-8") as file:
                    self.text[name] = file.read()
        self.clean = {name: CLEAN.sub(" ", text) for name, text in self.text.items()}
        self.includes = {name: [i for i in INCLUDE.findall(text) if i in self.text] for name, text in self.text.items()}

    def below(self, folder):
        return [name for name in self.text if name.startswith(folder + "/")]

    def size(self, names):
        """Files, headers, structs, lines."""
        return (len(names), sum(name.endswith(".h") for name in names), sum(len(STRUCT.findall(self.clean[n])) for n in names),
                sum(self.text[name].count("\n") for name in names))

    def modules(self, folder):
        """Module -> the modules of the same folder that it uses."""
        files = [name for name in self.text if os.path.dirname(name) == folder]
        stem = {name: os.path.splitext(os.path.basename(name))[0] for name in files}
        owner = collections.defaultdict(set)
        for name in files:
            if not name.endswith(".h"):
                for head in DEFINITION.findall(self.clean[name]):
                    function = re.match(r"[^(]*?(\w+)\s*\(", head, re.S)
                    if function and not re.search(r"\bstatic\b", head):
                        owner[function.group(1)].add(stem[name])
        graph = {module: set() for module in stem.values()}
        for name in files:
            mine = stem[name]
            graph[mine] |= {stem[i] for i in self.includes[name] if i in stem}
            for word in set(WORD.findall(TYPE_OR_MEMBER.sub(" ", self.clean[name]))):
                if len(owner.get(word, ())) == 1 and not name.endswith(".h"):
                    graph[mine] |= owner[word]
            graph[mine].discard(mine)
        return graph

    def folders(self, top):
        """Folder -> the folders below the same top that it includes."""
        graph = collections.defaultdict(set)
        def place(name):
            return "/".join(name.split("/")[:-1][:3 if name.startswith("plugins/common/") else 2])
        for name in self.below(top):
            graph[place(name)] |= {place(i) for i in self.includes[name] if i.startswith(top + "/")} - {place(name)}
        for used in [u for users in graph.values() for u in users]:
            graph.setdefault(used, set())
        return dict(graph)

    def pairs(self, from_top, is_pair):
        """(file, header) of each include of a file below from_top for which is_pair holds."""
        return [(n, i) for n in self.below(from_top) for i in self.includes[n] if is_pair(n, i)]


def circles(graph):
    """Node -> the number of its strongly connected group, lower groups first (Tarjan)."""
    index, low, stack, group = {}, {}, [], {}

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other not in group:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            number = len(set(group.values()))
            while True:
                last = stack.pop()
                group[last] = number
                if last == node:
                    return
    sys.setrecursionlimit(10000)
    for node in sorted(graph):
        if node not in index:
            visit(node)
    return group


def shape(graph):
    """Nodes, levels, arrows, back arrows. In a circle the node that uses least of it goes first."""
    group = circles(graph)
    order = []
    for number in sorted(set(group.values())):
        left = {n for n in graph if group[n] == number}
        while left:
            node = min(left, key=lambda n: (len(graph[n] & left), -sum(n in graph[o] for o in left), n))
            order.append(node)
            left.discard(node)
    at = {node: i for i, node in enumerate(order)}
    level = {}
    for node in order:
        level[node] = 1 + max((level[o] for o in graph[node] if at[o] < at[node]), default=0)
    arrows = sum(len(used) for used in graph.values())
    return len(graph), max(level.values(), default=0), arrows, sum(at[o] > at[n] for n in graph for o in graph[n])


def line(name, size, form):
    print(f"{name:<26}{size[0]:>6}{size[1]:>8}{size[2]:>8}{size[3]:>9}{form[0]:>9}{form[1]:>8}{form[2]:>8}{form[3]:>6}")


def main(root):
    tree = Tree(root)
    print(f"{'':<26}{'files':>6}{'headers':>8}{'structs':>8}{'lines':>9}{'nodes':>9}{'levels':>8}{'arrows':>8}{'back':>6}")
    whole = tree.size(list(tree.text))
    print(f"{'all':<26}{whole[0]:>6}{whole[1]:>8}{whole[2]:>8}{whole[3]:>9}")
    print("folders of")
    for top in TOPS:
        if tree.below(top):
            line(top, tree.size(tree.below(top)), shape(tree.folders(top)))
    print("modules of")
    for folder in sorted({os.path.dirname(name) for name in tree.text}):
        if folder.split("/")[0] in ("core", "features", "lib", "predictors", "store"):
            here = [name for name in tree.text if os.path.dirname(name) == folder]
            line(folder, tree.size(here), shape(tree.modules(folder)))
    up = tree.pairs("core", lambda n, i: i.startswith("features/"))
    aside = tree.pairs("features", lambda n, i: i.startswith("features/") and i.split("/")[1] != n.split("/")[1])
    rooms = sorted({(n.split("/")[1], i.split("/")[1]) for n, i in aside})
    print(f"core to features: {len(up)} includes in {len({n for n, _ in up})} files")
    print(f"feature to feature: {len(aside)} includes in {len(rooms)} pairs of features: {', '.join(' -> '.join(r) for r in rooms)}")
    print(f"features to core/commands: {len(tree.pairs('features', lambda n, i: i.startswith('core/commands/')))} includes")


main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
