/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What this machine can reach at best, as `orch doctor --bench` measured it: matrix products by
 * precision, memory, the link to the GPU, launches. Kept in the file of the device 'here'. */
#ifndef ORCH_LIB_DEVICES_CEILINGS_H
#define ORCH_LIB_DEVICES_CEILINGS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/** A rate that was measured several times, in units per second. */
struct orch_measured {
    double best; /* the highest: other work on the machine only lowers a rate. 0: not measured */
    double median;
    double spread; /* of the middle half of the samples, as a share of the median */
    unsigned samples;
};

/** One measured ceiling. */
struct orch_ceiling {
    char *device; /* "cpu", or a GPU's model as the driver names it */
    char *what;   /* "product", "memory", "to device", "from device", "launch", "disk" */
    char *how;    /* the precision, or "triad", "triad 6 MiB", "copy", "pinned", "pageable", "empty
                     kernel", ... */
    unsigned threads;              /* of the CPU; 0: of a GPU, or of no matter */
    char *unit;                    /* "FLOP/s", "B/s", "s" */
    struct orch_measured measured; /* in that unit; best: the highest, of a time the shortest */
    char *with;                    /* library: "oneDNN", "cuBLAS 12.6"; or "" */
    char *skipped;                 /* why it was not measured; then the numbers are 0; else NULL */
};
void orch_ceiling_free(struct orch_ceiling *ceiling);

struct orch_ceilings {
    char *machine;   /* its key */
    char *when;      /* "2026-11-24 00:12:03", UTC */
    GPtrArray *rows; /* struct orch_ceiling * */
};
void orch_ceilings_free(struct orch_ceilings *ceilings);

/** Reads those of this machine. NULL when it has not been measured, or by an older version. */
struct orch_ceilings *orch_ceilings_load(void);

/** The first row of a device ("cpu", or any name of a GPU) with this `what` and, if given, `how`
 * and `threads` (0: the most); NULL: not measured. Borrowed. */
const struct orch_ceiling *orch_ceilings_find(const struct orch_ceilings *ceilings,
                                              const char *device, const char *what, const char *how,
                                              unsigned threads);

/** The sizes that memory is measured at: of all arrays together. */
#define ORCH_TRIADS 3
extern const struct orch_triad_size {
    const char *how;
    size_t bytes;                /* 0: many times the caches */
} ORCH_TRIAD_SIZES[ORCH_TRIADS]; /* the largest first */

/** What a processor reaches with some of its threads. */
struct orch_processor_rates {
    double flops;                  /* of products at the precision, a second */
    double bandwidth[ORCH_TRIADS]; /* bytes a second, for the sizes above; 0: not measured */
};
/** Reads the rates at a precision that 'orch doctor --bench' measures ("fp32", "bf16") for
 * `threads` threads (0: all) from this machine's ceilings; between one thread and all they are
 * interpolated. False when they were not measured. */
bool orch_ceilings_processor(const struct orch_ceilings *ceilings, const char *precision,
                             int64_t threads, struct orch_processor_rates *out);

/** Formats a row as a line of JSON, which is YAML, too; and back. Caller frees. */
char *orch_ceiling_encode(const struct orch_ceiling *ceiling);
/** New reference: the row for people's programs. */
json_t *orch_ceiling_json(const struct orch_ceiling *ceiling);
/** NULL when the object is no ceiling. */
struct orch_ceiling *orch_ceiling_decode(const json_t *json);

/** "1.93 TFLOP/s", "34.5 GB/s", "4.2 us". Caller frees. */
char *orch_ceiling_format(const char *unit, double value);

#endif
