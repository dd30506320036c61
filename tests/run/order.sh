# Trials run in the order that the plan lists: every setting once before any is repeated. The plan gives the reason why
# a trial runs again.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
printf 'print("loss", 1)\n' >t.py
git add -A
git commit -qm first
sweep() { orch try "$@" -x n=1,2,3 --repeat 2 -- python3 t.py --n '{n}' --repeat '{repeat}'; }
order='1#1 2#1 3#1 1#2 2#2 3#2'
ok sweep -n --json
planned=
for i in 0 1 2 3 4 5; do planned="$planned $(json trials.$i.params.n)#$(json trials.$i.repeat)"; done
same "$planned" " $order" 'the order of the plan'
ok sweep -n
same "$(sed -n 's/^t n=\([0-9]\) #\([0-9]\).*/\1#\2/p' <<<"$out" | tr '\n' ' ')" "$order " 'the order of the table'
ok sweep
same "$(sed -n 's/^\[[1-6].* n=\([0-9]\) #\([0-9]\).*/\1#\2/p' <<<"$err" | tr '\n' ' ')" "$order " 'the order of the run'
# two experiments of a recipe likewise, what they refer to first
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  a: { plugin: sleep, sweep: { seconds: [0, 0.001] }, repeat: 2 }
  b: { plugin: sleep, with: { seconds: 0.002 }, repeat: 2 }
R
ok orch plan r.recipe --json
for i in 0 1 2 3 4 5; do printf '%s%s ' "$(json trials.$i.experiment)" "$(json trials.$i.repeat)"; done >o
same "$(cat o)" 'a1 a1 b1 a2 a2 b2 '
# an edited script: one line says so, of how many trials; a new setting or command is new and not stale
echo 'edited=1' >>t.py
ok sweep
says 'try: 6 trials: 6 stale'
says 'stale: t.py changed (6 trials)'
ok orch try -x n=4 -- python3 t.py --n '{n}' --repeat '{repeat}'
says '1 missing'
says_not stale
ok orch try -s n=5 -- python3 t.py --n '{n}'
says '1 missing'
says_not stale
ok orch try -s n=6 -- python3 t.py --n '{n}'
says '1 missing'
says_not stale
echo 'again=1' >>t.py
ok orch try -s n=7 -- python3 t.py --n '{n}' --more
says '1 missing'
says_not stale
ok orch try -s n=6 -- python3 t.py --n '{n}'
says 'stale: t.py changed (1 trial)'
# of a recipe another value is an edit of it
sed -i 's/0.002/0.003/' r.recipe
ok orch run r.recipe
sed -i 's/0.003/0.004/' r.recipe
ok orch run r.recipe
says 'stale: seconds was 0.003, is 0.004 (2 trials)'
