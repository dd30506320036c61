# A trial is pinned to as many of the allowed CPUs as its slot has threads, and trials of two runs use different CPUs.
# With '--no-pin' trials may use all CPUs. The run records the CPUs.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mapfile -t cpus < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
[ ${#cpus[@]} -ge 2 ] || skip 'it needs two CPUs'
ok orch doctor
case $out in *", ${#cpus[@]} threads,"*) ;; *) skip 'a quota of CPU time applies, under which nothing is pinned' ;; esac
cat >see.plugin <<'Y'
command: [sh, -c, 'grep Cpus_allowed_list /proc/self/status; echo "threads $$OMP_NUM_THREADS"; [ -z "${tell}" ] || touch "${tell}"; i=0; while [ -n "${meet}" ] && [ ! -e "${meet}" ] && [ $$i -lt 2000 ]; do sleep 0.02; i=$$((i+1)); done; echo loss 1']
parameters: { n: 0, meet: "", tell: "" }
metrics_from: lines
metrics: { loss: min }
Y
recipe() { printf 'format: 1\nrecipe: %s\nexperiments:\n  e: { plugin: ./see.plugin, with: { %s }, resources: { %s } }\n' "$1" "$3" "$2" >"$1.recipe"; }
allowed() { orch log "$1" | sed -n 's/.*Cpus_allowed_list:[[:space:]]*//p'; }
all=$(python3 -c 'import os, re; print(re.search(r"Cpus_allowed_list:\s*(\S+)", open("/proc/self/status").read())[1])')
recipe one 'cores: 1' 'n: 1'
ok orch run one.recipe -q
pinned=$(allowed @last)
case " ${cpus[*]} " in *" $pinned "*) ;; *) _fail "one core is CPU '$pinned'" ;; esac
ok orch log @last
has 'threads 1'
ok orch show @last --json
same "$(json facts.slot.pinned_to)" "$pinned" 'what is recorded'
ok orch show @last
has "pinned         to CPUs $pinned"
# without pinning; a slot with all CPUs
ok orch run one.recipe -q --force --no-pin
same "$(allowed @last)" "$all" 'CPUs with --no-pin'
ok orch show @last
has_not pinned
ok orch try -q --no-pin --name t -- sh -c 'grep Cpus_allowed_list /proc/self/status; echo loss 1'
same "$(allowed @last)" "$all"
recipe whole '' 'n: 1'
ok orch run whole.recipe -q
same "$(allowed @last)" "$all" 'CPUs of a slot with all'
# a caller with fewer CPUs
last=${cpus[-1]}
ok taskset -c "$last" orch run one.recipe -q --force
same "$(allowed @last)" "$last" 'the only CPU'
# two runs at once: each trial waits until the other one is there
recipe x 'cores: 1' "n: 1, meet: $SCRATCH/y.here, tell: $SCRATCH/x.here"
recipe y 'cores: 1' "n: 1, tell: $SCRATCH/y.here"
orch run x.recipe >x.out 2>&1 &
x=$!
await -e "$SCRATCH/x.here"
ok orch run y.recipe
wait $x || _fail "$(cat x.out)"
python3 - <<'P' || _fail 'CPUs of two trials that ran at once'
import json, sqlite3
rows = dict(sqlite3.connect(".orch/results.db").execute("select recipe, json_extract(facts, '$.slot.pinned_to') from run where recipe in ('x', 'y')"))
assert len(rows) == 2 and rows["x"] != rows["y"], rows
P
# more trials than CPUs within a run are the user's choice: those beyond are not pinned
recipe many 'cores: 1' 'n: 1'
sed -i 's/with: { n: 1 }/sweep: { n: [1, 2, 3] }/' many.recipe
ok taskset -c "${cpus[0]},${cpus[1]}" orch run many.recipe -j 3 --force
says '3 ok'
