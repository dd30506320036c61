/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of images with boxes in the layouts of Pascal VOC and Open Images: written, read back equal,
 * and read with everything wrong that a file can have. */
#include "tests/unit/image_files_fixture.h"

#include "plugins/common/data/random.h"
#include "plugins/common/scenes/scene_loader.h"
#include "plugins/common/scenes/scene_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jpeglib.h>

#define IMAGES 9
#define BOXES_MAX 5

static void put(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text), false);
}

static char *path_of(const char *name)
{
    return g_build_filename(folder, name, NULL);
}

/* A JPEG of smooth colours: in its middle the red is `red`. */
static void write_jpeg(const char *name, int width, int height, int red)
{
    g_autofree char *path = path_of(name);
    g_autofree char *parent = g_path_get_dirname(path);
    assert_true(orch_dir_make(parent, NULL));
    FILE *file = fopen(path, "wb");
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_stdio_dest(&info, file);
    info.image_width = (JDIMENSION)width;
    info.image_height = (JDIMENSION)height;
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 95, TRUE);
    jpeg_start_compress(&info, TRUE);
    g_autofree uint8_t *line = g_malloc((gsize)width * 3);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            line[3 * x] = (uint8_t)red;
            line[3 * x + 1] = (uint8_t)(x * 255 / width);
            line[3 * x + 2] = (uint8_t)(y * 255 / height);
        }
        JSAMPROW row = line;
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    fclose(file);
}

/* ---- what is written --------------------------------------------------------------------------
 */

static const char *const CLASSES[] = {"aeroplane", "dog", "person"};

struct object {
    int x1, y1, x2, y2; /* pixels from 0, the last ones do not belong to the box */
    int class_index;
    bool is_difficult, is_truncated, is_group;
};

struct picture {
    int width, height, red, count;
    struct object objects[BOXES_MAX];
};

/* Random pictures; every fourth one has no object. */
static void draw(struct picture pictures[IMAGES], uint64_t seed)
{
    for (int i = 0; i < IMAGES; i++) {
        struct picture *p = &pictures[i];
        *p = (struct picture){.width = 40 + (int)orch_random_below_32(&seed, 60),
                              .height = 30 + (int)orch_random_below_32(&seed, 60),
                              .red = (int)orch_random_below_32(&seed, 256)};
        p->count = i % 4 == 3 ? 0 : 1 + (int)orch_random_below_32(&seed, BOXES_MAX);
        for (int k = 0; k < p->count; k++) {
            struct object *o = &p->objects[k];
            o->x1 = (int)orch_random_below_32(&seed, (uint32_t)p->width - 2);
            o->y1 = (int)orch_random_below_32(&seed, (uint32_t)p->height - 2);
            o->x2 = o->x1 + 2 + (int)orch_random_below_32(&seed, (uint32_t)(p->width - o->x1 - 1));
            o->y2 = o->y1 + 2 + (int)orch_random_below_32(&seed, (uint32_t)(p->height - o->y1 - 1));
            o->class_index = (int)orch_random_below_32(&seed, 3);
            o->is_difficult = orch_random_below_32(&seed, 4) == 0;
            o->is_truncated = orch_random_below_32(&seed, 4) == 0;
            o->is_group = orch_random_below_32(&seed, 4) == 0;
        }
    }
}

static void write_annotation(const char *name, const struct picture *p)
{
    g_autoptr(GString) xml = g_string_new("<annotation>\n\t<folder>VOC2007</folder>\n");
    g_string_append_printf(xml,
                           "\t<size>\n\t\t<width>%d</width>\n\t\t<height>%d</height>\n"
                           "\t\t<depth>3</depth>\n\t</size>\n",
                           p->width, p->height);
    for (int k = 0; k < p->count; k++) {
        const struct object *o = &p->objects[k];
        g_string_append_printf(
            xml,
            "\t<object>\n\t\t<name>%s</name>\n\t\t<truncated>%d</truncated>\n"
            "\t\t<difficult>%d</difficult>\n\t\t<bndbox><xmin>%d</xmin><ymin>%d</ymin>"
            "<xmax> %d </xmax><ymax>%d</ymax></bndbox>\n"
            /* as the layout of persons has it: a box of a part is no box of an object */
            "\t\t<part><name>head</name><bndbox><xmin>1</xmin></bndbox></part>\n\t</object>\n",
            CLASSES[o->class_index], o->is_truncated, o->is_difficult, o->x1 + 1, o->y1 + 1, o->x2,
            o->y2);
    }
    g_string_append(xml, "</annotation>\n");
    put(name, xml->str);
}

/* Writes pictures as VOC/Annotations/00000I.xml, and their list. */
static void write_voc(const char *root, const char *list, const struct picture *pictures)
{
    g_autoptr(GString) ids = g_string_new(NULL);
    for (int i = 0; i < IMAGES; i++) {
        g_autofree char *image = g_strdup_printf("%s/JPEGImages/%06d.jpg", root, i);
        g_autofree char *xml = g_strdup_printf("%s/Annotations/%06d.xml", root, i);
        write_jpeg(image, pictures[i].width, pictures[i].height, pictures[i].red);
        write_annotation(xml, &pictures[i]);
        g_string_append_printf(ids, "%06d\n", i);
    }
    g_autofree char *name = g_strdup_printf("%s/ImageSets/Main/%s", root, list);
    put(name, ids->str);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static struct orch_scene_set *open_set(const struct orch_scene_options *options)
{
    GError *error = NULL;
    struct orch_scene_options o = *options;
    o.root = folder;
    struct orch_scene_set *set = orch_scene_set_open(&o, &error);
    if (!set)
        fail_msg("%s", error->message);
    return set;
}

static void assert_box(struct orch_box box, const struct object *o, const struct picture *p)
{
    assert_float_equal(box.x1, (float)o->x1 / (float)p->width, 1e-6F);
    assert_float_equal(box.y1, (float)o->y1 / (float)p->height, 1e-6F);
    assert_float_equal(box.x2, (float)o->x2 / (float)p->width, 1e-6F);
    assert_float_equal(box.y2, (float)o->y2 / (float)p->height, 1e-6F);
}

static void assert_pixels(const struct orch_scene_set *set, int64_t i, const struct picture *p)
{
    struct orch_scene_image image;
    GError *error = NULL;
    if (!orch_scene_image_get(set, i, &image, &error))
        fail_msg("%s", error->message);
    assert_int_equal(image.width, p->width);
    assert_int_equal(image.height, p->height);
    const uint8_t *middle = image.pixels + (p->height / 2 * p->width + p->width / 2) * 3;
    assert_true(abs(middle[0] - p->red) < 8);
    assert_true(abs(middle[1] - 127) < 12);
    orch_scene_image_release(&image);
}

static void test_voc_round_trip(void **state)
{
    (void)state;
    struct picture pictures[IMAGES];
    draw(pictures, 5);
    write_voc("voc/VOCdevkit/VOC2007", "trainval.txt", pictures);
    struct orch_scene_options options = {.name = "voc", .with_empty = true};
    struct orch_scene_set *set = open_set(&options);
    assert_int_equal(set->count, IMAGES);
    assert_int_equal(set->classes, 21);
    assert_string_equal(set->class_names[0], "background");
    assert_string_equal(set->class_names[20], "tvmonitor");
    assert_int_equal(set->clipped.count + set->left_out.count, 0);
    for (int i = 0; i < IMAGES; i++) {
        const struct picture *p = &pictures[i];
        assert_int_equal(set->first[i + 1] - set->first[i], p->count);
        for (int k = 0; k < p->count; k++) {
            const int64_t at = set->first[i] + k;
            assert_box(set->boxes[at], &p->objects[k], p);
            assert_string_equal(set->class_names[set->labels[at]],
                                CLASSES[p->objects[k].class_index]);
            assert_int_equal(set->is_difficult[at], p->objects[k].is_difficult);
        }
        assert_pixels(set, i, p);
    }
    /* every file is named for the digest: the list, and two for each image */
    options.root = folder;
    g_autoptr(GPtrArray) files = orch_scene_set_files(&options, NULL);
    assert_int_equal(files->len, 1 + 2 * IMAGES);
    orch_scene_set_free(set);
}

static void test_voc_options(void **state)
{
    (void)state;
    struct picture pictures[IMAGES];
    draw(pictures, 5);
    const char *const wanted[] = {"person", "dog"};
    const struct orch_scene_options options = {
        .name = "voc", .classes = wanted, .class_count = 2, .without_truncated = true};
    struct orch_scene_set *set = open_set(&options);
    assert_int_equal(set->classes, 3);
    assert_string_equal(set->class_names[1], "person");
    int64_t image = 0, box = 0;
    for (int i = 0; i < IMAGES; i++) {
        int found = 0;
        for (int k = 0; k < pictures[i].count; k++) {
            const struct object *o = &pictures[i].objects[k];
            if (o->class_index == 0)
                continue;
            found++;
            assert_int_equal(set->labels[box], o->class_index == 2 ? 1 : 2);
            assert_int_equal(set->is_difficult[box], o->is_difficult || o->is_truncated);
            assert_box(set->boxes[box++], o, &pictures[i]);
        }
        if (!found) /* an image without an object of the two classes is left out */
            continue;
        g_autofree char *id = g_strdup_printf("%06d", i);
        assert_string_equal(set->ids[image], id);
        assert_int_equal(set->first[++image], box);
    }
    assert_int_equal(set->count, image);
    orch_scene_set_free(set);
}

#define OBJECT(name, x1, y1, x2, y2)                                                               \
    "<object><name>" name "</name><bndbox><xmin>" #x1 "</xmin><ymin>" #y1 "</ymin><xmax>" #x2      \
    "</xmax><ymax>" #y2 "</ymax></bndbox></object>\n"

/* A VOC folder of one's own: classes in labels.txt, lists train.txt and val.txt. */
static void test_own_voc(void **state)
{
    (void)state;
    struct picture pictures[IMAGES];
    draw(pictures, 8);
    write_voc("own", "train.txt", pictures);
    put("own/labels.txt", "BACKGROUND\nperson\n\naeroplane\ndog\n");
    put("own/ImageSets/Main/val.txt", "000001 -1\r\n\r\n000002  1\r\n");
    struct orch_scene_options options = {.name = "own", .with_empty = true};
    struct orch_scene_set *set = open_set(&options);
    assert_int_equal(set->count, IMAGES);
    assert_int_equal(set->classes, 4);
    assert_string_equal(set->class_names[2], "aeroplane");
    orch_scene_set_free(set);
    options.split = ORCH_SPLIT_TEST;
    set = open_set(&options);
    assert_int_equal(set->count, 2);
    assert_string_equal(set->ids[1], "000002");
    orch_scene_set_free(set);
    /* as pytorch-ssd writes the classes, and as programs on Windows begin a file */
    put("own/labels.txt", "person, aeroplane,dog");
    put("own/ImageSets/Main/val.txt", "\xef\xbb\xbf"
                                      "000001\r\n");
    put("own/Annotations/000001.xml",
        "\xef\xbb\xbf"
        "<annotation>\r\n" OBJECT("dog", 1, 1, 9, 9) "</annotation>\r\n");
    set = open_set(&options);
    assert_int_equal(set->classes, 4);
    assert_int_equal(set->first[1], 1);
    assert_string_equal(set->class_names[set->labels[0]], "dog");
    orch_scene_set_free(set);
}

#define HEADER                                                                                     \
    "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,"              \
    "IsGroupOf,IsDepiction,IsInside"

/* Rows of all pictures, the images mixed as a table sorted by class has them. With or without the
 * names of the classes in a column. */
static void write_open_images(const char *table, const char *images, const struct picture *pictures,
                              bool with_names)
{
    g_autoptr(GString) csv = g_string_new(HEADER);
    g_string_append(csv, with_names ? ",ClassName\n" : "\n");
    for (int class_index = 0; class_index < 3; class_index++)
        for (int i = 0; i < IMAGES; i++)
            for (int k = 0; k < pictures[i].count; k++) {
                const struct object *o = &pictures[i].objects[k];
                const double w = pictures[i].width, h = pictures[i].height;
                if (o->class_index != class_index)
                    continue;
                g_string_append_printf(csv, "%08x,xclick,/m/0%d,1,%.7f,%.7f,%.7f,%.7f,-1,%d,%d,0,0",
                                       i, class_index, o->x1 / w, o->x2 / w, o->y1 / h, o->y2 / h,
                                       o->is_truncated, o->is_group);
                if (with_names)
                    g_string_append_printf(csv, ",%s", CLASSES[class_index]);
                g_string_append_c(csv, '\n');
            }
    put(table, csv->str);
    for (int i = 0; i < IMAGES; i++) {
        g_autofree char *name = g_strdup_printf("%s/%08x.jpg", images, i);
        write_jpeg(name, pictures[i].width, pictures[i].height, pictures[i].red);
    }
}

/* Every object of the pictures is there once; boxes lie by class. */
static void assert_open_images(const struct orch_scene_set *set, const struct picture *pictures,
                               bool with_groups)
{
    int objects = 0;
    for (int i = 0; i < IMAGES; i++)
        objects += pictures[i].count;
    assert_int_equal(set->first[set->count], objects);
    for (int64_t row = 0; row < set->count; row++) {
        const int i = (int)strtol(set->ids[row], NULL, 16);
        const struct picture *p = &pictures[i];
        int64_t at = set->first[row];
        assert_int_equal(set->first[row + 1] - at, p->count);
        for (int class_index = 0; class_index < 3; class_index++)
            for (int k = 0; k < p->count; k++) {
                if (p->objects[k].class_index != class_index)
                    continue;
                assert_box(set->boxes[at], &p->objects[k], p);
                assert_string_equal(set->class_names[set->labels[at]], CLASSES[class_index]);
                assert_int_equal(set->is_difficult[at], !with_groups && p->objects[k].is_group);
                at++;
            }
        assert_pixels(set, row, p);
    }
}

static void test_open_images_round_trip(void **state)
{
    (void)state;
    struct picture pictures[IMAGES], others[IMAGES];
    draw(pictures, 12);
    draw(others, 13);
    write_open_images("oi/sub-train-annotations-bbox.csv", "oi/train", pictures, true);
    write_open_images("oi/sub-test-annotations-bbox.csv", "oi/test", others, true);
    struct orch_scene_options options = {.name = "oi"};
    struct orch_scene_set *set = open_set(&options);
    assert_int_equal(set->classes, 4);
    assert_string_equal(set->class_names[1], "aeroplane"); /* sorted */
    assert_open_images(set, pictures, false);
    orch_scene_set_free(set);
    options.with_groups = true;
    options.split = ORCH_SPLIT_TEST;
    set = open_set(&options);
    assert_open_images(set, others, true);
    orch_scene_set_free(set);

    /* labels without names: the descriptions have them, with a header or without one */
    for (int with_header = 0; with_header < 2; with_header++) {
        write_open_images("raw/train-annotations-bbox.csv", "raw/train", pictures, false);
        g_autofree char *text =
            g_strconcat(with_header ? "LabelName,DisplayName\n" : "",
                        "/m/00,aeroplane\n/m/01,dog\n/m/09,\"Handgun, old\"\n/m/02,person\n", NULL);
        put("raw/class-descriptions-boxable.csv", text);
        const struct orch_scene_options raw = {.name = "raw", .with_groups = true};
        set = open_set(&raw);
        assert_int_equal(set->classes, 5);
        assert_string_equal(set->class_names[3], "Handgun, old");
        assert_open_images(set, pictures, true);
        orch_scene_set_free(set);
    }
}

/* The other split may lack a class; both number them alike. */
static void test_splits_number_alike(void **state)
{
    (void)state;
    struct picture pictures[IMAGES];
    draw(pictures, 12);
    write_open_images("alike/sub-train-annotations-bbox.csv", "alike/train", pictures, true);
    put("alike/sub-test-annotations-bbox.csv",
        "ImageID,XMin,XMax,YMin,YMax,ClassName\n00000000,0.1,0.5,0.1,0.5,person\n");
    write_jpeg("alike/test/00000000.jpg", 20, 20, 3);
    const struct orch_scene_options options = {.name = "alike", .split = ORCH_SPLIT_TEST};
    struct orch_scene_set *set = open_set(&options);
    assert_int_equal(set->classes, 4);
    assert_int_equal(set->labels[0], 3);
    orch_scene_set_free(set);
}

/* ---- bad input --------------------------------------------------------------------------------
 */

static void assert_refused(const struct orch_scene_options *options, const char *const *expected,
                           size_t count)
{
    g_autoptr(GError) error = NULL;
    struct orch_scene_options o = *options;
    o.root = folder;
    assert_null(orch_scene_set_open(&o, &error));
    for (size_t i = 0; i < count; i++)
        if (!strstr(error->message, expected[i]))
            fail_msg("'%s' not in '%s'", expected[i], error->message);
}

#define REFUSED(options, ...)                                                                      \
    assert_refused((options), (const char *const[]){__VA_ARGS__},                                  \
                   G_N_ELEMENTS(((const char *const[]){__VA_ARGS__})))

#define SIXTY_FOUR "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccdddddddddddddddd"
#define QUARTER SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR
#define LONG_NAME QUARTER QUARTER QUARTER QUARTER

/* One annotation of an image of 50 x 40 pixels, and what is said of it. Objects begin on line 2. */
static const struct {
    const char *xml, *errors[2];
} BAD_XML[] = {
    {"<annotation>\n" OBJECT("dog", 1, 1, 9, 9) OBJECT("dog", 30, 1, 20, 9) "</annotation>",
     {"the box of 'dog' is inverted: xmin 30, ymin 1, xmax 20, ymax 9 in an image of 50 x 40",
      "a.xml:3"}},
    {"<annotation>\n" OBJECT("dog", 5, 5, 5, 9) "</annotation>",
     {"the box of 'dog' is empty", "a.xml:2"}},
    {"<annotation>\n" OBJECT("dog", 60, 5, 70, 9) OBJECT("dog", 60, 5, 70, 9) "</annotation>",
     {"the box of 'dog' is outside of its image: xmin 60, ymin 5, xmax 70, ymax 9 in an image of "
      "50 x 40 pixels; 1 more such place\n  at: ",
      "a.xml:2\n  hint: leave such boxes"}},
    {"<annotation>\n" OBJECT("dgo", 1, 1, 9, 9) "</annotation>",
     {"class 'dgo' is not among the 20 of Pascal VOC", "did you mean 'dog'?\n  at: "}},
    {"<annotation>\n" OBJECT("dog\n  at: forged:1", 1, 1, 9, 9) "</annotation>",
     {"class 'dog   at: forged:1' is not among", "a.xml:2"}},
    {"<annotation>\n" OBJECT("dog", 1, x, 9, 9) "</annotation>",
     {"'x' in 'annotation/object/bndbox/ymin' is not expected there", "a.xml:2"}},
    {"<annotation>\n" OBJECT("dog", 1, nan, 9, 9) "</annotation>", {"'nan' in", "a.xml:2"}},
    {"<annotation>\n<object><name>dog</name><name>cat</name></object></annotation>",
     {"'cat' in 'annotation/object/name' is not expected there, or comes twice", "a.xml:2"}},
    {"<annotation>\n\n<object><name>dog</name><bndbox><xmin>1</xmin></bndbox></object>"
     "</annotation>",
     {"the object has no 'ymin'", "a.xml:3"}},
    {"<annotation>\n" OBJECT("dog", 1, 1, 9, 9), {"not well-formed XML", "a.xml:2\n"}},
    {"<annotation>\n<object><name>do", {"not well-formed XML", "a.xml:2"}},
    {"<annotation>\n<object>\n\t<name>dog</name>\n\t<bndbox>\n<xmin>1</xmin>\n</bndbox>\n</object>"
     "</annotation>",
     {"the object has no 'ymin'", "a.xml:2\n"}},
    {"<annotation>\n<object>\n<name>\ndog\n</name>\n<difficult>no</difficult>\n</object></"
     "annotation>",
     {"'no' in 'annotation/object/difficult'", "a.xml:6\n"}},
    {"", {"not well-formed XML: ", "a.xml:1"}},
    {"\n\n<html></html>", {"the first element is not 'annotation'", "a.xml:3"}},
    {"<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>\n<annotation>&b;</annotation>",
     {"has a DOCTYPE, but must have none", "a.xml:1\n"}},
    {"<annotation>\n<object><name>&b;</name></object></annotation>",
     {"not well-formed XML", "a.xml:2"}},
    {"<annotation>\n<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>",
     {"elements are nested more than 16 deep", "a.xml:2"}},
    {"<annotation>\n<" LONG_NAME "></" LONG_NAME "></annotation>",
     {"or their names are too long", "a.xml:2"}},
    {"<annotation>\n<size><width>51</width><height>40</height></size>\n</annotation>",
     {"the annotation is of 51 x 40 pixels, but '", "a.jpg' has 50 x 40"}},
    {"<annotation>\n<size><width>-3</width></size></annotation>", {"'-3' in", "a.xml:2"}},
};

static void test_bad_annotations(void **state)
{
    (void)state;
    put("bad/ImageSets/Main/trainval.txt", "a\n");
    write_jpeg("bad/JPEGImages/a.jpg", 50, 40, 9);
    const struct orch_scene_options options = {.name = "bad", .with_empty = true};
    for (size_t i = 0; i < G_N_ELEMENTS(BAD_XML); i++) {
        put("bad/Annotations/a.xml", BAD_XML[i].xml);
        assert_refused(&options, BAD_XML[i].errors, 2);
    }
    /* too many objects: named with the line, and a file that is too large with its size */
    g_autoptr(GString) many = g_string_new("<annotation>\n");
    for (int i = 0; i < 4097; i++)
        g_string_append(many, OBJECT("dog", 1, 1, 9, 9));
    put("bad/Annotations/a.xml", many->str);
    REFUSED(&options, "an image has more than 4096 objects", "a.xml:4098");
    for (int i = 0; i < 100000; i++)
        g_string_append(many, OBJECT("dog", 1, 1, 9, 9));
    put("bad/Annotations/a.xml", many->str);
    REFUSED(&options, "a.xml", "larger than 8388608 bytes");
}

static void test_bad_voc_files(void **state)
{
    (void)state;
    const struct orch_scene_options options = {.name = "files", .with_empty = true};
    REFUSED(&options, "no training images with boxes of data set 'files' in ", "/files, ",
            "hint: a folder in the layout of Pascal VOC has ImageSets/Main/trainval.txt");
    put("files/ImageSets/Main/trainval.txt", "a\nb\n");
    put("files/Annotations/a.xml", "<annotation></annotation>");
    put("files/Annotations/b.xml", "<annotation></annotation>");
    write_jpeg("files/JPEGImages/a.jpg", 50, 40, 9);
    REFUSED(&options, "annotation 'b.xml' has no image JPEGImages/b.jpg", "Annotations/b.xml:1");
    put("files/JPEGImages/b.jpg", "");
    REFUSED(&options, "b.jpg': the file is empty or truncated", "b.xml:1");
    put("files/JPEGImages/b.jpg", "GIF89a");
    REFUSED(&options, "b.jpg' is neither a JPEG nor a PNG (byte 0)", "b.xml:1");
    put("files/ImageSets/Main/trainval.txt", "a\nc\n");
    REFUSED(&options, "image 'c' has no annotation '", "trainval.txt:2");
    put("files/ImageSets/Main/trainval.txt", "a\n\na\n");
    REFUSED(&options, "image 'a' is listed twice", "trainval.txt:3");
    put("files/ImageSets/Main/trainval.txt", "a\n../../a\n");
    REFUSED(&options, "image '../../a' cannot be the name of a file", "trainval.txt:2");
    put("files/ImageSets/Main/trainval.txt", "\xff\n");
    REFUSED(&options, "trainval.txt' is not UTF-8");
    put("files/ImageSets/Main/trainval.txt", "\n");
    REFUSED(&options, "data set 'files' has no image");
    put("files/ImageSets/Main/trainval.txt", "a\n");
    const char *const twice[] = {"dog", "dog"}, *const unknown[] = {"dog", "handgun"};
    struct orch_scene_options other = options;
    other.class_count = 2;
    other.classes = twice;
    REFUSED(&other, "class 'dog' is named twice");
    other.classes = unknown;
    REFUSED(&other, "class 'handgun' is not among the 20 of Pascal VOC");
    other = options;
    other.with_empty = false;
    REFUSED(&other, "data set 'files' has no image with an object of the selected classes",
            "hint: choose other classes");
    other = options;
    other.name = "voc2007";
    REFUSED(&other, "hint: orch dataset get voc2007, or put it into one of these folders");
}

/* A JPEG whose head is sound and whose end is missing is found when it is decoded. */
static void test_truncated_jpeg(void **state)
{
    (void)state;
    put("cut/ImageSets/Main/trainval.txt", "a\nb\n");
    for (int i = 0; i < 2; i++) {
        g_autofree char *xml = g_strdup_printf("cut/Annotations/%c.xml", 'a' + i);
        g_autofree char *jpeg = g_strdup_printf("cut/JPEGImages/%c.jpg", 'a' + i);
        put(xml, "<annotation>" OBJECT("dog", 1, 1, 9, 9) "</annotation>");
        write_jpeg(jpeg, 90, 80, 100);
    }
    g_autofree char *path = path_of("cut/JPEGImages/b.jpg");
    assert_int_equal(truncate(path, 1200), 0);
    const struct orch_scene_options options = {.name = "cut"};
    struct orch_scene_set *set = open_set(&options);
    for (int threads = 0; threads < 3; threads++) {
        const struct orch_scene_loader_options loading = {
            .batch = 1, .threads = threads, .pixels = {16, 127, 128}};
        struct orch_scene_loader *loader = orch_scene_loader_new(set, &loading, NULL);
        struct orch_scene_batch batch;
        g_autoptr(GError) error = NULL;
        orch_scene_loader_start(loader, 0);
        assert_true(orch_scene_loader_next(loader, &batch, &error));
        assert_false(orch_scene_loader_next(loader, &batch, &error));
        assert_non_null(
            strstr(error->message, "cut/JPEGImages/b.jpg' is a damaged JPEG: near byte"));
        orch_scene_loader_free(loader);
    }
    orch_scene_set_free(set);
}

/* What is left out is counted, and the first is named; what is cut, too. */
static void test_skipped(void **state)
{
    (void)state;
    put("skip/ImageSets/Main/trainval.txt", "a\nlost\nb\n");
    put("skip/Annotations/a.xml",
        "<annotation>\n" OBJECT("dog", 1, 1, 9, 9) OBJECT("dog", 30, 1, 20, 9)
            OBJECT("unicorn", 1, 1, 9, 9) OBJECT("cat", -4, 11, 61, 20) "</annotation>");
    put("skip/Annotations/b.xml", "<annotation></annotation>");
    write_jpeg("skip/JPEGImages/a.jpg", 50, 40, 9);
    write_jpeg("skip/JPEGImages/b.jpg", 50, 40, 9);
    struct orch_scene_options options = {.name = "skip", .with_empty = true, .skips_bad = true};
    struct orch_scene_set *set = open_set(&options);
    assert_int_equal(set->count, 2);
    assert_int_equal(set->first[2], 2);
    assert_int_equal(set->left_out.count, 3);
    assert_non_null(strstr(set->left_out.first, "the box of 'dog' is inverted"));
    assert_non_null(strstr(set->left_out.first, "skip/Annotations/a.xml:3"));
    assert_int_equal(set->clipped.count, 1);
    assert_non_null(strstr(set->clipped.first, "a box of 'cat' extends beyond its image\n  at: "));
    assert_non_null(strstr(set->clipped.first, "a.xml:5"));
    const struct orch_box cat = set->boxes[1];
    assert_true(cat.x1 == 0 && cat.x2 == 1 && cat.y1 == 0.25F && cat.y2 == 0.5F);
    orch_scene_set_free(set);
}

#define SHORT "ImageID,XMin,XMax,YMin,YMax,ClassName\n"

/* Objects of other classes, and images without others, may be anything. */
static void test_not_wanted(void **state)
{
    (void)state;
    const char *const wanted[] = {"dog"};
    struct orch_scene_options options = {.name = "some", .classes = wanted, .class_count = 1};
    put("some/ImageSets/Main/trainval.txt", "a\nlost\n");
    put("some/Annotations/a.xml",
        "<annotation>\n" OBJECT("dog", 1, 1, 9, 9) OBJECT("cat", 30, 1, 20, 9) "</annotation>");
    put("some/Annotations/lost.xml", "<annotation>" OBJECT("cat", 1, 1, 9, 9) "</annotation>");
    write_jpeg("some/JPEGImages/a.jpg", 50, 40, 9);
    struct orch_scene_set *set = open_set(&options);
    assert_int_equal(set->count, 1);
    assert_int_equal(set->first[1], 1);
    assert_int_equal(set->left_out.count, 0);
    orch_scene_set_free(set);
    options.with_empty = true;
    REFUSED(&options, "annotation 'lost.xml' has no image");

    options = (struct orch_scene_options){.name = "rows", .classes = wanted, .class_count = 1};
    write_jpeg("rows/train/a.jpg", 20, 20, 3);
    put("rows/sub-train-annotations-bbox.csv",
        SHORT "a,0.1,0.2,0.1,0.2,dog\na,0.9,0.2,0.1,0.2,cat\n"
              "lost,0.1,0.2,0.1,0.2,cat\n");
    set = open_set(&options);
    assert_int_equal(set->count, 1);
    assert_int_equal(set->first[1], 1);
    assert_int_equal(set->left_out.count, 0);
    orch_scene_set_free(set);
    options.with_empty = true;
    REFUSED(&options, "image 'lost' has no file '", "bbox.csv:4");
}

/* No class is dropped in silence. */
static void test_many_classes(void **state)
{
    (void)state;
    g_autoptr(GString) names = g_string_new(NULL), rows = g_string_new(SHORT);
    for (int i = 0; i < 10001; i++) {
        g_string_append_printf(names, "class%d\n", i);
        g_string_append_printf(rows, "a,0.1,0.2,0.1,0.2,class%d\n", i);
    }
    put("classes/labels.txt", names->str);
    put("classes/ImageSets/Main/trainval.txt", "a\n");
    const struct orch_scene_options voc = {.name = "classes"}, open = {.name = "class-rows"};
    REFUSED(&voc, "more than 10000 classes in ", "classes/labels.txt", "hint: list fewer classes");
    put("class-rows/sub-train-annotations-bbox.csv", rows->str);
    REFUSED(&open, "more than 10000 classes in ", "bbox.csv");
}

static void test_bad_tables(void **state)
{
    (void)state;
    static const struct {
        const char *text, *errors[2];
    } BAD[] = {
        {SHORT "a,0.1,0.2,0.1,0.2,x\na,0.5,0.2,0.1,0.2,x\n",
         {"the box of 'x' is inverted: xmin 0.5, ymin 0.1, xmax 0.2, ymax 0.2\n", "bbox.csv:3"}},
        {SHORT "a,0.1,0.1,0.1,0.2,x\n", {"the box of 'x' is empty", "bbox.csv:2"}},
        {SHORT "a,1.1,1.2,0.1,0.2,x\n", {"is outside of its image", "bbox.csv:2"}},
        {SHORT "a,0.1,0.2,0.1,0.2,x\nb,0.1,0.2,0.1,0.2,x\n",
         {"image 'b' has no file '", "bbox.csv:3"}},
        {SHORT "../a,0.1,0.2,0.1,0.2,x\n",
         {"'ImageID' cannot be the name of a file", "bbox.csv:2"}},
        {SHORT "a,0.1,0.2,0.1,0.2,x\na,0.1,0.2,0.1\n",
         {"record has 4 fields, the header has 6", "bbox.csv:3"}},
        {SHORT "a,0.1,much,0.1,0.2,x\n", {"much", "bbox.csv:2"}},
        {SHORT "a,0.1,nan,0.1,0.2,x\n", {"nan", "bbox.csv:2"}},
        {"ImageID,XMin,XMax,YMin,ClassName\n", {"YMax", "bbox.csv:1"}},
        {SHORT, {"has no image", "tables"}},
        {"", {"table is empty", "bbox.csv"}},
        {"ImageID,XMin,XMax,YMin,YMax,LabelName\na,0.1,0.2,0.1,0.2,/m/01\n",
         {"class-descriptions-boxable.csv", "cannot"}},
    };
    write_jpeg("tables/train/a.jpg", 20, 20, 3);
    const struct orch_scene_options options = {.name = "tables"};
    for (size_t i = 0; i < G_N_ELEMENTS(BAD); i++) {
        put("tables/sub-train-annotations-bbox.csv", BAD[i].text);
        assert_refused(&options, BAD[i].errors, 2);
    }
    put("tables/class-descriptions-boxable.csv", "/m/01,Handgun,?\n");
    REFUSED(&options, "expected two columns, label and name", "boxable.csv:1");
    put("tables/class-descriptions-boxable.csv", "/m/02,Handgun\n");
    REFUSED(&options, "class '/m/01' is not among the 1 of ", "bbox.csv:2");
}

/* A million boxes are read; more than fit into one image are not. */
static void test_many_boxes(void **state)
{
    (void)state;
    g_autoptr(GString) csv = g_string_new(SHORT);
    for (int i = 0; i < 250; i++) {
        g_autofree char *name = g_strdup_printf("many/train/%d.jpg", i);
        put(name, "not looked at");
        for (int k = 0; k < 4000; k++)
            g_string_append_printf(csv, "%d,0.1,0.9,0.2,0.8,x\n", i);
    }
    put("many/sub-train-annotations-bbox.csv", csv->str);
    const struct orch_scene_options options = {.name = "many"};
    struct orch_scene_set *set = open_set(&options);
    assert_int_equal(set->first[set->count], 1000000);
    orch_scene_set_free(set);
    for (int k = 0; k < 100; k++)
        g_string_append(csv, "7,0.1,0.9,0.2,0.8,x\n");
    put("many/sub-train-annotations-bbox.csv", csv->str);
    REFUSED(&options, "image '7' has more than 4096 boxes", "bbox.csv:1000098");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_voc_round_trip),
        cmocka_unit_test(test_voc_options),
        cmocka_unit_test(test_own_voc),
        cmocka_unit_test(test_open_images_round_trip),
        cmocka_unit_test(test_splits_number_alike),
        cmocka_unit_test(test_bad_annotations),
        cmocka_unit_test(test_bad_voc_files),
        cmocka_unit_test(test_truncated_jpeg),
        cmocka_unit_test(test_skipped),
        cmocka_unit_test(test_not_wanted),
        cmocka_unit_test(test_bad_tables),
        cmocka_unit_test(test_many_classes),
        cmocka_unit_test(test_many_boxes),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
