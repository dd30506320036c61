/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/nets.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

/* "3x224x224", or "224x224" for the network's own channels. */
static bool read_input(const char *text, struct orch_net_options *out, GError **error)
{
    g_auto(GStrv) words = g_strsplit(text, "x", -1);
    int64_t sizes[3] = {0};
    guint count = g_strv_length(words);
    bool ok = count == 2 || count == 3;
    for (guint i = 0; ok && i < count; i++)
        ok = orch_int_parse(words[i], &sizes[3 - count + i]) && sizes[3 - count + i] >= 1;
    if (!ok) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example --input 3x224x224 (C x H x W)",
                       "option '--input': '%s' is not CxHxW", text);
        return false;
    }
    out->channels = sizes[0];
    out->height = sizes[1];
    out->width = sizes[2];
    return true;
}

struct orch_net *orch_cli_net(const struct orch_net_request *request, GError **error)
{
    struct orch_net_options options = {.name = request->name, .classes = request->classes};
    if (request->classes < 0) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "option '--classes': %d is not positive",
                       request->classes);
        return NULL;
    }
    if (request->input && !read_input(request->input, &options, error))
        return NULL;
    return orch_net_make(&options, error);
}
