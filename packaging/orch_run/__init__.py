# SPDX-License-Identifier: MIT
"""The program orch as a Python package: the script `orch` and `python -m orch_run` start it.

The module that a script imports is `orch`; it lies beside this package.
"""
import os
import sys

__all__ = ["main", "program"]


def program():
    """The path of the program."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "orch")


def main():
    """Becomes the program. It learns which Python it belongs to, for 'orch plugin build'."""
    if sys.executable:
        os.environ["ORCH_PYTHON"] = sys.executable
    try:
        os.execv(program(), ["orch", *sys.argv[1:]])
    except OSError as error:
        sys.exit("orch: cannot start '%s': %s\n  hint: pip install --force-reinstall orch-run; the package is for Linux "
                 "with glibc" % (program(), error.strerror))
