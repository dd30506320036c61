# A chart that would be an empty frame says why instead: all values NaN, one point, values beyond each other, nothing above 0 on a
# logarithmic axis; on the terminal, on the page, in notebooks and files.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >job.plugin <<'Y'
command: [sh, -c, 'cat ${file}']
parameters: { file: { type: path, default: one.txt } }
metrics: { loss: { better: min, step: step }, gain: { better: max, step: step }, huge: { better: min, step: step }, cold: { better: none, step: step } }
Y
printf '{"step": 1, "loss": 0.5}\n' >one.txt
printf '{"step": %d, "gain": NaN, "huge": %s, "cold": -%d}\n' 1 -1.7e308 1 2 1.7e308 2 3 0 3 >odd.txt
cat >a.recipe <<'R'
format: 1
recipe: a
experiments:
  one: { plugin: ./job.plugin, with: { file: one.txt } }
  odd: { plugin: ./job.plugin, with: { file: odd.txt } }
report:
  - { question: "1", title: One point, plot: { x: step, y: loss, experiments: one } }
  - { question: "2", title: All NaN, plot: { x: step, y: gain, experiments: odd } }
  - { question: "3", title: Too far, plot: { x: step, y: huge, experiments: odd } }
  - { question: "4", title: Below zero, plot: { x: step, y: cold, log_y: true, experiments: odd } }
  - { question: "5", title: Fine, plot: { x: step, y: cold, experiments: odd } }
R
ok orch run a.recipe -q
one='one point, and a line needs two: loss is 0.5000 at step 1'
far='values from -1.700e+308 to 1.700e+308 are too far apart for an axis'
zero='no value is above 0, and the axis is logarithmic'
ok orch report a.recipe
has "not drawn: $one"
has 'no value to draw in the run of'
has 'not drawn: huge: values from -1.700e+308 to 1.700e+308 are too far apart for'
has "not drawn: cold: $zero"
ok orch report a.recipe --out out
for text in "One point is not drawn: $one" "Too far is not drawn: huge: $far" "Below zero is not drawn: cold: $zero"; do
    grep -qF "$text" out/index.html || _fail "the page lacks: $text"
done
same "$(ls out/charts | tr '\n' ' ')" '5-fine.csv 5-fine.pdf 5-fine.png 5-fine.svg '
same "$(grep -c '<figure class="chart">' out/index.html)" 1 'charts on the page:'
grep -qF 'is not drawn: huge' out/report.tex || _fail 'the article does not say why'
ok orch report a.recipe --ipynb --out handin
grep -qF "One point is not drawn: $one" handin/a_p1.ipynb || _fail 'the notebook does not say why'
fails 2 orch plot --x step --y loss -w 'experiment = one' -o one.svg
says "$one"
[ ! -e one.svg ] || _fail 'an empty picture'
ok orch plot --x step --y loss -w 'experiment = one'
has "$one"
# what was written by someone else is kept
echo mine >out/report.tex
fails 2 orch report a.recipe --out out
says "report.tex' already exists"
same "$(cat out/report.tex)" mine
exit 0
