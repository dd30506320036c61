/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notices for the user of `orch run`. They are collected while trials end, and shown once at the
 * end as text and in --json: failures with the last lines of their stderr, retried trials, and
 * printed values that were not recorded. */
#ifndef ORCH_CORE_COMMANDS_RUN_NOTICES_H
#define ORCH_CORE_COMMANDS_RUN_NOTICES_H

#include "core/cli/cli.h"
#include "core/schedule/schedule.h"
#include "lib/wire/text_losses.h"

/** What is said once of all trials that it is true of. */
enum run_notice {
    RUN_SILENT,    /* ended ok and recorded no metric; counts lines with numbers on stderr, which is
                      not read */
    RUN_UNMADE,    /* ended ok and lack an artifact that they declare: its name first */
    RUN_LEFT,      /* left files in folders of their own; counts these, a file first */
    RUN_FURTHER,   /* began further runs; counts these */
    RUN_BAD_EVENT, /* sent lines or points that were left out; counts these */
    RUN_NOTICES
};

struct run_notices {
    GPtrArray *faults;       /* struct run_fault, the first RUN_FAULTS_KEPT */
    guint fault_count;       /* total */
    json_t *tried_again;     /* retried trials: an array, as in --json */
    guint tried_again_count; /* total */
    guint disturbed_count;   /* trials that ended ok while other programs kept the CPUs busy */
    double foreign_cpu_max;  /* the largest share of the CPUs that other programs used during one of
                                them */
    struct orch_text_losses losses; /* what trials printed that was not recorded */
    char *unread_run;               /* of the first line that was not understood */
    struct {
        guint trials;
        int64_t count;
        char *run, *first; /* the first such trial's run, and what was the first */
    } of[RUN_NOTICES];
    int64_t left_bytes;
    bool hears_stderr; /* some silent trial's stderr was read */
    char *unmade_path; /* as it is declared */
};

void orch_cli_run_notices_init(struct run_notices *notices);
void orch_cli_run_notices_release(struct run_notices *notices);

/** Records a trial that ended. `line` is the line that was shown for it; `again`: it will be
 * retried. */
void orch_cli_run_notices_add(struct run_notices *notices, const struct orch_running *trial,
                              const struct orch_collected *collected, bool again, const char *line);

/** Prints the notices to stderr. `planned` is the number of trials of the run. */
void orch_cli_run_notices_print(struct orch_cli *cli, const struct run_notices *notices,
                                unsigned planned);

/** Adds "failures", "tried_again", "disturbed", "output" and "without_metrics" to the --json object
 * of a run. */
void orch_cli_run_notices_to_json(const struct run_notices *notices, json_t *object);

#endif
