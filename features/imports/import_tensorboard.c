/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TensorBoard's event files: TFRecord frames (length, masked CRC32C of it, bytes, masked CRC32C of
 * them) that hold an Event of Protocol Buffers. This reader uses its time, step and summary, and
 * the summary values that hold one number: simple_value, or a tensor of one float, double or
 * integer.
 *
 *     Event        1 wall_time (double)  2 step (varint)  5 summary  7 session_log
 *     Summary      1 value (repeated)
 *     Value        1 tag  2 simple_value (float)  8 tensor  9 metadata
 *     SessionLog   1 status (1: START)
 *     TensorProto  1 dtype  2 shape  4 tensor_content  5 float_val  6 double_val  7 int_val
 *                  10 int64_val
 *
 * A START of a session discards, as TensorBoard does, the points from its step on that were read so
 * far: a run that was resumed writes them again ('purge_step').
 *
 * The hyperparameters (add_hparams) are in the metadata of a value, as the content of the plugin
 * "hparams":
 *
 *     Metadata           1 plugin_data
 *     PluginData         1 plugin_name  2 content
 *     HParamsPluginData  3 session_start_info  4 session_end_info
 *     SessionStartInfo   1 hparams (map of names to google.protobuf.Value)
 *     SessionEndInfo     1 status (1 success, 2 failure, 3 running)
 *     Value              2 number (double)  3 text  4 boolean
 *
 * Reading stops at a truncated frame or a wrong checksum; the frames before it are kept.
 */
#include "features/imports/import_runs.h"
#include "features/imports/protobuf.h"

#include "lib/base/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FRAME_BYTES_MAX = 64 << 20, DT_FLOAT = 1, DT_DOUBLE = 2 };

/* ---- frames -----------------------------------------------------------------------------------
 */

static uint32_t masked_crc(const uint32_t table[256], const uint8_t *bytes, size_t length)
{
    uint32_t crc = orch_protobuf_crc(table, 0, bytes, length);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* The bytes of the next frame; NULL at the end, with `*out_why` when the file is damaged there. */
static uint8_t *next_frame(FILE *file, const uint32_t table[256], size_t *out_length,
                           const char **out_why)
{
    uint8_t head[12], tail[4];
    size_t n = fread(head, 1, sizeof head, file);
    *out_why = n == 0 ? NULL : "it is cut off";
    if (n < sizeof head)
        return NULL;
    uint64_t length = orch_protobuf_little(head, 8);
    *out_why = "a checksum is wrong";
    if (masked_crc(table, head, 8) != orch_protobuf_little(head + 8, 4))
        return NULL;
    *out_why = "a record is larger than 64 MiB";
    if (length > FRAME_BYTES_MAX)
        return NULL;
    *out_why = "it is cut off";
    g_autofree uint8_t *bytes = g_malloc(length + 1);
    if (fread(bytes, 1, length, file) != length || fread(tail, 1, 4, file) != 4)
        return NULL;
    *out_why = "a checksum is wrong";
    if (masked_crc(table, bytes, length) != orch_protobuf_little(tail, 4))
        return NULL;
    *out_why = NULL;
    *out_length = length;
    return g_steal_pointer(&bytes);
}

/* ---- values ------------------------------------------------------------------------------------
 */

/* The value of a tensor with exactly one number; false for other tensors. */
static bool tensor_value(struct orch_protobuf tensor, double *out)
{
    struct orch_protobuf_field field;
    uint64_t dtype = 0, inner;
    int count = 0;
    struct orch_protobuf content = {0};
    while (orch_protobuf_field(&tensor, &field)) {
        size_t bytes = (size_t)(field.inner.end - field.inner.at);
        if (field.number == 1 && field.type == 0) {
            dtype = field.value;
        } else if (field.number == 4 && field.type == 2) {
            content = field.inner;
        } else if (field.number == 5 && (field.type == 5 || (field.type == 2 && bytes == 4))) {
            *out = orch_protobuf_float(field.type == 5 ? field.value
                                                       : orch_protobuf_little(field.inner.at, 4));
            count++;
        } else if (field.number == 6 && (field.type == 1 || (field.type == 2 && bytes == 8))) {
            *out = orch_protobuf_double(field.type == 1 ? field.value
                                                        : orch_protobuf_little(field.inner.at, 8));
            count++;
        } else if ((field.number == 7 || field.number == 10) && field.type != 1 &&
                   field.type != 5) {
            bool ok = field.type == 0;
            inner = field.value;
            if (!ok)
                ok =
                    orch_protobuf_varint(&field.inner, &inner) && field.inner.at == field.inner.end;
            *out = (double)(int64_t)inner;
            count += ok ? 1 : 2;
        } else if (field.number >= 5 && field.number != 16) {
            count += 2; /* not one number: several numbers, or a text */
        }
    }
    size_t bytes = (size_t)(content.end - content.at);
    if (count == 0 && dtype == DT_FLOAT && bytes == 4)
        *out = orch_protobuf_float(orch_protobuf_little(content.at, 4));
    else if (count == 0 && dtype == DT_DOUBLE && bytes == 8)
        *out = orch_protobuf_double(orch_protobuf_little(content.at, 8));
    else
        return count == 1;
    return true;
}

/* ---- hyperparameters --------------------------------------------------------------------------
 */

/* Returns the first field of that number that holds bytes; an empty message when there is none. */
static struct orch_protobuf bytes_of(struct orch_protobuf message, uint32_t number)
{
    static const uint8_t nothing[1];
    struct orch_protobuf_field field;
    while (orch_protobuf_field(&message, &field))
        if (field.number == number && field.type == 2)
            return field.inner;
    return (struct orch_protobuf){nothing, nothing};
}

/* Adds one entry of the map of hyperparameters: 1 key, 2 value. */
static void take_hparam(struct orch_imported_run *run, struct orch_protobuf entry)
{
    enum { NAME_MAX_BYTES = 1000 };
    char number[ORCH_REAL_CHARS];
    g_autofree char *name = orch_protobuf_text(bytes_of(entry, 1), NAME_MAX_BYTES);
    struct orch_protobuf value = bytes_of(entry, 2);
    struct orch_protobuf_field field;
    while (*name && orch_protobuf_field(&value, &field)) {
        if (field.number == 2 && field.type == 1) {
            orch_imported_param(run, name,
                                orch_real_format(orch_protobuf_double(field.value), number));
        } else if (field.number == 3 && field.type == 2) {
            g_autofree char *text = orch_protobuf_text(field.inner, ORCH_IMPORTED_TEXT_MAX);
            orch_imported_param(run, name, text);
        } else if (field.number == 4 && field.type == 0) {
            orch_imported_param(run, name, field.value ? "true" : "false");
        }
    }
}

static void take_end(struct orch_imported_run *run, struct orch_protobuf end)
{
    static const struct {
        const char *status;
        enum orch_verdict verdict;
    } ends[] = {[1] = {"success", ORCH_VERDICT_OK},
                [2] = {"failure", ORCH_VERDICT_FAILED},
                [3] = {"running", ORCH_VERDICT_LOST}};
    struct orch_protobuf_field field;
    while (orch_protobuf_field(&end, &field))
        if (field.number == 1 && field.type == 0 && field.value >= 1 &&
            field.value < G_N_ELEMENTS(ends)) {
            orch_imported_set_text(&run->status, ends[field.value].status);
            run->verdict = ends[field.value].verdict;
        }
}

static void take_metadata(struct orch_imported_run *run, struct orch_protobuf metadata)
{
    static const char plugin[] = "hparams";
    struct orch_protobuf data = bytes_of(metadata, 1), name = bytes_of(data, 1);
    struct orch_protobuf_field field;
    if ((size_t)(name.end - name.at) != strlen(plugin) ||
        memcmp(name.at, plugin, strlen(plugin)) != 0)
        return;
    struct orch_protobuf content = bytes_of(data, 2), start = bytes_of(content, 3);
    while (orch_protobuf_field(&start, &field))
        if (field.number == 1 && field.type == 2)
            take_hparam(run, field.inner);
    take_end(run, bytes_of(content, 4));
}

/* ---- events ------------------------------------------------------------------------------------
 */

static bool is_start(struct orch_protobuf session_log)
{
    struct orch_protobuf_field field;
    bool is = false;
    while (orch_protobuf_field(&session_log, &field))
        is = is || (field.number == 1 && field.type == 0 && field.value == 1);
    return is;
}

static void take_value(struct orch_imported_run *run, struct orch_protobuf value, int64_t step,
                       int64_t time_ns)
{
    struct orch_protobuf_field field;
    g_autofree char *tag = NULL;
    double number = 0;
    bool has_number = false;
    while (orch_protobuf_field(&value, &field)) {
        if (field.number == 1 && field.type == 2 && !tag)
            tag = g_strndup((const char *)field.inner.at,
                            MIN((size_t)(field.inner.end - field.inner.at), (size_t)1000));
        else if (field.number == 2 && field.type == 5) {
            number = orch_protobuf_float(field.value);
            has_number = true;
        } else if (field.number == 8 && field.type == 2) {
            has_number = tensor_value(field.inner, &number) || has_number;
        } else if (field.number == 9 && field.type == 2) {
            take_metadata(run, field.inner);
        }
    }
    if (tag && *tag && has_number)
        orch_imported_point(run, tag, step, time_ns, number);
}

static void take_event(struct orch_imported_run *run, const uint8_t *bytes, size_t length)
{
    struct orch_protobuf event = {bytes, bytes + length}, again = event;
    struct orch_protobuf_field field, value;
    int64_t step = 0, time_ns = 0;
    while (orch_protobuf_field(&event, &field)) {
        if (field.number == 1 && field.type == 1) {
            double seconds = orch_protobuf_double(field.value);
            time_ns = orch_imported_ns(run, ORCH_BOUNDED_TIME_NS, seconds, 1e9);
        } else if (field.number == 2 && field.type == 0) {
            step = (int64_t)field.value;
        }
    }
    while (orch_protobuf_field(&again, &field)) {
        if (field.number == 7 && field.type == 2 && is_start(field.inner))
            orch_imported_purge(run, step);
        if (field.number != 5 || field.type != 2)
            continue;
        while (orch_protobuf_field(&field.inner, &value))
            if (value.number == 1 && value.type == 2)
                take_value(run, value.inner, step, time_ns);
    }
}

/* ---- files ------------------------------------------------------------------------------------
 */

bool orch_import_is_event_file(const char *name)
{
    return strstr(name, ".tfevents.") != NULL;
}

static void read_file(struct orch_imported_run *run, const char *path, GPtrArray *warnings)
{
    uint32_t table[256];
    struct stat info;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    FILE *file =
        fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? fdopen(fd, "rb") : NULL;
    if (!file) {
        orch_import_warn(warnings, "'%s' cannot be read", path);
        if (fd >= 0)
            close(fd);
        return;
    }
    orch_protobuf_crc_table(table, PROTOBUF_CRC32C);
    const char *why = NULL;
    size_t length;
    uint8_t *bytes;
    while ((bytes = next_frame(file, table, &length, &why))) {
        take_event(run, bytes, length);
        g_free(bytes);
    }
    if (why)
        orch_import_warn(warnings, "'%s' is read up to byte %ld: %s", path, ftell(file), why);
    fclose(file);
}

void orch_import_tensorboard(const char *folder, const char *name, GPtrArray *runs,
                             GPtrArray *warnings)
{
    g_autoptr(GPtrArray) entries = orch_import_entries(folder);
    struct orch_imported_run *run = orch_imported_run_new("tensorboard", name);
    orch_imported_set_text(&run->name, name);
    for (guint i = 0; i < entries->len; i++) {
        g_autofree char *path = g_build_filename(folder, entries->pdata[i], NULL);
        if (orch_import_is_event_file(entries->pdata[i]))
            read_file(run, path, warnings);
    }
    if (run->points->len || json_object_size(run->params)) {
        g_ptr_array_add(runs, run);
        return;
    }
    orch_import_warn(warnings, "'%s' has no scalars", folder);
    orch_imported_run_free(run);
}
