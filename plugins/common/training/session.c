/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/session.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/net/net.h"
#include "lib/weights/weights.h"
#include "plugins/common/data/whitening.h"
#include "plugins/common/training/average.h"
#include "plugins/common/training/class_choice.h"
#include "plugins/common/training/data_path.h"
#include "plugins/common/training/first_layer.h"
#include "plugins/common/training/graphs.h"
#include "plugins/common/training/memory_layout.h"
#include "plugins/common/training/notes.h"
#include "plugins/common/training/optimizer.h"
#include "plugins/common/training/precision.h"
#include "plugins/common/training/work.h"

#include <string.h>

/* ---- initial filters ----------------------------------------------------------------------------
 */

static bool whiten(struct orch_session *s, const struct orch_net_node *first, GError **error)
{
    const struct orch_image_set *d = s->train_set;
    const struct orch_transforms normalisation = orch_work_normalisation(s->training);
    const struct orch_whitening whitening = {.kernel_h = first->kernel_h,
                                             .kernel_w = first->kernel_w,
                                             .filters = (int)first->out_channels,
                                             .epsilon = s->training->whiten_epsilon};
    const struct orch_net_tensor *tensor = orch_net_tensor(s->net, first->first_tensor);
    g_autofree float *filters = g_new(float, tensor->count);
    g_autofree struct orch_transform_table *table = g_new(struct orch_transform_table, 1);
    orch_transforms_table(&normalisation, d->mean, d->std, table);
    orch_whitening_filters(s->train, table, &whitening, filters);
    return s->torch->tensor_set(s->model, (size_t)first->first_tensor, filters, error);
}

/* Sets the filters of the session's model as `filter_init` and `whiten` say, and
 * session->prepare_s to the time of the latter. */
static bool initial_filters(struct orch_session *s, GError **error)
{
    const struct orch_training *t = s->training;
    const struct orch_net_node *first = t->whiten ? orch_first_layer(s->net) : NULL;
    if (t->filter_init && strcmp(t->filter_init, "dirac") == 0 &&
        !orch_torch_init_dirac(s->torch, s->model, s->net, first ? first->id : -1, error))
        return false;
    if (!first)
        return true;
    int64_t begin = orch_mono_ns();
    bool ok = whiten(s, first, error);
    s->prepare_s = (double)(orch_mono_ns() - begin) / 1e9;
    return ok;
}

/* ---- the session --------------------------------------------------------------------------------
 */

/** Steps of a smoke run, images of a step and of a validation at most. */
enum { SMOKE_STEPS = 2, SMOKE_BATCH = 4, SMOKE_VAL_IMAGES = 4 };

/* ---- data -------------------------------------------------------------------------------------
 */

/* Options to open a split; in a smoke run synthetic images of the same shape. */
static struct orch_image_set_options split_options(const struct orch_session *s,
                                                   enum orch_split split)
{
    const struct orch_training *t = s->training;
    int channels, side;
    int64_t classes;
    if (!s->host->smoke(s->host))
        return orch_work_data(t, split);
    orch_work_shape(t, &channels, &side, &classes);
    return orch_image_set_stand_in(t->dataset, (int)t->image_size, classes, SMOKE_STEPS * t->batch,
                                   split);
}

static bool open_data(struct orch_session *s, GError **error)
{
    const struct orch_training *t = s->training;
    bool smoke = s->host->smoke(s->host);
    struct orch_image_set **sets[2] = {&s->train_set, &s->val_set};
    s->host->phase(s->host, "reading data");
    for (int split = 0; split < 2; split++) {
        struct orch_image_set_options options = split_options(s, (enum orch_split)split);
        *sets[split] = orch_image_set_open(&options, error);
        if (!*sets[split])
            return false;
    }
    uint64_t seed = s->host->derive_seed(s->host, "subset");
    const int64_t *chosen = smoke ? NULL : t->classes.items;
    size_t count = smoke ? 0 : t->classes.count;
    s->train = orch_subset_new(s->train_set, chosen, count, smoke ? 0 : t->per_class, seed, error);
    if (s->train && !orch_classes_suffice(s->train, error))
        return false;
    s->val = s->train ? orch_subset_new(s->val_set, chosen, count, 0, seed, error) : NULL;
    s->val_part = s->val ? orch_subset_new(s->val_set, chosen, count, 0, seed, error) : NULL;
    if (!s->val_part)
        return false;
    if (smoke) { /* data for two steps */
        orch_subset_limit(s->train, SMOKE_STEPS * s->batch, seed);
        orch_subset_limit(s->val, SMOKE_VAL_IMAGES, seed);
        orch_subset_limit(s->val_part, SMOKE_VAL_IMAGES, seed);
    }
    orch_subset_limit(s->val_part, t->val_images, seed);
    return true;
}

/* ---- model ------------------------------------------------------------------------------------
 */

static bool load_weights(struct orch_session *s, GError **error)
{
    struct orch_weights *weights = orch_weights_load(s->training->weights, error);
    struct orch_torch_load_report report = {0};
    bool ok =
        weights && orch_torch_state_load(s->torch, s->model, s->net, weights, true, &report, error);
    if (ok && (report.missing->len || report.mismatched->len || report.extra->len))
        orch_training_note(s->host, "%zu tensors were taken from the base network; the head is new",
                           report.loaded);
    orch_torch_load_report_clear(&report);
    orch_weights_free(weights);
    return ok;
}

static int threads_of(const struct orch_session *s)
{
    struct orch_slot slot = {.struct_bytes = sizeof slot, .threads = 1};
    if (orch_host_has(s->host, slot))
        s->host->slot(s->host, &slot);
    return s->training->threads > 0 ? (int)s->training->threads : (int)MAX(1, slot.threads);
}

static bool open_torch(struct orch_session *s, GError **error)
{
    const struct orch_training *t = s->training;
    s->host->phase(s->host, "loading LibTorch");
    s->torch = orch_torch_load(error);
    if (!s->torch)
        return false;
    s->torch->threads_set(threads_of(s));
    s->torch->deterministic_set(t->deterministic);
    bool is_auto = strcmp(t->device, "auto") == 0;
    s->device = !is_auto ? t->device : s->torch->cuda_count() > 0 ? "cuda" : "cpu";
    return orch_data_path_check(t, s->device, error);
}

static struct orch_net *make_net(const struct orch_session *s, const char *name, GError **error)
{
    struct orch_net_options options = {.name = name,
                                       .channels = s->data.channels,
                                       .height = s->data.height,
                                       .width = s->data.width,
                                       .classes = s->data.classes};
    return orch_net_make(&options, error);
}

static bool open_model(struct orch_session *s, GError **error)
{
    const struct orch_training *t = s->training;
    struct orch_torch_setup setup = {
        .device = s->device,
        .precision = orch_precision_of(s),
    };
    s->net = make_net(s, t->net, error);
    if (!s->net || !orch_layout_choose(s, &setup, error))
        return false;
    s->setup = setup;
    s->channels_last = setup.channels_last;
    s->torch->seed(s->host->derive_seed(s->host, "dropout"));
    s->model = s->torch->model_new(s->net, &setup, error);
    return s->model &&
           orch_torch_init(s->torch, s->model, s->net, s->host->derive_seed(s->host, "init"),
                           error) &&
           initial_filters(s, error) &&
           (!t->weights || !s->train_set || s->host->smoke(s->host) || load_weights(s, error)) &&
           orch_training_optimizer(s, s->model, error) && orch_average_open(s, error) &&
           orch_graphs_choose(s, error);
}

/* ---- opening ----------------------------------------------------------------------------------
 */

/* Reports why the session did not open, and closes it. */
static int opening_failed(struct orch_session *s, GError *error)
{
    const struct orch_host *host = s->host;
    bool needs_gpu = g_str_has_prefix(s->training->device, "cuda");
    bool skipped = needs_gpu && s->torch && s->torch->cuda_count() == 0;
    orch_session_close(s);
    if (!skipped)
        return orch_training_fail(host, error);
    g_clear_error(&error);
    host->fail(host, "no CUDA device");
    return ORCH_SKIPPED;
}

/* Loads LibTorch, which takes about as long as inflating a data set does. open_model reports why
 * it cannot be loaded. */
static void *load_torch(void *ctx)
{
    (void)ctx;
    orch_torch_load(NULL);
    return NULL;
}

/* How a session gets its data. */
struct source {
    orch_session_read read;       /* NULL: an image set */
    orch_session_prepare prepare; /* of an image set; NULL: nothing */
    void *ctx;
};

static bool read_data(struct orch_session *s, const struct source *source, GError **error)
{
    GThread *loading = g_thread_new("libtorch", load_torch, NULL);
    bool ok = source->read ? source->read(source->ctx, s, &s->data, error) : open_data(s, error);
    g_thread_join(loading);
    return ok;
}

static bool prepare_data(struct orch_session *s, const struct source *source, GError **error)
{
    if (source->read)
        return true;
    if (source->prepare && !source->prepare(source->ctx, s, error))
        return false;
    s->data = (struct orch_session_data){s->train_set->channels, s->train_set->height,
                                         s->train_set->width, s->train->classes, s->train->count};
    return true;
}

static int open_session(const struct orch_training *t, const struct orch_host *host,
                        const struct source *source, struct orch_session **out)
{
    struct orch_session *s = g_new0(struct orch_session, 1);
    GError *error = NULL;
    s->training = t;
    s->host = host;
    s->epochs = host->smoke(host) ? 1 : t->epochs;
    s->batch = host->smoke(host) ? MIN(t->batch, SMOKE_BATCH) : t->batch;
    if (!orch_work_schedule(t, t->epochs, &s->schedule, &error) || !read_data(s, source, &error) ||
        !open_torch(s, &error) || !prepare_data(s, source, &error) || !open_model(s, &error))
        return opening_failed(s, error);
    *out = s;
    return ORCH_OK;
}

int orch_session_open_with(const struct orch_training *t, const struct orch_host *host,
                           orch_session_prepare prepare, void *ctx, struct orch_session **out)
{
    return open_session(t, host, &(struct source){.prepare = prepare, .ctx = ctx}, out);
}

int orch_session_open(const struct orch_training *t, const struct orch_host *host,
                      struct orch_session **out)
{
    return orch_session_open_with(t, host, NULL, NULL, out);
}

int orch_session_open_on(const struct orch_training *t, const struct orch_host *host,
                         orch_session_read read, void *ctx, struct orch_session **out)
{
    return open_session(t, host, &(struct source){.read = read, .ctx = ctx}, out);
}

void orch_session_close(struct orch_session *s)
{
    if (!s)
        return;
    if (s->train_images)
        s->torch->images_free(s->train_images);
    if (s->val_images)
        s->torch->images_free(s->val_images);
    if (s->average)
        s->torch->model_free(s->average);
    if (s->model)
        s->torch->model_free(s->model);
    orch_net_free(s->net);
    orch_subset_free(s->train);
    orch_subset_free(s->val);
    orch_subset_free(s->val_part);
    orch_image_set_free(s->train_set);
    orch_image_set_free(s->val_set);
    g_free(s);
}

/* ---- another network --------------------------------------------------------------------------
 */

void orch_session_release(struct orch_session *other)
{
    if (other->model)
        other->torch->model_free(other->model);
    orch_net_free(other->net);
    *other = (struct orch_session){0};
}

bool orch_session_of_net(const struct orch_session *s, const char *net, const char *stream,
                         struct orch_session *out, GError **error)
{
    struct orch_torch_setup setup = {
        .device = s->device, .precision = orch_precision_of(s), .channels_last = s->channels_last};
    *out = *s;
    out->train_images = out->val_images = NULL;
    out->net = make_net(s, net, error);
    out->model = out->net ? s->torch->model_new(out->net, &setup, error) : NULL;
    if (out->model &&
        orch_torch_init(s->torch, out->model, out->net, s->host->derive_seed(s->host, stream),
                        error) &&
        orch_training_optimizer(out, out->model, error))
        return true;
    orch_session_release(out);
    return false;
}
