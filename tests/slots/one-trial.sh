# A compiled plugin asks the host for its threads, GPUs and memory. A plugin built against the header of ABI 1.0 still
# runs.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
plugins=$BUILD/tests/plugins
trust "$plugins/plain.so" "$plugins/abi_1_0.so"
recipe() { # NAME PLUGIN RESOURCES
    printf 'format: 1\nrecipe: %s\nexperiments:\n  e: { plugin: %s, resources: { %s } }\n' "$1" "$plugins/$2.so" "$3" >"$1.recipe"
}
recipe slot plain 'cores: 1, memory: 64MiB'
ok orch run slot.recipe
has_not failed
ok orch show @last --json
at() { python3 -c 'import json, sys; print(int(json.load(sys.stdin)["results"][sys.argv[1]]))' "$1" <<<"$out"; }
same "$(at threads)" 1 threads
same "$(at ranks)" 1 ranks
same "$(at gpus)" 0 gpus
same "$(at memory)" 67108864 memory
if [ -e "$BUILD/fake_nvml/libnvidia-ml.so.1" ]; then
    export LD_LIBRARY_PATH=$BUILD/fake_nvml FAKE_NVML_COUNT=4
    recipe gpus plain 'gpus: 3'
    ok orch run gpus.recipe --force
    ok orch show @last --json
    same "$(at gpus)" 3 gpus
    unset LD_LIBRARY_PATH
fi
# ABI 1.0 under this host: its cost and its run
recipe old abi_1_0 'cores: 1'
ok orch plugin show "$plugins/abi_1_0.so"
has 'ABI 1.0'
ok orch run old.recipe
ok orch show @last --json
same "$(at answer)" 42 'its result'
python3 - <<'P' || _fail 'what is recorded'
import json, sqlite3
db = sqlite3.connect(".orch/results.db")
cost = json.loads(db.execute("select facts from run order by id desc limit 1").fetchone()[0])["cost"]
assert cost == {"network": "lenet5", "images": 1000, "batch": 10}, cost
P
# ranks are for plugins that use MPI
recipe wrong plain 'ranks: 2'
fails 2 orch check wrong.recipe
says "'ranks': plugin 'plain' does not use MPI"
says 'wrong.recipe:4'
printf 'command: [sh, -c, "echo loss 1"]\nneeds: {mpi: true}\nmetrics: {loss: min}\n' >wrapped.plugin
printf 'format: 1\nrecipe: w\nexperiments:\n  e: { plugin: ./wrapped.plugin, resources: { ranks: 2 } }\n' >w.recipe
fails 2 orch check w.recipe
says "'ranks': plugin 'wrapped' is not a compiled one"
recipe zero ranks 'ranks: 0'
trust "$plugins/ranks.so"
fails 2 orch check zero.recipe
says 'ranks'
recipe many ranks 'ranks: 5000'
fails 2 orch check many.recipe
says '4096'
