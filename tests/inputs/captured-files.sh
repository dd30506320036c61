# When inputs change during a sweep, the running trial is marked and run again, and the remaining trials run from the
# captured files.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# a trial that waits for the test when it has begun: 'meet N CMD...' runs CMD while the N-th trial runs
cat >a.py <<'P'
import os, sys, time
import conf
n, there = sys.argv[1], sys.argv[2]
if n == "2" and not os.path.exists(there + "/go"):
    open(there + "/begun", "w")
    while not os.path.exists(there + "/go"):
        time.sleep(0.02)
print("acc", conf.A)
open("out%s.txt" % n, "w").write(str(conf.A))
P
echo 'A = 0.5' >conf.py
echo hi >README.md
git add -A
git commit -qm first
meet() { # CHANGE OPTIONS...
    local change=$1
    shift
    rm -f ../go ../begun
    orch try --force "$@" -x n=1,2,3 -- python3 a.py '{n}' "$SCRATCH" >../o 2>../e &
    local pid=$!
    await -e ../begun ../e
    eval "$change"
    touch ../go
    wait $pid
    status=$?
    out=$(<../o) err=$(<../e)
}
values() { orch ls --where 'state = ok' --json -m acc | python3 -c 'import json, sys; print(*sorted("%s:%g" % (r["settings"]["n"] if "settings" in r else r["params"]["n"], r["acc"]) for r in json.load(sys.stdin)["runs"]))'; }
fresh() {
    rm -rf .orch out*.txt
    git checkout -q .
}
# nothing that counts changes: a README, a file that is touched between trials, a file that is new
meet 'echo x >>README.md; echo y >new.py'
same $status 0
says_not 'inputs changed'
says '3 ok'
rm new.py
touch conf.py
ok orch try --force -x n=1 -- python3 a.py '{n}' "$SCRATCH"
says_not 'inputs changed'
fresh
# an edit: trial 2 is marked and run again, it and trial 3 from the captured files
meet "echo 'A = 0.9' >conf.py"
same $status 0
says 'inputs changed while it ran: conf.py'
says 'conf.py; the remaining trials use a copy of the old files'
says '3 ok'
ok orch ls --json -n 0 -m acc
same "$(json runs.#)" 4
ok orch ls --where 'state = lost' --json
same "$(json runs.#)" 1
ok orch show "$(json runs.0.key)"
has 'inputs changed while it ran: conf.py'
ok orch ls --where 'acc = 0.5 and state = ok' --json
same "$(json runs.#)" 3
ok orch ls --where 'acc = 0.9 and state = ok' --json
same "$(json runs.#)" 0
same "$(ls out*.txt | xargs)" 'out1.txt out2.txt' 'what trials left in the user folder'
ok orch checkout @last ../then
same "$(cat ../then/conf.py)" 'A = 0.5'
# the edit is in the next command's record
ok orch try -n -x n=1,2,3 -- python3 a.py '{n}' "$SCRATCH"
has 'conf.py'
has_not done
fresh
# --live: with the new files, under their own tree
meet "echo 'A = 0.9' >conf.py" --live
same $status 0
says 'use the new files'
says '3 ok'
ok orch ls --where 'acc = 0.9 and state = ok' --json
same "$(json runs.#)" 2
ok orch ls --where 'acc = 0.5 and state = ok' --json
same "$(json runs.#)" 1
ok orch checkout @last ../later
same "$(cat ../later/conf.py)" 'A = 0.9'
ok orch try -n --json -x n=2,3 -- python3 a.py '{n}' "$SCRATCH"
same "$(json left)" 0
fresh
# --frozen: nothing can change, and nothing is written into the folder
meet "echo 'A = 0.9' >conf.py" --frozen
same $status 0
says_not 'inputs changed'
says '3 ok'
ok orch ls --where 'acc = 0.5 and state = ok' --json
same "$(json runs.#)" 3
[ -z "$(ls out*.txt 2>/dev/null)" ] || _fail 'a frozen trial wrote into the user folder'
fails 2 orch try --frozen --live -- true
says "'--live' excludes '--frozen'"
fresh
# an edit between the capture and the first trial is noticed, too; without a repository the sweep stops
mkdir ../plain
cp a.py conf.py ../plain
cd ../plain
meet "echo 'A = 0.9' >conf.py"
same $status 1
says "'conf.py' changed while the sweep was running"
ok orch ls --where 'state = ok' --json
same "$(json runs.#)" 1
ok orch try -x n=2,3 -- python3 a.py '{n}' "$SCRATCH"
ok orch ls --where 'acc = 0.9 and state = ok' --json
same "$(json runs.#)" 2
