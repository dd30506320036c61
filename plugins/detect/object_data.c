/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/detect/object_data.h"

#include "lib/base/error.h"
#include "lib/base/sha256.h"
#include "lib/base/text.h"
#include "lib/data/catalogue.h"
#include "plugins/common/scenes/generated_scenes.h"
#include "plugins/common/scenes/scene_open.h"
#include "plugins/common/training/notes.h"
#include "plugins/detect/detect.h"
#include "plugins/detect/rectangle_scenes.h"

#include <string.h>

/** Numbers of images: defaults of a generated set, and those of a smoke run. */
enum { TRAIN_IMAGES = 2000, TEST_IMAGES = 500, SMOKE_IMAGES = 16 };

static const char *const SPLITS[] = {"train", "test"};

struct orch_object_data {
    const struct detect_params *params;
    struct orch_scene_set *sets[2]; /* by split */
    struct orch_scene_set
        parts[3]; /* by enum orch_object_part: the first images of a set, borrowed */
    struct orch_scene_transforms transforms;
    uint64_t seed;
};

/* ---- sources ------------------------------------------------------------------------------------
 */

/* Number of images that the parameters ask for; 0: all of the set. */
static int64_t asked_images(const struct detect_params *p, enum orch_split split)
{
    return split == ORCH_SPLIT_TRAIN ? p->train_images : p->test_images;
}

/* Number of images of a generated set. */
static int64_t generated_images(const struct detect_params *p, enum orch_split split)
{
    const int64_t asked = asked_images(p, split);
    return asked ? asked : split == ORCH_SPLIT_TRAIN ? TRAIN_IMAGES : TEST_IMAGES;
}

/* Numbers of Fashion-MNIST's classes by their names. */
static GArray *fashion_classes(const struct detect_params *p, GError **error)
{
    g_auto(GStrv) known = orch_image_set_names("fashion-mnist", 10);
    const char *const *wanted = p->classes.items;
    GArray *numbers = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (size_t i = 0; i < p->classes.count; i++) {
        int64_t at = 0;
        while (known[at] && !orch_name_is_same(known[at], wanted[i]))
            at++;
        if (!known[at]) {
            g_autofree char *all = g_strjoinv(", ", known);
            orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                           "classes: '%s' has no class '%s'; its classes are %s",
                           ORCH_GENERATED_SCENES_NAME, wanted[i], all);
            g_array_unref(numbers);
            return NULL;
        }
        g_array_append_val(numbers, at);
    }
    return numbers;
}

static struct orch_scene_set *open_fashion(const struct detect_params *p, enum orch_split split,
                                           GError **error)
{
    g_autoptr(GArray) classes = fashion_classes(p, error);
    if (!classes)
        return NULL;
    struct orch_generated_scenes options =
        orch_generated_scenes_usual(split, generated_images(p, split), (uint64_t)p->data_seed);
    options.root = p->t.data_root;
    options.classes = (const int64_t *)(void *)classes->data;
    options.class_count = classes->len;
    return orch_generated_scenes_new(&options, error);
}

static bool check_fashion(const struct detect_params *p, const struct orch_host *host,
                          GError **error);

static struct orch_scene_set *open_rectangles(const struct detect_params *p, enum orch_split split,
                                              GError **error)
{
    return orch_rectangle_scenes_new(&p->classes, split, generated_images(p, split), 64,
                                     (uint64_t)p->data_seed, error);
}

static bool check_rectangles(const struct detect_params *p, const struct orch_host *host,
                             GError **error)
{
    (void)host;
    struct orch_scene_set *set =
        orch_rectangle_scenes_new(&p->classes, ORCH_SPLIT_TRAIN, 1, 16, 1, error);
    const bool ok = set != NULL;
    orch_scene_set_free(set);
    return ok;
}

static struct orch_scene_options folder_options(const struct detect_params *p,
                                                enum orch_split split)
{
    return (struct orch_scene_options){.name = p->t.dataset,
                                       .root = p->t.data_root,
                                       .split = split,
                                       .classes = p->classes.items,
                                       .class_count = p->classes.count,
                                       .with_empty = p->with_empty,
                                       .with_groups = p->with_groups,
                                       .without_truncated = p->without_truncated,
                                       .skips_bad = p->skip_bad};
}

static struct orch_scene_set *open_folder(const struct detect_params *p, enum orch_split split,
                                          GError **error)
{
    const struct orch_scene_options options = folder_options(p, split);
    return orch_scene_set_open(&options, error);
}

/* One SHA-256 of all files of a split, which does not depend on where the folder lies. */
static bool digest_files(const struct orch_host *host, const GPtrArray *files, char out[65],
                         GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < files->len; i++) {
        const char *path = files->pdata[i], *digest = host->file_digest(host, path);
        g_autofree char *base = g_path_get_basename(path);
        if (!digest) {
            orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot read and hash '%s'", path);
            return false;
        }
        g_string_append_printf(text, "%s %s\n", base, digest);
    }
    orch_sha256(text->str, text->len, out);
    return true;
}

static bool check_folder(const struct detect_params *p, const struct orch_host *host,
                         GError **error)
{
    for (int split = 0; split < 2; split++) {
        const struct orch_scene_options options = folder_options(p, (enum orch_split)split);
        g_autoptr(GPtrArray) files = orch_scene_set_files(&options, error);
        char digest[65];
        if (!files || !digest_files(host, files, digest, error))
            return false;
        host->input(host, SPLITS[split], digest);
    }
    return true;
}

/* Where images with objects come from. */
static const struct source {
    const char *name;
    int64_t (*images)(const struct detect_params *p, enum orch_split split); /* 0: not known */
    struct orch_scene_set *(*open)(const struct detect_params *p, enum orch_split split,
                                   GError **error);
    /* Checks the classes, and names what will be read; reads no images. */
    bool (*check)(const struct detect_params *p, const struct orch_host *host, GError **error);
} SOURCES[] = {
    {ORCH_GENERATED_SCENES_NAME, generated_images, open_fashion, check_fashion},
    {"synthetic", generated_images, open_rectangles, check_rectangles},
    {NULL, asked_images, open_folder, check_folder}, /* any other name */
};

static bool check_fashion(const struct detect_params *p, const struct orch_host *host,
                          GError **error)
{
    g_autoptr(GArray) classes = fashion_classes(p, error);
    for (int split = 0; classes && split < 2; split++) {
        const struct orch_image_set_options options = {
            .name = "fashion-mnist", .root = p->t.data_root, .split = (enum orch_split)split};
        char digest[65];
        if (!orch_image_set_digest(&options, orch_training_file_digest, (void *)(uintptr_t)host,
                                   digest, error))
            return false;
        host->input(host, SPLITS[split], digest);
    }
    return classes != NULL;
}

static const struct source *find_source(const struct detect_params *p)
{
    const struct source *source = SOURCES;
    while (source->name && !orch_name_is_same(source->name, p->t.dataset))
        source++;
    return source;
}

int64_t orch_object_data_planned(const struct detect_params *p, enum orch_split split)
{
    return find_source(p)->images(p, split);
}

/* ---- opening ------------------------------------------------------------------------------------
 */

bool orch_object_data_is_absent(const struct detect_params *p, const GError *error)
{
    const struct orch_data_entry *entry = orch_data_find(p->t.dataset);
    return entry && entry->kind == ORCH_DATA_SET &&
           g_error_matches(error, ORCH_ERROR, ORCH_ERROR_NOT_FOUND);
}

/* The source's check. A published set that is not here is no fault of the recipe: its trials are
 * skipped. */
static bool check_source(const struct detect_params *p, const struct orch_host *host,
                         GError **error)
{
    g_autoptr(GError) problem = NULL;
    if (host->smoke(host) || find_source(p)->check(p, host, &problem) ||
        orch_object_data_is_absent(p, problem))
        return true;
    g_propagate_error(error, g_steal_pointer(&problem));
    return false;
}

static bool are_distinct(const struct orch_list *classes, GError **error)
{
    const char *const *names = classes->items;
    for (size_t i = 0; i < classes->count; i++)
        for (size_t k = 0; k < i; k++)
            if (orch_name_is_same(names[i], names[k])) {
                orch_error_set(error, ORCH_ERROR_RECIPE, "name each class once",
                               "classes: '%s' is given twice", names[i]);
                return false;
            }
    return true;
}

int orch_object_data_check(const struct detect_params *p, const struct orch_host *host)
{
    GError *error = NULL;
    struct orch_scene_transforms transforms;
    if (!are_distinct(&p->classes, &error) ||
        !orch_scene_transforms_parse(p->transforms.items, p->transforms.count, &transforms,
                                     &error) ||
        !check_source(p, host, &error))
        return orch_training_fail(host, error);
    return ORCH_OK;
}

/* Notes boxes of the set that the reader had to change or leave out. */
static void note_faults(const struct orch_host *host, const struct orch_scene_set *set)
{
    if (set->clipped.count)
        orch_training_note(host,
                           "%" G_GINT64_FORMAT " boxes were cut at the edge of their image: %s",
                           set->clipped.count, set->clipped.first);
    if (set->left_out.count)
        orch_training_note(host,
                           "%" G_GINT64_FORMAT " boxes or images were left out; the first is %s",
                           set->left_out.count, set->left_out.first);
}

static bool open_sets(struct orch_object_data *data, const struct orch_host *host, GError **error)
{
    const struct detect_params *p = data->params;
    for (int split = 0; split < 2; split++) {
        data->sets[split] = host->smoke(host)
                                ? orch_rectangle_scenes_new(NULL, (enum orch_split)split,
                                                            SMOKE_IMAGES, 32, 1, error)
                                : find_source(p)->open(p, (enum orch_split)split, error);
        if (!data->sets[split])
            return false;
        note_faults(host, data->sets[split]);
    }
    return true;
}

/* The first `limit` images of a set; 0: all. */
static struct orch_scene_set first_images(const struct orch_scene_set *set, int64_t limit)
{
    struct orch_scene_set part = *set;
    if (limit)
        part.count = MIN(part.count, limit);
    return part;
}

static bool has_objects(const struct orch_object_data *data, GError **error)
{
    if (orch_detect_is_mode(data->params, "test") ||
        orch_object_data_objects(data, ORCH_OBJECTS_TRAIN, 0) > 0)
        return true;
    const struct orch_scene_set *set = &data->parts[ORCH_OBJECTS_TRAIN];
    orch_error_set(error, ORCH_ERROR_RECIPE, "name other classes",
                   "the %" G_GINT64_FORMAT " training images of '%s' have no object to learn from",
                   set->count, set->name);
    return false;
}

struct orch_object_data *orch_object_data_open(const struct detect_params *p,
                                               const struct orch_host *host, GError **error)
{
    struct orch_object_data *data = g_new0(struct orch_object_data, 1);
    data->params = p;
    data->seed = host->derive_seed(host, "images");
    if (!orch_scene_transforms_parse(p->transforms.items, p->transforms.count, &data->transforms,
                                     error) ||
        !open_sets(data, host, error)) {
        orch_object_data_free(data);
        return NULL;
    }
    const struct orch_scene_set *train = data->sets[ORCH_SPLIT_TRAIN];
    const struct orch_scene_set *test = data->sets[ORCH_SPLIT_TEST];
    data->parts[ORCH_OBJECTS_TRAIN] = first_images(train, p->train_images);
    data->parts[ORCH_OBJECTS_VAL] = first_images(test, p->test_images);
    data->parts[ORCH_OBJECTS_VAL_PART] =
        first_images(&data->parts[ORCH_OBJECTS_VAL], p->t.val_images);
    if (has_objects(data, error))
        return data;
    orch_object_data_free(data);
    return NULL;
}

void orch_object_data_free(struct orch_object_data *data)
{
    if (!data)
        return;
    orch_scene_set_free(data->sets[0]);
    orch_scene_set_free(data->sets[1]);
    g_free(data);
}

/* ---- use ----------------------------------------------------------------------------------------
 */

char **orch_object_data_names(const struct orch_object_data *data)
{
    return data->sets[ORCH_SPLIT_TRAIN]->class_names;
}

int orch_object_data_classes(const struct orch_object_data *data)
{
    return data->sets[ORCH_SPLIT_TRAIN]->classes;
}

int64_t orch_object_data_images(const struct orch_object_data *data, enum orch_object_part part)
{
    return data->parts[part].count;
}

int64_t orch_object_data_objects(const struct orch_object_data *data, enum orch_object_part part,
                                 int label)
{
    const struct orch_scene_set *set = &data->parts[part];
    int64_t objects = 0;
    for (int64_t i = 0; i < set->first[set->count]; i++)
        objects += !set->is_difficult[i] && (!label || set->labels[i] == label);
    return objects;
}

struct orch_scene_loader *orch_object_data_loader(const struct orch_object_data *data,
                                                  enum orch_object_part part, int64_t batch,
                                                  GError **error)
{
    const bool is_train = part == ORCH_OBJECTS_TRAIN;
    struct orch_scene_loader_options options = {
        .batch = (int)batch,
        .threads = (int)data->params->t.loader_threads,
        .shuffles = is_train,
        .with_difficult = !is_train,
        .seed = data->seed,
        .pixels = {(int)data->params->t.image_size, ORCH_SCENE_MEAN, ORCH_SCENE_DEVIATION}};
    if (is_train)
        options.transforms = data->transforms;
    return orch_scene_loader_new(&data->parts[part], &options, error);
}
