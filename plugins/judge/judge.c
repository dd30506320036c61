/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges a trained network on images from another source. docs/plugins/judge.md. */
#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/net/net.h"
#include "lib/weights/weights.h"
#include "plugins/common/data/image_set.h"
#include "plugins/common/data/loader.h"
#include "plugins/common/torch/torch.h"
#include "plugins/common/training/notes.h"

#include <math.h>
#include <orch/plugin.h>
#include <string.h>

/* ---- images from elsewhere ----------------------------------------------------------------------
 */

/* Letters and digits in lower case. Caller frees. */
static char *plain_name(const char *name)
{
    GString *plain = g_string_new(NULL);
    for (; *name; name++)
        if (g_ascii_isalnum(*name))
            g_string_append_c(plain, g_ascii_tolower(*name));
    return g_string_free(plain, FALSE);
}

static bool is_same_class(const char *one, const char *two)
{
    g_autofree char *x = plain_name(one), *y = plain_name(two);
    return strcmp(x, y) == 0;
}

/* Returns the label of a class name, or -1. */
static int label_of(const struct orch_image_set *trained, const char *name)
{
    int64_t number;
    for (int i = 0; i < trained->classes; i++)
        if (is_same_class(trained->class_names[i], name))
            return i;
    return orch_int_parse(name, &number) && number >= 0 && number < trained->classes ? (int)number
                                                                                     : -1;
}

static void unknown_class(const struct orch_image_set *wild, int label,
                          const struct orch_image_set *trained, GError **error)
{
    g_autofree char *known = g_strjoinv(", ", trained->class_names);
    orch_error_set(error, ORCH_ERROR_RECIPE, known,
                   "class '%s' of the images in '%s' is not a class of '%s'",
                   wild->class_names[label], wild->name, trained->name);
}

/* Numbers the classes of `wild` as those of `trained`, by name: letter case and everything but
 * letters and digits are ignored ("t-shirt_top" is "T-shirt/top"), and a number is a label. Sets of
 * equal class counts without names of their own keep their labels. Takes over the means and
 * deviations of `trained`, because the network expects images that were normalised with them. Fails
 * with ORCH_ERROR_RECIPE for a class that `trained` does not have; `wild` is then untouched. */
static bool wild_adopt_classes(struct orch_image_set *wild, const struct orch_image_set *trained,
                               GError **error)
{
    g_autofree int *labels = g_new(int, wild->classes);
    for (int i = 0; i < wild->classes; i++) {
        labels[i] = label_of(trained, wild->class_names[i]);
        if (labels[i] < 0) {
            unknown_class(wild, i, trained, error);
            return false;
        }
    }
    for (int64_t i = 0; i < wild->count; i++)
        wild->labels[i] = labels[wild->labels[i]];
    g_strfreev(wild->class_names);
    wild->class_names = g_strdupv(trained->class_names);
    wild->classes = trained->classes;
    memcpy(wild->mean, trained->mean, sizeof wild->mean);
    memcpy(wild->std, trained->std, sizeof wild->std);
    return true;
}

/* Replaces each value v by 255 - v: dark objects on a light ground become light on a dark one. */
static void wild_invert(struct orch_image_set *wild)
{
    size_t bytes = (size_t)wild->count * (size_t)(wild->channels * wild->height * wild->width);
    for (size_t i = 0; i < bytes; i++)
        wild->images[i] = (uint8_t)(255 - wild->images[i]);
}

/* ---- the plugin ---------------------------------------------------------------------------------
 */

enum { BATCH = 256 };

struct params {
    const char *weights, *net, *dataset, *images, *data_root, *device;
    int64_t image_size, per_class, threads;
    struct orch_list transforms;
    bool invert;
};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, weights, ORCH_ARTIFACT, .label = "weights",
               .help =
                   "the trained network: ${experiment.weights}, or a .safetensors or .pth file"),
    ORCH_PARAM(struct params, net, ORCH_STRING, .label = "network", .def = "resnet20",
               .help = "a network of 'orch net ls'"),
    ORCH_PARAM(struct params, dataset, ORCH_STRING, .label = "dataset", .def = "fashion-mnist",
               .help = "data set that the network was trained on"),
    ORCH_PARAM(struct params, images, ORCH_STRING, .label = "images", .def = "fashion-mnist",
               .help = "images to judge: a folder with test/CLASS/*.png or .jpg, or a data set; "
                       "empty: skip the trial"),
    ORCH_PARAM(
        struct params, data_root, ORCH_PATH, .label = "data folder",
        .flags = ORCH_PARAM_OPTIONAL | ORCH_PARAM_NEUTRAL,
        .help = "folder with both data sets (default: $ORCH_DATA, the cache, /usr/share/datasets)"),
    ORCH_PARAM(struct params, image_size, ORCH_INT, .label = "image size", .def = "224", .min = "8",
               .max = "1024", .unit = "pixels",
               .help = "side of the training images, if dataset is a folder"),
    ORCH_PARAM(struct params, per_class, ORCH_INT, .label = "images per class", .def = "0",
               .min = "0", .help = "images of each class, drawn by the seed; 0: all"),
    ORCH_PARAM(struct params, transforms, ORCH_LIST | ORCH_STRING, .label = "transforms",
               .def = "[]",
               .help = "changes to the images, e.g. [crop 4, flip, cutout 16] ('orch help data')"),
    ORCH_PARAM(struct params, invert, ORCH_BOOL, .label = "invert", .def = "false",
               .help = "negate the images: white becomes black, as in Fashion-MNIST"),
    ORCH_PARAM(struct params, device, ORCH_STRING, .label = "device", .def = "auto",
               .help = "auto (a GPU when the trial has one), cpu, cuda, cuda:N"),
    ORCH_PARAM(struct params, threads, ORCH_INT, .label = "threads", .def = "0", .min = "0",
               .max = "1024", .flags = ORCH_PARAM_NEUTRAL,
               .help = "processor threads; 0: as many as the trial's slot has"),
};

static const struct orch_metric METRICS[] = {
    {.name = "accuracy",
     .label = "accuracy",
     .min = "0",
     .max = "1",
     .better = ORCH_BETTER_MAX,
     .help = "share of the images that are right"},
    {.name = "error", .label = "error", .better = ORCH_BETTER_MIN, .help = "1 - accuracy"},
    {.name = "loss",
     .label = "loss",
     .better = ORCH_BETTER_MIN,
     .help = "mean cross-entropy of the images"},
    {.name = "judged_images",
     .label = "judged images",
     .min = "0",
     .unit = "images",
     .help = "images judged"},
    {.name = "asked_images",
     .label = "images asked for",
     .min = "0",
     .unit = "images",
     .help = "images to judge: per_class of each class, or all"},
    {.name = "accuracy_low",
     .label = "lower end of the accuracy over images",
     .min = "0",
     .max = "1",
     .help = "lower end of the accuracy's 95 % interval (Wilson)"},
    {.name = "accuracy_high",
     .label = "upper end of the accuracy over images",
     .min = "0",
     .max = "1",
     .help = "upper end of the accuracy's 95 % interval (Wilson)"},
    {.name = "judged_classes",
     .label = "judged classes",
     .help = "classes with at least one image"},
};
static const struct orch_artifact ARTIFACTS[] = {
    {.name = "by_class", .help = "CSV: images and right answers of each class"},
};

/* What a judgement holds while it runs. */
struct judgement {
    const struct params *p;
    const struct orch_host *host;
    struct orch_image_set *trained, *wild;
    struct orch_subset *subset;
    struct orch_net *net;
    const struct orch_torch *torch;
    struct orch_torch_model *model;
    int64_t *images, *right; /* by class */
    double loss;             /* summed over the images */
};

/* ---- data -------------------------------------------------------------------------------------
 */

/* The test images of a set; a folder's in the shape of `like` (NULL: as the parameters say). */
static struct orch_image_set_options options_of(const struct params *p, const char *name,
                                                const struct orch_image_set *like)
{
    const struct orch_image_set_facts *facts = orch_image_set_find(name);
    return (struct orch_image_set_options){.name = facts ? facts->name : name,
                                           .root = p->data_root,
                                           .split = ORCH_SPLIT_TEST,
                                           .channels = like ? like->channels : 3,
                                           .height = like ? like->height : (int)p->image_size,
                                           .width = like ? like->width : (int)p->image_size};
}

static bool has_same_shape(const struct judgement *j, GError **error)
{
    const struct orch_image_set *a = j->trained, *b = j->wild;
    if (a->channels == b->channels && a->height == b->height && a->width == b->width)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "give the images as a folder",
                   "images of '%s' have %d x %d x %d values, but those of '%s' have %d x %d x %d",
                   b->name, b->channels, b->height, b->width, a->name, a->channels, a->height,
                   a->width);
    return false;
}

/* The classes that have images (int64_t): somebody may have photographed only some of them. */
static GArray *present_classes(const struct orch_image_set *wild)
{
    g_autofree int64_t *counts = g_new0(int64_t, wild->classes);
    GArray *present = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (int64_t i = 0; i < wild->count; i++)
        counts[wild->labels[i]]++;
    for (int64_t i = 0; i < wild->classes; i++)
        if (counts[i])
            g_array_append_val(present, i);
    return present;
}

static bool open_images(struct judgement *j, GError **error)
{
    const struct params *p = j->p;
    j->host->phase(j->host, "reading data");
    const bool is_smoke = j->host->smoke(j->host);
    struct orch_image_set_options options =
        is_smoke ? orch_image_set_stand_in(p->dataset, (int)p->image_size, 0, 0, ORCH_SPLIT_TEST)
                 : options_of(p, p->dataset, NULL);
    if (!(j->trained = orch_image_set_open(&options, error)))
        return false;
    if (!is_smoke)
        options = options_of(p, p->images, j->trained);
    if (!(j->wild = orch_image_set_open(&options, error)) || !has_same_shape(j, error) ||
        !wild_adopt_classes(j->wild, j->trained, error))
        return false;
    if (p->invert)
        wild_invert(j->wild);
    int64_t per_class = is_smoke ? 2 : p->per_class;
    g_autoptr(GArray) present = present_classes(j->wild);
    j->subset = orch_subset_new(j->wild, (const int64_t *)(void *)present->data, present->len,
                                per_class, j->host->derive_seed(j->host, "subset"), error);
    j->images = g_new0(int64_t, j->wild->classes);
    j->right = g_new0(int64_t, j->wild->classes);
    return j->subset != NULL;
}

/* ---- network ----------------------------------------------------------------------------------
 */

static int threads_of(const struct judgement *j)
{
    struct orch_slot slot = {.struct_bytes = sizeof slot, .threads = 1};
    if (orch_host_has(j->host, slot))
        j->host->slot(j->host, &slot);
    return j->p->threads > 0 ? (int)j->p->threads : (int)MAX(1, slot.threads);
}

static bool load_weights(struct judgement *j, GError **error)
{
    GError *problem = NULL;
    struct orch_weights *weights = orch_weights_load(j->p->weights, error);
    bool ok = weights &&
              (j->host->smoke(j->host) ||
               orch_torch_state_load(j->torch, j->model, j->net, weights, false, NULL, &problem));
    if (problem)
        orch_error_set(error, ORCH_ERROR_CHECK, "set 'net' and 'dataset' to those of the training",
                       "'%s' is not a checkpoint of network '%s' with %d classes: %s",
                       j->p->weights, j->p->net, j->trained->classes, problem->message);
    g_clear_error(&problem);
    orch_weights_free(weights);
    return ok;
}

static bool open_model(struct judgement *j, GError **error)
{
    const struct params *p = j->p;
    struct orch_net_options options = {.name = p->net,
                                       .channels = j->trained->channels,
                                       .height = j->trained->height,
                                       .width = j->trained->width,
                                       .classes = j->trained->classes};
    j->host->phase(j->host, "loading LibTorch");
    if (!(j->torch = orch_torch_load(error)) || !(j->net = orch_net_make(&options, error)))
        return false;
    j->torch->threads_set(threads_of(j));
    bool is_auto = strcmp(p->device, "auto") == 0;
    const char *device = !is_auto ? p->device : j->torch->cuda_count() > 0 ? "cuda" : "cpu";
    struct orch_torch_setup setup = {.device = device, .precision = ORCH_TORCH_FP32};
    j->model = j->torch->model_new(j->net, &setup, error);
    return j->model &&
           orch_torch_init(j->torch, j->model, j->net, j->host->derive_seed(j->host, "init"),
                           error) &&
           load_weights(j, error);
}

/* ---- judging ----------------------------------------------------------------------------------
 */

static void take_image(struct judgement *j, const float *logits, int label)
{
    int classes = j->trained->classes, best = 0;
    double sum = 0;
    for (int i = 1; i < classes; i++)
        best = logits[i] > logits[best] ? i : best;
    for (int i = 0; i < classes; i++)
        sum += exp((double)logits[i] - (double)logits[best]);
    j->images[label]++;
    j->right[label] += best == label;
    j->loss += log(sum) + (double)logits[best] - (double)logits[label];
}

static bool judge_all(struct judgement *j, const struct orch_transforms *transforms, GError **error)
{
    struct orch_loader_options options = {.batch = BATCH,
                                          .seed = j->host->derive_seed(j->host, "transforms"),
                                          .transforms = *transforms};
    struct orch_loader *loader = orch_loader_new(j->subset, &options, error);
    g_autofree float *logits = g_new(float, (size_t)BATCH *(size_t)j->trained->classes);
    struct orch_loader_batch batch;
    bool ok = loader != NULL;
    j->host->phase(j->host, "judging");
    if (loader)
        orch_loader_start(loader, 0);
    while (ok && orch_loader_next(loader, &batch)) {
        const struct orch_torch_batch input = {.images = batch.images, .count = batch.count};
        ok = j->torch->logits(j->model, &input, logits, error);
        for (int64_t i = 0; ok && i < batch.count; i++)
            take_image(j, logits + i * j->trained->classes, j->subset->class_of[batch.labels[i]]);
    }
    orch_loader_free(loader);
    return ok;
}

static bool write_classes(const struct judgement *j, GError **error)
{
    g_autoptr(GString) csv = g_string_new("class,images,right\n");
    for (int i = 0; i < j->trained->classes; i++)
        if (j->images[i])
            g_string_append_printf(csv, "%s,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT "\n",
                                   j->trained->class_names[i], j->images[i], j->right[i]);
    if (!g_file_set_contents("by_class.csv", csv->str, (gssize)csv->len, error))
        return false;
    j->host->artifact(j->host, "by_class", "by_class.csv");
    return true;
}

/* The interval of a share from the draw of n images (Wilson 1927). Its ends lie within 0 and 1. */
static void report_interval(const struct orch_host *host, double share, double n)
{
    static const double z = 1.959963984540054;
    const double scale = 1 + z * z / n, middle = (share + z * z / (2 * n)) / scale;
    const double half = z / scale * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
    host->result(host, "accuracy_low", fmax(0, middle - half));
    host->result(host, "accuracy_high", fmin(1, middle + half));
}

static void report(const struct judgement *j)
{
    const struct orch_host *host = j->host;
    int64_t images = 0, right = 0;
    int classes = 0;
    for (int i = 0; i < j->trained->classes; i++) {
        images += j->images[i];
        right += j->right[i];
        classes += j->images[i] > 0;
    }
    double accuracy = (double)right / (double)images;
    host->result(host, "accuracy", accuracy);
    host->result(host, "error", 1 - accuracy);
    host->result(host, "loss", j->loss / (double)images);
    host->result(host, "judged_images", (double)images);
    host->result(host, "judged_classes", classes);
    report_interval(host, accuracy, (double)images);
    const int64_t asked = j->p->per_class * j->trained->classes;
    host->result(host, "asked_images", asked ? (double)asked : (double)images);
    if (asked > images)
        orch_training_note(host,
                           "%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                           " images are judged: the folder has fewer than %" G_GINT64_FORMAT
                           " images of some of the %d classes",
                           images, asked, j->p->per_class, j->trained->classes);
}

/* ---- hooks ------------------------------------------------------------------------------------
 */

/* The transforms for images of the data set's shape, which for a folder is that of image_size. */
static bool parse_transforms(const struct params *p, struct orch_transforms *out, GError **error)
{
    const struct orch_image_set_facts *facts = orch_image_set_find(p->dataset);
    int side = facts && facts->height ? facts->height : (int)p->image_size;
    *out = (struct orch_transforms){0};
    return !p->transforms.count ||
           orch_transforms_parse(p->transforms.items, p->transforms.count, side, side, out, error);
}

static int check(const void *params, const struct orch_host *host)
{
    const struct params *p = params;
    const struct {
        const char *input, *set;
    } inputs[] = {{"dataset", p->dataset}, {"images", p->images}};
    struct orch_transforms transforms;
    GError *error = NULL;
    if (!parse_transforms(p, &transforms, &error) ||
        !orch_training_file_input(host, "weights", p->weights, &error))
        return orch_training_fail(host, error);
    for (int i = 0; !host->smoke(host) && i < 2; i++) {
        char digest[65];
        if (inputs[i].set == p->images && !*p->images)
            continue;
        struct orch_image_set_options options = options_of(p, inputs[i].set, NULL);
        if (!orch_image_set_digest(&options, orch_training_file_digest, (void *)(uintptr_t)host,
                                   digest, &error))
            return orch_training_fail(host, error);
        host->input(host, inputs[i].input, digest);
    }
    return ORCH_OK;
}

static int cost(const void *params, struct orch_cost *out)
{
    const struct params *p = params;
    g_autofree char *net = orch_net_canonical_name(p->net);
    out->network = g_intern_string(net ? net : p->net);
    out->framework = "libtorch";
    out->precision = "fp32";
    out->workers = 1;
    out->batch = BATCH;
    return ORCH_OK;
}

static void clear(struct judgement *j)
{
    if (j->model)
        j->torch->model_free(j->model);
    orch_net_free(j->net);
    orch_subset_free(j->subset);
    orch_image_set_free(j->wild);
    orch_image_set_free(j->trained);
    g_free(j->images);
    g_free(j->right);
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    (void)state;
    struct judgement j = {.p = params, .host = host};
    if (!*j.p->images && !host->smoke(host)) {
        host->fail(host, "parameter 'images' is empty, so no image can be judged");
        return ORCH_SKIPPED;
    }
    struct orch_transforms transforms;
    GError *error = NULL;
    bool ok = parse_transforms(j.p, &transforms, &error) && open_images(&j, &error) &&
              open_model(&j, &error) && judge_all(&j, &transforms, &error);
    if (ok)
        report(&j);
    ok = ok && write_classes(&j, &error);
    bool needs_gpu = g_str_has_prefix(j.p->device, "cuda");
    bool is_skipped = !ok && needs_gpu && j.torch && j.torch->cuda_count() == 0;
    clear(&j);
    if (!is_skipped)
        return ok ? ORCH_OK : orch_training_fail(host, error);
    g_clear_error(&error);
    host->fail(host, "no CUDA device");
    return ORCH_SKIPPED;
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "judge",
    .version = "1.0.0",
    .summary = "judges a trained network on images from another source",
    .licence = "GPL-3.0-or-later",
    .params_bytes = sizeof(struct params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    ORCH_TABLE(artifacts, ARTIFACTS),
    .check = check,
    .cost = cost,
    .run = run,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
