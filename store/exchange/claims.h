/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims between machines: who runs which trial now, for a short time.
 *
 * A claim is by fingerprint, with the where_key where that matters, and says who, on which host,
 * and until when. It is taken atomically: on a git remote as a ref refs/orch/claims/HASH that must
 * not exist, in a shared folder as a file that must not exist. It is renewed while the trial runs
 * and given back when it ended. One that has expired may be taken over. Clocks may differ: the
 * worst that a wrong one does is that a trial runs twice.
 */
#ifndef ORCH_STORE_EXCHANGE_CLAIMS_H
#define ORCH_STORE_EXCHANGE_CLAIMS_H

#include "store/store.h"

#define ORCH_CLAIM_S 900 /* how long a claim holds without being renewed */

struct orch_claim {
    char resource[ORCH_SHA256_CHARS]; /* SHA-256 of what nobody else may run meanwhile */
    char *fingerprint, *where_key;    /* where_key NULL: anywhere */
    char *who, *host;
    int64_t made_ns, expires_ns;
};
void orch_claim_free(struct orch_claim *claim);

struct orch_claims;
/** Claims on a git remote (`repository` inside a work tree) or in a folder; exactly one is given.
 * `who`: of the claims that are made here. */
struct orch_claims *orch_claims_open_git(const char *repository, const char *remote,
                                         const char *who, GError **error);
struct orch_claims *orch_claims_open_folder(const char *folder, const char *who, GError **error);
/** Gives back what is still held. */
void orch_claims_close(struct orch_claims *claims);

/** Takes a claim. `*out_holder` NULL: it is ours; else it is held by another (to be freed). False:
 * the remote cannot be reached. */
bool orch_claims_take(struct orch_claims *claims, const char *fingerprint, const char *where_key,
                      struct orch_claim **out_holder, GError **error);
/** Renews all that are held and have used half of their time. */
bool orch_claims_renew(struct orch_claims *claims, GError **error);
bool orch_claims_give_back(struct orch_claims *claims, const char *fingerprint,
                           const char *where_key, GError **error);
/** All claims that have not expired: struct orch_claim *; the caller unrefs. */
GPtrArray *orch_claims_list(struct orch_claims *claims, GError **error);

#endif
