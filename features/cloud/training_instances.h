/* SPDX-License-Identifier: MIT */
/* Instances that training platforms offer, by GPU: share/hardware/training.csv, which is built in.
 */
#ifndef ORCH_FEATURES_CLOUD_TRAINING_INSTANCES_H
#define ORCH_FEATURES_CLOUD_TRAINING_INSTANCES_H

#include <glib.h>

/** The `gpu` of an instance without GPUs. */
#define ORCH_TRAINING_CPU "cpu"

struct orch_training_instance {
    const char *platform;    /* "sagemaker", "vertex", "azureml", "watsonx", "k8s" */
    const char *gpu;         /* name in the table of GPUs, or ORCH_TRAINING_CPU */
    int gpus;                /* of the instance; 0: any number (a label of nodes) */
    const char *instance;    /* what the platform calls it */
    const char *accelerator; /* what the platform calls the GPU, where that is a field of its own */
    const char *cloud, *cloud_instance; /* the row of prices of the same machine; "": none */
    int cores;                          /* virtual processors; 0: unknown */
    double memory_gb;                   /* 0: unknown */
    const char *source, *date;
};

/** The built-in table: const struct orch_training_instance *, of each platform and GPU the smallest
 * first. */
const GPtrArray *orch_training_instances(void);

#endif
