/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder of one trial, made before its host starts and read when the trial has ended. */
#ifndef ORCH_CORE_RECORD_TRIALDIR_H
#define ORCH_CORE_RECORD_TRIALDIR_H

#include "core/plan/plan.h"

/** The price of an hour of one device. */
struct orch_device_price {
    double usd_per_hour; /* 0: not known */
    const char *from;    /* its source; borrowed; NULL: not known */
};

/** The resources assigned to a running trial. */
struct orch_run_slot {
    char key[ORCH_KEY_CHARS]; /* of the trial's run; "": orch_trialdir_prepare makes one */
    unsigned index;
    unsigned gpus[64]; /* indices into the machine's GPUs */
    unsigned gpu_count;
    unsigned gpu_millionths; /* of each GPU; 0 and 1,000,000: all of it */
    bool only_sees_gpus;     /* holds none of them (orch_experiment_sees_gpus) */
    int threads;
    int leased[1024];      /* numbers of the CPUs that no other trial uses meanwhile */
    unsigned leased_count; /* fewer than `threads` where trials share CPUs */
    int cpus[1024];        /* CPU numbers to pin to */
    unsigned cpu_count;    /* 0: not pinned */
    int node;              /* NUMA node of `cpus`; -1: several */
    const char *topology;  /* the source of the pinning: "hwloc", "/sys"; NULL: not pinned */
    bool is_leased;        /* the list of slots has an entry of it (slot_leases.h) */
    unsigned co_runners;   /* other trials on this machine that were running when it started */
    struct orch_device_price
        price;                /* of one of its GPUs or its share of one, else of the machine */
    bool is_apart;            /* runs from the captured tree in a folder apart, not in the user's */
    const json_t *submission; /* facts of the submission, when the plan's executor runs the trial;
                                 else NULL */
};

struct orch_trialdir {
    char key[ORCH_KEY_CHARS];
    char *path;     /* absolute; made by orch_trialdir_write */
    char *record;   /* JSON text: the data for the store that the journal lacks */
    json_t *params; /* as passed to the trial: references resolved, paths absolute */
    /* references to trials that have not ended, which the trial's host resolves when it starts
     * (core/host/batch_job.h); NULL: none */
    json_t *refs;
};

/** Collects the data of a new run of `item` without writing anything. The run is claimed before its
 * folder is made, so that a folder without an active row can always be removed. `chosen` holds, for
 * each reference of the cell, the item it resolves to. */
bool orch_trialdir_prepare(struct orch_plan *plan, const struct orch_plan_item *item,
                           const unsigned *chosen, const struct orch_run_slot *slot,
                           const char *argv_json, struct orch_trialdir *out, GError **error);
/** Makes the folder with trial.json. A program of the user's starts in the user's folder, as by
 * hand. One that runs apart gets the files of the captured tree in the trial's folder: copies up to
 * a budget, then symbolic links into .orch/results.db.d/work/<tree>. Returns false on error and
 * leaves nothing behind. */
bool orch_trialdir_write(struct orch_plan *plan, const struct orch_plan_item *item,
                         const struct orch_run_slot *slot, const struct orch_trialdir *trialdir,
                         GError **error);
void orch_trialdir_clear(struct orch_trialdir *trialdir);

/** The path of a fingerprint's checkpoints, or of a run's (by its key) when several runs of one
 * fingerprint are in progress. The caller frees. */
char *orch_checkpoint_path(struct orch_store *store, const char *name);

#endif
