# SPDX-License-Identifier: MIT
# Makes the fixtures of this folder; MADE.md says with which versions.
import os, sys, json, shutil
os.environ["WANDB_MODE"]="offline"; os.environ["WANDB_SILENT"]="true"; os.environ["MLFLOW_TRACKING_USERNAME"]="ada"; os.environ["USER"]="ada"; os.environ["MLFLOW_ALLOW_FILE_STORE"]="true"
which = sys.argv[1]
if which.startswith("mlflow"):
    import mlflow
    mlflow.set_tracking_uri("file:" + os.path.abspath("mlruns") if which == "mlflow-file" else "sqlite:///mlflow.db")
    mlflow.set_experiment("Digits CNN")
    with mlflow.start_run(run_name="bold-ape", tags={"team": "vision"}):
        mlflow.log_params({"lr": 0.1, "optimizer": "sgd", "layers": "[32, 64]"})
        for step in range(5): mlflow.log_metric("train/loss", 1 / (step + 1), step=step)
        mlflow.log_metric("val acc", 0.9, step=4); mlflow.log_metric("nan", float("nan"))
    try:
        with mlflow.start_run(run_name="broken"):
            mlflow.log_param("lr", 10); raise ValueError("x")
    except ValueError: pass
elif which == "tb":
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
    from tensorboardX import SummaryWriter
    w = SummaryWriter("tb/simple", flush_secs=1)
    for s in range(5): w.add_scalar("Loss/train", 1/(s+1), s); w.add_scalar("lr", 0.1, s)
    w.add_histogram("weights", __import__("numpy").arange(5), 0); w.close()
    w = EventFileWriter("tb/tensor/train")
    for s in range(4):
        for dtype in ("float", "double"):
            t = TensorProto(dtype=1, float_val=[0.5**s]) if dtype == "float" else TensorProto(dtype=2, tensor_content=__import__("struct").pack("<d", 0.25**s))
            m = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
            w.add_event(Event(wall_time=1700000000.5+s, step=s, summary=Summary(value=[Summary.Value(tag="epoch_loss" if dtype=="float" else "acc", tensor=t, metadata=m)])))
    w.close()
elif which == "wandb":
    import wandb
    run = wandb.init(project="digits", name="sunny-1", config={"lr": 0.1, "model": {"depth": 3}, "opt": "adam"}, tags=["a"], dir=".")
    for s in range(4): run.log({"loss": 1/(s+1), "val": {"acc": s/4}})
    run.summary["best"] = 0.75
    run.finish()
elif which == "optuna":
    import datetime, optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = "sqlite:///study.db"
    def objective(trial):
        lr = trial.suggest_float("lr", 1e-4, 1, log=True); drop = trial.suggest_float("drop", 0, 0.5, step=0.1)
        width = trial.suggest_int("width", 8, 256, log=True); depth = trial.suggest_int("depth", 1, 4)
        opt = trial.suggest_categorical("opt", ["sgd", None, True, 3, 0.5, "10"])
        trial.set_user_attr("note", "seed %d" % trial.number); trial.set_user_attr("gpus", [0, 1])
        if trial.number == 1: raise ValueError("x")
        for step in range(4):
            trial.report(float("nan") if trial.number == 0 and step == 2 else step + lr, step)
            if trial.number == 2 and step == 1: raise optuna.TrialPruned()
        return float("inf") if trial.number == 3 else lr
    study = optuna.create_study(study_name="Digits CNN", storage=storage, direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1))
    study.set_user_attr("team", "vision"); study.optimize(objective, 4, catch=ValueError)
    study.ask(); study.enqueue_trial({"lr": 0.5})
    two = optuna.create_study(study_name="two", storage=storage, directions=["minimize", "maximize"], sampler=optuna.samplers.RandomSampler(seed=1))
    two.set_metric_names(["loss", "accuracy"]); two.optimize(lambda t: (t.suggest_float("x", 0, 1), 2.0), 1)
    plain = optuna.create_study(study_name="plain", storage=storage, directions=["minimize"] * 2, sampler=optuna.samplers.RandomSampler(seed=1))
    plain.optimize(lambda t: (t.suggest_int("n", 0, 10, step=5), 2.0), 1)
