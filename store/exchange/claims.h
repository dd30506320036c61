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

#include "lib/base/file.h"
#include "store/store.h"

#define ORCH_CLAIM_S 900 /* how long a claim holds without being renewed */
/** The same in effect: $ORCH_CLAIM_S (for tests; 1 to 86400), else ORCH_CLAIM_S. */
double orch_claim_seconds(void);

struct orch_claim {
    char resource[ORCH_SHA256_CHARS]; /* SHA-256 of what nobody else may run meanwhile */
    char *fingerprint, *where_key;    /* where_key NULL: anywhere */
    char *who, *host;                 /* safe to be shown */
    int64_t made_ns, expires_ns;      /* by this machine's clock */
    bool is_ours;                     /* made by these very claims */
};
void orch_claim_free(struct orch_claim *claim);
/** The caller frees. */
struct orch_claim *orch_claim_copy(const struct orch_claim *claim);
/** The resource of a trial: SHA-256 of "trial FINGERPRINT", with " at WHERE_KEY" unless NULL. */
void orch_claim_resource(const char *fingerprint, const char *where_key,
                         char out[ORCH_SHA256_CHARS]);

struct orch_claims;
/** Claims on a git remote or in a folder. `repository`: a folder inside a work tree; where it is in
 * none, a private repository in `store_folder` is used (NULL: that is an error). `who`: of the
 * claims that are made here. */
struct orch_claims *orch_claims_open_git(const char *repository, const char *store_folder,
                                         const char *remote, const char *who, GError **error);
struct orch_claims *orch_claims_open_folder(const char *folder, const char *who, GError **error);
/** Gives back what is still held. */
void orch_claims_close(struct orch_claims *claims);

/** Takes a claim. `*out_holder` NULL: it is ours; else it is held by another (to be freed). False:
 * the remote cannot be reached. */
bool orch_claims_take(struct orch_claims *claims, const char *fingerprint, const char *where_key,
                      struct orch_claim **out_holder, GError **error);
/** Renews all that are held and have used half of their time, together. Costs nothing when none
 * has. One that somebody else took over meanwhile is not held any more. */
bool orch_claims_renew(struct orch_claims *claims, GError **error);
bool orch_claims_give_back(struct orch_claims *claims, const char *fingerprint,
                           const char *where_key, GError **error);
/** Gives back all that are held, together; and takes away what others left behind a day ago, if any
 * was held. */
bool orch_claims_give_back_all(struct orch_claims *claims, GError **error);
/** All claims that have not expired, ours too: struct orch_claim *, oldest first; the caller
 * unrefs. */
GPtrArray *orch_claims_list(struct orch_claims *claims, GError **error);

#endif
