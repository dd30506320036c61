/* SPDX-License-Identifier: MIT */
/* How busy this machine and a tree of processes are, from /proc. Rates are means over the time
 * since the previous reading. */
#ifndef ORCH_HW_USAGE_H
#define ORCH_HW_USAGE_H

/** One reading. NaN where it is not known. */
struct orch_machine_usage {
    double cpu_tree_s;     /* CPU time of the tree since the previous reading, in seconds */
    double cpu_machine;    /* busy share of all CPUs of the machine, 0 to 1 */
    double memory_tree_mb; /* resident memory of the tree, 10^6 bytes; pages that processes share
                              count in each */
    double memory_machine; /* share of the machine's memory that is in use, 0 to 1 */
    double read_mb, written_mb; /* of the tree from and to disk since the previous reading */
};

struct orch_usage_meter;
/** Begins to measure the descendants of the calling process, which must be a subreaper to find all
 * of them: processes whose parent has ended are then its children. `proc` is "/proc", or a copy for
 * tests; borrowed. */
struct orch_usage_meter *orch_usage_meter_new(const char *proc);
void orch_usage_meter_free(struct orch_usage_meter *meter);
/** Reads what the tree and the machine used since the previous reading, or since the meter was
 * made. */
void orch_usage_meter_read(struct orch_usage_meter *meter, struct orch_machine_usage *out);

#endif
