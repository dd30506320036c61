# The page changes the store by POST, with the token that 'orch serve' prints: tags, notes, names, hiding. Other sites, other
# ports, other hosts, requests without the token, GET, a read-only server and a stranger's store change nothing.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
orch serve --help >/dev/null 2>&1 || skip "orch serve is not built here"
. "$(dirname "$0")/store.sh"
changes() { PYTHONDONTWRITEBYTECODE=1 ok python3 "$(dirname "$0")/changes.py" "$@"; }
serve
case $base in *'/?token='*) ;; *) _fail "no token in $base" ;; esac
changes attacks "$base"
same "$(orch ls --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))')" 7 'runs after the attacks:'
changes allowed "$base"
ok orch show @last
has 'baseline'
has "it's -- a 'note'"
same "$(orch show @last --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["name"])')" 'the-best' 'the name:'
same "$(orch ls --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))')" 6 'runs that are not hidden:'
# a trial that runs is cancelled from the page, and recorded
orch run curve.recipe live --no-progress >"$SCRATCH/live" 2>&1 &
runner=$!
changes cancel "$base"
wait "$runner"
ok orch ls --state cancelled
has 'live'
unserve
# what may not be changed is not, with the reason
serve --read-only
case $base in *token*) _fail "a token that nothing needs: $base" ;; esac
changes refused "$base" '--read-only'
unserve
serve --read-only --token
changes refused "$base" '--read-only'
unserve
chmod a-w .orch/results.db
if [ "$(id -u)" != 0 ]; then
    serve
    changes refused "$base" 'cannot be written'
    unserve
fi
chmod u+w .orch/results.db
# a store that somebody else marked as theirs
cp -r .orch "$SCRATCH/theirs"
python3 - "$SCRATCH/theirs" <<'P'
import json, os, sys
folder = [os.path.join(at, f) for at, _, files in os.walk(sys.argv[1]) for f in files if f == "orch-store"]
for path in folder:
    mark = json.load(open(path))
    for owner in mark["owners"]:
        owner["user"], owner["machine"] = 4242, "another"
    json.dump(mark, open(path, "w"))
P
serve --db "$SCRATCH/theirs/results.db"
changes refused "$base" 'not yours'
unserve
exit 0
