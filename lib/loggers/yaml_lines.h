/* SPDX-License-Identifier: MIT */
/* The plain YAML that loggers write: maps of maps in block style, whose leaves are scalars of one
 * line. Lists, flow style and blocks of text are passed over. orch-host, which reads a trial's
 * files, has no YAML library (lib/yaml), because it starts once a trial. */
#ifndef ORCH_LOGGERS_YAML_LINES_H
#define ORCH_LOGGERS_YAML_LINES_H

#include <stdbool.h>

/** Calls `leaf` for each scalar, with the names of its maps before its own: "train.loss". */
void orch_yaml_lines(const char *text,
                     void (*leaf)(void *ctx, const char *name, const char *value, bool is_quoted),
                     void *ctx);

#endif
