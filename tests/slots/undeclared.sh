# Trials without declared resources do not wait, and no trial waits for their CPUs: only declared cores, GPUs and trials
# that run alone cause waiting. The run records its neighbours. A trial that starts beside one that runs alone prints a
# notice.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
export LOG=$SCRATCH/log
cat >use.sh <<'S'
echo "use $1" >>"$LOG"
while [ -e "$LOG.$1.stay" ]; do sleep 0.05; done
echo loss 1
S
printf 'command: [sh, use.sh, "${name}"]\nparameters: { name: a, n: 0 }\nmetrics_from: lines\nmetrics: { loss: min }\n' >use.plugin
recipe() { printf 'format: 1\nrecipe: %s\nexperiments:\n  e: { plugin: ./use.plugin, with: { name: %s }, resources: { %s } }\n' "$1" "$1" "$2" >"$1.recipe"; }
until_line() {
    for _ in $(seq 900); do
        grep -q -- "$1" "$2" 2>/dev/null && return
        sleep 0.05
    done
    cat "$2"
    _fail "never: $1"
}
recipe free ''
recipe other ''
recipe cores 'cores: 512'
recipe alone 'exclusive: true'
recipe late 'cores: 1'
# beside one that declares nothing: neither waits, and the second one's neighbour is recorded
touch "$LOG.free.stay"
orch run free.recipe >free.out 2>&1 &
free=$!
until_line 'use free' "$LOG"
ok timeout 100 orch run other.recipe
says_not waiting
ok orch show @last --json
same "$(json facts.co_runners)" 1 'its co-runners'
ok timeout 100 orch run cores.recipe
says_not waiting
ok orch show @last --json
same "$(json facts.co_runners)" 1 'its co-runners'
ok timeout 100 orch try --name t -- sh -c 'echo loss 1'
says_not waiting
# a trial that runs alone waits for an empty machine, and one that declares a core waits behind it
orch run alone.recipe >alone.out 2>&1 &
alone=$!
until_line 'waiting for the whole machine, because its trial runs alone: held by orch run of free e' alone.out
orch run late.recipe >late.out 2>&1 &
late=$!
until_line 'waiting for' late.out
ok timeout 100 orch run other.recipe --force
says_not waiting
touch "$LOG.alone.stay"
rm "$LOG.free.stay"
wait $free || _fail "$(cat free.out)"
until_line 'use alone' "$LOG"
ok timeout 100 orch run other.recipe --force
says_not waiting
says "runs at the same time as an exclusive trial: orch run of alone e (pid $alone) since 20"
says "resources: { cores: N }"
ok orch show @last --json
same "$(json facts.co_runners)" 1 'its co-runners'
grep -q 'use late' "$LOG" && _fail 'a trial that declares a core ran beside one that runs alone'
rm "$LOG.alone.stay"
wait $alone || _fail "$(cat alone.out)"
wait $late || _fail "$(cat late.out)"
# two sweeps at once, with equal shares of the machine: nobody waits
sed 's/resources: {  }/sweep: { n: [1, 2, 3] }/; s/recipe: free/recipe: one/' free.recipe >one.recipe
sed 's/recipe: one/recipe: two/' one.recipe >two.recipe
orch run one.recipe -j 2 >one.out 2>&1 &
one=$!
orch run two.recipe -j 2 >two.out 2>&1 &
two=$!
wait $one || _fail "$(cat one.out)"
wait $two || _fail "$(cat two.out)"
grep -l waiting one.out two.out && _fail "$(cat one.out two.out)"
same "$(cat "$ORCH_SLOTS"/*.json)" '{"entries":[],"format":1}' 'the list afterwards'
