/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All hardware that forecasts can use: the tables of lib/hw, the user's hardware file, and this
 * machine as measured by `orch doctor --bench`. */
#ifndef ORCH_LIB_DEVICES_HARDWARE_H
#define ORCH_LIB_DEVICES_HARDWARE_H

#include "lib/devices/gpus.h"
#include "lib/devices/links.h"
#include "lib/devices/prices.h"

struct orch_hardware {
    GPtrArray *gpus;   /* const struct orch_gpu_spec *: the user's first, then the table */
    GPtrArray *links;  /* const struct orch_link * */
    GPtrArray *prices; /* const struct orch_price *: from the user's hardware file; they precede
                          `offers` */
    GPtrArray *offers; /* const struct orch_price *: those the user added, then the built-in ones */
    GPtrArray *own;    /* objects owned by this struct */
    GPtrArray *updates; /* struct orch_price *: those the user added, or NULL; their texts are in
                           updates_text */
    struct orch_csv *updates_text;
};

/** Reads $ORCH_HARDWARE, else hardware.yaml in the user's configuration folder (orch/), the
 * measured devices, and the prices that the user added. A missing file is no error. NULL with all
 * findings of an invalid file. */
struct orch_hardware *orch_hardware_load(GError **error);
void orch_hardware_free(struct orch_hardware *hardware);

/** Finds a GPU by name or alias; ORCH_ERROR_NOT_FOUND suggests the nearest name. "here" means this
 * machine, if it was measured. Borrowed. */
const struct orch_gpu_spec *orch_hardware_gpu(const struct orch_hardware *hardware,
                                              const char *name, GError **error);
const struct orch_link *orch_hardware_link(const struct orch_hardware *hardware, const char *name,
                                           GError **error);
/** The GPU's price in the user's hardware file, else the choice of orch_price_choose among the
 * offers. In the hardware file, with `wish.on` set, the newest price valid on that day precedes the
 * first price listed. NULL when no price is known. */
const struct orch_price *orch_hardware_price(const struct orch_hardware *hardware,
                                             struct orch_price_query query);

/** The path of the user's hardware file. The caller frees. */
char *orch_hardware_file(void);
/** The path of the file with this machine's measured device. The caller frees. */
char *orch_hardware_here_file(void);

#endif
