/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What carries over from one GPU to another when nothing else is known: a time goes with powers of
 * the ratios of bandwidth, peak and watts. Work with many multiply-adds for each value leans on the
 * peak, other work on the bandwidth. A step whose operations are counted takes no less than they
 * take at the peak, nor than its launches take on the host.
 */
#ifndef ORCH_PREDICTORS_ROW_DEVICE_H
#define ORCH_PREDICTORS_ROW_DEVICE_H

#include "lib/devices/gpus.h"

/** The device of a measured row at the row's precision, and the amount and kind of its work. */
struct orch_row_device {
    const struct orch_gpu_spec *gpu; /* NULL: unknown, or a processor */
    double peak_tflops;              /* of the units that multiply at this precision */
    double work;                     /* operations of the step if known, else its items; NaN */
    double launches;                 /* kernels of a step whose operations are counted, else 0 */
    bool counts_operations;          /* `work` is in 10^9 operations */
    double macs_per_value;           /* multiply-adds for each output value; NaN: unknown */
};

/** Time in ms up to a factor that rows of one network or task share; NaN without a GPU or an amount
 * of work. The powers were set beforehand, not fitted; the two bounds were chosen by a table of
 * small batches. */
double orch_row_device_ms(const struct orch_row_device *device);

/** The board's power in watts; a usual one where it is unknown. */
double orch_row_device_watts(const struct orch_gpu_spec *gpu);

#endif
