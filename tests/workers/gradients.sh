# The gradients that MPI ranks sum, each from its shard of a batch, equal those of one process with the whole batch; so
# do the weights after three steps.
# test: slow timeout=900
. "$(dirname "$0")/../cli/lib.sh"
command -v mpirun >/dev/null || skip 'no mpirun on the PATH'
[ -e "$BUILD/plugins/common/orch-torch.so" ] || skip 'built without LibTorch'
plugin=$BUILD/tests/mpi/mpi_gradients.so
[ -e "$plugin" ] || skip 'built without MPI (libopenmpi-dev, openmpi-bin)'
trust "$plugin"
cat >gradients.recipe <<R
format: 1
recipe: gradients
experiments:
  two: { plugin: $plugin, with: { workers: 2 } }
  three: { plugin: $plugin, with: { workers: 3 } }
  apart: { plugin: $plugin, with: { workers: 2, reduces: false } }
R
# results RANKS CONDITION: the last trial had that many ranks, and what it measured meets the condition
results() {
    ok orch show @last --json
    python3 -c '
import json, sys
r = json.load(sys.stdin)["results"]
assert r["ranks"] == int(sys.argv[1]) and r["buckets"] > 4 and r["largest"] > 0.01, r
assert eval(sys.argv[2], {}, r), r' "$1" "$2" <<<"$out" || _fail "$2"
}
ok orch run gradients.recipe two
results 2 'difference <= 1e-6 and weight_difference <= 1e-6'
ok orch run gradients.recipe three
results 3 'difference <= 1e-6 and weight_difference <= 1e-6'
# gradients that are not reduced are far from them
ok orch run gradients.recipe apart
results 2 'difference > 1e-3 and weight_difference > 1e-5'
