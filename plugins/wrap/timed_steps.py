# SPDX-License-Identifier: MIT
"""What the adapters of this folder share: settings, the clock, and results under the names of plugin `scaling`.

Every adapter trains on one batch of random images that each step uses again, so no reading of data is timed."""
import os
import time

SMOKE_BATCH = 16  # images of a step of a smoke run, of all workers together


class Settings:
    """The values of a trial. `trial.params` has them by the names of the manifest."""

    def __init__(self, params, smoke):
        self.__dict__.update(params)
        if params["scaling"] == "strong" and self.batch % self.workers:
            raise SystemExit("batch %d is not divisible by %d workers: choose a multiple" % (self.batch, self.workers))
        self.worker_batch = self.batch // self.workers if self.scaling == "strong" else self.batch
        if smoke:
            self.worker_batch = min(self.worker_batch, max(2, SMOKE_BATCH // self.workers))
        self.effective_batch = self.worker_batch * self.workers
        self.channels, self.height, self.width = (int(x) for x in self.input.split("x"))
        if smoke:
            self.epochs, self.images, self.warmup_steps, self.untimed_epochs = 1, 2 * self.effective_batch, 0, 0
        self.steps = max(1, self.images // self.effective_batch)  # an epoch
        self.untimed_epochs = min(self.untimed_epochs, self.epochs - 1)
        self.threads = int(os.environ.get("ORCH_THREADS", "1"))
        self.worker_threads = max(1, self.threads // self.workers)


def measure(settings, step):
    """Calls step() for all steps and returns the results. step() returns when its work is done."""
    epochs, steps_s = [], []
    begin = last = time.monotonic()
    for epoch in range(settings.epochs):
        epoch_begin = last
        for _ in range(settings.steps):
            step()
            now = time.monotonic()
            if epoch >= settings.untimed_epochs:
                steps_s.append(now - last)
            last = now
        if epoch >= settings.untimed_epochs:
            epochs.append(last - epoch_begin)
    timed = steps_s[min(settings.warmup_steps, len(steps_s) // 2):]
    step_time = sum(timed) / len(timed)
    return {
        "throughput": settings.effective_batch / step_time,
        "step_time": step_time,
        "timed_epoch_time": sum(epochs) / len(epochs),
        "total_time": last - begin,
        "effective_batch": settings.effective_batch,
        "worker_batch": settings.worker_batch,
        "worker_count": settings.workers,
        "timed_steps": len(timed),
    }


def report(trial, results):
    """Reports what measure() returned, with further results."""
    for name, value in results.items():
        trial.result(name, value)


def skip_without(trial, *modules):
    """Ends the trial as skipped where a module cannot be imported."""
    import importlib

    for module in modules:
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            trial.skip("no module %s" % (error.name or module))
        except Exception as error:  # a library that lacks another one, or does not fit
            trial.skip("module %s cannot be loaded: %s" % (module, str(error).split("\n")[0]))
