# Training sets are 'orch dataset', imported tables 'orch measurements'. What was called otherwise is an error
# that names the new command.
. "$(dirname "$0")/lib.sh"
renamed() { fails 2 orch $1; says "'orch $2' is now called 'orch $3'"; says "hint: type 'orch $3'"; }
renamed 'data ls' 'data ls' 'dataset ls'
renamed 'data get cifar10' 'data get' 'dataset get'
renamed 'dataset show bench' 'dataset show' 'measurements show'
renamed 'dataset rm bench' 'dataset rm' 'measurements rm'
renamed 'dataset export bench -o x' 'dataset export' 'measurements export'
renamed 'help dataset show' 'dataset show' 'measurements show'
for command in 'push --dataset bench' 'export --bundle b --dataset=bench'; do
    fails 2 orch $command; says "unknown option '--dataset'"; says "hint: it is called '--measurements' now"
done
fails 2 orch data; says 'orch dataset ls'; says 'orch measurements ls'
ok orch dataset ls; has 'cifar10'
printf 'gpu,ms\nV100,2\nK80,9\n' >bench.csv
ok orch import bench.csv --target ms; has "added measurements 'bench': 2 rows"
ok orch measurements ls --json; same "$(json measurements.0.name)" bench
ok orch export --bundle b.orch --measurements bench
ok orch db merge b.orch --db other.db; ok orch measurements show bench --db other.db; has K80
ok orch completion bash; has "'measurements show'"; has_not "'data ls'"
