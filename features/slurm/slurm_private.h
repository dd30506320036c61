/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by slurm_submit.c, which finds the trials that can go now, slurm_batches.c, which makes
 * arrays of them, and slurm_array.c, which submits an array. */
#ifndef ORCH_FEATURES_SLURM_SLURM_PRIVATE_H
#define ORCH_FEATURES_SLURM_SLURM_PRIVATE_H

#include "features/slurm/slurm_submit.h"
#include "lib/base/interval.h"

/** What is forecast of a trial; NaN and 0 where there is no forecast. */
struct slurm_expected {
    struct orch_interval time_s;
    int64_t p95_bytes;
};

/** An element of an array: a job and its index; job 0: none. */
struct slurm_place {
    int64_t job;
    unsigned index;
};

/** A trial on its way into an array. */
struct slurm_element {
    unsigned item;
    unsigned index;
    struct slurm_expected expected;
    bool is_dropped; /* it needs no job: done or held by now */
    char key[ORCH_KEY_CHARS];
};

/** Trials that become one array. */
struct slurm_batch {
    GArray *elements;   /* struct slurm_element, ascending index */
    GPtrArray *options; /* char *, of sbatch */
    char *dependency;   /* "afterok:12_3", or NULL */
    struct orch_slurm_request request;
};

/** A trial that can be submitted now. */
struct slurm_ready {
    unsigned item;
    struct slurm_expected expected;
    struct orch_slurm_request request;
    GPtrArray *options;
    char *same;      /* equal for trials of one array: options and files of references */
    GArray *deps;    /* struct slurm_place */
    char *deps_text; /* "12_3:12_4"; "": none */
};

/** Why a trial of the plan is not submitted, if that is decided. */
enum slurm_fate { SLURM_OPEN = 0, SLURM_HELD_BACK, SLURM_GIVEN_UP };

struct slurm_submitter {
    struct orch_plan *plan;
    const struct orch_slurm_submit_options *options;
    struct orch_slurm_submission *out;
    struct slurm_place *places; /* one for each item of the plan: where it was submitted */
    enum slurm_fate *fates;     /* one for each item of the plan */
    char *host_program;
    struct orch_process self;
    unsigned array_size;
    double planned_s;   /* device seconds forecast for what is submitted */
    double *expected_s; /* the share of each item of the plan in `planned_s` */
};

/** Leaves a trial out of the submission, because what it refers to does not exist. The others are
 * submitted. */
void orch_slurm_give_up(struct slurm_submitter *s, unsigned index, const char *why);
/** Makes the item ready. `deps`: struct slurm_place, of which a reference is taken. `memory_bytes`:
 * expected, 0: unknown. */
struct slurm_ready *orch_slurm_ready_new(const struct slurm_submitter *s, unsigned index,
                                         GArray *deps, int64_t memory_bytes);
void orch_slurm_ready_free(void *ready);
/** Submits trials (struct slurm_ready *) in arrays. */
bool orch_slurm_round_submit(struct slurm_submitter *s, const GPtrArray *all, GError **error);
/** Claims the trials of a batch, makes their folders, and submits them. Adds the array to `out`. */
bool orch_slurm_batch_submit(struct slurm_submitter *s, struct slurm_batch *batch, GError **error);

/** Lets trials go on that their search's rule has stopped, as long as fewer trials of searches are
 * open than a batch. */
bool orch_slurm_promote(struct slurm_submitter *s, GError **error);
/** Chooses the point of an item of a search, if its search goes on and has fewer open trials than
 * a batch. */
bool orch_slurm_choose(struct slurm_submitter *s, unsigned index, bool *out_is_chosen,
                       GError **error);

#endif
