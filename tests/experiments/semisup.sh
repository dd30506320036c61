# The plugin semisup: the selected images of each class, equal students for equal settings wherever the teacher was
# trained, the supervised baseline, weak labels, resumed training, and input that is refused before training.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_TORCH=$BUILD/tests/plugins/tiny-torch.so
small='dataset: synthetic, image_size: 12, net: "mlp:64", epochs: 2, batch: 16, per_class: 30, labelled: 5, val_images: 40, layout: plain, pretrain_steps: 60, pretrain_lr: 0.5, teacher_steps: 9'
cat >t.recipe <<R
format: 1
recipe: t
with: { $small }
experiments:
  plain: { plugin: semisup, with: { supervision: labels, pretrain_steps: 0 } }
  base: { plugin: semisup, with: { supervision: labels } }
  semi: { plugin: semisup, with: { teacher: "\${base.weights}" }, sweep: { p: [1, 10], k: [4, 250] } }
  alone: { plugin: semisup, with: { k: 4 } }
  weak: { plugin: semisup, with: { supervision: weak }, sweep: { noise: [0, 0.5] } }
  rare: { plugin: semisup, with: { supervision: weak, tail: 1.5 }, sweep: { resampling: [natural, square_root, uniform] } }
  head: { plugin: semisup, with: { supervision: weak, new_head: true } }
R
ok orch run t.recipe -q
ok orch export --format json
cp "$SCRATCH/out" runs.json
for name in semi weak rare; do # the pre-training set of each run by class
    ok orch ls --where "experiment=$name" --json
    n=$(json runs.#)
    for ((i = 0; i < n; i++)); do orch show "$(json "runs.$i.key")" -a pretraining_set >"$name.$i.csv"; done
done
python3 - runs.json <<'P' || _fail 'what the trainings give'
import csv, glob, json, sys
runs = {}
for run in json.load(open(sys.argv[1])):
    runs.setdefault(run["experiment"], []).append({k.split(".", 1)[-1] if k[:7] in ("result.", "metric.") else k: v for k, v in run.items()})
plain, = runs["plain"]
assert plain["train_images"] == 50 and plain["unlabelled_images"] == 250 and plain.get("pretraining_images") is None, plain
base, = runs["base"]
assert base["pretraining_images"] == base["pretraining_distinct"] == 50 and base["pretraining_precision"] == 1, base
assert base["final_loss"] != plain["final_loss"]
for run in runs["semi"]:
    k, p = run["param.k"], run["param.p"]
    assert run["unlabelled_images"] == 250 and run["train_images"] == 50
    assert run["pretraining_images"] <= 10 * k and run["pretraining_class_max"] <= k
    assert run["teacher_accuracy"] == base["final_accuracy"], run  # the same network on the same images
    assert 0 <= run["pretraining_precision_min"] <= run["pretraining_precision"] <= 1
    if p == 1:
        assert run["pretraining_distinct"] == run["pretraining_images"], run  # an image is in one class at most
    if p == 1 and k == 250:
        assert run["pretraining_images"] == 250, run  # every image once
    if p == 10:
        assert run["pretraining_images"] == 10 * k and run["pretraining_class_min"] == k, run
    if p == 10 and k == 250:
        assert run["pretraining_distinct"] == 250 and abs(run["pretraining_precision"] - 0.1) < 1e-9, run  # all of them in every class
semi = {(r["param.p"], r["param.k"]): r for r in runs["semi"]}
assert semi[1, 4]["pretraining_precision"] > semi[1, 250]["pretraining_precision"]
assert semi[1, 250]["pretraining_precision"] > semi[10, 250]["pretraining_precision"]
alone, = runs["alone"]
assert alone["teacher_accuracy"] is not None and alone["pretraining_images"] <= 40
clean, noisy = sorted(runs["weak"], key=lambda r: r["param.noise"])
assert (clean["replaced_labels"], clean["pretraining_precision"]) == (0, 1)
assert (noisy["replaced_labels"], noisy["pretraining_precision"]) == (125, 0.5)
assert clean["pretraining_images"] == noisy["pretraining_images"] == 250
head, = runs["head"]
assert head["pretrained_accuracy"] == clean["pretrained_accuracy"] and head["final_loss"] != clean["final_loss"]
tail = {r["param.resampling"]: r for r in runs["rare"]}
kept = [max(1, round(25 * (r + 1) ** -1.5)) for r in range(10)]  # 25 unlabelled images of each class
for name, run in tail.items():
    assert run["pretraining_images"] == sum(kept), run
    low, high = run["pretraining_class_min"], run["pretraining_class_max"]
    wanted = {"natural": (1, 25), "uniform": (sum(kept) // 10, -(-sum(kept) // 10))}.get(name)
    assert not wanted or (low, high) == wanted, run
    assert name != "square_root" or 1 < low < high < 25, run
    assert run["pretraining_distinct"] <= sum(kept) and (name != "natural" or run["pretraining_distinct"] == sum(kept))
for name in glob.glob("*.csv"):
    rows = list(csv.DictReader(open(name)))
    assert len(rows) == 10
    for row in rows:
        assert (row["labelled images"], row["unlabelled images"]) == ("5", "25"), row
        assert int(row["correct"]) <= int(row["images"]), row
        if row["images"] != "0":
            assert abs(float(row["precision"]) - int(row["correct"]) / int(row["images"])) < 1e-4, row
        if name.startswith("semi"):
            assert int(row["images"]) <= int(row["candidates"]) <= 250, row
            assert row["images"] == "0" or 0 < float(row["lowest score"]) <= 1, row
P
ok orch ls --where 'experiment=semi' --json
ok orch show "$(json runs.0.key)" --json
same "$(json facts.cost.images) $(json facts.cost.epochs)" '50 21.2' 'cost' # 2 epochs and 60 steps of 16 of 50 images

# what an earlier attempt finished is not done again: fine-tuning fails in its first step (the 61st)
cat >r.recipe <<R
format: 1
recipe: r
with: { $small }
experiments: { r: { plugin: semisup, with: { supervision: weak, noise: 0.2, checkpoint_every: 0 } }, s: { plugin: semisup, with: { supervision: weak, noise: 0.2 } } }
R
TINY_TORCH_FAIL=train:61 orch run r.recipe r -q >/dev/null 2>&1 && _fail 'the 61st step did not fail'
ok orch run r.recipe r -q
ok orch run r.recipe s --force -q
ok orch ls --where 'recipe=r and experiment=r and state=ok' --json
resumed=$(json runs.0.key)
ok orch ls --where 'recipe=r and experiment=s' --json
whole=$(json runs.0.key)
ok orch show "$resumed"
has 'an earlier attempt had already pre-trained the student'
ok orch show "$resumed" --json
a="$(json results.final_loss) $(json results.pretrained_accuracy) $(json results.pretraining_images)"
ok orch show "$whole" --json
same "$a" "$(json results.final_loss) $(json results.pretrained_accuracy) $(json results.pretraining_images)" 'a resumed training'
same "$(orch show "$resumed" -a pretraining_set)" "$(orch show "$whole" -a pretraining_set)" 'the set of a resumed training'

# a loss that is not finite, in a stage: diverged, and which
TINY_TORCH_NAN=1 orch run r.recipe s --force -q >/dev/null 2>&1
ok orch ls --where 'recipe=r and experiment=s and state=diverged' --json
same "$(json runs.#)" 1
ok orch show "$(json runs.0.key)"
has 'pre-training the student: the loss is not finite, for the first time in step'

# refused before anything runs, with the place; what only the images tell, before anything is trained
refused() {
    printf 'format: 1\nrecipe: o\nexperiments: { o: { plugin: semisup, with: { %s } } }\n' "$1" >o.recipe
    fails 2 orch check o.recipe
    says "$2"
    says 'at: o.recipe:3'
    says "$3"
}
refused 'per_class: 100, k: 801' 'k: 801 images for each class, but there are only 800 unlabelled images' "hint: choose 'k' from 1"
refused 'unlabelled: 300, k: 301' 'k: 301 images for each class, but there are only 300 unlabelled images' "hint: choose 'k' from 1"
refused 'p: 11' 'p: 11 classes for each image, but there are only 10 classes' "hint: choose 'p' from 1"
refused 'classes: [3]' "'classes' has only one class, but a classifier needs two" 'hint: name at least two'
refused 'classes: [3, 4], p: 3, per_class: 600' 'p: 3 classes for each image, but there are only 2 classes' "hint: choose 'p'"
refused 'labelled: 0' "parameter 'labelled': 0 is below its minimum 1" ''
refused 'labelled: 100, per_class: 100' 'labelled: 100 images of each of 10 classes would label all 1000 training images' "hint: lower 'labelled'"
refused 'pretrain_steps: 0' "needs 'pretrain_steps' above 0" "hint: raise 'pretrain_steps'"
refused 'noise: 1.5' "parameter 'noise': 1.5 is above its maximum 1" ''
refused 'teacher_net: lenet9' 'teacher_net: ' 'lenet'
cat >bad.recipe <<R
format: 1
recipe: bad
with: { $small }
experiments:
  other: { plugin: train, with: { net: "mlp:8,8" } }
  checkpoint: { plugin: semisup, with: { k: 40, teacher: "\${other.weights}" } }
R
orch run bad.recipe -q >/dev/null 2>&1 && _fail 'a checkpoint of another network was accepted'
ok orch ls --where 'recipe=bad and experiment=checkpoint and state=failed' --json
ok orch show "$(json runs.0.key)"
has "teacher of network 'mlp:64': "
has_not 'teacher_accuracy'
exit 0
