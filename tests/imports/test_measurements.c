/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of measurements from elsewhere: options that do not fit the table, odd cells, names made
 * of the file's name. */
#include "features/imports/import.h"
#include "tests/store/fixture.h"

static char *folder;

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static char *write_table(const char *name, const char *text)
{
    char *path = g_build_filename(folder, name, NULL);
    assert_ok(orch_file_write(path, text, strlen(text), false, error));
    return path;
}

static struct orch_import read_table(const char *path, const struct orch_import_options *options)
{
    struct orch_import import;
    assert_ok(orch_import_csv(path, options, &import, error));
    return import;
}

static void assert_note(const struct orch_import *import, const char *says)
{
    for (guint i = 0; i < import->notes->len; i++)
        if (strstr(import->notes->pdata[i], says))
            return;
    fail_msg("no note says '%s'", says);
}

static void test_refused_options(void **state)
{
    (void)state;
    static const char table[] = "ms,batch,other\n1,2,3\n";
    const struct {
        struct orch_import_options options;
        const char *says;
    } rows[] = {
        {{.target = "ms", .map = WORDS("batch")}, "'batch' is not of the form COLUMN=FEATURE"},
        {{.target = "ms", .map = WORDS("=batch")}, "'=batch' is not of the form COLUMN=FEATURE"},
        {{.target = "ms", .map = WORDS("other=")}, "'other=' is not of the form COLUMN=FEATURE"},
        {{.target = "ms", .map = WORDS("none=batch")}, "no column 'none'"},
        {{.target = "ms", .map = WORDS("other=nothing")}, "unknown feature 'nothing'"},
        {{.target = "ms", .map = WORDS("other=images", "other=workers")},
         "column 'other' is mapped to 'images' and to 'workers'"},
        {{.target = "ms", .map = WORDS("other=batch")}, "would both be called 'batch'"},
        {{.target = "ms", .drop = WORDS("none")}, "option '--drop': there is no column 'none'"},
        {{.target = "ms", .drop = WORDS("ms")}, "is the target and cannot be dropped"},
        {{.target = "time"}, "option '--target': there is no column 'time'"},
    };
    g_autofree char *path = write_table("t.csv", table);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct orch_import import;
        assert_fails(orch_import_csv(path, &rows[i].options, &import, error), ORCH_ERROR_USAGE,
                     rows[i].says);
    }
    g_autofree char *none = g_build_filename(folder, "none.csv", NULL);
    struct orch_import import;
    assert_fails(orch_import_csv(none, &rows[0].options, &import, error), ORCH_ERROR_IO,
                 "none.csv");
}

/* A column may be mapped to the target's own name, even when no feature has it. */
static void test_mapped_target(void **state)
{
    (void)state;
    g_autofree char *path = write_table("t.csv", "x,batch\n1,2\n3,4\n");
    struct orch_import import = read_table(
        path, &(struct orch_import_options){.target = "my_target", .map = WORDS("x=my_target")});
    assert_int_equal(import.set->rows, 2);
    assert_true(import.set->targets[1] == 3);
    orch_import_clear(&import);
}

static void test_numbers_that_are_none(void **state)
{
    (void)state;
    static const char *const cells[] = {"nan", "-inf", "+Infinity", "1e999", "-1e999"};
    for (size_t i = 0; i < G_N_ELEMENTS(cells); i++) {
        g_autofree char *table = g_strdup_printf("ms,batch\n1,2\n3,%s\n", cells[i]);
        g_autofree char *path = write_table("t.csv", table);
        g_autofree char *says = g_strdup_printf("'%s' in column 'batch' is not a finite", cells[i]);
        struct orch_import import;
        struct orch_import_options options = {.target = "ms"};
        assert_fails(orch_import_csv(path, &options, &import, error), ORCH_ERROR_RECIPE, says);
        options.skip_bad = true;
        import = read_table(path, &options);
        assert_int_equal(import.skipped, 1);
        assert_note(&import, "1 bad row left out; the first: ");
        orch_import_clear(&import);
    }
    g_autofree char *path = write_table("t.csv", "ms,batch\n1,2\n3,1e999x\n0,1\n,1\n");
    struct orch_import import;
    struct orch_import_options options = {.target = "ms"};
    assert_fails(orch_import_csv(path, &options, &import, error), ORCH_ERROR_RECIPE,
                 "'1e999x' in column 'batch' is not a number");
    options.skip_bad = true;
    import = read_table(path, &options);
    assert_int_equal(import.skipped, 3);
    assert_note(&import, "3 bad rows left out; the first: ");
    orch_import_clear(&import);
    g_autofree char *bad = write_table("t.csv", "ms\n0\n-1\n");
    assert_fails(orch_import_csv(bad, &options, &import, error), ORCH_ERROR_RECIPE,
                 "none of the 2 rows is valid; the first error: target 'ms' must be a finite "
                 "number above 0");
}

static void test_names_of_files(void **state)
{
    (void)state;
    static const struct {
        const char *file, *name;
    } rows[] = {{"My Runs-2.v3.csv", "my_runs-2_v3"},
                {"3dnets.csv", "d3dnets"},
                {"plain", "plain"},
                {".hidden", "d_hidden"},
                {"a2345678901234567890123456789012345678901234567890123456789012345.csv",
                 "a23456789012345678901234567890123456789012345678901234567890"}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = write_table(rows[i].file, "ms,batch\n1,2\n");
        struct orch_import import = read_table(path, &(struct orch_import_options){.target = "ms"});
        assert_string_equal(import.set->name, rows[i].name);
        orch_import_clear(&import);
    }
}

/* A name that is no UTF-8 cannot stand in the description of the set. */
static void test_file_name_without_utf8(void **state)
{
    (void)state;
    g_autofree char *path = write_table("x\xff.csv", "ms,batch\n1,2\n");
    struct orch_import import = read_table(path, &(struct orch_import_options){.target = "ms"});
    assert_string_equal(json_string_value(json_object_get(import.set->about, "file")), "?");
    assert_string_equal(import.set->name, "x_");
    orch_import_clear(&import);
}

/* Other names of known features are suggested, unless the feature is there or the column is out. */
static void test_suggested_names(void **state)
{
    (void)state;
    g_autofree char *path =
        write_table("t.csv", "ms,batch_size,model,empty\n1,2,vgg16,\n3,4,alexnet,\n");
    struct orch_import import = read_table(path, &(struct orch_import_options){.target = "ms"});
    assert_note(&import, "batch_size=batch");
    assert_note(&import, "column 'empty' is empty: left out");
    orch_import_clear(&import);
    import = read_table(
        path, &(struct orch_import_options){.target = "ms", .drop = WORDS("batch_size", "model")});
    for (guint i = 0; i < import.notes->len; i++)
        assert_null(strstr(import.notes->pdata[i], "--map"));
    orch_import_clear(&import);
}

int main(void)
{
    folder = fixture_folder();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_options),        cmocka_unit_test(test_mapped_target),
        cmocka_unit_test(test_numbers_that_are_none),  cmocka_unit_test(test_names_of_files),
        cmocka_unit_test(test_file_name_without_utf8), cmocka_unit_test(test_suggested_names),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fixture_remove(folder);
    return failed;
}
