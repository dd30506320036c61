/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens a set: chooses the reader, and makes the synthetic images. */
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "plugins/common/data/private.h"
#include "plugins/common/data/random.h"

#include <math.h>
#include <string.h>

GPtrArray *orch_image_set_files(const struct orch_image_set_options *o, GError **error)
{
    const struct orch_image_set_facts *facts = orch_image_set_find(o->name);
    if (!facts)
        return orch_folder_files(o, error);
    if (strcmp(facts->name, "synthetic") == 0)
        return g_ptr_array_new_with_free_func(g_free);
    return orch_known_files(o, error);
}

bool orch_image_set_digest(const struct orch_image_set_options *o,
                           const char *(*digest_of)(void *ctx, const char *path), void *ctx,
                           char out[65], GError **error)
{
    g_autoptr(GPtrArray) files = orch_image_set_files(o, error);
    g_autoptr(GString) text = g_string_new("orch data set 1\n");
    for (guint i = 0; files && i < files->len; i++) {
        const char *path = files->pdata[i], *digest = digest_of(ctx, path);
        g_autofree char *folder = g_path_get_dirname(path);
        g_autofree char *parent = g_path_get_basename(folder);
        g_autofree char *base = g_path_get_basename(path);
        if (!digest) {
            orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot read and hash '%s'", path);
            return false;
        }
        /* class and file for folders, the file for other sets, but never their location */
        g_string_append_printf(text, "%s/%s %s\n", orch_image_set_find(o->name) ? "" : parent, base,
                               digest);
    }
    if (files)
        orch_sha256(text->str, text->len, out);
    return files != NULL;
}

/* Names of classes in label order, one word each; '+' stands for a space. */
static const struct {
    const char *set, *names;
} CLASS_NAMES[] = {
    {"fashion-mnist",
     "T-shirt/top Trouser Pullover Dress Coat Sandal Shirt Sneaker Bag Ankle+boot"},
    {"cifar10", "airplane automobile bird cat deer dog frog horse ship truck"},
    {"cifar100", "apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy "
                 "bridge bus butterfly camel can castle caterpillar cattle chair chimpanzee clock "
                 "cloud cockroach couch crab crocodile cup dinosaur dolphin elephant flatfish "
                 "forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion "
                 "lizard lobster man maple_tree motorcycle mountain mouse mushroom oak_tree orange "
                 "orchid otter palm_tree pear pickup_truck pine_tree plain plate poppy porcupine "
                 "possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk skyscraper "
                 "snail snake spider squirrel streetcar sunflower sweet_pepper table tank "
                 "telephone television tiger tractor train trout tulip turtle wardrobe whale "
                 "willow_tree wolf woman worm"},
};

char **orch_image_set_names(const char *name, int classes)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(CLASS_NAMES); i++) {
        if (strcmp(CLASS_NAMES[i].set, name) != 0)
            continue;
        char **names = g_strsplit(CLASS_NAMES[i].names, " ", -1);
        for (char **word = names; *word; word++)
            g_strdelimit(*word, "+", ' ');
        return names;
    }
    char **names = g_new0(char *, classes + 1);
    for (int i = 0; i < classes; i++)
        names[i] = g_strdup_printf("%d", i);
    return names;
}

/* Each class is a sum of two waves with its own directions plus noise: learnable, but not
 * trivial. */
static struct orch_image_set *make_synthetic(const struct orch_image_set_options *o, GError **error)
{
    int channels = o->channels ? o->channels : 3, height = o->height ? o->height : 32,
        width = o->width ? o->width : 32,
        classes = o->synthetic_classes ? o->synthetic_classes : 10;
    struct orch_image_set *d =
        orch_image_set_alloc(o->name, o->synthetic_count ? o->synthetic_count : 1024, channels,
                             height, width, classes, error);
    for (int64_t i = 0; d && i < d->count; i++) {
        uint64_t random = orch_random_stream_of(o->seed, (uint64_t)o->split + 1, (uint64_t)i);
        int label = (int)(i % classes);
        d->labels[i] = label;
        uint8_t *at = d->images + i * channels * height * width;
        double angle = 3.14159265358979 * label / classes, phase = orch_random_unit(&random) * 6.28;
        for (int c = 0; c < channels; c++)
            for (int y = 0; y < height; y++)
                for (int x = 0; x < width; x++) {
                    double wave = sin((x * cos(angle) + y * sin(angle)) * 0.6 + phase + c);
                    double value = 127 + 60 * wave + 60 * (orch_random_unit(&random) - 0.5);
                    *at++ = (uint8_t)CLAMP(value, 0, 255);
                }
    }
    return d;
}

struct orch_image_set *orch_image_set_open(const struct orch_image_set_options *o, GError **error)
{
    const struct orch_image_set_facts *facts = orch_image_set_find(o->name);
    struct orch_image_set *d;
    if (!facts) {
        d = orch_folder_read(o, error);
    } else if (strcmp(facts->name, "synthetic") == 0) {
        d = make_synthetic(o, error);
    } else {
        g_autoptr(GPtrArray) files = orch_known_files(o, error);
        d = !files                               ? NULL
            : g_str_has_prefix(o->name, "cifar") ? orch_cifar_read(facts, files, error)
                                                 : orch_idx_read(facts, files, error);
    }
    if (!d)
        return NULL;
    if (!d->class_names)
        d->class_names = orch_image_set_names(o->name, d->classes);
    for (int c = 0; c < 3; c++) {
        /* ImageNet's values for folders, as pretrained weights expect */
        static const float mean[] = {0.485F, 0.456F, 0.406F}, std[] = {0.229F, 0.224F, 0.225F};
        d->mean[c] = facts ? facts->mean[c] : mean[c];
        d->std[c] = facts ? facts->std[c] : std[c];
    }
    return d;
}
