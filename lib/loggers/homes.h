/* SPDX-License-Identifier: MIT */
/* Folders and files outside the current one in which loggers keep values. */
#ifndef ORCH_LOGGERS_HOMES_H
#define ORCH_LOGGERS_HOMES_H

#include <glib.h>
#include <stdbool.h>

/** Absolute paths (char *), which need not exist, by an environment as g_get_environ gives it. The
 * caller unrefs. */
GPtrArray *orch_logger_homes(char **env);

#endif
