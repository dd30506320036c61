/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks in files of ONNX, read and written. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"
#include "features/onnx/engines_found.h"
#include "features/onnx/onnx.h"
#include "lib/net/open_net.h"

/* Adds a line for each operator that was counted as zero. */
static void add_notes(GPtrArray *out, const char *path, const struct orch_onnx_notes *notes)
{
    if (out && notes->newer_opset)
        g_ptr_array_add(out,
                        g_strdup_printf("'%s': orch was not tested with version %" G_GINT64_FORMAT
                                        " of ONNX's operators, so its counts may be wrong",
                                        path, notes->newer_opset));
    if (out && notes->batch)
        g_ptr_array_add(out, g_strdup_printf("'%s': %s", path, notes->batch));
    for (guint i = 0; out && notes->items && i < notes->items->len; i++) {
        const struct orch_onnx_note *note = notes->items->pdata[i];
        g_autofree char *more =
            note->params ? g_strdup_printf(", with %" G_GINT64_FORMAT " weights", note->params)
                         : NULL;
        g_autofree char *what = g_strdup_printf(
            note->is_known ? "the operations of %s" : "operator %s is not known and its operations",
            note->op);
        g_ptr_array_add(
            out, g_strdup_printf("'%s': %s are counted as zero (nodes: %d, the first is '%s'%s)%s",
                                 path, what, note->count, note->node ? note->node : "",
                                 more ? more : "", note->is_known ? "" : "; its shape is a guess"));
    }
}

static struct orch_net *read_file(const struct orch_net_request *request,
                                  struct orch_net_shape input, GPtrArray *out_notes, GError **error)
{
    struct orch_onnx_notes notes = {0};
    struct orch_net *net = orch_onnx_load(request->name, input, &notes, error);
    if (net)
        add_notes(out_notes, request->name, &notes);
    orch_onnx_notes_release(&notes);
    return net;
}

extern const struct orch_command ORCH_COMMAND_NET_EXPORT;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_NET_EXPORT, NULL};
static const struct orch_net_reader READER = {.ending = ".onnx", .read = read_file};
static const struct orch_net_reader *const READERS[] = {&READER, NULL};

const struct orch_feature ORCH_FEATURE_ONNX = {
    .commands = COMMANDS, .net_readers = READERS, .doctor = orch_engines_found};
