/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The known sets, and the memory of a set. */
#include "plugins/common/data/image_set.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/data/catalogue.h"
#include "plugins/common/data/private.h"

/* Means and standard deviations of the training images, as commonly published for each set. */
static const struct orch_image_set_facts KNOWN[] = {
    {.name = "fashion-mnist",
     .about = "60,000 and 10,000 grey images of clothes, 10 classes (Xiao et al. 2017)",
     .channels = 1,
     .height = 28,
     .width = 28,
     .classes = 10,
     .train_count = 60000,
     .test_count = 10000,
     .mean = {0.2860F},
     .std = {0.3530F},
     .package = "dataset-fashion-mnist"},
    {.name = "mnist",
     .about = "60,000 and 10,000 grey images of digits (LeCun et al. 1998)",
     .channels = 1,
     .height = 28,
     .width = 28,
     .classes = 10,
     .train_count = 60000,
     .test_count = 10000,
     .mean = {0.1307F},
     .std = {0.3081F}},
    {.name = "cifar10",
     .about = "50,000 and 10,000 colour images, 10 classes (Krizhevsky 2009)",
     .channels = 3,
     .height = 32,
     .width = 32,
     .classes = 10,
     .train_count = 50000,
     .test_count = 10000,
     .mean = {0.4914F, 0.4822F, 0.4465F},
     .std = {0.2470F, 0.2435F, 0.2616F}},
    {.name = "cifar100",
     .about = "50,000 and 10,000 colour images, 100 classes (Krizhevsky 2009)",
     .channels = 3,
     .height = 32,
     .width = 32,
     .classes = 100,
     .train_count = 50000,
     .test_count = 10000,
     .mean = {0.5071F, 0.4865F, 0.4409F},
     .std = {0.2673F, 0.2564F, 0.2762F}},
    {.name = "synthetic",
     .about = "images made from the seed: each class has a pattern of its own",
     .mean = {0.5F, 0.5F, 0.5F},
     .std = {0.25F, 0.25F, 0.25F}},
    {0}};

const struct orch_image_set_facts *orch_image_set_find(const char *name)
{
    for (const struct orch_image_set_facts *facts = KNOWN; facts->name; facts++)
        if (orch_data_set_is_named(facts->name, name))
            return facts;
    return NULL;
}

struct orch_image_set_options orch_image_set_stand_in(const char *name, int side, int64_t classes,
                                                      int64_t least, enum orch_split split)
{
    enum { CLASSES = 10, IMAGES_PER_CLASS = 4 };
    const struct orch_image_set_facts *facts = orch_image_set_find(name);
    const bool is_known = facts && facts->height;
    if (!classes)
        classes = facts && facts->classes ? facts->classes : CLASSES;
    return (struct orch_image_set_options){.name = "synthetic",
                                           .split = split,
                                           .channels = is_known ? facts->channels : 3,
                                           .height = is_known ? facts->height : side,
                                           .width = is_known ? facts->width : side,
                                           .synthetic_count =
                                               MAX(least, IMAGES_PER_CLASS * classes),
                                           .synthetic_classes = (int)classes};
}

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
        orch_error_set(error, ORCH_ERROR_IO, "choose fewer images",
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
