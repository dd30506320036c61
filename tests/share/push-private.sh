#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Only results leave the machine, which a search of every object of the remote shows. Sources are sent on request only,
# then only the files of 'inputs:', never notebooks or keys.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
unset ORCH_USER
as() {
    local who=$1
    shift
    (cd "$SCRATCH/$who" && ORCH_USER=$who "$@")
}
HUB=$SCRATCH/hub.git
leaked() { git -C "$HUB" cat-file --batch-all-objects --batch | grep -aq "$1"; }
stays() { for word in "$@"; do ! leaked "$word" || _fail "'$word' is at the remote"; done; }

git init -q --bare "$HUB"
for who in ada bob; do git clone -q "$HUB" "$SCRATCH/$who" 2>/dev/null; done
cd "$SCRATCH/ada"
mkdir src
echo '# SECRET-SOURCE of ada' >src/mine.py
echo 'HELPER-SOURCE of ada' >src/helper.py
echo '{"cells": ["NOTEBOOK-SOURCE of ada"]}' >src/lecture.ipynb
printf -- '-----BEGIN OPENSSH PRIVATE KEY-----\nKEY-OF-ADA\n' >src/token
echo 'README-SOURCE of ada' >README.md
echo 'UNTRACKED-OF-ADA' >untracked.txt
echo 'IGNORED-OF-ADA' >ignored.txt && echo ignored.txt >.gitignore
cat >mine.recipe <<'R'
format: 1
recipe: mine
experiments:
  e:
    plugin: sleep
    with: { seconds: 0.001 }
    inputs: [src]
R
git add src README.md .gitignore mine.recipe && git add -f src/token && git commit -qm sources
ok as ada orch run mine.recipe
key=$(as ada orch ls --json | "$BUILD/json_get" runs.0.key)
tree=$(as ada orch show "$key" --json | python3 -c '
import json, sys
def find(o):
    if isinstance(o, dict):
        for k, v in o.items():
            if k in ("tree", "source_tree") and isinstance(v, str): return v
            f = find(v)
            if f: return f
print(find(json.load(sys.stdin)))')
# notes: one private, one public
python3 - "$SCRATCH/ada/.orch/results.db" "$key" <<'P'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for n, (public, text) in enumerate([(0, "PRIVATE-NOTE of ada"), (1, "PUBLIC-NOTE of ada")]):
    db.execute("INSERT INTO note VALUES(?, ?, 'note', ?, ?, 'ada', ?)",
               ("01900000-0000-7000-8000-00000000000%d" % n, sys.argv[2], public, text, 10**18))
db.commit()
P

# the list names every item with its size, and nothing goes
ok as ada orch push --dry-run
has "runs/"
has "recipes/"
has "notes/"
says 'nothing was sent'
[ -z "$(git -C "$HUB" for-each-ref)" ] || _fail 'a dry run sent something'
ok as ada orch push --dry-run --json
listed=$(json sent_items)
ok as ada orch push --json
same "$(json sent_items)" "$listed" 'what was listed and what was sent'
ok as ada orch status
has '1 private'
stays SECRET-SOURCE HELPER-SOURCE NOTEBOOK-SOURCE KEY-OF-ADA README-SOURCE UNTRACKED-OF-ADA IGNORED-OF-ADA PRIVATE-NOTE
leaked PUBLIC-NOTE || _fail 'the public note is not there'
leaked "$tree" || _fail "the tree's id is not there"
ok as bob orch pull
fails 2 as bob orch checkout "$key"
says 'not in this repository'

# on request: inputs alone, after a list
ok as ada orch push --with-source --dry-run
has "sources/$tree/src/mine.py"
has_not 'lecture.ipynb'
stays SECRET-SOURCE
ok as ada orch push --with-source
says 'source: src/mine.py'
says 'source: src/helper.py'
says 'stays: src/lecture.ipynb'
says 'stays: src/token'
leaked SECRET-SOURCE || _fail 'the shared source is not there'
leaked HELPER-SOURCE || _fail 'the shared helper is not there'
stays NOTEBOOK-SOURCE KEY-OF-ADA README-SOURCE UNTRACKED-OF-ADA IGNORED-OF-ADA PRIVATE-NOTE
ok as ada orch push --with-source
says_not 'source:'
ok as bob orch pull
ok as bob orch checkout "$key" "$SCRATCH/then"
says 'the rest of the source was not shared'
same "$(cd "$SCRATCH/then" && find . -type f | sort | tr '\n' ' ')" './src/helper.py ./src/mine.py ' 'files checked out'
git -C "$SCRATCH/bob" fsck --no-dangling >/dev/null 2>&1 || _fail 'fsck of the clone'

# a recipe that says `share: source` needs no option
cd "$SCRATCH/ada"
echo 'OTHER-SOURCE of ada' >other.py
sed -e 's/recipe: mine/recipe: open/' -e 's/inputs: \[src\]/inputs: [other.py]\n    share: source/' mine.recipe >open.recipe
ok as ada orch run open.recipe
ok as ada orch push
says 'source: other.py'
leaked OTHER-SOURCE || _fail 'share: source did not share'
stays UNTRACKED-OF-ADA README-SOURCE NOTEBOOK-SOURCE PRIVATE-NOTE KEY-OF-ADA
