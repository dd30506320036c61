# The plugin sourcesel: an extractor, base networks by true labels and by pseudo-labels, targets with their divergence
# and relative error, equal results for equal seeds, and bad input.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so
small='dataset: synthetic, image_size: 12, net: "mlp:72", epochs: 3, batch: 16, per_class: 30, val_images: 60, layout: plain, lr: 0.02, reference_images: 10, min_images: 4'
sets='sources: [a 0 1, b 2 3, c 4 5, d 6 7, e 8 9]'
cat >t.recipe <<R
format: 1
recipe: t
experiments:
  extractor: { plugin: sourcesel, with: { $small, $sets, labels: sources }, sweep: { target: [a, e] } }
  plain: { plugin: sourcesel, with: { $small, $sets }, sweep: { target: [a, e] } }
  base: { plugin: sourcesel, with: { $small, $sets, extractor: "\${extractor.weights}" }, sweep: { target: [a, e], labels: [nearest3, cfa] } }
  known: { plugin: sourcesel, with: { $small, $sets, stage: target, weights: "\${plain.weights}", extractor: "\${extractor.weights}" }, sweep: { target: [a, e] } }
  guess: { plugin: sourcesel, with: { $small, $sets, stage: target, weights: "\${base.weights}", base_accuracy: "\${known.full_accuracy}" }, sweep: { target: [a, e], labels: [nearest3, cfa] } }
  single: { plugin: sourcesel, with: { $small, $sets, stage: target, target: a, mode: scratch, extractor: "\${extractor[target=a].weights}" }, sweep: { use: [[b], [c], [b, c]] } }
R
ok orch run t.recipe -q
ok orch export --format json
cp "$SCRATCH/out" runs.json
python3 - runs.json <<'P' || _fail 'what the trainings give'
import json, sys
runs = {}
for run in json.load(open(sys.argv[1])):
    runs.setdefault(run["experiment"], []).append(run)
assert {name: len(group) for name, group in runs.items()} == dict(extractor=2, plain=2, base=4, known=2, guess=4, single=3)
for run in runs["extractor"]:  # the reference images with one label for each of four sources
    assert run["result.class_count"] == 4 and run["result.train_images"] == 80, run
    assert run["result.label_purity"] == 0.5, run
pool = {run["param.target"]: run["result.train_images"] for run in runs["plain"]}
for run in runs["plain"]:
    assert run["result.class_count"] == 8 and run["result.label_purity"] == 1, run
for run in runs["base"]:  # the same images, but for those of rare labels
    assert run["result.train_images"] + run["result.dropped_images"] == pool[run["param.target"]], run
    assert run["result.class_count"] == run["result.pseudo_labels"] <= (24 if run["param.labels"] == "nearest3" else 12 * 2), run
    assert run["result.class_images_min"] >= 4 and 0 < run["result.nearest_own"] <= 1, run
known = {run["param.target"]: run for run in runs["known"]}
for run in runs["known"]:
    assert run["result.class_count"] == 2 and 0 < run["result.divergence"], run
for run in runs["guess"]:
    base = known[run["param.target"]]["result.full_accuracy"]
    assert abs(run["result.relative_error"] - (base - run["result.full_accuracy"]) / base) < 1e-12, run
    assert run.get("result.divergence") is None, run  # no extractor
assert len({run["result.divergence"] for run in runs["single"]}) == 3
assert len({run["result.full_loss"] for run in runs["single"]}) == 1  # sources change no weights
P
key() {
    ok orch ls --where "$1" --json
    json runs.0.key
}
orch show "$(key 'experiment=known and target=a')" -a sources >sources.csv
python3 - sources.csv <<'P' || _fail 'sources by divergence'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert sorted(r["source"] for r in rows) == ["b", "c", "d", "e"], rows
numbers = [float(r["divergence (nats)"]) for r in rows]
assert numbers == sorted(numbers) and numbers[0] > 0, rows
P
orch show "$(key 'experiment=base and target=e and labels=nearest3')" -a labels >labels.csv
python3 - labels.csv <<'P' || _fail 'the pseudo-labels'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
names = [r["label"].split("/") for r in rows]
assert names == sorted(names) and all(len(set(n)) == 3 and set(n) <= set("abcd") for n in names), names
assert all(int(r["images"]) >= 4 and 0 < float(r["share of it"]) <= 1 for r in rows), rows
P
ok orch show "$(key 'experiment=base and target=e and labels=cfa')"
has ' ordered triples of '

# equal seeds and settings: equal results
ok orch run t.recipe base --force -q
ok orch ls --where 'experiment=base and target=a and labels=cfa' --json
[ "$(json runs.0.key)" != "$(json runs.1.key)" ] || _fail 'it did not run again'
ok orch ls --where 'experiment=base and target=a and labels=cfa' --json
first=$(json runs.0.key)
second=$(json runs.1.key)
weights() {
    ok orch show "$1" --json
    printf '%s\n' "$out" | python3 -c 'import json, sys; print(*[a["sha256"] for a in json.load(sys.stdin)["artifacts"] if a["name"] == "weights"])'
}
same "$(weights "$first")" "$(weights "$second")" 'weights of equal seeds'

# refused before anything runs, with place and hint
refused() {
    printf 'format: 1\nrecipe: o\nexperiments: { o: { plugin: sourcesel, with: { dataset: synthetic, image_size: 12, net: "mlp:8", %s } } }\n' "$1" >o.recipe
    fails 2 orch check o.recipe
    says "$2"
    says 'at: o.recipe:3'
}
refused 'sources: [a 0 1], labels: nearest3' 'labels: nearest3 needs three sources for each image, but there is only 1'
refused 'sources: [a 0 1, b 2 3, c 4], target: a, labels: cfa' 'labels: cfa needs three sources for each image, but there are only 2'
says "hint: name more sets in 'sources' or 'use'"
refused 'sources: [a 0 1], labels: sources' "labels: 'sources' needs at least 2 sources, but there is one"
refused 'sources: [a 0 1, b], labels: sources' "sources: 'b' has no classes"
refused 'sources: [a 0 1, b 1 2]' "sources: class 1 is in 'a' and in 'b'"
says 'hint: list each class in one source only'
refused 'sources: [a 0 1, b 2 3, c 4], target: a, use: [a, b]' "'use': 'a' is the target"
refused 'sources: [a 0 1, b 2 3], target: hats' "target: there is no set 'hats'"
refused 'sources: [a 0 1], target: a' 'sources: the target is the only set'
refused 'sources: [a 0 1, b 2 3], stage: target' "stage: 'target' needs a target"
refused 'sources: [a 0 1, b 2 3], stage: target, target: a' "modes 'full' and 'feature' need a base network"
refused 'sources: [a 0, b 2 3], stage: target, target: a, mode: scratch' 'the target has one class'
refused 'labels: cfa' "labels: 'nearest3' and 'cfa' need a network that gives features"
refused 'classes: [1, 2]' "classes: 'sourcesel' takes its classes from the lists of 'sources'"

# refused when the files are read, before the first step
breaks() {
    printf 'format: 1\nrecipe: o\nexperiments: { o: { plugin: sourcesel, with: { %s, %s } } }\n' "${small%, min_images*}" "$1" >o.recipe
    fails 1 orch run o.recipe -q
    says "$2"
}
breaks 'sources: [a 0 1, b 2 30]' "class 30 of 'synthetic': expected 0 to"
orch show "$(key "experiment='extractor' and target=a")" -a weights >w.safetensors
breaks "$sets, target: a, labels: cfa, extractor: w.safetensors, extractor_net: \"mlp:9\"" "extractor: the weights do not fit network 'mlp:9'"
breaks "$sets, target: a, labels: cfa, extractor: w.safetensors, min_images: 100000" 'labels: cfa gives only 0 labels with at least 100000 images'
says "lower 'min_images'"
exit 0
