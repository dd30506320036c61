/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/features/features.h"

#include "lib/base/text.h"
#include "lib/net/net.h"

#include <math.h>
#include <string.h>

#define REFERENCE_GPU "P100" /* reference GPU for devices without a specification */
#define LAUNCH_MS 0.01       /* cost of launching a kernel on any GPU, without framework overhead */

/* ---- reading -----------------------------------------------------------------------------------
 */

/* Names of a field in files, joined by '|'. */
static const char *const FIELD_NAMES[ORCH_FIELD_COUNT] = {
    [ORCH_FIELD_BATCH] = "batch|batch_per_gpu|batch_size",
    [ORCH_FIELD_BATCH_TOTAL] = "batch_total|global_batch",
    [ORCH_FIELD_GPUS] = "gpus|accels|workers|num_gpus",
    [ORCH_FIELD_IMG] = "img|image_side",
    [ORCH_FIELD_IN_HW] = "in_hw",
    [ORCH_FIELD_KERNEL] = "kernel",
    [ORCH_FIELD_CIN] = "cin",
    [ORCH_FIELD_COUT] = "cout",
    [ORCH_FIELD_STRIDE] = "stride",
    [ORCH_FIELD_PAD] = "pad",
    [ORCH_FIELD_PAD_SAME] = "pad_same",
    [ORCH_FIELD_DIN] = "din",
    [ORCH_FIELD_DOUT] = "dout",
    [ORCH_FIELD_B] = "b",
    [ORCH_FIELD_M] = "m",
    [ORCH_FIELD_K] = "k",
    [ORCH_FIELD_N] = "n",
    [ORCH_FIELD_ROWS] = "rows",
    [ORCH_FIELD_COLS] = "cols",
    [ORCH_FIELD_SEQ] = "seq|tokens",
    [ORCH_FIELD_LAYERS] = "layers",
    [ORCH_FIELD_HIDDEN] = "hidden|hidden_size",
    [ORCH_FIELD_HEADS] = "heads|num_heads",
    [ORCH_FIELD_FF] = "ff|inter_size",
    [ORCH_FIELD_VOCAB] = "vocab",
    [ORCH_FIELD_ISL] = "isl",
    [ORCH_FIELD_KEY_HEADS] = "num_key_value_heads|key_heads",
    [ORCH_FIELD_HEAD_DIM] = "head_dim",
    [ORCH_FIELD_WINDOW] = "window_size",
    [ORCH_FIELD_TOKENS] = "num_tokens",
    [ORCH_FIELD_TOPK] = "topk",
    [ORCH_FIELD_EXPERTS] = "num_experts",
    [ORCH_FIELD_MOE_TP] = "moe_tp_size",
    [ORCH_FIELD_MOE_EP] = "moe_ep_size",
    [ORCH_FIELD_MESSAGE] = "message_size",
    [ORCH_FIELD_GMACS] = "gmacs",
    [ORCH_FIELD_PARAMS_M] = "params_M|params_m",
    [ORCH_FIELD_MACTS_M] = "macts_M|macts_m",
};

/* Columns of a table by meaning; -1: absent. */
struct reader {
    const struct orch_csv *csv;
    int field[ORCH_FIELD_COUNT];
    int gpu, net, op, opt, mode, precision, variant, input, format, distribution;
    GHashTable *gpus;    /* the specifications found so far, by name */
    GHashTable *counted; /* a row + 1 with counts, by network and input */
};

static int find_column(const struct orch_csv *csv, const char *names)
{
    g_auto(GStrv) list = g_strsplit(names, "|", -1);
    for (int i = 0; list[i]; i++)
        if (orch_csv_find(csv, list[i]) >= 0)
            return orch_csv_find(csv, list[i]);
    return -1;
}

static struct reader reader_of(const struct orch_csv *csv)
{
    struct reader in = {.csv = csv};
    for (int f = 0; f < ORCH_FIELD_COUNT; f++)
        in.field[f] = find_column(csv, FIELD_NAMES[f]);
    in.gpu = find_column(csv, "gpu|accel|device");
    in.net = find_column(csv, "net|model|network|task");
    in.op = find_column(csv, "op|op_name");
    in.format = find_column(csv, "gemm_dtype|moe_dtype|kv_cache_dtype|nccl_dtype");
    in.distribution = find_column(csv, "distribution");
    in.opt = find_column(csv, "opt|optimizer");
    in.mode = find_column(csv, "mode");
    in.precision = find_column(csv, "precision|prec|bits");
    in.variant = find_column(csv, "variant|parallel");
    in.input = find_column(csv, "input");
    return in;
}

static const char *text_at(const struct reader *in, size_t row, int column)
{
    return column < 0 ? "" : orch_csv_text(in->csv, row, column);
}

static enum orch_precision precision_of(const char *text)
{
    enum orch_precision precision = ORCH_FP32;
    orch_precision_find(text, &precision);
    return precision;
}

/* A row is a training step unless its mode or an optimizer of 'none' says otherwise. Single layers
 * without either were timed forward. */
static bool is_training(const struct reader *in, const char *mode, const char *opt)
{
    if (in->mode >= 0)
        return g_str_has_prefix(mode, "train");
    if (in->opt >= 0)
        return strcmp(opt, "none") != 0;
    return in->net >= 0;
}

static bool is_compiled(const char *variant)
{
    static const char *const words[] = {"fusion", "compile", "compiled", NULL};
    return g_strv_contains(words, variant);
}

/* Parses "dp4", "tp4", "pp4_1": data, tensor or pipeline parallelism on four devices. `out_split`:
 * the number of parts that a step's work is divided into; 1 for a pipeline. NaN for any other
 * text. */
static double devices_of(const char *variant, double *out_split)
{
    double count = (double)NAN;
    g_autofree char *digits = g_strdup(strlen(variant) > 2 ? variant + 2 : "");
    bool is = g_str_has_prefix(variant, "dp") || g_str_has_prefix(variant, "tp") ||
              g_str_has_prefix(variant, "pp");
    digits[strspn(digits, "0123456789")] = 0;
    if (!is || !orch_real_parse(digits, &count) || !(count >= 1))
        return (double)NAN;
    *out_split = variant[0] == 'p' ? 1 : count;
    return count;
}

/* "3x32x32"; any other text says nothing. */
static void read_input(const char *text, struct orch_row_facts *f)
{
    struct orch_net_options options = {0};
    if (!*text || !orch_net_input_parse(text, &options))
        return;
    f->channels = options.channels;
    f->height = options.height;
    f->width = options.width;
}

static const struct orch_gpu_spec *gpu_at(const struct reader *in, size_t row)
{
    const char *name = text_at(in, row, in->gpu);
    gpointer found = NULL;
    if (!g_hash_table_lookup_extended(in->gpus, name, NULL, &found)) {
        found = (gpointer)(uintptr_t)orch_gpu_find(name);
        g_hash_table_insert(in->gpus, (gpointer)(uintptr_t)name, found);
    }
    return found;
}

static struct orch_row_facts facts_of(const struct reader *in, size_t row)
{
    double split = 1;
    struct orch_row_facts f = {.net = text_at(in, row, in->net),
                               .op = text_at(in, row, in->op),
                               .opt = text_at(in, row, in->opt),
                               .distribution = text_at(in, row, in->distribution)};
    for (int k = 0; k < ORCH_FIELD_COUNT; k++)
        if (in->field[k] < 0 ||
            !orch_real_parse(orch_csv_text(in->csv, row, in->field[k]), &f.field[k]))
            f.field[k] = (double)NAN;
    f.gpu = gpu_at(in, row);
    read_input(text_at(in, row, in->input), &f);
    f.training = is_training(in, text_at(in, row, in->mode), f.opt);
    f.precision = precision_of(text_at(in, row, in->precision));
    f.has_format = orch_number_format_find(text_at(in, row, in->format), &f.format);
    if (f.has_format)
        f.precision = ORCH_BF16; /* of what is not a factor of a product */
    f.is_compiled = is_compiled(text_at(in, row, in->variant));
    if (isnan(f.field[ORCH_FIELD_GPUS]))
        f.field[ORCH_FIELD_GPUS] = devices_of(text_at(in, row, in->variant), &split);
    double gpus = isnan(f.field[ORCH_FIELD_GPUS]) ? 1 : f.field[ORCH_FIELD_GPUS];
    f.field[ORCH_FIELD_BATCH] /= split;
    if (isnan(f.field[ORCH_FIELD_BATCH]))
        f.field[ORCH_FIELD_BATCH] = f.field[ORCH_FIELD_BATCH_TOTAL] / gpus;
    return f;
}

static char *net_key(const struct reader *in, size_t row)
{
    return g_strjoin("\x1f", text_at(in, row, in->net), text_at(in, row, in->field[ORCH_FIELD_IMG]),
                     text_at(in, row, in->input), NULL);
}

static GHashTable *counted_rows(const struct reader *in)
{
    GHashTable *of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t i = 0; in->net >= 0 && i < orch_csv_rows(in->csv); i++)
        if (*text_at(in, i, in->field[ORCH_FIELD_GMACS]))
            g_hash_table_insert(of, net_key(in, i), GSIZE_TO_POINTER(i + 1));
    return of;
}

/* A row without counts has those of another row of the same network and input. */
static void take_counts(const struct reader *in, size_t row, struct orch_row_facts *f,
                        struct orch_matrix *matrix)
{
    static const enum orch_field counts[] = {ORCH_FIELD_GMACS, ORCH_FIELD_PARAMS_M,
                                             ORCH_FIELD_MACTS_M};
    if (!isnan(f->field[ORCH_FIELD_GMACS]) || in->net < 0)
        return;
    g_autofree char *key = net_key(in, row);
    size_t other = GPOINTER_TO_SIZE(g_hash_table_lookup(in->counted, key));
    for (size_t k = 0; other && k < G_N_ELEMENTS(counts); k++) {
        int at = in->field[counts[k]];
        double value;
        if (!orch_real_parse(text_at(in, other - 1, at), &value))
            continue;
        f->field[counts[k]] = value;
        int column = orch_matrix_find(matrix, orch_csv_name(in->csv, at));
        if (column >= 0)
            ((double *)matrix->columns->pdata[column])[row] = value;
    }
}

/* ---- derived columns ---------------------------------------------------------------------------
 */

#define GPU_FEATURES 12

static void gpu_values(const struct orch_gpu_spec *s, double *out)
{
    double values[GPU_FEATURES] = {
        s->fp32_tflops,   s->fp64_tflops, s->tensor16_tflops,
        s->bandwidth_gbs, s->memory_gb,   s->cores,
        s->sms,           s->boost_mhz,   s->l2_mb,
        s->year,          s->nvlink_gbs,  1e3 * s->fp32_tflops / s->bandwidth_gbs};
    memcpy(out, values, sizeof values);
}

static const char *const GPU_NAMES[GPU_FEATURES] = {
    "gpu fp32_tflops",   "gpu fp64_tflops", "gpu tensor16_tflops",
    "gpu bandwidth_gbs", "gpu memory_gb",   "gpu cores",
    "gpu sms",           "gpu boost_mhz",   "gpu l2_mb",
    "gpu year",          "gpu nvlink_gbs",  "gpu flop_per_byte"};

void orch_features_set_gpu(struct orch_matrix *matrix, size_t row, const struct orch_gpu_spec *gpu)
{
    double values[GPU_FEATURES];
    gpu_values(gpu, values);
    for (size_t k = 0; k < GPU_FEATURES; k++) {
        int column = orch_matrix_find(matrix, GPU_NAMES[k]);
        if (column >= 0)
            ((double *)matrix->columns->pdata[column])[row] = values[k];
    }
}

/* Features that are a member of struct orch_row_work. */
#define FIELD(name, member)                                                                        \
    {                                                                                              \
        name, offsetof(struct orch_row_work, member)                                               \
    }
static const struct {
    const char *name;
    size_t offset;
} WORK[] = {
    FIELD("work gflop", gflop),
    FIELD("work mbytes", mbytes),
    FIELD("work params_m", params_m),
    FIELD("work macts_m", macts_m),
    FIELD("work gmacs", gmacs),
    FIELD("work launches", launches),
    FIELD("net convs", convs),
    FIELD("net depthwise", depthwise),
    FIELD("net linears", linears),
    FIELD("net norms", norms),
    FIELD("net activations", activations),
    FIELD("net pools", pools),
    FIELD("net sums", sums),
    FIELD("net depthwise_share", depthwise_share),
    FIELD("white compute_ms", compute_ms),
    FIELD("white tensor_ms", tensor_ms),
    FIELD("white memory_ms", memory_ms),
    FIELD("white roofline_ms", roofline_ms),
    FIELD("white prior_ms", prior_ms),
    FIELD("white prior_tf32_ms", prior_tf32_ms),
    FIELD("white kernels_ms", kernels_ms),
};

/* Tile sizes of a matrix product on a GPU, for features that say how well the tiles fill it. */
static const int TILES[] = {128, 64, 32};

enum derived {
    WORK_INTENSITY,
    WHITE_BALANCE,
    WHITE_UPDATE,
    WHITE_EXCHANGE,
    WHITE_LAUNCHES,
    GEMM_M,
    GEMM_N,
    GEMM_K,
    FILL,
    L2_SHARE,
    TILE_MS,
    TILE_WASTE = TILE_MS + G_N_ELEMENTS(TILES),
    WAVES = TILE_WASTE + G_N_ELEMENTS(TILES),
    DERIVED_COUNT = WAVES + G_N_ELEMENTS(TILES)
};

static const char *const DERIVED_NAMES[DERIVED_COUNT] = {
    [WORK_INTENSITY] = "work flop_per_byte",
    [WHITE_BALANCE] = "white compute_over_memory",
    [WHITE_UPDATE] = "white update_ms",
    [WHITE_EXCHANGE] = "white exchange_ms",
    [WHITE_LAUNCHES] = "white launches",
    [GEMM_M] = "gemm m",
    [GEMM_N] = "gemm n",
    [GEMM_K] = "gemm k",
    [FILL] = "gemm outputs_per_thread",
    [L2_SHARE] = "work bytes_over_l2",
    [TILE_MS] = "white tiles128_ms",
    [TILE_MS + 1] = "white tiles64_ms",
    [TILE_MS + 2] = "white tiles32_ms",
    [TILE_WASTE] = "gemm waste128",
    [TILE_WASTE + 1] = "gemm waste64",
    [TILE_WASTE + 2] = "gemm waste32",
    [WAVES] = "gemm waves128",
    [WAVES + 1] = "gemm waves64",
    [WAVES + 2] = "gemm waves32",
};

/* A matrix product in tiles, one per multiprocessor at a time: the last wave takes as long as a
 * full one, and tiles that overlap the edges compute unused values. */
static void tile_values(const struct orch_row_work *w, const struct orch_gpu_spec *gpu, double *out)
{
    double useful = w->gemm_m * w->gemm_n * w->gemm_b;
    for (size_t i = 0; i < G_N_ELEMENTS(TILES); i++) {
        double side = TILES[i];
        double tiles = ceil(w->gemm_m / side) * ceil(w->gemm_n / side) * w->gemm_b;
        double waves = tiles / gpu->sms;
        double computed = ceil(waves) * gpu->sms * side * side;
        out[TILE_WASTE + i] = computed / useful;
        out[WAVES + i] = waves;
        out[TILE_MS + i] = w->compute_ms * computed / useful;
    }
}

/* Writes what is known to values that are missing so far. */
static void derive(const struct orch_row_work *w, const struct orch_gpu_spec *gpu, double *out)
{
    out[WORK_INTENSITY] = 1e3 * w->gflop / w->mbytes;
    out[WHITE_LAUNCHES] = w->launches;
    out[GEMM_M] = w->gemm_m * w->gemm_b;
    out[GEMM_N] = w->gemm_n;
    out[GEMM_K] = w->gemm_k;
    if (!gpu)
        return;
    out[WHITE_BALANCE] = w->compute_ms / w->memory_ms;
    out[WHITE_UPDATE] = w->update_mbytes / gpu->bandwidth_gbs;
    out[WHITE_EXCHANGE] = w->exchange_mbytes / (gpu->nvlink_gbs > 0 ? gpu->nvlink_gbs / 2 : 12);
    if (gpu->cores > 0)
        out[FILL] = w->elements / gpu->cores;
    if (gpu->l2_mb > 0)
        out[L2_SHARE] = w->mbytes / gpu->l2_mb;
    if (gpu->sms > 0)
        tile_values(w, gpu, out);
}

/* ---- adding the columns ------------------------------------------------------------------------
 */

static void keep(struct orch_matrix *matrix, const char *name, const double *column)
{
    bool is_known = false;
    for (size_t i = 0; i < matrix->rows; i++)
        is_known |= isfinite(column[i]);
    if (!is_known)
        return;
    double *to = orch_matrix_add_number(matrix, name);
    for (size_t i = 0; i < matrix->rows; i++)
        to[i] = isfinite(column[i]) ? column[i] : (double)NAN;
}

#define WORK_AT GPU_FEATURES
#define DERIVED_AT (WORK_AT + G_N_ELEMENTS(WORK))
#define ALL_FEATURES (DERIVED_AT + DERIVED_COUNT)

static const char *name_of(size_t k)
{
    return k < WORK_AT      ? GPU_NAMES[k]
           : k < DERIVED_AT ? WORK[k - WORK_AT].name
                            : DERIVED_NAMES[k - DERIVED_AT];
}

/* Writes all features of a row, `stride` apart. */
static void fill_row(const struct orch_row_facts *f, const struct orch_row_work *w, double *out,
                     size_t stride)
{
    double all[ALL_FEATURES];
    for (size_t k = 0; k < ALL_FEATURES; k++)
        all[k] = (double)NAN;
    if (f->gpu)
        gpu_values(f->gpu, all);
    for (size_t k = 0; w && k < G_N_ELEMENTS(WORK); k++)
        all[WORK_AT + k] = *(const double *)(const void *)((const char *)w + WORK[k].offset);
    if (w)
        derive(w, f->gpu, all + DERIVED_AT);
    for (size_t k = 0; k < ALL_FEATURES; k++)
        out[k * stride] = all[k];
}

/* A device without a specification counts as the reference GPU: its rows still compare by their
 * work, and a model learns the difference. */
static double white_of(const struct orch_row_facts *f, const struct orch_row_work *w)
{
    struct orch_row_facts other = *f;
    struct orch_row_work work = *w;
    if (!f->gpu) {
        other.gpu = orch_gpu_find(REFERENCE_GPU);
        orch_row_work(&other, &work);
    }
    return isfinite(work.prior_tf32_ms) ? work.prior_tf32_ms
                                        : work.roofline_ms + LAUNCH_MS * work.launches;
}

/* Common part of the names of a network family: "efficientnetv" for "tf_efficientnetv2_b0",
 * "resnet" for "gluon_resnet50_v1b". Some collections prefix the origin of the weights, which is
 * removed. */
static char *family_of(const char *net)
{
    static const char *const trained_by[] = {"tf_",     "gluon_", "swsl_", "ssl_", "adv_",
                                             "ens_",    "ig_",    "tv_",   "hf_",  "dm_",
                                             "legacy_", "nf_",    "test_"};
    for (size_t i = 0; i < G_N_ELEMENTS(trained_by); i++)
        if (g_str_has_prefix(net, trained_by[i]))
            net += strlen(trained_by[i]);
    GString *family = g_string_new(NULL);
    for (; g_ascii_isalpha(*net); net++)
        g_string_append_c(family, g_ascii_tolower(*net));
    return g_string_free(family, FALSE);
}

static void add_families(struct orch_matrix *matrix, const struct reader *in)
{
    double *column = orch_matrix_add_category(matrix, ORCH_FAMILY_COLUMN);
    int at = orch_matrix_cols(matrix) - 1;
    for (size_t i = 0; i < matrix->rows; i++) {
        g_autofree char *family = family_of(text_at(in, i, in->net));
        if (*family)
            column[i] = orch_matrix_level(matrix, at, family);
    }
}

void orch_features_add(struct orch_matrix *matrix, const struct orch_csv *csv, bool with_gpu,
                       double *out_white_ms, double *out_items, struct orch_row_device *out_devices)
{
    struct reader in = reader_of(csv);
    g_autoptr(GHashTable) gpus = in.gpus = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) counted = in.counted = counted_rows(&in);
    g_autofree double *all = g_new(double, ALL_FEATURES * matrix->rows + 1);
    for (size_t i = 0; i < matrix->rows; i++) {
        struct orch_row_facts f = facts_of(&in, i);
        struct orch_row_work w;
        take_counts(&in, i, &f, matrix);
        bool known = orch_row_work(&f, &w);
        double count = isnan(f.field[ORCH_FIELD_GPUS]) ? 1 : f.field[ORCH_FIELD_GPUS];
        fill_row(&f, known ? &w : NULL, all + i, matrix->rows);
        out_white_ms[i] = known ? white_of(&f, &w) : (double)NAN;
        out_devices[i] = orch_row_device_of(&f, known ? &w : NULL);
        out_items[i] = f.field[ORCH_FIELD_BATCH] * count;
        if (isnan(out_white_ms[i]))
            out_white_ms[i] = orch_row_specs_ms(&f) * (out_items[i] > 0 ? out_items[i] : 1);
    }
    if (in.net >= 0)
        add_families(matrix, &in);
    for (size_t k = with_gpu ? 0 : WORK_AT; k < ALL_FEATURES; k++)
        keep(matrix, name_of(k), all + k * matrix->rows);
}
