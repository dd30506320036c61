/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The known sets: readers of IDX and CIFAR files that the test writes itself, names, places. */
#include "lib/data/catalogue.h"
#include "tests/unit/image_files_fixture.h"
#include "tests/unit/image_fixture.h"

enum { COUNT = 40, SIDE = 6 };
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
    refused("byte 1456: more bytes than the header announces");
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
    refused("train-images-idx3-ubyte.gz', byte 1456: the compressed file is truncated");
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
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_cifar100_label),
        cmocka_unit_test(test_class_names),
        cmocka_unit_test(test_fashion_mnist),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
