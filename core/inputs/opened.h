/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files a trial opened. Its host is told what to note (trial.json), and notes it in
 * opened.json (core/host/opened_files.h has the format). */
#ifndef ORCH_CORE_INPUTS_OPENED_H
#define ORCH_CORE_INPUTS_OPENED_H

#include "core/inputs/inputs.h"
#include "lib/wire/verdict.h"

#include <sys/stat.h>

/* ---- before a trial ---------------------------------------------------------------------------
 */

/** Why the files that trials of the experiment open are not noted; NULL when they are, or when it
 * is a program that comes with orch. */
const char *orch_opened_are_off(const struct orch_inputs *all,
                                const struct orch_experiment *experiment);
/** The value of ORCH_FACT_PLACE for trials of the command. The caller frees. */
char *orch_opened_place(const struct orch_inputs *all);
/** The paths of ORCH_FACT_ELSEWHERE (run_spans.h) for a trial that starts now. New reference. */
json_t *orch_opened_elsewhere(struct orch_inputs *all, const struct orch_trial_inputs *trial);
/** `watch` of a trial's trial.json. New reference; NULL: nothing is noted. */
json_t *orch_opened_watch(const struct orch_inputs *all, const struct orch_trial_inputs *trial,
                          json_t *elsewhere);

/* ---- after a trial ----------------------------------------------------------------------------
 */

/** Whether a file that was changed at `changed_ns`, by the kernel's time, which nobody can set
 * back, may have been changed since `since_ns`. One that lies an hour ahead was changed before the
 * clock was put right. */
bool orch_file_may_have_changed(int64_t changed_ns, int64_t since_ns);

/** What a file was at one time. Two are the same file with the same content when all members are
 * equal. The device is left out: nodes of a cluster number one file system differently. */
struct orch_file_id {
    bool is_known;
    int64_t inode, bytes, modified_ns, changed_ns;
};
struct orch_file_id orch_file_id_of(const struct stat *info);
bool orch_file_id_equal(const struct orch_file_id *a, const struct orch_file_id *b);

struct orch_opened_file {
    char *name;               /* relative to the folder, or absolute */
    struct orch_file_id read; /* when it was first opened for reading; not known of a module that
                                 was read as bytecode and of a file that was only looked at */
    struct orch_file_id own;  /* when the trial itself last changed its content or attributes */
};

/** What a trial opened, without files of the system, of interpreters, of version control, in hidden
 * folders, and secrets. */
struct orch_opened {
    char *folder;    /* of the names that are not absolute; NULL: nothing was noted */
    char *why;       /* nothing was noted, and why; or NULL */
    GPtrArray *gaps; /* char *: what may be missing below; empty: nothing */
    GPtrArray *read, *wrote, *both; /* struct orch_opened_file *: read and not written, written and
                                       not read before, read and written then; in the order of the
                                       first opening */
    json_t *logged; /* absolute paths of files and folders whose values became metrics; or NULL */
    GHashTable *written; /* names of the last two */
    GHashTable *listed;  /* folders whose files were listed -> struct orch_file_id * of then */
};
/** Reads it from the open folder of an ended trial (-1: there is none). To be cleared. */
void orch_opened_read(int folder, struct orch_opened *out);
void orch_opened_clear(struct orch_opened *opened);

/** True when all that the trial opened was noted. */
bool orch_opened_is_whole(const struct orch_opened *opened);
/** The absolute path of a file that the trial opened. The caller frees. */
char *orch_opened_path(const struct orch_opened *opened, const char *name);
/** True when a file that the trial read and did not write is still what it read. False when
 * somebody else has written, replaced or removed it since, or may have. */
bool orch_opened_is_same(const struct orch_opened *opened, const struct orch_opened_file *file,
                         int64_t started_ns);

/* ---- in the record of a run -------------------------------------------------------------------
 */

/** At most so many inputs are kept of a run; a folder of which more than ORCH_READS_OF_FOLDER files
 * were read is one of them. The number of those left out is kept. */
#define ORCH_READS_MAX 500
#define ORCH_READS_OF_FOLDER 50

/** A trial that has ended, of which `record` and `facts` get what it opened. */
struct orch_ended_trial {
    json_t *record, *facts;
    int64_t started_ns, ended_ns;
};

/** Adds what it opened; `opened` NULL: as `folder` has it, the trial's, open (-1: none). An input
 * that somebody else wrote, replaced or removed while the trial ran gets no digest, but is named in
 * ORCH_FACT_REWRITTEN, and so is one of the record that is not what the trial has read. */
void orch_reads_keep(const struct orch_ended_trial *trial, const struct orch_opened *opened,
                     int folder, struct orch_file_digests *digests);

/** Member of a record: the root of the work tree, for a trial that runs in the user's folder. */
#define ORCH_RECORD_IN_PLACE "in_place"
/** Fact of a run, which is then not reused: orch was killed before it looked at the run's inputs
 * again, and cannot find out whether they changed. */
#define ORCH_FACT_NOT_LOOKED_AT "inputs_not_looked_at"
/** For a trial whose runner was killed: notes in the record what changed of its inputs. The code
 * among it, which spoils the run, is returned as a reason: the caller frees; NULL for none. */
char *orch_inputs_after_kill(json_t *record, int64_t started_ns, int folder);

#endif
