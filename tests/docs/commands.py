#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every 'orch' command line in the manual, in help texts and in the program's own messages can be typed:
the command exists and takes these options.   usage: commands.py SOURCE BUILD

Read are ```sh and ```console blocks and `orch ...` in README.md and docs, the examples of help, and
'orch ...' in the string literals of the C files. What commands take is read from 'orch help --markdown'.
Nothing is run. Blocks must also have as many arguments as the command needs.
"""
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

# `orch ...` that is no command line: formats, metadata, and options of the program itself
NO_COMMANDS = ["orch seed", "orch runs 1", "orch results 1", "orch --version"]

OPTION = re.compile(r"^  (?:-(\w), |    )--([\w-]+)( \S+)?")


class Command:
    def __init__(self, name, text):
        usage = re.search(r"^usage: orch (.*)$", text, re.M)
        self.options, self.letters = {}, {}
        for line in text.splitlines():
            found = OPTION.match(line)
            if found:
                self.options[found.group(2)] = bool(found.group(3))
                if found.group(1):
                    self.letters[found.group(1)] = bool(found.group(3))
        behind = re.sub(r"\[.*?\]+(\.\.\.)?", "", usage.group(1)[len(name):] if usage else "").split(" -- ")[0]
        self.words_needed = min(len(way.split()) for way in behind.split("|")) # "A B | A..B"
        self.examples = re.findall(r"^  (orch .*)$", text.split("examples:\n")[-1], re.M)


def commands(build):
    """name -> Command; the options of every command are those of ''"""
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([build + "/orch", "help", "--markdown", folder], check=True)
        for path in glob.glob(folder + "/*.md"):
            text = open(path).read()
            name = re.match(r"# orch (.*)", text)
            if name:
                out["" if name.group(1) == "help options" else name.group(1)] = Command(name.group(1), text)
    for command in out.values():
        command.options = dict(out[""].options, **command.options)
        command.letters = dict(out[""].letters, **command.letters)
    return out


def split(line):
    """The words of the first command of a line; None when it is none for a shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&<>()")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words = []
    try:
        for word in lexer:
            if re.match(r"[|;&<>()#]", word):
                break
            words.append(word)
    except ValueError:
        return None
    return words


def problem(known, words, is_whole):
    """What is wrong with the words behind 'orch', or None."""
    at, arguments, command = 0, [], ""
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            break
        if word.startswith("--"):
            name, _, value = word[2:].partition("=")
            options = known[command].options
            if name not in options:
                return "'orch %s' has no option '--%s'" % (command, name)
            at += options[name] and "=" not in word
        elif word.startswith("-") and len(word) > 1:
            letters = known[command].letters
            if word[1] not in letters:
                return "'orch %s' has no option '-%s'" % (command, word[1])
            at += letters[word[1]] and len(word) == 2
        elif not command:
            pair = " ".join(words[at - 1:at + 1])
            command = pair if pair in known else word
            at += command == pair and pair != word
            if command not in known and not any(name.startswith(word + " ") for name in known):
                return "there is no command 'orch %s'" % word
            if command not in known:
                return "'orch %s' needs a subcommand" % word if is_whole else None
        else:
            arguments.append(word)
    if is_whole and len(arguments) < known[command].words_needed:
        return "'orch %s' needs more arguments" % command
    return None


def literals(text):
    """The string literals of a C file, adjacent ones as one."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for match in re.finditer(r'(?:"(?:[^"\\\n]|\\.)*"\s*|\bG_GINT64_FORMAT\b\s*)+', text):
        yield re.sub(r'\\"', '"', "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', match.group(0))))


def lines_of(source, known):
    """(where, line, is it whole) of every command line"""
    pages = [source + "/README.md"] + sorted(glob.glob(source + "/docs/*.md") + glob.glob(source + "/docs/plugins/*.md"))
    for page in pages:
        where = os.path.relpath(page, source)
        text = open(page).read()
        for kind, block in re.findall(r"^```(sh|console)\n(.*?)^```$", text, re.M | re.S):
            for line in block.splitlines():
                line = re.sub(r"^\$ ", "", line) if kind == "sh" or line.startswith("$ ") else ""
                if line.startswith("orch "):
                    yield where, line, True
        for line in re.findall(r"`(orch\s[^`]*)`", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)):
            yield where, re.sub(r"\s+", " ", line), False
    for name, command in known.items():
        for line in command.examples:
            yield "orch %s --help" % name, line, True
    for path in sorted(glob.glob(source + "/core/**/*.c", recursive=True) +
                       glob.glob(source + "/features/**/*.c", recursive=True) +
                       glob.glob(source + "/store/**/*.c", recursive=True) +
                       glob.glob(source + "/lib/**/*.c", recursive=True) +
                       glob.glob(source + "/predictors/**/*.c", recursive=True)):
        for literal in literals(open(path).read()):
            is_hint = re.match(r"orch [a-z]+ ", literal) and prints(path) and "\\n" not in literal
            whole = [literal] if is_hint else []
            for line in whole + re.findall(r"'(orch [a-z][^']*)'", literal):
                yield os.path.relpath(path, source), re.sub(r"%[-*.0-9l]*[a-z]", "X", line), False


def prints(path):
    """Whether a file prints: the command line, the commands, and in features the files for them."""
    return re.search(r"core/cli/|core/commands/|features/[a-z]+/(cmd_|\w+_show\.c)", path)


def main():
    source, build = sys.argv[1:3]
    known = commands(os.path.realpath(build))
    wrong, count = [], 0
    for where, line, is_whole in lines_of(source, known):
        words = split(line)
        if words is None or words[:1] != ["orch"] or line in NO_COMMANDS:
            continue
        count += 1
        why = problem(known, words[1:], is_whole)
        if why:
            wrong.append("%s: %s\n    %s" % (where, why, line))
    print("\n".join(wrong) if wrong else "%d command lines can be typed" % count)
    sys.exit(bool(wrong) or count < 500)


main()
