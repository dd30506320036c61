/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which CPUs and GPUs a trial gets, given what others of this machine use and wait for. */
#ifndef ORCH_CORE_SCHEDULE_SLOT_CHOICE_H
#define ORCH_CORE_SCHEDULE_SLOT_CHOICE_H

#include "core/schedule/schedule_private.h"
#include "core/schedule/slot_leases.h"

/** The list as this run sees it, and the trial that asks. */
struct orch_slot_question {
    struct run *run;
    const struct orch_experiment *experiment;
    const struct orch_machine *machine;
    struct orch_run_slot *slot;
    GPtrArray *others;          /* const struct orch_lease *: of trials of other runs */
    GPtrArray *ahead;           /* const struct orch_lease *: runs that have waited longer */
    struct orch_lease *waiting; /* this run's waiting entry in the list, or NULL */
    GHashTable *busy;           /* CPUs of this run's trials, and those that others declared */
    GHashTable *yielding;       /* CPUs that others have without having declared them */
    bool avoids_yielding;       /* there are enough CPUs without those */
    struct orch_lease *wish;    /* what the trial must wait for, when `by` is set */
    const struct orch_lease *by;
    char *missing; /* "GPU 0", "2 of the 4 CPUs" */
    char *news;    /* what to tell the user once the list is unlocked, or NULL */
};

/** The entry of a running trial that asked for the whole machine, or NULL. */
const struct orch_lease *orch_slot_alone(const struct orch_slot_question *a);
/** The entry of a trial that holds a GPU which the chosen slot only sees, or NULL. */
const struct orch_lease *orch_slot_gpu_holder(const struct orch_slot_question *a);
/** Sorts the list into `others`, `ahead` and `waiting`. A run inside a trial (its program calls
 * orch) has what the trial has; it waits for nobody who may wait for that trial. */
void orch_slot_sort_out(struct orch_slot_question *a, const struct orch_slot_leases *leases);
/** Fills the slot. True when the trial has what it needs; otherwise the slot is not to be used, and
 * `by` is NULL where this run's own trials use what is missing, else `wish` and `missing` are set.
 */
bool orch_slot_choose(struct orch_slot_question *a);

#endif
