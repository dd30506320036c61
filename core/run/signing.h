/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who stands for which runs. A signature is a public note: JSON
 *     {"format":1,"runs":["KEY DIGEST",...],"signature":"-----BEGIN..."}
 * and what is signed is the text "orch runs 1\n" and a line "KEY DIGEST\n" for each. A digest is
 * over all of a run, its author included, so a signed run cannot be changed or renamed unseen; one
 * signature serves a thousand runs.
 */
#ifndef ORCH_CORE_RUN_SIGNING_H
#define ORCH_CORE_RUN_SIGNING_H

#include "lib/vcs/identity.h"
#include "store/signature.h"

/** Signs, with the key that git's configuration of `dir` names, every ended run of who runs this
 * that none of their signatures names; a note in their name counts when its signature is theirs (a
 * good one of theirs, or by the key that signs here). The store must be open for writing. How many;
 * -1 on error. */
int orch_sign_runs(struct orch_store *store, const char *dir, GError **error);

/** How a run that a signature names stands here. */
enum orch_signed {
    ORCH_SIGNED_HERE,    /* it is here with that digest */
    ORCH_SIGNED_OTHER,   /* it is here with another digest */
    ORCH_SIGNED_MISSING, /* it is not here, or hidden */
};
struct orch_signed_run {
    char *key, *digest;
    enum orch_signed state;
    bool fits; /* HERE, and its author is the signer; always true of a key that nobody knows */
};

/** A judged signature. */
struct orch_signature_judged {
    char *note, *who; /* the note's key, and who is said to have made it */
    int64_t made_ns;
    enum orch_signature what;
    bool is_damaged; /* no signature of this form; then BAD */
    char *signer;    /* as orch_vcs_verify says, or NULL */
    GPtrArray *runs; /* struct orch_signed_run * */
};

/** Signatures that are judged when one run is asked about: programs are started for each. */
#define ORCH_SIGNATURES_OF_RUN_MAX 100
/** Judges every signature of the store, or with `run_key` those that name that run (the oldest, up
 * to the maximum), oldest first: struct orch_signature_judged *; the caller unrefs. NULL when one
 * cannot be judged (a program is missing). */
GPtrArray *orch_signatures_judge(struct orch_store *store, const char *dir, const char *run_key,
                                 GError **error);

#endif
