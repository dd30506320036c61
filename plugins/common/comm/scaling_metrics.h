/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The metrics of a data-parallel training, the same for measured (`scaling`) and for simulated
 * workers, so that both stand in one chart. Times are those of rank 0, means over the timed steps,
 * which leave out the warm-up. */
#ifndef ORCH_PLUGINS_COMMON_COMM_SCALING_METRICS_H
#define ORCH_PLUGINS_COMMON_COMM_SCALING_METRICS_H

/** Rows of the metric table: results, one value a trial. */
#define ORCH_SCALING_METRICS                                                                       \
    {.name = "throughput",                                                                         \
     .label = "throughput",                                                                        \
     .min = "0",                                                                                   \
     .unit = "images/s",                                                                           \
     .better = ORCH_BETTER_MAX,                                                                    \
     .help = "images of all workers per second of the timed steps"},                               \
        {.name = "step_time",                                                                      \
         .label = "step time",                                                                     \
         .min = "0",                                                                               \
         .unit = "s",                                                                              \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "mean time of a step: data, computing and exposed communication"},                \
        {.name = "compute_time",                                                                   \
         .label = "compute time",                                                                  \
         .min = "0",                                                                               \
         .unit = "s",                                                                              \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "part of a step for forward, backward and update"},                               \
        {.name = "communication_time",                                                             \
         .label = "communication time",                                                            \
         .min = "0",                                                                               \
         .unit = "s",                                                                              \
         .better = ORCH_BETTER_MIN,                                                                \
         .help =                                                                                   \
             "all-reduce of a step's gradients, including the part that overlaps with computing"}, \
        {.name = "exposed_communication_time",                                                     \
         .label = "exposed communication time",                                                    \
         .min = "0",                                                                               \
         .unit = "s",                                                                              \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "part of a step that waits for the all-reduce after the backward pass, slower "   \
                 "workers included"},                                                              \
        {.name = "overlap",                                                                        \
         .label = "overlap",                                                                       \
         .min = "0",                                                                               \
         .max = "1",                                                                               \
         .unit = "s/s",                                                                            \
         .better = ORCH_BETTER_MAX,                                                                \
         .help = "share of communication_time that ran beside the backward pass"},                 \
        {.name = "data_time",                                                                      \
         .label = "data time",                                                                     \
         .min = "0",                                                                               \
         .unit = "s",                                                                              \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "part of a step that waits for its images"},                                      \
        {.name = "timed_epoch_time",                                                               \
         .label = "timed epoch time",                                                              \
         .min = "0",                                                                               \
         .unit = "s",                                                                              \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "mean of the timed epochs: everything, loading of images included"},              \
        {.name = "timed_epoch_time_without_data",                                                  \
         .label = "timed epoch time without data",                                                 \
         .min = "0",                                                                               \
         .unit = "s",                                                                              \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "mean of the timed epochs, without the time that steps waited for images"},       \
        {.name = "total_time",                                                                     \
         .label = "total time",                                                                    \
         .min = "0",                                                                               \
         .unit = "s",                                                                              \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "training time of all epochs, without validation"},                               \
        {.name = "cost",                                                                           \
         .label = "cost",                                                                          \
         .unit = "USD",                                                                            \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "total_time in hours x price of all workers"},                                    \
        {.name = "effective_batch",                                                                \
         .label = "effective batch",                                                               \
         .min = "0",                                                                               \
         .unit = "images",                                                                         \
         .help = "images of a step of all workers together"},                                      \
        {.name = "worker_batch",                                                                   \
         .label = "worker batch",                                                                  \
         .min = "0",                                                                               \
         .unit = "images",                                                                         \
         .help = "images of a step of one worker"},                                                \
        {.name = "worker_count",                                                                   \
         .label = "number of workers",                                                             \
         .help = "workers that trained together"},                                                 \
    {                                                                                              \
        .name = "parameter_bytes", .label = "bytes of parameters", .min = "0", .unit = "bytes",    \
        .help = "gradients that a step reduces, in fp32"                                           \
    }

#endif
