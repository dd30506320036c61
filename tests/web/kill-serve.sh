# 'orch serve' is killed at each of its system calls in turn while it answers and another process records: the store
# stays valid, the recording continues, and the next server answers at the same port.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/../cli/kill_calls.sh"
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  n: { plugin: 'null', sweep: { metrics: [3, 4, 5] } }
R
ok orch run r.recipe
server=
trap 'was=$?; [ -z "$server" ] || { pkill -9 -P "$server"; kill -9 "$server" 2>/dev/null; }; cleanup $was' EXIT

# serve CMD...: starts a server through CMD..., waits until it says its address or has ended, and sets $port
serve() {
    rm -f "$SCRATCH/served"
    "$@" orch serve --read-only --port "${port:-0}" >"$SCRATCH/served" 2>"$SCRATCH/serve.err" &
    server=$!
    until [ -s "$SCRATCH/served" ] || ! kill -0 "$server" 2>/dev/null; do sleep 0.02; done
    base=$(head -n 1 "$SCRATCH/served")
    base=${base%/}
    port=${base##*:}
}
# ask PATH: the status of the answer; nothing when the server ends before it
ask() {
    (
        exec 4<>"/dev/tcp/127.0.0.1/$port" || exit
        printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n\r\n' "$1" "$port" >&4
        read -r _ code _ <&4
        cat <&4 >/dev/null
        echo "$code"
    ) 2>/dev/null
}
serve env
run=$(orch ls -n 1 --json | "$BUILD/json_get" runs.0.key)
PAGES="/ /api/v1/runs /api/v1/runs/$run /api/v1/runs/$run/series?metric=value /api/v1/runs/$run/log"
for page in $PAGES; do
    code=$(ask "$page")
    case $code in 200 | 404) ;; *) _fail "$page: '$code'" ;; esac
done
kill "$server"
wait "$server"
same $? 0 'the exit status of orch serve'
server=
kills=0 runs=3
for n in 1 3 9 20 40 70 110 160 230 330 470; do
    port=
    serve killed_at "$n" orch-web
    orch run r.recipe --force -q >"$SCRATCH/run.out" 2>&1 &
    recorder=$!
    for _ in 1 2 3; do for page in $PAGES; do [ -e "$SCRATCH/hit" ] || ask "$page" >/dev/null; done; done
    wait "$recorder"
    same "$?:$(cat "$SCRATCH/run.out")" 0: "recording while the server is killed at call $n"
    runs=$((runs + 3))
    [ -e "$SCRATCH/hit" ] || { # a shell waits for the server
        pkill -P "$server"
        wait "$server"
        server=
        break
    }
    wait "$server"
    same $? 137 "the server's status at call $n, $(cat "$SCRATCH/hit")"
    server=
    kills=$((kills + 1))
    ok orch db check
    ok orch ls -n 0 --state ok --format tsv
    same "$(tail -n +2 <<<"$out" | wc -l)" $runs "runs after a kill at call $n"
    serve env
    same "$(ask /)/$(ask /api/v1/runs)" 200/200 "the next server after a kill at call $n"
    kill "$server"
    wait "$server"
    same $? 0 'the exit status of orch serve'
    server=
done
[ $kills -ge 5 ] || _fail "only $kills kills"
ok orch run r.recipe
says 'done before'
echo "$kills kills"
