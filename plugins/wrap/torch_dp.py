# SPDX-License-Identifier: MIT
"""torch.nn.DataParallel: one process, a thread for each GPU."""
import orch
import timed_steps


def main():
    trial = orch.start()
    timed_steps.skip_without(trial, "torch")
    import torch
    import torch_nets

    settings = timed_steps.Settings(trial.params, trial.smoke)
    gpus = torch.cuda.device_count()
    if settings.workers > max(gpus, 1):
        trial.skip("DataParallel with %d workers needs as many CUDA devices; here are %d" % (settings.workers, gpus))
    device = "cuda:0" if gpus else "cpu"
    torch.set_num_threads(settings.threads)
    net = torch_nets.make(settings).to(device)
    parallel = torch.nn.DataParallel(net, device_ids=list(range(settings.workers)) if gpus else None)
    images, labels = torch_nets.batch(settings, settings.effective_batch, device)
    results = timed_steps.measure(settings, torch_nets.stepper(settings, parallel, images, labels))
    timed_steps.report(trial, dict(results, parameter_bytes=torch_nets.parameter_bytes(net)))
    trial.note("torch %s, %s" % (torch.__version__, torch.cuda.get_device_name(0) if gpus else "CPU"))


if __name__ == "__main__":
    main()
