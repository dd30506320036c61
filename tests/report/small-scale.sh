# A part of a report is "complete at small scale" when its runs used another profile than 'course', which has the size
# that the assignment asks for. Every form of the report says so, and --points and 'orch submit' count it in the same
# way.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >fit.plugin <<'P'
plugin: fit
version: 1.0.0
command: [sh, -c, 'echo accuracy 0.${epochs}']
metrics_from: lines
parameters: { net: { type: string, default: a }, epochs: { type: int, default: 5 }, lr: { type: real, default: 0.1 } }
metrics: { accuracy: { better: max } }
P
cat >hw.recipe <<'R'
format: 1
recipe: hw
profile: laptop
profiles:
  laptop: { experiments: { nets: { with: { epochs: 2 }, sweep: { net: [a, b] } } } }
  course: { experiments: { nets: { with: { epochs: 5 }, sweep: { net: [a, b, c] } } } }
experiments:
  nets: { plugin: ./fit.plugin, sweep: { net: [a] } }
  same: { plugin: ./fit.plugin, sweep: { lr: [0.1, 0.2] } }
report:
  - { question: 1.1a, points: 12, table: { rows: net, value: result accuracy, experiments: [nets] } }
  - { question: 1.1b, points: 3, table: { rows: lr, value: result accuracy, experiments: [same] } }
  - { question: 1.1b, student: "why?" }
  - { question: 1.1c, points: 2, student: "and so?" }
R
why='full size (profile course) has 3 trials instead of 2; net a, b, c instead of a, b; epochs 5 instead of 2'
ok orch run hw.recipe -q
ok orch report hw.recipe --json
same "$(json sections.0.state)" small_scale
same "$(json sections.0.scale)" "$why"
same "$(json sections.1.state)" complete
ok orch report hw.recipe
has "complete at small scale: full size (profile course) has 3 trials"
ok orch report hw.recipe --points --json
same "$(json parts.0.state)" 'complete at small scale'
same "$(json parts.0.missing)" "$why"
same "$(json parts.1.state)" 'complete, and yours to explain'
points=$(json totals.all) small=$(json 'totals.complete at small scale') write=$(json totals.to_write)
same "$points $small $write" '17.0 12.0 5.0'
ok orch report hw.recipe --points
sums=$(printf '%s\n' "$out" | sed -n '/points in all/,$p')
same "$(printf '%s\n' "$sums" | sed -n 2,3p | tr -s ' \n' ' ')" ' complete: 3 in 1 part complete at small scale: 12 in 1 part '
# submit says the same sums, and what makes the part complete
fails 8 orch submit hw.recipe --netid ab1 --out in
has "$sums"
has 'orch run hw.recipe -p course'
has 'complete at small scale'
fails 8 orch submit hw.recipe --netid ab1 --out in --json
same "$(json totals.all) $(json 'totals.complete at small scale') $(json totals.to_write)" "$points $small $write"
same "$(json missing.0.question) $(json missing.#)" '1.1a 1'
grep -q 'complete at small scale' in/hw_p1.ipynb || _fail 'the notebook does not say it'
ok orch report hw.recipe --html page.html
grep -q 'class="state small_scale">complete at small scale' page.html || _fail 'the page does not say it'
# by rule: larger numbers are not small; the same settings by -s and -x are those of course; course itself is complete
ok orch run hw.recipe -s nets.epochs=7 -x nets.net=a,b,c -q
ok orch report hw.recipe -s nets.epochs=7 -x nets.net=a,b,c --json
same "$(json sections.0.state)" complete
ok orch report hw.recipe -x nets.net=a,b --json
same "$(json sections.0.state)" small_scale
ok orch run hw.recipe -p course -q
ok orch report hw.recipe -p course --points --json
same "$(json parts.0.state)" complete
# what is missing comes before the size
ok orch report hw.recipe -s nets.epochs=3 --points --json
same "$(json parts.0.state)" 'not run'
# without such a profile every answer has its full size
sed '/course:/d' hw.recipe >plain.recipe
ok orch run plain.recipe -q
ok orch report plain.recipe --points --json
same "$(json parts.0.state)" complete
exit 0
