/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/pack/pins.h"

#include "core/report/trials.h"
#include "lib/base/json.h"

#include <string.h>

json_t *orch_pins_of(const struct orch_plan *plan)
{
    json_t *out = json_array();
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        if (item->state == ORCH_PLAN_UNUSED)
            continue;
        g_autofree char *label = orch_cell_label(item->cell);
        bool done = item->state == ORCH_PLAN_DONE;
        json_array_append_new(out,
                              json_pack("{s:I, s:s, s:s, s:s?, s:s, s:s?}", "index", (json_int_t)i,
                                        "trial", label, "state", orch_plan_state_name(item->state),
                                        "reason", item->reason, "fingerprint", item->fingerprint,
                                        "run", done ? item->run_key : NULL));
    }
    return out;
}

void orch_pinned_clear(struct orch_pinned *pinned)
{
    g_clear_pointer(&pinned->problems, g_ptr_array_unref);
}

static enum orch_plan_state state_of(const json_t *pin)
{
    const char *name = orch_json_text(pin, "state", "");
    for (int s = ORCH_PLAN_DONE; s < ORCH_PLAN_UNUSED; s++)
        if (strcmp(orch_plan_state_name((enum orch_plan_state)s), name) == 0)
            return (enum orch_plan_state)s;
    return ORCH_PLAN_MISSING;
}

static void problem(struct orch_pinned *out, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void problem(struct orch_pinned *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(out->problems, g_strdup_vprintf(format, args));
    va_end(args);
}

/* True when the run belongs to the item: by its fingerprint, else by experiment, repeat and
 * parameters. */
static bool is_of(const struct orch_plan *plan, struct orch_plan_item *item,
                  const struct orch_run *run, bool *out_by_params)
{
    *out_by_params = !item->fingerprint[0] || strcmp(item->fingerprint, run->fingerprint) != 0;
    if (!*out_by_params)
        return true;
    struct orch_plan_item bare = *item;
    bare.fingerprint[0] = 0;
    return orch_run_is_of(plan->store, run, &bare) &&
           g_strcmp0(run->plugin, item->cell->experiment->manifest->name) == 0;
}

static void pin_run(struct orch_plan *plan, struct orch_plan_item *item, const char *label,
                    const char *key, struct orch_pinned *out)
{
    bool is_key = key && strlen(key) == ORCH_KEY_CHARS - 1;
    struct orch_run *run = is_key && plan->store ? orch_store_run(plan->store, key, NULL) : NULL;
    bool by_params = false;
    item->state = ORCH_PLAN_MISSING;
    if (!run) {
        problem(out, "%s: its run %s is not in the pack", label, is_key ? key : "(none named)");
    } else if (!is_of(plan, item, run, &by_params)) {
        problem(out, "%s: run %s belongs to another trial (%s)", label, key, run->experiment);
    } else {
        item->state = ORCH_PLAN_DONE;
        g_free(item->run_key);
        item->run_key = g_strdup(key);
        out->done++;
        out->by_params += by_params;
    }
    orch_run_free(run);
}

/* The pins by what finds that of a trial: its number, or its label. */
static GHashTable *pins_by(const json_t *pins, bool by_label)
{
    GHashTable *out = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t i = 0; i < json_array_size(pins); i++) {
        const json_t *pin = json_array_get(pins, i);
        char *place = by_label
                          ? g_strdup(orch_json_text(pin, "trial", ""))
                          : g_strdup_printf("%" G_GINT64_FORMAT, orch_json_int(pin, "index", -1));
        g_hash_table_insert(out, place, (gpointer)(uintptr_t)pin);
    }
    return out;
}

void orch_pins_apply(struct orch_plan *plan, const json_t *pins, bool by_label,
                     struct orch_pinned *out)
{
    *out = (struct orch_pinned){.problems = g_ptr_array_new_with_free_func(g_free)};
    g_autoptr(GHashTable) by_place = pins_by(pins, by_label);
    for (unsigned i = 0; i < plan->count; i++) {
        struct orch_plan_item *item = &plan->items[i];
        g_autofree char *label = orch_cell_label(item->cell), *number = g_strdup_printf("%u", i);
        const json_t *pin = g_hash_table_lookup(by_place, by_label ? label : number);
        if (!pin) {
            item->state = ORCH_PLAN_UNUSED;
            continue;
        }
        out->trials++;
        if (strcmp(orch_json_text(pin, "trial", ""), label) != 0)
            problem(out, "trial %u of the recipe is '%s', but the pack has '%s'", i + 1, label,
                    orch_json_text(pin, "trial", ""));
        g_free(item->reason);
        item->reason = g_strdup(orch_json_text(pin, "reason", NULL));
        item->state = state_of(pin);
        if (item->state == ORCH_PLAN_DONE)
            pin_run(plan, item, label, orch_json_text(pin, "run", NULL), out);
    }
}
