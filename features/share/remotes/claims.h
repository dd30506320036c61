/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims between machines: short-lived records of who runs which trial.
 *
 * A claim is made for a fingerprint, with the device_key where that matters, and contains the user,
 * the host and the time when it expires; that of a trial of a search its point, too, so that the
 * searches of others know where it is. It is taken atomically: on a git remote as a ref
 * refs/orch/claims/HASH that must not exist, in a shared folder as a file that must not exist. It
 * is renewed while the trial runs and released when it ends. An expired claim may be taken over,
 * and so may one's own of a process of this machine that was killed. When clocks differ, the worst
 * outcome is that a trial runs twice.
 */
#ifndef ORCH_FEATURES_SHARE_CLAIMS_H
#define ORCH_FEATURES_SHARE_CLAIMS_H

#include "lib/base/file.h"
#include "store/store.h"

#include <jansson.h>

#define ORCH_CLAIM_S 900 /* seconds until a claim expires unless it is renewed */
/** The value in effect: $ORCH_CLAIM_S (for tests; 1 to 86400 s), else ORCH_CLAIM_S. */
double orch_claim_seconds(void);

struct orch_claim {
    char resource[ORCH_SHA256_CHARS]; /* SHA-256 of what must not run twice at the same time */
    char *fingerprint, *device_key;   /* device_key NULL: any device */
    char *who, *host;                 /* safe to display */
    char *process;                    /* of the holder: "BOOT PIDS PID"; NULL: not known */
    int64_t made_ns, expires_ns;      /* by this machine's clock */
    json_t *point; /* the trial's point of a search: name -> value as text; NULL: none is known */
    bool is_ours;  /* taken through this struct orch_claims */
};
void orch_claim_free(struct orch_claim *claim);
/** The caller frees. */
struct orch_claim *orch_claim_copy(const struct orch_claim *claim);
/** The resource of a trial: SHA-256 of "trial FINGERPRINT", followed by " at DEVICE_KEY" unless
 * that is NULL. */
void orch_claim_resource(const char *fingerprint, const char *device_key,
                         char out[ORCH_SHA256_CHARS]);

struct orch_claims;
/** Opens the claims on a git remote or in a folder. `repository` is a folder inside a work tree;
 * when it is in none, a private repository in `store_folder` is used (NULL: an error). `who` is the
 * user who takes claims here. */
struct orch_claims *orch_claims_open_git(const char *repository, const char *store_folder,
                                         const char *remote, const char *who, GError **error);
struct orch_claims *orch_claims_open_folder(const char *folder, const char *who, GError **error);
/** Releases all claims that are still held. */
void orch_claims_close(struct orch_claims *claims);

/** Takes a claim. `point`: of a trial of a search (an object of texts, copied), else NULL; one that
 * is too large for a claim is left out. On success `*out_holder` is NULL; when another process
 * holds it, `*out_holder` is its claim, which the caller frees. Returns false when the remote
 * cannot be reached. */
bool orch_claims_take(struct orch_claims *claims, const char *fingerprint, const char *device_key,
                      const json_t *point, struct orch_claim **out_holder, GError **error);
/** Renews all held claims that have used half of their time, in one request. Makes no request when
 * there is none. A claim that another process has taken over is no longer held. */
bool orch_claims_renew(struct orch_claims *claims, GError **error);
bool orch_claims_give_back(struct orch_claims *claims, const char *fingerprint,
                           const char *device_key, GError **error);
/** Releases all held claims in one request, which also deletes other members' claims that expired
 * more than a day ago. Makes no request when none is held. */
bool orch_claims_give_back_all(struct orch_claims *claims, GError **error);
/** All claims that have not expired, including our own: struct orch_claim *, oldest first; the
 * caller unrefs. */
GPtrArray *orch_claims_list(struct orch_claims *claims, GError **error);

#endif
