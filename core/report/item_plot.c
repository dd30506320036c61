/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `plot`. */
#include "core/report/items.h"
#include "core/report/plot.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string.h>

bool orch_section_fill_plot(struct orch_section_context *a, GError **error)
{
    const json_t *spec = a->item->spec;
    struct orch_plot plot = {
        .title = a->item->title,
        .kind = ORCH_PLOT_KIND_OF_X,
        .x = orch_json_text(spec, "x", "step"),
        .facet = orch_json_text(spec, "facet", NULL),
        .log_x = orch_item_flag(spec, "log_x"),
        .log_y = orch_item_flag(spec, "log_y"),
        .ideal = orch_item_flag(spec, "ideal"),
        .predicted = orch_item_flag(spec, "predicted"),
        .reference = json_object_get(spec, "reference"),
    };
    orch_plot_kind_parse(orch_json_text(spec, "kind", ""), &plot.kind);
    bool is_heat = plot.kind == ORCH_CHART_HEAT;
    plot.row = is_heat ? orch_json_text(spec, "y", NULL) : NULL;
    struct orch_trials *trials = orch_section_trials(a, "experiments", error);
    if (!trials)
        return false;
    g_autoptr(GPtrArray) y = orch_item_values_parse(json_object_get(spec, is_heat ? "z" : "y"));
    g_autoptr(GPtrArray) by =
        json_object_get(spec, "by") ? orch_texts_from_json(json_object_get(spec, "by")) : NULL;
    plot.y = y;
    plot.by = by;
    g_autoptr(GError) failed = NULL;
    bool ok = orch_plot_draw(trials, &plot, a->section, &failed);
    if (!ok && g_error_matches(failed, ORCH_ERROR, ORCH_ERROR_USAGE)) {
        orch_section_missing(a->section, NULL, "%s", failed->message);
        ok = true;
    } else if (!ok) {
        g_propagate_error(error, g_steal_pointer(&failed));
    }
    if (ok)
        orch_section_add_missing_trials(a, trials);
    orch_trials_free(trials);
    return ok;
}
