/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/simcluster/platform_file.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <string.h>

#define FILE_BYTES_MAX (16 << 20)
#define HOSTS_MAX 65536

struct reader {
    GArray *hosts;
    GArray *zones; /* int: numbers of the elements that are open, innermost last */
    int next_zone;
    bool is_platform;
};

static void clear_host(void *host)
{
    g_free(((struct platform_host *)host)->name);
}

static const char *attribute(const char **names, const char **values, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return values[i];
    return NULL;
}

static bool refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool refuse(GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT, text);
    return false;
}

static bool add_host(struct reader *r, int zone, char *name, GError **error)
{
    struct platform_host host = {.name = name, .zone = zone};
    g_array_append_val(r->hosts, host);
    if (r->hosts->len <= HOSTS_MAX)
        return true;
    return refuse(error, "the platform has more than %d hosts", HOSTS_MAX);
}

/* ---- clusters ----------------------------------------------------------------------------------
 */

/* One part of a radical: "7" or "0-15". */
static bool add_range(struct reader *r, const char *part, const char *prefix, const char *suffix,
                      GError **error)
{
    g_auto(GStrv) ends = g_strsplit(part, "-", 2);
    int64_t first = 0, last = 0;
    bool ok = ends[0] && orch_int_parse(g_strstrip(ends[0]), &first) && first >= 0;
    last = first;
    if (ok && ends[1])
        ok = orch_int_parse(g_strstrip(ends[1]), &last) && last >= first;
    if (!ok)
        return refuse(error, "'radical': '%s' is neither a number nor a range such as 0-15", part);
    for (int64_t i = first; i <= last; i++) {
        char *name = g_strdup_printf("%s%" G_GINT64_FORMAT "%s", prefix, i, suffix);
        if (!add_host(r, r->next_zone, name, error))
            return false;
    }
    return true;
}

static bool add_cluster(struct reader *r, const char **names, const char **values, GError **error)
{
    const char *prefix = attribute(names, values, "prefix");
    const char *suffix = attribute(names, values, "suffix");
    const char *radical = attribute(names, values, "radical");
    if (!prefix || !suffix || !radical)
        return refuse(error, "a cluster needs prefix, suffix and radical");
    g_auto(GStrv) parts = g_strsplit(radical, ",", -1);
    for (int i = 0; parts[i]; i++)
        if (!add_range(r, parts[i], prefix, suffix, error))
            return false;
    r->next_zone++;
    return true;
}

/* ---- elements ----------------------------------------------------------------------------------
 */

static bool is_zone(const char *element)
{
    return strcmp(element, "zone") == 0 || strcmp(element, "AS") == 0;
}

static void start_element(GMarkupParseContext *context, const char *element, const char **names,
                          const char **values, void *data, GError **error)
{
    struct reader *r = data;
    (void)context;
    if (strcmp(element, "platform") == 0) {
        r->is_platform = true;
    } else if (!r->is_platform) {
        refuse(error, "the outermost element is '%s', not 'platform'", element);
    } else if (is_zone(element)) {
        g_array_append_val(r->zones, r->next_zone);
        r->next_zone++;
    } else if (strcmp(element, "cluster") == 0) {
        add_cluster(r, names, values, error);
    } else if (strcmp(element, "host") == 0) {
        const char *id = attribute(names, values, "id");
        int zone = r->zones->len ? g_array_index(r->zones, int, r->zones->len - 1) : 0;
        if (!id)
            refuse(error, "a host needs an id");
        else
            add_host(r, zone, g_strdup(id), error);
    }
}

static void end_element(GMarkupParseContext *context, const char *element, void *data,
                        GError **error)
{
    struct reader *r = data;
    (void)context, (void)error;
    if (is_zone(element) && r->zones->len)
        g_array_set_size(r->zones, r->zones->len - 1);
}

static void set_error(const char *path, GMarkupParseContext *context, const GError *problem,
                      GError **error)
{
    int line = 0, column = 0;
    const char *what = problem->message;
    g_markup_parse_context_get_position(context, &line, &column);
    /* GLib calls start_element one character behind the tag */
    if (problem->code == G_MARKUP_ERROR_INVALID_CONTENT && column <= 1 && line > 1)
        line--;
    if (g_str_has_prefix(what, "Error on line ")) /* GLib's own place, of the same position */
        what = strstr(what, ": ") ? strstr(what, ": ") + 2 : what;
    orch_error_set(error, ORCH_ERROR_RECIPE,
                   "simgrid.org describes the elements of a platform file",
                   "platform file '%s', line %d: %s", path, line, what);
}

static bool parse(const char *path, const char *text, size_t length, struct reader *r,
                  GError **error)
{
    static const GMarkupParser parser = {.start_element = start_element,
                                         .end_element = end_element};
    GError *problem = NULL;
    GMarkupParseContext *context =
        g_markup_parse_context_new(&parser, G_MARKUP_PREFIX_ERROR_POSITION, r, NULL);
    bool ok = g_markup_parse_context_parse(context, text, (gssize)length, &problem) &&
              g_markup_parse_context_end_parse(context, &problem);
    if (ok && !r->hosts->len)
        ok = refuse(&problem, "the platform has no hosts");
    if (!ok)
        set_error(path, context, problem, error);
    g_clear_error(&problem);
    g_markup_parse_context_free(context);
    return ok;
}

GArray *orch_platform_hosts_read(const char *path, GError **error)
{
    g_autofree char *text = NULL;
    size_t length = 0;
    if (!orch_file_read(path, FILE_BYTES_MAX, &text, &length, error))
        return NULL;
    struct reader r = {.hosts = g_array_new(FALSE, FALSE, sizeof(struct platform_host)),
                       .zones = g_array_new(FALSE, FALSE, sizeof(int))};
    g_array_set_clear_func(r.hosts, clear_host);
    bool ok = parse(path, text, length, &r, error);
    g_array_unref(r.zones);
    if (ok)
        return r.hosts;
    g_array_unref(r.hosts);
    return NULL;
}

/* ---- placement ---------------------------------------------------------------------------------
 */

GArray *orch_platform_place(const GArray *hosts, int64_t workers, int64_t per_host,
                            int64_t per_zone, GError **error)
{
    GArray *places = g_array_new(FALSE, FALSE, sizeof(guint));
    int64_t in_zone = 0, usable = 0;
    int zone = -1;
    for (guint i = 0; i < hosts->len; i++) {
        const struct platform_host *host = &g_array_index(hosts, struct platform_host, i);
        in_zone = host->zone == zone ? in_zone + 1 : 1;
        zone = host->zone;
        if (per_zone && in_zone > per_zone)
            continue;
        usable++;
        for (int64_t k = 0; k < per_host && places->len < workers; k++)
            g_array_append_val(places, i);
    }
    if (places->len == workers)
        return places;
    g_array_unref(places);
    orch_error_set(error, ORCH_ERROR_RECIPE, "use fewer workers",
                   "workers: %" G_GINT64_FORMAT " are too many for the platform's %" G_GINT64_FORMAT
                   " hosts with %" G_GINT64_FORMAT " workers each",
                   workers, usable, per_host);
    return NULL;
}
