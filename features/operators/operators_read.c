/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/operators/operators.h"

#include "features/operators/fuse_attention.h"
#include "features/operators/operators_reading.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

#define LINE_MAX_BYTES ((size_t)1 << 20)
#define OPERATORS_MAX 1000000
#define TOKENS_MAX ((int64_t)1 << 24)

/* ---- sizes -------------------------------------------------------------------------------------
 */

/* A factor with letters: "12b", "bs"; the batch is 1. */
static bool read_open_size(const struct operators_reading *r, const char *text, int64_t *out)
{
    char *end = NULL;
    gint64 factor = g_ascii_isdigit(*text) ? g_ascii_strtoll(text, &end, 10) : 1;
    const char *letter = end ? end : text;
    bool ok = factor >= 0 && factor <= OPERATORS_ELEMENTS_MAX && *letter && strlen(letter) <= 4;
    *out = factor;
    for (; ok && *letter; letter++)
        ok = *letter == 'b' ? !r->is_batch_fixed
             : *letter == 's'
                 ? r->sequence > 0 && !__builtin_mul_overflow(*out, r->sequence, out) &&
                       *out <= OPERATORS_ELEMENTS_MAX
                 : false;
    return ok;
}

static bool read_sizes(const struct operators_reading *r, const json_t *list,
                       struct operators_sizes *out, GError **error)
{
    *out = (struct operators_sizes){.count = 1};
    if (!json_is_array(list) || json_array_size(list) > OPERATORS_RANK_MAX)
        return orch_operators_fail(r, error, "a shape must be a list of at most %d sizes",
                                   OPERATORS_RANK_MAX);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *size = json_array_get(list, i);
        int64_t value = json_is_integer(size) ? json_integer_value(size) : -1;
        if (json_is_string(size) && !read_open_size(r, json_string_value(size), &value))
            value = -1;
        const char *letter = json_is_string(size) ? strchr(json_string_value(size), 'b') : NULL;
        if (letter && (out->is_of_batch || strchr(letter + 1, 'b')))
            return orch_operators_fail(r, error, "a shape names the batch size 'b' twice");
        out->is_of_batch |= letter != NULL;
        if (value < 0 || __builtin_mul_overflow(out->count, value, &out->count) ||
            out->count > OPERATORS_ELEMENTS_MAX)
            return orch_operators_fail(r, error, "a size in a shape is too large or not a number");
        out->dims[out->rank++] = value;
    }
    return true;
}

/* ---- lines -------------------------------------------------------------------------------------
 */

static void free_parameter(gpointer pointer)
{
    struct operators_parameter *p = pointer;
    g_free(p->name);
    g_free(p);
}

static void note(GPtrArray *notes, char *text)
{
    if (notes)
        g_ptr_array_add(notes, text);
    else
        g_free(text);
}

/* Text of the file in a message: printable, and not endless. Caller frees. */
static char *shown(const char *text)
{
    g_autofree char *some = g_utf8_substring(text, 0, MIN(g_utf8_strlen(text, -1), 200));
    return orch_json_escape_hidden(some);
}

/* Sets the number of tokens: those that are asked for, else the file's. */
static bool set_sequence(struct operators_reading *r, const json_t *fixed,
                         struct orch_net_shape input, GError **error)
{
    const char *why = orch_json_text(fixed, "sequence", NULL);
    r->sequence = r->made_with;
    if (!input.h || !r->made_with || input.h == r->made_with)
        return true;
    if (why) {
        g_autofree char *text = shown(why);
        orch_error_set(error, ORCH_ERROR_USAGE, "export the model again with the length you need",
                       "'%s': the length of its sequences is fixed at %" G_GINT64_FORMAT
                       " tokens (%s)",
                       r->file, r->made_with, text);
        return false;
    }
    r->sequence = input.h;
    return true;
}

static bool read_header(struct operators_reading *r, const json_t *line,
                        struct orch_net_shape input, GPtrArray *notes, GError **error)
{
    const json_t *fixed = json_object_get(line, "fixed");
    const char *why = orch_json_text(fixed, "batch", NULL);
    r->made_with = json_integer_value(json_object_get(line, "sequence"));
    r->batch = json_integer_value(json_object_get(line, "batch"));
    r->is_batch_fixed = why != NULL;
    if (strcmp(orch_json_text(line, "format", ""), "orch operators") != 0)
        return orch_operators_fail(r, error, "the line lacks \"format\": \"orch operators\"");
    if (orch_json_int(line, "version", 0) != 1)
        return orch_operators_fail(r, error, "the version is %d, not 1",
                                   (int)orch_json_int(line, "version", 0));
    if (r->batch < 1 || r->batch > TOKENS_MAX || r->made_with < 0 || r->made_with > TOKENS_MAX)
        return orch_operators_fail(r, error,
                                   "'batch' or 'sequence' in the first line is out of range");
    g_autofree char *text = why ? shown(why) : NULL;
    if (why)
        note(notes, g_strdup_printf("'%s': the batch of %" G_GINT64_FORMAT
                                    " is fixed (%s), so orch counts a whole batch as one sample: "
                                    "--batch 2 means 2 such batches",
                                    r->file, r->batch, text));
    const char *axis = orch_json_text(fixed, "batch_axis", NULL);
    g_autofree char *where = axis ? shown(axis) : NULL;
    if (axis)
        note(notes, g_strdup_printf("'%s': %s", r->file, where));
    return set_sequence(r, fixed, input, error);
}

static bool read_parameter(struct operators_reading *r, const json_t *line, GError **error)
{
    const char *name = orch_json_text(line, "parameter", NULL);
    if (!name || !*name || g_hash_table_contains(r->parameters, name))
        return orch_operators_fail(r, error, "a parameter's name is missing or used twice");
    struct operators_parameter p = {.is_trained =
                                        !json_is_false(json_object_get(line, "trainable"))};
    if (!read_sizes(r, json_object_get(line, "shape"), &p.sizes, error))
        return false;
    p.name = g_strdup(name);
    g_hash_table_insert(r->parameters, p.name, g_memdup2(&p, sizeof p));
    return true;
}

static bool read_operand(struct operators_call *c, const json_t *pair, GError **error)
{
    struct operators_reading *r = c->r;
    struct operators_operand *in = &c->in[c->in_count++];
    const json_t *source = json_array_get(pair, 0);
    *in = (struct operators_operand){0};
    if (json_is_string(source)) {
        in->parameter = g_hash_table_lookup(r->parameters, json_string_value(source));
        if (!in->parameter)
            return orch_operators_fail(r, error, "'in' names the undeclared parameter '%s'",
                                       json_string_value(source));
    } else if (json_is_integer(source)) {
        json_int_t id = json_integer_value(source);
        if (id < 0 || id >= r->values->len)
            return orch_operators_fail(r, error, "'in' names the result of a later operator");
        in->value = &g_array_index(r->values, struct operators_value, id);
    } else if (!json_is_null(source))
        return orch_operators_fail(r, error,
                                   "an entry of 'in' must begin with the id of an operator, the "
                                   "name of a parameter, or null");
    return read_sizes(r, json_array_get(pair, 1), &in->sizes, error);
}

static bool read_operator(struct operators_reading *r, const json_t *line, struct operators_call *c,
                          GError **error)
{
    const json_t *operands = json_object_get(line, "in");
    c->r = r;
    c->name = orch_json_text(line, "op", "");
    c->kind = orch_operator_kind(c->name);
    c->arguments = json_object_get(line, "arguments");
    c->in_count = 0;
    if (!*c->name || strlen(c->name) > 200 || !json_is_array(operands) ||
        json_array_size(operands) > OPERATORS_OPERANDS_MAX)
        return orch_operators_fail(r, error, "'op' or 'in' is missing, or 'in' is too long");
    if (orch_json_int(line, "id", -1) != (gint64)r->values->len || r->values->len >= OPERATORS_MAX)
        return orch_operators_fail(r, error, "the 'id' of operators must count up from 0");
    for (size_t i = 0; i < json_array_size(operands); i++)
        if (!read_operand(c, json_array_get(operands, i), error))
            return false;
    return read_sizes(r, json_object_get(line, "out"), &c->out, error) &&
           orch_operators_add(c, error);
}

static bool read_lines(struct operators_reading *r, const char *at, const char *end,
                       struct orch_net_shape input, GPtrArray *notes, GError **error)
{
    g_autofree struct operators_call *call = g_new0(struct operators_call, 1);
    for (const char *next = at; at < end; at = next) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);
        next = stop ? stop + 1 : end;
        r->line++;
        g_autoptr(GError) why = NULL;
        g_autoptr(json_t) line = orch_json_parse(at, length, LINE_MAX_BYTES, &why);
        if (!json_is_object(line))
            return orch_operators_fail(r, error, "the line is not a JSON object");
        bool ok = r->line == 1                         ? read_header(r, line, input, notes, error)
                  : json_object_get(line, "parameter") ? read_parameter(r, line, error)
                                                       : read_operator(r, line, call, error);
        if (!ok)
            return false;
    }
    return r->builder.net || orch_operators_fail(r, error, "the file has no operators");
}

/* ---- notes -------------------------------------------------------------------------------------
 */

static void note_unknown(const struct operators_reading *r, GPtrArray *notes)
{
    guint count = 0;
    g_autofree char **names = (char **)g_hash_table_get_keys_as_array(r->unknown, &count);
    qsort(names, count, sizeof *names, orch_compare_texts);
    for (guint i = 0; i < count; i++) {
        g_autofree char *text = shown(names[i]);
        int times = GPOINTER_TO_INT(g_hash_table_lookup(r->unknown, names[i]));
        note(notes, g_strdup_printf("'%s': operator '%s' is not known, so only bytes read and "
                                    "written are counted (it occurs %d time%s)",
                                    r->file, text, times, times == 1 ? "" : "s"));
    }
}

static void note_unused(const struct operators_reading *r, GPtrArray *notes)
{
    GHashTableIter iter;
    gpointer value;
    int64_t elements = 0;
    int count = 0;
    const char *first = NULL;
    g_hash_table_iter_init(&iter, r->parameters);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const struct operators_parameter *p = value;
        if (p->is_used)
            continue;
        elements += p->sizes.count;
        count++;
        first = !first || strcmp(p->name, first) < 0 ? p->name : first;
    }
    if (!count)
        return;
    g_autofree char *text = shown(first);
    note(notes,
         g_strdup_printf("'%s': %d parameter%s ('%s'%s; %" G_GINT64_FORMAT " elements) %s used "
                         "by no operator and not counted",
                         r->file, count, count == 1 ? "" : "s", text,
                         count == 1 ? "" : " and others", elements, count == 1 ? "is" : "are"));
}

static void note_constant(const struct operators_reading *r, GPtrArray *notes)
{
    if (r->constant_macs && !r->is_batch_fixed)
        note(notes, g_strdup_printf("'%s': %" G_GINT64_FORMAT
                                    " multiply-adds happen once per batch, whatever its size, but "
                                    "are counted for each sample",
                                    r->file, r->constant_macs));
}

/* ---- the network -------------------------------------------------------------------------------
 */

/* The sizes of the file hold, but for the number of tokens. */
static bool check_input(const struct operators_reading *r, struct orch_net_shape asked,
                        GError **error)
{
    const struct orch_net_shape *own = &r->builder.net->input;
    if ((!asked.c || asked.c == own->c) && (!asked.h || asked.h == own->h) &&
        (!asked.w || asked.w == own->w))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "export the model again with the input size you need",
                   "'%s': the input of %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                   " is fixed",
                   r->file, own->c, own->h, own->w);
    return false;
}

struct orch_net *orch_operators_load_bytes(const void *bytes, size_t length, const char *name,
                                           struct orch_net_shape input, GPtrArray *notes,
                                           GError **error)
{
    struct operators_reading r = {
        .file = name,
        .parameters = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_parameter),
        .values = g_array_new(FALSE, FALSE, sizeof(struct operators_value)),
        .unknown = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    const char *text = bytes;
    bool ok =
        read_lines(&r, text, text + length, input, notes, error) && check_input(&r, input, error);
    if (ok) {
        note_unknown(&r, notes);
        note_unused(&r, notes);
        note_constant(&r, notes);
    }
    struct orch_net *net =
        r.builder.net ? orch_net_builder_finish(&r.builder, ok ? error : NULL) : NULL;
    g_hash_table_unref(r.parameters);
    g_array_unref(r.values);
    g_hash_table_unref(r.unknown);
    if (ok)
        return net ? orch_net_fuse_attention(net) : NULL;
    orch_net_free(net);
    return NULL;
}

struct orch_net *orch_operators_load(const char *path, struct orch_net_shape input,
                                     GPtrArray *notes, GError **error)
{
    GMappedFile *file = orch_file_map(path, error);
    if (!file)
        return NULL;
    const char *bytes = g_mapped_file_get_contents(file);
    struct orch_net *net = orch_operators_load_bytes(
        bytes ? bytes : "", g_mapped_file_get_length(file), path, input, notes, error);
    g_mapped_file_unref(file);
    return net;
}
