/* SPDX-License-Identifier: MIT */
/* Makes the rows of opened.json (opened_files.h) of what a trial's processes recorded: one row for
 * each name of a file, whatever they did with it. */
#ifndef ORCH_HOST_OPENED_ROWS_H
#define ORCH_HOST_OPENED_ROWS_H

#include "lib/watch/watch_memory.h"

#include <jansson.h>

/** A folder, and the beginning of the names of what lies below it. */
struct opened_place {
    char *path; /* absolute */
    char *name; /* "" for the folder in which names begin; NULL: what lies below is left out */
};

/** The files of the memory, a list of [kind, name, details] as a text of JSON. `places`: struct
 * opened_place, the first that matches counts; other files keep their absolute path. `folder`:
 * where names lie now. Adds what is missing to the list of texts `gaps`. The caller frees. */
char *orch_opened_rows(const struct orch_watch_memory *memory, const GPtrArray *places,
                       const char *folder, json_t *gaps);

#endif
