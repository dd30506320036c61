/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who somebody is, and that it was them: names and signatures by git's own configuration. */
#ifndef ORCH_VCS_IDENTITY_H
#define ORCH_VCS_IDENTITY_H

#include <glib.h>
#include <stdbool.h>

/** "Ada Lovelace <ada@example.org>" from user.name and user.email as git has them for `dir` (NULL:
 * the current folder); the name alone without an address; NULL: git does not know. The caller
 * frees. */
char *orch_vcs_identity(const char *dir);

/** Does git's configuration of `dir` ask for signatures (orch.sign)? */
bool orch_vcs_signs(const char *dir);

/** A detached signature of a text with the key and the program that git's configuration of `dir`
 * names (gpg.format openpgp or ssh, user.signingKey, gpg.program, gpg.ssh.program). The caller
 * frees. ORCH_ERROR_USAGE with the command that sets a key up: there is none. */
char *orch_vcs_sign(const char *dir, const char *text, GError **error);

enum orch_signature {
    ORCH_SIGNATURE_GOOD,        /* by a key that is known here, of `*out_signer` */
    ORCH_SIGNATURE_UNKNOWN_KEY, /* fits the text; nobody here says whose key it is */
    ORCH_SIGNATURE_BAD,         /* does not fit the text, or is none */
};
/** Judges a signature (gpg.ssh.allowedSignersFile, or the user's key ring). `*out_signer` (the
 * caller frees): principal or user id of a GOOD one, fingerprint of an UNKNOWN_KEY (an expired
 * key counts as unknown, a revoked one as BAD), else NULL.
 * False when it cannot be judged (program missing). */
bool orch_vcs_verify(const char *dir, const char *text, const char *signature,
                     enum orch_signature *out, char **out_signer, GError **error);

#endif
