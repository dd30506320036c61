/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows that signatures need: the runs, and the notes of kind "signature". The text of such a
 * note is untrusted; store/exchange/signing.h parses it. */
#ifndef ORCH_STORE_SIGNATURE_H
#define ORCH_STORE_SIGNATURE_H

#include "store/store.h"

/** The fields of a run that a signature covers. */
struct orch_run_digest {
    char *key, *digest, *who;
};
/** All ended runs that are not hidden, by key: struct orch_run_digest *; the caller unrefs. */
GPtrArray *orch_store_run_digests(struct orch_store *store, GError **error);

struct orch_signature_row {
    char *key, *text, *who; /* of the note; NULL for texts over 1 MiB */
    int64_t made_ns;
};
/** Notes of kind "signature", oldest first; with `run_key`, only those whose text contains it.
 * struct orch_signature_row *; the caller unrefs. */
GPtrArray *orch_store_signatures(struct orch_store *store, const char *run_key, GError **error);

#endif
