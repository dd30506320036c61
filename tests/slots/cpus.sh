# Runs of one machine share its CPUs: a run that declares cores waits for declared cores of other runs, unless
# --oversubscribe is given. A trial that runs alone waits for an idle machine, and trials with declared resources wait
# for it. Runs are served in turn. Entries of dead processes and of earlier boots expire.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export LOG=$SCRATCH/log
cat >use.sh <<'S'
exec 9>"$LOG.lock"
if [ "$2" = alone ]; then flock -n 9 || echo "CLASH $1" >>"$LOG"; else flock -sn 9 || echo "CLASH $1" >>"$LOG"; fi
echo "use $1" >>"$LOG"
while [ -e "$LOG.$1.stay" ]; do sleep 0.05; done
echo loss 1
S
printf 'command: [sh, use.sh, "${name}", "${how}"]\nparameters: { name: a, how: beside, n: 0 }\nmetrics_from: lines\nmetrics: { loss: min }\n' >use.plugin
recipe() { printf 'format: 1\nrecipe: %s\nexperiments:\n  e: { plugin: ./use.plugin, with: { name: %s, how: %s }, sweep: { n: [%s] }, resources: { %s } }\n' "$1" "$1" "$2" "$3" "$4" >"$1.recipe"; }
until_line() {
    for _ in $(seq 900); do
        grep -q -- "$1" "$2" 2>/dev/null && return
        sleep 0.05
    done
    cat "$2"
    _fail "never: $1"
}
recipe a beside 1,2 'cores: 512'
recipe b beside 1 'cores: 512'
recipe c alone 1 'exclusive: true'
recipe d beside 1 'cores: 1'
touch "$LOG.a.stay"
orch run a.recipe >a.out 2>&1 &
a=$!
until_line 'use a' "$LOG"
# --oversubscribe does not wait, and its run says that another ran beside it
ok orch run b.recipe --oversubscribe
says_not waiting
ok orch show @last --json
same "$(json facts.co_runners)" 1 'its co-runners'
orch run b.recipe --force >b.out 2>&1 &
b=$!
until_line "waiting for .* of the .* CPUs: held by orch run of a e (pid $a)" b.out
until_line "'--oversubscribe' does not wait" b.out
orch run c.recipe >c.out 2>&1 &
c=$!
until_line 'waiting for the whole machine, because its trial runs alone: held by' c.out
orch run d.recipe >d.out 2>&1 &
d=$!
until_line 'waiting for' d.out
: >"$LOG"
rm "$LOG.a.stay"
for pid in $a $b $c $d; do wait $pid || _fail "$(cat ?.out)"; done
# in turn: b before a's second trial, and c and d in the order in which they came
same "$(tr '\n' ' ' <"$LOG")" 'use b use c use d use a ' 'the order'
# entries that nobody will remove
python3 - "$ORCH_SLOTS" <<'P'
import glob, json, os, sys
path = glob.glob(sys.argv[1] + "/*.json")[0]
boot = open("/proc/sys/kernel/random/boot_id").read().strip()
def entry(**more):
    return dict(dict(boot=boot, pid=os.getpid(), start=1, key="k", trial_dir="/nonexistent", what="old e", since_boot_ns=1, alone=True,
                     waiting=False, lacks_cpus=False, cpus=list(range(64)), gpus=[]), **more)
entries = [entry(), entry(boot="another"), entry(waiting=True, lacks_cpus=True), {"pid": "nonsense"}, 7]
json.dump({"format": 1, "entries": entries}, open(path, "w"))
P
ok orch run b.recipe --force
says_not waiting
same "$(cat "$ORCH_SLOTS"/*.json)" '{"entries":[],"format":1}' 'the list afterwards'
# a list that cannot be read or made is said, and the run goes on as if it were alone
for file in "$ORCH_SLOTS"/*.json; do echo nonsense >"$file"; done
ok orch run b.recipe --force
says "cannot read '$ORCH_SLOTS/"
says 'not a list of slots (CPUs and GPUs in use) in format 1'
rm -r "$ORCH_SLOTS"
touch "$ORCH_SLOTS"
ok orch run b.recipe --force
says 'other runs on this machine may use the same CPUs and GPUs'
says "'$ORCH_SLOTS'"
ok env ORCH_SLOTS=off orch run b.recipe --force
says_not 'may use the same'
ok env ORCH_SLOTS=off orch doctor
has 'ORCH_SLOTS=off'
