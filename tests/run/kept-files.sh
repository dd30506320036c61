#!/usr/bin/env bash
# 'keep:' of an experiment: the content of data files that git ignores stays with each run, and 'orch checkout' gives it back.
# test: quick
. "$ORCH_SOURCE_DIR/tests/cli/lib.sh"
echo data/ >.gitignore
mkdir -p data/deep
echo 1,2 >data/a.csv
echo 3,4 >'data/b (old).csv'
echo no >data/c.txt
truncate -s 65M data/deep/large.csv
cat >mine.sh <<'S'
cat data/a.csv | tr ',' ' ' | awk '{ print "score", $1 }'
S
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  mine:
    program: sh mine.sh
    keep: [data/*.csv, data/deep/*.csv, data/none*.csv]
R
git add -A
git commit -qm one
ok orch run r.recipe
ok orch show @last --json
same "$(of_json '[a["name"] for a in it["artifacts"] if a["name"].startswith("kept:")]')" '["kept:data/a.csv","kept:data/b%20%28old%29.csv"]'
ok orch log @last
says_not "nothing"
ok orch show @last --artifact log
has "large.csv' is not kept: it is larger than 64 MiB"
has "'data/none*.csv' is not kept: there is no such file"

# the data changes; the first run's is still there, also in another store
echo 9,9 >data/a.csv
first=$(orch ls --json | json_get runs.0.key)
ok orch run r.recipe
ok orch checkout "$first" then
same "$(cat then/data/a.csv)" 1,2
same "$(cat 'then/data/b (old).csv')" 3,4
[ -f then/mine.sh ]
[ ! -e then/data/c.txt ]
ok orch checkout @last now --json
same "$(json kept)" 2
same "$(cat now/data/a.csv)" 9,9
ok orch db check

sed 's|keep: .*|keep: [/etc/passwd]|' r.recipe >bad.recipe
fails 2 orch check bad.recipe
says "'keep': '/etc/passwd' is not a relative path"
# the files stay out of the source's folder where a path leads elsewhere
echo 7 >../outside.csv
sed 's|keep: .*|keep: [../outside.csv]|' r.recipe >out.recipe
ok orch run out.recipe --force
ok orch show @last --artifact log
has "it lies outside of the source"
