/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as an annotation of Pascal VOC. A crash, a leak, a hang, a result beside an error, an
 * object without a name or number, or a message that is not UTF-8 is a fault. Built with
 * -fsanitize=fuzzer it fuzzes; with replay.c it runs the committed corpus as a test. */
#include "plugins/common/boxes/box.h"
#include "plugins/common/scenes/voc_xml.h"
#include "tests/fuzz/scratch.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check(const struct orch_voc_annotation *annotation)
{
    if (annotation->width < 0 || annotation->height < 0 ||
        annotation->objects->len > ORCH_BOXES_OF_IMAGE_MAX)
        fuzz_die("a size or a number out of range");
    for (guint i = 0; i < annotation->objects->len; i++) {
        const struct orch_voc_object *o =
            &g_array_index(annotation->objects, struct orch_voc_object, i);
        if (!o->name || !*o->name || o->line < 1 || !g_utf8_validate(o->name, -1, NULL))
            fuzz_die("an object without a name or a line");
        if (!isfinite(o->xmin) || !isfinite(o->ymin) || !isfinite(o->xmax) || !isfinite(o->ymax))
            fuzz_die("a coordinate that is not finite");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    GError *error = NULL;
    struct orch_voc_annotation *annotation =
        orch_voc_parse("fuzz", (const char *)bytes, length, &error);
    if (!annotation == !error)
        fuzz_die("a result beside an error, or neither");
    if (annotation)
        check(annotation);
    if (error &&
        (!g_utf8_validate(error->message, -1, NULL) || !strstr(error->message, "\n  at: fuzz:")))
        fuzz_die("a message that is not UTF-8 or names no line");
    orch_voc_annotation_free(annotation);
    g_clear_error(&error);
    return 0;
}
