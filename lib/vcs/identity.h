/* SPDX-License-Identifier: GPL-3.0-or-later */
/* User identities and signatures, according to git's configuration. */
#ifndef ORCH_VCS_IDENTITY_H
#define ORCH_VCS_IDENTITY_H

#include <glib.h>
#include <stdbool.h>

/** "Ada Lovelace <ada@example.org>" from git's user.name and user.email in `dir` (NULL: current
 * folder); only the name if there is no address; NULL if git has no name. Caller frees. */
char *orch_vcs_identity(const char *dir);

/** True if git's configuration in `dir` requests signatures (orch.sign). */
bool orch_vcs_signs(const char *dir);

/** Makes a detached signature of a text with the key and program of git's configuration in `dir`
 * (gpg.format openpgp or ssh, user.signingKey, gpg.program, gpg.ssh.program). Caller frees. Without
 * a key fails with ORCH_ERROR_USAGE and the command that sets one up. */
char *orch_vcs_sign(const char *dir, const char *text, GError **error);

enum orch_signature {
    ORCH_SIGNATURE_GOOD,        /* by a known key, of `*out_signer` */
    ORCH_SIGNATURE_UNKNOWN_KEY, /* valid for the text, but the key's owner is unknown here */
    ORCH_SIGNATURE_BAD,         /* not valid for the text, or not a signature */
};
/** Verifies a signature (with gpg.ssh.allowedSignersFile or the user's key ring). `*out_signer`
 * (caller frees) is the principal or user id if GOOD, the fingerprint if UNKNOWN_KEY (which
 * includes expired keys; revoked ones are BAD), else NULL. Returns false if it cannot be verified
 * (program missing). */
bool orch_vcs_verify(const char *dir, const char *text, const char *signature,
                     enum orch_signature *out, char **out_signer, GError **error);

#endif
