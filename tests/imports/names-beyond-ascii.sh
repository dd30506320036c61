# Experiments whose names have letters outside of ASCII keep apart: 'größe' and 'grüße' were both 'gr____e', as were all names of
# as many Chinese letters, of imported runs and of programs given to 'orch try'.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cp -r "$SOURCE/tests/data/runs/mlruns" .
for name in größe grüße 实验一 实验二; do
    id=$(grep -l . mlruns/*/meta.yaml | tail -1 | xargs dirname)
    sed -i "s/^name: .*/name: $name/" "$id/meta.yaml"
    for run in "$id"/*/meta.yaml; do # other runs than before
        other=$(md5sum <<<"$name$run" | cut -c 1-32)
        sed -i "s/^run_id: .*/run_id: $other/" "$run"
        mv "$(dirname "$run")" "$id/$other"
    done
    ok orch import --runs mlruns
done
ok orch ls --json
experiments() { of_json 'len({r["experiment"] for r in it["runs"]})'; }
same "$(experiments)" 4 'experiments'
ok orch ls --json --where 'experiment ~ grosse_x'
same "$(json runs.#)" 2
ok orch ls --json --where 'experiment ~ grusse_x'
same "$(json runs.#)" 2
rm -rf .orch
for name in größe grüße grösse cafe café 实验一 实验二 试训 数语 plain-name; do
    echo 'echo x 1' >$name.sh
    ok orch try -- sh $name.sh
done
ok orch ls --json
same "$(experiments)" 10 'experiments'
has '"grosse_x'
has '"cafe"'
has '"plain_name"'
