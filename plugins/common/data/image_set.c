/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/data/image_set.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/data/catalogue.h"
#include "plugins/common/data/private.h"
#include "plugins/common/data/random.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Means and standard deviations of the training images, as commonly published for each set. */
static const struct orch_image_set_facts KNOWN[] = {
    {"fashion-mnist",
     "60,000 and 10,000 grey images of clothes, 10 classes (Xiao et al. 2017)",
     1,
     28,
     28,
     10,
     60000,
     10000,
     {0.2860F},
     {0.3530F},
     "dataset-fashion-mnist"},
    {"mnist",
     "60,000 and 10,000 grey images of digits (LeCun et al. 1998)",
     1,
     28,
     28,
     10,
     60000,
     10000,
     {0.1307F},
     {0.3081F},
     NULL},
    {"cifar10",
     "50,000 and 10,000 colour images, 10 classes (Krizhevsky 2009)",
     3,
     32,
     32,
     10,
     50000,
     10000,
     {0.4914F, 0.4822F, 0.4465F},
     {0.2470F, 0.2435F, 0.2616F},
     NULL},
    {"cifar100",
     "50,000 and 10,000 colour images, 100 classes (Krizhevsky 2009)",
     3,
     32,
     32,
     100,
     50000,
     10000,
     {0.5071F, 0.4865F, 0.4409F},
     {0.2673F, 0.2564F, 0.2762F},
     NULL},
    {"synthetic",
     "images made from the seed: each class has a pattern of its own",
     0,
     0,
     0,
     0,
     0,
     0,
     {0.5F, 0.5F, 0.5F},
     {0.25F, 0.25F, 0.25F},
     NULL},
    {0}};

const struct orch_image_set_facts *orch_image_set_find(const char *name)
{
    for (const struct orch_image_set_facts *facts = KNOWN; facts->name; facts++)
        if (orch_data_set_is_named(facts->name, name))
            return facts;
    return NULL;
}

/* ---- locating data sets -----------------------------------------------------------------------
 */

/* Explains how to get a set: the package, the command, or by hand. Caller frees. */
static char *hint_for(const char *name)
{
    const struct orch_data_entry *entry = orch_data_find(name);
    if (!entry || entry->kind != ORCH_DATA_SET) {
        g_autofree char *near = orch_data_suggest(name);
        return g_strconcat(near ? near : "", near ? " or " : "",
                           "put it into one of these folders (or name another with data_root)",
                           NULL);
    }
    if (entry->package)
        return g_strdup_printf("apt-get install %s, or orch dataset get %s", entry->package, name);
    return g_strdup_printf("orch dataset get %s, or put it into one of these folders", name);
}

static void not_found(const struct orch_image_set_options *o, const GPtrArray *looked,
                      GError **error)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < looked->len; i++)
        g_string_append_printf(text, "%s%s", i ? ", " : "", (char *)looked->pdata[i]);
    g_autofree char *hint = hint_for(o->name);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint, "data set '%s' was not found in %s", o->name,
                   text->str);
    g_string_free(text, TRUE);
}

/* The first of `names` (alternatives separated by '|') that exists as a file in `folder`. */
static char *pick(const char *folder, const char *names)
{
    g_auto(GStrv) words = g_strsplit(names, "|", -1);
    for (int i = 0; words[i]; i++) {
        g_autofree char *path = g_build_filename(folder, words[i], NULL);
        if (access(path, F_OK) == 0)
            return g_steal_pointer(&path);
    }
    return NULL;
}

/* Files of each known set, in its folder or directly in a place. */
static const struct layout {
    const char *name;
    enum orch_split split;
    const char *files[6];
} LAYOUTS[] = {
    {"fashion-mnist",
     ORCH_SPLIT_TRAIN,
     {"train-images-idx3-ubyte.gz|train-images-idx3-ubyte",
      "train-labels-idx1-ubyte.gz|train-labels-idx1-ubyte"}},
    {"fashion-mnist",
     ORCH_SPLIT_TEST,
     {"t10k-images-idx3-ubyte.gz|t10k-images-idx3-ubyte",
      "t10k-labels-idx1-ubyte.gz|t10k-labels-idx1-ubyte"}},
    {"mnist",
     ORCH_SPLIT_TRAIN,
     {"train-images-idx3-ubyte.gz|train-images-idx3-ubyte",
      "train-labels-idx1-ubyte.gz|train-labels-idx1-ubyte"}},
    {"mnist",
     ORCH_SPLIT_TEST,
     {"t10k-images-idx3-ubyte.gz|t10k-images-idx3-ubyte",
      "t10k-labels-idx1-ubyte.gz|t10k-labels-idx1-ubyte"}},
    {"cifar10",
     ORCH_SPLIT_TRAIN,
     {"cifar-10-batches-bin/data_batch_1.bin|data_batch_1.bin",
      "cifar-10-batches-bin/data_batch_2.bin|data_batch_2.bin",
      "cifar-10-batches-bin/data_batch_3.bin|data_batch_3.bin",
      "cifar-10-batches-bin/data_batch_4.bin|data_batch_4.bin",
      "cifar-10-batches-bin/data_batch_5.bin|data_batch_5.bin"}},
    {"cifar10", ORCH_SPLIT_TEST, {"cifar-10-batches-bin/test_batch.bin|test_batch.bin"}},
    {"cifar100", ORCH_SPLIT_TRAIN, {"cifar-100-binary/train.bin|train.bin"}},
    {"cifar100", ORCH_SPLIT_TEST, {"cifar-100-binary/test.bin|test.bin"}},
};

static GPtrArray *layout_in(const struct layout *layout, const char *folder)
{
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < G_N_ELEMENTS(layout->files) && layout->files[i]; i++) {
        char *path = pick(folder, layout->files[i]);
        if (!path) {
            g_ptr_array_unref(files);
            return NULL;
        }
        g_ptr_array_add(files, path);
    }
    return files;
}

static GPtrArray *known_files(const struct orch_image_set_options *o, GError **error)
{
    g_autoptr(GPtrArray) roots = orch_data_places(o->root);
    g_autoptr(GPtrArray) looked = g_ptr_array_new_with_free_func(g_free);
    const struct layout *layout = LAYOUTS;
    while (strcmp(layout->name, o->name) != 0 || layout->split != o->split)
        layout++;
    for (guint i = 0; i < roots->len; i++) {
        g_autofree char *folder = g_build_filename(roots->pdata[i], o->name, NULL);
        GPtrArray *files = layout_in(layout, folder);
        if (!files && o->root)
            files = layout_in(layout, o->root);
        if (files)
            return files;
        g_ptr_array_add(looked, g_steal_pointer(&folder));
        if (o->root)
            g_ptr_array_add(looked, g_strdup(o->root));
    }
    not_found(o, looked, error);
    return NULL;
}

char *orch_data_folder(const struct orch_image_set_options *o, GError **error)
{
    static const char *const names[][3] = {{"train", NULL}, {"val", "test", NULL}};
    g_autoptr(GPtrArray) roots = orch_data_places(o->root);
    g_autoptr(GPtrArray) looked = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i <= roots->len; i++) {
        g_autofree char *base = i < roots->len ? g_build_filename(roots->pdata[i], o->name, NULL)
                                : g_path_is_absolute(o->name) ? g_strdup(o->name)
                                                              : NULL;
        for (int j = 0; base && names[o->split][j]; j++) {
            char *folder = g_build_filename(base, names[o->split][j], NULL);
            if (g_file_test(folder, G_FILE_TEST_IS_DIR))
                return folder;
            g_ptr_array_add(looked, folder);
        }
    }
    not_found(o, looked, error);
    return NULL;
}

GPtrArray *orch_image_set_files(const struct orch_image_set_options *o, GError **error)
{
    const struct orch_image_set_facts *facts = orch_image_set_find(o->name);
    if (!facts)
        return orch_folder_files(o, error);
    if (strcmp(facts->name, "synthetic") == 0)
        return g_ptr_array_new_with_free_func(g_free);
    return known_files(o, error);
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
            orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot read '%s' for its digest", path);
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

/* ---- opening ----------------------------------------------------------------------------------
 */

void orch_image_set_free(struct orch_image_set *d)
{
    if (!d)
        return;
    g_free(d->name);
    g_free(d->images);
    g_free(d->labels);
    g_strfreev(d->class_names);
    g_free(d);
}

struct orch_image_set *orch_image_set_alloc(const char *name, int64_t count, int channels,
                                            int height, int width, int classes, GError **error)
{
    int64_t bytes = count * channels * height * width;
    if (count < 1 || bytes > ORCH_IMAGE_SET_BYTES_MAX) {
        g_autofree char *size = orch_bytes_format(bytes);
        orch_error_set(error, ORCH_ERROR_IO, "choose smaller images, or fewer of them",
                       "data set '%s' of %" G_GINT64_FORMAT " images (%s) cannot be held in memory",
                       name, count, size);
        return NULL;
    }
    struct orch_image_set *d = g_new0(struct orch_image_set, 1);
    d->name = g_strdup(name);
    d->count = count;
    d->channels = channels;
    d->height = height;
    d->width = width;
    d->classes = classes;
    d->images = g_try_malloc((gsize)bytes);
    d->labels = g_new0(int32_t, count);
    if (!d->images) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "out of memory for data set '%s'", name);
        orch_image_set_free(d);
        return NULL;
    }
    return d;
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

static char **class_names(const char *name, int classes)
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
        uint64_t random = orch_random_stream(o->seed, (uint64_t)o->split + 1, (uint64_t)i);
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
        g_autoptr(GPtrArray) files = known_files(o, error);
        d = !files                               ? NULL
            : g_str_has_prefix(o->name, "cifar") ? orch_cifar_read(facts, files, error)
                                                 : orch_idx_read(facts, files, error);
    }
    if (!d)
        return NULL;
    if (!d->class_names)
        d->class_names = class_names(o->name, d->classes);
    for (int c = 0; c < 3; c++) {
        /* ImageNet's values for folders, as pretrained weights expect */
        static const float mean[] = {0.485F, 0.456F, 0.406F}, std[] = {0.229F, 0.224F, 0.225F};
        d->mean[c] = facts ? facts->mean[c] : mean[c];
        d->std[c] = facts ? facts->std[c] : std[c];
    }
    return d;
}
