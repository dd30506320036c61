# SPDX-License-Identifier: MIT
"""tf.distribute.MultiWorkerMirroredStrategy: a process for each worker on this machine. The first one, which orch
starts, begins the others as `tf_multiworker.py RANK SETTINGS`."""
import json
import os
import socket
import subprocess
import sys

import timed_steps


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def work(params, smoke):
    import tensorflow as tf

    settings = timed_steps.Settings(params, smoke)
    rank = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[rank % len(gpus)], "GPU")
    tf.config.threading.set_intra_op_parallelism_threads(settings.worker_threads)
    communication = tf.distribute.experimental.CommunicationImplementation[settings.all_reduce.upper()]
    options = tf.distribute.experimental.CommunicationOptions(implementation=communication)
    strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
    import tf_nets

    step, parameter_bytes = tf_nets.stepper(settings, strategy)
    results = dict(timed_steps.measure(settings, step), parameter_bytes=parameter_bytes)
    if rank == 0:
        with open("results.json", "w") as file:
            json.dump(results, file)


def main():
    import orch

    trial = orch.start()
    timed_steps.skip_without(trial, "tensorflow")
    import tensorflow as tf

    params = dict(trial.params)
    if params["all_reduce"] == "nccl" and not tf.config.list_physical_devices("GPU"):
        trial.skip("NCCL needs GPUs; here are none")
    hosts = ["127.0.0.1:%d" % port for port in free_ports(params["workers"])]
    workers = []
    for rank in range(params["workers"]):
        config = {"cluster": {"worker": hosts}, "task": {"type": "worker", "index": rank}}
        command = [sys.executable, os.path.abspath(__file__), json.dumps(params), "smoke" if trial.smoke else "run"]
        workers.append(subprocess.Popen(command, env=dict(os.environ, TF_CONFIG=json.dumps(config))))
    statuses = [worker.wait() for worker in workers]
    if any(statuses):
        trial.fail("worker %d ended with status %d" % next((i, s) for i, s in enumerate(statuses) if s))
    with open("results.json") as file:
        timed_steps.report(trial, json.load(file))
    trial.note("tensorflow %s, %s" % (tf.__version__, params["all_reduce"]))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        work(json.loads(sys.argv[1]), sys.argv[2] == "smoke")
    else:
        main()
