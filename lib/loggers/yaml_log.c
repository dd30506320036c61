/* SPDX-License-Identifier: MIT */
/* metrics.yaml, as DVC has it: results by name. hparams.yaml and params.yaml (Lightning, DVCLive):
 * settings. */
#include "lib/loggers/log_lines.h"
#include "lib/loggers/log_values.h"

#include "lib/base/json.h"

#include "lib/loggers/yaml_lines.h"

#include <math.h>
#include <string.h>

enum { BYTES_MAX = 1 << 20, DEPTH_MAX = 16, NAME_BYTES_MAX = 1000 };

/* ---- lines ---------------------------------------------------------------------------- */

/* The maps in which a line stands. */
struct maps {
    int indents[DEPTH_MAX];
    size_t lengths[DEPTH_MAX]; /* of `name` without the map at that depth */
    int depth;
    GString *name;
};

/* Leaves the maps that a line with that indent does not belong to. */
static void leave(struct maps *maps, int indent)
{
    while (maps->depth && maps->indents[maps->depth - 1] >= indent)
        g_string_truncate(maps->name, maps->lengths[--maps->depth]);
}

static bool enter(struct maps *maps, int indent, const char *key)
{
    if (maps->depth == DEPTH_MAX || maps->name->len + strlen(key) > NAME_BYTES_MAX)
        return false;
    maps->indents[maps->depth] = indent;
    maps->lengths[maps->depth++] = maps->name->len;
    g_string_append_printf(maps->name, "%s%s", maps->name->len ? "." : "", key);
    return true;
}

/* Removes quotes around a text, or a comment behind it. True for quotes. */
static bool unquote(char *text)
{
    size_t length = strlen(text);
    bool is_quoted = length >= 2 && (*text == '"' || *text == '\'') && text[length - 1] == *text;
    char *comment = is_quoted ? NULL : strstr(text, " #");
    if (is_quoted) {
        text[length - 1] = 0;
        memmove(text, text + 1, length - 1);
    } else if (comment) {
        *comment = 0;
        g_strchomp(text);
    }
    return is_quoted;
}

/* The end of the key of a line: a colon before a space or the line's end. NULL: it has none. */
static char *key_end(char *line)
{
    for (char *colon = strchr(line, ':'); colon; colon = strchr(colon + 1, ':'))
        if (!colon[1] || colon[1] == ' ')
            return colon;
    return NULL;
}

void orch_yaml_lines(const char *text,
                     void (*leaf)(void *ctx, const char *name, const char *value, bool is_quoted),
                     void *ctx)
{
    struct maps maps = {.name = g_string_new(NULL)};
    for (const char *at = text, *end; *at; at = end + (*end != 0)) {
        end = at + strcspn(at, "\n");
        g_autofree char *line = g_strchomp(g_strndup(at, (gsize)(end - at)));
        int indent = (int)strspn(line, " ");
        char *key = line + indent, *colon = key_end(key);
        if (!*key || *key == '#' || *key == '-' || !colon)
            continue;
        *colon = 0;
        char *value = g_strchug(colon + 1);
        leave(&maps, indent);
        unquote(key);
        bool is_map = !*value || *value == '#';
        bool is_other = *value && strchr("[{|>&*!", *value);
        if (is_other || !enter(&maps, indent, key) || is_map)
            continue;
        bool is_quoted = unquote(value);
        leaf(ctx, maps.name->str, value, is_quoted);
    }
    g_string_free(maps.name, TRUE);
}

/* ---- reading -------------------------------------------------------------------------- */

static bool knows(const char *path, const char *head, size_t length)
{
    (void)path;
    return length && memchr(head, ':', length) != NULL;
}

static void *open_reader(const struct orch_log_sink *sink, const char *path)
{
    (void)path;
    return orch_log_text_open(sink, sizeof(struct orch_log_text));
}

static const char *feed(void *reader, const uint8_t *bytes, size_t length)
{
    return orch_log_text_add(reader, bytes, length, BYTES_MAX, "it is larger than 1 MiB");
}

/* A number in YAML may be ".nan" and ".inf". */
static void take_result(void *ctx, const char *name, const char *value, bool is_quoted)
{
    const struct orch_log_sink *sink = ctx;
    double number;
    bool is_negative = *value == '-', has_dot = value[is_negative] == '.';
    const char *word = value + is_negative + has_dot;
    if (is_quoted || !sink->result || !g_utf8_validate(name, -1, NULL))
        return;
    if (has_dot && !g_ascii_isdigit(*word) && orch_log_number(word, &number))
        sink->result(sink->ctx, name, is_negative ? -number : number);
    else if (orch_log_number(value, &number))
        sink->result(sink->ctx, name, number);
}

static void take_setting(void *ctx, const char *name, const char *value, bool is_quoted)
{
    g_autofree char *valid = g_utf8_make_valid(value, -1);
    g_autoptr(json_t) json = is_quoted ? json_string(valid) : orch_log_text_value(value);
    if (g_utf8_validate(name, -1, NULL))
        orch_log_take_setting(ctx, name, json);
}

static const char *finish_results(void *pointer)
{
    struct orch_log_text *reader = pointer;
    orch_yaml_lines(reader->text->str, take_result, (void *)(uintptr_t)reader->sink);
    g_string_truncate(reader->text, 0);
    return NULL;
}

static const char *finish_settings(void *pointer)
{
    struct orch_log_text *reader = pointer;
    orch_yaml_lines(reader->text->str, take_setting, (void *)(uintptr_t)reader->sink);
    g_string_truncate(reader->text, 0);
    return NULL;
}

const struct orch_logger ORCH_LOGGER_YAML = {
    .name = "yaml",
    .ends = (const char *const[]){"/metrics.yaml", "/metrics.yml", NULL},
    .stand_in = "/metrics.yaml",
    .knows = knows,
    .open = open_reader,
    .feed = feed,
    .finish = finish_results,
    .close = orch_log_text_close,
    .is_rewritten = true,
    .is_document = true,
};

const struct orch_logger ORCH_LOGGER_YAML_SETTINGS = {
    .name = "yaml",
    .ends = (const char *const[]){"/hparams.yaml", "/params.yaml", NULL},
    .knows = knows,
    .open = open_reader,
    .feed = feed,
    .finish = finish_settings,
    .close = orch_log_text_close,
    .is_rewritten = true,
    .is_document = true,
};
