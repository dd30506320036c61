/* SPDX-License-Identifier: MIT */
/* The file of a run of SwanLab since 0.10, run-ID.swanlab, offline and online. Its records, as far
 * as they are read (protos/swanlab of its repository):
 *
 *     Record  10 start  11 finish  13 scalar
 *     Start   1 project  4 name  6 tags  12 started_at {1 seconds}
 *     Finish  1 state (1 finished)
 *     Scalar  1 key  2 step  4 timestamp {1 seconds  2 nanoseconds}  5 value {1 double}
 *
 * Keys that begin with "__swanlab__." are the machine's use. */
#include "lib/loggers/log_values.h"
#include "lib/loggers/record_log.h"

#include <math.h>
#include <string.h>

enum { NAME_BYTES_MAX = 1000 };

/* ---- records -------------------------------------------------------------------------- */

/* Seconds since 1970. */
static double time_of(struct orch_protobuf stamp)
{
    struct orch_protobuf_field field;
    double s = 0, ns = 0;
    while (orch_protobuf_field(&stamp, &field))
        if (field.type == 0)
            *(field.number == 1 ? &s : &ns) = (double)(int64_t)field.value;
    return s + ns / 1e9;
}

/* The number that a value holds; 0 is not written. */
static double value_of(struct orch_protobuf value)
{
    struct orch_protobuf_field field;
    double number = 0;
    while (orch_protobuf_field(&value, &field))
        if (field.number == 1 && field.type == 1)
            number = orch_protobuf_double(field.value);
    return number;
}

static void take_scalar(const struct orch_log_sink *sink, struct orch_protobuf scalar)
{
    struct orch_protobuf_field field;
    g_autofree char *key = NULL;
    double value = NAN, time_s = NAN;
    bool has_value = false;
    int64_t step = 0;
    while (orch_protobuf_field(&scalar, &field)) {
        if (field.number == 1 && field.type == 2) {
            g_free(key);
            key = orch_protobuf_text(field.inner, NAME_BYTES_MAX + 1);
        } else if (field.number == 2 && field.type == 0) {
            step = (int64_t)field.value;
        } else if (field.number == 4 && field.type == 2) {
            time_s = time_of(field.inner);
        } else if (field.number == 5 && field.type == 2) {
            value = value_of(field.inner);
            has_value = true;
        }
    }
    bool is_name = key && *key && strlen(key) <= NAME_BYTES_MAX && g_utf8_validate(key, -1, NULL);
    if (has_value && is_name && !g_str_has_prefix(key, "__swanlab__."))
        sink->point(sink->ctx, key, step, time_s, value);
}

static void take_start(const struct orch_log_sink *sink, struct orch_protobuf start)
{
    static const char *const texts[] = {[1] = "experiment", [4] = "name", [6] = "tag"};
    struct orch_protobuf_field field;
    while (orch_protobuf_field(&start, &field)) {
        if (field.type != 2)
            continue;
        if (field.number < G_N_ELEMENTS(texts) && texts[field.number] && sink->about) {
            g_autofree char *text = orch_protobuf_text(field.inner, NAME_BYTES_MAX);
            sink->about(sink->ctx, texts[field.number], text);
        } else if (field.number == 12 && sink->started) {
            sink->started(sink->ctx, time_of(field.inner));
        }
    }
}

static void take_record(const struct orch_log_sink *sink, struct orch_protobuf record)
{
    struct orch_protobuf_field field;
    while (orch_protobuf_field(&record, &field)) {
        if (field.type != 2)
            continue;
        if (field.number == 10)
            take_start(sink, field.inner);
        else if (field.number == 11 && sink->ended)
            sink->ended(sink->ctx, orch_record_log_number(&field, 0) == 1 ? "success" : "failure");
        else if (field.number == 13)
            take_scalar(sink, field.inner);
    }
}

/* ---- the file ------------------------------------------------------------------------- */

static const struct record_log_format FORMAT = {":SWL", "it does not begin as a file of SwanLab",
                                                take_record};

/* Behind the name stand a number of two bytes and the version. Before 2 records were JSON. */
static bool knows(const char *path, const char *head, size_t length)
{
    (void)path;
    return length >= 7 && memcmp(head, FORMAT.begin, 4) == 0 && head[6] == 2;
}

static void *open_reader(const struct orch_log_sink *sink, const char *path)
{
    (void)path;
    return orch_record_log_open(sink, &FORMAT);
}

const struct orch_logger ORCH_LOGGER_SWANLAB = {
    .name = "swanlab",
    .ends = (const char *const[]){".swanlab", NULL},
    .knows = knows,
    .place = g_path_get_dirname,
    .open = open_reader,
    .feed = orch_record_log_feed,
    .finish = orch_record_log_finish,
    .close = orch_record_log_close,
    .is_apart = true,
};
