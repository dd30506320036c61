/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs that another tracker recorded (MLflow, W&B, TensorBoard), on their way into the store. They
 * are marked: their plugin is "import:TOOL", which no plugin can be called, they have no
 * fingerprint, so they never stand in for a trial, and no declared cost, so forecasts do not learn
 * from them. */
#ifndef ORCH_STORE_IMPORTED_H
#define ORCH_STORE_IMPORTED_H

#include "store/store.h"

#define ORCH_IMPORTED_POINTS_MAX 20000000 /* of one run */
#define ORCH_IMPORTED_NAMES_MAX 10000     /* metrics, parameters or results of one run */
#define ORCH_IMPORTED_TEXT_MAX (1 << 20)  /* bytes of a text */

struct orch_imported_point {
    guint name; /* index into names */
    int64_t step, time_ns;
    double value;
};

struct orch_imported_run {
    const char *tool;                        /* "mlflow", "wandb", "tensorboard" */
    char *id;                                /* what the tool calls it by */
    char *name, *experiment, *user, *status; /* as the tool says; may be NULL */
    enum orch_verdict verdict;
    int64_t started_ns, ended_ns; /* 0: not said */
    json_t *params;               /* name -> number, boolean or text */
    json_t *results;              /* name -> number or "nan" */
    json_t *labels;               /* the tool's own notes: name -> text */
    GPtrArray *tags;              /* char * */
    GPtrArray *names;             /* of metrics: char * */
    GHashTable *name_index;
    GArray *points; /* struct orch_imported_point */
    bool is_cut;    /* a bound was met: not all of it is here */
};

struct orch_imported_run *orch_imported_run_new(const char *tool, const char *id);
void orch_imported_run_free(void *run);

/** Text as a parameter: what reads as a number or boolean becomes one. */
void orch_imported_param(struct orch_imported_run *run, const char *name, const char *text);
void orch_imported_result(struct orch_imported_run *run, const char *name, double value);
void orch_imported_label(struct orch_imported_run *run, const char *name, const char *text);
void orch_imported_point(struct orch_imported_run *run, const char *name, int64_t step,
                         int64_t time_ns, double value);

/** Writes the run under a key that follows from tool, id and content: the same one again adds
 * nothing. An earlier import of the same id with other content is hidden. `*out_added` false: it
 * was there. */
bool orch_store_put_imported(struct orch_store *store, struct orch_imported_run *run,
                             bool *out_added, GError **error);

/** The runs of MLflow's database, as a stranger's file: read-only, no views, bounded. Adds to
 * `runs` (struct orch_imported_run *) and `warnings` (char *). */
bool orch_mlflow_db_read(const char *path, GPtrArray *runs, GPtrArray *warnings, GError **error);

#endif
