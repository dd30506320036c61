/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notices for the user of `orch run`. They are collected while trials end, and shown once at the
 * end as text and in --json: failures with the last lines of their stderr, retried trials, and
 * printed values that were not recorded. */
#ifndef ORCH_CORE_COMMANDS_RUN_NOTICES_H
#define ORCH_CORE_COMMANDS_RUN_NOTICES_H

#include "core/cli/cli.h"
#include "core/schedule/schedule.h"

enum run_loss { RUN_UNREAD, RUN_EXCESS, RUN_REPLACED, RUN_SINGLE, RUN_MERGED, RUN_LOSSES };

struct run_notices {
    GPtrArray *faults;       /* struct run_fault, the first RUN_FAULTS_KEPT */
    guint fault_count;       /* total */
    json_t *tried_again;     /* retried trials: an array, as in --json */
    guint tried_again_count; /* total */
    guint disturbed_count;   /* trials that ended ok while other programs kept the CPUs busy */
    double foreign_cpu_max;  /* the largest share of the CPUs that other programs used during one of
                                them */
    /* what trials printed that was not recorded, with the first of it; and the run of the first
     * line that was not understood */
    struct {
        int64_t count;
        char *first;
    } losses[RUN_LOSSES];
    char *unread_run;
    guint further_trials, further_runs; /* trials whose program began further runs, and these */
    char *further_trial;                /* the last such trial */
    int64_t bad_events;            /* lines and points that programs sent and that were left out */
    char *bad_run;                 /* the first such run */
    guint left_trials, left_files; /* trials that left files in folders of their own, and these */
    int64_t left_bytes;
    char *left_run, *left_first; /* the last such run, and its first file */
    int64_t unheard_lines; /* of silent trials: lines with numbers on stderr, which is not read */
    bool hears_stderr;     /* some silent trial's stderr was read */
    guint silent_count;    /* trials that ended ok but recorded no metric */
    char *silent_run;      /* the first such run */
    guint unmade_count;    /* trials that ended ok and lack an artifact that they declare */
    char *unmade_run;      /* the first such run, the artifact's name, and its path as declared */
    char *unmade_name, *unmade_path;
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
