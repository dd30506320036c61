/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signatures of runs. A signature is a public note in JSON:
 *     {"format":1,"runs":["KEY DIGEST",...],"signature":"-----BEGIN..."}
 * The signed text is "orch runs 1\n" and a line "KEY DIGEST\n" for each run. The digest covers the
 * whole run including its author, so changing or renaming a signed run is detected. One signature
 * can cover a thousand runs.
 */
#ifndef ORCH_STORE_EXCHANGE_SIGNING_H
#define ORCH_STORE_EXCHANGE_SIGNING_H

#include "lib/vcs/identity.h"
#include "store/write/signature.h"

/** Signs every ended run of the current user that the user's signatures do not cover yet, with the
 * key in git's configuration of `dir`. A note in the user's name counts only when its signature is
 * a good one by the user, or by the key that signs here. The store must be open for writing.
 * Returns the number of runs signed, or -1 on error. */
int orch_sign_runs(struct orch_store *store, const char *dir, GError **error);

/** Compares a run named in a signature with the store. */
enum orch_signed {
    ORCH_SIGNED_HERE,    /* the store has it with that digest */
    ORCH_SIGNED_OTHER,   /* the store has it with another digest */
    ORCH_SIGNED_MISSING, /* it is not in the store, or is hidden */
};
struct orch_signed_run {
    char *key, *digest;
    enum orch_signed state;
    bool fits; /* HERE and its author is the signer; any author fits an unknown key */
};

/** The result of checking a signature. */
struct orch_signature_check {
    char *note, *who; /* the note's key, and its stated author */
    int64_t made_ns;
    enum orch_signature what;
    bool is_damaged; /* the note is malformed; `what` is then BAD */
    char *signer;    /* from orch_vcs_verify, or NULL */
    GPtrArray *runs; /* struct orch_signed_run * */
};

/** Maximum number of signatures checked for one run, because each check starts programs. */
#define ORCH_SIGNATURES_OF_RUN_MAX 100
/** Checks every signature of the store or, with `run_key`, the oldest ones that name that run, up
 * to the maximum. Returns struct orch_signature_check *, oldest first; the caller unrefs. NULL
 * when a signature cannot be checked (a program is missing). */
GPtrArray *orch_signatures_check(struct orch_store *store, const char *dir, const char *run_key,
                                 GError **error);

#endif
