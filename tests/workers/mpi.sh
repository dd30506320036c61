# A plugin that needs MPI runs as several ranks: as many as its declared cost has workers, or as the recipe says. Rank 0
# reports, and notes and log lines of other ranks begin with their number.
# test: slow timeout=900
. "$(dirname "$0")/../cli/lib.sh"
plugin=$BUILD/tests/mpi/mpi_sum.so
[ -e "$plugin" ] || skip 'built without MPI (libopenmpi-dev, openmpi-bin)'
command -v mpirun >/dev/null || skip 'no mpirun on the PATH'
trust "$plugin"
cat >sum.recipe <<R
format: 1
recipe: sum
experiments:
  swept: { plugin: $plugin, sweep: { workers: [1, 3] }, resources: { cores: 2 } }
R
at() { python3 -c 'import json, sys; print(int(json.load(sys.stdin)["results"][sys.argv[1]]))' "$1" <<<"$out"; }
ok orch plugin show "$plugin"
has MPI
ok orch run sum.recipe
ok orch show @last --json
same "$(at sum)" 3 'the sum of 0, 1, 2'
same "$(at ranks)" 3 ranks
same "$(at threads)" 1 'threads of a rank'
key=$(json key)
ok orch ls --json
same "$(json runs.#)" 2
ok orch show @last
has 'noted, local 0'
has 'rank 1: noted, local 1'
has 'rank 2: noted, local 2'
ok orch log "$key"
has 'rank 2: logged'
has_not 'a phase of another rank'
# points and artifacts come from rank 0 alone
python3 - <<'P' || _fail 'what is recorded'
import json, sqlite3
db = sqlite3.connect(".orch/results.db")
runs = {r[0]: json.loads(r[1]) for r in db.execute("select id, facts from run")}
assert sorted(f["ranks"] for f in runs.values()) == [1, 3], runs
# a trial of over a second also has samples of the machine
points = db.execute("select name, step, value from metric join metric_name on id = name_id where name not like 'system/%'").fetchall()
assert sorted(points) == [("by_step", 0, 0.0), ("by_step", 0, 3.0)], points
# (Open MPI 5 writes to stderr where there is no network but lo)
artifacts = db.execute("select name from artifact where name not in ('log', 'stderr')").fetchall()
assert artifacts == [("ranks",), ("ranks",)], artifacts
P
# run again: nothing is missing; another number of ranks is another trial
ok orch run sum.recipe
ok orch ls --json
same "$(json runs.#)" 2
cat >said.recipe <<R
format: 1
recipe: said
experiments:
  said: { plugin: $plugin, resources: { ranks: 4 } }
R
ok orch run said.recipe
ok orch show @last --json
same "$(at sum)" 6 'the sum of 0 to 3'
same "$(at ranks)" 4 ranks
ok orch run said.recipe
ok orch ls --json
same "$(json runs.#)" 3
sed -i 's/ranks: 4/ranks: 2/' said.recipe
ok orch run said.recipe
ok orch show @last --json
same "$(at sum)" 1 'the sum of 0 and 1'
# the conformance run starts as many ranks as its cost has workers
for n in 1 3; do
    ok orch plugin check "$plugin" -s workers=$n
    grep -Eq "^smoke run +ok" <<<"$out" || _fail "the smoke run of $n ranks"
done
# two trials at once do not meet
cat >two.recipe <<R
format: 1
recipe: two
experiments:
  two: { plugin: $plugin, with: { workers: 2 }, repeat: 4 }
R
ok orch run two.recipe -j 2
says_not failed
ok orch ls --json
has_not failed
has_not crashed
