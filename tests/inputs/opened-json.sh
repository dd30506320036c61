# TRIALDIR/opened.json: identities that tell what the trial itself changed from what somebody else did, and gaps.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
for name in read kept replaced overwritten removed mode written both own; do echo 1 >$name.txt; done
cat >a.sh <<'S'
cat read.txt kept.txt replaced.txt overwritten.txt removed.txt mode.txt both.txt >/dev/null
chmod 600 mode.txt
echo 2 >written.txt
echo 2 >both.txt
rm own.txt
: >"$TRIAL_BEGAN"
while [ ! -e "$TRIAL_GOES_ON" ]; do sleep 0.05; done
S
git add .
git commit -qm one
export TRIAL_BEGAN=$SCRATCH/began TRIAL_GOES_ON=$SCRATCH/go
orch try --keep-trials -- sh a.sh >"$SCRATCH/log" 2>&1 &
await -e "$TRIAL_BEGAN" "$SCRATCH/log"
touch -d '2 days ago' new.txt
mv new.txt replaced.txt
touch -r overwritten.txt "$SCRATCH/time"
echo 9 >overwritten.txt
touch -r "$SCRATCH/time" overwritten.txt # the same size and time
rm removed.txt
: >"$TRIAL_GOES_ON"
wait
cat >"$SCRATCH/judge.py" <<'P'
import glob, json, os
path = min(glob.glob(".orch/results.db.d/kept/*/opened.json"), key=os.path.getmtime)  # the trial is run again
opened = json.load(open(path))
assert opened["gaps"] == [], opened
rows = {name: (kind, details) for kind, name, details in opened["files"]}
def now(name):
    try:
        info = os.stat(os.path.join(opened["folder"], name))
    except OSError:
        return None
    return [info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns]
def judged(name):
    kind, details = rows[name]
    own, read = details.get("own", False), details.get("read")
    if kind == "r" and own:
        return "same" if now(name) == own and own[:4] == read[:4] else "changed"
    if kind == "r":
        return "same" if now(name) == read else "changed"
    return kind + (" gone" if own is None and now(name) is None else " own" if now(name) == own else "")
for name in ("a.sh", "read.txt", "kept.txt", "replaced.txt", "overwritten.txt", "removed.txt", "mode.txt", "written.txt", "both.txt", "own.txt"):
    print(name, judged(name))
P
ok python3 "$SCRATCH/judge.py"
same "$out" 'a.sh same
read.txt same
kept.txt same
replaced.txt changed
overwritten.txt changed
removed.txt changed
mode.txt same
written.txt w own
both.txt u own
own.txt w gone' 'who changed what'

# gaps
gaps() { # of the last trial: texts
    python3 -c 'import glob, json; print(*json.load(open(max(glob.glob(".orch/results.db.d/kept/*/opened.json"))))["gaps"], sep="\n")'
}
printf '#include <stdio.h>\nint main(void) { return !fopen("read.txt", "r"); }\n' >"$SCRATCH/p.c"
if cc -static -o prog "$SCRATCH/p.c" 2>/dev/null; then
    ok orch try --keep-trials -- sh -c './prog; ./prog'
    same "$(gaps)" "started 'prog' unobserved" 'a static program'
fi
cat >clear.py <<'P'
import os, subprocess
subprocess.run(["/bin/cat", "read.txt"], env={}, check=True)
subprocess.run(["/bin/cat", "kept.txt"], env={"LD_PRELOAD": ""}, check=True)
P
ok orch try --keep-trials -- python3 clear.py
same "$(gaps)" '' 'a cleared environment'
ok orch show @last
has read.txt
has kept.txt
printf 'x' >"$(printf 'odd\377.txt')"
ok orch try --keep-trials -- sh -c 'cat odd*.txt'
same "$(gaps)" '1 name is not UTF-8' 'a name that cannot be kept'
