/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/work.h"

#include "lib/base/error.h"
#include "lib/net/net.h"
#include "plugins/common/training/class_choice.h"
#include "plugins/common/training/data_path.h"
#include "plugins/common/training/first_layer.h"
#include "plugins/common/training/graphs.h"
#include "plugins/common/training/image_growth.h"
#include "plugins/common/training/notes.h"
#include "plugins/common/training/precision.h"

#include <string.h>

struct orch_image_set_options orch_work_data(const struct orch_training *t, enum orch_split split)
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
void orch_work_shape(const struct orch_training *t, int *channels, int *side, int64_t *classes)
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

static bool read_transforms(const struct orch_training *t, struct orch_transforms *out,
                            GError **error)
{
    int channels, side;
    int64_t classes;
    orch_work_shape(t, &channels, &side, &classes);
    if (!t->transforms.count) {
        *out = orch_transforms_crop_flip((int)t->crop_pad, t->flip);
        return true;
    }
    if (t->crop_pad || t->flip) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "write both as transforms: [\"crop 4\", flip]",
                       "parameters 'crop_pad' and 'flip' exclude 'transforms'");
        return false;
    }
    return orch_transforms_parse(t->transforms.items, t->transforms.count, side, side, out, error);
}

bool orch_work_transforms(const struct orch_training *t, struct orch_transforms *out,
                          GError **error)
{
    if (!read_transforms(t, out, error))
        return false;
    if (!t->flip_alternate)
        return true;
    for (int i = 0; i < out->count; i++)
        if (out->items[i].kind == ORCH_TRANSFORM_FLIP) {
            out->items[i].alternates = true;
            return true;
        }
    orch_error_set(error, ORCH_ERROR_RECIPE, "set flip: true",
                   "flip_alternate does nothing, because the training images are not flipped");
    return false;
}

struct orch_transforms orch_work_normalisation(const struct orch_training *t)
{
    struct orch_transforms all = {0}, kept = {0};
    if (!orch_work_transforms(t, &all, NULL))
        return kept;
    for (int i = 0; i < all.count; i++)
        if (all.items[i].kind == ORCH_TRANSFORM_NORMALISE)
            kept.items[kept.count++] = all.items[i];
    return kept;
}

bool orch_work_schedule(const struct orch_training *t, int64_t epochs, struct orch_schedule *out,
                        GError **error)
{
    *out = (struct orch_schedule){.lr = t->lr,
                                  .epochs = (double)epochs,
                                  .warmup_epochs = t->warmup_epochs,
                                  .warmup_start = t->lr_start,
                                  .lr_min = t->lr_end * t->lr,
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
                       "write milestones in per cent, e.g. milestones: [30%, 60%, 90%]",
                       "milestones: all %zu learning-rate drops come after the last of %d epochs",
                       late, (int)epochs);
        return false;
    }
    return true;
}

bool orch_work_groups_check(const struct orch_training *t, const struct orch_net *net,
                            GError **error)
{
    if (t->freeze < 0 || t->freeze >= net->group_count)
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "freeze: %d, but network '%s' has only layer groups 0 to %d, and the last "
                       "group must learn",
                       (int)t->freeze, t->net, net->group_count - 1);
    else if (t->layer_rates.count > (size_t)net->group_count)
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "layer_rates: there are %zu factors, but %d layer groups in network '%s'",
                       t->layer_rates.count, net->group_count, t->net);
    else
        return true;
    return false;
}

static struct orch_net *make_net(const struct orch_training *t, int64_t classes_if_unknown,
                                 GError **error)
{
    int channels, side;
    int64_t classes;
    orch_work_shape(t, &channels, &side, &classes);
    struct orch_net_options options = {.name = t->net,
                                       .channels = channels,
                                       .height = side,
                                       .width = side,
                                       .classes = classes ? classes : classes_if_unknown};
    return orch_net_make(&options, error);
}

/* ---- check and cost ---------------------------------------------------------------------------
 */

/* One input per split, whose digest depends only on the images, not on their location or the number
 * of files. */
static int name_inputs(const struct orch_training *t, const struct orch_host *host)
{
    static const char *const names[] = {"train", "test"};
    for (int split = 0; split < 2; split++) {
        GError *error = NULL;
        char digest[65];
        struct orch_image_set_options options = orch_work_data(t, (enum orch_split)split);
        if (!orch_image_set_digest(&options, orch_training_file_digest, (void *)(uintptr_t)host,
                                   digest, &error))
            return orch_training_fail(host, error);
        host->input(host, names[split], digest);
    }
    return ORCH_OK;
}

int orch_training_check(const struct orch_training *t, const struct orch_host *host)
{
    GError *error = NULL;
    struct orch_schedule schedule;
    struct orch_net *net = make_net(t, 10, &error);
    struct orch_transforms transforms;
    bool ok = net && orch_classes_check(t, &error) && orch_work_groups_check(t, net, &error) &&
              orch_work_schedule(t, t->epochs, &schedule, &error) &&
              orch_work_transforms(t, &transforms, &error) &&
              orch_data_path_check(t, t->device, &error) && orch_graphs_check(t, &error);
    ok = ok && orch_first_layer_check(t, net, &error) && orch_growth_check(t, net, &error);
    if (ok && t->feature_extractor && t->cache_features &&
        transforms.count > orch_work_normalisation(t).count) {
        orch_error_set(&error, ORCH_ERROR_RECIPE, "set cache_features: false",
                       "features that are computed once cannot be augmented");
        ok = false;
    }
    orch_net_free(net);
    if (!ok || !orch_training_file_input(host, "weights", t->weights, &error))
        return orch_training_fail(host, error);
    orch_precision_warn(t, host);
    return host->smoke(host) ? ORCH_OK : name_inputs(t, host);
}

int orch_training_cost(const struct orch_training *t, struct orch_cost *out)
{
    const struct orch_image_set_facts *facts = orch_image_set_find(t->dataset);
    int channels, side;
    int64_t classes;
    orch_work_shape(t, &channels, &side, &classes);
    g_autofree char *input = g_strdup_printf("%dx%dx%d", channels, side, side);
    out->workers = 1;
    g_autofree char *net = orch_net_canonical_name(t->net);
    out->network = g_intern_string(net ? net : t->net);
    out->precision = orch_precision_known(t);
    out->framework = "libtorch";
    out->input = g_intern_string(input);
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
