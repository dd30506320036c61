# Training sets are 'orch dataset', imported tables 'orch measurements'.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
fails 2 orch data
says 'orch dataset ls'
says 'orch measurements ls'
ok orch dataset ls
has 'cifar10'
printf 'gpu,ms\nV100,2\nK80,9\n' >bench.csv
ok orch import bench.csv --target ms
has "added measurements 'bench': 2 rows"
ok orch measurements ls --json
same "$(json measurements.0.name)" bench
ok orch export --bundle b.orch --measurements bench
ok orch db merge b.orch --db other.db
ok orch measurements show bench --db other.db
has K80
ok orch completion bash
has "'measurements show'"
