# Views of several people and windows: a colleague's view does not hide one's own of that name, a save refuses to replace what its
# author has not seen and says the way out, and a note with a date in the far future does not win for ever.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
orch view --help >/dev/null 2>&1 || skip "orch view is not built here"
unset ORCH_USER
cat >"$SCRATCH/views.py" <<'P'
import json, sys
print(*("|".join(str(v[k]) for k in ("view", "who", "address", "pinned", "public")) for v in json.load(sys.stdin)["views"]))
P
views() { orch view --json | python3 "$SCRATCH/views.py"; }
# as WHO CMD...: in the store of WHO
as() {
    local who=$1
    shift
    mkdir -p "$SCRATCH/$who"
    (
        cd "$SCRATCH/$who"
        [ -d .git ] || git init -q -b main .
        [ -d .orch ] || ORCH_USER=$who orch init -q >/dev/null 2>&1
        ORCH_USER=$who "$@"
    )
}
gives() { # gives FROM TO: what FROM shares
    rm -f "$SCRATCH/$1.orch"
    ok as "$1" orch export --bundle "$SCRATCH/$1.orch"
    ok as "$2" orch db merge "$SCRATCH/$1.orch"
}
ok as ada orch view best '#/runs?where=ada' --public --pin
ok as bob orch view best '#/runs?where=bob'
gives ada bob
same "$(as bob views)" 'best|bob|#/runs?where=bob|False|False best|ada|#/runs?where=ada|True|True' "a colleague's view beside one's own:"
# a later one of hers, and what is done to one of them
ok as ada orch view best '#/runs?where=ada2'
gives ada bob
same "$(as bob views)" 'best|bob|#/runs?where=bob|False|False best|ada|#/runs?where=ada2|True|True' 'a newer one of hers:'
ok as bob orch view best --pin
ok as bob orch view best --unpin --of ada
same "$(as bob views)" 'best|bob|#/runs?where=bob|True|False best|ada|#/runs?where=ada2|False|True' 'each by itself:'
fails 2 as bob orch view best --remove --of eve
says "there is no view 'best' of eve"
ok as bob orch view best --remove --of ada
same "$(as bob views)" 'best|bob|#/runs?where=bob|True|False' 'hers removed here:'
same "$(as ada views)" 'best|ada|#/runs?where=ada2|True|True' 'hers at home:'
ok as bob orch view best --remove
same "$(as bob views)" '' 'both removed:'
# of a name that others have it must be said whose; to share one makes it one's own
ok as eve orch view fast '#/runs?where=eve' --public
ok as ada orch view fast '#/runs?where=ada' --public
gives eve bob
ok as bob orch view fast --pin
same "$(as bob views)" 'fast|eve|#/runs?where=eve|True|True' 'the only one of that name:'
gives ada bob
fails 2 as bob orch view fast --pin
says "2 people have a view 'fast'"
ok as bob orch view fast --public --of eve
gives bob eve
case $(as eve views) in *'fast|eve|#/runs?where=eve|False|True fast|ada|#/runs?where=ada|False|True fast|bob|#/runs?where=eve|True|True') ;; *) _fail "what bob's decisions are to others: $(as eve views)" ;; esac
# two windows
ok as eve orch view both '#/live' --instead-of ''
fails 2 as eve orch view both '#/explore' --instead-of ''
says "was changed since you opened it: its address is now '#/live'"
says 'then save yours'
ok as eve orch view both '#/explore' --instead-of '#/live'
fails 2 as eve orch view both '#/coverage' --instead-of '#/live'
fails 2 as eve orch view both --remove --instead-of '#/live'
ok as eve orch view both '#/coverage'
says "in place of '#/explore'"
ok as eve orch view both --remove --instead-of '#/coverage'
fails 2 as eve orch view both '#/live' --instead-of '#/coverage'
says 'was removed since you opened it'
for wrong in '--of ada both #/live' '--pin both --instead-of #/live' '--remove --public both' '--of ada'; do
    # shellcheck disable=SC2086 # several words
    fails 2 as eve orch view $wrong
done
# dates: a note of a clock that is far ahead, by oneself and by others
far() { # far WHO SQL
    as "$1" python3 - "$2" <<'P'
import sqlite3, sys, time
db = sqlite3.connect(".orch/results.db")
db.execute(sys.argv[1].replace("FAR", str(time.time_ns() + 50 * 365 * 86400 * 10**9)))
db.commit()
P
}
note="INSERT INTO note(key, target, kind, public, text, who, made) VALUES('00000000-0000-4000-8000-00000000000%s', %s, '%s', 1, '%s', 'ada', FAR)"
# shellcheck disable=SC2059 # the format is the statement
far ada "$(printf "$note" 1 "'view:late'" view '{"address": "#/runs?where=2076"}')"
gives ada bob
case $out$err in *"after this machine's clock: 1"*) ;; *) _fail 'no word of a note of the future' ;; esac
case $(as bob views) in *'late|ada|#/runs?where=2076'*) ;; *) _fail 'a note of the future is no view' ;; esac
ok as ada orch view late '#/runs?where=now'
case $(as ada views) in *'late|ada|#/runs?where=now'*) ;; *) _fail "a later view is hidden by one of the future: $(as ada views)" ;; esac
gives ada bob
case $(as bob views) in *'late|ada|#/runs?where=now'*) ;; *) _fail "a colleague's later view is hidden by one of the future: $(as bob views)" ;; esac
ok as ada orch view late --remove
case $(as ada views) in *'late|'*) _fail 'a view of the future cannot be removed' ;; esac
# so are tags and names
ok as ada orch try -- python3 -c 'print("loss 1")'
key=$(as ada orch ls --json | "$BUILD/json_get" runs.0.key)
# shellcheck disable=SC2059
far ada "$(printf "$note" 2 "'$key'" name 'from-2076')"
# shellcheck disable=SC2059
far ada "$(printf "$note" 3 "'$key'" tag 'late')"
ok as ada orch name "$key" --public present
ok as ada orch tag "$key" --remove late --public
as ada orch ls --json >"$SCRATCH/ls"
same "$("$BUILD/json_get" runs.0.name <"$SCRATCH/ls") $("$BUILD/json_get" runs.0.tags.# <"$SCRATCH/ls")" 'present 0' 'a name and a tag of the future:'
newest=$(as ada python3 -c 'import sqlite3, time; print(sqlite3.connect(".orch/results.db").execute("SELECT max(made) FROM note WHERE who = \"ada\" AND text = \"present\"").fetchone()[0] < time.time_ns())')
same "$newest" True 'the date of a new name:'
exit 0
