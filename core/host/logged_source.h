/* SPDX-License-Identifier: MIT */
/* What logged_files.c, logged_names.c and logged_values.c share: the files that are read for one
 * trial, and the metrics whose points they hold. */
#ifndef ORCH_HOST_LOGGED_SOURCE_H
#define ORCH_HOST_LOGGED_SOURCE_H

#include "core/host/logged_files.h"
#include "lib/loggers/logged_file.h"

enum { LOGGED_VALUES_KEPT_MAX = 2000000 /* of a file that may be written anew */ };

/* A metric whose points come from files. */
struct series {
    const struct orch_metric_spec *spec;
    const void *owner; /* its file, or the format of a tree of folders */
    const struct orch_logger *logger;
};

struct value {
    int64_t step;
    double value;
};

/* A series as it stands in one file. */
struct column {
    struct series *series; /* NULL: its values are not taken */
    GArray *passed;        /* struct value: those that were taken; NULL: they are not kept */
    guint again;           /* of those, how many were met in a file that was written anew */
};

struct source {
    struct logged_files *all;
    const struct orch_logger *logger;
    struct logged_file *file;
    char *path;          /* as others see it */
    GHashTable *columns; /* name -> struct column * */
    int64_t points;
    guint kept;
};

struct logged_files {
    const struct child_setup *setup;
    struct intake *intake;
    const struct orch_watch_memory *memory;
    int64_t started_ns, due_ns;
    uint64_t cursor; /* of the memory, when it was looked at */
    bool was_changed;
    GPtrArray *candidates; /* struct candidate * */
    GHashTable *known;     /* path -> struct candidate *; borrowed from the list */
    GPtrArray *sources;    /* struct source * */
    GHashTable *series;    /* label -> struct series * */
    GHashTable *results;   /* struct orch_metric_spec * -> double * */
    json_t *settings, *unlogged;
    bool is_ending;
};

/** The series for the values that a file has under a name. NULL: they are not taken. */
struct series *orch_logged_series(struct source *source, const char *name);

/** The sink for what a reader finds in a file; its ctx is the source. */
struct orch_log_sink orch_logged_sink(struct source *source);
/** A columns table for a source. */
GHashTable *orch_logged_columns(void);
/** The points that the file gave from `step` on do not count. */
void orch_logged_purge(struct source *source, int64_t step);
/** The file is read from its beginning once more; `ctx` is the source. */
void orch_logged_again(void *ctx);

#endif
