/* SPDX-License-Identifier: MIT */
/* Takes what a plugin says, checks every word of it against the manifest, and hands it to the
 * journal. The first broken line ends the conversation: the rest is read and thrown away. */
#ifndef ORCH_HOST_INTAKE_H
#define ORCH_HOST_INTAKE_H

#include "core/host/journal_out.h"
#include "lib/wire/event.h"
#include "lib/wire/manifest.h"

/** An artifact as handed over: taken when the trial has ended. */
struct intake_artifact {
    const struct orch_artifact_spec *spec;
    char *path; /* as said */
};

struct intake {
    struct orch_manifest *manifest; /* grows by metrics that are taken in */
    struct journal_out *out;
    int64_t start_ns;     /* monotonic: zero of t_ms */
    int64_t text_budget;  /* bytes of notes, logs and phases that may still go to the journal */
    GHashTable *metrics;  /* name -> struct orch_metric_spec * */
    guint declared_count; /* metrics of the manifest before any was taken in */
    GArray *points;       /* struct orch_point: single points not yet in the journal */
    GArray *artifacts;    /* struct intake_artifact, one a name */
    char *buffer;         /* lines in the making */
    size_t begin, end;
    char *progress;      /* the newest progress line, not yet in the journal */
    int64_t progress_ns; /* when the last one went there */
    bool has_done;
    enum orch_verdict done;
    char *error_text; /* of the last `error` event, or of `done` */
    char *problem;    /* how the protocol was broken; NULL: it was not */
    int64_t point_count, unknown_count, dropped_count, dropped_bytes;
    /* for a program that orch did not start (orch record): nothing can be stopped, so a broken line
     * is left out and counted, names of metrics are free, and artifacts are taken as they come */
    bool is_lenient;
    int64_t bad_count; /* lines and points left out */
    char *first_bad;   /* why the first one was; NULL: none was */
    void (*on_artifact)(void *ctx, const char *name, const char *path);
    void *on_artifact_ctx;
};

void intake_init(struct intake *intake, struct orch_manifest *manifest, struct journal_out *out,
                 int64_t start_ns, int64_t text_budget);
void intake_clear(struct intake *intake);

/** Reads once from the events pipe. False at its end. */
bool intake_read(struct intake *intake, int fd);
/** Takes one whole line, without its line end. */
void intake_line(struct intake *intake, const char *line, size_t length);
/** Nothing more will come: a line without its end is a problem. */
void intake_finish(struct intake *intake);

/** The declared metric of that name; one that is not declared is taken in when the manifest says
 * `metrics: any` (a valid name, at most 1,000 of them). NULL: there is none. */
const struct orch_metric_spec *intake_metric(struct intake *intake, const char *name);

/** As intake_metric, for a caller that sets the unit of a metric that was taken in. */
struct orch_metric_spec *intake_adopt(struct intake *intake, const char *name);

/** A point or result found in a wrapped program's output. */
void intake_value(struct intake *intake, const struct orch_metric_spec *spec, int64_t step,
                  double value);

/** Moves single points and the newest progress to the journal's pending lines. */
void intake_settle(struct intake *intake);
/** When to call intake_settle for the sake of progress (monotonic ns); INT64_MAX: need not. Points
 * keep `out->pending_ns` set themselves. */
int64_t intake_due(const struct intake *intake);

#endif
