/* SPDX-License-Identifier: MIT */
/* The files of a run of W&B and SwanLab: records of Protocol Buffers in LevelDB's log format. That
 * is blocks of 32 KiB; a record is whole (1) or in parts (2 first, 3 middle, 4 last), each preceded
 * by the CRC-32 of its type and bytes, its length and its type. Fewer than seven bytes at the end
 * of a block are padding. Seven bytes at the beginning name the tool. */
#ifndef ORCH_LOGGERS_RECORD_LOG_H
#define ORCH_LOGGERS_RECORD_LOG_H

#include "lib/base/protobuf.h"
#include "lib/loggers/loggers.h"

struct record_log_format {
    const char *begin;   /* the first four bytes of a file */
    const char *another; /* why a file that begins otherwise is not read */
    void (*take)(const struct orch_log_sink *sink, struct orch_protobuf record);
};

void *orch_record_log_open(const struct orch_log_sink *sink,
                           const struct record_log_format *format);
/** Members of struct orch_logger. */
const char *orch_record_log_feed(void *reader, const uint8_t *bytes, size_t length);
const char *orch_record_log_finish(void *reader);
void orch_record_log_close(void *reader);

/** The number in field 1 of the message in a field, as in a time stamp; `otherwise` when there is
 * none. */
int64_t orch_record_log_number(const struct orch_protobuf_field *field, int64_t otherwise);

#endif
