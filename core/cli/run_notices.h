/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user of `orch run` should notice about its trials, gathered while they end and told once
 * at the end, as text and in --json: failures with the last lines of their stderr, trials that were
 * tried again, values that were printed and are not in the record. */
#ifndef ORCH_CORE_CLI_RUN_NOTICES_H
#define ORCH_CORE_CLI_RUN_NOTICES_H

#include "core/cli/cli.h"
#include "core/run/schedule.h"

struct run_notices {
    GPtrArray *faults;       /* struct run_fault, the first RUN_FAULTS_KEPT */
    guint fault_count;       /* of all */
    json_t *tried_again;     /* array, as in --json */
    guint tried_again_count; /* of all */
    guint disturbed_count;   /* ended well while other programs kept the CPUs busy */
    double foreign_cpu_max;  /* the largest share of the CPUs that others used in one of them */
    int64_t unread_lines;    /* of output, which held numbers that were not understood */
    char *unread_first, *unread_run; /* the first of them, and the run that printed it */
    int64_t replaced_points;         /* values that a later one of the same step replaced */
    char *replaced_first;
    guint silent_count; /* ended well and recorded no metric */
    char *silent_run;   /* the first of them */
};

void run_notices_init(struct run_notices *notices);
void run_notices_release(struct run_notices *notices);

/** Takes note of a trial that ended. `line`: as it was shown. `again`: it is tried once more. */
void run_notices_add(struct run_notices *notices, const struct orch_running *trial,
                     const struct orch_collected *collected, bool again, const char *line);

/** Prints the notices on stderr. `planned`: trials of the run. */
void run_notices_print(struct orch_cli *cli, const struct run_notices *notices, unsigned planned);

/** Sets "failures", "tried_again", "disturbed", "output" and
 * "without_metrics" in the --json object of a run. */
void run_notices_to_json(const struct run_notices *notices, json_t *object);

#endif
