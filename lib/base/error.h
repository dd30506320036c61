/* SPDX-License-Identifier: MIT */
/* The one error convention: GError in this domain. A message is lower case without a full stop and
 * may go on with lines "  at: file:line:column" and "  hint: a command or an edit"; only core/cli
 * prints it, behind "orch: ". */
#ifndef ORCH_BASE_ERROR_H
#define ORCH_BASE_ERROR_H

#include <glib.h>

/** What kind of failure; core/cli maps each to the exit status. */
enum orch_error_code {
    ORCH_ERROR_TRIAL = 1,   /* a trial failed: exit 1 */
    ORCH_ERROR_USAGE,       /* command line: exit 2 */
    ORCH_ERROR_RECIPE,      /* recipe, manifest or other text of the user's: exit 2 */
    ORCH_ERROR_STORE,       /* the store cannot be used: exit 3 */
    ORCH_ERROR_IO,          /* files, network, exchange: exit 3 */
    ORCH_ERROR_NOT_FOUND,   /* a named thing does not exist: exit 2 */
    ORCH_ERROR_PLUGIN,      /* plugin missing or incompatible: exit 4 */
    ORCH_ERROR_PROTOCOL,    /* a plugin or host broke the wire protocol: exit 1 */
    ORCH_ERROR_BUDGET,      /* stopped by budget or deadline: exit 6 */
    ORCH_ERROR_CHECK,       /* a verification failed: exit 7 */
    ORCH_ERROR_INTERRUPTED, /* exit 130 */
    ORCH_ERROR_TRUST,       /* a plugin that the user has not trusted: exit 4 */
};

#define ORCH_ERROR (orch_error_quark())
GQuark orch_error_quark(void);

/** Sets `*error` (when error is not NULL) to "what", with "\n  hint: hint" when hint is not NULL.
 */
void orch_error_set(GError **error, enum orch_error_code code, const char *hint, const char *format,
                    ...) G_GNUC_PRINTF(4, 5);

/** As orch_error_set, from errno: ends in ": " and its text, and hints at the usual cures
 * (permissions, full disk). */
void orch_error_set_errno(GError **error, enum orch_error_code code, int saved_errno,
                          const char *format, ...) G_GNUC_PRINTF(4, 5);

#endif
