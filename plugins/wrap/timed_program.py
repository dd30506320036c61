# SPDX-License-Identifier: MIT
"""Any program: the wall time of whole runs of a command line."""
import os
import shlex
import shutil
import subprocess
import time

import orch


def main():
    trial = orch.start()
    words = shlex.split(trial.params["run"])
    if not words:
        trial.fail("run is empty: give a command line")
    if not shutil.which(words[0]):
        trial.skip("no program %s" % words[0])
    workers, images = trial.params["workers"], trial.params["images"]
    environment = dict(os.environ, WORKERS=str(workers), BATCH=str(trial.params["batch"]))
    times = []
    warmups = 0 if trial.smoke else trial.params["warmup_runs"]
    begin = time.monotonic()
    for i in trial.steps(warmups + trial.params["runs"]):
        run_begin = time.monotonic()
        status = subprocess.call(words, env=environment)
        if status:
            trial.fail("%s ended with status %d" % (words[0], status))
        if i >= warmups:
            times.append(time.monotonic() - run_begin)
            trial.metric("run_time", len(times), times[-1])
    if trial.cancelled:
        return
    mean = sum(times) / len(times)
    trial.result("step_time", mean)
    trial.result("total_time", time.monotonic() - begin)
    trial.result("worker_count", workers)
    if images:
        trial.result("throughput", images / mean)


if __name__ == "__main__":
    main()
