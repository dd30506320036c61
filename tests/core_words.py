# SPDX-License-Identifier: GPL-3.0-or-later
"""core_words.py ROOT LEAST: texts of core that name a command or a word of a feature, and of the program that name a page by its path.

Core works without any feature, so a hint of core that names a feature's command would send users of a smaller program to
a command that does not exist. What a feature has to say stands in its own folder: in its commands, its parts of other
commands (core/cli/parts.h), or its advice (struct orch_advice, core/feature/feature.h).

Commands are the `.name` of the `struct orch_command` below features. In texts of core, 'orch NAME' must not name one of
them, and no text may have a word of WORDS. core/host is left out: it starts ranks and jobs in the environment of Slurm
and MPI, whose variables it reads. No text of the program names a page as docs/NAME.md, because an installed program lies
elsewhere than its manual: it names a topic of `orch help`. At least LEAST texts must be found, so that the test does
not pass by reading nothing.
"""
import os
import re
import sys

PAGE = re.compile(r"\bdocs/[\w/.-]+\.md\b")
PROGRAM = ("core", "features", "lib", "plugins", "predictors", "store")
WORDS = re.compile(r"slurm|sbatch|\bbundles?\b", re.I)
COMMAND = re.compile(r"const struct orch_command (?:ORCH_\w+) = \{(.*?)\n\};", re.S)
NAME = re.compile(r'\.name = "([^"]+)"')
# a comment, a character, or strings in a row
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|\'(?:\\.|[^\'\\\n])+\'|"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*', re.S)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[^\n]*", re.M)


def sources(root, folder):
    for place, _, names in os.walk(os.path.join(root, folder)):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                path = os.path.join(place, name)
                with open(path, encoding="utf-8") as file:
                    yield os.path.relpath(path, root), file.read()


def texts(source):
    """(line, text) of each string, where strings in a row are one."""
    source = INCLUDE.sub("", source)
    for match in TOKEN.finditer(source):
        if match[0].startswith('"'):
            pieces = re.findall(r'"((?:\\.|[^"\\\n])*)"', match[0])
            yield source.count("\n", 0, match.start()) + 1, "".join(pieces)


def commands(root, folder):
    return {name for _, source in sources(root, folder) for body in COMMAND.findall(source) for name in NAME.findall(body)}


def main():
    root, least = sys.argv[1], int(sys.argv[2])
    own, others = commands(root, "core"), commands(root, "features")
    groups = {name.split()[0] for name in others} - {name.split()[0] for name in own}
    named = "|".join(sorted(others | groups, key=len, reverse=True))
    call = re.compile(r"\borch (?:%s)\b(?![-=])" % named) if named else re.compile(r"(?!)")
    found, count = 0, 0
    for path, source in sources(root, "core"):
        if path.startswith(os.path.join("core", "host")):
            continue
        for line, text in texts(source):
            count += 1
            for match in list(call.finditer(text)) + list(WORDS.finditer(text)):
                print(f"{path}:{line}: a text of core names '{match[0]}', which is of a feature")
                found += 1
    for path, source in (one for folder in PROGRAM for one in sources(root, folder)):
        for line, text in texts(source):
            for match in PAGE.finditer(text):
                print(f"{path}:{line}: a text names the page '{match[0]}', which is elsewhere once orch is installed")
                found += 1
    if count < least:
        print(f"only {count} texts were found")
    return 1 if found or count < least else 0


if __name__ == "__main__":
    sys.exit(main())
