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
