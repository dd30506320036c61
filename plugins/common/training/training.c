/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One loop for training from scratch and for transfer learning, which differ in the initial weights
 * and in the layers that are trained. A frozen body gives the same features in every epoch, so they
 * may be computed once to train the head alone. */
#include "plugins/common/training/training.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/text.h"
#include "lib/net/net.h"
#include "plugins/common/data/image_set.h"
#include "plugins/common/data/loader.h"
#include "plugins/common/data/picture.h"
#include "plugins/common/data/random.h"
#include "plugins/common/schedule/lr_schedule.h"
#include "plugins/common/torch/torch.h"
#include "plugins/common/weights/weights.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/** Number of steps in a smoke run. */
enum { SMOKE_STEPS = 2 };
/** Maximum points of the loss by step; and minimum steps per point on a GPU, where reading the loss
 * waits for all queued work. */
enum { STEP_POINTS = 400, GPU_STEPS = 8 };

/* State of one training. */
struct state {
    const struct orch_training *t;
    const struct orch_host *host;
    const struct orch_torch *torch;
    struct orch_image_set *train_set, *val_set;
    struct orch_subset *train, *val, *val_part;
    struct orch_net *net;
    struct orch_torch_model *model;
    struct orch_schedule schedule;
    int64_t epochs;
    /* the frozen body's outputs if they are computed once: rows of feature_count floats */
    float *train_features, *val_features, *val_part_features;
    double feature_s, training_s;
    double best;
    int64_t best_epoch;
    struct orch_torch_totals epoch_totals;
    struct orch_torch_totals last_val; /* the last epoch of this attempt; 0 images: none yet */
    /* loss by step: a point is the mean over the images of the steps since the previous point */
    int64_t steps_per_epoch, steps_per_point;
    struct orch_torch_totals point_totals;
};

static int fail_text(const struct orch_host *host, int status, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
static int fail_text(const struct orch_host *host, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    host->fail(host, text);
    return status;
}

static int fail_error(const struct orch_host *host, GError *error)
{
    host->fail(host, error ? error->message : "failed");
    g_clear_error(&error);
    return ORCH_FAILED;
}

static void note(const struct orch_host *host, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void note(const struct orch_host *host, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    host->note(host, text);
}

/* ---- configuration ----------------------------------------------------------------------------
 */

static struct orch_image_set_options data_options(const struct orch_training *t,
                                                  enum orch_split split)
{
    const struct orch_image_set_facts *facts = orch_image_set_find(t->dataset);
    return (struct orch_image_set_options){.name = facts ? facts->name : t->dataset,
                                           .root = t->data_root,
                                           .split = split,
                                           .channels = 3,
                                           .height = (int)t->image_size,
                                           .width = (int)t->image_size};
}

/* Shape of an image and number of classes without reading data; classes 0: determined by a
 * folder. */
static void declared_shape(const struct orch_training *t, int *channels, int *side,
                           int64_t *classes)
{
    const struct orch_image_set_facts *facts = orch_image_set_find(t->dataset);
    bool known = facts && facts->height;
    *channels = known ? facts->channels : 3;
    *side = known ? facts->height : (int)t->image_size;
    *classes = t->classes.count ? (int64_t)t->classes.count
               : known          ? facts->classes
               : facts          ? 10
                                : 0;
}

static bool read_schedule(const struct orch_training *t, int64_t epochs, struct orch_schedule *out,
                          GError **error)
{
    *out = (struct orch_schedule){.lr = t->lr,
                                  .epochs = (double)epochs,
                                  .warmup_epochs = t->warmup_epochs,
                                  .gamma = t->gamma};
    orch_schedule_kind_parse(t->schedule, &out->kind);
    if (out->kind != ORCH_SCHEDULE_STEPS)
        return true;
    size_t late = 0;
    const char *const *texts = t->milestones.items;
    if (!orch_schedule_milestones_parse(out, texts, t->milestones.count, &late, error))
        return false;
    if (late && late == t->milestones.count) {
        orch_error_set(error, ORCH_ERROR_RECIPE,
                       "write them in per cent, e.g. milestones: [30%, 60%, 90%], or train longer",
                       "milestones: all %zu learning-rate drops come after the last of %d epochs",
                       late, (int)epochs);
        return false;
    }
    return true;
}

static struct orch_net *make_net(const struct orch_training *t, int64_t classes_if_unknown,
                                 GError **error)
{
    int channels, side;
    int64_t classes;
    declared_shape(t, &channels, &side, &classes);
    struct orch_net_options options = {t->net, channels, side, side,
                                       classes ? classes : classes_if_unknown};
    return orch_net_make(&options, error);
}

/* ---- check and cost ---------------------------------------------------------------------------
 */

static const char *file_digest(void *ctx, const char *path)
{
    const struct orch_host *host = ctx;
    return host->file_digest(host, path);
}

/* One input per split, whose digest depends only on the images, not on their location or the number
 * of files. */
static int name_inputs(const struct orch_training *t, const struct orch_host *host)
{
    static const char *const names[] = {"train", "test"};
    for (int split = 0; split < 2; split++) {
        GError *error = NULL;
        char digest[65];
        struct orch_image_set_options options = data_options(t, (enum orch_split)split);
        if (!orch_image_set_digest(&options, file_digest, (void *)(uintptr_t)host, digest, &error))
            return fail_error(host, error);
        host->input(host, names[split], digest);
    }
    return ORCH_OK;
}

int orch_training_check(const struct orch_training *t, const struct orch_host *host)
{
    GError *error = NULL;
    struct orch_schedule schedule;
    struct orch_net *net = make_net(t, 10, &error);
    bool ok = net && read_schedule(t, t->epochs, &schedule, &error);
    if (ok && (t->freeze < 0 || t->freeze >= net->group_count)) {
        orch_error_set(
            &error, ORCH_ERROR_RECIPE, NULL,
            "freeze: %d, but network '%s' has layer groups 0 to %d, and the last must learn",
            (int)t->freeze, t->net, net->group_count - 1);
        ok = false;
    }
    if (ok && t->layer_rates.count > (size_t)net->group_count) {
        orch_error_set(&error, ORCH_ERROR_RECIPE, NULL,
                       "layer_rates: %zu factors for the %d layer groups of network '%s'",
                       t->layer_rates.count, net->group_count, t->net);
        ok = false;
    }
    if (ok && t->feature_extractor && t->cache_features && (t->crop_pad || t->flip)) {
        orch_error_set(&error, ORCH_ERROR_RECIPE,
                       "set cache_features: false, or leave out crop_pad and flip",
                       "features that are computed once cannot be augmented");
        ok = false;
    }
    orch_net_free(net);
    if (!ok)
        return fail_error(host, error);
    return host->smoke(host) ? ORCH_OK : name_inputs(t, host);
}

int orch_training_cost(const struct orch_training *t, struct orch_cost *out)
{
    const struct orch_image_set_facts *facts = orch_image_set_find(t->dataset);
    int channels, side;
    int64_t classes;
    static char input[64];
    declared_shape(t, &channels, &side, &classes);
    snprintf(input, sizeof input, "%dx%dx%d", channels, side, side);
    out->workers = 1;
    g_autofree char *net = orch_net_canonical_name(t->net);
    out->network = g_intern_string(net ? net : t->net);
    out->precision = t->precision;
    out->framework = "libtorch";
    out->input = input;
    out->classes = classes;
    out->batch = t->batch;
    out->epochs = (double)t->epochs;
    out->training = !t->feature_extractor;
    if (t->per_class && classes)
        out->images = t->per_class * classes;
    else if (facts && facts->classes)
        out->images = facts->train_count * classes / facts->classes;
    return ORCH_OK;
}

/* ---- opening ----------------------------------------------------------------------------------
 */

static bool open_data(struct state *s, GError **error)
{
    const struct orch_training *t = s->t;
    bool smoke = s->host->smoke(s->host);
    int channels, side;
    int64_t classes;
    declared_shape(t, &channels, &side, &classes);
    struct orch_image_set **sets[2] = {&s->train_set, &s->val_set};
    s->host->phase(s->host, "reading data");
    for (int split = 0; split < 2; split++) {
        struct orch_image_set_options options = data_options(t, (enum orch_split)split);
        if (smoke) {
            options.name = "synthetic";
            options.channels = channels;
            options.height = options.width = side;
            options.synthetic_count = MAX(SMOKE_STEPS * t->batch, 4 * classes);
            options.synthetic_classes = (int)(classes ? classes : 10);
        }
        *sets[split] = orch_image_set_open(&options, error);
        if (!*sets[split])
            return false;
    }
    uint64_t seed = s->host->derive_seed(s->host, "subset");
    const int64_t *chosen = smoke ? NULL : t->classes.items;
    size_t count = smoke ? 0 : t->classes.count;
    s->train = orch_subset_new(s->train_set, chosen, count, smoke ? 0 : t->per_class, seed, error);
    s->val = s->train ? orch_subset_new(s->val_set, chosen, count, 0, seed, error) : NULL;
    s->val_part = s->val ? orch_subset_new(s->val_set, chosen, count, 0, seed, error) : NULL;
    if (!s->val_part)
        return false;
    if (smoke) /* data for two steps */
        orch_subset_limit(s->train, SMOKE_STEPS * t->batch, seed);
    orch_subset_limit(s->val_part, t->val_images, seed);
    return true;
}

static bool load_weights(struct state *s, GError **error)
{
    struct orch_weights *weights = orch_weights_load(s->t->weights, error);
    struct orch_torch_load_report report = {0};
    bool ok =
        weights && orch_torch_state_load(s->torch, s->model, s->net, weights, true, &report, error);
    if (ok && (report.missing->len || report.mismatched->len || report.extra->len))
        note(s->host,
             "the base network gave %zu tensors; the head is new (%u of other shape, %u missing, "
             "%u left over)",
             report.loaded, report.mismatched->len, report.missing->len, report.extra->len);
    orch_torch_load_report_clear(&report);
    orch_weights_free(weights);
    return ok;
}

static bool set_optimizer(struct state *s, GError **error)
{
    const struct orch_training *t = s->t;
    struct orch_torch_optimizer optimizer = {
        .method = strcmp(t->optimizer, "adam") == 0 ? ORCH_TORCH_ADAM : ORCH_TORCH_SGD,
        .momentum = t->momentum,
        .nesterov = t->nesterov,
        .weight_decay = t->weight_decay,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = 1e-8,
        .group_rates = t->layer_rates.items,
        .group_rate_count = t->layer_rates.count,
        .frozen_groups = t->feature_extractor ? s->net->group_count - 1 : (int)t->freeze,
    };
    return s->torch->optimizer_set(s->model, &optimizer, error);
}

static const char *choose_device(const struct state *s)
{
    if (strcmp(s->t->device, "auto") != 0)
        return s->t->device;
    return s->torch->cuda_count() > 0 ? "cuda" : "cpu";
}

static int threads_of(const struct state *s)
{
    const char *text = g_getenv("ORCH_THREADS");
    int slot = text ? (int)g_ascii_strtoll(text, NULL, 10) : 0;
    return s->t->threads > 0 ? (int)s->t->threads : MAX(1, slot);
}

static bool open_model(struct state *s, GError **error)
{
    s->host->phase(s->host, "loading LibTorch");
    s->torch = orch_torch_load(error);
    if (!s->torch)
        return false;
    s->torch->threads_set(threads_of(s));
    s->torch->seed(s->host->derive_seed(s->host, "dropout"));
    struct orch_torch_setup setup = {
        .device = choose_device(s),
        .precision = strcmp(s->t->precision, "bf16") == 0 ? ORCH_TORCH_BF16 : ORCH_TORCH_FP32,
        .channels_last = s->t->channels_last,
    };
    struct orch_net_options options = {s->t->net, s->train_set->channels, s->train_set->height,
                                       s->train_set->width, s->train->classes};
    s->net = orch_net_make(&options, error);
    s->model = s->net ? s->torch->model_new(s->net, &setup, error) : NULL;
    return s->model &&
           orch_torch_init(s->torch, s->model, s->net, s->host->derive_seed(s->host, "init"),
                           error) &&
           (!s->t->weights || s->host->smoke(s->host) || load_weights(s, error)) &&
           set_optimizer(s, error);
}

int orch_training_open(const struct orch_training *t, const struct orch_host *host,
                       void **out_state)
{
    struct state *s = g_new0(struct state, 1);
    GError *error = NULL;
    s->t = t;
    s->host = host;
    s->epochs = host->smoke(host) ? 1 : t->epochs;
    *out_state = s;
    bool needs_gpu = g_str_has_prefix(t->device, "cuda");
    if (!read_schedule(t, t->epochs, &s->schedule, &error) || !open_data(s, &error)) {
        orch_training_close(s);
        return fail_error(host, error);
    }
    if (!open_model(s, &error)) {
        bool skipped = needs_gpu && s->torch && s->torch->cuda_count() == 0;
        orch_training_close(s);
        if (!skipped)
            return fail_error(host, error);
        g_clear_error(&error);
        return fail_text(host, ORCH_SKIPPED, "no CUDA device");
    }
    return ORCH_OK;
}

void orch_training_close(void *state)
{
    struct state *s = state;
    if (!s)
        return;
    if (s->model)
        s->torch->model_free(s->model);
    orch_net_free(s->net);
    orch_subset_free(s->train);
    orch_subset_free(s->val);
    orch_subset_free(s->val_part);
    orch_image_set_free(s->train_set);
    orch_image_set_free(s->val_set);
    g_free(s->train_features);
    g_free(s->val_features);
    g_free(s->val_part_features);
    g_free(s);
}

/* ---- describing the data ----------------------------------------------------------------------
 */

/* Writes the artifact `classes`: number of images per class. */
static bool write_classes(const struct state *s, const int64_t *train, GError **error)
{
    g_autofree int64_t *val = orch_subset_counts(s->val);
    g_autoptr(GString) csv = g_string_new("class,training images,validation images\n");
    for (int i = 0; i < s->train->classes; i++) {
        orch_csv_append(csv, orch_subset_class_name(s->train, i));
        g_string_append_printf(csv, ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT "\n", train[i],
                               val[i]);
    }
    if (!g_file_set_contents("classes.csv", csv->str, (gssize)csv->len, error))
        return false;
    s->host->artifact(s->host, "classes", "classes.csv");
    return true;
}

static bool describe_data(struct state *s, GError **error)
{
    const struct orch_host *host = s->host;
    g_autofree int64_t *counts = orch_subset_counts(s->train);
    int64_t least = counts[0], most = counts[0], trained = 0;
    GString *text = g_string_new("training images a class:");
    for (int i = 0; i < s->train->classes; i++) {
        least = MIN(least, counts[i]);
        most = MAX(most, counts[i]);
        if (i < 100)
            g_string_append_printf(text, "%s %s %d", i ? "," : "",
                                   orch_subset_class_name(s->train, i), (int)counts[i]);
    }
    host->note(host, text->str);
    g_string_free(text, TRUE);
    int frozen = s->t->feature_extractor ? s->net->group_count - 1 : (int)s->t->freeze;
    for (guint i = 0; i < s->net->tensors->len; i++) {
        const struct orch_net_tensor *tensor = orch_net_tensor(s->net, (int)i);
        bool learns = tensor->role == ORCH_NET_WEIGHT || tensor->role == ORCH_NET_BIAS;
        if (learns && orch_net_node(s->net, tensor->node)->group >= frozen)
            trained += tensor->count;
    }
    host->result(host, "params", (double)orch_net_params(s->net));
    host->result(host, "trained_params", (double)trained);
    host->result(host, "class_count", s->train->classes);
    host->result(host, "train_images", (double)s->train->count);
    host->result(host, "epoch_val_images", (double)s->val_part->count);
    host->result(host, "val_images_total", (double)s->val->count);
    host->result(host, "image_channels", s->train->dataset->channels);
    host->result(host, "image_height", s->train->dataset->height);
    host->result(host, "image_width", s->train->dataset->width);
    host->result(host, "class_images_min", (double)least);
    host->result(host, "class_images_max", (double)most);
    if (!write_classes(s, counts, error) ||
        !orch_picture_samples(s->train, 2, 4, 112, "samples.png", error))
        return false;
    host->artifact(host, "samples", "samples.png");
    return true;
}

/* ---- features computed once -------------------------------------------------------------------
 */

static float *compute_features(struct state *s, const struct orch_subset *subset, GError **error)
{
    int64_t width = s->torch->feature_count(s->model);
    float *features = g_new(float, (gsize)(subset->count * width) + 1);
    struct orch_loader_options options = {.batch = 256, .threads = (int)s->t->loader_threads};
    struct orch_loader *loader = orch_loader_new(subset, &options, error);
    struct orch_loader_batch batch;
    int64_t done = 0;
    bool ok = loader != NULL;
    if (ok)
        orch_loader_start(loader, 0);
    while (ok && orch_loader_next(loader, &batch)) {
        struct orch_torch_batch input = {
            .input = ORCH_TORCH_FLOAT, .images = batch.images, .count = batch.count};
        ok = s->torch->features(s->model, &input, features + done * width, error);
        done += batch.count;
    }
    orch_loader_free(loader);
    if (!ok)
        g_clear_pointer(&features, g_free);
    return features;
}

static bool cache_features(struct state *s, GError **error)
{
    int64_t begin = orch_mono_ns();
    s->host->phase(s->host, "computing features");
    s->train_features = compute_features(s, s->train, error);
    s->feature_s = (double)(orch_mono_ns() - begin) / 1e9;
    s->val_part_features = s->train_features ? compute_features(s, s->val_part, error) : NULL;
    s->val_features = s->val_part_features ? compute_features(s, s->val, error) : NULL;
    if (!s->val_features)
        return false;
    note(s->host,
         "the frozen body's %d features an image were computed once (%.2f s for the training "
         "images); epoch_time is the head's alone, training_time holds both",
         (int)s->torch->feature_count(s->model), s->feature_s);
    s->host->result(s->host, "feature_time", s->feature_s);
    return true;
}

/* ---- epochs -----------------------------------------------------------------------------------
 */

static void plan_points(struct state *s)
{
    s->steps_per_epoch = (s->train->count + s->t->batch - 1) / s->t->batch;
    int64_t steps = s->steps_per_epoch * s->epochs;
    bool is_gpu = strcmp(choose_device(s), "cpu") != 0;
    s->steps_per_point = MAX((steps + STEP_POINTS - 1) / STEP_POINTS, is_gpu ? GPU_STEPS : 1);
}

static void add_totals(struct orch_torch_totals *sum, const struct orch_torch_totals *part)
{
    sum->images += part->images;
    sum->correct += part->correct;
    sum->loss += part->loss;
}

/* Adds the model's sums to the totals of the epoch and of the current point. */
static bool take_totals(struct state *s, GError **error)
{
    struct orch_torch_totals part;
    if (!s->torch->totals_take(s->model, &part, error))
        return false;
    add_totals(&s->epoch_totals, &part);
    add_totals(&s->point_totals, &part);
    return true;
}

/* Reports the loss if a point is due. Batch `number` (from 0) of the epoch has just been trained
 * on. */
static bool after_step(struct state *s, int64_t epoch, int64_t number, GError **error)
{
    int64_t step = epoch * s->steps_per_epoch + number + 1;
    if (step % s->steps_per_point && step != s->epochs * s->steps_per_epoch)
        return true;
    if (!take_totals(s, error))
        return false;
    s->host->metric(s->host, "step_loss", step,
                    s->point_totals.loss / (double)MAX(1, s->point_totals.images));
    s->point_totals = (struct orch_torch_totals){0};
    return true;
}

/* Trains or evaluates on batches of features, in a random order drawn from seed and epoch, or
 * unchanged. */
static bool each_feature_batch(struct state *s, const struct orch_subset *subset,
                               const float *features, int64_t epoch, bool train, GError **error)
{
    int64_t width = s->torch->feature_count(s->model), size = train ? s->t->batch : 1024;
    g_autofree int64_t *order = g_new(int64_t, subset->count + 1);
    g_autofree float *rows = g_new(float, (gsize)(size * width));
    g_autofree int64_t *labels = g_new(int64_t, size);
    for (int64_t i = 0; i < subset->count; i++)
        order[i] = i;
    if (train)
        orch_random_shuffle(order, subset->count,
                            orch_random_stream(s->host->derive_seed(s->host, "shuffle"), 0x5f0ff1e,
                                               (uint64_t)epoch));
    for (int64_t first = 0; first < subset->count; first += size) {
        int64_t count = MIN(size, subset->count - first);
        for (int64_t i = 0; i < count; i++) {
            memcpy(rows + i * width, features + order[first + i] * width,
                   sizeof(float) * (size_t)width);
            labels[i] = orch_subset_label(subset, order[first + i]);
        }
        struct orch_torch_batch batch = {
            .input = ORCH_TORCH_FEATURES, .images = rows, .labels = labels, .count = count};
        double at = (double)epoch + (double)first / (double)subset->count;
        if (train)
            s->torch->rate_set(s->model, orch_schedule_rate(&s->schedule, at));
        if (!(train ? s->torch->train(s->model, &batch, error) &&
                          after_step(s, epoch, first / size, error)
                    : s->torch->evaluate(s->model, &batch, error)))
            return false;
    }
    return true;
}

static bool train_epoch(struct state *s, struct orch_loader *loader, int64_t epoch, GError **error)
{
    if (s->train_features)
        return each_feature_batch(s, s->train, s->train_features, epoch, true, error);
    struct orch_loader_batch batch;
    int64_t number = 0, total = orch_loader_batches(loader);
    orch_loader_start(loader, epoch);
    for (; orch_loader_next(loader, &batch); number++) {
        struct orch_torch_batch input = {.input = ORCH_TORCH_FLOAT,
                                         .images = batch.images,
                                         .labels = batch.labels,
                                         .count = batch.count};
        double at = (double)epoch + (double)number / (double)total;
        s->torch->rate_set(s->model, orch_schedule_rate(&s->schedule, at));
        if (!s->torch->train(s->model, &input, error) || !after_step(s, epoch, number, error))
            return false;
        if (number % 16 == 0) {
            s->host->progress(s->host, at, (double)s->epochs);
            if (s->host->cancelled(s->host))
                return true;
        }
    }
    return true;
}

static bool validate(struct state *s, const struct orch_subset *subset, const float *features,
                     struct orch_torch_totals *out, GError **error)
{
    struct orch_torch_totals dropped;
    if (!s->torch->totals_take(s->model, &dropped, error))
        return false;
    if (features)
        return each_feature_batch(s, subset, features, 0, false, error) &&
               s->torch->totals_take(s->model, out, error);
    struct orch_loader_options options = {.batch = 256, .threads = (int)s->t->loader_threads};
    struct orch_loader *loader = orch_loader_new(subset, &options, error);
    struct orch_loader_batch batch;
    bool ok = loader != NULL;
    if (ok)
        orch_loader_start(loader, 0);
    while (ok && orch_loader_next(loader, &batch)) {
        struct orch_torch_batch input = {.input = ORCH_TORCH_FLOAT,
                                         .images = batch.images,
                                         .labels = batch.labels,
                                         .count = batch.count};
        ok = s->torch->evaluate(s->model, &input, error);
    }
    orch_loader_free(loader);
    return ok && s->torch->totals_take(s->model, out, error);
}

static double accuracy_of(const struct orch_torch_totals *totals)
{
    return (double)totals->correct / (double)MAX(1, totals->images);
}

static double loss_of(const struct orch_torch_totals *totals)
{
    return totals->loss / (double)MAX(1, totals->images);
}

/* Runs and reports one epoch with its validation. `*out_status`: ORCH_OK to continue. */
static bool one_epoch(struct state *s, struct orch_loader *loader, int64_t epoch, int *out_status,
                      GError **error)
{
    const struct orch_host *host = s->host;
    struct orch_torch_totals val;
    int64_t begin = orch_mono_ns();
    *out_status = ORCH_OK;
    host->phase(host, "training");
    s->epoch_totals = (struct orch_torch_totals){0};
    if (!train_epoch(s, loader, epoch, error) || !take_totals(s, error))
        return false;
    struct orch_torch_totals train = s->epoch_totals;
    double seconds = (double)(orch_mono_ns() - begin) / 1e9;
    if (host->cancelled(host)) {
        *out_status = ORCH_CANCELLED;
        return true;
    }
    s->training_s += seconds;
    host->phase(host, "validating");
    if (!validate(s, s->val_part, s->val_part_features, &val, error))
        return false;
    s->last_val = val;
    double accuracy = accuracy_of(&val);
    double loss = train.loss / (double)MAX(1, train.images);
    host->metric(host, "train_loss", epoch + 1, loss);
    host->metric(host, "train_accuracy", epoch + 1,
                 (double)train.correct / (double)MAX(1, train.images));
    host->metric(host, "val_loss", epoch + 1, loss_of(&val));
    host->metric(host, "val_accuracy", epoch + 1, accuracy);
    host->metric(host, "val_error", epoch + 1, 1 - accuracy);
    host->metric(host, "epoch_time", epoch + 1, seconds);
    host->metric(host, "images_per_s", epoch + 1, (double)train.images / seconds);
    host->metric(host, "lr", epoch + 1, orch_schedule_rate(&s->schedule, (double)epoch));
    host->progress(host, (double)epoch + 1, (double)s->epochs);
    if (accuracy > s->best || s->best_epoch == 0) {
        s->best = accuracy;
        s->best_epoch = epoch + 1;
    }
    if (!isfinite(loss)) {
        host->fail(host, "the training loss is not finite");
        *out_status = ORCH_DIVERGED;
    }
    return true;
}

static char *checkpoint_path(const struct state *s)
{
    const char *folder = s->host->checkpoint_dir(s->host);
    return folder && !s->host->smoke(s->host)
               ? g_build_filename(folder, "training.safetensors", NULL)
               : NULL;
}

/* Restores an earlier attempt's checkpoint; `*out_epoch` is 0 if there is none. */
static bool resume(struct state *s, const char *path, int64_t *out_epoch, GError **error)
{
    struct orch_torch_progress progress = {0};
    GError *problem = NULL;
    *out_epoch = 0;
    if (!path || orch_torch_checkpoint_load(s->torch, s->model, path, &progress, &problem)) {
        *out_epoch = progress.epoch;
        s->best = progress.best;
        s->best_epoch = progress.best_epoch;
        if (progress.epoch)
            note(s->host, "an earlier attempt had finished %d epochs; this one went on from there",
                 (int)progress.epoch);
        return true;
    }
    if (g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND)) {
        g_clear_error(&problem);
        return true;
    }
    g_propagate_prefixed_error(error, problem, "cannot resume: ");
    return false;
}

static bool save_weights(struct state *s, GError **error)
{
    struct orch_weights *weights = orch_torch_state_copy(s->torch, s->model, error);
    bool ok = weights && orch_weights_save(weights, "weights.safetensors", false, error);
    orch_weights_free(weights);
    if (ok)
        s->host->artifact(s->host, "weights", "weights.safetensors");
    return ok;
}

/* Validates on the last epoch's images and on all. An attempt that resumed after the last epoch has
 * not validated yet. */
static bool validate_end(struct state *s, struct orch_torch_totals *all, GError **error)
{
    if (!s->last_val.images && !validate(s, s->val_part, s->val_part_features, &s->last_val, error))
        return false;
    if (s->val_part->count < s->val->count)
        return validate(s, s->val, s->val_features, all, error);
    *all = s->last_val;
    return true;
}

/* final_accuracy and best_accuracy use the same images, so that the best epoch is never below the
 * last one; full_accuracy uses all validation images. */
static bool finish(struct state *s, GError **error)
{
    struct orch_torch_totals all;
    s->host->phase(s->host, "final validation");
    if (!validate_end(s, &all, error) || !save_weights(s, error))
        return false;
    s->host->result(s->host, "final_accuracy", accuracy_of(&s->last_val));
    s->host->result(s->host, "final_loss", loss_of(&s->last_val));
    s->host->result(s->host, "full_accuracy", accuracy_of(&all));
    s->host->result(s->host, "full_loss", loss_of(&all));
    s->host->result(s->host, "best_accuracy", s->best);
    s->host->result(s->host, "best_epoch", (double)s->best_epoch);
    s->host->result(s->host, "training_time", s->training_s + s->feature_s);
    return true;
}

static int run_epochs(struct state *s, struct orch_loader *loader, GError **error)
{
    g_autofree char *checkpoint = checkpoint_path(s);
    int64_t epoch, saved_ns = orch_mono_ns();
    int status = ORCH_OK;
    if (!resume(s, checkpoint, &epoch, error))
        return -1;
    plan_points(s);
    for (; epoch < s->epochs && status == ORCH_OK; epoch++) {
        if (!one_epoch(s, loader, epoch, &status, error))
            return -1;
        struct orch_torch_progress progress = {epoch + 1, s->best, s->best_epoch};
        bool due = orch_mono_ns() - saved_ns > INT64_C(30000000000); /* every half minute */
        if (status == ORCH_OK && checkpoint && due) {
            if (!orch_torch_checkpoint_save(s->torch, s->model, &progress, checkpoint, error))
                return -1;
            saved_ns = orch_mono_ns();
        }
    }
    return status;
}

int orch_training_run(void *state, const struct orch_host *host)
{
    struct state *s = state;
    GError *error = NULL;
    s->host = host;
    bool caches = s->t->feature_extractor && s->t->cache_features;
    if (!describe_data(s, &error) || (caches && !cache_features(s, &error)))
        return fail_error(host, error);
    struct orch_loader_options options = {.batch = (int)s->t->batch,
                                          .threads = (int)s->t->loader_threads,
                                          .shuffle = true,
                                          .transforms = orch_transforms_crop_flip(
                                              (int)s->t->crop_pad, s->t->flip),
                                          .seed = host->derive_seed(host, "shuffle")};
    struct orch_loader *loader = orch_loader_new(s->train, &options, &error);
    int status = loader ? run_epochs(s, loader, &error) : -1;
    orch_loader_free(loader);
    if (status == ORCH_OK && !finish(s, &error))
        status = -1;
    return status < 0 ? fail_error(host, error) : status;
}
