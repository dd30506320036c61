# Folders that --keep-trials keeps for debugging: they are listed, orch-host can run them again alone, and 'orch gc'
# removes them.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
# its standard input stays open, as a terminal's does: the end of it would mean that the runner is gone
hosted() {
    mkfifo -m 600 "$SCRATCH/in.$$" 2>/dev/null
    "$BUILD/orch-host" "$1" <>"$SCRATCH/in.$$"
}
cat >say.py <<'P'
import os, sys
print("in the folder", os.getcwd(), flush=True)
print("score", float(sys.argv[1]) * 2)
P
cat >k.recipe <<'R'
format: 1
recipe: k
experiments:
  nap: { plugin: sleep, with: { seconds: 0.05 } }
R
git add -A && git commit -qm 1
# without the option nothing stays
ok orch run k.recipe
[ ! -e .orch/results.db.d/kept ] || _fail 'a folder was kept that nobody asked for'
ok orch run k.recipe --force --keep-trials
says 'kept: '
kept=$(echo "$PWD"/.orch/results.db.d/kept/*)
[ -f "$kept/trial.json" ] && [ -f "$kept/journal" ] || _fail "no trial in '$kept'"
says "kept: $kept"
# orch-host runs it again, and needs nothing else; an old journal is never written over
fails 1 hosted "$kept"
says 'cannot create journal'
mv "$kept/journal" "$kept/journal.1"
ok hosted "$kept"
grep -q '"slept_s"' "$kept/journal" && grep -q '"event":"end"' "$kept/journal" || _fail "$(cat "$kept/journal")"
# a program that ran in the user's folder starts there again; one that ran apart, in the kept folder
ok orch try --keep-trials -x v=2 -- python3 say.py '{v}'
kept=$(ls -td "$PWD"/.orch/results.db.d/kept/* | head -1)
mv "$kept/journal" "$kept/journal.1"
ok hosted "$kept"
grep -q "in the folder $PWD" "$kept"/stdout || _fail "$(cat "$kept"/stdout)"
export ORCH_APART=links
ok orch try --keep-trials --frozen -x v=3 -- python3 say.py '{v}'
kept=$(ls -td "$PWD"/.orch/results.db.d/kept/* | head -1)
mv "$kept/journal" "$kept/journal.1"
ok hosted "$kept"
grep -q '"score"' "$kept/journal" && grep -q "/kept/" "$kept"/stdout || _fail "$(cat "$kept"/journal "$kept"/stdout)"
# the records are as without the option
ok orch ls --json
same "$(json runs.3.state)" ok
fails 1 json runs.4.state
ok orch gc
[ -z "$(ls .orch/results.db.d/kept)" ] || _fail 'gc left kept folders'
