/* SPDX-License-Identifier: MIT */
/* What logged_files.c, logged_names.c and logged_values.c share: the files that are read for one
 * trial, the runs of loggers that they hold, and the metrics of their points. */
#ifndef ORCH_HOST_LOGGED_SOURCE_H
#define ORCH_HOST_LOGGED_SOURCE_H

#include "core/host/logged_files.h"
#include "lib/loggers/logged_file.h"

enum { LOGGED_VALUES_KEPT_MAX = 2000000 /* of a file that may be written anew */ };

/** A run as a logger keeps it: a file, a folder, or a part of a database. */
struct logged_place {
    char *path; /* of the file or folder, as others see it */
    char *id;   /* of a database's run; NULL: none */
    char *name; /* that the logger gives to the run; NULL: none */
    const struct orch_logger *logger;
    int64_t points;   /* and results */
    int64_t replaced; /* of those, by another one of the same step that came next */
};

/** A metric whose points come from files. */
struct series {
    const struct orch_metric_spec *spec;
    const void *owner; /* its place, or the format of a tree of folders */
    const struct orch_logger *logger;
};

struct value {
    int64_t step;
    double value;
};

/** A series as it stands in one file. */
struct column {
    struct series *series; /* NULL: its values are not taken */
    GArray *passed;        /* struct value: those that were taken; NULL: they are not kept */
    int64_t zeros;         /* values at step 0 */
    struct value last;     /* of those taken; its step is -1 when there is none */
    guint again;           /* of those, how many were met in a file that was written anew */
};

/** What one file, or a run of a database, gives. */
struct source {
    struct logged_files *all;
    const struct orch_logger *logger;
    struct logged_file *file;   /* NULL: of a run of a database */
    const struct source *whole; /* the database of such a run; else itself */
    struct logged_place *place;
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
    GPtrArray *places;     /* struct logged_place * */
    GHashTable *series;    /* label -> struct series * */
    GHashTable *results;   /* label -> struct logged_result * */
    GHashTable *set_by;    /* name of a setting -> struct logged_place *: borrowed */
    GHashTable *images;    /* label -> path of the file with the last one */
    json_t *settings, *unlogged;
    guint claimed; /* files of which a descriptor is kept (lib/loggers/file_claim.h) */
    bool is_ending;
};

/** Adds the source of a file, or with `whole` that of a run of that database. */
struct source *orch_logged_source_new(struct logged_files *all, const char *path,
                                      const struct orch_logger *logger, const struct source *whole,
                                      const struct orch_log_run *run);
void orch_logged_source_free(void *source);
void orch_logged_place_free(void *place);

/** What precedes a name that another place of the format has, too, with a slash at its end; of a
 * tree of folders, every name of another folder than the first. The caller frees. */
char *orch_logged_prefix(const struct source *source);
/** The series for the values that a file has under a name. NULL: they are not taken. */
struct series *orch_logged_series(struct source *source, const char *name);

/** The sink for what a reader finds in a file; its ctx is the source. */
struct orch_log_sink orch_logged_sink(struct source *source);
/** The points that the file gave from `step` on do not count. */
void orch_logged_purge(struct source *source, int64_t step);
/** The file is read from its beginning once more; `ctx` is the source. */
void orch_logged_again(void *ctx);
/** Keeps the last image of each name as an artifact. */
void orch_logged_images(struct logged_files *all);
/** Writes the values without a step, after all points were read. */
void orch_logged_results(struct logged_files *all);

#endif
