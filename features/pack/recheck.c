/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/pack/recheck.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

enum { SHOWN_MAX = 20, TEXT_MAX = 120 };
#define TOLERANCE 1e-9

static void rechecked_free(struct orch_rechecked *item)
{
    if (!item)
        return;
    g_free(item->question);
    g_free(item->title);
    g_free(item->kind);
    g_free(item->unchecked);
    g_ptr_array_unref(item->disagreements);
    g_free(item);
}

static void free_disagreement(gpointer pointer)
{
    struct orch_disagreement *d = pointer;
    g_free(d->place);
    g_free(d->recorded);
    g_free(d->found);
    g_free(d);
}

/* ---- places ------------------------------------------------------------------------------------
 */

/* True for members that hold commands or hints instead of results. */
static bool is_irrelevant(const char *key)
{
    static const char *const keys[] = {"command", "hint", NULL};
    return g_strv_contains(keys, key);
}

/* "rows" -> "row 3" */
static char *place_of_index(const char *place, const char *key, size_t index)
{
    static const char *const known[][2] = {
        {"rows", "row"},     {"cells", "shown row"}, {"blocks", "block"}, {"series", "series"},
        {"points", "point"}, {"runs", "run"},        {"", "column"}};
    const char *word = key;
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        if (strcmp(known[i][0], key) == 0)
            word = known[i][1];
    return g_strdup_printf("%s%s%s %zu", place, *place ? ", " : "", word, index + 1);
}

static char *place_of_member(const char *place, const char *key, const json_t *value)
{
    if (json_is_array(value) || strcmp(key, "shown") == 0)
        return g_strdup(place);
    return g_strdup_printf("%s%s%s", place, *place ? ", " : "", key);
}

/* ---- comparing ---------------------------------------------------------------------------------
 */

/* True for a number as text, alone or with an interval or a unit: "0.87 +- 0.02", "$3.06", "41 %".
 * A name with digits (resnet18), a key and a date are none. */
static bool is_number_text(const char *text)
{
    const char *begin = text + strspn(text, "$<>~ ");
    char *end = NULL;
    g_ascii_strtod(begin, &end);
    return end > begin && (*end == '\0' || strchr(" %,;:).", *end));
}

unsigned orch_recheck_count(const json_t *value)
{
    unsigned count = json_is_number(value) ||
                     (json_is_string(value) && is_number_text(json_string_value(value)));
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)value, key, member) count +=
        is_irrelevant(key) ? 0 : orch_recheck_count(member);
    for (size_t i = 0; i < json_array_size(value); i++)
        count += orch_recheck_count(json_array_get(value, i));
    return count;
}

static char *shown(const json_t *value)
{
    char real[ORCH_REAL_CHARS];
    if (!value)
        return g_strdup("nothing");
    if (json_is_real(value))
        return g_strdup(orch_real_format(json_real_value(value), real));
    char *text = json_is_string(value) ? g_strdup(json_string_value(value)) : NULL;
    if (!text) {
        char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
        text = g_strdup(dumped ? dumped : "?");
        free(dumped);
    }
    if (g_utf8_validate(text, -1, NULL) && g_utf8_strlen(text, -1) > TEXT_MAX) {
        g_autofree char *start = g_utf8_substring(text, 0, TEXT_MAX);
        g_free(text);
        text = g_strconcat(start, "...", NULL);
    }
    return text;
}

static void disagree(struct orch_rechecked *out, const char *place, const json_t *recorded,
                     const json_t *found)
{
    out->differs++;
    if (out->disagreements->len >= SHOWN_MAX)
        return;
    struct orch_disagreement *d = g_new0(struct orch_disagreement, 1);
    *d = (struct orch_disagreement){g_strdup(*place ? place : "the item"), shown(recorded),
                                    shown(found)};
    g_ptr_array_add(out->disagreements, d);
}

static bool numbers_agree(const json_t *recorded, const json_t *found)
{
    double a = json_number_value(recorded), b = json_number_value(found);
    return a == b || fabs(a - b) <= TOLERANCE * MAX(fabs(a), fabs(b));
}

static void compare(struct orch_rechecked *out, const char *place, const char *key,
                    const json_t *recorded, const json_t *found);

static void compare_objects(struct orch_rechecked *out, const char *place, const json_t *recorded,
                            const json_t *found)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)recorded, key, value)
    {
        if (is_irrelevant(key))
            continue;
        g_autofree char *at = place_of_member(place, key, value);
        compare(out, at, key, value, json_object_get(found, key));
    }
    json_object_foreach((json_t *)(uintptr_t)found, key, value)
    {
        if (is_irrelevant(key) || json_object_get(recorded, key))
            continue;
        g_autofree char *at = place_of_member(place, key, value);
        disagree(out, at, NULL, value);
    }
}

static void compare_arrays(struct orch_rechecked *out, const char *place, const char *key,
                           const json_t *recorded, const json_t *found)
{
    size_t most = MAX(json_array_size(recorded), json_array_size(found));
    for (size_t i = 0; i < most; i++) {
        g_autofree char *at = place_of_index(place, key, i);
        compare(out, at, "", json_array_get(recorded, i), json_array_get(found, i));
    }
}

/* Pictures are compared by content: the store names them by their digest. */
static bool paths_agree(const char *recorded, const char *found)
{
    size_t a = strlen(recorded), b = strlen(found),
           tail = 65; /* length of "ab/cdef...", the name of an object */
    return a >= tail && b >= tail && strcmp(recorded + a - tail, found + b - tail) == 0;
}

static bool texts_agree(const char *key, const json_t *recorded, const json_t *found)
{
    const char *a = json_string_value(recorded), *b = json_string_value(found);
    return strcmp(a, b) == 0 || (strcmp(key, "path") == 0 && paths_agree(a, b));
}

static void compare(struct orch_rechecked *out, const char *place, const char *key,
                    const json_t *recorded, const json_t *found)
{
    if (json_is_object(recorded) && json_is_object(found))
        compare_objects(out, place, recorded, found);
    else if (json_is_array(recorded) && json_is_array(found))
        compare_arrays(out, place, key, recorded, found);
    else if (json_is_number(recorded) && json_is_number(found) && numbers_agree(recorded, found))
        out->confirmed++;
    else if (json_is_string(recorded) && json_is_string(found) && texts_agree(key, recorded, found))
        out->confirmed += is_number_text(json_string_value(recorded)) ? 1 : 0;
    else if (!recorded || !found || json_is_number(recorded) || !json_equal(recorded, found))
        disagree(out, place, recorded, found);
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

static struct orch_rechecked *item_new(const json_t *section)
{
    struct orch_rechecked *out = g_new0(struct orch_rechecked, 1);
    out->question = g_strdup(orch_json_text(section, "question", NULL));
    out->title = g_strdup(orch_json_text(section, "title", NULL));
    out->kind = g_strdup(orch_json_text(section, "kind", "?"));
    out->disagreements = g_ptr_array_new_with_free_func(free_disagreement);
    return out;
}

static void exempt_item(struct orch_rechecked *out, char *why, const json_t *recorded)
{
    out->unchecked = why;
    out->confirmed = out->differs = 0;
    out->left = orch_recheck_count(recorded);
    g_ptr_array_set_size(out->disagreements, 0);
}

GPtrArray *orch_recheck(const json_t *recorded, const json_t *found,
                        orch_recheck_exemption exemption, void *ctx)
{
    const json_t *a = json_object_get(recorded, "sections"),
                 *b = json_object_get(found, "sections");
    GPtrArray *out = g_ptr_array_new_with_free_func((GDestroyNotify)rechecked_free);
    for (size_t i = 0; i < MAX(json_array_size(a), json_array_size(b)); i++) {
        const json_t *x = json_array_get(a, i), *y = json_array_get(b, i);
        struct orch_rechecked *item = item_new(x ? x : y);
        compare(item, "", "", x, y);
        char *why = exemption && x && y ? exemption(ctx, x, y, item->differs > 0) : NULL;
        if (why)
            exempt_item(item, why, x);
        g_ptr_array_add(out, item);
    }
    return out;
}
