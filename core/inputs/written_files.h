/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who wrote which file in the user's folder, as far as opened files are noted. When several trials
 * of a sweep write one file, each finds or overwrites what another has left; one that reads it
 * first goes on from there, as from a checkpoint. A file that git neither tracks nor ignores
 * becomes a part of the source of later runs. */
#ifndef ORCH_CORE_INPUTS_WRITTEN_FILES_H
#define ORCH_CORE_INPUTS_WRITTEN_FILES_H

#include "core/inputs/opened.h"

struct orch_written_files;

struct orch_written_files *orch_written_files_new(struct orch_inputs *all);
void orch_written_files_free(struct orch_written_files *written);

/** Before a trial of the experiment starts: finds the files that runs of earlier commands have left
 * here. Does so once. */
void orch_written_files_begin(struct orch_written_files *written,
                              const struct orch_experiment *experiment);

/** A trial that has ended. */
struct orch_writer {
    const void *trial; /* the same for all its attempts */
    const char *key, *fingerprint;
    bool is_apart;
};
/** What there is to say of it. To be cleared. */
struct orch_written_note {
    char *shared;        /* a file in the user's folder that another trial of this command has
                            written, too: the first for all trials; else NULL */
    json_t *carried;     /* files that it read and wrote and that another run had written -> the
                            key of that run; at most ORCH_CARRIED_MAX */
    char *carried_first; /* the first of them, or NULL */
    const void *maker;   /* the trial of this command that had written that; NULL: an earlier run */
};
void orch_written_files_end(struct orch_written_files *written, const struct orch_writer *writer,
                            const struct orch_opened *opened, struct orch_written_note *out);
void orch_written_note_clear(struct orch_written_note *note);

/** Counts the files that trials wrote below the work tree and that will be captured with the source
 * of later runs, though they were not with that of this one. Files whose values became metrics, and
 * those in the folder of such a run, do not count: they are not read again. `*out_first` becomes
 * one of them, relative to the work tree, and `*out_line` a line for .gitignore that leaves it out;
 * the caller frees both. 0 when that is not known. */
unsigned orch_written_files_untracked(const struct orch_written_files *written, char **out_first,
                                      char **out_line);

#endif
