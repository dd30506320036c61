/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of JPEG and PNG files, their digest, scaling, and the picture of samples. */
#include "plugins/common/data/picture.h"
#include "plugins/common/data/private.h"
#include "tests/unit/image_files_fixture.h"
#include "tests/unit/image_fixture.h"

#ifdef ORCH_HAVE_PNG
#include <png.h>
#endif

#ifdef ORCH_HAVE_PNG
/* A plain PNG of one colour. */
static void write_png(const char *name, uint8_t red, int width, int height)
{
    g_autofree uint8_t *rgb = g_malloc0((gsize)(width * height * 3));
    for (int i = 0; i < width * height; i++)
        rgb[3 * i] = red;
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    assert_true(orch_dir_make(parent, NULL));
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB};
    assert_true(png_image_write_to_file(&image, path, 0, rgb, 0, NULL));
}

static void test_folder(void **state)
{
    (void)state;
    write_png("birds/train/owl/1.png", 250, 20, 10);
    write_png("birds/train/owl/2.png", 251, 8, 30);
    write_png("birds/train/wren/1.png", 100, 9, 9);
    struct orch_image_set_options options = {
        .name = "birds", .root = folder, .channels = 3, .height = 8, .width = 8};
    GError *error = NULL;
    struct orch_image_set *d = orch_image_set_open(&options, &error);
    if (!d)
        fail_msg("%s", error->message);
    assert_int_equal(d->count, 3);
    assert_int_equal(d->classes, 2);
    assert_string_equal(d->class_names[1], "wren");
    assert_int_equal(d->images[0], 250);
    assert_int_equal(d->images[2 * 3 * 64], 100);
    assert_int_equal(d->images[2 * 3 * 64 + 64], 0); /* green */
    orch_image_set_free(d);
    write_bytes("birds/train/owl/3.jpg", "\xff\xd8\xff\xe0 not a picture", 18, false);
    assert_null(orch_image_set_open(&options, &error));
    assert_non_null(strstr(error->message, "owl/3.jpg' is a damaged JPEG: near byte "));
    g_clear_error(&error);
    write_bytes("birds/train/owl/3.jpg", "GIF89a, says this file", 22, false);
    assert_null(orch_image_set_open(&options, &error));
    assert_non_null(strstr(error->message, "owl/3.jpg' is neither a JPEG nor a PNG (byte 0)"));
    g_clear_error(&error);
    write_bytes("birds/train/owl/3.jpg", "", 0, false);
    assert_null(orch_image_set_open(&options, &error));
    assert_non_null(strstr(error->message, "owl/3.jpg': the file is empty or truncated"));
    g_clear_error(&error);
    g_autofree char *bad = g_build_filename(folder, "birds/train/owl/3.jpg", NULL);
    g_autofree char *empty = g_build_filename(folder, "birds/train/zebra", NULL);
    assert_true(orch_tree_remove(bad, NULL) && orch_dir_make(empty, NULL));
    assert_null(orch_image_set_open(&options, &error));
    assert_non_null(strstr(error->message, "class 'zebra' is empty"));
    g_clear_error(&error);
}

/* A PNG carries checksums: a byte that was flipped is found, and so is an end that is missing. */
static void test_damaged_png(void **state)
{
    (void)state;
    write_png("bees/train/honey/1.png", 50, 20, 20);
    g_autofree char *path = g_build_filename(folder, "bees/train/honey/1.png", NULL);
    g_autofree char *bytes = NULL;
    size_t length;
    assert_true(orch_file_read(path, 1 << 20, &bytes, &length, NULL));
    struct orch_image_set_options options = {
        .name = "bees", .root = folder, .height = 8, .width = 8};
    for (int cut = 0; cut < 2; cut++) {
        GError *error = NULL;
        bytes[length - 20] ^= 1;
        assert_true(orch_file_write(path, bytes, cut ? length / 2 : length, false, NULL));
        assert_null(orch_image_set_open(&options, &error));
        if (!strstr(error->message, "honey/1.png' is a damaged PNG: near byte "))
            fail_msg("%s", error->message);
        g_clear_error(&error);
    }
}

/* Validation images are numbered by the classes of the training images. */
static void test_folder_splits(void **state)
{
    (void)state;
    write_png("fish/train/carp/1.png", 10, 9, 9);
    write_png("fish/train/pike/1.png", 20, 9, 9);
    write_png("fish/val/pike/1.png", 30, 9, 9);
    struct orch_image_set_options options = {
        .name = "fish", .root = folder, .split = ORCH_SPLIT_TEST, .height = 4, .width = 4};
    GError *error = NULL;
    assert_null(orch_image_set_open(&options, &error));
    assert_non_null(strstr(error->message, "class 'carp' is empty: no image in '"));
    assert_non_null(strstr(error->message, "fish/val/carp"));
    g_clear_error(&error);
    write_png("fish/val/carp/1.png", 40, 9, 9);
    write_png("fish/val/zander/1.png", 50, 9, 9);
    assert_null(orch_image_set_open(&options, &error));
    assert_non_null(strstr(error->message, "class 'zander'"));
    g_clear_error(&error);
    g_autofree char *extra = g_build_filename(folder, "fish/val/zander", NULL);
    assert_true(orch_tree_remove(extra, NULL));
    struct orch_image_set *d = orch_image_set_open(&options, &error);
    assert_non_null(d);
    assert_int_equal(d->images[0], 40);
    orch_image_set_free(d);
}

static const char *fake_digest(void *ctx, const char *path)
{
    g_ptr_array_add(ctx, g_strdup(path));
    return "0000000000000000000000000000000000000000000000000000000000000000";
}

/* The digest of a set depends on what is in it, and not on where it lies. */
static void test_set_digest(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) asked = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *elsewhere = g_build_filename(folder, "elsewhere", NULL);
    char here[65], there[65], renamed[65];
    write_png("frogs/train/tree/1.png", 10, 9, 9);
    write_png("elsewhere/frogs/train/tree/1.png", 10, 9, 9);
    struct orch_image_set_options options = {.name = "frogs", .root = folder};
    assert_true(orch_image_set_digest(&options, fake_digest, asked, here, NULL));
    options.root = elsewhere;
    assert_true(orch_image_set_digest(&options, fake_digest, asked, there, NULL));
    assert_string_equal(here, there);
    assert_int_equal(asked->len, 2);
    write_png("elsewhere/frogs/train/tree/2.png", 10, 9, 9);
    assert_true(orch_image_set_digest(&options, fake_digest, asked, renamed, NULL));
    assert_string_not_equal(here, renamed);
}
#endif

#ifdef ORCH_HAVE_JPEG
static char *fixture(const char *name)
{
    return g_build_filename(g_getenv("ORCH_SOURCE_DIR"), "tests", "data", "images", name, NULL);
}

/* Against Pillow (tests/data/make_fixtures.py): off by one at most, where roundings differ. */
static void test_scaling(void **state)
{
    (void)state;
    static const char *const names[] = {"wide.jpg", "tall.png"};
    static const int sizes[][2] = {{16, 16}, {24, 12}, {100, 80}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) {
            int height = sizes[j][0], width = sizes[j][1];
            g_autofree char *stem = g_strndup(names[i], 4);
            g_autofree char *name = g_strdup_printf("%s-%dx%d.rgb", stem, height, width);
            g_autofree char *picture = fixture(names[i]), *path = fixture(name);
            g_autofree char *expected = NULL;
            g_autofree uint8_t *found = g_malloc((gsize)(3 * height * width));
            size_t length;
            assert_true(orch_file_read(path, 1 << 20, &expected, &length, NULL));
            assert_int_equal(length, 3 * height * width);
            assert_true(orch_image_decode(picture, 3, height, width, found, NULL));
            for (size_t k = 0; k < length; k++)
                assert_in_range(found[k] - (uint8_t)expected[k] + 1, 0, 2);
            uint8_t grey[8000];
            assert_true(orch_image_decode(picture, 1, height, width, grey, NULL));
            double luma =
                0.299 * found[0] + 0.587 * found[length / 3] + 0.114 * found[length / 3 * 2];
            assert_true(grey[0] > luma - 1.5 && grey[0] < luma + 1.5);
        }
}

/* A JPEG that was cut off, or has a bad byte, names itself; the first one in order is named. */
static void test_damaged_jpeg(void **state)
{
    (void)state;
    g_autofree char *path = fixture("wide.jpg");
    g_autofree char *bytes = NULL;
    size_t length;
    GError *error = NULL;
    assert_true(orch_file_read(path, 1 << 20, &bytes, &length, NULL));
    for (int i = 0; i < 20; i++) {
        g_autofree char *name = g_strdup_printf("cats/train/tabby/%02d.jpg", i);
        write_bytes(name, bytes, i >= 7 ? length / 2 : length, false);
    }
    struct orch_image_set_options options = {
        .name = "cats", .root = folder, .height = 8, .width = 8};
    assert_null(orch_image_set_open(&options, &error));
    static const char head[] = "tabby/07.jpg' is a damaged JPEG: near byte ";
    const char *place = strstr(error->message, head);
    assert_non_null(place);
    assert_in_range(strtol(place + strlen(head), NULL, 10), length / 2 - 64, length / 2);
    g_clear_error(&error);
    /* whole, but a piece of it was written over */
    memset(bytes + length / 2, 0xff, 64);
    write_bytes("lynx/train/tufted/1.jpg", bytes, length, false);
    options.name = "lynx";
    assert_null(orch_image_set_open(&options, &error));
    assert_non_null(strstr(error->message, "tufted/1.jpg' is a damaged JPEG: near byte "));
    g_clear_error(&error);
}
#endif

#ifdef ORCH_HAVE_PNG
static void test_picture(void **state)
{
    (void)state;
    struct orch_image_set *d = synthetic_set(50, 1);
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    g_autofree char *path = g_build_filename(folder, "samples.png", NULL);
    GError *error = NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    assert_true(orch_picture_samples(s, 2, 4, 60, path, text, &error));
    g_autofree char *wanted = g_strdup_printf(
        "4 images each of %s and %s", orch_subset_class_name(s, 0), orch_subset_class_name(s, 1));
    assert_string_equal(text->str, wanted);
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path));
    assert_true(image.width > 4 * 60 && image.height > 2 * 60);
    png_image_free(&image);
    g_string_truncate(text, 0);
    assert_true(orch_picture_samples(s, 1, 1, 60, path, text, &error));
    g_autofree char *single = g_strdup_printf("1 image of %s", orch_subset_class_name(s, 0));
    assert_string_equal(text->str, single);
    orch_subset_free(s);
    orch_image_set_free(d);
}
#endif

static void test_not_found(void **state)
{
    (void)state;
    static const struct {
        const char *name, *hint;
    } CASES[] = {{"fashion-mnist", "apt-get install dataset-fashion-mnist, or orch dataset get"},
                 {"aircraft", "orch dataset get aircraft"},
                 {"aircrafd", "did you mean 'aircraft'?"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(CASES); i++) {
        struct orch_image_set_options options = {.name = CASES[i].name, .root = folder};
        GError *error = NULL;
        assert_null(orch_image_set_files(&options, &error));
        if (!strstr(error->message, CASES[i].hint) || !strstr(error->message, folder))
            fail_msg("'%s' lacks '%s' or the folder", error->message, CASES[i].hint);
        g_clear_error(&error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_found),
#ifdef ORCH_HAVE_PNG
        cmocka_unit_test(test_folder),        cmocka_unit_test(test_damaged_png),
        cmocka_unit_test(test_folder_splits), cmocka_unit_test(test_set_digest),
        cmocka_unit_test(test_picture),
#endif
#ifdef ORCH_HAVE_JPEG
        cmocka_unit_test(test_scaling),       cmocka_unit_test(test_damaged_jpeg),
#endif
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
