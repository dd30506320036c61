# Names in headings: what a program prints keeps its name, what a plugin declares without a label is made readable, the label of a
# plugin is found in a subfolder as well, and a word of a heading that only equals a labelled name stays as it is.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
mkdir -p lab/deep
cat >lab/deep/train.py <<'P'
import json, sys
tau = float(sys.argv[1])
for epoch in range(1, 5):
    print(json.dumps({"step": epoch, "fit_err": 1 / (epoch + tau)}))
print(json.dumps({"end_q": 0.5 + tau / 10, "took_s": 2, "images": 60}))
open("rows.csv", "w").write("class,images,tau_b\nboot,10,1\nbag,20,2\n")
P
cat >lab/deep/warm.plugin <<'Y'
command: [python3, train.py, "${tau}"]
parameters: { tau: { type: real, default: 1, label: temperature } }
metrics:
  fit_err: { better: min, step: epoch, label: error of the fit }
  end_q: { better: max, label: quality }
  took_s: { unit: s, better: min }
  images: { better: none, label: training images }
artifacts: { rows: { path: rows.csv } }
Y
cat >lab/a.recipe <<'R'
format: 1
recipe: a
experiments:
  t: { plugin: ./deep/warm.plugin, sweep: { tau: [1, 2] } }
report:
  - { title: Columns, listing: { artifact: rows, by: tau, experiments: t } }
  - { title: Values, table: { rows: tau, value: [images, took_s], experiments: t } }
R
git add -A
git commit -qm first
ok orch run lab/a.recipe -q
# a column of a file is no metric of that name
ok orch report lab/a.recipe
has 't, temperature 1, run '
printf '%s\n' "$out" | grep -Eq '^ +class +images +tau_b$' || _fail 'the heading of a listing'
printf '%s\n' "$out" | grep -Eq '^ +temperature +training images +took time \(s\)$' || _fail 'the heading of a table'
# from the repository's root, from the folder, and from beside the recipe; what is printed keeps its name
for folder in . lab lab/deep; do
    cd "$SCRATCH/w/$folder" || exit 1
    ok orch table --rows tau --value 'result end_q' --value took_s
    printf '%s\n' "$out" | grep -Eq '^temperature +quality +took time \(s\)$' || _fail "the heading of orch table in $folder"
    ok orch plot -x epoch -y fit_err --ascii
    has 'error of the fit'
    has 'temperature 1'
done
cd "$SCRATCH/w" || exit 1
ok orch table --rows tau --value 'result end_q' --format csv
has 'tau,end_q'
# steps that are times are a time with its unit
cat >timed.plugin <<'Y'
command: [sh, -c, 'for t in 1 2 3; do echo "{\"step\": $$t, \"got\": $$t}"; done']
metrics: { got: { better: max, step: ms } }
Y
cat >timed.recipe <<'R'
format: 1
recipe: timed
experiments: { t: { plugin: ./timed.plugin } }
report:
  - { title: By time, plot: { x: ms, y: got } }
R
ok orch run timed.recipe -q
ok orch report timed.recipe
has 'time (ms)'
has 'Got rises from 1 at time 1 ms to 3 at time 3 ms'
# a script without a plugin
cat >alone.py <<'P'
for i in range(3): print(f"epoch={i} val_acc={0.5 + i / 10} train_loss={1 - i / 10}")
P
ok orch try -- python3 alone.py
ok orch table --rows experiment --value 'last val_acc' --value 'last train_loss' --where 'val_acc > 0'
printf '%s\n' "$out" | grep -Eq ' +val_acc +train_loss$' || _fail 'the names that a script prints'
ok orch plot -x epoch -y val_acc --ascii
has val_acc
has_not 'val acc'
# a name may be broken on a page after an underscore
ok orch report lab/a.recipe --html page.html
grep -q 'tau_<wbr>b</th>' page.html || _fail 'no place to break a name'
exit 0
