# SPDX-License-Identifier: GPL-3.0-or-later
"""differential.py WATCHED [NAME...]: small programs under strace and orch-watch.so at once.

Each program of programs.py runs once, in a folder of its own. strace says which files below the folder were read, written
and removed, and so does the library, by WATCHED (watched.c). Both must name the same, or the library says which gap it
has. A gap that is said where there is none fails, too. A program that is not installed is skipped, and said.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import programs

CALLS = ("open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,rmdir,link,linkat,truncate,execve,execveat,"
         "chdir,fchdir,clone,clone3,fork,vfork")
EXCLUDED = ("/.git/", "/site-packages/", "/dist-packages/", "/node_modules/")
LINE = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\d+)(?:<(.*)>)?(?: .*)?$")
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')


def unescaped(text):
    """The path in a text that strace has written with -xx (as \\x41)."""
    return bytes.fromhex(text.replace("\\x", "")).decode("utf-8", "surrogateescape")


class Trace:
    """What strace saw below a folder: sets of real paths."""

    def __init__(self, root):
        self.root = root
        self.read, self.maybe_read, self.state = set(), set(), {}
        self.folders = {}  # process -> current folder
        self.removed_folders = set()

    def is_below(self, path):
        rest = path[len(self.root):]
        return path.startswith(self.root + "/") and not any(part in rest for part in EXCLUDED)

    def absolute(self, process, name, folder=None):
        folder = folder or self.folders.get(process, self.root)
        return os.path.normpath(os.path.join(os.path.realpath(folder), name))

    def real_name(self, path):
        """The path of a name itself: its folder without links."""
        return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))

    def note(self, path, what):
        if self.is_below(path):
            self.state[path] = what

    def move(self, before, after):
        below = [path for path in self.state if path.startswith(before + "/")]
        if below or os.path.isdir(after) and not os.path.islink(after):
            for path in below:
                if self.state[path] == "written":
                    self.state[after + path[len(before):]] = "written"
                self.state[path] = "removed"
        elif not os.path.islink(after):
            if before not in self.state:
                self.maybe_read.add(before)  # what it holds can be read under the new name
            self.note(before, "removed")
            self.note(after, "written")

    def opened(self, path, flags):
        if not self.is_below(path) or "O_DIRECTORY" in flags or "O_PATH" in flags or "O_TMPFILE" in flags:
            return
        if os.path.isdir(path) or path.endswith(" (deleted)") and not os.path.exists(path):
            return
        if "O_WRONLY" not in flags and "O_TRUNC" not in flags:
            (self.maybe_read if "O_RDWR" in flags else self.read).add(path)
        if "O_WRONLY" in flags or "O_RDWR" in flags or "O_TRUNC" in flags:
            self.note(path, "written")

    def take(self, process, call, arguments, result, returned):
        folder = re.match(r"(?:AT_FDCWD|\d+)<([^>]*)>", arguments)
        names = [unescaped(text) for text in TEXT.findall(arguments)]
        at = [unescaped(text) for text in re.findall(r"(?:AT_FDCWD|\d+)<([^>]*)>", arguments)] or [None]
        path = self.absolute(process, names[0], at[0]) if names else None
        if call in ("clone", "clone3", "fork", "vfork"):
            self.folders[result] = self.folders.get(process, self.root)
        elif call == "chdir":
            self.folders[process] = os.path.realpath(path)
        elif call == "fchdir":
            self.folders[process] = at[0]
        elif call in ("open", "openat", "openat2", "creat"):
            self.opened(unescaped(returned), arguments if call != "creat" else "O_WRONLY|O_TRUNC")
        elif call in ("unlink", "unlinkat") and "AT_REMOVEDIR" not in arguments:
            self.note(self.real_name(path), "removed")
        elif call in ("unlinkat", "rmdir"):
            self.removed_folders.add(self.real_name(path))
        elif "RENAME_EXCHANGE" in arguments:
            for name in (self.real_name(path), self.real_name(self.absolute(process, names[1], at[-1]))):
                self.maybe_read.add(name)
                self.note(name, "written")
        elif call in ("rename", "renameat", "renameat2"):
            self.move(self.real_name(path), self.real_name(self.absolute(process, names[1], at[-1])))
        elif call in ("link", "linkat"):
            if names[0] and "/proc/self/fd" not in path and self.is_below(path):
                self.read.add(self.real_name(path))
            self.note(self.real_name(self.absolute(process, names[1], at[-1])), "written")
        elif call == "truncate":
            self.note(os.path.realpath(path), "written")
        elif call == "execve":
            real = os.path.realpath(path)
            if self.is_below(real):
                self.read.add(real)


def trace_of(log, root):
    """Reads a log of strace -f -y -xx. Calls that were interrupted by others stand in two lines."""
    trace, waiting = Trace(root), {}
    with open(log, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            process = line.split(" ", 1)[0]
            if line.rstrip().endswith("<unfinished ...>"):
                waiting[process] = line.rstrip()[:-len("<unfinished ...>")]
                continue
            resumed = re.match(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$", line)
            if resumed:
                line = waiting.pop(process, "") + resumed.group(2)
            found = LINE.match(line.rstrip())
            if found and int(found.group(4)) >= 0:
                trace.take(int(process), found.group(2), found.group(3), int(found.group(4)), found.group(5))
    return trace


def noted_in(path, root):
    """What the library saw: read, written, removed (real paths) and the gaps. Whether the program read what it had written
    itself is told only where the library could look at the file: no input depends on it."""
    with open(path, encoding="utf-8") as file:
        noted = json.load(file)
    read, written, removed, own_files = set(), set(), set(), set()
    for kind, name, details in noted["files"]:
        real = details.get("real") or os.path.join(root, name)
        if kind in "sd" or not real.startswith(root + "/"):
            continue
        own = details.get("own", False)
        name = os.path.join(os.path.realpath(os.path.dirname(os.path.join(root, name))), os.path.basename(name))
        if kind in "ru" or "read" in details:
            read.add(os.path.realpath(real) if own is not None else name)
        if kind in "wu" and own is None:
            removed.add(name)
        elif kind in "wu":
            written.add(os.path.realpath(real))
        if kind == "w":
            own_files.add(name)
    return read, written, removed, own_files, noted["gaps"]


def differences(trace, noted):
    read, written, removed, own_files, _ = noted
    states = {"written": set(), "removed": set()}
    for path, state in trace.state.items():
        states[state].add(path)
    yield from (f"read, not noted: {path}" for path in trace.read - read - own_files - trace.removed_folders)
    yield from (f"noted as read, and was not: {path}" for path in read - trace.read - trace.maybe_read)
    yield from (f"written, not noted: {path}" for path in states["written"] - written)
    yield from (f"noted as written, and was not: {path}" for path in written - states["written"])
    yield from (f"removed, not noted: {path}" for path in states["removed"] - removed)
    yield from (f"noted as removed, and was not: {path}" for path in removed - states["removed"])


def files_of(root):
    """What each file below a folder is: opened for writing or renamed, but not changed, it is not written."""
    paths = (os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names)
    stats = ((path, os.lstat(path)) for path in paths)
    return {path: (info.st_ino, info.st_size, info.st_mtime_ns) for path, info in stats}


def run(watched, program, scratch):
    """None when both say the same; a text that begins with 'skipped', or the differences."""
    for tool in program.needs:
        if not (shutil.which(tool) or os.path.exists(tool)):
            return f"skipped: no {tool}"
    root, log, out = (os.path.join(scratch, name) for name in ("w", "log", "out.json"))
    os.mkdir(root)
    for name, text in program.files.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    environment = dict(os.environ, TOP=scratch, PATH=os.environ["PATH"], HOME=scratch)
    for command in program.before:
        made = subprocess.run(["sh", "-c", command], cwd=root, env=environment, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            return f"skipped: '{command}': {(made.stderr.strip().splitlines() or ['failed'])[-1]}"
    before = files_of(root)
    words = [watched, root, out, "strace", "-f", "-qq", "-y", "-xx", "-s", "8192", "-e", "trace=" + CALLS, "-o", log, "--"]
    done = subprocess.run(words + program.command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != program.status:
        return f"status {done.returncode}: {done.stdout[-500:]}{done.stderr[-800:]}"
    noted = noted_in(out, root)
    gaps = noted[-1]
    if program.gap and not any(re.search(program.gap, gap) for gap in gaps):
        return f"no gap '{program.gap}': {gaps}"
    if gaps and not program.gap:
        return f"gaps that are none: {gaps}"
    trace, after = trace_of(log, root), files_of(root)
    for path in [path for path in trace.state if path in before and before[path] == after.get(path)]:
        del trace.state[path]
    found = [text for text in differences(trace, noted) if not (gaps and "not noted" in text)]
    return "\n".join(found) or None


def main():
    watched, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    if not shutil.which("strace"):
        print("skipped: no strace")
        return 77
    counts = {"same": 0, "skipped": 0, "failed": 0}
    for program in programs.ALL:
        if names and program.name not in names:
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            result = run(watched, program, os.path.realpath(scratch))
        kind = "same" if result is None else "skipped" if result.startswith("skipped") else "failed"
        counts[kind] += 1
        print(f"{program.name}: {result or 'same'}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["failed"] else 77 if not counts["same"] else 0


if __name__ == "__main__":
    sys.exit(main())
