#!/usr/bin/env bash
# test: reference timeout=900
# SPDX-License-Identifier: GPL-3.0-or-later
# Examples of the loggers' own projects, unchanged, by hand and by 'orch try': both print as many lines, and every
# point that the logger's own reader finds is in the run, by name, step and value. $ORCH_EXAMPLES is a folder with clones of the
# projects, by name, and $ORCH_EXAMPLES_PYTHON a list of Pythons that have the packages. $ORCH_EXAMPLES_ONLY is a part of the name
# of those to run.
. "$(dirname "$0")/../cli/lib.sh"
[ -d "${ORCH_EXAMPLES:-}" ] || skip 'no $ORCH_EXAMPLES: a folder with clones of lanpa/tensorboardX, gradio-app/trackio, wandb/examples, mlflow/mlflow, mlflow/mlflow-example, vwxyzjn/cleanrl, DLR-RM/rl-baselines3-zoo, karpathy/makemore, Lightning-AI/pytorch-lightning (as lightning), huggingface/accelerate and trl, SwanHubX/SwanLab-examples'
cat >compare.py <<'P'
import collections, re, sqlite3, sys
db = sqlite3.connect(".orch/results.db")
rows = db.execute("SELECT n.name, x.step, x.value FROM metric x JOIN metric_name n ON n.id = x.name_id WHERE x.run ="
                  " (SELECT max(id) FROM run) AND n.name NOT LIKE 'system/%'")
found = collections.defaultdict(list)
for name, step, value in rows:
    found[step, repr(float("nan") if value is None else value)].append(name)
missing, count = [], 0
for line in open(sys.argv[1]):
    name, step, value = line.rstrip("\n").split("\t")
    name = re.sub(r"[\s\"'`()=<>!~;|&?\\^]", "_", name)  # as names of orch are
    names = found[int(step), repr(float(value) + 0.0)]  # SQLite has no -0.0
    same = [f for f in names if f == name or f.endswith("/" + name)]  # of a second writer: FOLDER/NAME
    names.remove(min(same, key=len)) if same else missing.append((name, step, value, names))
    count += 1
assert count and not missing, f"{len(missing)} of {count} points are missing: {missing[:5]}"
print(f"{count} points")
P
python_with() {
    local python
    for python in ${ORCH_EXAMPLES_PYTHON:-python3}; do
        "$python" -c "import importlib.util as u; exit(not all(map(u.find_spec, '$1'.split(','))))" 2>/dev/null && echo "$python" && return
    done
    return 1
}
export HF_HOME=$SCRATCH/hf HF_HUB_OFFLINE=1 TMPDIR=$SCRATCH/tmp TESTING_MOCKED_DATALOADERS=1 SWANLAB_MODE=offline MPLBACKEND=agg CUDA_VISIBLE_DEVICES=
export WANDB_MODE=offline WANDB_SILENT=true PYTHONPATH=$ORCH_EXAMPLES/cleanrl
tried=0
while read -r kind modules data script arguments; do
    case $script in *"${ORCH_EXAMPLES_ONLY:-}"*) ;; *) continue ;; esac
    python=$(python_with "$modules") || { echo "not run: $script (no $modules)"; continue; }
    [ -f "$ORCH_EXAMPLES/$script" ] || { echo "not run: $script (not there)"; continue; }
    main=$(basename "$script")
    for way in hand try; do
        rm -rf w data && cp -r "$(dirname "$ORCH_EXAMPLES/$script")" w && cd w && rm -rf .git
        # shellcheck disable=SC2086
        [ "$data" = - ] || ok "$python" "$SOURCE/tests/loggers/example_data.py" ${data//,/ }
        rm -rf "$SCRATCH/hf" "$SCRATCH/tmp" && mkdir "$SCRATCH/tmp"
        git init -q . && git add -A && git commit -qm main
        export TRACKIO_DIR=$SCRATCH/trackio-$tried-$way
        # shellcheck disable=SC2086
        if [ $way = hand ]; then
            timeout 280 "$python" "$main" $arguments >"$SCRATCH/hand" 2>"$SCRATCH/said" </dev/null || break
        else
            ok orch try --no-progress --timeout 280s -- "$python" "$main" $arguments </dev/null
            key=$(orch ls --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["key"])')
            orch show "$key" --artifact stdout >"$SCRATCH/try" 2>/dev/null || : >"$SCRATCH/try" # it prints nothing
        fi
        [ $way = try ] || cd ..
    done
    if [ "$way" = hand ]; then
        echo "not run: $script (it fails by hand: $(tail -1 "$SCRATCH/said"))"
        cd ..
        continue
    fi
    reader=$(python_with "$(case $kind in wandb) echo wandb.sdk.internal.datastore ;; hf) echo transformers ;; csv) echo pandas ;; *) echo $kind ;; esac)") || reader=
    same "$(wc -l <"$SCRATCH/try")" "$(wc -l <"$SCRATCH/hand")" "lines of $script"
    if [ -n "$reader" ] && PYTHONPATH=$SOURCE/tests/loggers "$reader" "$SOURCE/tests/loggers/read_logs.py" "$kind" . >points 2>"$SCRATCH/said"; then
        ok python3 ../compare.py points
        echo "$script: $out"
        tried=$((tried + 1))
    else
        echo "not compared: $script ($(tail -1 "$SCRATCH/said"))"
    fi
    cd ..
done <<'T'
tensorboard tensorboardX,tensorboard - tensorboardX/examples/demo_purge.py
tensorboard tensorboardX,tensorboard - tensorboardX/examples/demo_hparams.py
tensorboard tensorboardX,tensorboard - tensorboardX/examples/demo_custom_scalars.py
tensorboard tensorboardX,tensorboard,psutil,torch - tensorboardX/examples/demo_multiprocessing.py
wandb wandb - examples/examples/api-examples/metrics-at-different-steps/train.py --max_epochs 12
wandb wandb - examples/examples/api-examples/group-and-resume/train.py --group_id g
trackio trackio - trackio/examples/fake-training.py
trackio trackio - trackio/examples/infinity_logging.py
trackio trackio - trackio/examples/grouped-runs.py
trackio trackio - trackio/examples/fake-training-many-runs.py
mlflow mlflow - mlflow/examples/quickstart/mlflow_tracking.py
mlflow mlflow,sklearn - mlflow/examples/sklearn_logistic_regression/train.py
mlflow mlflow,sklearn,pandas - mlflow-example/train.py
tensorboard tensorboardX,tensorboard - tensorboardX/examples/demo_global_writer.py
tensorboard tensorboard,torch - makemore/makemore.py --max-steps 1001 --n-layer 1 --n-embd 8 --n-embd2 8 --num-workers 0 --type mlp
tensorboard tensorboard,torch,gymnasium,tyro - cleanrl/cleanrl/ppo.py --total-timesteps 512 --num-envs 2 --num-steps 64
tensorboard tensorboard,torch,gymnasium,tyro - cleanrl/cleanrl/dqn.py --total-timesteps 900 --learning-starts 500 --buffer-size 1000
tensorboard tensorboard,torch,gymnasium,tyro - cleanrl/cleanrl/c51.py --total-timesteps 900 --learning-starts 500 --buffer-size 1000
tensorboard tensorboard,rl_zoo3 - rl-baselines3-zoo/train.py --algo ppo --env CartPole-v1 -n 600 --seed 1 --tensorboard-log tb -f logs --device cpu
wandb wandb,sklearn - examples/examples/scikit/scikit-iris/train.py
wandb wandb,xgboost - examples/examples/boosting-algorithms/xgboost-dermatology/train.py
wandb wandb - examples/examples/api-examples/resume/train.py --num_epochs 2
trackio trackio - trackio/examples/long-run-names.py
trackio trackio - trackio/examples/alerts.py
trackio trackio - trackio/examples/training-with-report.py
trackio trackio - trackio/examples/crash-and-resume-same-run-name.py
tensorboard wandb,torch,torchvision,tensorboard fashion:data examples/examples/tensorboard/tensorboard-pytorch/train.py
wandb wandb,torch,torchvision mnist:../data examples/examples/pytorch/pytorch-cnn-mnist/main.py --epochs 2
wandb wandb - examples/examples/wandb-log/sqrt.py 5
tensorboard lightning,tensorboard - lightning/examples/pytorch/bug_report/bug_report_model.py
tensorboard lightning,tensorboard,gymnasium - lightning/examples/fabric/reinforcement_learning/train_fabric.py --total-timesteps 512 --num-envs 2 --num-steps 64
tensorboard accelerate,tensorboard,evaluate,transformers bert accelerate/examples/by_feature/tracking.py --with_tracking --cpu
tensorboard trl,tensorboard bert,preferences trl/examples/scripts/reward_modeling.py --model_name_or_path bert-base-cased --dataset_name pairs --output_dir out --num_train_epochs 1 --logging_steps 1 --eval_strategy steps --eval_steps 2 --report_to tensorboard --use_cpu --bf16 false --gradient_checkpointing false
hf trl,transformers bert,preferences trl/examples/scripts/reward_modeling.py --model_name_or_path bert-base-cased --dataset_name pairs --output_dir out --num_train_epochs 2 --logging_steps 1 --save_steps 4 --report_to none --use_cpu --bf16 false --gradient_checkpointing false
swanlab swanlab - SwanLab-examples/Hello_World/main.py
T
[ $tried -gt 0 ] || skip 'no example could be run'
