# References between experiments: an experiment reads what another one made, the best of several trials is chosen, and a
# missing object is reported.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
mkdir -p exp/make exp/use
cat >exp/make/make.plugin <<'Y'
plugin: make
command: [sh, make.sh, "${n}"]
parameters: { n: { type: int, required_by: x } }
Y
cat >exp/make/make.plugin <<'Y'
plugin: make
command: [sh, make.sh, "${n}", "${repeat}"]
parameters:
  n: { type: int, default: 1 }
metrics:
  score: { better: max, step: step }
artifacts:
  file: out.txt
Y
cat >exp/make/make.sh <<'S'
echo "score $(($1 * 10 + $2))"
echo "n=$1 repeat=$2" >out.txt
S
cat >exp/use/use.plugin <<'Y'
plugin: use
command: [sh, use.sh, "${from}"]
parameters:
  from: { type: artifact }
  n: { type: int, default: 1 }
metrics:
  read_n: none
  read_repeat: none
Y
cat >exp/use/use.sh <<'S'
echo "read_n $(sed 's/n=\([0-9]*\).*/\1/' "$1")"
echo "read_repeat $(sed 's/.*repeat=//' "$1")"
S
cat >chain.recipe <<'R'
format: 1
recipe: chain
experiments:
  make: { plugin: exp/make/make.plugin, sweep: { n: [1, 2, 3] }, repeat: 2 }
  each: { plugin: exp/use/use.plugin, with: { from: "${make.file}" }, sweep: { n: [1, 2, 3] }, repeat: 2 }
  best: { plugin: exp/use/use.plugin, with: { from: "${best(make, score).file}" }, repeat: 2 }
R
fails 2 orch check chain.recipe
says "best"
sed -i 's/^  best:/  top:/' chain.recipe
git add -A
git commit -qm first
ok orch plan chain.recipe
has waiting
ok orch run chain.recipe -j 2
says '14 trials: 14 ok'
# each trial read the artifact of its own setting and repeat, the top ones that of the best n
for n in 1 2 3; do
    for repeat in 1 2; do
        ok orch ls --where "experiment=each and n=$n and repeat=$repeat and read_n=$n and read_repeat=$repeat" --json
        same "$(json runs.#)" 1
    done
done
ok orch ls --where 'experiment=each' --json
same "$(json runs.#)" 6
ok orch ls --where 'experiment=top and read_n=3' --json
same "$(json runs.#)" 2
ok orch ls --where 'experiment=top and repeat=2 and read_repeat=2' --json
same "$(json runs.#)" 1
orch run chain.recipe -q 2>/dev/null # for times of files that leave open whether one was written meanwhile
ok orch run chain.recipe
says 'nothing to run: 14 of 14'
# one experiment brings along what it refers to
ok orch plan chain.recipe top --json
same "$(json left)" 0
rm -rf .orch
ok orch run chain.recipe top
says '8 ok'
ok orch run chain.recipe
says '6 ok, 8 done before'
# bytes that are gone: nothing to do while nobody needs them
rm -rf .orch/results.db.d/objects
ok orch plan chain.recipe --json
same "$(json left)" 0
# a forced reader needs them, so the makers run again first, and the plan says why
ok orch plan chain.recipe top --force
has 'make n=3'
has 'is not on this machine'
ok orch run chain.recipe top -s top.n=2
says ' ok'
says_not failed
ok orch ls --where 'experiment=top and n=2 and read_n=3' --json
same "$(json runs.#)" 2
ok orch db check
# what a failed trial should have made is not waited for
sed -i 's/^echo "score/[ $1 = 2 ] \&\& exit 3; &/' exp/make/make.sh
fails 1 orch run chain.recipe each -x n=1,2
says 'did not end well'

# a run without the result that a trial refers to costs that trial, and no other
. "$(dirname "$0")/../cli/missing_result.sh"
cat >missing.recipe <<'R'
format: 1
recipe: missing
experiments:
  first: { plugin: ./sometimes.plugin, sweep: { n: [1, 2] } }
  use: { plugin: ./look.plugin, with: { value: "${first.final}" }, sweep: { n: [1, 2] } }
  after: { plugin: ./look.plugin, with: { value: 7 } }
R
fails 1 orch run missing.recipe
says 'use n=1 was not run: run'
says "has no artifact or result 'final', which \${first.final} needs"
says '4 ok, 1 not run'
ok orch ls --where 'seen=2 or seen=7' --json
same "$(json runs.#)" 2
