/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weak and semi-supervised pre-training of an image classifier. A student is first trained on
 * images whose labels a teacher gave (Yalniz et al. 2019), on images with weak labels (Mahajan et
 * al. 2018), or on the labelled images alone, for as many steps: the supervised baseline. Then it
 * is trained on the labelled images, by the engine of plugin `train`. See
 * docs/plugins/semisup.md. */
#include "plugins/semisup/semisup.h"

#include "lib/base/error.h"
#include "lib/net/net.h"
#include "plugins/common/data/random.h"
#include "plugins/common/training/class_choice.h"
#include "plugins/common/training/epochs.h"
#include "plugins/common/training/notes.h"
#include "plugins/common/training/work.h"
#include "plugins/semisup/pretrain.h"
#include "plugins/semisup/top_images.h"

#include <orch/plugin.h>
#include <stdlib.h>
#include <string.h>

/* ---- labelled and unlabelled images -------------------------------------------------------------
 */

/* Checks what the parameters ask of a data set with `classes` classes (0: not known yet) and at
 * most `images` training images (0: not known yet). Fails with ORCH_ERROR_RECIPE for P above the
 * number of classes, where no image is left unlabelled, and for K above their
 * number. */
static bool semisup_split_fits(const struct orch_semisup_params *p,
                               enum orch_supervision supervision, int64_t classes, int64_t images,
                               GError **error)
{
    if (supervision == ORCH_SUPERVISION_LABELS || classes == 0 || images == 0)
        return true;
    const int64_t left = images - p->labelled * classes;
    if (left < 1) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "lower 'labelled'",
                       "labelled: %" G_GINT64_FORMAT " images of each of %" G_GINT64_FORMAT
                       " classes would label all %" G_GINT64_FORMAT " training images",
                       p->labelled, classes, images);
        return false;
    }
    return supervision != ORCH_SUPERVISION_SEMI ||
           orch_semisup_select_fits(p->unlabelled ? MIN(p->unlabelled, left) : left, (int)classes,
                                    p->p, p->k, error);
}

/* How many images of each class are labelled. In a smoke run there may be few. */
static bool labelled_counts(const struct orch_semisup *semi, int64_t *out, GError **error)
{
    const struct orch_session *s = semi->session;
    const bool is_smoke = s->host->smoke(s->host);
    for (int c = 0; c < s->train->classes; c++) {
        if (out[c] < semi->params->labelled && !is_smoke) {
            orch_error_set(error, ORCH_ERROR_RECIPE, "lower 'labelled'",
                           "class '%s' of '%s' has only %" G_GINT64_FORMAT
                           " images, fewer than labelled: %" G_GINT64_FORMAT,
                           orch_subset_class_name(s->train, c), s->train_set->name, out[c],
                           semi->params->labelled);
            return false;
        }
        out[c] = MIN(semi->params->labelled, is_smoke ? MAX(1, out[c] / 2) : out[c]);
    }
    return true;
}

/* Positions of the labelled images, then of the others, both ascending; each class's are drawn. */
static int64_t *divide(const struct orch_subset *train, const int64_t *labelled, uint64_t seed,
                       int64_t *out_labelled)
{
    g_autofree int64_t *order = g_new(int64_t, train->count + 1);
    g_autofree int64_t *taken = g_new0(int64_t, train->classes);
    g_autofree bool *is_labelled = g_new0(bool, train->count + 1);
    int64_t *positions = g_new(int64_t, train->count + 1), at = 0;
    for (int64_t i = 0; i < train->count; i++)
        order[i] = i;
    orch_random_shuffle(order, train->count, seed);
    for (int64_t i = 0; i < train->count; i++) {
        const int32_t label = orch_subset_label(train, order[i]);
        is_labelled[order[i]] = taken[label] < labelled[label];
        taken[label] += is_labelled[order[i]];
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < train->count; i++)
            if (is_labelled[i] == (pass == 0))
                positions[at++] = i;
        if (pass == 0)
            *out_labelled = at;
    }
    return positions;
}

/* Splits the session's training images: params->labelled of each class stay its training images,
 * of the others semi->unlabelled has all or params->unlabelled. Sets semi->k. Fails like
 * semisup_split_fits, and for a class with fewer images than are to be labelled. */
static bool semisup_split(struct orch_semisup *semi, GError **error)
{
    struct orch_session *s = semi->session;
    const struct orch_semisup_params *p = semi->params;
    const bool is_smoke = s->host->smoke(s->host);
    g_autofree int64_t *labelled = orch_subset_counts(s->train);
    if ((!is_smoke &&
         !semisup_split_fits(p, semi->supervision, s->train->classes, s->train->count, error)) ||
        !labelled_counts(semi, labelled, error))
        return false;
    int64_t count = 0;
    g_autofree int64_t *positions =
        divide(s->train, labelled, s->host->derive_seed(s->host, "labelled"), &count);
    struct orch_subset *all = s->train;
    s->train = orch_subset_pick(all, positions, count);
    semi->unlabelled = orch_subset_pick(all, positions + count, all->count - count);
    orch_subset_free(all);
    orch_subset_limit(semi->unlabelled, p->unlabelled, s->host->derive_seed(s->host, "unlabelled"));
    semi->k = is_smoke ? MIN(p->k, semi->unlabelled->count) : p->k;
    return true;
}

/* ---- the plugin ---------------------------------------------------------------------------------
 */

#define PARAM(member, kind, ...) ORCH_PARAM(struct orch_semisup_params, member, kind, __VA_ARGS__)

static const char *const SUPERVISIONS[] = {"semi", "weak", "labels", NULL};
static const char *const RESAMPLINGS[] = {"natural", "square_root", "uniform", NULL};

static const struct orch_param PARAMS[] = {
    PARAM(supervision, ORCH_ENUM, .label = "supervision", .def = "semi", .choices = SUPERVISIONS,
          .help = "pre-train on a teacher's selection (semi), on noisy labels (weak), or on the "
                  "labelled images (labels)"),
    PARAM(labelled, ORCH_INT, .label = "labelled", .def = "20", .min = "1", .unit = "images",
          .help = "labelled images of each class"),
    PARAM(unlabelled, ORCH_INT, .label = "unlabelled", .def = "0", .min = "0", .unit = "images",
          .help = "largest number of unlabelled training images; 0: all"),
    PARAM(k, ORCH_INT, .label = "K", .def = "1000", .min = "1", .unit = "images",
          .help = "K, semi: images of highest score that are selected for each class"),
    PARAM(p, ORCH_INT, .label = "P", .def = "1", .min = "1", .unit = "classes",
          .help = "P, semi: classes of highest score for which an image is a candidate"),
    PARAM(teacher, ORCH_ARTIFACT, .label = "teacher", .flags = ORCH_PARAM_OPTIONAL,
          .help = "semi: the teacher's weights, e.g. ${teacher.weights}; none: trained first"),
    PARAM(teacher_net, ORCH_STRING, .label = "teacher net", .flags = ORCH_PARAM_OPTIONAL,
          .help = "semi: the teacher's network; none: the student's"),
    PARAM(teacher_steps, ORCH_INT, .label = "teacher steps", .def = "300", .min = "1",
          .unit = "steps", .help = "semi: steps of a teacher that is trained first"),
    PARAM(teacher_lr, ORCH_REAL, .label = "teacher learning rate", .def = "0.05", .min = "0",
          .help = "semi: learning rate of a teacher that is trained first"),
    PARAM(noise, ORCH_REAL, .label = "share of wrong labels", .def = "0", .min = "0", .max = "1",
          .help = "weak: share of the labels that are replaced by others"),
    PARAM(tail, ORCH_REAL, .label = "tail", .def = "0", .min = "0", .max = "10",
          .help = "weak: exponent of the classes' long tail; 0: unchanged"),
    PARAM(resampling, ORCH_ENUM, .label = "resampling", .def = "natural", .choices = RESAMPLINGS,
          .help = "weak: how often a label is drawn, by its frequency"),
    PARAM(pretrain_steps, ORCH_INT, .label = "pretrain steps", .def = "1000", .min = "0",
          .unit = "steps",
          .help = "steps of the pre-training; 0, with labels: none, as plugin train"),
    PARAM(pretrain_lr, ORCH_REAL, .label = "pretrain learning rate", .def = "0.05", .min = "0",
          .help = "learning rate of the pre-training, which falls to 0 as a cosine"),
    PARAM(new_head, ORCH_BOOL, .label = "new head", .def = "false",
          .help = "begin with a new last layer after the pre-training"),
    ORCH_TRAINING_DATA_PARAMS(struct orch_semisup_params),
    ORCH_TRAINING_NET_PARAMS(struct orch_semisup_params),
    ORCH_TRAINING_RUN_PARAMS(struct orch_semisup_params),
};
static const struct orch_metric METRICS[] = {
    {.name = "teacher_loss",
     .label = "teacher loss",
     .min = "0",
     .better = ORCH_BETTER_MIN,
     .step_unit = "step",
     .help = "mean cross-entropy of the teacher's steps since the previous point"},
    {.name = "pretrain_loss",
     .label = "pretrain loss",
     .min = "0",
     .better = ORCH_BETTER_MIN,
     .step_unit = "step",
     .help = "mean cross-entropy of the pre-training's steps since the previous point"},
    {.name = "teacher_accuracy",
     .label = "teacher accuracy",
     .min = "0",
     .max = "1",
     .better = ORCH_BETTER_MAX,
     .help = "share of the validation images of each epoch that the teacher has right"},
    {.name = "pretrained_accuracy",
     .label = "pretrained accuracy",
     .min = "0",
     .max = "1",
     .better = ORCH_BETTER_MAX,
     .help = "accuracy of the student before it is trained on the labelled images"},
    {.name = "pretraining_time",
     .label = "pretraining time",
     .min = "0",
     .unit = "s",
     .better = ORCH_BETTER_MIN,
     .help = "teacher, scores, selection and pre-training"},
    {.name = "pretraining_images",
     .label = "pretraining images",
     .min = "0",
     .unit = "images",
     .help = "images of the pre-training set, repeats included"},
    {.name = "pretraining_distinct",
     .label = "distinct pretraining images",
     .min = "0",
     .unit = "images",
     .help = "different images of the pre-training set"},
    {.name = "pretraining_precision",
     .label = "pretraining precision",
     .min = "0",
     .max = "1",
     .better = ORCH_BETTER_MAX,
     .help = "share of the pre-training set whose label is the true one"},
    {.name = "pretraining_precision_min",
     .label = "lowest pretraining precision",
     .min = "0",
     .max = "1",
     .better = ORCH_BETTER_MAX,
     .help = "pretraining_precision of the class where it is lowest"},
    {.name = "pretraining_class_min",
     .label = "images of the rarest label",
     .min = "0",
     .unit = "images",
     .help = "pre-training images of the rarest label"},
    {.name = "pretraining_class_max",
     .label = "images of the most frequent label",
     .min = "0",
     .unit = "images",
     .help = "pre-training images of the most frequent label"},
    {.name = "replaced_labels",
     .label = "replaced labels",
     .min = "0",
     .unit = "images",
     .help = "weak: images whose label was replaced"},
    {.name = "unlabelled_images",
     .label = "unlabelled images",
     .min = "0",
     .unit = "images",
     .help = "training images whose true label is not used"},
    ORCH_TRAINING_METRICS,
};
static const struct orch_artifact ARTIFACTS[] = {
    {.name = "pretraining_set",
     .help = "CSV: labelled, unlabelled, candidate and selected images of each class"},
    ORCH_TRAINING_ARTIFACTS,
};

/* ---- check and cost ---------------------------------------------------------------------------
 */

static enum orch_supervision supervision_of(const struct orch_semisup_params *p)
{
    for (int i = 0; SUPERVISIONS[i]; i++)
        if (strcmp(SUPERVISIONS[i], p->supervision) == 0)
            return (enum orch_supervision)i;
    return ORCH_SUPERVISION_SEMI;
}

/* Number of training images where it is known without reading them; else 0. */
static int64_t known_images(const struct orch_training *t, int64_t classes)
{
    const struct orch_image_set_facts *facts = orch_image_set_find(t->dataset);
    if (t->per_class)
        return t->per_class * classes;
    return facts && !t->classes.count ? facts->train_count : 0;
}

static bool teacher_net_is_known(const struct orch_semisup_params *p, GError **error)
{
    int channels, side;
    int64_t classes;
    if (!p->teacher_net)
        return true;
    orch_work_shape(&p->t, &channels, &side, &classes);
    struct orch_net_options options = {.name = p->teacher_net,
                                       .channels = channels,
                                       .height = side,
                                       .width = side,
                                       .classes = classes ? classes : 10};
    struct orch_net *net = orch_net_make(&options, error);
    orch_net_free(net);
    if (!net)
        g_prefix_error(error, "teacher_net: ");
    return net != NULL;
}

static bool stages_fit(const struct orch_semisup_params *p, GError **error)
{
    if (p->pretrain_steps > 0 || supervision_of(p) == ORCH_SUPERVISION_LABELS)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "raise 'pretrain_steps'",
                   "'supervision: %s' needs 'pretrain_steps' above 0", p->supervision);
    return false;
}

static int check(const void *params, const struct orch_host *host)
{
    const struct orch_semisup_params *p = params;
    int channels, side;
    int64_t classes;
    GError *error = NULL;
    orch_work_shape(&p->t, &channels, &side, &classes);
    return orch_classes_check(&p->t, &error) && stages_fit(p, &error) &&
                   teacher_net_is_known(p, &error) &&
                   semisup_split_fits(p, supervision_of(p), classes, known_images(&p->t, classes),
                                      &error) &&
                   orch_training_file_input(host, "teacher", p->teacher, &error)
               ? orch_training_check(&p->t, host)
               : orch_training_fail(host, error);
}

/* The steps of the pre-training count as epochs over the labelled images. Those of a teacher do
 * not, because a reference to its weights looks here as if there were none. */
static int cost(const void *params, struct orch_cost *out)
{
    const struct orch_semisup_params *p = params;
    int status = orch_training_cost(&p->t, out);
    if (out->classes > 0) {
        out->images = p->labelled * out->classes;
        out->epochs += (double)(p->pretrain_steps * p->t.batch) / (double)out->images;
    }
    return status;
}

/* ---- the trial --------------------------------------------------------------------------------
 */

static void close_trial(void *state)
{
    struct orch_semisup *semi = state;
    if (!semi)
        return;
    if (semi->teacher.model)
        orch_session_release(&semi->teacher);
    orch_subset_free(semi->unlabelled);
    orch_training_close(semi->session);
    g_free(semi);
}

static bool open_teacher(struct orch_semisup *semi, GError **error)
{
    const struct orch_semisup_params *p = semi->params;
    if (semi->supervision != ORCH_SUPERVISION_SEMI)
        return true;
    return orch_session_of_net(semi->session, p->teacher_net ? p->teacher_net : p->t.net, "teacher",
                               &semi->teacher, error) &&
           (!p->teacher || semi->session->host->smoke(semi->session->host) ||
            orch_semisup_load_teacher(semi, error));
}

static int start(const void *params, const struct orch_host *host, void **out_state)
{
    struct orch_semisup *semi = g_new0(struct orch_semisup, 1);
    GError *error = NULL;
    semi->params = params;
    semi->supervision = supervision_of(params);
    void *session = NULL;
    int status = orch_training_open(&semi->params->t, host, &session);
    semi->session = session;
    if (status == ORCH_OK && (!semisup_split(semi, &error) || !open_teacher(semi, &error)))
        status = orch_training_fail(host, error);
    if (status != ORCH_OK)
        g_clear_pointer(&semi, close_trial);
    *out_state = semi;
    return status;
}

/* The usual feed on the labelled images, after everything that comes before it. */
static struct orch_feed *make_feed(void *ctx, const struct orch_session *s, GError **error)
{
    struct orch_semisup *semi = ctx;
    s->host->result(s->host, "unlabelled_images", (double)semi->unlabelled->count);
    return orch_semisup_pretrain(semi, error) ? orch_feed_training(s, NULL, error) : NULL;
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    (void)params;
    struct orch_semisup *semi = state;
    semi->teacher.host = host;
    struct orch_training_parts parts = {.ctx = semi, .feed = make_feed, .takes_gpu_batches = true};
    int status = orch_training_run_with(semi->session, host, &parts);
    return semi->has_diverged ? ORCH_DIVERGED : status;
}

static const struct orch_plugin PLUGIN = {
    ORCH_TRAINING_PLUGIN(struct orch_semisup_params),
    .name = "semisup",
    .version = "1.0.0",
    .summary = "weak and semi-supervised pre-training: teacher, selected images, student",
    .close = close_trial,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
