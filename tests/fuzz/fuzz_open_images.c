/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as the table of a set in the layout of Open Images: up to a line "---" the descriptions
 * of the classes, then the boxes. Image 'a' is there. A crash, a leak, a hang, a result beside an
 * error, a box outside of its image or a label that is no class is a fault. Built with
 * -fsanitize=fuzzer it fuzzes; with replay.c it runs the committed corpus as a test. */
#include "plugins/common/scenes/scene_open.h"
#include "tests/fuzz/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void put(const char *name, const void *bytes, size_t length)
{
    g_free(scratch_write(name, bytes, length));
}

static void check(const struct orch_scene_set *set)
{
    const struct orch_box_batch objects = {set->count, set->first, set->boxes, set->labels};
    if (!orch_box_batch_check(&objects, set->classes, NULL))
        fuzz_die("a box or a label that cannot be used");
    for (int64_t i = 0; i < set->first[set->count]; i++)
        if (set->boxes[i].x1 < 0 || set->boxes[i].y1 < 0 || set->boxes[i].x2 > 1 ||
            set->boxes[i].y2 > 1)
            fuzz_die("a box outside of its image");
}

static void open_set(bool skips_bad)
{
    const struct orch_scene_options options = {
        .name = "set", .root = scratch_folder(), .with_empty = skips_bad, .skips_bad = skips_bad};
    GError *error = NULL;
    struct orch_scene_set *set = orch_scene_set_open(&options, &error);
    if (!set == !error)
        fuzz_die("a result beside an error, or neither");
    if (set)
        check(set);
    if (error && !g_utf8_validate(error->message, -1, NULL))
        fuzz_die("a message that is not UTF-8");
    orch_scene_set_free(set);
    g_clear_error(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const char *text = (const char *)bytes;
    const char *line = g_strstr_len(text, (gssize)length, "---\n");
    const char *boxes = line ? line + 4 : text;
    put("set/train/a.jpg", "", 0);
    put("set/class-descriptions-boxable.csv", text, line ? (size_t)(line - text) : 0);
    put("set/train-annotations-bbox.csv", boxes, length - (size_t)(boxes - text));
    open_set(false);
    open_set(true);
    return 0;
}
