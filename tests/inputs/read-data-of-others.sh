# test: quick
# A folder of which many files were read counts as a whole, and what was read in a folder below it counts, too. Data that git
# ignores, and that somebody else changes while two trials run, is noticed as with one.
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
mkdir -p data/below
for i in $(seq 60); do echo 0 >data/f$i.txt; done
echo 0 >data/below/one.txt
echo 0 >other.txt
printf 'data/\nother.txt\n' >.gitignore
cat >all.py <<'P'
import os
for i in range(1, 61):
    open("da" + "ta/f%d.txt" % i).read()
print("v", open(os.path.join("da" + "ta", "below", "one" + ".txt")).read())
P
cat >a.py <<'P'
import os, sys, time
n = sys.argv[1]
value = open("oth" + "er.txt").read()
if n == os.environ["WRITER"]:
    open("oth" + "er.txt", "w").write("7")
open(os.environ["TRIAL_BEGAN"] + n, "w").close()
while not os.path.exists(os.environ["TRIAL_GOES_ON"] + n):
    time.sleep(0.02)
print("v", value)
P
git add .
git commit -qm one
ok orch try -- python3 all.py
echo 1 >data/below/one.txt
ok orch try -- python3 all.py
says 'data/below/one.txt, which this run read, has changed since'
rm -rf .orch

# n=4 starts while n=2 runs, which may have written the file
export TRIAL_BEGAN=$SCRATCH/began TRIAL_GOES_ON=$SCRATCH/go
sweep() { # WRITER: the value of n that writes it
    : >"${TRIAL_GOES_ON}1"
    WRITER=$1 orch try -j 2 -x n=1,2,3,4,5,6 -- python3 a.py '{n}' >"$SCRATCH/log" 2>&1 &
    await -e "${TRIAL_BEGAN}2" "$SCRATCH/log"
    await -e "${TRIAL_BEGAN}3" "$SCRATCH/log"
    [ "$1" = 2 ] || echo 5 >other.txt
    : >"${TRIAL_GOES_ON}3"
    await -e "${TRIAL_BEGAN}4" "$SCRATCH/log"
    for n in 4 5 6 2; do : >"$TRIAL_GOES_ON$n"; done
    wait $! || _fail "$(cat "$SCRATCH/log")"
    rm -rf .orch "$TRIAL_BEGAN"* "$TRIAL_GOES_ON"*
}
sweep none
grep -q 'other.txt changed while the sweep was running' "$SCRATCH/log" || _fail "not named: $(cat "$SCRATCH/log")"
sweep 2
grep 'changed while the sweep' "$SCRATCH/log" && _fail 'the output of a trial is named as changed by somebody else'
exit 0
