# What 'orch serve' refuses: other hosts, methods, bodies, long heads, ways out of its folder, missing tokens.
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/store.sh"
# orch itself starts without the HTTP library
! ldd "$(command -v orch)" | grep -q soup || _fail "orch links libsoup"
before=$(sha256sum .orch/results.db)
serve --read-only
case $base in *token*) _fail "a token that nothing needs: $base" ;; esac
ok python3 "$(dirname "$0")/refusals.py" open "$base"
unserve
same "$(sha256sum .orch/results.db)" "$before" 'the store before and after'
serve --token
case $base in *'/?token='*) ;; *) _fail "no token in $base" ;; esac
ok python3 "$(dirname "$0")/refusals.py" token "$base"
unserve
# at every address of the machine there is a token without being asked for
serve --bind 0.0.0.0
case $base in *'/?token='*) ;; *) _fail "no token in $base" ;; esac
port=${base#http://*:}
port=${port%%/*}
fails 3 orch serve --port "$port"
says "cannot listen"
says '--port'
unserve
fails 2 orch serve --bind nowhere
says 'nowhere'
fails 2 orch serve --port 70000
fails 3 orch serve --db none.db
says 'no store'
