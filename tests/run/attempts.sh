# Retries, limits of time, and the work folder that all attempts of a trial share.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  slow: { plugin: sleep, with: { seconds: 600 }, timeout: 300ms, retries: 2 }
R
fails 1 orch run r.recipe
says timeout
# what is tried again is said, trial by trial and in --json
says 'tried again: attempt 2 follows'
says '2 tried again'
ok orch ls --json -n 0
same "$(json runs.#)" 3 'attempts'
same "$(json runs.0.state) $(json runs.1.state) $(json runs.2.state)" 'timeout timeout timeout'
ok orch show @last --json
same "$(json attempt)" 3
sed -i 's/retries: 2/retries: 0/' r.recipe
fails 1 orch run r.recipe
ok orch ls --json -n 0
same "$(json runs.#)" 4
ok orch show @last --json
same "$(json attempt)" 4
# without 'retries' a trial that ran out of time is not tried again; a program that ignores SIGTERM is killed soon
# after a short limit, half of it or 500 ms. Where it has not begun to ignore it by then, the limit was too short.
sed -i 's/, retries: 0//' r.recipe
fails 1 orch run r.recipe --json
same "$(json ended.timeout) $(json retried) $(json tried_again.#)" '1 0 0'
printf "trap '' TERM\n: >deaf\nwhile :; do sleep 0.05; done\n" >deaf.sh
for limit in '0.4 400 ms 500 ms' '8 8.0 s 4.0 s' '50 50 s 5.0 s'; do
    read -r limit_s limit limit_unit grace <<<"$limit"
    rm -f deaf
    fails 1 orch try --timeout "$limit_s" -- sh deaf.sh
    [ ! -e deaf ] || break
done
says "ran past its limit of $limit $limit_unit; it did not end within $grace of SIGTERM and was killed"
ok orch show @last --json
python3 -c "assert $(json wall_s) >= $limit_s + 0.5"
# a failure is no accident: it is not tried again
mkdir exp
cat >exp/bad.plugin <<'Y'
plugin: bad
command: [sh, -c, "exit 7"]
Y
printf 'format: 1\nrecipe: bad\nexperiments:\n  bad: { plugin: exp/bad.plugin, retries: 5 }\n' >bad.recipe
fails 1 orch run bad.recipe
ok orch ls --recipe bad --json
same "$(json runs.#)" 1
same "$(json runs.0.state)" failed
# counts on from where the last attempt was stopped: the first one after four steps
cat >exp/count.plugin <<'Y'
plugin: count
command: [sh, count.sh, "${checkpoint_dir}"]
metrics:
  reached: none
  before: none
Y
cat >exp/count.sh <<'S'
[ "$1" = "$ORCH_CHECKPOINT_DIR" ] || exit 8
echo x >>"$1/attempts"
i=$(cat "$1/i" 2>/dev/null || echo 0)
before=$i
while [ "$i" -lt 12 ]; do
    [ "$i" != 4 ] || [ "$before" = 4 ] || exec sleep 600
    i=$((i + 1)); echo $i >"$1/i.new"; mv "$1/i.new" "$1/i"
done
echo "reached $i"
echo "before $before"
S
printf 'format: 1\nrecipe: count\nexperiments:\n  count: { plugin: exp/count.plugin, timeout: 900ms, retries: 20 }\n' >count.recipe
ok orch run count.recipe
says '1 ok'
ok orch show @last --json
attempt=$(json attempt)
[ "$attempt" -ge 2 ] || _fail 'it was not stopped before it ended'
same "$(json results.reached) $(json results.before)" '12.0 4.0'
ok orch ls --recipe count --json
same "$(json runs.#)" "$attempt"
# over the memory that it may have
cat >exp/eat.plugin <<'Y'
plugin: eat
command: [python3, eat.py]
Y
cat >exp/eat.py <<'P'
import time
block = bytearray(300 << 20)
for i in range(0, len(block), 4096): block[i] = 1
time.sleep(600)
P
printf 'format: 1\nrecipe: eat\nexperiments:\n  eat: { plugin: exp/eat.plugin, resources: { memory: 100MiB } }\n' >eat.recipe
fails 1 orch run eat.recipe
says memory
ok orch show @last
has '100'
has memory
