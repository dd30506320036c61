# The report item speedup: each column, computed from the values of n workers and of one by its formula; groups, missing
# workers and bad input.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >time.plugin <<'Y'
command: [sh, time.sh, "${kind}", "${workers}"]
parameters: { kind: { type: string }, workers: { type: int } }
metrics: { seconds: { unit: s, better: min }, rate: { unit: images/s, better: max }, sent: { unit: bytes }, computed: { unit: s }, stayed: { unit: s }, waited: { unit: s }, largest_bandwidth: { unit: GB/s } }
Y
# strong: 8, 5 and 4 s; weak: 8, 10 and 12 s; 100, 160 and 200 images a second; 6 GB an epoch
cat >time.sh <<'S'
case $1$2 in *1) t=8 r=100 ;; strong2) t=5 r=160 ;; strong4) t=4 r=200 ;; weak2) t=10 r=160 ;; *) t=12 r=200 ;; esac
printf '{"seconds": %d, "rate": %d, "sent": 6000000000, "computed": 3, "stayed": 2, "waited": 1.5, "largest_bandwidth": %d}\n' $t $r $((12 * $2))
S
all='speedup, efficiency, ratio, inverse, increase, computing, communication, bandwidth'
recipe() { # FIRST-WORKERS ITEM...
    printf 'format: 1\nrecipe: t\nexperiments:\n  t: { plugin: ./time.plugin, sweep: { kind: [strong, weak], workers: [%s] } }\nreport:\n' "$1" >t.recipe
    shift
    for item; do printf '  - { title: T, speedup: { %s } }\n' "$item" >>t.recipe; done
}
rows() {
    ok orch report t.recipe --json
    python3 - "$SCRATCH/out" "$@" <<'P' || _fail "rows $*"
import json, sys
ORDER = ["kind", "workers", "seconds_(s)", "rate_(images/s)", "speedup", "share_of_the_ideal_n", "t(n)/t(1)", "t(1)/t(n)", "increase_(%)",
         "computing_(s)", "communication_(s)", "waiting_(s)", "remaining_(s)", "moved_by_each_worker_(mb)", "bandwidth_(gb/s)", "share_of_the_link"]
section = json.load(open(sys.argv[1]))["sections"][0]
found = next(block["rows"] for block in section["blocks"] if "rows" in block)
got = [[row[name] for name in ORDER if name in row] for row in found]
expected = eval(sys.argv[2])
def near(a, b):
    return a == b or (isinstance(a, float) and b is not None and abs(a - b) < 1e-9)
assert all(set(row) <= set(ORDER) for row in found) and len(got) == len(expected), found
assert all(len(g) == len(e) and all(map(near, g, e)) for g, e in zip(got, expected)), got
P
}
recipe '1, 2, 4' "value: result seconds, by: kind, bytes: result sent, columns: [$all]"
ok orch run t.recipe -q
rows '[["strong",1,8,1,1,1,1,0,8,0,None], ["strong",2,5,1.6,.8,.625,1.6,-37.5,4,1,6], ["strong",4,4,2,.5,.5,2,-50,2,2,4.5],
       ["weak",1,8,1,1,1,1,0,8,0,None], ["weak",2,10,.8,.4,1.25,.8,25,4,6,1], ["weak",4,12,2/3,1/6,1.5,2/3,50,2,10,.9]]'
ok orch report t.recipe
has 'speedup = S(n) = t(1) / t(n)'
has 'communication = t(n) - t(1) / n'
has '2 (n-1)/n x bytes / communication / 10^9'
# the chart has the first column of each group, and the ideal
ok orch report t.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'the chart'
import json, sys
chart, = (b for b in json.load(open(sys.argv[1]))["sections"][0]["blocks"] if "panels" in b or "series" in b or b.get("kind") == "chart")
text = json.dumps(chart)
for word in "strong", "weak", "ideal", "workers", "speedup":
    assert word in text, (word, text)
P
# timers: communication is without the wait for other workers, which has a column of its own; a bandwidth as a share of
# what all-reduces of as many workers reached, which `where` does not filter; one place on the axis is no chart
timers='compute: result computed, exposed: result stayed, wait: result waited, bytes: result sent, link: [l]'
printf 'format: 1\nrecipe: t\nexperiments:\n  t: { plugin: ./time.plugin, with: { kind: strong }, sweep: { workers: [1, 2] } }\n' >t.recipe
printf '  l: { plugin: ./time.plugin, with: { kind: weak }, sweep: { workers: [1, 2] } }\nreport:\n' >>t.recipe
printf '  - { title: T, speedup: { value: result seconds, %s, columns: [%s], where: kind = strong, experiments: [t] } }\n' \
    "$timers" 'bandwidth, computing, communication, waiting, link_share' >>t.recipe
ok orch run t.recipe -q
rows '[[1,8,3,.5,1.5,None,None], [2,5,3,.5,1.5,12,.5]]'
ok orch report t.recipe
has 'measured by the trials (result stayed - result waited)'
has '2 workers: bandwidth 12 GB/s; computing 3 s; communication 0.5000 s; waiting for other workers 1.500 s; share of the measured link 0.5000'
has 'waiting for other workers limits the speedup. Each computes for 3 s (ideal: 3 s), waits for the others for 1.500 s, and communicates for 0.5000 s outside computing'
ok orch report t.recipe --json
has_not '"chart"'
# where computing hides communication, all of its time counts for the bandwidth of all bytes
cp t.recipe kept.recipe
sed -i 's/bytes: result sent/&, transfer: result computed/' t.recipe
rows '[[1,8,3,3,1.5,None,None], [2,5,3,3,1.5,2,2/24]]'
ok orch report t.recipe
has 'communication: includes communication during computing; measured by the trials (result computed)'
mv kept.recipe t.recipe
# what no timer holds, the bytes, and intervals over repeats: the wait grows with the repeat, so 0.5, 0.4 and 0.3 s of communication
grep metrics: time.plugin >again.plugin
printf 'command: [sh, again.sh, "${repeat}", "${workers}"]\nparameters: { workers: { type: int } }\n' >>again.plugin
echo 'echo "{\"seconds\": $((11 - 3 * $2)), \"sent\": 6000000000, \"computed\": 3, \"stayed\": 2, \"waited\": 1.$((4 + $1))}"' >again.sh
sed -i 's/t: { plugin: .\/time.plugin, with: { kind: strong }, /t: { plugin: .\/again.plugin, repeat: 3, /; s/columns: \[[^]]*\], where: kind = strong/columns: [communication, rest, moved, bandwidth, link_share]/' t.recipe
ok orch run t.recipe -q
ok orch report t.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'intervals of timed columns'
import json, sys
section = json.load(open(sys.argv[1]))["sections"][0]
one, two = next(b["rows"] for b in section["blocks"] if "rows" in b)
half = 4.302652729911275 * 0.1 / 3 ** 0.5  # Student's t with 2 degrees of freedom, standard deviation 0.1 s
near = lambda a, b: abs(a - b) < 1e-6
ends = lambda name: [two[name + "_spread"][end] for end in ("low", "high")]
assert near(two["communication_(s)"], 0.4) and all(map(near, ends("communication_(s)"), (0.4 - half, 0.4 + half))), two
assert near(two["remaining_(s)"], 0) and near(one["remaining_(s)"], 3), (one, two)  # 5 and 8 s less 3 of computing, 2 of steps
assert near(two["moved_by_each_worker_(mb)"], 6000) and one["moved_by_each_worker_(mb)"] is None, (one, two)
assert near(two["bandwidth_(gb/s)"], 15) and all(map(near, ends("bandwidth_(gb/s)"), (6 / (0.4 + half), 6 / (0.4 - half)))), two
assert all(map(near, ends("share_of_the_link"), (6 / (0.4 + half) / 24, 6 / (0.4 - half) / 24))), two
P
ok orch report t.recipe
has 'communication: without communication during computing; measured by the trials (result stayed - result waited)'
# of a rate more is better; speedup and efficiency are the usual columns
recipe '1, 2, 4' 'value: result rate, by: kind, where: kind = weak'
rows '[["weak",1,100,1,1], ["weak",2,160,1.6,.8], ["weak",4,200,2,.5]]'
ok orch report t.recipe
has 'speedup = S(n) = v(n) / v(1)'
# without one worker there is nothing to compare with
recipe '2, 4' 'value: result seconds, by: kind, where: kind = strong'
rows '[["strong",2,5,None,None], ["strong",4,4,None,None]]'
ok orch report t.recipe
has 'a dash: these settings have no run with one worker'
# what cannot be
recipe '1, 2' 'value: result seconds, columns: [speedups]'
fails 2 orch check t.recipe
says "unknown column 'speedups' of a speedup"
says "did you mean 'speedup'?"
recipe '1, 2' 'value: result seconds, columns: [bandwidth]'
fails 2 orch check t.recipe
says "column 'bandwidth' needs 'bytes'"
recipe '1, 2' 'value: result seconds, columns: [waiting]'
fails 2 orch check t.recipe
says "column 'waiting' needs 'wait'"
recipe '1, 2' 'value: result seconds, workers: nodes'
fails 2 orch check t.recipe
says nodes
