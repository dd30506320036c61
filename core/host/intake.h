/* SPDX-License-Identifier: MIT */
/* Receives a plugin's events, validates them against the manifest, and passes them to the journal.
 * After the first invalid line all further input is discarded. */
#ifndef ORCH_HOST_INTAKE_H
#define ORCH_HOST_INTAKE_H

#include "core/host/journal_out.h"
#include "lib/wire/event.h"
#include "lib/wire/manifest.h"

/** A reported artifact, collected when the trial has ended. */
struct intake_artifact {
    const struct orch_artifact_spec *spec;
    bool is_adopted; /* of a name that the manifest does not declare */
    char *path;      /* as reported */
};

struct intake {
    struct orch_manifest *manifest; /* undeclared metrics are added to it */
    struct journal_out *out;
    int64_t start_ns;      /* monotonic; zero of t_ms */
    int64_t text_budget;   /* remaining bytes for notes, logs and phases */
    GHashTable *metrics;   /* name -> struct orch_metric_spec * */
    guint declared_count;  /* number of metrics declared in the manifest */
    GHashTable *reported;  /* metrics of which the program sent points: struct orch_metric_spec * */
    GHashTable *printed;   /* those of which points were found in its output */
    GHashTable *logged;    /* those of which points were found in files that it writes */
    GHashTable *spellings; /* of the names of those as they are when they are printed */
    GArray *points;        /* struct orch_point: single points not yet in the journal */
    GArray *artifacts;     /* struct intake_artifact, one per name */
    char *buffer;          /* incomplete lines */
    size_t begin, end;
    char *progress;      /* newest progress line, not yet in the journal */
    int64_t progress_ns; /* when the last progress was written */
    bool has_done;
    enum orch_verdict done;
    char *error_text; /* of the last `error` event, or of `done` */
    char *problem;    /* how the protocol was violated; NULL: it was not */
    int64_t point_count, unknown_count, dropped_count, dropped_bytes;
    /* for a program whose names are its own (`metrics: any`), by hand as in a trial: invalid lines
     * are skipped and counted */
    bool is_lenient;
    int64_t bad_count; /* lines and points skipped */
    char *first_bad;   /* why the first one was skipped; NULL: none was */
    /* for a program that orch did not start (orch record); else NULL */
    void (*on_artifact)(void *ctx, const char *name, const char *path);
    void (*on_output)(void *ctx, const char *stream, const char *text);
    void *ctx;
    /** Called with each point and result that is recorded; NULL: with none. */
    void (*on_value)(void *ctx, const char *metric, int64_t step, double value);
    void *value_ctx;
};

void orch_intake_init(struct intake *intake, struct orch_manifest *manifest,
                      struct journal_out *out, int64_t start_ns, int64_t text_budget);
void orch_intake_clear(struct intake *intake);

/** Reads once from the events pipe. Returns false at its end. */
bool orch_intake_read(struct intake *intake, int fd);
/** Processes one line, without its line end. */
void orch_intake_line(struct intake *intake, const char *line, size_t length);
/** Ends the input; an incomplete last line is a violation of the protocol. */
void orch_intake_finish(struct intake *intake);

/** Finds a declared metric. If the manifest has `metrics: any`, adds undeclared ones (valid names,
 * at most 1,000), whose unit the caller may set. NULL if there is none. */
struct orch_metric_spec *orch_intake_adopt(struct intake *intake, const char *name);
/** True when orch_intake_adopt accepts no further name, as there are 1,000. */
bool orch_intake_is_full(const struct intake *intake);

/** True for a metric that the program sent itself, or logs to a file: what it prints under that
 * name does not count. */
bool orch_intake_is_reported(const struct intake *intake, const struct orch_metric_spec *spec);
/** Says how many lines and points were skipped, and why the first one was; NULL for none. Caller
 * frees. */
char *orch_intake_skipped_text(const struct intake *intake);

/** Records a point or result found in a wrapped program's output. */
void orch_intake_value(struct intake *intake, const struct orch_metric_spec *spec, int64_t step,
                       double value);

/** From now on the points of a metric come from a file that a logger writes, and those that were
 * printed do not count. False when the program sends them itself. */
bool orch_intake_begin_logged(struct intake *intake, const struct orch_metric_spec *spec);
/** Records a point of such a metric. `t_ms` since the trial's start; NAN: now. False when the
 * program has sent points of it since. */
bool orch_intake_logged(struct intake *intake, const struct orch_metric_spec *spec, int64_t step,
                        double t_ms, double value);
/** The points of such a metric from `step` on do not count. */
void orch_intake_purge_logged(struct intake *intake, const struct orch_metric_spec *spec,
                              int64_t step);
/** True when a series that a logger wrote has this name, or is printed as it is. */
bool orch_intake_has_spelling(const struct intake *intake, const char *name);
/** Keeps a file that a logger's image was written to as an artifact. False when the program reports
 * one of that name itself, or the trial can have no such artifact. */
bool orch_intake_artifact_logged(struct intake *intake, const char *name, const char *path);
/** Records a value without a step that a logger wrote. */
void orch_intake_result_logged(struct intake *intake, const struct orch_metric_spec *spec,
                               double value);

/** Notes the progress of a wrapped program, found in its output. */
void orch_intake_progress(struct intake *intake, double done, double total);

/** Moves single points and the newest progress to the journal's pending lines. */
void orch_intake_settle(struct intake *intake);
/** When to call orch_intake_settle for progress (monotonic ns); INT64_MAX: not needed. For points,
 * `out->pending_ns` is set. */
int64_t orch_intake_due(const struct intake *intake);

#endif
