/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/features/feature_names.h"

#include "lib/base/text.h"
#include "lib/base/unit.h"

#include <glib.h>
#include <string.h>

#define NUMBER true
#define WORD false

static const struct orch_feature_name FEATURES[] = {
    /* where it ran */
    {"gpu", "", WORD, "accel|device|gpu_name", "the GPU by name, or the model of a processor"},
    {"gpus", "GPUs", NUMBER, "accels|num_gpus|ngpus", "GPUs that work on one step"},
    {"workers", "workers", NUMBER, "num_workers", "data-parallel learners"},
    {"servers", "servers", NUMBER, "ps|num_ps", "parameter servers"},
    {"threads", "threads", NUMBER, "num_threads", "of a processor"},
    {"platform", "", WORD, "system|machine|instance_type", "the machine or instance"},
    {"connectivity", "", WORD, "topology|interconnect", "links between the GPUs"},
    /* what was run */
    {"net", "", WORD, "network|model|architecture", "the network by name (orch net ls)"},
    {"task", "", WORD, "benchmark", "task of the training"},
    {"dataset", "", WORD, "data_set", "data set of the training"},
    {"input", "", WORD, "input_shape", "CxHxW of one image"},
    {"img", "pixels", NUMBER, "image_size|image_side|img_size", "side of a square image"},
    {"images", "images", NUMBER, "num_images|samples", "of an epoch"},
    {"classes", "", NUMBER, "num_classes", ""},
    {"batch", "images", NUMBER, "batch_per_gpu|batch_size|bs", "images a step and GPU or worker"},
    {"batch_total", "images", NUMBER, "global_batch", "images a step over all GPUs"},
    {"epochs", "epochs", NUMBER, "num_epochs", ""},
    {"seq", "tokens", NUMBER, "tokens|seq_len|sequence_length", "length of a sequence"},
    /* how it ran */
    {"mode", "", WORD, "phase", "train (forward and backward) or infer (forward)"},
    {"precision", "", WORD, "prec|bits|dtype",
     "fp32, fp32-ieee, tf32, fp16, bf16, fp64, or amp, half, 16"},
    {"framework", "", WORD, "library", "with its version"},
    {"opt", "", WORD, "optimizer|optimiser", "none: forward only"},
    {"op", "", WORD, "operator|kernel_name", "kind of a single operation"},
    {"act", "", WORD, "activation", "activation after a layer"},
    {"variable_update", "", WORD, "", "how gradients are exchanged"},
    {"variant", "", WORD, "", ""},
    {"layout", "", WORD, "memory_format", "nchw or nhwc"},
    {"torch", "", WORD, "", "version of PyTorch"},
    {"cudnn", "", WORD, "", "version of cuDNN"},
    /* a network's counts */
    {"params_M", "10^6", NUMBER, "params_m", "parameters"},
    {"gmacs", "10^9", NUMBER, "", "multiply-adds of one image, forward"},
    {"macts_M", "10^6", NUMBER, "macts_m", "activations of one image"},
    {"layers", "", NUMBER, "num_layers", "of a transformer"},
    {"hidden", "", NUMBER, "hidden_size|d_model", "width of a transformer"},
    {"heads", "", NUMBER, "num_heads", ""},
    {"ff", "", NUMBER, "", "width of its feed-forward part"},
    {"vocab", "", NUMBER, "vocab_size", ""},
    /* a single layer */
    {"in_hw", "pixels", NUMBER, "", "side of a convolution's input"},
    {"kernel", "pixels", NUMBER, "kernel_size", "side of its kernel"},
    {"cin", "channels", NUMBER, "in_channels", ""},
    {"cout", "channels", NUMBER, "out_channels", ""},
    {"stride", "pixels", NUMBER, "", ""},
    {"pad", "pixels", NUMBER, "padding", ""},
    {"pad_same", "", NUMBER, "", "1: padded so that the size stays"},
    {"bias", "", NUMBER, "", "1: it has one"},
    {"din", "", NUMBER, "in_features", "inputs of a dense layer"},
    {"dout", "", NUMBER, "out_features", "its outputs"},
    {"b", "", NUMBER, "", "products of a batch of matrices (m x k times k x n)"},
    {"m", "", NUMBER, "", "their rows"},
    {"k", "", NUMBER, "", "inner size of the products"},
    {"n", "", NUMBER, "", "their columns"},
    {"rows", "", NUMBER, "", "of a tensor"},
    {"cols", "", NUMBER, "", ""},
    {"step", "", NUMBER, "", "of a curve"},
    {"epoch", "", NUMBER, "", ""},
    {NULL, NULL, false, NULL, NULL},
};

static const struct orch_feature_name TARGETS[] = {
    {"step_ms", "ms", NUMBER, "ms|ms_per_batch|total_ms|ms_median", "one step over all GPUs"},
    {"layer_ms", "ms", NUMBER, "ms", "one layer or kernel"},
    {"epoch_s", "s", NUMBER, "sec_per_epoch", "one epoch"},
    {"wall_s", "s", NUMBER, "time_s", "the whole run"},
    {"images_per_s", "images/s", NUMBER, "img_per_s|throughput", "over all GPUs"},
    {"throughput", "1/s", NUMBER, "", "in a task's own items"},
    {NULL, NULL, false, NULL, NULL},
};

const struct orch_feature_name *orch_feature_names(void)
{
    return FEATURES;
}

const struct orch_feature_name *orch_target_names(void)
{
    return TARGETS;
}

static const struct orch_feature_name *find(const struct orch_feature_name *table, const char *name)
{
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

const struct orch_feature_name *orch_feature_name_find(const char *name)
{
    return find(FEATURES, name);
}

static bool is_other(const struct orch_feature_name *row, const char *name)
{
    g_auto(GStrv) others = g_strsplit(row->others, "|", -1);
    return g_strv_contains((const char *const *)others, name);
}

bool orch_feature_is_gpu(const char *name)
{
    return name && (strcmp(name, "gpu") == 0 || strcmp(name, "accel") == 0);
}

bool orch_feature_is_net(const char *name)
{
    static const char *const names[] = {"net", "model", "network", NULL};
    return name && g_strv_contains(names, name);
}

bool orch_feature_is_gpu_count(const char *name)
{
    static const char *const names[] = {"gpus", "accels", "num_gpus", "ngpus", NULL};
    return g_strv_contains(names, name);
}

bool orch_feature_is_software(const char *name)
{
    static const char *const names[] = {"framework", "library", "software", "torch", "cudnn", NULL};
    return g_strv_contains(names, name);
}

bool orch_feature_is_derived(const char *name)
{
    static const char *const prefixes[] = {"white ", "work ", "net ", "gemm ", "gpu "};
    for (size_t k = 0; k < G_N_ELEMENTS(prefixes); k++)
        if (g_str_has_prefix(name, prefixes[k]))
            return true;
    return false;
}

const struct orch_feature_name *orch_feature_name_of_other(const char *name)
{
    for (const struct orch_feature_name *row = FEATURES; row->name; row++)
        if (is_other(row, name))
            return row;
    return NULL;
}

const char *orch_feature_unit(const char *name)
{
    static const char *const endings[][2] = {
        {"_tflops", "TFLOP/s"}, {"_gbs", "GB/s"},    {"_gb", "GB"},
        {"_mhz", "MHz"},        {"_mb", "MB"},       {"mbytes", "MB"},
        {"_ms", "ms"},          {"gflop", "GFLOP"},  {"flop_per_byte", "FLOP/byte"},
        {"params_m", "10^6"},   {"macts_m", "10^6"}, {"gmacs", "10^9"}};
    const struct orch_feature_name *known = orch_feature_name_find(name);
    if (known)
        return known->unit;
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
        if (g_str_has_suffix(name, endings[i][0]))
            return endings[i][1];
    return "";
}

char *orch_feature_name_hint(const char *name)
{
    const struct orch_feature_name *other = orch_feature_name_of_other(name);
    if (other)
        return g_strdup_printf("it is called '%s' here", other->name);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (size_t i = 0; FEATURES[i].name; i++)
        g_ptr_array_add(names, (char *)(uintptr_t)FEATURES[i].name);
    for (size_t i = 0; TARGETS[i].name; i++)
        g_ptr_array_add(names, (char *)(uintptr_t)TARGETS[i].name);
    g_ptr_array_add(names, NULL);
    char *hint = orch_suggest_hint(name, (const char *const *)names->pdata);
    return hint ? hint : g_strdup("'orch import --features' lists them");
}

/* ---- measured quantities -----------------------------------------------------------------------
 */

bool orch_target_is_rate(const char *name)
{
    return strstr(name, "per_s") || strstr(name, "throughput") || strstr(name, "images_s");
}

/* Returns the unit of a name that denotes a time ("ms", "ms_min", "step_ms"), else NULL. */
static const struct orch_unit *time_of(const char *name)
{
    const size_t first = strcspn(name, "_");
    const char *last = strrchr(name, '_');
    last = last ? last + 1 : name;
    const struct orch_unit *begin = orch_unit_find(name, first),
                           *end = orch_unit_find(last, strlen(last));
    if (orch_target_is_rate(name))
        return NULL;
    /* "ms_min" is the minimum of ms; "s_2" and "min_batch" are not times, "conv_h" is a height */
    const bool may_lead = first > 1 && strncmp(name, "min_", 4) != 0;
    const bool may_end = strcmp(last, "s") == 0 || (strlen(last) > 1 && strcmp(last, "min") != 0);
    if (begin && begin->quantity == ORCH_QUANTITY_TIME && (may_lead || !name[first]))
        return begin;
    return end && end->quantity == ORCH_QUANTITY_TIME && may_end ? end : NULL;
}

const char *orch_target_unit(const char *name)
{
    const struct orch_feature_name *row = find(TARGETS, name);
    if (row)
        return row->unit;
    const struct orch_unit *time = time_of(name);
    if (time)
        return time->name;
    return orch_target_is_rate(name) ? "1/s" : "";
}

double orch_target_ms(const char *name)
{
    const struct orch_unit *time = time_of(name);
    return time ? time->factor * 1e3 : 1;
}

/* True if two names have the same first part, which names the quantity: loss, loss_std. */
static bool same_measure(const char *a, const char *b)
{
    size_t n = strcspn(a, "_");
    return n > 1 && strcspn(b, "_") == n && strncmp(a, b, n) == 0;
}

bool orch_feature_reveals(const char *name, const char *target)
{
    if (orch_feature_name_find(name)) /* "epoch" beside epoch_s */
        return false;
    bool is_time = time_of(target) != NULL;
    if (is_time && strcmp(name, "cost_usd") == 0) /* time x price */
        return true;
    bool measures = is_time || orch_target_is_rate(target);
    return measures &&
           (time_of(name) || orch_target_is_rate(name) || (is_time && same_measure(name, target)));
}
