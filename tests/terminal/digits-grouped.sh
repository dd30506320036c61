# Large counts of a report have groups of three digits where people read them, in sentences, tables and calculations, and none where
# programs read: JSON, CSV and 'orch table'.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >count.plugin <<'Y'
command: [sh, count.sh, "${size}"]
parameters: { size: { type: int, default: 1 } }
metrics: { params: { label: parameters, better: none }, images: { better: none } }
artifacts: { layers: { path: layers.csv } }
Y
cat >count.sh <<'S'
echo "{\"params\": $((1171488 * $1)), \"images\": $((1000 * $1))}"
printf 'layer,params,params_working,key\nconv 12345,1171488,64*18304,123456789012.dkr\n' >layers.csv
S
cat >a.recipe <<'R'
format: 1
recipe: a
experiments:
  all: { plugin: ./count.plugin, sweep: { size: [1, 2, 20000] } }
report:
  - { question: "1", title: Counts, table: { rows: size, value: [params, images] } }
  - { question: "2", title: Work, work: { formula: "each = params / size + images", by: size } }
  - { question: "3", title: Layers, listing: { artifact: layers, by: experiment } }
R
ok orch run a.recipe -q
ok orch report a.recipe
has '  Parameters: 1,171,488 for size 1, 2,342,976 for size 2 and 23,429,760,000 for size 20,000.'
has '  Images: 1000 for size 1, 2000 for size 2 and 20,000,000 for size 20,000'
has '  20000  23,429,760,000  20,000,000
'
has 'each = params / size + images = 1,171,488 / 1 + 1000 = 1,172,488'
has '  conv 12345  1,171,488  64*18,304       123456789012.dkr'
ok orch report a.recipe --json
has '"params": 23429760000'
ok orch report a.recipe --html a.html --out out
grep -q '<td class="number">23,429,760,000</td>' a.html || _fail 'the table on the page'
grep -rq '^20000,23429760000,20000000' --include=*.csv out/tables || _fail 'the CSV file'
ok orch table --rows size --value params
has '23429760000'
