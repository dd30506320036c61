/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/net/open_net.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

bool orch_net_input_read(const char *text, struct orch_net_options *out, GError **error)
{
    if (orch_net_input_parse(text, out))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "for example --input 3x224x224 (C x H x W)",
                   "option '--input': '%s' is not CxHxW", text);
    return false;
}

/* A path, or a name with the ending of a file: letters after the last dot. */
static bool is_file_name(const char *name)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    return name && (strchr(name, '/') || (dot && strlen(dot) > 2 && strlen(dot) <= 6 &&
                                          g_ascii_isalpha(dot[1]) && g_ascii_isalpha(dot[2])));
}

const struct orch_net_reader *orch_net_reader_of(const struct orch_net_reader *const *readers,
                                                 const char *name)
{
    for (; *readers; readers++) {
        bool is_inside = *(*readers)->ending != '.' && g_file_test(name, G_FILE_TEST_IS_DIR);
        g_autofree char *file = is_inside ? g_build_filename(name, (*readers)->ending, NULL) : NULL;
        if (g_str_has_suffix(name, (*readers)->ending) ||
            (file && g_file_test(file, G_FILE_TEST_IS_REGULAR)))
            return *readers;
    }
    return NULL;
}

/* Returns ".onnx or .csv". The caller frees. */
static char *endings_of(const struct orch_net_reader *const *readers)
{
    GString *text = g_string_new(NULL);
    for (; *readers; readers++)
        g_string_append_printf(text, "%s%s", text->len ? " or " : "", (*readers)->ending);
    return g_string_free(text, FALSE);
}

/* The file beside it whose name is nearest and that a reader knows; NULL: none. Caller frees. */
static char *near_file(const struct orch_net_reader *const *readers, const char *name)
{
    g_autofree char *folder = g_path_get_dirname(name), *base = g_path_get_basename(name);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *file;
    while (dir && names->len < 1000 && (file = g_dir_read_name(dir)))
        if (orch_net_reader_of(readers, file))
            g_ptr_array_add(names, g_strdup(file));
    if (dir)
        g_dir_close(dir);
    g_ptr_array_add(names, NULL);
    const char *near = orch_suggest(base, (const char *const *)names->pdata);
    return near ? strchr(name, '/') ? g_build_filename(folder, near, NULL) : g_strdup(near) : NULL;
}

/* Sets the error for a name of a file that is not there or that no reader knows. */
static void refuse_file(const struct orch_net_reader *const *readers, const char *name,
                        GError **error)
{
    g_autofree char *endings = endings_of(readers);
    g_autofree char *hint = g_strdup_printf(
        "a network's file ends in %s, and models of Hugging Face have a config.json to download; "
        "'orch net ls' lists the networks that are known by name",
        endings);
    g_autofree char *near = near_file(readers, name);
    g_autofree char *mean = near ? g_strdup_printf("did you mean '%s'?", near) : NULL;
    if (g_file_test(name, G_FILE_TEST_EXISTS))
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint,
                       "'%s' is no network: the name does not end in %s", name, endings);
    else
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, mean ? mean : hint, "no such file '%s'", name);
}

/* Adds to the zoo's hint how a model of one's own is asked about. */
static void hint_own_model(const struct orch_net_reader *const *readers, GError **error)
{
    const char *made_by = NULL;
    for (; *readers && !made_by; readers++)
        made_by = (*readers)->made_by;
    if (!made_by || !error || !*error || (*error)->code != ORCH_ERROR_NOT_FOUND)
        return;
    g_autofree char *what = orch_error_what(*error);
    g_autofree char *hint = g_strdup_printf("%s (a model of your own is a file, as %s writes it)",
                                            orch_error_hint(*error), made_by);
    g_clear_error(error);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint, "%s", what);
}

/* Refuses more tokens than the table of positions has rows; other models may take them. */
static bool check_length(const struct orch_net *net, GPtrArray *notes, GError **error)
{
    const int tokens = (int)net->input.h, most = (int)net->positions;
    bool has_table = false;
    if (!most || net->input.w > 1 || tokens <= most)
        return true;
    for (guint i = 0; i < net->nodes->len; i++)
        has_table |= orch_net_node(net, (int)i)->rows == ORCH_NET_ROWS_POSITIONS;
    if (!has_table) {
        g_ptr_array_add(notes, g_strdup_printf("'%s' was made for at most %d tokens, not %d",
                                               net->name, most, tokens));
        return true;
    }
    g_autofree char *hint = g_strdup_printf("use at most %d tokens", most);
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "network '%s' has %d positions for %d tokens",
                   net->name, most, tokens);
    return false;
}

struct orch_net *orch_net_open(const struct orch_net_reader *const *readers,
                               const struct orch_net_request *request, GPtrArray *notes,
                               GError **error)
{
    struct orch_net_options o = {.name = request->name, .classes = request->classes};
    const struct orch_net_reader *reader = orch_net_reader_of(readers, request->name);
    if (request->classes < 0 || (reader && request->classes)) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       reader ? "leave --classes out: the file has the number of classes" : NULL,
                       "option '--classes': %d is not a valid value", request->classes);
        return NULL;
    }
    g_autofree char *known = orch_net_canonical_name(request->name);
    bool is_lost = reader && !g_file_test(request->name, G_FILE_TEST_EXISTS);
    if (is_lost || (!reader && is_file_name(request->name) &&
                    (!known || g_file_test(request->name, G_FILE_TEST_EXISTS)))) {
        refuse_file(readers, request->name, error);
        return NULL;
    }
    if (request->input && !orch_net_input_read(request->input, &o, error))
        return NULL;
    const struct orch_net_shape input = {o.channels, o.height, o.width};
    struct orch_net *net =
        reader ? reader->read(request, input, notes, error) : orch_net_make(&o, error);
    if (!net && !reader)
        hint_own_model(readers, error);
    if (net && notes && !check_length(net, notes, error))
        g_clear_pointer(&net, orch_net_free);
    return net;
}

struct orch_net *orch_network_of_record(const char *name, const char *input, int64_t classes)
{
    if (!name || !*name || is_file_name(name) || classes < 0 || classes > 1 << 24)
        return NULL;
    const struct orch_net_request request = {
        .name = name, .input = input && *input ? input : NULL, .classes = (int)classes};
    static const struct orch_net_reader *const none[] = {NULL};
    return orch_net_open(none, &request, NULL, NULL);
}
