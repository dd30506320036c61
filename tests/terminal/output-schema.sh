#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test: timeout=300
# What commands print with --json fits the schema that 'orch config --schema COMMAND' prints, and every command has a schema or
# prints no JSON.
. "$(dirname "$0")/../cli/lib.sh"
[ -n "${COLLECT:-}" ] || judge_by jsonschema
outputs=${COLLECT:-$SCRATCH/outputs}
mkdir -p "$outputs"
count=0
# of COMMAND [ARG...] [-- ARG...]: keeps its words, and what it prints with --json, whatever its status
of() {
    local words=() word
    count=$((count + 1))
    for word; do
        [ "$word" != -- ] || words+=(--json)
        words+=("$word")
    done
    [[ " $* " = *' -- '* ]] || words+=(--json)
    printf '%s\n' "$*" >"$outputs/$count.words"
    orch "${words[@]}" >"$outputs/$count.json" 2>"$SCRATCH/err" </dev/null
    if [ ! -s "$outputs/$count.json" ] || grep -q '^  "error": {' "$outputs/$count.json"; then
        _fail "orch $*: $(<"$outputs/$count.json") $(<"$SCRATCH/err")"
    fi
}
cat >a.recipe <<'R'
format: 1
recipe: a
about: two settings
problems: { p1: [fit] }
experiments:
  fit:
    program: sh a.sh ${lr}
    sweep: { lr: [0.1, 0.2] }
    repeat: 2
    artifacts: { out: out.txt }
report:
  - { question: "1", points: 2, title: Loss, table: { rows: lr, value: last loss } }
  - { title: Curve, plot: { kind: line, x: step, y: loss, by: lr } }
  - { title: Best, best: { value: last loss } }
R
cat >a.sh <<'S'
awk -v lr="$1" 'BEGIN { for (i = 1; i <= 8; i++) printf "step=%d loss=%.4f\n", i, lr + 1 / i }'
echo some >out.txt
S
printf 'format: 1\nrecipe: bad\nexperiments: { a: { program: "sh -c exit\\\\ 3" } }\n' >bad.recipe
git add -A
git commit -qm first
of init
of check a.recipe
of plan a.recipe
of run a.recipe
of run bad.recipe
of plan a.recipe
of config a.recipe --origin
of ls
of ls -m loss
of ls -n 0 --state failed
of show @last
of show '@{2}'
of show @last --rerun
of report a.recipe
of report a.recipe -o page
of table --rows lr --value 'last loss'
of plot --x step --y loss
of best loss
of compare 'lr=0.1' 'lr=0.2' --metric loss
of diff @last '@{3}'
of note @last 'a note'
of note @last
of tag @last good
of tag @last
of name @last winner
of export
of export --what points
of query 'SELECT key, wall_s FROM runs'
of coverage a.recipe
of cost a.recipe
of cost
of curve "$(orch query "SELECT max(key) AS k FROM runs WHERE recipe = 'a'" --json | "$BUILD/json_get" rows.0.k)"
of status
key=$(orch query "SELECT max(key) AS k FROM runs WHERE recipe = 'a'" --json | "$BUILD/json_get" rows.0.k)
of rm "$key"
of rm "$key" --undo
of gc --dry-run
of purge '@{4}'
of db info
of db check
of db backup copy.db
of db merge copy.db
of db migrate
of checkout @last "$SCRATCH/tree"
of cancel --all
of view
of doctor
of try -x n=1,2 -- echo 'loss={n}'
of try -n -- true
of ask -x 'lr=loguniform(1e-4, 1)' --search 'min loss' -e try
git init -q --bare "$SCRATCH/far"
git remote add origin "$SCRATCH/far"
of push
of push --dry-run
of pull
of pack a.recipe a.zip
of verify a.zip
of submit a.recipe --netid ab1 -o handin
of verify handin
of plugin ls
of plugin show sleep
of plugin new mine
of plugin trust
of plugin check sleep
of net ls
of net show resnet20
of net compare resnet20 vgg16
of net field 3/1 2/2
of gpu ls
of gpu show V100
of gpu links
of gpu prices
of predict --net resnet20 --gpu V100 --dataset cifar10
of predict --net resnet20 --dataset cifar10 --gpu all
of paleo --net alexnet --gpu paleo:K80 --batch 128
of paleo --net alexnet --workers 1,4 --parallel model --split features.10
of paleo --net alexnet --batch 128 --workers 1,2 --parallel hybrid --split classifier.1
of dataset ls
awk 'BEGIN { print "gpu,batch,time"; for (i = 1; i <= 12; i++) print "V100," 8 * i "," i % 5 + i }' >t.csv
of import t.csv --name t --source test --target time
of measurements ls
of measurements show t
of predictor train --no-runs --data t --target time --name few
of predictor ls
of predictor show few
of predictor rm few
of measurements rm t
of predictor rows
of predictor score
of export job a.recipe --trial 1 --to slurm
[ -n "${COLLECT:-}" ] || ok "$judge" "$SOURCE/tests/terminal/output_schema.py" "$outputs" "$SOURCE"
