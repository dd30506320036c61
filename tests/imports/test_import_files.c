/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs from the files of TensorBoard and W&B: each kind of value that the formats can hold, and the
 * files cut off at each byte, with each byte changed, and in the wrong order. A reader keeps what
 * stands before the damage, says where it stopped, and makes nothing up. */
#include "features/imports/import_runs.h"
#include "lib/base/file.h"
#include "lib/base/protobuf.h"
#include "store/write/imported.h"
#include "tests/store/fixture.h"

#include <sys/stat.h>

static char *folder;

struct found {
    GPtrArray *runs, *warnings;
};

static void found_clear(struct found *found)
{
    g_ptr_array_unref(found->runs);
    g_ptr_array_unref(found->warnings);
}

static struct found read_runs(const char *path)
{
    struct found found = {g_ptr_array_new_with_free_func(orch_imported_run_free),
                          g_ptr_array_new_with_free_func(g_free)};
    g_autoptr(GError) problem = NULL;
    bool ok = orch_import_runs_read(path, NULL, found.runs, found.warnings, &problem);
    assert_true(ok || problem);
    return found;
}

/* All points as text: "loss@1=0.5 ...". The caller frees. */
static char *points_of(const struct orch_imported_run *run)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < run->points->len; i++) {
        const struct orch_imported_point *point =
            &g_array_index(run->points, struct orch_imported_point, i);
        g_string_append_printf(out, "%s%s@%d=%g", i ? " " : "",
                               (char *)run->names->pdata[point->name], (int)point->step,
                               point->value);
    }
    return g_string_free(out, FALSE);
}

/* ---- making files -----------------------------------------------------------------------------
 */

static void put_varint(GByteArray *to, uint64_t value)
{
    do {
        uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        g_byte_array_append(to, &byte, 1);
    } while (value >>= 7);
}

static void put_number(GByteArray *to, unsigned field, uint64_t value)
{
    put_varint(to, field << 3);
    put_varint(to, value);
}

static void put_bytes(GByteArray *to, unsigned field, const void *bytes, size_t length)
{
    put_varint(to, field << 3 | 2);
    put_varint(to, length);
    g_byte_array_append(to, bytes, (guint)length);
}

static void put_text(GByteArray *to, unsigned field, const char *text)
{
    put_bytes(to, field, text, strlen(text));
}

/* Puts a message into another, and frees it. */
static void put_message(GByteArray *to, unsigned field, GByteArray *message)
{
    put_bytes(to, field, message->data, message->len);
    g_byte_array_unref(message);
}

static void put_float(GByteArray *to, unsigned field, float value)
{
    put_varint(to, field << 3 | 5);
    g_byte_array_append(to, (const uint8_t *)&value, sizeof value);
}

static void put_double(GByteArray *to, unsigned field, double value)
{
    put_varint(to, field << 3 | 1);
    g_byte_array_append(to, (const uint8_t *)&value, sizeof value);
}

static void put_little(GByteArray *to, uint64_t value, int count)
{
    for (int i = 0; i < count; i++, value >>= 8)
        g_byte_array_append(to, (const uint8_t[]){(uint8_t)value}, 1);
}

static void write_file(const char *relative, const void *bytes, size_t length)
{
    g_autofree char *path = g_build_filename(folder, relative, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    assert_ok(orch_dir_make(parent, error));
    assert_ok(orch_file_write(path, bytes, length, false, error));
}

static uint32_t masked(const uint8_t *bytes, size_t length)
{
    uint32_t table[256];
    orch_protobuf_crc_table(table, PROTOBUF_CRC32C);
    uint32_t crc = orch_protobuf_crc(table, 0, bytes, length);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* A frame of TensorBoard; frees the event. */
static void put_frame(GByteArray *file, GByteArray *event)
{
    guint at = file->len;
    put_little(file, event->len, 8);
    put_little(file, masked(file->data + at, 8), 4);
    g_byte_array_append(file, event->data, event->len);
    put_little(file, masked(event->data, event->len), 4);
    g_byte_array_unref(event);
}

/* An event with one value; frees the value. */
static GByteArray *event_of(int64_t step, GByteArray *value)
{
    GByteArray *event = g_byte_array_new(), *summary = g_byte_array_new();
    put_double(event, 1, 1.7e9);
    put_number(event, 2, (uint64_t)step);
    put_message(summary, 1, value);
    put_message(event, 5, summary);
    return event;
}

static GByteArray *scalar(const char *tag, float number)
{
    GByteArray *value = g_byte_array_new();
    put_text(value, 1, tag);
    put_float(value, 2, number);
    return value;
}

static GByteArray *tensor_value(const char *tag, GByteArray *tensor)
{
    GByteArray *value = g_byte_array_new();
    put_text(value, 1, tag);
    put_message(value, 8, tensor);
    return value;
}

static struct found read_events(const void *bytes, size_t length)
{
    g_autofree char *path = g_build_filename(folder, "tb", NULL);
    write_file("tb/events.out.tfevents.1.x", bytes, length);
    return read_runs(path);
}

/* ---- TensorBoard ------------------------------------------------------------------------------
 */

static GByteArray *tensor_of(int kind)
{
    GByteArray *tensor = g_byte_array_new();
    const float quarter = 0.25F, pair[] = {1, 2};
    const double half = 0.5;
    switch (kind) {
    case 0: /* float_val, packed */
        put_bytes(tensor, 5, &quarter, 4);
        break;
    case 1: /* float_val */
        put_float(tensor, 5, quarter);
        break;
    case 2: /* double_val, packed */
        put_bytes(tensor, 6, &half, 8);
        break;
    case 3:
        put_double(tensor, 6, half);
        break;
    case 4: /* int_val */
        put_number(tensor, 7, 7);
        break;
    case 5: /* int64_val, packed */
        put_bytes(tensor, 10, "\x07", 1);
        break;
    case 6: /* tensor_content of a float */
        put_number(tensor, 1, 1);
        put_bytes(tensor, 4, &quarter, 4);
        break;
    case 7: /* of a double */
        put_number(tensor, 1, 2);
        put_bytes(tensor, 4, &half, 8);
        break;
    case 8: /* two numbers */
        put_bytes(tensor, 5, pair, 8);
        break;
    case 9: /* two integers */
        put_bytes(tensor, 10, "\x07\x08", 2);
        break;
    case 10: /* a text */
        put_text(tensor, 8, "hello");
        break;
    case 11: /* content of a size that its type does not have */
        put_number(tensor, 1, 2);
        put_bytes(tensor, 4, &quarter, 4);
        break;
    default: /* nothing */
        put_number(tensor, 1, 1);
    }
    return tensor;
}

static void test_tensors(void **state)
{
    (void)state;
    GByteArray *file = g_byte_array_new();
    for (int kind = 0; kind < 13; kind++)
        put_frame(file, event_of(kind, tensor_value("x", tensor_of(kind))));
    put_frame(file, event_of(20, scalar("", 1)));
    put_frame(file, event_of(21, scalar("y", 2)));
    struct found found = read_events(file->data, file->len);
    assert_int_equal(found.runs->len, 1);
    assert_int_equal(found.warnings->len, 0);
    g_autofree char *points = points_of(found.runs->pdata[0]);
    assert_string_equal(points, "x@0=0.25 x@1=0.25 x@2=0.5 x@3=0.5 x@4=7 x@5=7 x@6=0.25 x@7=0.5 "
                                "y@21=2");
    found_clear(&found);
    g_byte_array_unref(file);
}

/* Fields of events under types that the protocol does not give them are skipped. */
static void test_odd_events(void **state)
{
    (void)state;
    GByteArray *event = g_byte_array_new(), *summary = g_byte_array_new(), *value = scalar("x", 1),
               *tensor = g_byte_array_new(), *both = scalar("y", 3), *untagged = g_byte_array_new(),
               *long_int = g_byte_array_new();
    put_number(event, 1, 7); /* a time that is no double */
    put_text(event, 2, "step");
    put_number(event, 5, 7);
    put_text(value, 1, "second tag"); /* the first one counts */
    put_number(value, 1, 5);
    put_number(value, 2, 5);
    put_number(value, 8, 5);
    put_message(summary, 1, value);
    put_number(summary, 1, 5);
    put_number(summary, 2, 5);
    put_text(tensor, 1, "type");
    put_number(tensor, 4, 5);
    put_text(tensor, 8, "text"); /* a tensor of a text leaves the simple value as it is */
    put_message(both, 8, tensor);
    put_message(summary, 1, both);
    put_float(untagged, 2, 4);
    put_message(summary, 1, untagged);
    put_bytes(long_int, 10, "\x80\x80", 2); /* an integer that is cut off */
    put_message(summary, 1, tensor_value("cut", long_int));
    for (int kind = 0; kind < 4; kind++) { /* numbers under a wrong type, or none of them */
        GByteArray *wrong = g_byte_array_new();
        if (kind == 0)
            put_float(wrong, 7, 1);
        else if (kind == 1)
            put_double(wrong, 10, 1);
        else if (kind == 2)
            put_number(wrong, 6, 1);
        else
            put_number(wrong, 16, 1);
        put_message(summary, 1, tensor_value("wrong", wrong));
    }
    put_message(event, 5, summary);
    GByteArray *file = g_byte_array_new();
    put_frame(file, event);
    struct found found = read_events(file->data, file->len);
    assert_int_equal(found.runs->len, 1);
    g_autofree char *points = points_of(found.runs->pdata[0]);
    assert_string_equal(points, "x@0=1 y@0=3");
    found_clear(&found);
    g_byte_array_unref(file);
}

/* A message that ends within a field, or has a wire type that Protocol Buffers gave up. */
static void test_cut_fields(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
    } cut[] = {{"\x80", 1},
               {"\x09\x01", 2},
               {"\x0d\x01", 2},
               {"\x0a", 1},
               {"\x0a\x05x", 3},
               {"\x0b", 1},
               {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11}};
    for (size_t i = 0; i < G_N_ELEMENTS(cut); i++) {
        struct orch_protobuf_field field;
        const uint8_t *bytes = (const uint8_t *)cut[i].bytes;
        struct orch_protobuf message = {bytes, bytes + cut[i].length};
        assert_false(orch_protobuf_field(&message, &field));
    }
}

static void test_cut_events(void **state)
{
    (void)state;
    GByteArray *file = g_byte_array_new();
    for (int i = 0; i < 3; i++)
        put_frame(file, event_of(i, scalar("loss", (float)i)));
    guint frame = file->len / 3;
    static const char *const whole[] = {"", "loss@0=0", "loss@0=0 loss@1=1",
                                        "loss@0=0 loss@1=1 loss@2=2"};
    for (guint length = 0; length <= file->len; length++) {
        struct found found = read_events(file->data, length);
        g_autofree char *points = found.runs->len ? points_of(found.runs->pdata[0]) : g_strdup("");
        assert_string_equal(points, whole[length / frame]);
        if (length % frame) /* what is missing is said */
            assert_non_null(strstr(found.warnings->pdata[0], "the file is truncated"));
        else if (length)
            assert_int_equal(found.warnings->len, 0);
        found_clear(&found);
    }
    for (guint at = 0; at < file->len; at++) { /* each byte changed */
        file->data[at] ^= 0x11;
        struct found found = read_events(file->data, file->len);
        g_autofree char *points = found.runs->len ? points_of(found.runs->pdata[0]) : g_strdup("");
        assert_string_equal(points, whole[at / frame]);
        assert_non_null(strstr(found.warnings->pdata[0], "a checksum is wrong"));
        found_clear(&found);
        file->data[at] ^= 0x11;
    }
    g_byte_array_unref(file);
}

static void test_huge_frame(void **state)
{
    (void)state;
    GByteArray *file = g_byte_array_new();
    put_frame(file, event_of(1, scalar("loss", 1)));
    guint at = file->len;
    put_little(file, UINT64_C(1) << 40, 8);
    put_little(file, masked(file->data + at, 8), 4);
    struct found found = read_events(file->data, file->len);
    assert_int_equal(found.runs->len, 1);
    assert_non_null(strstr(found.warnings->pdata[0], "larger than 64 MiB"));
    found_clear(&found);
    g_byte_array_unref(file);
}

/* ---- W&B's log --------------------------------------------------------------------------------
 */

/* Appends a record of at most a block; frees it. `type`: 1 whole, 2 first, 3 middle, 4 last. */
static void put_record(GByteArray *log, uint8_t type, GByteArray *record)
{
    uint32_t table[256];
    orch_protobuf_crc_table(table, PROTOBUF_CRC32);
    uint32_t crc =
        orch_protobuf_crc(table, orch_protobuf_crc(table, 0, &type, 1), record->data, record->len);
    put_little(log, crc, 4);
    put_little(log, record->len, 2);
    put_little(log, type, 1);
    g_byte_array_append(log, record->data, record->len);
    g_byte_array_unref(record);
}

static GByteArray *log_new(void)
{
    GByteArray *log = g_byte_array_new();
    g_byte_array_append(log, (const uint8_t *)":W&B\0\0\0", 7);
    return log;
}

static GByteArray *item_of(const char *name, const char *json)
{
    GByteArray *item = g_byte_array_new();
    put_text(item, 1, name);
    put_text(item, 16, json);
    return item;
}

/* Wraps a message as the field of a record; frees it. */
static GByteArray *as_record(unsigned field, GByteArray *message)
{
    GByteArray *record = g_byte_array_new();
    put_message(record, field, message);
    return record;
}

static GByteArray *history_of(int64_t step, const char *name, const char *json)
{
    GByteArray *history = g_byte_array_new(), *number = g_byte_array_new();
    put_message(history, 1, item_of(name, json));
    put_number(number, 1, (uint64_t)step);
    put_message(history, 2, number);
    return as_record(2, history);
}

static struct found read_log(const GByteArray *log)
{
    g_autofree char *path = g_build_filename(folder, "wb", NULL);
    write_file("wb/run-1-abc/run-abc.wandb", log->data, log->len);
    return read_runs(path);
}

static GByteArray *run_message(void)
{
    GByteArray *run = g_byte_array_new(), *config = g_byte_array_new(), *time = g_byte_array_new();
    put_text(run, 3, "nets");
    put_text(run, 8, "sunny");
    put_message(config, 1, item_of("lr", "0.1"));
    put_message(config, 1, item_of("net", "{\"depth\":20,\"name\":\"resnet\"}"));
    put_message(config, 1, item_of("_wandb", "{}"));
    put_message(run, 4, config);
    put_text(run, 10, "blue");
    put_number(time, 1, 1700000000);
    put_message(run, 17, time);
    put_number(run, 99, 1); /* of a later version */
    return as_record(17, run);
}

static GByteArray *exit_of(uint64_t status)
{
    GByteArray *end = g_byte_array_new();
    put_number(end, 1, status);
    return as_record(18, end);
}

static void test_log(void **state)
{
    (void)state;
    for (unsigned status = 0; status < 2; status++) {
        GByteArray *log = log_new(), *summary = g_byte_array_new(), *empty = g_byte_array_new();
        put_record(log, 1, run_message());
        put_record(log, 1, history_of(3, "loss", "0.5"));
        put_record(log, 1, history_of(4, "loss", "\"NaN\""));
        put_record(log, 1, history_of(5, "loss", "\"-Infinity\""));
        put_record(log, 1, history_of(6, "loss", "true"));
        put_record(log, 1, history_of(7, "loss", "\"a text\""));
        put_record(log, 1, history_of(8, "val", "{\"acc\":0.75,\"note\":\"x\"}"));
        put_record(log, 1, history_of(9, "_runtime", "5"));
        put_record(log, 1, history_of(10, "bad", "{not JSON"));
        put_message(summary, 1, item_of("best", "0.25"));
        put_record(log, 1, as_record(3, summary));
        put_number(empty, 16, 1);
        put_record(log, 1, empty);
        put_record(log, 1, exit_of(status));
        struct found found = read_log(log);
        assert_int_equal(found.runs->len, 1);
        assert_int_equal(found.warnings->len, 0);
        const struct orch_imported_run *run = found.runs->pdata[0];
        g_autofree char *points = points_of(run);
        assert_string_equal(points, "loss@3=0.5 loss@4=nan loss@5=-inf loss@6=1 val.acc@8=0.75");
        assert_string_equal(run->name, "sunny");
        assert_string_equal(run->experiment, "nets");
        assert_string_equal(run->tags->pdata[0], "blue");
        assert_string_equal(run->status, status ? "failed" : "finished");
        assert_int_equal(run->verdict, status ? ORCH_VERDICT_FAILED : ORCH_VERDICT_OK);
        assert_true(run->started_ns == INT64_C(1700000000000000000));
        assert_int_equal(json_object_size(run->params), 3);
        assert_int_equal(json_object_size(run->results), 1);
        found_clear(&found);
        g_byte_array_unref(log);
    }
}

static char *params_of(const struct orch_imported_run *run)
{
    return json_dumps(run->params, JSON_SORT_KEYS);
}

static char *results_of(const struct orch_imported_run *run)
{
    return json_dumps(run->results, JSON_SORT_KEYS);
}

/* Items whose name or value is odd: absent, empty, in parts, not UTF-8, of another type, twice. */
static void test_odd_items(void **state)
{
    (void)state;
    GByteArray *config = g_byte_array_new(), *nested = g_byte_array_new(),
               *twice = item_of("twice", "1"), *unnamed = g_byte_array_new(),
               *valueless = g_byte_array_new(), *wrong = item_of("wrong", "2"),
               *empty = item_of("", "3"), *summary = g_byte_array_new();
    put_text(nested, 2, "optimizer");
    put_text(nested, 2, "");
    put_text(nested, 2, "lr");
    put_text(nested, 16, "0.5");
    put_text(twice, 16, "4");
    put_text(unnamed, 16, "5");
    put_text(valueless, 1, "valueless");
    put_number(wrong, 1, 9); /* the types of key and value are other ones: skipped */
    put_number(wrong, 16, 9);
    put_number(config, 1, 9);
    put_message(config, 1, nested);
    put_message(config, 1, twice);
    put_message(config, 1, unnamed);
    put_message(config, 1, valueless);
    put_message(config, 1, wrong);
    put_message(config, 1, empty);
    put_message(config, 1, item_of("plain", "not JSON"));
    put_message(config, 1, item_of("\xff\xfe", "6"));
    put_message(config, 1, item_of("none", "null"));
    put_message(config, 1, item_of("wandb_version", "1"));
    put_message(config, 2, item_of("removed", "7"));
    put_message(summary, 1, item_of("_runtime", "8"));
    put_message(summary, 1, item_of("wandb_version", "8"));
    put_message(summary, 1, item_of("word", "\"tall\""));
    put_message(summary, 1, item_of("is_good", "false"));
    GByteArray *log = log_new();
    put_record(log, 1, as_record(5, config));
    put_record(log, 1, as_record(3, summary));
    struct found found = read_log(log);
    assert_int_equal(found.runs->len, 1);
    g_autofree char *params = params_of(found.runs->pdata[0]);
    g_autofree char *results = results_of(found.runs->pdata[0]);
    assert_string_equal(params, "{\"none\": \"null\", \"optimizer.lr\": 0.5, \"plain\": "
                                "\"not JSON\", \"twice\": 4, \"wrong\": 2}");
    assert_string_equal(results, "{\"is_good\": 0.0}");
    found_clear(&found);
    g_byte_array_unref(log);
}

/* Numbers of the run, its steps and its end under types that the protocol does not give them. */
static void test_odd_numbers(void **state)
{
    (void)state;
    GByteArray *run = g_byte_array_new(), *time = g_byte_array_new(), *history = g_byte_array_new(),
               *step = g_byte_array_new(), *end = g_byte_array_new();
    put_text(time, 1, "soon");
    put_number(time, 2, 5); /* nanoseconds */
    put_message(run, 17, time);
    for (int i = 0; i < 105; i++)
        put_text(run, 10, "tag");
    put_message(history, 1, item_of("loss", "0.5"));
    put_message(history, 1, item_of("val", "{\"acc\":0.25,\"note\":null}"));
    put_number(history, 2, 4);
    put_text(step, 1, "four");
    put_number(step, 2, 4);
    put_message(history, 2, step);
    put_number(history, 3, 4);
    put_text(end, 1, "well");
    put_number(end, 2, 60); /* the runtime */
    GByteArray *log = log_new();
    put_record(log, 1, as_record(17, run));
    put_record(log, 1, as_record(2, history));
    put_record(log, 1, as_record(18, end));
    put_record(log, 1, g_byte_array_new());
    struct found found = read_log(log);
    const struct orch_imported_run *read = found.runs->pdata[0];
    g_autofree char *points = points_of(read);
    assert_string_equal(points, "loss@0=0.5 val.acc@0=0.25");
    assert_true(read->started_ns == 0);
    assert_int_equal(read->tags->len, 100);
    assert_string_equal(read->status, "finished");
    found_clear(&found);
    g_byte_array_unref(log);
}

static void test_wrong_parts(void **state)
{
    (void)state;
    for (uint8_t type = 0; type <= 5; type += 5) { /* neither is a type of LevelDB */
        GByteArray *log = log_new();
        put_record(log, 1, history_of(1, "loss", "0.5"));
        put_record(log, type, history_of(2, "loss", "0.25"));
        struct found found = read_log(log);
        g_autofree char *points = points_of(found.runs->pdata[0]);
        assert_string_equal(points, "loss@1=0.5");
        assert_non_null(strstr(found.warnings->pdata[0], "a checksum is wrong"));
        found_clear(&found);
        g_byte_array_unref(log);
    }
    GByteArray *log = log_new();
    put_record(log, 4, history_of(1, "loss", "0.5"));
    struct found found = read_log(log);
    assert_int_equal(found.runs->len, 0);
    assert_non_null(strstr(found.warnings->pdata[0], "a record has no beginning"));
    found_clear(&found);
    g_byte_array_unref(log);
}

/* A record in parts, over the end of a block, whose last bytes are none. */
static void test_log_in_parts(void **state)
{
    (void)state;
    GByteArray *log = log_new(), *whole = history_of(1, "loss", "0.5");
    GByteArray *first = g_byte_array_new(), *last = g_byte_array_new();
    g_byte_array_append(first, whole->data, 5);
    g_byte_array_append(last, whole->data + 5, whole->len - 5);
    g_byte_array_unref(whole);
    guint room = 32768 - log->len - 7 - 3; /* leaves three bytes, too few for a head */
    GByteArray *filler = g_byte_array_new();
    g_byte_array_set_size(filler, room - 5);
    memset(filler->data, 'x', filler->len);
    GByteArray *ignored = g_byte_array_new();
    put_bytes(ignored, 30, filler->data, room - 5);
    g_byte_array_unref(filler);
    g_byte_array_set_size(ignored, room);
    put_record(log, 1, ignored);
    put_little(log, 0, 3);
    assert_int_equal(log->len % 32768, 0);
    put_record(log, 2, first);
    put_record(log, 3, g_byte_array_new());
    put_record(log, 4, last);
    struct found found = read_log(log);
    assert_int_equal(found.runs->len, 1);
    g_autofree char *points = points_of(found.runs->pdata[0]);
    assert_string_equal(points, "loss@1=0.5");
    assert_int_equal(found.warnings->len, 0);
    assert_string_equal(((struct orch_imported_run *)found.runs->pdata[0])->status, "not finished");
    found_clear(&found);
    g_byte_array_unref(log);
}

static void test_damaged_log(void **state)
{
    (void)state;
    GByteArray *log = log_new();
    put_record(log, 1, history_of(1, "loss", "0.5"));
    guint one = log->len;
    put_record(log, 1, history_of(2, "loss", "0.25"));
    for (guint length = 0; length < log->len; length++) {
        GByteArray part = {log->data, length};
        struct found found = read_log(&part);
        g_autofree char *points = found.runs->len ? points_of(found.runs->pdata[0]) : g_strdup("");
        assert_string_equal(points, length < one ? "" : "loss@1=0.5");
        found_clear(&found);
    }
    for (guint at = 0; at < log->len; at++) {
        if (at >= 4 && at < 7) /* the version is not looked at */
            continue;
        log->data[at] ^= 0x22;
        struct found found = read_log(log);
        g_autofree char *points = found.runs->len ? points_of(found.runs->pdata[0]) : g_strdup("");
        assert_string_equal(points, at < one ? "" : "loss@1=0.5");
        if (!strstr(found.warnings->pdata[0], "was not read to its end"))
            fail_msg("byte %u: %s", at, (char *)found.warnings->pdata[0]);
        found_clear(&found);
        log->data[at] ^= 0x22;
    }
    g_byte_array_unref(log);
}

/* ---- W&B's folder of text files ---------------------------------------------------------------
 */

static void test_text_files(void **state)
{
    (void)state;
    static const char config[] = "lr: {value: 0.5}\nnet:\n  value: {layers: [1, 2], bias: null}\n"
                                 "_wandb: {value: 1}\nodd: 3\n";
    static const char metadata[] = "{\"startedAt\":\"2023-01-01T12:00:00\",\"username\":\"ada\"}";
    static const char history[] = "{\"loss\":1,\"_step\":5,\"_timestamp\":1700000000}\n\n[1]\n"
                                  "{\"loss\":0.5}\nnot JSON\n";
    static const char summary[] = "{\"best\":\"Infinity\",\"deep\":{\"a\":{\"b\":2}},\"_x\":1}";
    write_file("wt/run-1-xyz/files/config.yaml", config, strlen(config));
    write_file("wt/run-1-xyz/files/wandb-metadata.json", metadata, strlen(metadata));
    write_file("wt/run-1-xyz/files/wandb-history.jsonl", history, strlen(history));
    write_file("wt/run-1-xyz/files/wandb-summary.json", summary, strlen(summary));
    write_file("wt/run-2-bad/files/config.yaml", "a: [", 4);
    write_file("wt/run-2-bad/files/wandb-summary.json", "[]", 2);
    g_autofree char *path = g_build_filename(folder, "wt", NULL);
    struct found found = read_runs(path);
    assert_int_equal(found.runs->len, 1);
    const struct orch_imported_run *run = found.runs->pdata[0];
    g_autofree char *points = points_of(run), *params = json_dumps(run->params, JSON_SORT_KEYS);
    assert_string_equal(points, "loss@5=1 loss@3=0.5");
    assert_string_equal(params, "{\"lr\": 0.5, \"net.bias\": \"null\", \"net.layers\": "
                                "\"[\\\"1\\\",\\\"2\\\"]\"}");
    assert_int_equal(json_object_size(run->results), 2);
    assert_string_equal(run->user, "ada");
    assert_true(run->started_ns == INT64_C(1672574400000000000));
    static const char *const says[] = {"2 lines are not JSON objects", "is not YAML",
                                       "is not a JSON object", "holds no run"};
    assert_int_equal(found.warnings->len, G_N_ELEMENTS(says));
    for (size_t i = 0; i < G_N_ELEMENTS(says); i++)
        if (!strstr(found.warnings->pdata[i], says[i]))
            fail_msg("warning %zu: %s", i, (char *)found.warnings->pdata[i]);
    found_clear(&found);
}

/* Files of a run that are no files: each is left out with a warning that names it. */
static void test_no_text_files(void **state)
{
    (void)state;
    static const char *const names[] = {"config.yaml", "wandb-metadata.json", "wandb-history.jsonl",
                                        "wandb-summary.json"};
    g_autofree char *path = g_build_filename(folder, "wl", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *file = g_build_filename(path, "run-1-abc", names[i], NULL);
        assert_ok(orch_dir_make(file, error));
    }
    g_autofree char *log = g_build_filename(path, "run-2-abc", "run-abc.wandb", NULL);
    assert_ok(orch_dir_make(log, error));
    g_autofree char *link = g_build_filename(path, "run-3-abc", "run-abc.wandb", NULL);
    write_file("wl/run-3-abc/empty", "", 0);
    assert_int_equal(symlink("/etc/passwd", link), 0);
    struct found found = read_runs(path);
    assert_int_equal(found.runs->len, 0);
    assert_int_equal(found.warnings->len, G_N_ELEMENTS(names) + 5);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *says = g_strdup_printf("%s' is not a file", names[i]);
        assert_non_null(strstr(found.warnings->pdata[i], says));
    }
    static const char *const says[] = {
        "run-1-abc' holds no run", "run-2-abc/run-abc.wandb'", "run-2-abc' holds no run",
        "the log is a link to another file", "run-3-abc' holds no run"};
    for (size_t i = 0; i < G_N_ELEMENTS(says); i++)
        if (!strstr(found.warnings->pdata[G_N_ELEMENTS(names) + i], says[i]))
            fail_msg("'%s', not '%s'", (char *)found.warnings->pdata[G_N_ELEMENTS(names) + i],
                     says[i]);
    found_clear(&found);
}

/* A configuration that is a list, values nested deeper than names go, a start with a time zone, a
 * last line without its end, and a log beside the older history, which is not read then. */
static void test_odd_text_files(void **state)
{
    (void)state;
    static const char summary[] =
        "{\"wandb_version\":1,\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":{\"g\":{\"h\":"
        "{\"i\":{\"j\":1}}}}}}}}},\"ok\":true,\"bad\":false,\"word\":\"x\"}";
    static const char config[] = "deep: {value: {b: {c: {d: {e: {f: {g: {h: {i: {j: "
                                 "1}}}}}}}}}}\nwandb_version: {value: 1}\n";
    static const char metadata[] = "{\"startedAt\":\"2023-01-01T12:00:00+01:00\"}";
    GByteArray *log = log_new();
    put_record(log, 1, history_of(1, "loss", "0.5"));
    write_file("wo/plain/wandb-summary.json", summary, strlen(summary));
    write_file("wo/plain/config.yaml", config, strlen(config));
    write_file("wo/plain/wandb-metadata.json", metadata, strlen(metadata));
    write_file("wo/run-1-old/wandb-history.jsonl", "{\"loss\":1}", 10);
    write_file("wo/run-1-old/config.yaml", "[1, 2]\n", 7);
    write_file("wo/run-2-two/run-two.wandb", log->data, log->len);
    write_file("wo/run-2-two/files/wandb-history.jsonl", "{\"loss\":1}\n", 11);
    write_file("wo/run-2-two/files/wandb-metadata.json", "{\"startedAt\":\"then\"}", 20);
    write_file("wo/run-3-set/files/config.yaml", "lr: {value: 1}\n", 15);
    g_autofree char *path = g_build_filename(folder, "wo", NULL);
    struct found found = read_runs(path);
    assert_int_equal(found.runs->len, 4);
    const struct orch_imported_run *plain = found.runs->pdata[0];
    g_autofree char *results = results_of(plain), *params = params_of(plain);
    assert_string_equal(plain->id, "plain");
    assert_string_equal(results, "{\"bad\": 0.0, \"ok\": 1.0}");
    assert_string_equal(params, "{\"deep.b.c.d.e.f.g.h.i\": \"{\\\"j\\\":\\\"1\\\"}\"}");
    assert_true(plain->started_ns == INT64_C(1672570800000000000));
    g_autofree char *old = points_of(found.runs->pdata[1]), *two = points_of(found.runs->pdata[2]);
    assert_string_equal(old, "loss@0=1");
    assert_string_equal(two, "loss@1=0.5");
    assert_true(((struct orch_imported_run *)found.runs->pdata[2])->started_ns == 0);
    found_clear(&found);
    g_byte_array_unref(log);
}

/* ---- MLflow's folders -------------------------------------------------------------------------
 */

static void test_odd_mlruns(void **state)
{
    (void)state;
    static const char run[] = "run_name: null\nstatus: 9\nstart_time: soon\n";
    static const char points[] = "1700000000000 0.5\n1700000000000 NaN 2\n5\n1 x\n1 2 three\n";
    write_file("ml/0/meta.yaml", "name: [nets]\n", 13);
    write_file("ml/0/one/meta.yaml", run, strlen(run));
    write_file("ml/0/one/metrics/deep/a/b/c/d/e/f/g/h/i/j", points, strlen(points));
    write_file("ml/0/one/metrics/loss", points, strlen(points));
    write_file("ml/0/other/meta.yaml", "run_name: b\n", 12);
    write_file("ml/0/two/meta.yaml", "a: [", 4);
    write_file("ml/0/three/meta.yaml", "lifecycle_stage: deleted\n", 25);
    write_file("ml/0/four/params/lr", "1", 1);
    write_file("ml/0/five", "", 0);
    write_file("ml/1/nothing", "", 0);
    write_file("ml/.trash/meta.yaml", "name: x\n", 8);
    write_file("ml/2/meta.yaml", "a: [", 4);
    write_file("ml/2/one/meta.yaml", run, strlen(run));
    g_autofree char *path = g_build_filename(folder, "ml", NULL);
    g_autofree char *link = g_build_filename(path, "0", "one", "params", "lr", NULL);
    write_file("ml/0/one/params/ok", "1", 1);
    assert_int_equal(symlink("/etc/passwd", link), 0);
    struct found found = read_runs(path);
    assert_int_equal(found.runs->len, 2);
    const struct orch_imported_run *read = found.runs->pdata[0], *other = found.runs->pdata[1];
    g_autofree char *params = params_of(read), *metrics = points_of(read);
    assert_string_equal(read->status, "9");
    assert_string_equal(other->status, "unknown");
    assert_int_equal(read->verdict, ORCH_VERDICT_LOST);
    assert_null(read->name);
    assert_true(read->started_ns == 0);
    assert_string_equal(params, "{\"ok\": 1}");
    assert_string_equal(metrics, "loss@0=0.5 loss@2=nan");
    static const char *const says[] = {"lr' is not a file", "two/meta.yaml' is not YAML",
                                       "2/meta.yaml' is not YAML"};
    assert_int_equal(found.warnings->len, G_N_ELEMENTS(says));
    for (size_t i = 0; i < G_N_ELEMENTS(says); i++)
        assert_non_null(strstr(found.warnings->pdata[i], says[i]));
    found_clear(&found);
}

static void test_csv(void **state)
{
    (void)state;
    static const char text[] =
        "Name,State,Created,Runtime,Tags,Notes,lr,acc,_x,word\n"
        "a,finished,2023-01-01T12:00:00,60,\"blue, ,red\",good,0.5,0.5,1,tall\n"
        "b,Killed,never,,,,0.2,nan,1,\n"
        "c,running,,x,,,,,,\n"
        "d,,,,,,,,,\n"
        "e,odd,,,,,,,,\n";
    static const char *const params[] = {"lr", NULL}, *const wrong[] = {"nothing", NULL};
    static const enum orch_verdict verdicts[] = {ORCH_VERDICT_OK, ORCH_VERDICT_CANCELLED,
                                                 ORCH_VERDICT_LOST, ORCH_VERDICT_OK,
                                                 ORCH_VERDICT_LOST};
    write_file("runs.csv", text, strlen(text));
    g_autofree char *path = g_build_filename(folder, "runs.csv", NULL);
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func(orch_imported_run_free);
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    assert_fails(orch_import_runs_read(path, wrong, runs, warnings, error), ORCH_ERROR_USAGE,
                 "has no column 'nothing'");
    assert_int_equal(runs->len, 0);
    assert_ok(orch_import_runs_read(path, params, runs, warnings, error));
    assert_int_equal(runs->len, 5);
    for (guint i = 0; i < runs->len; i++)
        assert_int_equal(((struct orch_imported_run *)runs->pdata[i])->verdict, verdicts[i]);
    const struct orch_imported_run *first = runs->pdata[0], *second = runs->pdata[1];
    assert_int_equal(first->tags->len, 2);
    assert_string_equal(first->tags->pdata[1], "red");
    assert_true(first->ended_ns - first->started_ns == INT64_C(60000000000));
    g_autofree char *found = json_dumps(first->params, JSON_SORT_KEYS);
    assert_string_equal(found, "{\"lr\": 0.5, \"word\": \"tall\"}");
    assert_string_equal(json_string_value(json_object_get(second->results, "acc")), "nan");
    assert_true(second->started_ns == 0);
}

/* Adds the runs of a CSV with this text; the caller unrefs. */
static GPtrArray *read_csv(const char *text)
{
    GPtrArray *runs = g_ptr_array_new_with_free_func(orch_imported_run_free);
    g_autofree char *path = g_build_filename(folder, "odd.csv", NULL);
    write_file("odd.csv", text, strlen(text));
    assert_ok(orch_import_runs_read(path, NULL, runs, NULL, error));
    return runs;
}

static void test_odd_csv(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) runs =
        read_csv("ID,Name,State,Project,lr\nx1,a,finished,nets,inf\n,b,failed,,0.5\n");
    const struct orch_imported_run *first = runs->pdata[0], *second = runs->pdata[1];
    assert_string_equal(first->id, "x1");
    assert_string_equal(first->experiment, "nets");
    assert_string_equal(second->id, "b ");
    assert_null(second->experiment);
    assert_int_equal(second->verdict, ORCH_VERDICT_FAILED);
    static const struct {
        const char *text, *says;
        enum orch_error_code code;
    } refused[] = {
        {"Name,loss\na,1\n", "lacks the columns 'Name' and 'State'", ORCH_ERROR_USAGE},
        {"State,loss\na,1\n", "lacks the columns 'Name' and 'State'", ORCH_ERROR_USAGE},
        {"Name,State\na,\"b\n", "odd.csv", ORCH_ERROR_RECIPE},
    };
    g_autofree char *path = g_build_filename(folder, "odd.csv", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
        write_file("odd.csv", refused[i].text, strlen(refused[i].text));
        assert_fails(orch_import_runs_read(path, NULL, runs, NULL, error), refused[i].code,
                     refused[i].says);
    }
    assert_int_equal(runs->len, 2);
}

/* ---- what a path is ---------------------------------------------------------------------------
 */

static void test_paths_without_runs(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func(orch_imported_run_free);
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    write_file("pn/events.out.tfevents.1.x", "", 0);
    write_file("pn/short", "SQLite", 6);
    write_file("pn/.hidden/events.out.tfevents.1.x", "", 0);
    g_autofree char *pipe = g_build_filename(folder, "pn", "pipe", NULL);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    static const struct {
        const char *path, *says;
        enum orch_error_code code;
    } rows[] = {
        {"pn/none", "there is no file or folder '", ORCH_ERROR_IO},
        {"pn/pipe", "is neither a file nor a folder", ORCH_ERROR_USAGE},
        {"pn/events.out.tfevents.1.x", "is an event file, not a folder", ORCH_ERROR_USAGE},
        {"pn/short", "lacks the columns", ORCH_ERROR_USAGE},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_build_filename(folder, rows[i].path, NULL);
        assert_fails(orch_import_runs_read(path, NULL, runs, warnings, error), rows[i].code,
                     rows[i].says);
        assert_int_equal(warnings->len, 0);
    }
    g_autofree char *hidden = g_build_filename(folder, "pn", NULL);
    assert_ok(orch_import_runs_read(hidden, NULL, runs, warnings, error));
    assert_int_equal(runs->len, 0);
    assert_int_equal(warnings->len, 1); /* of the folder itself; a hidden one is not searched */
    assert_non_null(strstr(warnings->pdata[0], "pn' has no values"));
    g_autofree char *empty = g_build_filename(folder, "empty", NULL);
    assert_ok(orch_dir_make(empty, error));
    g_autoptr(GPtrArray) none = g_ptr_array_new_with_free_func(g_free);
    assert_fails(orch_import_runs_read(empty, NULL, runs, none, error), ORCH_ERROR_USAGE,
                 "holds no runs that orch can read");
}

/* The search ends at a depth, and the warnings at a number, both above what people have. */
static void test_bounds_of_the_search(void **state)
{
    (void)state;
    GString *deep = g_string_new("deep");
    for (int i = 0; i < 14; i++)
        g_string_append(deep, "/x");
    g_autofree char *bottom = g_strconcat(deep->str, "/events.out.tfevents.1.x", NULL);
    g_string_free(deep, TRUE);
    write_file(bottom, "", 0);
    g_autofree char *path = g_build_filename(folder, "deep", NULL);
    struct found found = read_runs(path);
    assert_int_equal(found.warnings->len, 1);
    assert_non_null(strstr(found.warnings->pdata[0], "was not searched: too deep"));
    found_clear(&found);
    for (int i = 0; i < 120; i++) {
        g_autofree char *name = g_strdup_printf("many/%03d/events.out.tfevents.1.x", i);
        write_file(name, "", 0);
    }
    g_autofree char *many = g_build_filename(folder, "many", NULL);
    found = read_runs(many);
    assert_int_equal(found.warnings->len, 100);
    found_clear(&found);
}

/* Neither links nor pipes are read. */
static void test_no_files(void **state)
{
    (void)state;
    g_autofree char *path = g_build_filename(folder, "links", NULL);
    g_autofree char *link = g_build_filename(path, "events.out.tfevents.2.x", NULL);
    g_autofree char *pipe = g_build_filename(path, "events.out.tfevents.3.x", NULL);
    assert_ok(orch_dir_make(path, error));
    assert_int_equal(symlink("/etc/passwd", link), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    struct found found = read_runs(path);
    assert_int_equal(found.runs->len, 0);
    assert_true(found.warnings->len >= 2);
    assert_non_null(strstr(found.warnings->pdata[0], "cannot read"));
    assert_non_null(strstr(found.warnings->pdata[1], "cannot read"));
    found_clear(&found);
}

int main(void)
{
    folder = fixture_folder();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_odd_events),
        cmocka_unit_test(test_cut_fields),
        cmocka_unit_test(test_cut_events),
        cmocka_unit_test(test_huge_frame),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_odd_items),
        cmocka_unit_test(test_odd_numbers),
        cmocka_unit_test(test_wrong_parts),
        cmocka_unit_test(test_log_in_parts),
        cmocka_unit_test(test_damaged_log),
        cmocka_unit_test(test_text_files),
        cmocka_unit_test(test_no_text_files),
        cmocka_unit_test(test_odd_text_files),
        cmocka_unit_test(test_odd_mlruns),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_odd_csv),
        cmocka_unit_test(test_paths_without_runs),
        cmocka_unit_test(test_bounds_of_the_search),
        cmocka_unit_test(test_no_files),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fixture_remove(folder);
    return failed;
}
