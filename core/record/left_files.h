/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that a trial made or wrote in its folder apart. They stay in the folder of the store until
 * 'orch gc', and leave this machine with nothing. */
#ifndef ORCH_CORE_RECORD_LEFT_FILES_H
#define ORCH_CORE_RECORD_LEFT_FILES_H

#include "store/store.h"

#include <jansson.h>

struct orch_left_file {
    char *path; /* relative to the work tree */
    int64_t bytes;
};

/** Moves the files from the folder of an ended trial, which `folder` is a descriptor of; `trial` is
 * its trial.json. Returns their number, and the path of the first in `*out_first` (the caller
 * frees). */
unsigned orch_left_files_keep(struct orch_store *store, const char *key, int folder,
                              const json_t *trial, char **out_first);

/** The files of a run, by path: struct orch_left_file *. The caller unrefs. */
GPtrArray *orch_left_files_list(const struct orch_store *store, const char *key);

/** Opens one of them for reading. Returns -1 with an error. The caller closes it. */
int orch_left_files_open(const struct orch_store *store, const char *key, const char *path,
                         GError **error);

#endif
