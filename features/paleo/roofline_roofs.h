/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The roofs of a device: its memory bandwidth and its peak by precision, measured by `orch doctor
 * --bench` on this machine where it was, else nominal. */
#ifndef ORCH_FEATURES_PALEO_ROOFLINE_ROOFS_H
#define ORCH_FEATURES_PALEO_ROOFLINE_ROOFS_H

#include "lib/devices/gpus.h"

struct orch_roof {
    double rate; /* FLOP/s, or bytes per second; 0: the device has none, or it is not known */
    bool is_measured;
};
struct orch_roofline_roofs {
    struct orch_roof memory, peaks[ORCH_PRECISION_COUNT];
    int threads; /* of a processor; 0: a GPU */
    char *when;  /* of the measurement; NULL: none is measured */
};

/** The roofs of a device of the hardware tables. The caller releases them. */
struct orch_roofline_roofs orch_roofline_roofs_of(const struct orch_gpu_spec *spec);
/** True when a run with that device key was made on the device: this machine's processor
 * (`is_this_machine`: the run was made here), or that model of a GPU. */
bool orch_roofline_is_on(const struct orch_gpu_spec *spec, const char *device_key,
                         bool is_this_machine);
void orch_roofline_roofs_release(struct orch_roofline_roofs *roofs);

#endif
