# SPDX-License-Identifier: MIT
"""tf.distribute.MirroredStrategy: one process, a replica on each GPU, or on each of several logical CPU devices."""
import orch
import timed_steps


def strategy_of(tf, settings, devices):
    operations = {
        # TensorFlow's own choice fails on logical CPU devices (2.21, with batch norms)
        "auto": lambda: None if devices[0].startswith("GPU") else tf.distribute.ReductionToOneDevice(),
        "nccl": tf.distribute.NcclAllReduce,
        "hierarchical": tf.distribute.HierarchicalCopyAllReduce,
        "one_device": tf.distribute.ReductionToOneDevice,
    }
    return tf.distribute.MirroredStrategy(devices, operations[settings.all_reduce]())


def main():
    trial = orch.start()
    timed_steps.skip_without(trial, "tensorflow")
    import tensorflow as tf

    settings = timed_steps.Settings(trial.params, trial.smoke)
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.threading.set_intra_op_parallelism_threads(settings.threads)
    if gpus and len(gpus) < settings.workers:
        trial.skip("%d workers need as many GPUs; here are %d" % (settings.workers, len(gpus)))
    if not gpus:
        if settings.all_reduce == "nccl":
            trial.skip("NcclAllReduce has no kernels for CPUs, and here are no GPUs")
        parts = [tf.config.LogicalDeviceConfiguration() for _ in range(settings.workers)]
        tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], parts)
    devices = ["%s:%d" % ("GPU" if gpus else "CPU", i) for i in range(settings.workers)]
    import tf_nets

    step, parameter_bytes = tf_nets.stepper(settings, strategy_of(tf, settings, devices))
    timed_steps.report(trial, dict(timed_steps.measure(settings, step), parameter_bytes=parameter_bytes))
    trial.note("tensorflow %s on %s" % (tf.__version__, "GPUs" if gpus else "logical CPU devices"))


if __name__ == "__main__":
    main()
