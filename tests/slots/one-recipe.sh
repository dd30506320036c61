# Two runs of one recipe in one store, whose trials run alone, take turns, although a run may find that the other has
# done its next trial. A run that is stopped while waiting blocks no other.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export LOG=$SCRATCH/log
cat >use.sh <<'S'
echo "use $1" >>"$LOG"
while [ -e "$LOG.$1.stay" ]; do sleep 0.05; done
echo loss 1
S
printf 'command: [sh, use.sh, "${n}"]\nparameters: { n: 0 }\nmetrics_from: lines\nmetrics: { loss: min }\n' >use.plugin
printf 'format: 1\nrecipe: r\nexperiments:\n  e: { plugin: ./use.plugin, sweep: { n: [1, 2, 3, 4, 5, 6] }, resources: { exclusive: true } }\n' >r.recipe
until_line() {
    for _ in $(seq 900); do
        grep -q -- "$1" "$2" 2>/dev/null && return
        sleep 0.05
    done
    cat "$2"
    _fail "never: $1"
}
touch "$LOG.1.stay"
orch run r.recipe >a.out 2>&1 &
a=$!
until_line 'use 1' "$LOG"
orch run r.recipe >b.out 2>&1 &
b=$!
until_line "held by orch run of r e (pid $a)" b.out
rm "$LOG.1.stay"
wait $a || _fail "$(cat a.out)"
wait $b || _fail "$(cat b.out)"
same "$(sort "$LOG" | uniq -c | awk '{ print $1 }' | tr -d '\n')" 111111 'how often each trial ran'
for who in a b; do [ "$(grep -c ' ok ' $who.out)" -ge 2 ] || _fail "$who had no turns: $(cat $who.out)"; done
# stopped in the queue
touch "$LOG.1.stay"
: >"$LOG"
orch run r.recipe -x e.n=1 --force >a.out 2>&1 &
a=$!
until_line 'use 1' "$LOG"
orch run r.recipe -x e.n=2 --force >b.out 2>&1 &
b=$!
until_line 'held by' b.out
kill -STOP $b
orch run r.recipe -x e.n=3 --force >c.out 2>&1 &
c=$!
until_line 'held by' c.out
rm "$LOG.1.stay"
wait $a || _fail "$(cat a.out)"
wait $c || _fail "$(cat c.out)"
same "$(tr '\n' ' ' <"$LOG")" 'use 1 use 3 ' 'the order'
kill -CONT $b
wait $b || _fail "$(cat b.out)"
same "$(tr '\n' ' ' <"$LOG")" 'use 1 use 3 use 2 ' 'the order'
# a run inside a trial uses what the trial has, also while another run waits for that trial
cat >outer.sh <<'S'
echo "use outer" >>"$LOG"
while [ ! -e "$LOG.go" ]; do sleep 0.05; done
orch run "$PLACE/r.recipe" -x e.n=5 --db "$PLACE/inner.db" --force >"$PLACE/inner.out" 2>&1 && echo loss 1
S
export PLACE=$SCRATCH/w
printf 'command: [sh, outer.sh]\nmetrics_from: lines\nmetrics: { loss: min }\n' >outer.plugin
printf 'format: 1\nrecipe: o\nexperiments:\n  e: { plugin: ./outer.plugin, resources: { exclusive: true } }\n' >o.recipe
: >"$LOG"
orch run o.recipe >a.out 2>&1 &
a=$!
until_line 'use outer' "$LOG"
orch run r.recipe -x e.n=6 --force >b.out 2>&1 &
b=$!
until_line 'held by orch run of o e' b.out
touch "$LOG.go"
wait $a || _fail "$(cat a.out inner.out)"
wait $b || _fail "$(cat b.out)"
grep -q ' ok ' a.out || _fail "$(cat a.out inner.out)"
same "$(tr '\n' ' ' <"$LOG")" 'use outer use 5 use 6 ' 'the order'
