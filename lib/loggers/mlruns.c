/* SPDX-License-Identifier: MIT */
/* MLflow's file store: EXPERIMENT/RUN/meta.yaml, and beside it metrics/NAME with lines
 * "milliseconds value step", and params/NAME with a text. A name with '/' is a path of folders. */
#include "lib/loggers/log_lines.h"
#include "lib/loggers/log_values.h"

#include "lib/base/json.h"

#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/loggers/yaml_lines.h"

#include <string.h>

enum { LINE_BYTES_MAX = 4096, PARAM_BYTES_MAX = 1 << 16, META_BYTES_MAX = 1 << 16 };

struct reader {
    struct orch_log_text in;
    char *name; /* of the metric or parameter */
};

/* ---- paths ---------------------------------------------------------------------------- */

/* The first folder of that name ("/metrics/") in whose parent a run is described. NULL: none. */
static const char *part_of(const char *path, const char *folder)
{
    for (const char *at = strstr(path, folder); at; at = strstr(at + 1, folder)) {
        g_autofree char *run = g_strndup(path, (gsize)(at - path));
        g_autofree char *meta = g_build_filename(run, "meta.yaml", NULL);
        if (*run && at[strlen(folder)] && g_file_test(meta, G_FILE_TEST_IS_REGULAR))
            return at;
    }
    return NULL;
}

static bool knows_metric(const char *path, const char *head, size_t length)
{
    (void)head;
    (void)length;
    return part_of(path, "/metrics/") != NULL;
}

static bool knows_param(const char *path, const char *head, size_t length)
{
    (void)head;
    (void)length;
    return part_of(path, "/params/") != NULL;
}

static char *place(const char *path)
{
    const char *at = part_of(path, "/metrics/");
    at = at ? at : part_of(path, "/params/");
    return at ? g_strndup(path, (gsize)(at - path)) : g_strdup(path);
}

/* ---- reading -------------------------------------------------------------------------- */

static void take_about(void *ctx, const char *name, const char *text, bool is_quoted)
{
    const struct orch_log_sink *sink = ctx;
    (void)is_quoted;
    if (strcmp(name, "run_name") == 0)
        sink->about(sink->ctx, "name", text);
}

static void say_name(const struct orch_log_sink *sink, const char *path)
{
    g_autofree char *run = place(path), *meta = g_build_filename(run, "meta.yaml", NULL);
    g_autofree char *text = NULL;
    if (sink->about && orch_file_read(meta, META_BYTES_MAX, &text, NULL, NULL))
        orch_yaml_lines(text, take_about, (void *)(uintptr_t)sink);
}

static void *open_part(const struct orch_log_sink *sink, const char *path, const char *folder)
{
    struct reader *reader = orch_log_text_open(sink, sizeof *reader);
    const char *at = part_of(path, folder);
    reader->name = at ? g_strdup(at + strlen(folder)) : g_path_get_basename(path);
    if (at)
        say_name(sink, path);
    return reader;
}

static void *open_metric(const struct orch_log_sink *sink, const char *path)
{
    return open_part(sink, path, "/metrics/");
}

static void *open_param(const struct orch_log_sink *sink, const char *path)
{
    return open_part(sink, path, "/params/");
}

static void close_reader(void *pointer)
{
    struct reader *reader = pointer;
    g_free(reader->name);
    orch_log_text_close(reader);
}

/* Takes the complete line; one that is no point is passed over. */
static const char *take_line(void *pointer)
{
    struct reader *reader = pointer;
    g_auto(GStrv) words = g_strsplit(g_strstrip(reader->in.text->str), " ", 4);
    int64_t step = 0;
    double ms, value;
    if (g_strv_length(words) >= 2 && orch_real_parse(words[0], &ms) &&
        orch_log_number(words[1], &value) && (!words[2] || orch_int_parse(words[2], &step)))
        reader->in.sink->point(reader->in.sink->ctx, reader->name, step, ms / 1e3, value);
    g_string_truncate(reader->in.text, 0);
    return NULL;
}

static const char *feed_lines(void *pointer, const uint8_t *bytes, size_t length)
{
    struct reader *reader = pointer;
    return orch_log_feed_lines(reader->in.text, bytes, length, LINE_BYTES_MAX,
                               "a line is longer than 4 KiB", take_line, reader);
}

/* MLflow ends every line: one that is not is cut off, and may lack digits. */
static const char *finish_lines(void *pointer)
{
    const struct reader *reader = pointer;
    return reader->in.text->len ? "its last line is cut off" : NULL;
}

static const char *feed_text(void *reader, const uint8_t *bytes, size_t length)
{
    return orch_log_text_add(reader, bytes, length, PARAM_BYTES_MAX, "it is larger than 64 KiB");
}

static const char *finish_text(void *pointer)
{
    struct reader *reader = pointer;
    g_autoptr(json_t) value = orch_log_text_value(reader->in.text->str);
    orch_log_take_setting(reader->in.sink, reader->name, value);
    g_string_truncate(reader->in.text, 0);
    return NULL;
}

const struct orch_logger ORCH_LOGGER_MLRUNS = {
    .name = "mlflow",
    .knows = knows_metric,
    .place = place,
    .open = open_metric,
    .feed = feed_lines,
    .defaults_to_0 = true,
    .finish = finish_lines,
    .close = close_reader,
    .is_apart = true,
};

const struct orch_logger ORCH_LOGGER_MLRUNS_PARAM = {
    .name = "mlflow",
    .knows = knows_param,
    .place = place,
    .open = open_param,
    .feed = feed_text,
    .finish = finish_text,
    .close = close_reader,
    .is_rewritten = true,
    .is_document = true,
    .is_apart = true,
};
