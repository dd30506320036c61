# 'orch compare' of two sides: the differences it finds, refused input, --fail-on for a build, and runs of both sides in
# turns.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir exp
# a "timing" that is computed: the seed's own noise of 1 %, times what the file slow.awk says
cat >exp/bench.awk <<'P'
{ factor = $1; x = substr(seed, length(seed) - 5) + 54321 * length($0) + (kind == "a" ? 0 : 777777) }
END {
    for (i = 0; i < 24; i++) { x = x * 16807 % 2147483647; if (i > 11) noise += x / 2147483647 }
    print "epoch_time", (kind == "a" ? 10 : 12) * (1 + 0.01 * (noise - 6)) * factor
    print "accuracy", 0.5 + substr(seed, length(seed) - 2) / 10000
    if (factor == 7) exit 3
}
P
echo 1.0 >exp/slow.awk
cat >exp/bench.plugin <<'Y'
plugin: bench
command: [awk, -v, "seed=${seed}", -v, "kind=${kind}", -f, bench.awk, slow.awk]
parameters:
  kind: { type: string, default: a }
metrics:
  epoch_time: { better: min, unit: s }
  accuracy: { better: max }
Y
cat >bench.recipe <<'R'
format: 1
recipe: bench
experiments:
  bench: { plugin: exp/bench.plugin, sweep: { kind: [a, b] }, repeat: 4, reuse: any }
R
git add -A
git commit -qm first
ok orch run bench.recipe
says '8 ok'
git checkout -q -b feature
echo 1.10 >exp/slow.awk
git commit -qam slower
ok orch run bench.recipe
says '8 ok'
git checkout -q -b same main
echo '1.00' >exp/slow.awk
git commit -qam same
ok orch run bench.recipe
says '8 ok'

# a planted 10 % is found, in pairs of the same trial; equal results are called equal
ok orch compare main..feature -m epoch_time -m accuracy
has 'slower'
has 'more than noise'
has '8 pairs'
has 'equal in every pair'
says 'the same trial'
says 'Bonferroni'
says "A: main (commit $(git rev-parse --short=8 main), 8 runs)"
ok orch compare main..feature -m epoch_time --json
same "$(json metrics.0.verdict) $(json metrics.0.test) $(json metrics.0.a.n)" 'different paired t 8'
python3 -c "import sys; low, ratio, high = map(float, sys.argv[1:]); sys.exit(not (low < 1.1 < high and 1.08 < ratio < 1.12))" \
    "$(json metrics.0.low)" "$(json metrics.0.ratio)" "$(json metrics.0.high)" || _fail 'not 10 %'
# equal programs: no difference
ok orch compare main..same -m epoch_time
has 'no difference beyond noise; a difference of'
has 'would have been found'
# spread of 1 % and a difference of a tenth of it that matters: more runs
ok orch compare main..same -m epoch_time --least 0.1%
has 'cannot tell: about'
has 'more runs of each side would be needed'
# an experiment, by its name; filters are paired by equal seeds; --where narrows both sides
ok orch compare bench/bench bench -m accuracy
has 'equal in every pair'
commit=$(git rev-parse main)
ok orch compare 'kind=a' 'kind=b' --where "commit = $commit" -m epoch_time
has '4 pairs'
has slower
says 'equal seeds'
ok orch compare 'kind=a and repeat<3' 'kind=b and repeat>2' --where "commit = $commit" -m accuracy
has '2, 2'
ok orch compare @last '@{1}' -m epoch_time
has 'with a single run of each side the noise is unknown'

# what stops a build
fails 7 orch compare main..feature --fail-on 'epoch_time > 3%'
says 'epoch_time changed by +'
says 'limit: epoch_time > 3%'
has slower
fails 7 orch compare main..feature --fail-on 'accuracy < -0.1' --fail-on 'epoch_time>0.5'
says 'limit: epoch_time>0.5'
ok orch compare main..feature --fail-on 'epoch_time > 20%' --fail-on 'accuracy < 0'
ok orch compare feature..main --fail-on 'epoch_time > 3%'
fails 7 orch compare feature..main --fail-on 'epoch_time < -3%' --json
same "$(json broken.#)" 1
fails 2 orch compare main..feature --fail-on 'loss > 3%'
says "metric or result 'loss'"
fails 2 orch compare main..feature --fail-on 'epoch_time'
says "is not of the form METRIC > NUMBER"
fails 2 orch compare main..feature --fail-on 'epoch_time > x%'
says "is not of the form METRIC > NUMBER"

# names that are none
fails 2 orch compare main nowhere
says "'nowhere' is not a run, an experiment that was run, or a commit"
fails 2 orch compare main..nowhere
says "'nowhere' is not a commit"
fails 2 orch compare main
says 'a comparison needs two sides'
fails 2 orch compare main feature bench
says '--run RECIPE'
fails 2 orch compare main feature --repeat 3
says '--repeat'
fails 2 orch compare main feature --where 'kind = c and'
says 'character 13 of condition'
fails 2 orch compare main feature --where 'kind = c'
says 'matches --where'
git checkout -q -b empty main
echo 2 >exp/slow.awk
git commit -qam never
fails 2 orch compare main..empty
says 'no run that ended well was made from'
says '--run RECIPE'

# other machines: timings are refused, both are named; the rest is compared
ok orch db info --json
path=$(json path)
cp "$path" other.db
{
    sqlite3 other.db "SELECT 'DROP TRIGGER \"'||name||'\";' FROM sqlite_master WHERE type='trigger'"
    echo "UPDATE run SET device_key='8x Tesla V100' WHERE source IN (SELECT id FROM source WHERE branch='feature');"
} >sql
sqlite3 other.db <sql
ok orch compare main..feature --db other.db
has 'other machine'
has 'equal in every pair'
says "B on '8x Tesla V100'"
fails 2 orch compare main..feature --db other.db -m epoch_time
says "'epoch_time' is a timing, but A ran on"
says "B on '8x Tesla V100'"
says '--across'
fails 2 orch compare main..feature --db other.db --fail-on 'epoch_time > 3%'
says '--across'
ok orch compare main..feature --db other.db -m epoch_time --across
has slower

# both sides run now, in turns, from their own sources; the work tree is not touched
echo scratch >notes.txt
ok orch compare main..empty --run bench.recipe --repeat 3 -m epoch_time -x kind=a
says 'A B B A'
says '3 trials of each side'
has ' % slower ('
has '3 pairs'
same "$(cat exp/slow.awk)" 2
order=$(orch ls -r -n 0 --where 'started > 1min and kind = a' --json | python3 -c '
import json, sys
runs = json.load(sys.stdin)["runs"][-6:]
print("".join("A" if r["commit"] == sys.argv[1] else "B" for r in runs))' "$(git rev-parse main)")
same "$order" ABBAAB 'the order of turns'
# what they left is in the store: the same comparison, without running
ok orch compare main..empty -m epoch_time --where 'repeat < 4 and kind = a'
has 'slower'
ok orch show @last
has "$(git rev-parse --short=8 empty)"
# the work tree as it lies is a side too
echo 3 >exp/slow.awk
ok orch compare main . bench --run bench.recipe --repeat 2 -m epoch_time
has 'slower'
says '. (the work tree'
ok orch compare main . -m epoch_time
has 'slower'
# what a trial refers to is run when its turn comes, on each side for itself
cat >refs.recipe <<'R'
format: 1
recipe: refs
experiments:
  base: { plugin: exp/bench.plugin }
  next: { plugin: exp/bench.plugin, with: { from: "${base.accuracy}" }, reuse: any }
R
sed -i 's/^  kind: .*/&\n  from: { type: real, default: 0 }/' exp/bench.plugin
git checkout -q exp/slow.awk
git add -A
git commit -qm refs
git tag now
echo 2.5 >exp/slow.awk
git commit -qam slower
ok orch compare now..HEAD next --run refs.recipe --repeat 3 -m epoch_time
has slower
has '3 pairs'
says 'A base: ok'
says 'B base: ok'
says_not 'base #2'
# equal code is said; a trial that fails ends it
ok orch compare main main --run bench.recipe --repeat 2
says 'both sides run the same program'
echo 7 >exp/slow.awk
git commit -qam broken
fails 1 orch compare main..empty --run bench.recipe --repeat 2
says 'failed, so nothing was compared'
fails 2 orch compare main..empty --run nowhere.recipe
says "neither 'main' nor the work tree has 'nowhere.recipe'"
fails 2 orch compare main..empty --run /etc/passwd
says 'is outside the repository'
# what is infinite is never equal, and no limit lets it pass
ok orch try -x d=0,1,2 --repeat 4 -- sh -c '[ {d} = 0 ] && echo far=1.{seed} || echo far=inf'
ok orch compare d=0 d=1 -m far
has 'cannot tell: a value is infinite'
has_not 'equal in every'
fails 7 orch compare d=0 d=1 --fail-on 'far > 3%'
says 'far changed by +inf'
ok orch compare d=1 d=2 --fail-on 'far > 3%'
# nor what became no number in some runs
ok orch try -x e=0,1 --repeat 4 -- sh -c 'test {e}{repeat} = 14 && echo gone=nan || echo gone=1.{seed}'
fails 7 orch compare e=0 e=1 --fail-on 'gone > 3%'
says "gone is not a number in 1 of B's runs"
ok orch compare e=1 e=0 --fail-on 'gone > 3%'
