#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A merged run may contain any text. No command prints its escape sequences or characters that change the direction of
# writing, names cannot begin a new line, JSON is read back unchanged, and a page contains no script.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
evil=$'\e]0;title\a\e[2J\xc2\x9b31m\xe2\x80\xae\xe2\x81\xa6\x7f<script>alert(1)</script>"\x27&\nrun 00000000: forged'
sql() { python3 -c 'import sys; print("\x27" + sys.argv[1].replace("\x27", "\x27\x27") + "\x27")' "$1"; }
E=$(sql "$evil")
. "$(dirname "$0")/../cli/hostile_recipe.sh"
cat >>job.sh <<'S'
printf '\033[2J\302\23331m\342\200\256end\r\n'
S
git add -A
git commit -qm one
ok orch run r.recipe -q
cp -r .orch ../evil
cp -r .orch ../worse
rm -r .orch
# one store of runs that the recipe takes, and one where every text is hostile
python3 "$SOURCE/tests/store/forge.py" ../evil/results.db \
    "UPDATE run SET who = $E || ' <a@b>', reason = $E, argv = $E, build = $E, facts = json_object('stderr_tail', $E, 'notes', json_array($E), 'left_out', json_array(json_array($E, $E)), $E, $E)" \
    "UPDATE source SET branch = $E, remote = $E, commit_oid = $E, tree = $E" \
    "UPDATE machine SET facts = json_object('hostname', $E, 'os', $E)" \
    "UPDATE param SET value = $E WHERE name = 'note'" "UPDATE result SET unit = $E" "UPDATE metric_name SET unit = $E" \
    "INSERT INTO note SELECT '01900000-0000-7000-8000-00000000000' || id, key, 'note', 1, $E, $E, 1 FROM run" \
    "INSERT INTO forecast SELECT fingerprint, $E, $E, 1, 1, 2, 3, $E, key FROM run" || _fail 'no forged store'
python3 "$SOURCE/tests/store/forge.py" ../worse/results.db \
    "UPDATE run SET key = substr(key, 1, 35) || substr('123456789abcdef0', instr('0123456789abcdef', substr(key, 36)), 1), recipe = $E, experiment = $E, plugin = $E, plugin_version = $E, state = $E, device_key = $E, fingerprint = $E, who = $E" \
    "UPDATE run SET state = 'ok' WHERE id = 2" "UPDATE machine SET key = $E, facts = $E" \
    "UPDATE param SET name = $E, type = $E, value = $E WHERE name = 'note'" \
    "UPDATE artifact SET name = CASE run WHEN 1 THEN $E ELSE '../../stray' END WHERE name = 'out'" \
    "UPDATE result SET name = 'r' || $E" "UPDATE metric_name SET name = name || $E, better = $E" || _fail 'no forged store'

clean() { # the last output
    local bad=$'\e\a\x7f' text=$out$err
    case $text in *[$bad]* | *$'\xc2\x9b'* | *$'\xe2\x80\xae'* | *$'\xe2\x81\xa6'*) _fail "a control character: $*" ;; esac
    grep -q '^run 00000000: forged' <<<"$text" && _fail "a line that a stranger wrote: $*"
    [ "$status" -lt 8 ] || _fail "status $status: $*"
}
any() {
    _run "$@"
    clean "$@"
}
any orch db merge ../evil/results.db
same $status 0
has 'alert(1)'
any orch db merge ../worse/results.db
same $status 0
any orch ls -n 0
same "$(wc -l <<<"$out")" 5 'lines of ls'
any orch ls -n 0 --json
keys=$(python3 -c 'import json, sys; print(*[r["key"] for r in json.load(sys.stdin)["runs"]])' <<<"$out")
set -- $keys
same $# 4 runs
for key in $keys; do
    any orch show "$key"
    same $status 0
    any orch show "$key" --json
    same $status 0
    any orch diff "$key" @last
    any orch compare "$key" @last
    any orch checkout "$key"
    any orch show "$key" --artifact none
done
any orch show "$1" --json
python3 -c 'import json, sys; assert json.load(sys.stdin)["who"].startswith(sys.argv[1])' "$evil" <<<"$out" ||
    any orch show "$3" --json
python3 -c 'import json, sys; assert json.load(sys.stdin)["who"].startswith(sys.argv[1])' "$evil" <<<"$out" || _fail 'JSON lost a character'
for words in 'plan r.recipe' 'report r.recipe' 'report r.recipe --html page.html' 'report r.recipe --out pages' 'best final --by lr' \
    'coverage r.recipe --offline' 'coverage r.recipe --offline --json' cost 'cost --by who,recipe,gpu,week' 'predictor score' 'table -r lr' 'plot accuracy' \
    'predictor rows' 'db check' 'db check --signatures' 'db info' status doctor 'export -o runs.csv' 'export --bundle b.orch' \
    'pack r.recipe p.orch' 'verify p.orch' 'verify .' 'run r.recipe --dry-run' 'push --dry-run ../folder' 'push ../folder' 'rm @last' gc; do
    any orch $words
done
grep -q 'alert(1)' page.html || _fail 'the page tells nothing of who ran it'
! grep -rlF '<script>alert' --include=*.html --include=*.svg page.html pages || _fail 'a script of a stranger'
[ -z "$(find .. ../.. -maxdepth 1 -name stray)" ] || _fail 'a file outside'

# what a trial printed, on a terminal and to a file
screen() { python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$@" </dev/null; }
cp -r ../evil .orch2
key=$(orch ls --db .orch2/results.db --json | "$BUILD/json_get" runs.0.key)
out=$(screen orch log "$key" --db .orch2/results.db) err=
clean 'log on a terminal'
has 'end'
has 'final 0.5'
ok orch log "$key" --db .orch2/results.db
has $'\e[2J'
