/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of the wire: whatever is decoded can be encoded and decoded again to the same, and nothing
 * else happens. The input is one line; trial.json and manifests are tried on the same bytes. */
#include "lib/base/json.h"
#include "lib/wire/event.h"
#include "lib/wire/trial.h"
#include "lib/wire/value.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Points survive a round trip, bit for bit but for the sign of zero. */
static void check_points(const struct orch_event *event)
{
    g_autoptr(GString) text = g_string_new(NULL);
    orch_event_encode_points(text, event->points, event->point_count);
    size_t seen = 0;
    for (char *line = text->str; *line;) {
        size_t line_length = strcspn(line, "\n") + 1;
        struct orch_event again;
        if (line_length > ORCH_WIRE_LINE_MAX || !orch_event_decode(line, line_length, &again, NULL))
            g_error("a line of our own cannot be decoded: %s", line);
        for (size_t i = 0; i < again.point_count; i++, seen++) {
            const struct orch_point *a = &event->points[seen], *b = &again.points[i];
            if (strcmp(a->name, b->name) != 0 || a->step != b->step || !is_same(a->value, b->value))
                g_error("point %zu changed on its way", seen);
        }
        orch_event_clear(&again);
        line += line_length;
    }
    if (seen != event->point_count)
        g_error("%zu points became %zu", event->point_count, seen);
}

static void check_event(const char *text, size_t length)
{
    struct orch_event event;
    if (!orch_event_decode(text, length, &event, NULL))
        return;
    if (event.kind == ORCH_EVENT_METRICS)
        check_points(&event);
    orch_event_clear(&event);
}

static void check_trial(const char *text, size_t length)
{
    g_autoptr(json_t) json = orch_json_parse(text, length, 1 << 20, NULL);
    struct orch_trial_spec *trial = json ? orch_trial_decode(json, NULL) : NULL;
    if (!trial)
        return;
    g_autofree char *problem = orch_manifest_problem(trial->manifest);
    g_autoptr(json_t) again = orch_trial_encode(trial);
    for (guint i = 0; !problem && i < trial->manifest->params->len; i++) {
        const struct orch_param_spec *spec = trial->manifest->params->pdata[i];
        const json_t *given = json_object_get(trial->params, spec->name);
        g_autoptr(json_t) value = given ? orch_value_from_json(spec, given, NULL) : NULL;
        g_autofree char *shown = value ? orch_value_format(spec, value) : NULL;
    }
    orch_trial_free(trial);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    check_event((const char *)bytes, length);
    check_trial((const char *)bytes, length);
    return 0;
}
