/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data sets of labelled images, whole in memory as bytes: N x C x H x W, one byte a value. Subsets,
 * limits and splits choose rows; nothing is copied for them. */
#ifndef ORCH_PLUGINS_COMMON_IMAGE_SET_H
#define ORCH_PLUGINS_COMMON_IMAGE_SET_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** Of folders, TEST is NAME/val, else NAME/test: Visual Decathlon's test images have no labels. A
 * validation part of the training images is split off with orch_subset_split. */
enum orch_split { ORCH_SPLIT_TRAIN, ORCH_SPLIT_TEST };

/** At most this many bytes of images are held (8 GiB). */
#define ORCH_IMAGE_SET_BYTES_MAX (INT64_C(8) << 30)

/** What is known of a set before it is read. */
struct orch_image_set_facts {
    const char *name;
    const char *about;
    int channels, height, width; /* 0: as the caller asks (folders) */
    int classes;                 /* 0: as found */
    int64_t train_count, test_count;
    float mean[3], std[3]; /* of the training images, on the scale 0 to 1 */
    const char *package;   /* Debian's, or NULL */
};
/** Of fashion-mnist, mnist, cifar10, cifar100 or synthetic; NULL: any other name is a folder of
 * images. */
const struct orch_image_set_facts *orch_image_set_find(const char *name);

struct orch_image_set_options {
    const char *name; /* a known set, or a folder (absolute, or below the places looked at) */
    const char *root; /* NULL: search $ORCH_DATA, the cache, /usr/share/datasets */
    enum orch_split split;
    int channels, height, width; /* folders and synthetic: the size wanted; 0: 3 x 224 x 224 */
    int64_t synthetic_count;     /* synthetic: images */
    int synthetic_classes;
    uint64_t seed; /* synthetic */
};

struct orch_image_set {
    char *name;
    int64_t count;
    int channels, height, width, classes;
    uint8_t *images;    /* count x channels x height x width */
    int32_t *labels;    /* count, each in [0, classes) */
    char **class_names; /* classes of them, NULL-terminated */
    float mean[3], std[3];
};

/** Opens and reads a split. ORCH_ERROR_NOT_FOUND: what to install or download, and every place that
 * was looked at. ORCH_ERROR_IO names the file and the place in it. */
struct orch_image_set *orch_image_set_open(const struct orch_image_set_options *options,
                                           GError **error);
void orch_image_set_free(struct orch_image_set *dataset);

/** The files that a split is read from: absolute paths, for digests. Cheap: reads nothing. NULL
 * with ORCH_ERROR_NOT_FOUND as above. Empty for synthetic. The caller unrefs. */
GPtrArray *orch_image_set_files(const struct orch_image_set_options *options, GError **error);

/** One SHA-256 for all that a split is read from, wherever it lies; that of nothing for synthetic.
 * `digest_of` gives the SHA-256 of a file (orch_host.file_digest, which remembers), or NULL. */
bool orch_image_set_digest(const struct orch_image_set_options *options,
                           const char *(*digest_of)(void *ctx, const char *path), void *ctx,
                           char out[65], GError **error);

/** The label of a class named as in `class_names` (case does not matter) or by its number; -1 with
 * ORCH_ERROR_RECIPE and the nearest name. */
int orch_image_set_class(const struct orch_image_set *dataset, const char *text, GError **error);

/** Rows of a data set, in an order of their own; labels may be renumbered. */
struct orch_subset {
    const struct orch_image_set *dataset; /* borrowed */
    int64_t count;
    int64_t *rows;
    int32_t *label_of; /* dataset label -> label here, -1: not chosen; dataset->classes of them */
    int classes;
    int *class_of; /* label here -> dataset label */
};

/** The rows of some classes (`classes` NULL or count 0: all), at most `per_class` of each (0: all;
 * which ones is drawn from `seed`). Labels are renumbered in the order given. ORCH_ERROR_RECIPE: an
 * unknown class, one given twice, one that would be empty. */
struct orch_subset *orch_subset_new(const struct orch_image_set *dataset, const int64_t *classes,
                                    size_t class_count, int64_t per_class, uint64_t seed,
                                    GError **error);
/** Splits off `share` (0 to 1) of each class, drawn from `seed`: returns those, `subset` keeps the
 * rest. */
struct orch_subset *orch_subset_split(struct orch_subset *subset, double share, uint64_t seed);
/** Keeps the first `count` rows of a drawn order (fewer rows: all). */
void orch_subset_limit(struct orch_subset *subset, int64_t count, uint64_t seed);
void orch_subset_free(struct orch_subset *subset);

const uint8_t *orch_subset_image(const struct orch_subset *subset, int64_t i);
int32_t orch_subset_label(const struct orch_subset *subset, int64_t i);
const char *orch_subset_class_name(const struct orch_subset *subset, int label);
/** Rows of each class: classes of them. The caller frees. */
int64_t *orch_subset_counts(const struct orch_subset *subset);

#endif
