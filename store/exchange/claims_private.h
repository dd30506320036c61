/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between the files of claims: claims.c has the policy (who may take what, and when), claims_git.c
 * and claims_folder.c a place where each resource holds one value that is changed by
 * compare-and-swap.
 */
#ifndef ORCH_STORE_EXCHANGE_CLAIMS_PRIVATE_H
#define ORCH_STORE_EXCHANGE_CLAIMS_PRIVATE_H

#include "store/exchange/claims.h"

/** The longest claim that is read, in bytes. */
#define CLAIMS_TEXT_MAX 4096
/** More claims than this on one remote are not read. */
#define CLAIMS_MAX 100000

/* What stands under a resource. */
struct claims_entry {
    char resource[ORCH_SHA256_CHARS];
    char *token;              /* what a swap compares: object id, generation */
    struct orch_claim *claim; /* NULL: given back, or not to be read: free */
};
void claims_entry_free(void *entry);

/* One value to be changed. */
struct claims_change {
    const char *resource;
    const char *old_token; /* NULL: there must be nothing */
    const char *text;      /* the claim; NULL: it is given back */
    char *new_token;       /* set when `done`, and something is there now; the caller frees */
    bool done;             /* false: somebody else was first */
};

struct claims_place {
    void *self;
    bool is_own_clock; /* its times are those of one clock, not of each member's */
    /** Adds struct claims_entry * of all resources to `out`. Entries of `known` (resource -> struct
     * claims_entry *; borrowed) whose token is the same need not be read again. `*out_now_ns`: the
     * place's time. */
    bool (*list)(void *self, GHashTable *known, GPtrArray *out, int64_t *out_now_ns,
                 GError **error);
    /** Changes each value on its own. False: the place cannot be reached, or refuses. */
    bool (*swap)(void *self, struct claims_change *changes, unsigned count, GError **error);
    void (*free)(void *self);
};

/** Takes the place over. */
struct orch_claims *claims_new(const struct claims_place *place, const char *who);

/** A claim from its text, as strict as a stranger's needs: NULL for anything that does not name
 * just this resource. The caller frees. */
struct orch_claim *claims_parse(const char *resource, const char *text, size_t length);

#endif
