/* SPDX-License-Identifier: MIT */
/* A file that a trial's logger writes, followed while it grows. A file that is written anew, as
 * loggers of tables do when they get another column, is read again from its beginning; its sink is
 * told, so that no value counts twice. */
#ifndef ORCH_LOGGERS_LOGGED_FILE_H
#define ORCH_LOGGERS_LOGGED_FILE_H

#include "lib/loggers/loggers.h"

struct logged_file;

typedef void logged_file_again(void *ctx);

/** Begins to follow a file from its first byte. Of a database the runs that began at
 * `since_ns` (UTC) or later are read. `again` is called before the file is read from its beginning
 * once more; `sink` and `again` get `sink->ctx`. */
struct logged_file *orch_logged_file_new(const char *path, const struct orch_logger *logger,
                                         int64_t since_ns, const struct orch_log_sink *sink,
                                         logged_file_again *again);
void orch_logged_file_free(struct logged_file *file);

/** Reads what is new, at most `most` bytes. Returns true when there is more. */
bool orch_logged_file_read(struct logged_file *file, size_t most);
/** Reads the end of a file that is complete, after orch_logged_file_read has returned false. */
void orch_logged_file_finish(struct logged_file *file);
/** Ends the reading. `why` is borrowed; the first reason stays. */
void orch_logged_file_stop(struct logged_file *file, const char *why);

/** Why nothing more is read of the file; NULL: it is read. */
const char *orch_logged_file_why(const struct logged_file *file);
/** True when another trial of this machine writes the file, too. */
bool orch_logged_file_is_shared(const struct logged_file *file);

#endif
