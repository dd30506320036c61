# Every import that docs/import.md names, as it is written there: the rows, a source, a licence or "none
# stated", no warning that a column gives the target away, and nothing when it is done again. The files
# are not part of this repository: $ORCH_REFERENCE_DATA (or ../shared/data) holds them.
. "$(dirname "$0")/../cli/lib.sh"
data=${ORCH_REFERENCE_DATA:-$SOURCE/../shared/data}
[ -f "$data/justus_conv.csv" ] || skip 'no measurements: set ORCH_REFERENCE_DATA to their folder'
cp "$data"/*.csv "$data"/*.md .
count=0
while IFS='|' read -r _ rows command _; do
    case $command in *'`orch import '*) ;; *) continue ;; esac
    command=${command#*\`}
    command=${command%\`*}
    ok $command --json
    says_not 'reveal the target'
    says_not 'the table has no'
    printf '%s' "$out" | python3 -c '
import json, sys
s = json.load(sys.stdin)
assert s["did"] == "added" and s["rows"] == int(sys.argv[1]) and s["source"] and s["licence"], s
' "$rows" || _fail "$command"
    ok $command
    has 'nothing added'
    count=$((count + 1))
done <"$SOURCE/docs/import.md"
same $count 20 'number of imports'
ok orch db check
has '20 tables of measurements'
ok orch measurements export justus_conv -o x.set
ok orch import x.set --db other.db
has '42405 rows'
printf '%s imports, %s\n' "$count" "$(du -h .orch/results.db | cut -f1)"
