/* SPDX-License-Identifier: MIT */
/* Links between workers. Rates are what one worker can send, in 10^9 bit/s, before protocols. */
#ifndef ORCH_HW_LINKS_H
#define ORCH_HW_LINKS_H

#include "lib/hw/gpus.h"

struct orch_link {
    const char *name; /* "ethernet10"; NULL ends the table */
    const char *aliases;
    double gbit_s;
    double latency_us; /* of a message, order of magnitude */
    const char *source;
};

/** The table, ended by a NULL name. */
const struct orch_link *orch_links(void);
/** By name or alias; NULL when unknown. */
const struct orch_link *orch_link_find(const char *name);
bool orch_link_is_named(const struct orch_link *link, const char *name);

/** What joins GPUs of one node: NVLink where the GPU has it, else its PCIe link (a board's dies
 * share one). Borrowed. */
const struct orch_link *orch_link_within(const struct orch_gpu_spec *spec);

#endif
