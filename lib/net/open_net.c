/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/net/open_net.h"

#include "features/onnx/onnx.h"
#include "lib/base/error.h"
#include "lib/base/text.h"
#include "predictors/from_net.h"

#include <string.h>

static bool read_input(const char *text, struct orch_net_options *out, GError **error)
{
    if (orch_net_input_parse(text, out))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "for example --input 3x224x224 (C x H x W)",
                   "option '--input': '%s' is not CxHxW", text);
    return false;
}

/* Adds a line for each operator that was counted as zero. */
static void add_notes(GPtrArray *out, const char *path, const struct orch_onnx_notes *notes)
{
    for (guint i = 0; out && notes->items && i < notes->items->len; i++) {
        const struct orch_onnx_note *note = notes->items->pdata[i];
        g_autofree char *more =
            note->params ? g_strdup_printf(", with %" G_GINT64_FORMAT " weights", note->params)
                         : NULL;
        g_ptr_array_add(
            out,
            g_strdup_printf("'%s': operator %s is not known: counted as zero (%d of it, the first "
                            "is '%s'%s)%s",
                            path, note->op, note->count, note->node ? note->node : "",
                            more ? more : "", note->is_known ? "" : "; its shape is a guess"));
    }
}

static struct orch_net *read_onnx(const char *path, const struct orch_net_options *o,
                                  GPtrArray *out_notes, GError **error)
{
    struct orch_onnx_notes notes = {0};
    struct orch_net_shape input = {o->channels, o->height, o->width};
    struct orch_net *net = orch_onnx_load(path, input, &notes, error);
    if (net)
        add_notes(out_notes, path, &notes);
    orch_onnx_notes_release(&notes);
    return net;
}

static struct orch_net *read_table(const struct orch_net_request *request, GError **error)
{
    if (request->input) {
        orch_error_set(
            error, ORCH_ERROR_USAGE, "leave --input out",
            "option '--input' cannot be used with a layer table, which gives its own input");
        return NULL;
    }
    struct orch_layer_table *table =
        orch_layer_table_read(request->name, request->table_net, error);
    struct orch_net *net = table ? orch_net_from_layer_table(table, error) : NULL;
    orch_layer_table_free(table);
    return net;
}

/* A path, or a name with the ending of a file: letters after the last dot. */
static bool is_file_name(const char *name)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    return name && (strchr(name, '/') || (dot && strlen(dot) > 2 && strlen(dot) <= 6 &&
                                          g_ascii_isalpha(dot[1]) && g_ascii_isalpha(dot[2])));
}

struct orch_net *orch_network_open(const struct orch_net_request *request, GPtrArray *notes,
                                   GError **error)
{
    struct orch_net_options options = {.name = request->name, .classes = request->classes};
    bool is_file =
        g_str_has_suffix(request->name, ".onnx") || g_str_has_suffix(request->name, ".csv");
    if (request->classes < 0 || (is_file && request->classes)) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       is_file ? "leave --classes out: the file gives the number of classes" : NULL,
                       "option '--classes': %d is not a valid value", request->classes);
        return NULL;
    }
    if (!is_file && is_file_name(request->name)) {
        bool exists = g_file_test(request->name, G_FILE_TEST_EXISTS);
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "a network's file ends in .onnx or .csv; 'orch net ls' lists the networks "
                       "that are known by name",
                       exists ? "'%s' is no network: its name does not end in .onnx or .csv"
                              : "there is no file '%s'",
                       request->name);
        return NULL;
    }
    if (request->input && !read_input(request->input, &options, error))
        return NULL;
    if (g_str_has_suffix(request->name, ".onnx"))
        return read_onnx(request->name, &options, notes, error);
    return is_file ? read_table(request, error) : orch_net_make(&options, error);
}

struct orch_net *orch_network_of_record(const char *name, const char *input, int64_t classes)
{
    if (!name || !*name || strpbrk(name, "/.") || classes < 0 || classes > 1 << 24)
        return NULL;
    const struct orch_net_request request = {
        .name = name, .input = input && *input ? input : NULL, .classes = (int)classes};
    return orch_network_open(&request, NULL, NULL);
}
