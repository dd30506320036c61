# A parameter marked neutral does not change the identity of a trial, unless a sweep or zip lists it: then each of its
# values is a trial with checkpoints of its own.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir exp
cat >exp/quiet.plugin <<'Y'
plugin: quiet
command: [sh, quiet.sh, "${workers}", "${checkpoint_dir}"]
parameters:
  workers: { type: int, default: 1, neutral: true }
metrics:
  seen: none
Y
cat >exp/quiet.sh <<'S'
echo "$1" >>"$2/mine"
touch "$HOME/wrote$1"
while [ -e "$HOME/three" ] && ! { [ -e "$HOME/wrote1" ] && [ -e "$HOME/wrote2" ] && [ -e "$HOME/wrote3" ]; }; do sleep 0.05; done
echo "seen $(wc -l <"$2/mine")"
S
cat >quiet.recipe <<'R'
format: 1
recipe: quiet
experiments:
  quiet:
    plugin: exp/quiet.plugin
    sweep: { workers: [1, 2, 3] }
R
ok orch check quiet.recipe
says_not warning
touch "$HOME/three" # each of the three ends when all have written
ok orch run quiet.recipe -j 3
rm "$HOME/three"
says '3 ok'
says_not warning
ok orch run quiet.recipe
says 'nothing to run: 3 of 3'
ok orch ls -m seen -n 3 --json
same "$(json runs.0.seen) $(json runs.1.seen) $(json runs.2.seen)" '1.0 1.0 1.0' 'checkpoints'
same "$(ls .orch/results.db.d/checkpoints)" '' 'what is left of checkpoints'
# a value that is only set is no other trial
sed '/sweep:/d' quiet.recipe >plain.recipe
ok orch run plain.recipe
says '1 ok'
ok orch run plain.recipe -s quiet.workers=7
says 'nothing to run: 1 of 1'
ok orch run plain.recipe -x workers=7
says '1 ok'
