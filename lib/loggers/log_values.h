/* SPDX-License-Identifier: MIT */
/* JSON in the files of loggers: numbers that become points or results, and settings. Members of
 * inner objects have the names of both, "train.loss". */
#ifndef ORCH_LOGGERS_LOG_VALUES_H
#define ORCH_LOGGERS_LOG_VALUES_H

#include "lib/loggers/loggers.h"

/** How the numbers of an object are passed on. */
struct orch_log_row {
    const struct orch_log_sink *sink;
    const int64_t *step; /* NULL: they are results */
    double time_s;       /* NAN: unknown */
    bool has_booleans;   /* true and false count as 1 and 0 */
};

/** Passes on the numbers of an object, except a member of that name (NULL: none) and objects that
 * stand for a file or a chart (a member "_type"). */
void orch_log_take_numbers(const struct orch_log_row *row, json_t *object, const char *except);
/** Passes on a setting, and each member of an object by itself. Lists are texts of JSON. */
void orch_log_take_setting(const struct orch_log_sink *sink, const char *name, json_t *value);
/** A text that a tool wrote for a value, as the number or boolean that it stands for. The caller
 * unrefs. */
json_t *orch_log_text_value(const char *text);

/** Parses JSON as Python writes it, in which NaN and Infinity stand bare. NULL: it is none. */
json_t *orch_log_json(const char *text, size_t length, size_t most);

#endif
