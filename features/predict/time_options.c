/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Converts options into a question about the time of a training. */
#include "features/predict/time_options.h"

#include "core/recipe/option_value.h"
#include "core/schedule/limit_options.h"
#include "features/predict/step_grid.h"
#include "features/predict/steps/frozen.h"
#include "features/predict/steps/name_groups.h"
#include "features/predict/steps/published_steps.h"
#include "lib/base/error.h"
#include "lib/base/text.h"
#include "predictors/paleo/paleo.h"

#include <math.h>
#include <string.h>

void orch_cli_time_assumptions_print(const struct orch_time_question *q)
{
    int width = 0;
    for (guint i = 0; i < q->assumptions->len; i++) {
        const struct orch_assumption *a = q->assumptions->pdata[i];
        width = MAX(width, (int)strlen(a->what));
    }
    printf("assumptions (change with the option in brackets):\n");
    for (guint i = 0; i < q->assumptions->len; i++) {
        const struct orch_assumption *a = q->assumptions->pdata[i];
        orch_cli_print("  %-*s  %s%s%s%s", width, a->what, a->value, a->option ? "  (" : "",
                       a->option ? a->option : "", a->option ? ")" : "");
    }
}

/* ---- words -------------------------------------------------------------------------------------
 */

/* Returns the index of `text` in `names` (NULL-terminated), ignoring case; -1 with
 * ORCH_ERROR_USAGE, which names the option. */
static int read_word(const char *option, const char *text, const char *const *names,
                     const char *hint, GError **error)
{
    for (int i = 0; names[i]; i++)
        if (orch_name_is_same(names[i], text))
            return i;
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "option '--%s': unknown value '%s'", option,
                   text);
    return -1;
}

/* Linear layers in 8 or 4 bits, the rest in bf16. */
static bool read_format(struct orch_time_question *q, const char *text)
{
    static const struct {
        const char *name;
        enum orch_number_format format;
    } formats[] = {{"fp8", ORCH_FORMAT_FP8},
                   {"amp_fp8", ORCH_FORMAT_FP8},
                   {"fp4", ORCH_FORMAT_FP4},
                   {"nvfp4", ORCH_FORMAT_FP4}};
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
        if (g_ascii_strcasecmp(formats[i].name, text) == 0) {
            q->kernels.format = formats[i].format;
            q->precision = ORCH_BF16;
            return true;
        }
    return false;
}

static bool read_precision(struct orch_time_question *q, const char *text, bool is_paleo,
                           GError **error)
{
    if (!text || strcmp(text, "auto") == 0)
        return true;
    static const char *const without[] = {"int8", "int4", "fp8", "fp4", "nf4", NULL};
    q->has_precision =
        orch_precision_find(text, &q->precision) || (!is_paleo && read_format(q, text));
    g_autofree char *lower = g_ascii_strdown(text, -1);
    if (q->kernels.format != ORCH_FORMAT_16 && !(q->net && orch_net_is_attention(q->net))) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use bf16 or fp16",
                       "option '--precision': steps in %s are forecast only for transformers, and "
                       "'%s' is not one",
                       text, q->net ? q->net->name : "a layer table");
        return false;
    }
    if (!q->has_precision)
        orch_error_set(error, ORCH_ERROR_USAGE,
                       is_paleo ? "use fp64, fp32, fp32-ieee, tf32, fp16, bf16 or auto"
                                : "use fp64, fp32, fp32-ieee, tf32, fp16, bf16, fp8, fp4 or auto",
                       g_strv_contains(without, lower)
                           ? "option '--precision': there is no forecast of steps in '%s'"
                           : "option '--precision': unknown value '%s'",
                       text);
    return q->has_precision;
}

static bool read_optimizer(struct orch_time_question *q, const char *text, GError **error)
{
    static const char *const optimizers[] = {"sgd", "momentum", "adam", NULL};
    bool is_adamw = text && orch_name_is_same(text, "adamw"); /* as many states as Adam */
    int usual = q->net && orch_net_is_attention(q->net) ? 2 : 1;
    int found = is_adamw ? 2
                : text
                    ? read_word("optimizer", text, optimizers, "sgd, momentum, adam, adamw", error)
                    : usual;
    q->work.states_per_weight = MAX(found, 0);
    q->has_optimizer = text != NULL;
    return found >= 0;
}

static bool read_scaling(struct orch_time_question *q, const char *text, GError **error)
{
    static const char *const kinds[] = {"weak", "strong", NULL};
    static const char HINT[] =
        "use weak (each worker keeps the batch) or strong (the workers share it)";
    int kind = text ? read_word("scaling", text, kinds, HINT, error) : 0;
    q->strong = kind == 1;
    return kind >= 0;
}

static bool read_scheme(struct orch_time_question *q, const char *text, GError **error)
{
    if (!text)
        return true;
    q->has_scheme = orch_exchange_scheme_find(text, &q->scheme);
    if (!q->has_scheme)
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "use ring, tree, butterfly, one-to-all or hierarchical",
                       "option '--scheme': unknown value '%s'", text);
    return q->has_scheme;
}

static enum orch_time_model model_of(const char *name)
{
    if (name && strcmp(name, "prior") == 0)
        return ORCH_TIME_PRIOR;
    return name && strcmp(name, "transferred") == 0 ? ORCH_TIME_TRANSFERRED : ORCH_TIME_AUTO;
}

/* ---- numbers -----------------------------------------------------------------------------------
 */

/* Parses "1,2,4". */
static bool read_list(const char *text, const char *option, int64_t *out, int *out_count,
                      GError **error)
{
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    int count = 0;
    for (; words[count]; count++) {
        int64_t value = 0;
        if (count == ORCH_TIME_LIST_MAX || !orch_int_parse(g_strstrip(words[count]), &value) ||
            value < 1 || value > 1 << 24) {
            orch_error_set(error, ORCH_ERROR_USAGE,
                           "use whole numbers from 1 to 16777216, for example 1,2,4,8",
                           "option '%s': '%s' is not a valid value", option,
                           words[count] ? words[count] : "");
            return false;
        }
        out[count] = value;
    }
    *out_count = count;
    if (!count)
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "option '%s' is empty", option);
    return count > 0;
}

/* Finds the GPUs that are named, each once. "8xH100" is 8 workers, each on an H100. */
static bool read_gpus(const struct time_options *o, struct orch_time_question *q, GError **error)
{
    const char *gpu = o->gpu ? o->gpu : "";
    size_t digits = strspn(gpu, "0123456789"), at = digits + strspn(gpu + digits, " ");
    bool has_number = digits && (gpu[at] == 'x' || gpu[at] == 'X') && gpu[at + 1];
    g_autofree char *count = g_strndup(gpu, digits);
    gpu += has_number ? at + 1 + strspn(gpu + at + 1, " ") : 0;
    const char *what = NULL, *hint = "leave out one of the two";
    if (!*gpu) {
        what = "option '--gpu' is missing";
        hint = "for example --gpu V100";
    } else if (has_number && o->workers) {
        what = "option '--workers': --gpu already gives the number of devices";
    } else if (strstr(gpu, "paleo:")) {
        what = "option '--gpu': 'orch predict' cannot use the devices of PALEO's table";
        hint = "use 'orch paleo' for these devices";
    }
    if (what) {
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "%s", what);
        return false;
    }
    bool is_all = strcmp(gpu, "all") == 0;
    g_auto(GStrv) words = g_strsplit(is_all ? "" : gpu, ",", -1);
    q->gpu = gpu;
    q->is_ranking = is_all || strchr(gpu, ',');
    q->gpus = g_ptr_array_new();
    for (guint i = 0; is_all && i < q->hardware->gpus->len; i++)
        g_ptr_array_add(q->gpus, q->hardware->gpus->pdata[i]);
    for (int i = 0; words[i]; i++) {
        const struct orch_gpu_spec *spec =
            orch_hardware_gpu(q->hardware, g_strstrip(words[i]), error);
        if (!spec)
            return false;
        if (!g_ptr_array_find(q->gpus, spec, NULL))
            g_ptr_array_add(q->gpus, (void *)(uintptr_t)spec);
    }
    q->has_workers = has_number || o->workers;
    return !has_number || read_list(count, "--workers", q->workers, &q->worker_count, error);
}

/* Parses a number of images: "50000" or "50000 images". */
static bool read_images(const char *text, int64_t *out)
{
    g_autofree char *number = g_strndup(text, strcspn(text, " "));
    return orch_int_parse(number, out) && *out >= 1;
}

static bool read_data(const struct time_options *o, struct orch_time_question *q,
                      const struct orch_usual_data **out, GError **error)
{
    const char *name = o->dataset;
    *out = name ? orch_usual_data_find(name) : NULL;
    if (!name || *out || read_images(name, &q->images))
        return true;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const struct orch_usual_data *d = ORCH_USUAL_DATA; d->name; d++)
        g_ptr_array_add(names, (gpointer)(uintptr_t)d->name);
    g_ptr_array_add(names, NULL);
    g_autofree char *near = orch_suggest_hint(name, (const char *const *)names->pdata);
    orch_error_set(
        error, ORCH_ERROR_USAGE,
        near ? near
             : "use imagenet, cifar10, cifar100, fashion-mnist, mnist, svhn, or a number of images",
        "option '--dataset': unknown data set '%s'", name);
    return false;
}

static bool read_epochs(const char *text, int64_t *out, GError **error)
{
    *out = 0;
    if (!text || (orch_int_parse(text, out) && *out >= 1 && *out <= 1000000))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "use a whole number from 1 to 1000000",
                   "option '--epochs': '%s' is not a valid number", text);
    return false;
}

static bool is_table_name(const char *name)
{
    return name && g_str_has_suffix(name, ".csv");
}

/* The input that --tokens stands for; NULL without it. */
static bool read_tokens(const struct time_options *o, char **out_input, GError **error)
{
    int64_t tokens = 0;
    if (!orch_cli_count(o->tokens, "--tokens", 1 << 20, &tokens, error))
        return false;
    if (tokens && o->input) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out one of the two",
                       "option '--tokens' excludes '--input'");
        return false;
    }
    *out_input = tokens ? g_strdup_printf("1x%" G_GINT64_FORMAT "x1", tokens) : NULL;
    return true;
}

/* Switches of a transformer's kernels, and the power that the GPU has. */
static bool read_kernels(const struct time_options *o, struct orch_time_question *q, GError **error)
{
    static const char *const kinds[] = {"fused", "eager", NULL};
    const char *unused = o->attention  ? "attention"
                         : o->compiled ? "compile"
                         : o->watts    ? "watts"
                                       : NULL;
    int kind =
        o->attention ? read_word("attention", o->attention, kinds, "fused or eager", error) : 0;
    int64_t watts = 0;
    if (kind < 0 || !orch_cli_count(o->watts, "--watts", 100000, &watts, error))
        return false;
    if (unused && !(q->net && orch_net_is_attention(q->net))) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out this option",
                       "option '--%s' is only for transformers, and '%s' is not one", unused,
                       q->net ? q->net->name : o->net);
        return false;
    }
    q->kernels.is_written_out =
        o->attention ? kind == 1 : q->net && orch_net_is_written_out(q->net);
    q->kernels.is_compiled = o->compiled;
    q->kernels.watts = (double)watts;
    q->work.keeps_scores = q->kernels.is_written_out;
    return true;
}

/* The loss of a language model, which has scores for a vocabulary at each token. */
static bool read_loss(const struct time_options *o, struct orch_time_question *q, GError **error)
{
    static const char *const kinds[] = {"plain", "fused", NULL};
    bool is_of_tokens =
        q->net && orch_net_is_sequence(q->net) && orch_net_output(q->net, 0)->out.h > 1;
    int kind = o->loss ? read_word("loss", o->loss, kinds, "plain or fused", error) : 0;
    if (kind < 0)
        return false;
    if (o->loss && !is_of_tokens) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out this option",
                       "option '--loss' is only for language models, and '%s' is not one", o->net);
        return false;
    }
    if (o->loss && o->forward_only) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out one of the two",
                       "option '--loss' excludes '--forward-only'");
        return false;
    }
    q->work.has_fused_loss = kind == 1;
    if (is_of_tokens && o->forward_only)
        orch_time_question_assume(q, "pass", "--forward-only",
                                  "whole sequences at once (prompts); serving, which makes token "
                                  "after token, is not forecast");
    if (is_of_tokens && !o->forward_only)
        orch_time_question_assume(q, "loss", "--loss", "%s",
                                  q->work.has_fused_loss ? "fused" : "plain (cross_entropy)");
    return true;
}

/* Computing activations again instead of keeping them. */
static bool read_checkpointing(const struct time_options *o, struct orch_time_question *q,
                               GError **error)
{
    q->work.checkpoints = o->checkpointing;
    if (q->net && (o->checkpointing || o->parallel)) /* of a file */
        orch_net_group_by_names(q->net);
    if (!o->checkpointing)
        return true;
    const char *why = o->forward_only           ? "--forward-only keeps no activations"
                      : !q->net                 ? "a layer table has no groups of layers"
                      : q->net->group_count < 3 ? "the network has no groups of layers"
                                                : NULL;
    if (why)
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out this option",
                       "option '--checkpointing' cannot be used here: %s", why);
    else
        orch_time_question_assume(q, "activations", "--checkpointing",
                                  "each of %d groups of layers computes its activations again",
                                  q->net->group_count - 2);
    return !why;
}

#define BEST_MAX 1024

static void assume_parallel(struct orch_time_question *q)
{
    const struct orch_parallel *p = &q->parallel;
    g_autofree char *shards =
        p->fsdp > 1
            ? g_strdup_printf("; each holds 1/%d of the weights, gradients and optimizer states",
                              (int)p->fsdp)
            : g_strdup("");
    int micro = (int)orch_parallel_micro_batches(p, q->batches[0]);
    g_autofree char *experts =
        p->ep > 1 ? g_strdup_printf("; experts are divided among %d", (int)p->ep) : g_strdup("");
    g_autofree char *stages =
        p->pp > 1 || micro > 1
            ? g_strdup_printf("; %d micro-batch%s for %d stage%s", micro, micro > 1 ? "es" : "",
                              (int)p->pp, p->pp > 1 ? "s" : "")
            : g_strdup("");
    orch_time_question_assume(q, "parallel", "--parallel", "%d GPUs, %d batch%s at a time%s%s%s%s",
                              (int)q->workers[0], (int)orch_parallel_replicas(p),
                              orch_parallel_replicas(p) > 1 ? "es" : "", shards, experts, stages,
                              p->tp > 1 ? "; GPUs that split layers are in one node" : "");
}

void orch_time_question_set_parallel(struct orch_time_question *q, const struct orch_parallel *p,
                                     int64_t batch)
{
    q->is_parallel = true;
    q->parallel = *p;
    q->worker_count = 1;
    q->workers[0] = orch_parallel_devices(p);
    q->batches[0] = batch;
    assume_parallel(q);
}

/* The best of all ways is found later, by the device. */
static bool read_best(const struct time_options *o, struct orch_time_question *q, GError **error)
{
    const char *why = o->scaling || o->scheme    ? "leave out --scaling and --scheme"
                      : q->worker_count > 1      ? "ask for one number of workers"
                      : q->batch_count > 1       ? "ask for one --batch"
                      : q->workers[0] < 2        ? "name several GPUs, for example --gpu 8xH100"
                      : q->workers[0] > BEST_MAX ? "ask for fewer GPUs"
                                                 : NULL;
    q->wants_best = !why;
    if (why)
        orch_error_set(error, ORCH_ERROR_USAGE, why,
                       "option '--parallel': 'best' splits one batch among 2 to %d GPUs", BEST_MAX);
    return !why;
}

/* Ways in which devices share the training, instead of a number of workers. */
static bool read_parallel(const struct time_options *o, struct orch_time_question *q,
                          GError **error)
{
    bool is_best = o->parallel && q->net && g_ascii_strcasecmp(o->parallel, "best") == 0;
    if (is_best)
        return read_best(o, q, error);
    const char *with = o->scaling ? "'--scaling'" : o->scheme ? "'--scheme'" : NULL;
    if (!o->parallel)
        return true;
    if (with || !q->net) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out one of the two",
                       "option '--parallel' excludes %s", with ? with : "a layer table");
        return false;
    }
    if (!orch_parallel_parse(o->parallel, &q->parallel, error))
        return false;
    g_autofree char *asked =
        o->workers ? g_strdup(o->workers) : g_strdup_printf("%d", (int)q->workers[0]);
    const struct orch_parallel *p = &q->parallel;
    if (q->has_workers && (q->worker_count > 1 || q->workers[0] != orch_parallel_devices(p))) {
        orch_error_set(
            error, ORCH_ERROR_USAGE, "leave out --workers and the number in --gpu",
            "option '--parallel': '%s' uses %d device%s, but --gpu or --workers gives %s",
            o->parallel, (int)orch_parallel_devices(p), orch_plural(orch_parallel_devices(p)),
            asked);
        return false;
    }
    if (q->per_node && (q->per_node % p->tp ||
                        orch_parallel_devices(p) % MIN(q->per_node, orch_parallel_devices(p)))) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "use a --per-node that divides the number of devices",
                       "option '--parallel': the %d devices of '%s' do not fill whole nodes of %d",
                       (int)orch_parallel_devices(p), o->parallel, (int)q->per_node);
        return false;
    }
    orch_time_question_set_parallel(q, p, q->batches[0]);
    return true;
}

static void assume_trained(struct orch_time_question *q, const char *option, const char *how,
                           const struct orch_net_trained_part *part)
{
    g_autofree char *some = orch_net_count_format(part->params);
    g_autofree char *all = orch_net_count_format(part->of_all);
    orch_time_question_assume(q, "trained", option, "%s of %s parameters (%.3g %%): %s", some, all,
                              100 * (double)part->params / (double)MAX(1, part->of_all), how);
}

/* Bits of the frozen weights under adapters; 0: those of the activations. */
static bool read_base_bits(const struct time_options *o, const struct orch_time_question *q,
                           int *out, GError **error)
{
    *out = 0;
    if (o->base_bits && !o->lora_rank) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example --lora-rank 16 --base-bits 4",
                       "option '--base-bits' needs '--lora-rank'");
        return false;
    }
    static const char *const known[] = {"8", "4", "int8", "nf4", "int4", "16", NULL};
    static const int bits[] = {8, 4, 8, 4, 4, 0};
    int at = o->base_bits ? read_word("base-bits", o->base_bits, known, "8 or 4", error) : 5;
    *out = at < 0 ? 0 : o->base_bits || !q->net ? bits[at] : q->net->held_bits;
    return at >= 0;
}

/* Freezes what --trainable leaves out, or everything but the adapters of --lora-rank. */
static bool read_trained(struct orch_cli *cli, const struct time_options *o,
                         struct orch_time_question *q, GError **error)
{
    const char *given = o->trainable ? "trainable" : o->lora_rank ? "lora-rank" : NULL;
    struct orch_net_trained_part part;
    int64_t number = 0;
    double share = 0;
    int bits = 0;
    if (!read_base_bits(o, q, &bits, error))
        return false;
    if (q->net && q->net->held_bits && !o->lora_rank)
        orch_cli_warn(cli,
                      "'%s' is quantized to %d bits, which are not counted: a quantized model is "
                      "trained with adapters (--lora-rank 16)",
                      o->net, q->net->held_bits);
    if (!given)
        return true;
    if (o->forward_only || !q->net || (o->trainable && o->lora_rank)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out one of the two",
                       "option '--%s' excludes %s", given,
                       o->forward_only ? "'--forward-only'"
                       : q->net        ? "'--lora-rank'"
                                       : "a layer table");
        return false;
    }
    if (o->lora_rank) {
        if (!orch_cli_count(o->lora_rank, "--lora-rank", 1 << 16, &number, error) ||
            !orch_net_add_adapters(&q->net, number, &part, error))
            return false;
        if (bits)
            orch_net_pack_weights(q->net, bits);
        g_autofree char *held = bits ? g_strdup_printf("%d bits in linear layers", bits)
                                     : g_strdup("the precision of the activations");
        g_autofree char *how = g_strdup_printf(
            "adapters of rank %d on %d linear layers; frozen weights are held in %s", (int)number,
            part.trained, held);
        assume_trained(q, "--lora-rank", how, &part);
    } else {
        bool is_share = strpbrk(o->trainable, ".eE");
        if (!is_share && orch_int_parse(o->trainable, &number) && number >= 1)
            orch_net_train_blocks(q->net, number, &part);
        else if (is_share && orch_real_parse(o->trainable, &share) && share > 0 && share <= 1)
            orch_net_train_share(q->net, share, &part);
        else {
            orch_error_set(error, ORCH_ERROR_USAGE,
                           "use a number of blocks (2), or a share of the parameters (0.1, 1.0)",
                           "option '--trainable': '%s' is not a valid value", o->trainable);
            return false;
        }
        g_autofree char *how = g_strdup_printf("the last %d of %d blocks", part.trained, part.all);
        assume_trained(q, "--trainable", how, &part);
    }
    g_free(q->costs);
    q->costs = orch_net_costs(q->net);
    return true;
}

static bool open_net(struct orch_cli *cli, const struct time_options *o,
                     struct orch_time_question *q, const struct orch_usual_data *set, bool is_paleo,
                     GError **error)
{
    const char *path = o->net_table ? o->net_table : is_table_name(o->net) ? o->net : NULL;
    if (path)
        return orch_time_question_open_table(q, path, o->net_table ? o->net : NULL, is_paleo,
                                             error);
    if (o->net && orch_paleo_net_is_own(o->net))
        return orch_time_question_open_table(q, NULL, o->net, is_paleo, error);
    if (!o->net) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "for example --net resnet50; 'orch net ls' lists them",
                       "no network is named");
        return false;
    }
    int64_t classes = 0;
    if (!orch_cli_count(o->classes, "--classes", 1 << 24, &classes, error))
        return false;
    g_autofree char *sequence = NULL;
    if (!read_tokens(o, &sequence, error))
        return false;
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    struct orch_net_request request = {
        .name = o->net, .input = sequence ? sequence : o->input, .classes = (int)classes};
    bool ok = orch_time_question_open_net(q, &request, set, notes, error);
    if (ok && sequence && !orch_net_is_sequence(q->net) && !orch_net_is_attention(q->net)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use --input 3x224x224 (C x H x W)",
                       "option '--tokens': '%s' takes images", o->net);
        return false;
    }
    orch_cli_warn_all(cli, notes);
    return ok;
}

/* Parses a share in (0, 1]; NaN when it is not given. */
static bool read_share(const char *text, const char *option, double *out, GError **error)
{
    *out = NAN;
    if (!text || (orch_real_parse(text, out) && *out >= 1e-6 && *out <= 1))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "use a fraction above 0 and at most 1, for example 0.62",
                   "option '%s': '%s' is out of range", option, text);
    return false;
}

/* A share, or for `orch predict` the word that has it measured. */
static bool read_ppp(const char *text, bool paleo, struct orch_time_question *q, GError **error)
{
    q->ppp_is_measured = !paleo && g_strcmp0(text, "measured") == 0;
    return read_share(q->ppp_is_measured ? NULL : text, "--ppp-comp", &q->ppp_comp, error);
}

static bool read_cloud(const struct time_options *o, struct orch_time_question *q, GError **error)
{
    GPtrArray *names = g_ptr_array_new();
    bool known = !o->cloud;
    for (guint i = 0; i < q->hardware->prices->len; i++)
        g_ptr_array_add(
            names,
            (gpointer)(uintptr_t)((const struct orch_price *)q->hardware->prices->pdata[i])->cloud);
    for (guint i = 0; i < q->hardware->offers->len; i++) {
        const struct orch_price *p = q->hardware->offers->pdata[i];
        if (!g_ptr_array_find_with_equal_func(names, p->cloud, g_str_equal, NULL))
            g_ptr_array_add(names, (gpointer)(uintptr_t)p->cloud);
    }
    g_ptr_array_add(names, NULL);
    for (guint i = 0; !known && names->pdata[i]; i++)
        known = orch_name_is_same(names->pdata[i], o->cloud);
    if (!known) {
        g_autofree char *all = g_strjoinv(", ", (char **)names->pdata);
        orch_error_set(error, ORCH_ERROR_USAGE, all,
                       "option '--cloud': no prices of cloud '%s' are known", o->cloud);
    }
    g_ptr_array_unref(names);
    q->cloud = o->cloud;
    q->spot = o->spot;
    if (known && o->price && (o->cloud || o->spot)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out one of the two",
                       "option '--price' excludes '--%s'", o->cloud ? "cloud" : "spot");
        return false;
    }
    return known;
}

static bool read_price_kwh(const char *text, double *out, GError **error)
{
    if (!text || orch_option_usd(text, 1e3, out))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "write dollars, for example --price-kwh 0.30",
                   "option '--price-kwh': '%s' is not an amount above 0", text);
    return false;
}

static bool read_grid(const char *text, struct orch_time_question *q, GError **error)
{
    q->grid_g = NAN;
    if (!text || orch_grid_find(text, &q->grid, &q->grid_g))
        return true;
    bool is_kilograms = orch_real_parse(text, &q->grid_g) && q->grid_g > 0 && q->grid_g < 1;
    if (!is_kilograms && q->grid_g >= 0 && q->grid_g <= 5000)
        return true;
    g_autofree char *known = orch_grid_names();
    g_autofree char *hint = g_strdup_printf("use %s, or grams of CO2 per kWh: --grid 56", known);
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "option '--grid': unknown value '%s'", text);
    return false;
}

/* Threads change the rates of this machine's processor alone. */
static bool read_threads(const char *text, struct orch_time_question *q, GError **error)
{
    bool has_processor = !text || !q->gpus;
    for (guint i = 0; !has_processor && i < q->gpus->len; i++)
        has_processor = ((const struct orch_gpu_spec *)q->gpus->pdata[i])->unit == ORCH_GPU_HOST;
    if (has_processor)
        return orch_cli_count(text, "--threads", 1 << 20, &q->threads, error);
    orch_error_set(error, ORCH_ERROR_USAGE, "leave out this option",
                   "option '--threads' is only for processors (--gpu here)");
    return false;
}

static bool read_numbers(const struct time_options *o, struct orch_time_question *q, bool paleo,
                         GError **error)
{
    if (!read_list(o->batches ? o->batches
                   : paleo    ? "128"
                              : "64",
                   "--batch", q->batches, &q->batch_count, error) ||
        !read_ppp(o->ppp_comp, paleo, q, error) ||
        !read_share(o->ppp_comm, "--ppp-comm", &q->ppp_comm, error) ||
        (!q->worker_count && !read_list(o->workers ? o->workers : "1", "--workers", q->workers,
                                        &q->worker_count, error)) ||
        !read_scaling(q, o->scaling, error))
        return false;
    if (!o->batches)
        orch_time_question_assume(q, "batch", "--batch", "%d %ss a worker", paleo ? 128 : 64,
                                  orch_time_question_sample(q));
    return read_optimizer(q, o->optimizer, error) &&
           (!o->price || orch_price_read(o->price, &q->price, error)) &&
           read_price_kwh(o->price_kwh, &q->price_kwh, error) && read_grid(o->grid, q, error) &&
           orch_cli_count(o->per_node, "--per-node", 1 << 20, &q->per_node, error) &&
           read_threads(o->threads, q, error) && read_cloud(o, q, error);
}

/* The link within a node says nothing of that between nodes. */
static bool check_nodes(const struct orch_time_question *q, GError **error)
{
    int64_t most = orch_time_question_most(q);
    if (!q->per_node || most <= q->per_node || q->link)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "add a network ('orch gpu links'), for example --network ethernet25",
                   "%d workers with %d in each node need a network between the nodes", (int)most,
                   (int)q->per_node);
    return false;
}

static bool counts_fit(const struct orch_time_question *q, GError **error)
{
    for (int i = 0; q->net && i < q->batch_count; i++)
        if (!orch_net_counts_check(q->net, q->batches[i], error))
            return false;
    return true;
}

/* True if each is a source of published steps. */
static bool check_without(const char *const *names, GError **error)
{
    const GPtrArray *sources = orch_published_sources();
    g_autoptr(GPtrArray) known = g_ptr_array_new();
    for (guint i = 0; i < sources->len; i++)
        g_ptr_array_add(
            known,
            (gpointer)(uintptr_t)((const struct orch_published_source *)sources->pdata[i])->name);
    g_ptr_array_add(known, NULL);
    for (int i = 0; names && names[i]; i++) {
        if (g_strv_contains((const char *const *)known->pdata, names[i]))
            continue;
        g_autofree char *all = g_strjoinv(", ", (char **)known->pdata);
        g_autofree char *hint = g_strdup_printf("known: %s", all);
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "option '--without': unknown value '%s'",
                       names[i]);
        return false;
    }
    return true;
}

bool orch_cli_time_options_read(struct orch_cli *cli, struct orch_time_question *q,
                                const struct time_options *o, bool is_paleo, GError **error)
{
    const struct orch_usual_data *set = NULL;
    int64_t epochs = 0;
    if (!orch_time_question_init(q, error) || (!is_paleo && !read_gpus(o, q, error)) ||
        !check_without(o->without, error) || !read_data(o, q, &set, error) ||
        !open_net(cli, o, q, set, is_paleo, error) || !read_epochs(o->epochs, &epochs, error))
        return false;
    orch_time_question_set_work(q, set, epochs, !is_paleo);
    q->work.training = !o->forward_only;
    q->model = model_of(o->model);
    q->calibrate = o->calibrate;
    q->without = o->without;
    if (!read_trained(cli, o, q, error) || !read_kernels(o, q, error) || !read_loss(o, q, error) ||
        !read_checkpointing(o, q, error))
        return false;
    if (!read_numbers(o, q, is_paleo, error) || !counts_fit(q, error) ||
        !read_precision(q, o->precision, is_paleo, error))
        return false;
    if (is_paleo)
        return true;
    if (!read_parallel(o, q, error))
        return false;
    if (o->network)
        q->link = orch_hardware_link(q->hardware, o->network, error);
    return (!o->network || q->link) && check_nodes(q, error) && read_scheme(q, o->scheme, error);
}
