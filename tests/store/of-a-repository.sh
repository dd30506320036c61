# Several stores of one repository (linked work trees, --db): a captured tree is removed when no store needs it. The
# trees of a store that is temporarily unavailable are kept.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
trees() { git for-each-ref refs/orch/src | wc -l; }
tree_of() { orch show "$2" --db "$1" --json | "$BUILD/json_get" source.tree; }
sleeps naps 0.01
git add -A
git commit -qm one
echo one >state
ok orch run naps.recipe # tree A, in this work tree's store
echo two >state
ok orch run naps.recipe --db "$SCRATCH/other.db" # tree B, in another store
git worktree add -q "$SCRATCH/linked" 2>/dev/null
(cd "$SCRATCH/linked" && echo three >state && orch run naps.recipe) >/dev/null 2>&1 # tree C, in a linked work tree's
same "$(trees)" 3 'captured trees'
ok orch gc
has '0 captured trees'
same "$(trees)" 3 'captured trees after gc'
mv "$SCRATCH/other.db" "$SCRATCH/away.db"
ok orch gc
same "$(trees)" 3
mv "$SCRATCH/away.db" "$SCRATCH/other.db"
ok orch checkout @last "$SCRATCH/co" --db "$SCRATCH/other.db"
same "$(cat "$SCRATCH/co/state")" two
(cd "$SCRATCH/linked" && orch checkout @last "$SCRATCH/co3") >/dev/null 2>&1
same "$(cat "$SCRATCH/co3/state")" three
# two stores that need one tree: it goes with the last of them
echo one >state
ok orch run naps.recipe --db "$SCRATCH/other.db" --force
key() { orch ls --json --db "$1" -n 0 | python3 -c 'import json, sys; print(*[r["key"] for r in json.load(sys.stdin)["runs"]])'; }
ok orch rm $(key .orch/results.db)
ok orch gc
same "$(trees)" 3 'trees while another store needs it'
ok orch rm $(key "$SCRATCH/other.db") --db "$SCRATCH/other.db"
ok orch gc --db "$SCRATCH/other.db"
has '2 captured trees'
same "$(trees)" 1 'trees that no store needs'
# a store that is not there: its trees stay, and that is said
echo four >state
ok orch run naps.recipe --force
ok orch run naps.recipe --db "$SCRATCH/gone.db"
rm -r "$SCRATCH"/gone.db*
ok orch rm $(key .orch/results.db)
ok orch gc
same "$(trees)" 2
says "gone.db"
says 'cannot be found'
