# A command that only reads waits while another command creates the store. An empty file that no command is filling is
# an error at once.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
printf 'format: 1\nrecipe: r\nexperiments:\n  u: { plugin: "null" }\n' >r.recipe
db=$PWD/.orch/results.db
ok orch run r.recipe
ok orch db backup "$SCRATCH/whole.db"
# the file is there, and the store is in it a moment later
rm -rf "$db"*
: >"$db"
(
    for _ in 1 2 3 4 5; do
        sleep 0.05
        touch "$db"
    done
    mv "$SCRATCH/whole.db" "$db"
) &
maker=$!
ok orch ls --json
wait $maker
same "$(json runs.0.state)" ok
# many times, at whatever instant
for _ in 1 2 3 4 5 6 7 8 9 10; do
    rm -rf "$db"*
    orch run r.recipe -q >/dev/null 2>&1 &
    maker=$!
    while [ ! -e "$db" ]; do :; done
    ok orch ls
    ok orch ls --json
    wait $maker
done
rm -rf "$db"*
: >"$db"
touch -d '1 hour ago' "$db"
fails 3 orch ls
says 'the file is empty'
# six at once make one store: all find it theirs, and each run is in it
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    rm -rf "$db"*
    for k in 1 2 3 4 5 6; do
        (echo '{"event":"done","status":"ok"}' | orch record -e "r$k" 2>"err.$k") &
    done
    wait
    ok orch ls --json
    same "$(json runs.#)" 6 "runs of six ($(cat err.?))"
done
