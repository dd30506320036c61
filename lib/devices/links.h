/* SPDX-License-Identifier: MIT */
/* Links between workers. Rates are for one worker's sending, in 10^9 bit/s, without protocol
 * overhead. */
#ifndef ORCH_LIB_DEVICES_LINKS_H
#define ORCH_LIB_DEVICES_LINKS_H

#include "lib/devices/gpus.h"

struct orch_link {
    const char *name; /* "ethernet10"; NULL ends the table */
    const char *aliases;
    double gbit_s;
    double latency_us;   /* of a message; order of magnitude */
    bool is_of_gpu;      /* each GPU of a node has one, else they share it */
    int gpus;            /* of a link within a node: GPUs of a usual node */
    const char *between; /* the link between such nodes; "": unknown */
    const char *source;
};

/** The table, ended by a NULL name. */
const struct orch_link *orch_links(void);
/** Finds a link by name or alias; NULL if unknown. */
const struct orch_link *orch_link_find(const char *name);
bool orch_link_is_named(const struct orch_link *link, const char *name);

/** The link between GPUs of one node: NVLink if the GPU has it, else its PCIe link (shared by a
 * board's dies). Borrowed. */
const struct orch_link *orch_link_within(const struct orch_gpu_spec *spec);

#endif
