/* SPDX-License-Identifier: MIT */
/* Error convention: GError in this domain. A message is lower case without a full stop, optionally
 * followed by the lines "  at: file:line:column" and "  hint: a command or an edit". Only core/cli
 * prints it, after "orch: ". The error carries its hint besides: whoever wants the two apart asks
 * orch_error_what and orch_error_hint, and nobody looks for them in the text. */
#ifndef ORCH_BASE_ERROR_H
#define ORCH_BASE_ERROR_H

#include <glib.h>

/** Kind of failure; core/cli maps each to an exit status. */
enum orch_error_code {
    ORCH_ERROR_TRIAL = 1,   /* a trial failed: exit 1 */
    ORCH_ERROR_USAGE,       /* command line: exit 2 */
    ORCH_ERROR_RECIPE,      /* recipe, manifest or other text from the user: exit 2 */
    ORCH_ERROR_STORE,       /* the store cannot be used: exit 3 */
    ORCH_ERROR_IO,          /* files, network, exchange: exit 3 */
    ORCH_ERROR_NOT_FOUND,   /* a named thing does not exist: exit 2 */
    ORCH_ERROR_PLUGIN,      /* plugin that cannot be used: exit 4 */
    ORCH_ERROR_PROTOCOL,    /* a plugin or host broke the wire protocol: exit 1 */
    ORCH_ERROR_BUDGET,      /* stopped by budget or deadline: exit 6 */
    ORCH_ERROR_CHECK,       /* a verification failed: exit 7 */
    ORCH_ERROR_INTERRUPTED, /* exit 130 */
    ORCH_ERROR_TRUST,       /* a plugin that the user has not trusted: exit 4 */
    ORCH_ERROR_NO_PLUGIN,   /* a plugin that is not there: exit 4 */
};

#define ORCH_ERROR (orch_error_quark())
GQuark orch_error_quark(void);

/** Sets `*error`, unless `error` is NULL, to the message, with "\n  hint: HINT" if hint is not
 * NULL. The hint may have several lines. The message may hold bytes of a file or of another library
 * (a name, a word of a damaged database): what is not UTF-8 is replaced, so that JSON can hold it.
 */
void orch_error_set(GError **error, enum orch_error_code code, const char *hint, const char *format,
                    ...) G_GNUC_PRINTF(4, 5);

/** The hint of an error; NULL if it has none or is of another domain. Borrowed from the error. */
const char *orch_error_hint(const GError *error);
/** The message without the hint. Caller frees. */
char *orch_error_what(const GError *error);

/** Cuts the hint off an error text from another process. Returns the hint, borrowed from `text`, or
 * NULL if there is none. */
const char *orch_hint_cut(char *text);

/** Like orch_error_set, followed by ": " and the text of errno, with a hint for common causes
 * (permissions, full disk). */
void orch_error_set_errno(GError **error, enum orch_error_code code, int saved_errno,
                          const char *format, ...) G_GNUC_PRINTF(4, 5);

#endif
