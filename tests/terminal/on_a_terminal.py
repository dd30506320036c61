# SPDX-License-Identifier: GPL-3.0-or-later
"""on_a_terminal.py COLUMNS COMMAND...: runs the command on a terminal of that width, prints what the terminal got (line ends as
of a file), and exits with its status."""
import fcntl
import os
import pty
import struct
import sys
import termios

pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
got = b""
while True:
    try:
        piece = os.read(fd, 65536)
    except OSError:
        break
    if not piece:
        break
    got += piece
sys.stdout.buffer.write(got.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
