/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data sets of labelled images, held in memory as bytes: N x C x H x W, one byte per value.
 * Subsets and limits select rows without copying. */
#ifndef ORCH_PLUGINS_COMMON_IMAGE_SET_H
#define ORCH_PLUGINS_COMMON_IMAGE_SET_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** For folders, TEST is NAME/val if it exists, else NAME/test, because Visual Decathlon's test
 * images have no labels. */
enum orch_split { ORCH_SPLIT_TRAIN, ORCH_SPLIT_TEST };

/** Maximum size of the images in memory (8 GiB). */
#define ORCH_IMAGE_SET_BYTES_MAX (INT64_C(8) << 30)

/** Properties of a set that are known without reading it. */
struct orch_image_set_facts {
    const char *name;
    const char *about;
    int channels, height, width; /* 0: as requested (folders) */
    int classes;                 /* 0: determined from the folders */
    int64_t train_count, test_count;
    float mean[3], std[3]; /* of the training images, in the range 0 to 1 */
    const char *package;   /* Debian's, or NULL */
};
/** Finds fashion-mnist, mnist, cifar10, cifar100 or synthetic. Returns NULL for any other name,
 * which stands for a folder of images. */
const struct orch_image_set_facts *orch_image_set_find(const char *name);

/** Names of the classes of a known set in label order, NULL-terminated; numbers where it has none.
 * Caller frees. */
char **orch_image_set_names(const char *name, int classes);

struct orch_image_set_options {
    const char *name; /* a known set, or a folder (absolute, or below one of the places) */
    const char *root; /* NULL: search $ORCH_DATA, the cache, /usr/share/datasets */
    enum orch_split split;
    int channels, height, width; /* folders and synthetic: requested size; 0: 3 x 224 x 224 */
    int64_t synthetic_count;     /* synthetic: number of images */
    int synthetic_classes;
    uint64_t seed; /* synthetic */
};

/** Options for synthetic images that stand in for a split of the set or folder `name` in a smoke
 * run: its shape (of a folder: 3 x `side` x `side`), `classes` classes (0: as many as the set has,
 * of a folder 10), and at least `least` images, four of each class. */
struct orch_image_set_options orch_image_set_stand_in(const char *name, int side, int64_t classes,
                                                      int64_t least, enum orch_split split);

struct orch_image_set {
    char *name;
    int64_t count;
    int channels, height, width, classes;
    uint8_t *images;    /* count x channels x height x width */
    int32_t *labels;    /* count, each in [0, classes) */
    char **class_names; /* `classes` names, NULL-terminated */
    float mean[3], std[3];
};

/** Opens and reads a split. Fails with ORCH_ERROR_NOT_FOUND, naming what to install or download and
 * every place that was searched, or with ORCH_ERROR_IO, naming the file and the position. */
struct orch_image_set *orch_image_set_open(const struct orch_image_set_options *options,
                                           GError **error);
void orch_image_set_free(struct orch_image_set *dataset);

/** Absolute paths of the files of a split, for digests. Cheap: reads no files. Fails with NULL and
 * ORCH_ERROR_NOT_FOUND as above. Empty for synthetic. Caller unrefs. */
GPtrArray *orch_image_set_files(const struct orch_image_set_options *options, GError **error);

/** One SHA-256 of everything that a split is read from, independent of its location; that of no
 * data for synthetic. `digest_of` returns the SHA-256 of a file (orch_host.file_digest, which
 * caches), or NULL. */
bool orch_image_set_digest(const struct orch_image_set_options *options,
                           const char *(*digest_of)(void *ctx, const char *path), void *ctx,
                           char out[65], GError **error);

/** A selection of rows of a data set in its own order; labels may be renumbered. */
struct orch_subset {
    const struct orch_image_set *dataset; /* borrowed */
    int64_t count;
    int64_t *rows;
    int32_t *label_of; /* dataset->classes entries: label in the subset, -1: not selected */
    int classes;
    int *class_of; /* label in the subset -> label in the data set */
    char *
        *label_names; /* `classes` names of labels that are no classes of the set; NULL: they are */
    int32_t *labels;  /* count labels that replace the set's; NULL: the set's */
};

/** Selects the rows of some classes (`classes` NULL or count 0: all), at most `per_class` of each
 * (0: all; drawn with `seed`). Labels are renumbered in the given order. Fails with
 * ORCH_ERROR_RECIPE for an unknown, repeated or empty class. */
struct orch_subset *orch_subset_new(const struct orch_image_set *dataset, const int64_t *classes,
                                    size_t class_count, int64_t per_class, uint64_t seed,
                                    GError **error);
/** A new subset of the rows at `positions` (each in [0, subset->count)), in this order and as often
 * as they occur there, with their labels. Free with orch_subset_free. */
struct orch_subset *orch_subset_pick(const struct orch_subset *subset, const int64_t *positions,
                                     int64_t count);
/** Keeps the first `count` rows of a random order (all if there are fewer). */
void orch_subset_limit(struct orch_subset *subset, int64_t count, uint64_t seed);
void orch_subset_free(struct orch_subset *subset);

/** Gives the rows labels of their own, in [0, subset->classes), in place of the data set's (weak
 * supervision, pseudo-labels). The array is copied; `count` must be
 * subset->count. Fails with ORCH_ERROR_RECIPE, which names the first row that is out of range;
 * `subset` is then untouched. */
bool orch_subset_set_labels(struct orch_subset *subset, const int32_t *labels, int64_t count,
                            GError **error);
/** Gives the rows labels of other classes than the data set's: `labels` has `count` ==
 * subset->count numbers in [0, class_count), or -1 for a row that is left out. `names` has
 * `class_count` > 0 names of the labels. Copies both; afterwards
 * subset->class_of is the identity. Fails with ORCH_ERROR_RECIPE for a label that is out of range,
 * and where no row is left; `subset` is then untouched. */
bool orch_subset_relabel(struct orch_subset *subset, const int32_t *labels, int64_t count,
                         const char *const *names, int class_count, GError **error);

const uint8_t *orch_subset_image(const struct orch_subset *subset, int64_t i);
int32_t orch_subset_label(const struct orch_subset *subset, int64_t i);
const char *orch_subset_class_name(const struct orch_subset *subset, int label);
/** Number of rows of each class, `classes` entries. Caller frees. */
int64_t *orch_subset_counts(const struct orch_subset *subset);

#endif
