#!/usr/bin/env bash
# test: quick
# SPDX-License-Identifier: GPL-3.0-or-later
# Files of the real loggers (files/, by make_files.py) that a trial writes: every series equals, by name, step and value, what
# the logger's own reader says of it.
. "$(dirname "$0")/../cli/lib.sh"
files=$SOURCE/tests/loggers/files
cat >points.py <<'P'
import sqlite3, sys
db = sqlite3.connect(".orch/results.db")
rows = db.execute("SELECT n.name, x.step, x.value FROM metric x JOIN metric_name n ON n.id = x.name_id WHERE x.run ="
                  " (SELECT max(id) FROM run) AND n.name NOT LIKE 'system/%'")
found = sorted((n, s, repr(float("nan") if v is None else v)) for n, s, v in rows)
want = sorted({(n, int(s), repr(float(v))) for n, s, v in (line.rstrip("\n").split("\t") for line in open(sys.argv[1]))})
assert found == want, f"{sys.argv[1]}: missing {sorted(set(want) - set(found))[:5]}, more {sorted(set(found) - set(want))[:5]}"
P
printf '/out/\n' >.gitignore
for format in torch resumed lightning keras sb3; do
    case $format in
    torch | resumed) names="$format.tfevents.*" ;;
    lightning) names=lightning/metrics.csv ;;
    keras) names=keras.csv ;;
    sb3) names=sb3/progress.csv ;;
    esac
    rm -rf out
    ok orch try --no-progress --name $format -- sh -c "mkdir out && cp $files/$names out/"
    ok python3 points.py "$files/$format.points"
done
