#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test: quick
# 'orch query' answers SQL on views of the store, as a table, CSV and JSON. It cannot change anything, reach another file, or
# run without end.
. "$(dirname "$0")/../cli/lib.sh"
fails 3 orch query 'SELECT 1'
says 'there is no store'
printf '#!/bin/sh\necho "step=1 loss=0.9"\necho "step=2 loss=$1"\n' >a.sh
chmod +x a.sh
ok orch try -x lr=0.1,0.3 --repeat 2 -- ./a.sh {lr}
last="SELECT s.value AS lr, avg(v.value) AS loss, count(*) AS n FROM settings s JOIN last_values v USING (run) WHERE s.name = 'lr' AND v.name = 'loss' GROUP BY lr"
ok orch query "$last"
has 'lr   loss  n'
ok orch query "$last" --format csv
same $'lr,loss,n\n0.1,0.1,2\n0.3,0.3,2' "${out//$'\r'/}"
ok orch query "$last" --json
same 0.3 "$(json rows.1.loss)"
ok orch query "SELECT count(*) AS points FROM metrics WHERE step = 1 AND value = 0.9"
has '4'
ok orch query "SELECT state, wall_s > 0 AS took, started < ended AS fits, started LIKE '20%Z' AS utc FROM runs" --format csv
has 'ok,1,1,1'
# a removed run is in no view; equal names of columns are told apart; what SQLite has no number for
ok orch rm @last
ok orch query 'SELECT count(*) AS n FROM runs' --json
same 3 "$(json rows.0.n)"
ok orch query "SELECT 1 AS a, 2 AS a, NULL AS \"No Value\", x'00ff' AS b, 0.1 + 0.2 AS sum" --json
same '{"No Value": null, "a": 1, "a:2": 2, "b": "00ff", "sum": 0.30000000000000004}' "$(of_json 'json.dumps(it["rows"][0], sort_keys=True)')"
ok orch query 'SELECT key FROM runs WHERE 0' --json
same '[]' "$(json rows)"

for sql in 'DELETE FROM run' 'UPDATE note SET text = 1' 'CREATE TABLE t(a)' 'CREATE TEMP TABLE t(a)' 'DROP VIEW runs' \
    "ATTACH 'other.db' AS o" 'PRAGMA query_only = OFF' 'VACUUM' "VACUUM INTO 'copy.db'" 'BEGIN' 'SELECT 1; DELETE FROM note' \
    "SELECT load_extension('x')" "SELECT readfile('a.sh')" 'SELECT nosuch FROM runs' 'SELECT ?1' '' 'nonsense'; do
    fails 2 orch query "$sql"
    same '' "$out"
done
fails 6 orch query --timeout 0.2 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c'
says 'takes longer than 0.2 s'
fails 6 orch query --json --timeout 0.2 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c'
same budget "$(json error.code)"
[ ! -e other.db ] && [ ! -e copy.db ] || _fail 'a file was made'
ok orch db check
