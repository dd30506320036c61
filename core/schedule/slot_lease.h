/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An entry in the list of CPUs and GPUs that trials of this machine use (slot_leases.h). */
#ifndef ORCH_CORE_SCHEDULE_SLOT_LEASE_H
#define ORCH_CORE_SCHEDULE_SLOT_LEASE_H

#include "core/recipe/needs.h"
#include "lib/base/ident.h"

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/** A GPU or MIG instance, or a share of it. */
struct orch_lease_gpu {
    char *name; /* its UUID, "GPU-..." or "MIG-..."; "gpu 0" where the driver tells none */
    unsigned millionths;
};

struct orch_lease {
    struct orch_process runner;
    uid_t uid;
    char key[ORCH_KEY_CHARS]; /* of the trial; "" in the entry of a waiting run */
    char *trial_dir;          /* NULL in the entry of a waiting run */
    char *what;               /* "hw4 finetune": recipe and experiment */
    int64_t since_ns;         /* orch_boot_ns */
    bool is_alone;   /* waits for an empty machine, and keeps trials away that declare needs */
    bool yields;     /* its CPUs were not declared: others take different ones if they can, and
                        nobody waits for them */
    bool is_waiting; /* the run waits: for any of `gpus`, and for CPUs with `lacks_cpus` */
    bool lacks_cpus;
    GArray *cpus;    /* int: the kernel's numbers */
    GPtrArray *gpus; /* struct orch_lease_gpu * */
    bool is_dead;    /* its runner died, and its trial is still ending */
};
struct orch_lease *orch_lease_new(void);
void orch_lease_free(struct orch_lease *lease);
/** Adds a GPU; the name is copied. */
void orch_lease_add_gpu(struct orch_lease *lease, const char *name, unsigned millionths);
/** True for an entry of exactly this process. */
bool orch_lease_is_of(const struct orch_lease *lease, const struct orch_process *process);
/** "orch run of hw4 finetune by alice (pid 4711), since 14:02:11". Caller frees. */
char *orch_lease_text(const struct orch_lease *lease);

/** "GPU-5c2b (0.5), CPUs 0-3": what the entry holds or waits for. Caller frees. */
char *orch_lease_resources(const struct orch_lease *lease);
/** The entry as an object for people and programs. New reference. */
json_t *orch_lease_json(const struct orch_lease *lease);

/** The entry as it stands in a user's file. New reference. */
json_t *orch_lease_encode(const struct orch_lease *lease);
/** The entry of a user from the file; NULL for one that cannot be understood. Its texts are safe
 * for a terminal. */
struct orch_lease *orch_lease_decode(const json_t *json, uid_t uid);

#endif
