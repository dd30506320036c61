/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files that a trial's program or plugin really opened, as its host noted them
 * (core/host/opened_files.h). What it read is kept with digests among the inputs of the run; what
 * it wrote without having read it is output. */
#ifndef ORCH_CORE_INPUTS_READ_FILES_H
#define ORCH_CORE_INPUTS_READ_FILES_H

#include "core/inputs/inputs.h"
#include "lib/base/file_digests.h"
#include "lib/wire/verdict.h"

/** At most so many inputs are kept of a run; a folder of which more than ORCH_READS_OF_FOLDER files
 * were read is one of them. The number of those left out is kept. */
#define ORCH_READS_MAX 500
#define ORCH_READS_OF_FOLDER 50

/** Why the files that trials of the experiment open are not noted; NULL when they are, or when it
 * is a program that comes with orch. */
const char *orch_reads_are_off(const struct orch_inputs *all,
                               const struct orch_experiment *experiment);
/** The value of ORCH_FACT_PLACE for trials of the command. The caller frees. */
char *orch_reads_place(const struct orch_inputs *all);
/** The paths of ORCH_FACT_ELSEWHERE (run_spans.h) for a trial that starts now. New reference. */
json_t *orch_reads_elsewhere(struct orch_inputs *all, const struct orch_trial_inputs *trial);
/** `watch` of a trial's trial.json. New reference; NULL: nothing is noted. */
json_t *orch_reads_watch(const struct orch_inputs *all, const struct orch_trial_inputs *trial,
                         json_t *elsewhere);

/** What a trial opened, without files of the system, of interpreters, of version control, in hidden
 * folders, and secrets. Names are relative to `folder`, or absolute. */
struct orch_opened_files {
    char *folder; /* NULL: nothing was noted */
    char *why;    /* nothing was noted, and why; or NULL */
    int64_t left_out;
    GPtrArray *read;     /* char *, in the order of reading */
    GPtrArray *wrote;    /* char *: not read before */
    GPtrArray *both;     /* char *: read, and written then */
    GHashTable *written; /* set of the texts of the last two */
    GHashTable *listed;  /* set of char *: folders whose files were listed */
};
/** Reads it from the open folder of an ended trial (-1: there is none). To be cleared. */
void orch_opened_files_read(int folder, struct orch_opened_files *out);
void orch_opened_files_clear(struct orch_opened_files *opened);

/** A trial that has ended, of which `record` and `facts` get what it opened. */
struct orch_ended_trial {
    json_t *record, *facts;
    int64_t started_ns, ended_ns;
};
/** Adds what it opened. `folder` as above. */
void orch_reads_keep(const struct orch_ended_trial *trial, int folder,
                     struct orch_file_digests *digests);

#endif
