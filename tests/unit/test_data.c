/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readers, subsets and the loader, on small files that the test writes itself. */
#include "plugins/common/data/dataset.h"
#include "plugins/common/data/loader.h"
#include "plugins/common/data/picture.h"

#include "lib/base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <png.h>
#include <string.h>
#include <zlib.h>

enum { COUNT = 40, SIDE = 6 };
static char *folder;

static int make_folder(void **state)
{
    (void)state;
    folder = g_dir_make_tmp("orch-data-XXXXXX", NULL);
    return folder == NULL;
}

static int drop_folder(void **state)
{
    (void)state;
    orch_tree_remove(folder, NULL);
    g_free(folder);
    return 0;
}

static void write_bytes(const char *name, const void *bytes, size_t length, bool gz)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    assert_true(orch_dir_make(parent, NULL));
    if (!gz) {
        assert_true(orch_file_write(path, bytes, length, false, NULL));
        return;
    }
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, bytes, (unsigned)length), (int)length);
    gzclose(file);
}

/* An IDX set of COUNT images; image i is filled with i, its label is i % 10. */
static void write_idx(bool gz, uint32_t magic, int cut, int bad_label)
{
    uint8_t images[16 + COUNT * SIDE * SIDE] = {0, 0, 0, 0, 0, 0, 0, COUNT, 0, 0, 0, SIDE, 0, 0, 0, SIDE};
    uint8_t labels[8 + COUNT] = {0, 0, 8, 1, 0, 0, 0, COUNT};
    images[2] = (uint8_t)(magic >> 8);
    images[3] = (uint8_t)magic;
    for (int i = 0; i < COUNT; i++) {
        memset(images + 16 + i * SIDE * SIDE, i, SIDE * SIDE);
        labels[8 + i] = (uint8_t)(i == bad_label ? 77 : i % 10);
    }
    const char *const names[] = {"mnist/train-images-idx3-ubyte", "mnist/train-labels-idx1-ubyte"};
    g_autofree char *image_name = g_strconcat(names[0], gz ? ".gz" : "", NULL);
    g_autofree char *label_name = g_strconcat(names[1], gz ? ".gz" : "", NULL);
    write_bytes(image_name, images, sizeof images - (size_t)cut, gz);
    write_bytes(label_name, labels, sizeof labels, gz);
}

static struct orch_dataset *open_mnist(GError **error)
{
    struct orch_dataset_options options = {.name = "mnist", .root = folder};
    return orch_dataset_open(&options, error);
}

static void test_idx(void **state)
{
    (void)state;
    for (int gz = 0; gz < 2; gz++) {
        GError *error = NULL;
        write_idx(gz, 0x803, 0, -1);
        struct orch_dataset *d = open_mnist(&error);
        if (!d)
            fail_msg("%s", error->message);
        assert_int_equal(d->count, COUNT);
        assert_int_equal(d->height, SIDE);
        assert_int_equal(d->labels[13], 3);
        assert_int_equal(d->images[13 * SIDE * SIDE + 5], 13);
        orch_dataset_free(d);
    }
}

static void refused(const char *what)
{
    GError *error = NULL;
    struct orch_dataset *d = open_mnist(&error);
    assert_null(d);
    if (!strstr(error->message, what) || !strstr(error->message, folder))
        fail_msg("'%s' lacks '%s' or the file's name", error->message, what);
    g_clear_error(&error);
}

static void remove_set(void)
{
    g_autofree char *path = g_build_filename(folder, "mnist", NULL);
    assert_true(orch_tree_remove(path, NULL));
}

static void test_idx_errors(void **state)
{
    (void)state;
    remove_set();
    refused("was not found in");
    write_idx(false, 0x802, 0, -1);
    refused("byte 0: magic number 0x00000802, expected 0x00000803");
    write_idx(false, 0x803, 100, -1);
    refused("100 bytes too early");
    write_idx(false, 0x803, 0, 7);
    refused("byte 15 (image 7): label 77, expected 0 to 9");
    remove_set();
    write_idx(true, 0x803, 0, -1);
    /* the compressed file itself cut off */
    g_autofree char *path = g_build_filename(folder, "mnist/train-images-idx3-ubyte.gz", NULL);
    g_autofree char *bytes = NULL;
    size_t length;
    assert_true(orch_file_read(path, 1 << 20, &bytes, &length, NULL));
    assert_true(orch_file_write(path, bytes, length / 2, false, NULL));
    refused("train-images-idx3-ubyte.gz");
    remove_set();
}

static void test_cifar(void **state)
{
    (void)state;
    enum { RECORD = 1 + 3072 };
    g_autofree uint8_t *bytes = g_malloc0(2 * RECORD);
    bytes[0] = 3;
    bytes[RECORD] = 9;
    bytes[RECORD + 1 + 1024] = 200; /* green of the first pixel */
    write_bytes("cifar10/test_batch.bin", bytes, 2 * RECORD, false);
    struct orch_dataset_options options = {.name = "cifar10", .root = folder, .split = ORCH_SPLIT_TEST};
    GError *error = NULL;
    struct orch_dataset *d = orch_dataset_open(&options, &error);
    assert_non_null(d);
    assert_int_equal(d->labels[1], 9);
    assert_int_equal(d->images[3072 + 1024], 200);
    assert_string_equal(d->class_names[9], "truck");
    orch_dataset_free(d);
    write_bytes("cifar10/test_batch.bin", bytes, RECORD + 10, false);
    assert_null(orch_dataset_open(&options, &error));
    assert_non_null(strstr(error->message, "within record 1 of 3073 bytes"));
    g_clear_error(&error);
    bytes[0] = 10;
    write_bytes("cifar10/test_batch.bin", bytes, 2 * RECORD, false);
    assert_null(orch_dataset_open(&options, &error));
    assert_non_null(strstr(error->message, "byte 0: label 10"));
    g_clear_error(&error);
}

/* A plain PNG of one colour. */
static void write_png(const char *name, uint8_t red, int width, int height)
{
    g_autofree uint8_t *rgb = g_malloc0((gsize)(width * height * 3));
    for (int i = 0; i < width * height; i++)
        rgb[3 * i] = red;
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    assert_true(orch_dir_make(parent, NULL));
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)width,
                       .height = (png_uint_32)height, .format = PNG_FORMAT_RGB};
    assert_true(png_image_write_to_file(&image, path, 0, rgb, 0, NULL));
}

static void test_folder(void **state)
{
    (void)state;
    write_png("birds/train/owl/1.png", 250, 20, 10);
    write_png("birds/train/owl/2.png", 251, 8, 30);
    write_png("birds/train/wren/1.png", 100, 9, 9);
    struct orch_dataset_options options = {
        .name = "birds", .root = folder, .channels = 3, .height = 8, .width = 8};
    GError *error = NULL;
    struct orch_dataset *d = orch_dataset_open(&options, &error);
    if (!d)
        fail_msg("%s", error->message);
    assert_int_equal(d->count, 3);
    assert_int_equal(d->classes, 2);
    assert_string_equal(d->class_names[1], "wren");
    assert_int_equal(d->images[0], 250);
    assert_int_equal(d->images[2 * 3 * 64], 100);
    assert_int_equal(d->images[2 * 3 * 64 + 64], 0); /* green */
    orch_dataset_free(d);
    write_bytes("birds/train/owl/3.jpg", "\xff\xd8\xff\xe0 not a picture", 18, false);
    assert_null(orch_dataset_open(&options, &error));
    assert_non_null(strstr(error->message, "3.jpg"));
    g_clear_error(&error);
    g_autofree char *bad = g_build_filename(folder, "birds/train/owl/3.jpg", NULL);
    g_autofree char *empty = g_build_filename(folder, "birds/train/zebra", NULL);
    assert_true(orch_tree_remove(bad, NULL) && orch_dir_make(empty, NULL));
    assert_null(orch_dataset_open(&options, &error));
    assert_non_null(strstr(error->message, "class 'zebra' is empty"));
    g_clear_error(&error);
}

static struct orch_dataset *synthetic(int64_t count, uint64_t seed)
{
    struct orch_dataset_options options = {.name = "synthetic", .channels = 3, .height = 12, .width = 12,
                                           .synthetic_count = count, .synthetic_classes = 5, .seed = seed};
    return orch_dataset_open(&options, NULL);
}

static void test_subsets(void **state)
{
    (void)state;
    struct orch_dataset *d = synthetic(100, 1);
    GError *error = NULL;
    const int64_t chosen[] = {4, 2};
    struct orch_subset *s = orch_subset_new(d, chosen, 2, 7, 11, &error);
    assert_int_equal(s->count, 14);
    assert_int_equal(s->classes, 2);
    for (int64_t i = 0; i < s->count; i++)
        assert_int_equal(chosen[orch_subset_label(s, i)], d->labels[s->rows[i]]);
    struct orch_subset *again = orch_subset_new(d, chosen, 2, 7, 11, &error);
    assert_memory_equal(s->rows, again->rows, 14 * sizeof *s->rows);
    struct orch_subset *other = orch_subset_new(d, chosen, 2, 7, 12, &error);
    assert_memory_not_equal(s->rows, other->rows, 14 * sizeof *s->rows);
    struct orch_subset *part = orch_subset_split(s, 0.3, 5);
    assert_int_equal(part->count + s->count, 14);
    for (int64_t i = 0; i < part->count; i++)
        for (int64_t j = 0; j < s->count; j++)
            assert_true(part->rows[i] != s->rows[j]);
    const int64_t twice[] = {1, 1}, far[] = {5};
    assert_null(orch_subset_new(d, twice, 2, 0, 1, &error));
    g_clear_error(&error);
    assert_null(orch_subset_new(d, far, 1, 0, 1, &error));
    assert_non_null(strstr(error->message, "class 5"));
    g_clear_error(&error);
    orch_subset_free(s);
    orch_subset_free(again);
    orch_subset_free(other);
    orch_subset_free(part);
    orch_dataset_free(d);
}

/* Everything that a loader gives in two epochs, as one digest. */
static void digest_of(const struct orch_subset *s, int threads, int64_t epoch, char out[65])
{
    struct orch_loader_options options = {.batch = 8, .threads = threads, .shuffle = true,
                                          .crop_pad = 2, .flip = true, .seed = 3};
    struct orch_loader *loader = orch_loader_new(s, &options);
    struct orch_loader_batch batch;
    GByteArray *all = g_byte_array_new();
    int64_t images = 0;
    orch_loader_start(loader, 7); /* an epoch that is left in the middle */
    orch_loader_next(loader, &batch);
    for (int64_t e = epoch; e < epoch + 2; e++) {
        orch_loader_start(loader, e);
        while (orch_loader_next(loader, &batch)) {
            images += batch.count;
            g_byte_array_append(all, (const guint8 *)batch.images,
                                (guint)(sizeof(float) * 432 * (size_t)batch.count));
            g_byte_array_append(all, (const guint8 *)batch.labels,
                                (guint)(sizeof(int64_t) * (size_t)batch.count));
        }
    }
    assert_int_equal(images, 2 * s->count);
    orch_sha256(all->data, all->len, out);
    g_byte_array_unref(all);
    orch_loader_free(loader);
}

static void test_loader_is_the_same_for_every_number_of_threads(void **state)
{
    (void)state;
    struct orch_dataset *d = synthetic(101, 1);
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    char first[65], other[65], later[65];
    digest_of(s, 0, 0, first);
    for (int threads = 1; threads <= 4; threads++) {
        digest_of(s, threads, 0, other);
        assert_string_equal(first, other);
    }
    digest_of(s, 2, 1, later);
    assert_string_not_equal(first, later);
    orch_subset_free(s);
    orch_dataset_free(d);
}

static void test_picture(void **state)
{
    (void)state;
    struct orch_dataset *d = synthetic(50, 1);
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    g_autofree char *path = g_build_filename(folder, "samples.png", NULL);
    GError *error = NULL;
    assert_true(orch_picture_samples(s, 2, 4, 60, path, &error));
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path));
    assert_true(image.width > 4 * 60 && image.height > 2 * 60);
    png_image_free(&image);
    orch_subset_free(s);
    orch_dataset_free(d);
}

/* The real thing, where it is installed. */
static void test_fashion_mnist(void **state)
{
    (void)state;
    struct orch_dataset_options options = {.name = "fashion-mnist"};
    struct orch_dataset *d = orch_dataset_open(&options, NULL);
    if (!d) {
        print_message("skipped: dataset-fashion-mnist is not installed\n");
        skip();
    }
    assert_int_equal(d->count, 60000);
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    g_autofree int64_t *counts = orch_subset_counts(s);
    for (int i = 0; i < 10; i++)
        assert_int_equal(counts[i], 6000);
    orch_subset_free(s);
    orch_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idx),
        cmocka_unit_test(test_idx_errors),
        cmocka_unit_test(test_cifar),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_subsets),
        cmocka_unit_test(test_loader_is_the_same_for_every_number_of_threads),
        cmocka_unit_test(test_picture),
        cmocka_unit_test(test_fashion_mnist),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
