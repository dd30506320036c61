/* SPDX-License-Identifier: MIT */
/* Headings: a line that says what it and the lines indented below it are about. fio prints
 * "read: IOPS=4477" above "clat (nsec): min=1002", sysbench "Latency (ms):" above "min: 0.8". */
#ifndef ORCH_WIRE_PRINTED_HEADING_H
#define ORCH_WIRE_PRINTED_HEADING_H

#include "lib/wire/printed.h"

struct printed_heading {
    unsigned indent;                    /* columns before it */
    char name[ORCH_PRINTED_NAME_CHARS]; /* of it and of those above it: "read_clat"; "": none */
    char unit[ORCH_UNIT_CHARS];         /* of the numbers below it; "": none */
    const char *label;                  /* "train", "val", ...; NULL: none */
};

/** Ends the headings above which a line with this indent does not stand: what is below a heading is
 * indented by two columns at least (fio aligns names of different length to the right). */
void orch_printed_heading_leave(GArray *headings, unsigned indent);

/** Adds a heading with this indent below the others; its name is its own words alone. */
void orch_printed_heading_enter(GArray *headings, const struct printed_heading *heading,
                                unsigned indent);

/** Of all open headings the name, the unit ("" without) and the label (NULL without). Borrowed. */
const char *orch_printed_heading_name(const GArray *headings);
const char *orch_printed_heading_unit(const GArray *headings);
const char *orch_printed_heading_label(const GArray *headings);

#endif
