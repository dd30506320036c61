/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All hardware that a forecast may be asked for: the tables of lib/hw, a user's own file, and this
 * machine as `orch doctor --bench` measured it. */
#ifndef ORCH_CORE_HARDWARE_HARDWARE_H
#define ORCH_CORE_HARDWARE_HARDWARE_H

#include "lib/hw/gpus.h"
#include "lib/hw/links.h"
#include "lib/hw/prices.h"

struct orch_hardware {
    GPtrArray *gpus;   /* const struct orch_gpu_spec *: a user's own first, then the table */
    GPtrArray *links;  /* const struct orch_link * */
    GPtrArray *prices; /* const struct orch_price *: a user's own */
    GPtrArray *own;    /* what this owns */
};

/** Reads $ORCH_HARDWARE, else hardware.yaml in the user's configuration folder (orch/), and the
 * devices that were measured; a missing file is none. NULL with all findings of a file. */
struct orch_hardware *orch_hardware_load(GError **error);
void orch_hardware_free(struct orch_hardware *hardware);

/** By name or alias; ORCH_ERROR_NOT_FOUND with the nearest name. "here" is this machine when it was
 * measured. Borrowed. */
const struct orch_gpu_spec *orch_hardware_gpu(const struct orch_hardware *hardware,
                                              const char *name, GError **error);
const struct orch_link *orch_hardware_link(const struct orch_hardware *hardware, const char *name,
                                           GError **error);
/** A user's own price of the GPU (the first; with a day the newest that held then, else the first),
 * else orch_price_choose. NULL: nobody's price is known. */
const struct orch_price *orch_hardware_price(const struct orch_hardware *hardware,
                                             struct orch_price_wish wish);

/** Where the user's file lies. The caller frees. */
char *orch_hardware_file(void);
/** Where this machine's measured device lies. The caller frees. */
char *orch_hardware_here_file(void);

#endif
