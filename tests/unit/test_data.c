/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readers, on small files that the test writes itself. */
#include "lib/base/file.h"
#include "lib/data/catalogue.h"
#include "plugins/common/data/picture.h"
#include "plugins/common/data/private.h"
#include "tests/unit/image_fixture.h"

#ifdef ORCH_HAVE_PNG
#include <png.h>
#endif
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
    uint8_t images[16 + COUNT * SIDE * SIDE + 1] = {0, 0, 0, 0,    0, 0, 0, COUNT,
                                                    0, 0, 0, SIDE, 0, 0, 0, SIDE};
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
    write_bytes(image_name, images, (size_t)(16 + COUNT * SIDE * SIDE - cut), gz);
    write_bytes(label_name, labels, sizeof labels, gz);
}

static struct orch_image_set *open_mnist(GError **error)
{
    struct orch_image_set_options options = {.name = "mnist", .root = folder};
    return orch_image_set_open(&options, error);
}

static void test_idx(void **state)
{
    (void)state;
    for (int gz = 0; gz < 2; gz++) {
        GError *error = NULL;
        write_idx(gz, 0x803, 0, -1);
        struct orch_image_set *d = open_mnist(&error);
        if (!d)
            fail_msg("%s", error->message);
        assert_int_equal(d->count, COUNT);
        assert_int_equal(d->height, SIDE);
        assert_int_equal(d->labels[13], 3);
        assert_int_equal(d->images[13 * SIDE * SIDE + 5], 13);
        orch_image_set_free(d);
    }
}

static void refused(const char *what)
{
    GError *error = NULL;
    struct orch_image_set *d = open_mnist(&error);
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
    write_idx(false, 0x803, -1, -1); /* a byte too many */
    refused("byte 1456: more bytes than its head announces");
    remove_set();
    write_idx(true, 0x803, 0, -1);
    /* the compressed file itself cut off */
    g_autofree char *path = g_build_filename(folder, "mnist/train-images-idx3-ubyte.gz", NULL);
    g_autofree char *bytes = NULL;
    size_t length;
    assert_true(orch_file_read(path, 1 << 20, &bytes, &length, NULL));
    assert_true(orch_file_write(path, bytes, length / 2, false, NULL));
    refused("train-images-idx3-ubyte.gz' ends at byte ");
    refused("bytes too early");
    /* cut within the checksum behind the last byte; and so early that nothing is left of it */
    assert_true(orch_file_write(path, bytes, length - 3, false, NULL));
    refused("train-images-idx3-ubyte.gz', byte 1456: the compressed file is cut off");
    assert_true(orch_file_write(path, bytes, 1, false, NULL));
    refused("train-images-idx3-ubyte.gz' ends at byte ");
    assert_true(orch_file_write(path, bytes, 0, false, NULL));
    refused("train-images-idx3-ubyte.gz' ends at byte 0, 16 bytes too early");
    /* whole, but its checksum is wrong */
    bytes[length - 5] ^= 1;
    assert_true(orch_file_write(path, bytes, length, false, NULL));
    refused("train-images-idx3-ubyte.gz', byte 0: incorrect data check");
    remove_set();
}

/* The labels' file is held against its own head, and against the images. */
static void test_idx_label_errors(void **state)
{
    (void)state;
    static const char name[] = "mnist/train-labels-idx1-ubyte";
    uint8_t labels[8 + COUNT] = {0, 0, 8, 3, 0, 0, 0, COUNT};
    remove_set();
    write_idx(false, 0x803, 0, -1);
    write_bytes(name, labels, sizeof labels, false);
    refused("labels-idx1-ubyte', byte 0: magic number 0x00000803, expected 0x00000801");
    labels[3] = 1;
    labels[7] = COUNT - 1;
    write_bytes(name, labels, sizeof labels, false);
    refused("labels-idx1-ubyte', byte 4: 39 labels for 40 images");
    labels[7] = COUNT;
    write_bytes(name, labels, sizeof labels - 5, false);
    refused("labels-idx1-ubyte' ends at byte ");
    write_bytes(name, labels, 6, false);
    refused("labels-idx1-ubyte' ends at byte ");
    labels[8 + COUNT - 1] = 10; /* one more than the last class */
    write_bytes(name, labels, sizeof labels, false);
    refused("labels-idx1-ubyte', byte 47 (image 39): label 10, expected 0 to 9");
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
    struct orch_image_set_options options = {
        .name = "cifar10", .root = folder, .split = ORCH_SPLIT_TEST};
    GError *error = NULL;
    struct orch_image_set *d = orch_image_set_open(&options, &error);
    assert_non_null(d);
    assert_int_equal(d->labels[1], 9);
    assert_int_equal(d->images[3072 + 1024], 200);
    assert_string_equal(d->class_names[9], "truck");
    orch_image_set_free(d);
    write_bytes("cifar10/test_batch.bin", bytes, RECORD + 10, false);
    assert_null(orch_image_set_open(&options, &error));
    assert_non_null(strstr(error->message, "within record 1 of 3073 bytes"));
    g_clear_error(&error);
    bytes[0] = 10;
    write_bytes("cifar10/test_batch.bin", bytes, 2 * RECORD, false);
    assert_null(orch_image_set_open(&options, &error));
    assert_non_null(strstr(error->message, "byte 0 (record 0): label 10, expected 0 to 9"));
    g_clear_error(&error);
    /* five files that differ: one was cut off between two records */
    for (int i = 1; i <= 5; i++) {
        g_autofree char *name = g_strdup_printf("cifar10/data_batch_%d.bin", i);
        bytes[0] = 1;
        write_bytes(name, bytes, i == 4 ? RECORD : 2 * RECORD, false);
    }
    options.split = ORCH_SPLIT_TRAIN;
    assert_null(orch_image_set_open(&options, &error));
    assert_non_null(strstr(error->message, "data_batch_4.bin' has 1 records, but"));
    g_clear_error(&error);
}

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
    assert_non_null(strstr(error->message, "owl/3.jpg' is no sound JPEG: near byte "));
    g_clear_error(&error);
    write_bytes("birds/train/owl/3.jpg", "GIF89a, says this file", 22, false);
    assert_null(orch_image_set_open(&options, &error));
    assert_non_null(strstr(error->message, "owl/3.jpg', byte 0: neither a JPEG nor a PNG"));
    g_clear_error(&error);
    write_bytes("birds/train/owl/3.jpg", "", 0, false);
    assert_null(orch_image_set_open(&options, &error));
    assert_non_null(strstr(error->message, "owl/3.jpg': it is empty or cut off"));
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
        if (!strstr(error->message, "honey/1.png' is no sound PNG: near byte "))
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
    static const char head[] = "tabby/07.jpg' is no sound JPEG: near byte ";
    const char *place = strstr(error->message, head);
    assert_non_null(place);
    assert_in_range(strtol(place + strlen(head), NULL, 10), length / 2 - 64, length / 2);
    g_clear_error(&error);
    /* whole, but a piece of it was written over */
    memset(bytes + length / 2, 0xff, 64);
    write_bytes("lynx/train/tufted/1.jpg", bytes, length, false);
    options.name = "lynx";
    assert_null(orch_image_set_open(&options, &error));
    assert_non_null(strstr(error->message, "tufted/1.jpg' is no sound JPEG: near byte "));
    g_clear_error(&error);
}
#endif

static void test_spellings(void **state)
{
    (void)state;
    assert_string_equal(orch_data_find("CIFAR-10")->name, "cifar10");
    assert_string_equal(orch_data_find("cifar 100")->name, "cifar100");
    assert_string_equal(orch_data_find("FashionMNIST")->name, "fashion-mnist");
    assert_string_equal(orch_data_find("ResNet-50")->name, "resnet50");
    assert_true(orch_data_set_is_named("imagenet", "ImageNet-1k"));
    assert_true(orch_data_set_is_named("imagenet", "ILSVRC2012"));
    assert_false(orch_data_set_is_named("mnist", "FMNIST"));
    assert_string_equal(orch_image_set_find("CIFAR-10")->name, "cifar10");
    for (const struct orch_data_entry *e = orch_data_catalogue(); e->name; e++)
        assert_ptr_equal(orch_data_find(e->name), e);
}

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

static void test_class_names(void **state)
{
    (void)state;
    enum { RECORD = 2 + 3072 };
    g_autofree uint8_t *bytes = g_malloc0(RECORD);
    bytes[0] = 200; /* the coarse label does not matter */
    bytes[1] = 99;
    write_bytes("cifar100/cifar-100-binary/test.bin", bytes, RECORD, false);
    struct orch_image_set_options options = {
        .name = "cifar100", .root = folder, .split = ORCH_SPLIT_TEST};
    struct orch_image_set *d = orch_image_set_open(&options, NULL);
    assert_non_null(d);
    assert_int_equal(g_strv_length(d->class_names), 100);
    assert_string_equal(d->class_names[d->labels[0]], "worm");
    assert_string_equal(d->class_names[53], "orange");
    orch_image_set_free(d);
}

/* The fine label counts, and the place is told in the file's own numbering. */
static void test_cifar100_label(void **state)
{
    (void)state;
    enum { RECORD = 2 + 3072 };
    g_autofree uint8_t *bytes = g_malloc0(3 * RECORD);
    bytes[2 * RECORD + 1] = 100;
    write_bytes("cifar100/cifar-100-binary/test.bin", bytes, 3 * RECORD, false);
    struct orch_image_set_options options = {
        .name = "cifar100", .root = folder, .split = ORCH_SPLIT_TEST};
    GError *error = NULL;
    assert_null(orch_image_set_open(&options, &error));
    if (!strstr(error->message, "test.bin', byte 6148 (record 2): label 100, expected 0 to 99"))
        fail_msg("%s", error->message);
    g_clear_error(&error);
}

#ifdef ORCH_HAVE_PNG
static void test_picture(void **state)
{
    (void)state;
    struct orch_image_set *d = synthetic_set(50, 1);
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    g_autofree char *path = g_build_filename(folder, "samples.png", NULL);
    GError *error = NULL;
    assert_true(orch_picture_samples(s, 2, 4, 60, path, &error));
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path));
    assert_true(image.width > 4 * 60 && image.height > 2 * 60);
    png_image_free(&image);
    orch_subset_free(s);
    orch_image_set_free(d);
}
#endif

/* The real thing, where it is installed. */
static void test_fashion_mnist(void **state)
{
    (void)state;
    static const struct {
        enum orch_split split;
        int64_t count;
    } SPLITS[] = {{ORCH_SPLIT_TRAIN, 60000}, {ORCH_SPLIT_TEST, 10000}};
    for (int i = 0; i < 2; i++) {
        struct orch_image_set_options options = {.name = "fashion-mnist", .split = SPLITS[i].split};
        struct orch_image_set *d = orch_image_set_open(&options, NULL);
        if (!d) {
            print_message("skipped: dataset-fashion-mnist is not installed\n");
            skip();
        }
        assert_int_equal(d->count, SPLITS[i].count);
        struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
        g_autofree int64_t *counts = orch_subset_counts(s);
        for (int label = 0; label < 10; label++)
            assert_int_equal(counts[label], SPLITS[i].count / 10);
        double sum = 0;
        for (int64_t k = 0; k < d->count * 28 * 28; k++)
            sum += d->images[k];
        double mean = sum / (255.0 * 28 * 28 * (double)d->count);
        assert_true(fabs(mean - (double)d->mean[0]) < 0.002); /* the test images' is 0.2868 */
        orch_subset_free(s);
        orch_image_set_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idx),
        cmocka_unit_test(test_idx_errors),
        cmocka_unit_test(test_idx_label_errors),
        cmocka_unit_test(test_cifar),
#ifdef ORCH_HAVE_PNG
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_damaged_png),
        cmocka_unit_test(test_folder_splits),
        cmocka_unit_test(test_set_digest),
        cmocka_unit_test(test_picture),
#endif
#ifdef ORCH_HAVE_JPEG
        cmocka_unit_test(test_scaling),
        cmocka_unit_test(test_damaged_jpeg),
#endif
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_not_found),
        cmocka_unit_test(test_cifar100_label),
        cmocka_unit_test(test_class_names),
        cmocka_unit_test(test_fashion_mnist),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
