/* SPDX-License-Identifier: MIT */
/* Loggers that keep a trial's values where orch does not read them: on a server, or in a database
 * of their own. A script that uses one imports its module. */
#ifndef ORCH_LOGGERS_UNREAD_H
#define ORCH_LOGGERS_UNREAD_H

#include <glib.h>

/** Adds to `out` for each such logger that a Python source imports: its module -> why its values
 * are not read, with the way out (both char *). `env`: as g_get_environ gives it. */
void orch_log_unread(const char *source, char **env, GHashTable *out);

#endif
