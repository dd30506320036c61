# Saved views: named by 'orch view' and on the page, listed, pinned, shared in a bundle, removed; in a store that others share only
# places within the page become links. Nothing of it without the page's key, with --read-only, or in a stranger's store.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
orch serve --help >/dev/null 2>&1 || skip "orch serve is not built here"
. "$(dirname "$0")/store.sh"
cat >"$SCRATCH/views.py" <<'P'
import json, sys
print(*("|".join(str(v[k]) for k in ("view", "address", "pinned", "public")) for v in json.load(sys.stdin)["views"]))
P
views() { orch view --json | python3 "$SCRATCH/views.py"; }
same "$(views)" '' 'views of a new store:'
ok orch view mine '#/runs?where=rate%3E1'
ok orch view ours '#/overlay?runs=a%2Cb' --public --pin
same "$(views)" 'mine|#/runs?where=rate%3E1|False|False ours|#/overlay?runs=a%2Cb|True|True' 'two views:'
ok orch view mine '#/live'
ok orch view mine --pin
same "$(views)" 'mine|#/live|True|False ours|#/overlay?runs=a%2Cb|True|True' 'replaced and pinned:'
ok orch view ours --unpin
ok orch view ours '#/overlay?runs=a'
ok orch view ours --pin
same "$(views)" 'mine|#/live|True|False ours|#/overlay?runs=a|True|True' 'still shared:'
for wrong in 'javascript:alert(1)' 'http://evil.example/' '/runs' '#' '#/a b' '#/"x"' '#/<b>' '' "#/$(printf '%04500d' 0)"; do
    fails 2 orch view bad "$wrong"
done
fails 2 orch view '' '#/runs'
fails 2 orch view "$(printf 'a\nb')" '#/runs'
fails 2 orch view mine
fails 2 orch view nothing --remove
# a bundle takes the public ones along; what a strange store calls a view is none
ok orch export --bundle all.orch
mkdir ../other
cd ../other || exit 1
git init -q .
ok orch init
ok orch db merge "$OLDPWD/all.orch"
same "$(views)" 'ours|#/overlay?runs=a|True|True' 'in the other store:'
python3 - .orch/results.db <<'P'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
rows = {"evil": '{"address": "javascript:alert(1)"}', "list": "[]", "half": "{", "long": "x" * 100000, "two\nlines": '{"address": "#/runs"}'}
for n, (name, text) in enumerate(rows.items()):
    db.execute("INSERT INTO note(key, target, kind, public, text, who, made) VALUES(?, ?, 'view', 1, ?, 'eve', 1)",
               (f"00000000-0000-4000-8000-{n:012d}", "view:" + name, text))
db.commit()
P
same "$(views)" 'ours|#/overlay?runs=a|True|True' 'views of a strange store:'
ok env ORCH_USER=another orch view ours --remove
same "$(views)" '' 'removed here:'
cd "$OLDPWD" || exit 1
ok orch view ours --remove
same "$(views)" 'mine|#/live|True|False' 'removed:'
# on the page
changes() { PYTHONDONTWRITEBYTECODE=1 ok python3 "$(dirname "$0")/changes.py" "$@"; }
serve
changes views "$base"
same "$(views)" 'mine|#/live|True|False page|#/runs?where=rate%3D1|False|False' 'saved by the page:'
if [ -n "$(command -v chromium)" ] && [ -n "$(command -v chromedriver)" ]; then
    . "$(dirname "$0")/browser.sh"
    walk views.py
    same "$(views)" 'mine|#/live|False|False page|#/runs?where=rate%3D1|False|False' 'after the walk:'
fi
unserve
serve --read-only
changes refused "$base" '--read-only'
unserve
exit 0
