/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A model's tensors: initialisation, named weights, and checkpoints. */
#include "plugins/common/torch/torch.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/net/initial.h"
#include "lib/net/net.h"
#include "lib/weights/weights.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- initialisation ---------------------------------------------------------------------------
 */

static bool is_of_head(const struct orch_net *net, const struct orch_net_tensor *tensor)
{
    return orch_net_is_of_head(net, orch_net_node(net, tensor->node));
}

/* Initialises the tensors of the head alone, or all. */
static bool init_tensors(const struct orch_torch *torch, struct orch_torch_model *model,
                         const struct orch_net *net, bool head_alone, uint64_t seed, GError **error)
{
    for (guint i = 0; i < net->tensors->len; i++) {
        const struct orch_net_tensor *tensor = orch_net_tensor(net, (int)i);
        if (head_alone && !is_of_head(net, tensor))
            continue;
        g_autofree float *values = g_new(float, tensor->count + 1);
        orch_net_initial_values(tensor, seed, values);
        if (!torch->tensor_set(model, i, values, error))
            return false;
    }
    return true;
}

bool orch_torch_init(const struct orch_torch *torch, struct orch_torch_model *model,
                     const struct orch_net *net, uint64_t seed, GError **error)
{
    return init_tensors(torch, model, net, false, seed, error);
}

bool orch_torch_init_head(const struct orch_torch *torch, struct orch_torch_model *model,
                          const struct orch_net *net, uint64_t seed, GError **error)
{
    return init_tensors(torch, model, net, true, seed, error);
}

static bool set_dirac(const struct orch_torch *torch, struct orch_torch_model *model,
                      const struct orch_net *net, int index, GError **error)
{
    const struct orch_net_tensor *tensor = orch_net_tensor(net, index);
    int64_t inputs = tensor->shape[1], height = tensor->shape[2], width = tensor->shape[3];
    int64_t filter = inputs * height * width;
    g_autofree float *values = g_new(float, tensor->count);
    if (!torch->tensor_get(model, (size_t)index, values, error))
        return false;
    for (int64_t i = 0; i < MIN(inputs, tensor->shape[0]); i++) {
        memset(values + i * filter, 0, sizeof(float) * (size_t)filter);
        values[i * filter + (i * height + height / 2) * width + width / 2] = 1;
    }
    return torch->tensor_set(model, (size_t)index, values, error);
}

bool orch_torch_init_dirac(const struct orch_torch *torch, struct orch_torch_model *model,
                           const struct orch_net *net, int except, GError **error)
{
    for (guint i = 0; i < net->tensors->len; i++) {
        const struct orch_net_tensor *tensor = orch_net_tensor(net, (int)i);
        const struct orch_net_node *node = orch_net_node(net, tensor->node);
        if (node->op == ORCH_NET_CONV2D && tensor->role == ORCH_NET_WEIGHT && node->groups <= 1 &&
            node->id != except && !set_dirac(torch, model, net, (int)i, error))
            return false;
    }
    return true;
}

/* ---- named weights ----------------------------------------------------------------------------
 */

struct orch_weights *orch_torch_state_copy(const struct orch_torch *torch,
                                           const struct orch_torch_model *model, GError **error)
{
    struct orch_weights *weights = orch_weights_new();
    for (size_t i = 0; i < torch->tensor_count(model); i++) {
        struct orch_torch_tensor tensor;
        torch->tensor_describe(model, i, &tensor);
        g_autofree float *values = g_new(float, tensor.count + 1);
        if (!torch->tensor_get(model, i, values, error) ||
            !orch_weights_add(weights, tensor.name, ORCH_DTYPE_FLOAT32, tensor.rank, tensor.shape,
                              values, error)) {
            orch_weights_free(weights);
            return NULL;
        }
    }
    return weights;
}

void orch_torch_load_report_clear(struct orch_torch_load_report *report)
{
    GPtrArray *lists[] = {report->missing, report->extra, report->mismatched};
    for (unsigned i = 0; i < G_N_ELEMENTS(lists); i++)
        if (lists[i])
            g_ptr_array_unref(lists[i]);
    memset(report, 0, sizeof *report);
}

static GPtrArray *new_list(void)
{
    return g_ptr_array_new_with_free_func(g_free);
}

/* Compares names and shapes; `bad` receives a description of required tensors that do not match. */
static void compare(const struct orch_torch *torch, const struct orch_torch_model *model,
                    const struct orch_net *net, const struct orch_weights *weights,
                    bool head_replaced, struct orch_torch_load_report *report, GString *bad)
{
    *report = (struct orch_torch_load_report){0, new_list(), new_list(), new_list()};
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < torch->tensor_count(model); i++) {
        struct orch_torch_tensor tensor;
        torch->tensor_describe(model, i, &tensor);
        const struct orch_weight *weight = orch_weights_find(weights, tensor.name);
        g_hash_table_add(known, (gpointer)(uintptr_t)tensor.name);
        if (weight && orch_weight_has_shape(weight, tensor.rank, tensor.shape)) {
            report->loaded++;
            continue;
        }
        char *text = g_strdup(tensor.name);
        if (weight) {
            g_autofree char *theirs = orch_weight_shape_format(weight->rank, weight->shape);
            g_autofree char *ours = orch_weight_shape_format(tensor.rank, tensor.shape);
            g_free(text);
            text = g_strdup_printf("%s: %s for %s", tensor.name, theirs, ours);
        }
        g_ptr_array_add(weight ? report->mismatched : report->missing, text);
        if (!head_replaced || !is_of_head(net, orch_net_tensor(net, (int)i)))
            g_string_append_printf(bad, "%s%s%s", bad->len ? ", " : "", weight ? "" : "missing ",
                                   text);
    }
    for (guint i = 0; i < weights->items->len; i++) {
        const struct orch_weight *weight = weights->items->pdata[i];
        if (!g_hash_table_contains(known, weight->name) &&
            !g_str_has_suffix(weight->name, "num_batches_tracked"))
            g_ptr_array_add(report->extra, g_strdup(weight->name));
    }
}

bool orch_torch_state_load(const struct orch_torch *torch, struct orch_torch_model *model,
                           const struct orch_net *net, const struct orch_weights *weights,
                           bool head_replaced, struct orch_torch_load_report *out_report,
                           GError **error)
{
    struct orch_torch_load_report report;
    GString *bad = g_string_new(NULL);
    compare(torch, model, net, weights, head_replaced, &report, bad);
    bool ok = bad->len == 0;
    if (!ok) {
        if (bad->len > 400)
            g_string_append(g_string_truncate(bad, 400), "...");
        orch_error_set(error, ORCH_ERROR_CHECK, "check that these are the weights of this network",
                       "the weights do not fit network '%s': %s", net->name, bad->str);
    }
    for (size_t i = 0; ok && i < torch->tensor_count(model); i++) {
        struct orch_torch_tensor tensor;
        torch->tensor_describe(model, i, &tensor);
        const struct orch_weight *weight = orch_weights_find(weights, tensor.name);
        if (!weight || !orch_weight_has_shape(weight, tensor.rank, tensor.shape))
            continue;
        g_autofree float *values = g_new(float, weight->count + 1);
        orch_weight_to_float(weight, values);
        ok = torch->tensor_set(model, i, values, error);
    }
    g_string_free(bad, TRUE);
    if (out_report)
        *out_report = report;
    else
        orch_torch_load_report_clear(&report);
    return ok;
}

/* ---- checkpoints ------------------------------------------------------------------------------
 */

/* Metadata of safetensors are strings; they store the progress. */
static void put_number(struct orch_weights *weights, const char *name, double value)
{
    char text[ORCH_REAL_CHARS];
    g_hash_table_insert(weights->metadata, g_strdup(name), g_strdup(orch_real_format(value, text)));
}

static double get_number(const struct orch_weights *weights, const char *name)
{
    const char *text = g_hash_table_lookup(weights->metadata, name);
    double value = 0;
    return text && orch_real_parse(text, &value) ? value : 0;
}

static bool put_slots(const struct orch_torch *torch, const struct orch_torch_model *model,
                      struct orch_weights *weights, GError **error)
{
    for (size_t i = 0; i < torch->tensor_count(model); i++) {
        struct orch_torch_tensor tensor;
        torch->tensor_describe(model, i, &tensor);
        for (int slot = 0; slot < torch->slot_count(model); slot++) {
            g_autofree float *values = g_new(float, tensor.count + 1);
            g_autofree char *name = g_strdup_printf("optimizer.%d.%s", slot, tensor.name);
            bool is_set = false;
            if (!torch->slot_get(model, i, slot, values, &is_set, error) ||
                (is_set && !orch_weights_add(weights, name, ORCH_DTYPE_FLOAT32, tensor.rank,
                                             tensor.shape, values, error)))
                return false;
        }
    }
    return true;
}

/* A model without a scaler writes nothing, as before there were scalers. */
static void put_scaler(struct orch_weights *weights, const struct orch_torch_scaler *scaler)
{
    if (scaler->scale == 0)
        return;
    put_number(weights, "scale", (double)scaler->scale);
    put_number(weights, "scale_finite_steps", (double)scaler->finite_steps);
    put_number(weights, "scale_skipped_steps", (double)scaler->skipped_steps);
}

/* A checkpoint without a scale was written in another precision: the scaler begins anew. */
static bool take_scaler(const struct orch_torch *torch, struct orch_torch_model *model,
                        const struct orch_weights *weights, GError **error)
{
    struct orch_torch_scaler scaler = {
        .scale = (float)get_number(weights, "scale"),
        .finite_steps = (int64_t)get_number(weights, "scale_finite_steps"),
        .skipped_steps = (int64_t)get_number(weights, "scale_skipped_steps")};
    return scaler.scale == 0 || torch->scaler_set(model, &scaler, error);
}

struct orch_weights *orch_torch_checkpoint_copy(const struct orch_torch *torch,
                                                const struct orch_torch_model *model,
                                                const struct orch_torch_progress *progress,
                                                GError **error)
{
    struct orch_weights *weights = orch_torch_state_copy(torch, model, error);
    GBytes *random = NULL;
    struct orch_torch_scaler scaler = {0};
    bool ok = weights && put_slots(torch, model, weights, error) &&
              torch->random_get(model, &random, error) && torch->scaler_get(model, &scaler, error);
    if (ok) {
        gsize length;
        const void *bytes = g_bytes_get_data(random, &length);
        int64_t shape = (int64_t)length;
        put_number(weights, "epoch", (double)progress->epoch);
        put_number(weights, "best", progress->best);
        put_number(weights, "best_epoch", (double)progress->best_epoch);
        put_number(weights, "steps", (double)torch->steps_get(model));
        put_scaler(weights, &scaler);
        ok = orch_weights_add(weights, "random", ORCH_DTYPE_UINT8, 1, &shape, bytes, error);
    }
    if (random)
        g_bytes_unref(random);
    if (!ok)
        g_clear_pointer(&weights, orch_weights_free);
    return weights;
}

static bool take_tensor(const struct orch_torch *torch, struct orch_torch_model *model,
                        size_t index, const struct orch_weights *weights, GError **error)
{
    struct orch_torch_tensor tensor;
    torch->tensor_describe(model, index, &tensor);
    for (int slot = -1; slot < torch->slot_count(model); slot++) {
        g_autofree char *name = slot < 0 ? g_strdup(tensor.name)
                                         : g_strdup_printf("optimizer.%d.%s", slot, tensor.name);
        const struct orch_weight *weight = orch_weights_find(weights, name);
        if (!weight && slot >= 0)
            continue; /* the optimizer has no state for it yet */
        if (!weight || !orch_weight_has_shape(weight, tensor.rank, tensor.shape)) {
            orch_error_set(error, ORCH_ERROR_CHECK, "remove the checkpoint to start again",
                           "the checkpoint does not fit this training: '%s' is %s", name,
                           weight ? "of another shape" : "missing");
            return false;
        }
        g_autofree float *values = g_new(float, weight->count + 1);
        orch_weight_to_float(weight, values);
        if (!(slot < 0 ? torch->tensor_set(model, index, values, error)
                       : torch->slot_set(model, index, slot, values, error)))
            return false;
    }
    return true;
}

bool orch_torch_checkpoint_restore(const struct orch_torch *torch, struct orch_torch_model *model,
                                   const struct orch_weights *weights,
                                   struct orch_torch_progress *out_progress, GError **error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < torch->tensor_count(model); i++)
        ok = take_tensor(torch, model, i, weights, error);
    const struct orch_weight *random = ok ? orch_weights_find(weights, "random") : NULL;
    if (random) {
        GBytes *state = g_bytes_new(random->data, random->bytes);
        ok = torch->random_set(model, state, error);
        g_bytes_unref(state);
    }
    if (ok) {
        torch->steps_set(model, (int64_t)get_number(weights, "steps"));
        ok = take_scaler(torch, model, weights, error);
    }
    if (ok) {
        out_progress->epoch = (int64_t)get_number(weights, "epoch");
        out_progress->best = get_number(weights, "best");
        out_progress->best_epoch = (int64_t)get_number(weights, "best_epoch");
    }
    return ok;
}

struct orch_weights *orch_torch_checkpoint_open(const char *path, GError **error)
{
    if (access(path, F_OK) != 0) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL, "there is no checkpoint '%s'", path);
        return NULL;
    }
    return orch_weights_load(path, error);
}
