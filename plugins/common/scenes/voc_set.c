/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of Pascal VOC (Everingham et al. 2010): lists of IDs, and an annotation and an image
 * for each of them. */
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "plugins/common/data/rgb.h"
#include "plugins/common/scenes/scene_builder.h"
#include "plugins/common/scenes/scene_readers.h"
#include "plugins/common/scenes/voc_xml.h"

#include <string.h>
#include <unistd.h>

#define LIST_BYTES_MAX (128 * 1024 * 1024)

const char *const orch_voc_classes[ORCH_VOC_CLASSES + 1] = {
    "aeroplane", "bicycle",     "bird",  "boat",        "bottle", "bus",       "car",
    "cat",       "chair",       "cow",   "diningtable", "dog",    "horse",     "motorbike",
    "person",    "pottedplant", "sheep", "sofa",        "train",  "tvmonitor", NULL};

/* Lists of a split, the first that exists. */
static const char *const LISTS[2][2] = {[ORCH_SPLIT_TRAIN] = {"trainval.txt", "train.txt"},
                                        [ORCH_SPLIT_TEST] = {"test.txt", "val.txt"}};

/* The list of a split below a folder; NULL: none. */
static char *find_list(const char *folder, enum orch_split split)
{
    for (int i = 0; i < 2; i++) {
        g_autofree char *path =
            g_build_filename(folder, "ImageSets", "Main", LISTS[split][i], NULL);
        if (access(path, F_OK) == 0)
            return g_steal_pointer(&path);
    }
    return NULL;
}

static char *find_set(const char *folder, enum orch_split split)
{
    /* itself; as 'orch dataset get' unpacks the archives; as tar unpacks them */
    const char *const below[] = {".",
                                 split == ORCH_SPLIT_TRAIN ? "trainval" : "test",
                                 "VOCdevkit/VOC2007",
                                 "VOC2007",
                                 "VOC2012",
                                 "VOCdevkit/VOC2012"};
    for (size_t i = 0; i < G_N_ELEMENTS(below); i++) {
        g_autofree char *path = g_canonicalize_filename(below[i], folder);
        g_autofree char *list = find_list(path, split);
        if (list)
            return g_steal_pointer(&path);
    }
    return NULL;
}

/* The lines of a text file, without blanks at their ends. */
static char **read_lines(const char *path, GError **error)
{
    g_autofree char *text = NULL;
    gsize length;
    if (!orch_file_read(path, LIST_BYTES_MAX, &text, &length, error))
        return NULL;
    if (strlen(text) != length || !g_utf8_validate(text, -1, NULL)) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "the text of '%s' is not UTF-8", path);
        return NULL;
    }
    const bool has_mark = g_str_has_prefix(text, "\xef\xbb\xbf"); /* as Windows writes it */
    char **lines = g_strsplit(has_mark ? text + 3 : text, "\n", -1);
    for (char **line = lines; *line; line++)
        g_strstrip(*line);
    return lines;
}

/* The names in labels.txt, between commas or one a line, or VOC's. NULL-terminated; NULL on
 * failure. */
static char **read_classes(const char *folder, char **out_list, GPtrArray *files, GError **error)
{
    g_autofree char *path = g_build_filename(folder, "labels.txt", NULL);
    if (access(path, F_OK) != 0) {
        *out_list = g_strdup("Pascal VOC (other classes are listed in labels.txt)");
        return g_strdupv((char **)(uintptr_t)orch_voc_classes);
    }
    g_auto(GStrv) lines = read_lines(path, error);
    if (!lines)
        return NULL;
    g_autofree char *joined = g_strjoinv(",", lines);
    g_auto(GStrv) words = g_strsplit(joined, ",", -1);
    GPtrArray *names = g_ptr_array_new();
    for (char **word = words; *word; word++)
        if (*g_strstrip(*word) && strcmp(*word, "BACKGROUND") != 0)
            g_ptr_array_add(names, g_strdup(*word));
    g_ptr_array_add(names, NULL);
    g_ptr_array_add(files, g_strdup(path));
    *out_list = g_steal_pointer(&path);
    return (char **)g_ptr_array_free(names, FALSE);
}

struct reading {
    const char *folder;
    const struct orch_scene_options *options;
    struct orch_scene_builder *builder;
    GPtrArray *files;
    const char *list;
    int line;
};

/* Path of an image; NULL if it has no file. */
static char *find_image(const char *folder, const char *id)
{
    static const char *const ends[] = {".jpg", ".jpeg", ".png", ".JPG", ".JPEG"};
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
        g_autofree char *name = g_strconcat(id, ends[i], NULL);
        g_autofree char *path = g_build_filename(folder, "JPEGImages", name, NULL);
        if (access(path, F_OK) == 0)
            return g_steal_pointer(&path);
    }
    return NULL;
}

static struct orch_voc_annotation *read_annotation(const char *path, GError **error)
{
    g_autofree char *text = NULL;
    gsize length;
    if (!orch_file_read(path, ORCH_VOC_XML_BYTES_MAX, &text, &length, error))
        return NULL;
    return orch_voc_parse(path, text, length, error);
}

static bool add_objects(const struct reading *r, const char *from,
                        const struct orch_voc_annotation *annotation, int64_t image, int width,
                        int height, GError **error)
{
    g_autofree char *of_image = g_strdup_printf(" in an image of %d x %d pixels", width, height);
    for (guint i = 0; i < annotation->objects->len; i++) {
        const struct orch_voc_object *o =
            &g_array_index(annotation->objects, struct orch_voc_object, i);
        /* pixels count from 1, and the last one belongs to the box. Where both sides are the same
         * pixel, the program that wrote them counted otherwise, and the box is empty. */
        const double right = o->xmax > o->xmin ? o->xmax : o->xmax - 1;
        const double bottom = o->ymax > o->ymin ? o->ymax : o->ymax - 1;
        const struct orch_found_box found = {
            .from = from,
            .line = o->line,
            .class_name = o->name,
            .box = {(float)((o->xmin - 1) / width), (float)((o->ymin - 1) / height),
                    (float)(right / width), (float)(bottom / height)},
            .written = {o->xmin, o->ymin, o->xmax, o->ymax},
            .of_image = of_image,
            .is_difficult = o->is_difficult || (o->is_truncated && r->options->without_truncated)};
        if (!orch_scene_builder_add_box(r->builder, image, &found, error))
            return false;
    }
    return true;
}

static bool is_wanted(const struct reading *r, const struct orch_voc_annotation *annotation)
{
    bool wants = r->options->with_empty;
    for (guint i = 0; !wants && i < annotation->objects->len; i++)
        wants = orch_scene_builder_wants(
            r->builder, g_array_index(annotation->objects, struct orch_voc_object, i).name);
    return wants;
}

/* Adds an annotation with its image, or notes why the image cannot be used. */
static bool add_annotation(const struct reading *r, const char *id, const char *xml,
                           const struct orch_voc_annotation *annotation, GError **error)
{
    g_autofree char *image = find_image(r->folder, id);
    g_autoptr(GError) odd = NULL;
    int width = 0, height = 0;
    if (!orch_scene_builder_has_room(r->builder, r->list, r->line, error))
        return false;
    if (!image)
        orch_scene_builder_refuse(
            r->builder, xml, 1,
            g_strdup_printf("annotation '%s.xml' has no image JPEGImages/%s.jpg", id, id));
    else if (!orch_rgb_size(image, &width, &height, &odd))
        orch_scene_builder_refuse(r->builder, xml, 1, orch_error_what(odd));
    else if (annotation->width && annotation->height &&
             (annotation->width != width || annotation->height != height))
        orch_scene_builder_refuse(
            r->builder, xml, 1,
            g_strdup_printf("the annotation is of %d x %d pixels, but '%s' has %d x %d",
                            annotation->width, annotation->height, image, width, height));
    else
        return add_objects(r, xml, annotation,
                           orch_scene_builder_add_image(r->builder, id, g_steal_pointer(&image)),
                           width, height, error);
    return true;
}

/* Reads what belongs to an ID. */
static bool read_id(const struct reading *r, const char *id, GError **error)
{
    g_autofree char *name = g_strconcat(id, ".xml", NULL);
    g_autofree char *xml = g_build_filename(r->folder, "Annotations", name, NULL);
    if (access(xml, F_OK) != 0) {
        orch_scene_builder_refuse(r->builder, r->list, r->line,
                                  g_strdup_printf("image '%s' has no annotation '%s'", id, xml));
        return true;
    }
    struct orch_voc_annotation *annotation = read_annotation(xml, error);
    if (!annotation)
        return false;
    g_ptr_array_add(r->files, g_strdup(xml));
    const bool ok = !is_wanted(r, annotation) || add_annotation(r, id, xml, annotation, error);
    orch_voc_annotation_free(annotation);
    return ok;
}

/* A line is an ID, or an ID and a number, as in the lists of the classes. */
static bool read_line(struct reading *r, char *line, GHashTable *seen, GError **error)
{
    char *end = strpbrk(line, " \t");
    if (end)
        *end = '\0';
    if (!*line)
        return true;
    const int first = GPOINTER_TO_INT(g_hash_table_lookup(seen, line));
    if (first || !orch_scene_id_is_valid(line)) {
        g_autofree char *shown = orch_scene_shown(line);
        orch_error_set(error, ORCH_ERROR_IO, NULL, "image '%s' %s\n  at: %s:%d", shown,
                       first ? "is listed twice" : "cannot be the name of a file", r->list,
                       r->line);
        return false;
    }
    g_hash_table_insert(seen, line, GINT_TO_POINTER(r->line));
    return read_id(r, line, error);
}

static bool read_list(struct reading *r, GError **error)
{
    g_auto(GStrv) lines = read_lines(r->list, error);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    bool ok = lines != NULL;
    g_ptr_array_add(r->files, g_strdup(r->list));
    for (int i = 0; ok && lines[i]; i++) {
        r->line = i + 1;
        ok = read_line(r, lines[i], seen, error);
    }
    return ok;
}

static struct orch_scene_set *read_set(const char *folder, const struct orch_scene_options *options,
                                       GPtrArray *files, GError **error)
{
    g_autofree char *class_list = NULL, *list = find_list(folder, options->split);
    g_auto(GStrv) classes = read_classes(folder, &class_list, files, error);
    struct orch_scene_set *set = NULL;
    struct reading r = {folder, options, NULL, files, list, 0};
    if (classes)
        r.builder = orch_scene_builder_new(options, classes, class_list, error);
    if (r.builder && read_list(&r, error))
        set = orch_scene_builder_end(r.builder, error);
    orch_scene_builder_free(r.builder);
    return set;
}

const struct orch_scene_reader orch_scene_reader_voc = {find_set, read_set};
