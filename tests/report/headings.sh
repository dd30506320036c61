# A report is read by people: one metric a column with words and unit in its heading, several experiments a level of headings, settings in
# words in legends, ranges of few repeats in sentences, and what full size asks for once a problem. Files for programs have the names.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import json, sys
scaling, lr, epochs, repeat = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
base = 0.5 + lr / 4 + repeat / 100
for epoch in range(1, epochs + 1):
    print(json.dumps({"step": epoch, "train_loss": 1 / (epoch + lr + repeat / 10)}))
print(json.dumps({"final_accuracy": base, "best_accuracy": base + 0.1, "epoch_time": 2 + repeat / 10 + lr}))
P
cat >train.plugin <<'Y'
command: [python3, train.py, "${scaling}", "${lr}", "${epochs}", "${repeat}"]
parameters: { scaling: { type: string, default: strong }, lr: { type: real, default: 0.1, label: learning rate }, epochs: { type: int, default: 3 } }
metrics: { train_loss: { better: min, step: epoch, label: training loss }, final_accuracy: { better: max }, best_accuracy: { better: max }, epoch_time: { better: min, unit: s } }
Y
cat >a.recipe <<'R'
format: 1
recipe: a
profile: laptop
profiles:
  laptop: {}
  course: { experiments: { tune: { with: { epochs: 9 } }, again: { with: { epochs: 9 } }, both: { with: { epochs: 7 } } } }
experiments:
  tune: { plugin: ./train.plugin, sweep: { lr: [0.1, 0.2] }, repeat: 3 }
  again: { plugin: ./train.plugin, with: { epochs: 4 }, sweep: { lr: [0.1, 0.2] }, repeat: 3 }
  both: { plugin: ./train.plugin, with: { epochs: 2 }, sweep: { scaling: [strong, weak], lr: [0.1, 0.2] }, repeat: 5 }
report:
  - { question: 1.1, title: Levels, table: { rows: lr, columns: experiment, value: [result final_accuracy, best_accuracy], experiments: [tune, again] } }
  - { question: 1.2, title: Alone, table: { rows: scaling, columns: lr, value: final_accuracy, experiments: both } }
  - { question: 1.3, title: Axes, table: { rows: [scaling, lr], value: [final_accuracy, epoch_time], experiments: both } }
  - { question: 1.4, title: Curves, plot: { x: epoch, y: train_loss, by: [scaling, lr], experiments: both } }
  - { question: 2.1, title: Few, table: { rows: lr, value: final_accuracy, experiments: tune } }
  - { question: 2.2, title: Lines, plot: { x: lr, y: final_accuracy, experiments: tune } }
  - { question: 1.5, title: Winner, best: { value: final_accuracy, by: [scaling, lr], experiments: both } }
R
ok orch run a.recipe -q
ok orch report a.recipe
# one metric a column, below its experiment; axes apart; words, not names
printf '%s\n' "$out" | grep -Eq '^  learning rate +final accuracy +best accuracy +final accuracy +best accuracy$' || _fail 'headings of two experiments'
printf '%s\n' "$out" | grep -Eq '^ +tune +again$' || _fail 'no level of experiments'
printf '%s\n' "$out" | grep -Eq '^ +final accuracy by learning rate$' || _fail 'no heading of a single value'
printf '%s\n' "$out" | grep -Eq '^  scaling +learning rate +final accuracy +epoch time \(s\)$' || _fail 'axes in one column'
printf '%s\n' "$out" | grep -Eq '^  strong  +0\.1 ' || _fail 'no row of its own axes'
has_not 'in brackets'
has_not 'final_accuracy'
has_not 'lr='
has 'strong scaling, learning rate 0.1'
# few repeats have their range in the sentence, as in tables
has 'Final accuracy: from 0.5450 (3 repeats: 0.5350 to 0.5550) for learning rate 0.1 to 0.5700 (0.5600 to 0.5800) for learning rate 0.2'
has 'Final accuracy rises from 0.5450 at learning rate 0.1'
# once a problem: in the text, on the page (contents, heading, fold)
same "$(printf '%s\n' "$out" | grep -c 'small scale')" 2 'problems at small scale:'
has 'complete at small scale: full size (profile course) has epochs 9 instead of 3'
has 'complete at small scale: full size (profile course) has more trials or other settings'
has_not 'Method'
ok orch report a.recipe --html page.html
python3 - <<'P' || _fail 'the page'
import re
page = open("page.html").read()
assert page.count("complete at small scale</span>") == 4, page.count("complete at small scale</span>")
assert page.count('<details class="scale"><summary>the parts below are complete at small scale: full size (profile course) has more') == 1
assert page.count("full size (profile course) has epochs 9") == 1
assert re.search(r'<th scope="colgroup" class="group" colspan="2">tune</th>', page)
assert 'rowspan="2">learning rate</th>' in page
footer = page[page.index("<footer>"):]
assert "In tables, a value like 0.5 (0.4..0.6) is a mean, with the lowest and the highest run; a value like 0.5 [0.4, 0.6] is a mean" in footer, footer
assert ">strong scaling, learning rate 0.1<" in page and not re.search(r">scaling=[^<#]*<", page)
figures = re.findall(r"<figcaption><b>Figure (\d)</b>: ([^<;]*)", page)
assert figures == [("1", "training loss by epoch"), ("2", "final accuracy by learning rate")], figures
assert "<caption>Table 1</caption>" in page
P
ok orch report a.recipe --out out
grep -q '^lr,tune final_accuracy,tune best_accuracy,again ' out/tables/1.1-levels.csv || _fail 'CSV without names'
grep -q '^scaling,lr,final_accuracy,' out/tables/1.3-axes.csv || _fail 'CSV of several axes'
grep -q '^,scaling=strong lr=0.1,' out/charts/1.4-curves.csv || _fail 'the data of a chart without names'
grep -q '>strong scaling, learning rate 0.1<' out/charts/1.4-curves.svg || _fail 'a legend without words'
grep -q 'multicolumn{2}{c}{final accuracy by learning rate}' out/tables/1.2-alone.tex || _fail 'LaTeX without levels'
grep -q 'tune: final accuracy' out/tables/1.1-levels.md || _fail 'Markdown without levels'
ok orch report a.recipe --json
same "$(json sections.0.blocks.1.rows.0.lr)" 0.1
same "$(json sections.0.blocks.1.rows.0.tune.#)" 2 'values in JSON:'
same "$(json sections.2.blocks.1.rows.0.scaling,_lr)" 'strong 0.1'
same "$(json sections.2.blocks.1.rows.0.final_accuracy_spread.n)" 5
# the footer says no more than is shown, and nothing that a note has said
ok orch report a.recipe --only 2 --html few.html
grep -q 'In tables, a value' few.html && _fail 'the footer repeats a note'
grep -q 'its 95 % interval' few.html && _fail 'a footer about intervals that are not there'
ok orch report a.recipe --only 1.5 --html best.html
grep -q 'In tables, a value like 0.5 .0.4, 0.6. is a mean and its 95 % interval<' best.html || _fail 'the footer of intervals'
# one row of many columns becomes two columns
cat >wide.recipe <<'R'
format: 1
recipe: wide
experiments: { one: { plugin: ./train.plugin, repeat: 3 }, two: { plugin: ./train.plugin, with: { epochs: 5 }, repeat: 3 } }
report:
  - { title: Levels, table: { rows: lr, columns: experiment, value: [max train_loss, final_accuracy, best_accuracy, epoch_time] } }
  - { title: Wide, table: { rows: scaling, value: [last train_loss, max train_loss, min train_loss, mean train_loss, first train_loss, final_accuracy, best_accuracy, epoch_time], experiments: one } }
R
ok orch run wide.recipe -q
ok orch report wide.recipe --html wide.html
python3 - <<'P' || _fail 'a wide row'
import re
page = open("wide.html").read()
heads = [re.findall(r">([^<]+)</th>", head) for head in re.findall(r"<thead>(.*?)</thead>", page, re.S)]
assert [head for head in heads if head[0] != "run"] == [["learning rate", "0.1"], ["scaling", "strong"]], heads
assert '<th scope="row">two</th><td>highest training loss</td>' in page
assert '<th scope="row">highest training loss</th>' in page and '<th scope="row">epoch time (s)</th>' in page
P
exit 0
