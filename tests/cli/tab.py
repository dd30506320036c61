# SPDX-License-Identifier: GPL-3.0-or-later
"""Presses Tab in an interactive shell: tab.py SHELL LINE WANTED [enter].

Starts bash or zsh on a terminal of its own, loads the completion that `orch completion SHELL` prints, types
LINE and presses Tab until WANTED stands in the output, or a minute has passed. With `enter` it presses Enter
after the first Tab; `orch` is then a function that prints its arguments as <A><B>. Prints what the terminal
showed; ends with 1 when WANTED never came."""
import os
import pty
import select
import sys
import time

SETUP = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             "bind 'set completion-query-items 0'; bind 'set page-completions off'; "
             "bind 'set enable-bracketed-paste off'; "
             "source <(orch completion bash); "),
    "zsh": (["zsh", "-f", "-i"],
            "autoload -U compinit; compinit -D -u; LISTMAX=10000; unset zle_bracketed_paste; "
            "source <(orch completion zsh); "),
}


def main(shell, line, wanted, *rest):
    argv, setup = SETUP[shell]
    pid, master = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "vt100"
        os.environ["PS1"] = "> "
        os.execvp(argv[0], argv)
    until, shown = time.monotonic() + 60, b""

    def read(text, patience_s):
        """Reads until the text stands in what is shown."""
        nonlocal shown
        end = min(until, time.monotonic() + patience_s)
        while text not in shown and time.monotonic() < end:
            if select.select([master], [], [], 0.1)[0]:
                try:
                    shown += os.read(master, 65536)
                except OSError:  # the shell has ended
                    return False
        return text in shown

    setup += "stty cols 200; orch() { printf '<%s>' \"$@\"; echo; }; echo RE''ADY\n"
    os.write(master, setup.encode())
    if not read(b"READY", 60):
        print("the shell did not start: %r" % shown)
        return 1
    shown = b""
    os.write(master, line.encode())
    found = False
    while not found and time.monotonic() < until:
        os.write(master, b"\t")
        if rest:
            read(b"\0", 2)  # the shell completes, and answers nothing that could be waited for
            os.write(master, b"\n")
            found = read(wanted.encode(), 60)
            break
        found = read(wanted.encode(), 1)
    read(b"\0", 0.3)
    os.write(master, b"\x03exit\n")
    read(b"\0", 1)
    os.close(master)
    os.waitpid(pid, 0)
    print(shown.decode("utf-8", "replace").replace("\0", ""))
    return 0 if found else 1


sys.exit(main(*sys.argv[1:]))
