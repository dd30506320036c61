/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs that another tracker recorded (MLflow, W&B, TensorBoard, Optuna), on their way into the
 * store. They are marked: their plugin is "import:TOOL", which is not a valid plugin name. They
 * have no fingerprint, so they are never reused for a trial, and no declared cost, so forecasts do
 * not learn from them. */
#ifndef ORCH_STORE_IMPORTED_H
#define ORCH_STORE_IMPORTED_H

#include "lib/wire/bounds.h"
#include "store/store.h"

#define ORCH_IMPORTED_POINTS_MAX 20000000 /* points of one run */
#define ORCH_IMPORTED_NAMES_MAX 10000     /* parameters or results of one run */
#define ORCH_IMPORTED_METRICS_MAX 4096    /* metrics of one run; the store takes no more */
#define ORCH_IMPORTED_PURGES_MAX 1000     /* resumed starts of one run */
#define ORCH_IMPORTED_TEXT_MAX (1 << 20)  /* bytes of a text */
#define ORCH_IMPORTED_MESSAGE_MAX 1000    /* bytes of a name, experiment, user or status */
#define ORCH_IMPORTED_LABEL_MAX 180       /* bytes of the name of a metric, parameter or result */

struct orch_imported_point {
    guint name; /* index into names */
    int64_t step, time_ns;
    double value;
};

struct orch_imported_run {
    const char *tool;                        /* "mlflow", "wandb", "tensorboard", "optuna" */
    char *id;                                /* the id of the run in that tool */
    char *name, *experiment, *user, *status; /* set by orch_imported_set_text; may be NULL */
    enum orch_verdict verdict;
    int64_t started_ns, ended_ns; /* 0: unknown */
    json_t *params;               /* name -> number, boolean or text; see orch_imported_settle */
    json_t *results;              /* name -> number or "nan" */
    json_t *labels;               /* labels given in the tool: name -> text */
    GPtrArray *tags;              /* char * */
    GPtrArray *names;             /* names of metrics: char * */
    GPtrArray *notes;             /* char *: what a user should know of the run; at most 20 */
    GHashTable *name_index;
    GArray *points;        /* struct orch_imported_point */
    bool is_cut;           /* a limit was reached, so part of the run is missing */
    bool has_more_metrics; /* more than ORCH_IMPORTED_METRICS_MAX, which are left out */
    bool is_settled;       /* the names are labels */
    unsigned purges;       /* calls of orch_imported_purge that removed points */
    char *fault; /* the first number that is out of range ("started_ns is ..."), or NULL */
};

struct orch_imported_run *orch_imported_run_new(const char *tool, const char *id);
void orch_imported_run_free(void *run);

/** Sets `*text`, a text of a run (name, experiment, user or status), to `bytes` as UTF-8, cut at
 * ORCH_IMPORTED_MESSAGE_MAX bytes, and frees the old one. NULL stays NULL. */
void orch_imported_set_text(char **text, const char *bytes);

/** Converts a time that the tool gave in units of `unit_ns` to nanoseconds; 0 means unknown. A time
 * out of range becomes the run's fault. */
int64_t orch_imported_ns(struct orch_imported_run *run, enum orch_bounded which, double time,
                         double unit_ns);

/** Adds a parameter. A text that is written as programs write numbers and booleans ("10", "0.1",
 * "1e-05", "True") becomes one; others ("00123", "1.10", "1_000", 20 digits) stay texts. */
void orch_imported_param(struct orch_imported_run *run, const char *name, const char *text);
/** Adds a parameter whose type is known: a number, boolean or text. Takes ownership of `value`. */
void orch_imported_param_json(struct orch_imported_run *run, const char *name, json_t *value);
void orch_imported_result(struct orch_imported_run *run, const char *name, double value);
/** Adds a sentence for the user to the run's notes, up to 20 in total. */
void orch_imported_note(struct orch_imported_run *run, const char *format, ...) G_GNUC_PRINTF(2, 3);
void orch_imported_label(struct orch_imported_run *run, const char *name, const char *text);
void orch_imported_point(struct orch_imported_run *run, const char *name, int64_t step,
                         int64_t time_ns, double value);

/** Removes the points at steps from `step` on, which a resumed run of the tool replaces. At most
 * ORCH_IMPORTED_PURGES_MAX times, because each looks at all points; then the run is cut. */
void orch_imported_purge(struct orch_imported_run *run, int64_t step);

/** Turns the tool's names into labels, in which some characters become '_'. Two names that become
 * one label are kept apart by a number, which is noted. To be called once the run is complete;
 * further calls change nothing. */
void orch_imported_settle(struct orch_imported_run *run);

/** The reason why the run cannot be stored: one of its numbers, including its times, is out of
 * range. NULL when it can be. Borrowed. */
const char *orch_imported_fault(struct orch_imported_run *run);

/** Writes the run, which must have no fault, under a key derived from tool, id and content, so that
 * importing the same run again adds nothing. An earlier import of the same id with other content is
 * hidden. `*out_added` is false when the run was already stored. */
bool orch_store_put_imported(struct orch_store *store, struct orch_imported_run *run,
                             bool *out_added, GError **error);

#endif
