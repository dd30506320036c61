#!/bin/bash
# orch's Python module only writes to pipes of the runner: ORCH_JOIN must name a pipe of this user, ORCH_EVENTS an open,
# writable descriptor. Anything else is an error with a plain message, and is left unchanged.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export PYTHONPATH=$SOURCE/share/python ORCH_PROGRAM=$BUILD/orch
cat >s.py <<'P'
import orch
run = orch.start(a=1)
run.log(loss=1)
run.end()
print("went on")
P
plain() { # the error alone, with its hint, and nothing of the script
    says "$1"
    says '  hint: '
    says_not 'Traceback'
    says_not 's.py'
    has_not 'went on'
    same "$(grep -c '^orch: ' <<<"$err")" 1 'messages'
}
cat >refused.py <<'P'
"""refused.py NAME TEXT VALUE...: start() with each value of a variable of the environment ends with this error."""
import os, sys, orch
name, text, values = sys.argv[1], sys.argv[2], sys.argv[3:]
for value in values:
    os.environ[name] = value
    try:
        orch.start(a=1)
    except orch.Error as error:
        wanted = "orch: " + text.replace("VALUE", value)
        assert str(error).startswith(wanted) and "\n  hint: " in str(error), (value, str(error))
    else:
        sys.exit("%s=%s is taken" % (name, value))
P
# ---- ORCH_JOIN
printf 'precious first line, and more of it\n' >file
cp file copy
ln -s "$PWD/file" link
mkdir folder
mkfifo "$SCRATCH/real"
ln -s "$SCRATCH/real" linked
others=(file link folder linked /dev/null /dev/full)
if [ "$(id -u)" = 0 ]; then
    mkfifo theirs
    chown 1 theirs
    others+=(theirs)
fi
ok timeout 120 python3 refused.py ORCH_JOIN "ORCH_JOIN names 'VALUE', which is not a pipe that your own run made" "${others[@]}"
same "$(cat file)" "$(cat copy)" 'the file that ORCH_JOIN named'
# not there, and without a reader: the run has ended
ok timeout 120 python3 refused.py ORCH_JOIN "the run to join has ended ('VALUE')" none "$SCRATCH/real"
ORCH_JOIN=file fails 1 timeout 120 python3 s.py
plain 'not a pipe'
# what a run itself hands on is taken
cat >parent.py <<'P'
import os, subprocess, sys, orch
run = orch.start(a=1)
subprocess.run([sys.executable, "s.py"], env=dict(os.environ, **run.environment), check=True)
run.end()
P
ok python3 parent.py
has 'went on'
ok orch show @last
has 'loss'
# ---- ORCH_EVENTS
ok python3 refused.py ORCH_EVENTS "ORCH_EVENTS is 'VALUE', which is not the number of a descriptor" \
    x -1 3.5 '²' ' 3' 99999999999999999999 1e3
ok python3 refused.py ORCH_EVENTS "ORCH_EVENTS is 'VALUE', which is not an open descriptor" 77
ok python3 refused.py ORCH_EVENTS "ORCH_EVENTS is 'VALUE', which is not open for writing" 7 7<file
ORCH_EVENTS=x fails 1 python3 s.py
plain "ORCH_EVENTS is 'x'"
ORCH_EVENTS='' ok python3 s.py
has 'went on'
# the script's own errors keep their traceback
printf 'import orch\nrun = orch.start()\n1 / 0\n' >own.py
ORCH_RECORD=off fails 1 python3 own.py
says 'Traceback'
says 'ZeroDivisionError'
