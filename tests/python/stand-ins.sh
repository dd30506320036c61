#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# orch.wandb and orch.SummaryWriter in place of W&B and TensorBoard: a script of theirs is recorded, by hand and as a trial, with
# its steps, settings, summary and artifacts; what they do not have says what to do.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
export PYTHONPATH=$SOURCE/share/python PYTHONDONTWRITEBYTECODE=1
cat >points.py <<'P'
import orch, sys
run = orch.runs()[-1]
for metric in sys.argv[1:]:
    print(metric, run.series(metric))
P
cat >train.py <<'P'
import orch.wandb as wandb

wandb.login()
with wandb.init(project="Digits 2", name="first", tags=["a"], notes="a note", entity="me",
                config={"lr": 0.1, "optimizer": {"name": "sgd", "momentum": 0.9}}) as run:
    assert wandb.run is run and run.config is wandb.config
    wandb.config.update({"width": 3})
    wandb.config.depth = 4
    print("lr", wandb.config.lr, wandb.config["optimizer"]["momentum"], wandb.config.width)
    wandb.define_metric("val/*", step_metric="epoch", summary="min")
    wandb.watch(object())
    for epoch in range(3):
        wandb.log({"train/loss": 1 / (epoch + 1)}, commit=False)
        wandb.log({"epoch": 10 * epoch, "val/loss": [3.0, 1.0, 2.0][epoch], "nested": {"x": epoch}})
    assert run.step == 3 and wandb.summary["val/loss"] == 2.0
    wandb.log({"late": 1.0}, step=7)
    wandb.log({"early": 1.0}, step=5)
    wandb.log({"dots": wandb.Image([[0, 255], [128, 64]]), "rows": wandb.Table(columns=["a", "b"], data=[[1, 2]]),
               "counts": wandb.Histogram(np_histogram=([1, 2], [0.0, 0.5, 1.0]))}, step=8)
    table = wandb.Table(columns=["a"])
    table.add_data(5)
    assert table.get_column("a") == [5]
    wandb.summary["accuracy"] = 0.9
    wandb.summary.update({"f1": 0.8})
    wandb.save("train.py")
P
ok python3 train.py
has 'lr 0.1 0.9 3'
says 'wandb.watch() does nothing in orch'
says 'step 5 is not recorded, because the current step is 7 already'
ok python3 points.py train/loss val/loss nested.x late
has 'train/loss [(0, 1.0), (1, 0.5), (2, 0.333333333333333'
has 'val/loss [(0, 3.0), (10, 1.0), (20, 2.0)]'
has 'nested.x [(0, 0.0), (1, 1.0), (2, 2.0)]'
has 'late [(7, 1.0)]'
fails 1 python3 points.py early
ok orch ls --where 'experiment = digits_2 and logged.depth = 4 and lr = 0.1' --json
key=$(json runs.0.key)
ok orch show "$key"
for text in first 'optimizer.momentum 0.9' 'a note' 'depth          4' 'width          3' 'val/loss.min' 'accuracy' 'f1' 'dots-8.png' 'rows-8.csv' 'counts-8.csv' \
    'train.py'; do
    has "$text"
done
ok orch show "$key" --artifact counts-8.csv
has '0.5,1.0,2'
# as a trial the values of the trial replace those of the config, nested ones too
ok orch try -q -x lr=0.5 -x optimizer.momentum=0.5 -- python3 train.py
ok orch ls --where 'experiment = train' --json
ok orch log "$(json runs.0.key)"
has 'lr 0.5 0.5 3'
# what is not there says what to do
for call in 'sweep({})' 'Video("a.mp4")' 'init(resume="must")' 'init(fork="x")' 'Api()' 'log({})' 'nothing()'; do
    fails 1 python3 -c "import orch.wandb as wandb; wandb.$call"
    says 'orch: '
    says 'hint: '
    says_not Traceback
done
ok python3 -c 'import orch.wandb as w; w.init(mode="disabled", config={"a": 1}); w.log({"x": w.config.a}); w.finish()'
says_not recorded
cat >board.py <<'P'
import argparse
from orch import SummaryWriter
train, val = SummaryWriter("runs/x"), SummaryWriter("runs/x/validation")
for step in range(3):
    train.add_scalar("loss", 1 / (step + 1), step)
    val.add_scalar("loss", 2 / (step + 1), step)
train.add_scalars("rates", {"a": 1, "b": 2}, 4)
train.add_hparams({"lr": 0.1}, {"hparam/accuracy": 0.75})
train.add_text("about", "a text")
train.close()
val.add_scalar("loss", 9, 3)
val.close()
try:
    train.add_graph(None)
except Exception as error:
    print(error)
P
ok python3 board.py
has 'orch.export_ops(model, inputs'
ok python3 points.py loss validation/loss rates/a
has 'validation/loss [(0, 2.0), (1, 1.0), (2, 0.6666666666666666), (3, 9.0)]'
has 'rates/a [(4, 1.0)]'
ok orch ls --where 'logged.lr = 0.1 and hparam/accuracy = 0.75 and experiment = board' --json
ok orch show "$(json runs.0.key)"
has 'hparam/accuracy'
