/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trial as a training job, described independently of the platform that is to run it.
 *
 * The job runs orch itself: an image that contains orch and the repository starts the one trial of
 * the plan with 'orch run ... --part K/N', and exports it as a bundle into the job's output, which
 * 'orch db merge' reads. So a trial has the same fingerprint wherever it runs. */
#ifndef ORCH_FEATURES_CLOUD_TRAINING_JOB_H
#define ORCH_FEATURES_CLOUD_TRAINING_JOB_H

#include "core/plan/plan.h"
#include "features/cloud/training_instances.h"
#include "lib/devices/hardware.h"

/** What only the user knows: names in their account. All borrowed; NULL: not given. */
struct orch_job_account {
    const char *name;       /* of the job */
    const char *image;      /* container image with orch and the repository */
    const char *data;       /* where the data sets lie, which $ORCH_DATA becomes */
    const char *inputs;     /* where a bundle with the runs that the trial refers to lies */
    const char *out;        /* where the job writes its results */
    const char *role;       /* identity that the job runs as */
    const char *queue;      /* cluster, partition or compute target */
    const char *project;    /* space, workspace or namespace */
    const char *definition; /* watsonx: id of the stored model definition */
};

struct orch_job {
    struct orch_job_account account;
    char *name;  /* lower case letters, digits and '-', at most 50 characters */
    char *label; /* "finetune lr=0.01 #2" */
    char *recipe, *experiment, *plugin;
    char *fingerprint; /* "" while the trial refers to undecided runs */
    char *commit;      /* of the repository, or NULL */
    GPtrArray *words;  /* char *: the command, beginning with "orch" */
    json_t *params;    /* object: the trial's parameters as texts, without secrets */
    bool needs_inputs; /* the trial refers to other runs */
    unsigned gpus, cores, retries;
    int64_t memory_bytes;                          /* 0: not said */
    double limit_s;                                /* 0: none */
    char *limit_from;                              /* what the limit rests on */
    const struct orch_training_instance *instance; /* NULL: the platform or the user has none */
    const char *instance_name;                     /* chosen by the user, or that of `instance` */
};

/** Describes the item of a plan. `words` is taken over. Caller frees. */
struct orch_job *orch_job_new(const struct orch_plan *plan, const struct orch_plan_item *item,
                              const struct orch_job_account *account, GPtrArray *words);
void orch_job_free(struct orch_job *job);

/** Sets the time limit from the trial's time, `p95_s` (NaN: unknown), which rests on `basis`,
 * unless the recipe or the user limits the trial: `given_s` (0: not given). */
void orch_job_set_limit(struct orch_job *job, const struct orch_experiment *experiment,
                        double given_s, double p95_s, const char *basis);

/** The job's command as one line for a shell. The bundle is read from `inputs` (NULL: none) and
 * written into the folder `out`; both are texts of the shell. `data` (NULL: none) becomes
 * $ORCH_DATA. Caller frees. */
char *orch_job_shell_line(const struct orch_job *job, const char *data, const char *inputs,
                          const char *out);
/** The same as a list of arguments, of which none grows with the command: "sh", "-c", a script, and
 * the words of the command. New reference. */
json_t *orch_job_arguments(const struct orch_job *job, const char *inputs, const char *out);

#endif
