/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to features/pack: statement.dsse.json of a signed pack. It is an in-toto statement (v1)
 * with the digests of the pack's files and a SLSA provenance (v1) as its predicate, in a DSSE
 * envelope. The signature is that of git's program and key over the envelope's pre-authentication
 * encoding: an SSH signature of the namespace "orch", or one of OpenPGP. */
#ifndef ORCH_FEATURES_PACK_STATEMENT_H
#define ORCH_FEATURES_PACK_STATEMENT_H

#include "features/pack/unpack.h"

#define ORCH_STATEMENT_FILE "statement.dsse.json"

/** What a statement is about. Borrowed. */
struct orch_statement_of {
    const GPtrArray *files;     /* struct orch_pack_file * */
    const char *recipe;         /* as typed */
    const char *tree, *commit;  /* git's ids of the source; each may be NULL */
    const char *made, *version; /* ISO 8601; of orch */
};

/** Returns the signed envelope. The key is that of git's configuration in `dir`. NULL on error. The
 * caller frees. */
char *orch_statement_sign(const struct orch_statement_of *of, const char *dir, GError **error);

/** Says who signed the pack as a whole, "the pack by Ada <...>"; NULL: nobody. What does not fit is
 * added to the pack's problems. The caller frees. */
char *orch_statement_judge(struct orch_pack *pack);

#endif
