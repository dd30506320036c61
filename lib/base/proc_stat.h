/* SPDX-License-Identifier: MIT */
/* A process as the kernel shows it in /proc/PID/stat. */
#ifndef ORCH_LIB_BASE_PROC_STAT_H
#define ORCH_LIB_BASE_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct orch_proc_stat {
    pid_t pid, parent;
    char name[16];           /* of its executable; may contain any character */
    char state;              /* 'R', 'S', ...; 'Z' or 'X': it has ended */
    int64_t start;           /* clock ticks from boot to its start */
    double user_s, system_s; /* CPU time used */
    double children_s;       /* CPU time of ended children that it waited for */
};

/** Reads it. Returns false if there is no such process. */
bool orch_proc_stat_read(pid_t pid, struct orch_proc_stat *out);

#endif
