# A data file that the command names and that is written during a trial is not an edit of the code: the trial is not
# repeated, the sweep stays in the folder, and the run is not reused silently. This test runs without the list of opened
# files; 0468 has the rest.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >a.py <<'P'
import sys
open(sys.argv[1], "w").write("1")
print("x", 1)
P
echo 0 >out.csv
ok orch try --no-watch -- python3 a.py out.csv
says_not 'inputs changed'
says_not 'tried again'
says "'out.csv', which the command names, was written while a trial ran"
says '1 ok'
same "$(cat out.csv)" 1
ok orch try --no-watch -- python3 a.py out.csv
says_not 'tried again'
ok orch try --no-watch -- python3 a.py out.csv
says 'nothing to run' # by now it is known as a file that runs write
# outside of the repository, written again with what it holds: the inputs are the same, and the run is passed over
sleep 0.1
echo 0 >"$SCRATCH/abs.csv"
ok orch try --no-watch -- python3 a.py "$SCRATCH/abs.csv"
says_not 'inputs changed'
ok orch try --no-watch -- python3 a.py "$SCRATCH/abs.csv"
ok orch try --no-watch -- python3 a.py "$SCRATCH/abs.csv"
says "abs.csv was written while the run used it"
says '1 ok'
# committed, in a sweep
git add a.py out.csv
git commit -qm one
echo 2 >out.csv
ok orch try --no-watch -x n=1,2,3 -- python3 a.py out.csv '{n}'
says_not 'use a copy'
says_not 'tried again'
says '3 ok'
# a file that a script names: what the first trial writes at once is not an input of the next one, at whatever speed
cat >w.sh <<P
echo 1 >$SCRATCH/w/mark.txt; touch $SCRATCH/w/mark.txt; echo x 1
P
touch mark.txt
ok orch try --no-watch -- sh w.sh
says_not 'inputs changed'
says '1 ok'
# an edit of the code still is one
printf 'import time\nopen("begun", "w")\ntime.sleep(3)\nprint("x", 1)\n' >slow.py
orch try --no-watch -- python3 slow.py >"$SCRATCH/o" 2>&1 &
run=$!
await -e begun
echo '# edited' >>slow.py
wait $run
grep -q 'inputs changed while it ran: slow.py' "$SCRATCH/o" || {
    cat "$SCRATCH/o"
    exit 1
}
