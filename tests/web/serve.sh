# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced after tests/cli/lib.sh: a server that a test starts and ends.

# serve ARG...: starts the server; its address in $base, its process in $server
serve() {
    rm -f "$SCRATCH/served" # of the server before
    orch serve --port 0 "$@" >"$SCRATCH/served" 2>"$SCRATCH/serve.err" &
    server=$!
    until [ -s "$SCRATCH/served" ] || ! kill -0 "$server" 2>/dev/null; do sleep 0.05; done
    base=$(head -n 1 "$SCRATCH/served")
    [ -n "$base" ] || _fail "the server did not start: $(cat "$SCRATCH/serve.err")"
}
unserve() {
    kill "$server" 2>/dev/null
    wait "$server"
    same $? 0 'the exit status of orch serve'
    server=
}
server=
trap 'was=$?; [ -z "$server" ] || kill "$server" 2>/dev/null; cleanup $was' EXIT
