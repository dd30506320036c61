/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What signatures are about: which runs there are, and the notes of kind "signature". What such a
 * note says is a stranger's text; core/run/signing.h reads it. */
#ifndef ORCH_STORE_SIGNATURE_H
#define ORCH_STORE_SIGNATURE_H

#include "store/store.h"

/** A run by what a signature names. */
struct orch_run_digest {
    char *key, *digest, *who;
};
/** All ended runs that are not hidden, by key: struct orch_run_digest *; the caller unrefs. */
GPtrArray *orch_store_run_digests(struct orch_store *store, GError **error);

struct orch_signature_row {
    char *key, *text, *who; /* of the note; texts over 1 MiB are NULL */
    int64_t made_ns;
};
/** Notes of kind "signature", oldest first; with `run_key` those alone whose text has it somewhere.
 * struct orch_signature_row *; the caller unrefs. */
GPtrArray *orch_store_signatures(struct orch_store *store, const char *run_key, GError **error);

#endif
