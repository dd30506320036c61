/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Private to the files of claims. claims.c has the policy (who may take a claim, and when).
 * claims_git.c and claims_folder.c each implement a place, which stores one value for each resource
 * and changes it by compare-and-swap.
 */
#ifndef ORCH_FEATURES_SHARE_CLAIMS_PRIVATE_H
#define ORCH_FEATURES_SHARE_CLAIMS_PRIVATE_H

#include "features/share/remotes/claims.h"

/** The largest claim that is read, in bytes. */
#define CLAIMS_TEXT_MAX 4096
/** The largest point of a claim, in bytes of JSON: what a claim has room for beside long names. */
#define CLAIMS_POINT_MAX 2000
/** The maximum number of claims that are read from one remote. */
#define CLAIMS_MAX 100000

/* The stored value of a resource. */
struct claims_entry {
    char resource[ORCH_SHA256_CHARS];
    char *token;              /* the version that a swap compares: an object id or generation */
    struct orch_claim *claim; /* NULL: released or not readable, so the resource is free */
};
void orch_claims_entry_free(void *entry);

/* A change of one value. */
struct claims_change {
    const char *resource;
    const char *old_token; /* NULL: the resource must have no value */
    const char *text;      /* the claim; NULL: release it */
    char *new_token;       /* set when `done` and there is a value now; the caller frees */
    bool done;             /* false: another process changed the value first */
};

struct claims_place {
    void *self;
    bool is_own_clock; /* its times come from one clock, not from each member's */
    /** Appends struct claims_entry * of all resources to `out`. Entries of `known` (resource ->
     * struct claims_entry *; borrowed) whose token is unchanged need not be read again.
     * `*out_now_ns` is the current time at the place. */
    bool (*list)(void *self, GHashTable *known, GPtrArray *out, int64_t *out_now_ns,
                 GError **error);
    /** Changes each value independently. Returns false when the place cannot be reached, or
     * refuses. */
    bool (*swap)(void *self, struct claims_change *changes, unsigned count, GError **error);
    void (*free)(void *self);
};

/** Takes ownership of the place. */
struct orch_claims *orch_claims_new(const struct claims_place *place, const char *who);

/** Parses the untrusted text of a claim strictly. Returns NULL for everything that is not a claim
 * of exactly this resource. The caller frees. */
struct orch_claim *orch_claims_parse(const char *resource, const char *text, size_t length);

#endif
