#!/usr/bin/env bash
# A command that fails before anything is recorded leaves no store behind, whichever it is; one that records keeps it.
# test: quick
. "$ORCH_SOURCE_DIR/tests/cli/lib.sh"
echo 'print("score 1")' >a.py
git add -A
git commit -qm one
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  mine: { program: python3 a.py, environment: { container: "i@sha256:0000000000000000000000000000000000000000000000000000000000000000" } }
R
mkdir "$SCRATCH/few"
for name in sh git env python3; do
    ln -s "$(type -P $name)" "$SCRATCH/few/$name"
done
none() { # none STATUS CMD...: it fails with the status and leaves no store
    fails "$@"
    [ ! -e .orch ] || _fail "there is a store: $(find .orch | tr '\n' ' ')"
}
none 3 orch pull /nowhere
none 2 orch bisect score none..HEAD -- python3 a.py
none 2 orch bisect score HEAD..HEAD -- nosuchprogram
none 2 orch compare HEAD none --run -- python3 a.py
none 2 orch compare HEAD HEAD --run -- nosuchprogram
none 4 env PATH="$BUILD:$SCRATCH/few" orch run r.recipe
none 3 orch import nothing.csv
none 2 orch merge nothing.db
none 3 orch --db other.db pull /nowhere
[ ! -e other.db ]
# what is there stays: a store with runs, an empty one that was made before, and files of others beside it
ok orch init --help
mkdir .orch
echo mine >.orch/notes
fails 3 orch pull /nowhere
same "$(ls .orch)" notes
rm -r .orch
ok orch try -q -- python3 a.py
fails 3 orch pull /nowhere
ok orch ls --json
same "$(json runs.0.state)" ok
rm -r .orch
fails 1 orch try -q -- false
[ -e .orch/results.db ]
