#!/bin/bash
# The user's name is taken from --who, $ORCH_USER, git's identity or the login name; and the rule by which two names
# mean one person.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
sleeps s 0
login=$(id -un)
me='Ada Lovelace <ada@example.org>'
unset ORCH_USER
who() {
    ok orch ls -n 1 --json
    json runs.0.who
}

# git has no name: the login name
ok orch run s.recipe -q
same "$(who)" "$login" 'the author'
# as git knows her: for the repository before for the user
git config --global user.name Nobody
git config --global user.email nobody@example.org
git config user.name 'Ada <Lovelace>'
git config user.email ada@example.org
ok orch run s.recipe -q --force
same "$(who)" "$me" 'the author'
# a name alone
git config user.email ''
ok orch run s.recipe -q --force
same "$(who)" 'Ada Lovelace' 'the author'
git config user.email ada@example.org
# $ORCH_USER goes before git, --who before both
ORCH_USER=eve ok orch run s.recipe -q --force
same "$(who)" eve 'the author'
ORCH_USER=eve ok orch run s.recipe -q --force --who $'Bob\e[2J\n Byte <bob@example.org>'
same "$(who)" 'Bob [2J  Byte <bob@example.org>' 'the author'
fails 2 orch run s.recipe --who ' '
says 'is not a name'
ok orch try -q --who 'Grace Hopper <grace@example.org>' -- true
same "$(who)" 'Grace Hopper <grace@example.org>' 'the author'

# people see the name, JSON and show have all of it
ok orch ls -n 0
has 'Ada Lovelace'
has_not 'ada@example.org'
ok orch ls -n 1
has 'Grace Hopper'
has_not '<grace'
ok orch show @last
has 'Grace Hopper <grace@example.org>'
# found by the full text, by the name, by the address; the name alone is another one's too
count() {
    ok orch ls -n 0 --json --where "$1"
    python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))' <<<"$out"
}
same "$(count "who = '$me'")" 1
same "$(count "who = 'Ada Lovelace'")" 2
same "$(count "who = 'ADA@example.org'")" 1
same "$(count 'who = Ada')" 0
same "$(count 'who ~ ada')" 2
same "$(count "who != 'Ada Lovelace'")" 4
same "$(count "not who = 'Ada Lovelace'")" 4

# whose run is it? An older one under the login name is hers, here; another one's is not
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  nap: { plugin: sleep, with: { seconds: 0.001 } }
report:
  - { question: 1, title: Naps, table: { rows: seconds, value: last slept_s } }
R
ORCH_USER=$login ok orch run r.recipe -q
ok orch report r.recipe --json
same "$(json who)" "$me" 'the author of the report'
has_not 'collaborators'
ORCH_USER=ada ok orch report r.recipe --json
has collaborators # a name without an address: whose login name that is, nobody knows
ok orch run r.recipe -q --force --who 'Eve <eve@example.org>'
ok orch report r.recipe
has 'Runs made by others'
has 'Eve'
has_not 'eve@example.org'
ok orch report r.recipe --who 'eve@example.org'
has_not 'Runs made by others'

# what one hides of one's own is public, and carries the name that the run has
ok orch ls -n 0 --json --where "who = '$login' and recipe = r"
key=$(json runs.0.key)
ok orch rm "$key"
note() { python3 -c '
import sqlite3, sys
print(*sqlite3.connect(".orch/results.db").execute("SELECT public, who FROM note WHERE target = ?", [sys.argv[1]]).fetchone())' "$1"; }
same "$(note "$key")" "1 $login" 'the tombstone'
ok orch ls -n 0 --json --where 'who = eve'
key=$(json runs.0.key)
ok orch rm "$key"
same "$(note "$key")" "0 $me" 'the tombstone of a run of hers'
