/* SPDX-License-Identifier: MIT */
/* Links between workers: share/hardware/links.csv, which is built in. */
#include "lib/devices/links.h"

#include "lib/base/text.h"
#include "lib/devices/columns.h"

#include <string.h>

extern const char ORCH_LINKS_CSV[]; /* CMakeLists.txt of this folder */

#define AT(member) offsetof(struct orch_link, member)

static const char *const PER[] = {"node", "gpu", NULL};

static const struct orch_column COLUMNS[] = {
    {"name", ORCH_COLUMN_TEXT, AT(name), ORCH_COLUMN_FULL, 0, 0, NULL},
    {"aliases", ORCH_COLUMN_TEXT, AT(aliases), ORCH_COLUMN_SPARSE, 0, 0, NULL},
    {"gbit_s", ORCH_COLUMN_REAL, AT(gbit_s), ORCH_COLUMN_FULL, 1e-3, 1e6, NULL},
    {"latency_us", ORCH_COLUMN_REAL, AT(latency_us), ORCH_COLUMN_FULL, 1e-3, 1e6, NULL},
    {"per", ORCH_COLUMN_FLAG, AT(is_of_gpu), ORCH_COLUMN_FULL, 0, 0, PER},
    {"gpus", ORCH_COLUMN_COUNT, AT(gpus), ORCH_COLUMN_SPARSE, 2, 1 << 16, NULL},
    {"between", ORCH_COLUMN_TEXT, AT(between), ORCH_COLUMN_SPARSE, 0, 0, NULL},
    {"source", ORCH_COLUMN_TEXT, AT(source), ORCH_COLUMN_FULL, 0, 0, NULL},
    {0}};

static struct orch_link *read_links(const struct orch_csv *csv, GError **error)
{
    g_autoptr(GPtrArray) rows = orch_columns_rows(COLUMNS, csv, sizeof(struct orch_link), error);
    if (!rows)
        return NULL;
    GArray *links = g_array_new(TRUE, TRUE, sizeof(struct orch_link));
    for (guint i = 0; i < rows->len; i++)
        g_array_append_vals(links, rows->pdata[i], 1);
    return (struct orch_link *)(void *)g_array_free(links, FALSE);
}

const struct orch_link *orch_links(void)
{
    static struct orch_link *links;
    static struct orch_csv *csv; /* the texts are borrowed: the table stays */
    if (g_once_init_enter(&links)) {
        GError *error = NULL;
        csv = orch_csv_parse("share/hardware/links.csv", ORCH_LINKS_CSV, strlen(ORCH_LINKS_CSV),
                             &error);
        struct orch_link *read = csv ? read_links(csv, &error) : NULL;
        if (!read)
            g_error("the table of links that is built in is damaged: %s", error->message);
        g_once_init_leave(&links, read);
    }
    return links;
}

bool orch_link_is_named(const struct orch_link *link, const char *name)
{
    if (orch_name_is_same(link->name, name))
        return true;
    g_auto(GStrv) aliases = g_strsplit(link->aliases, ",", -1);
    for (int i = 0; aliases[i]; i++)
        if (*aliases[i] && orch_name_is_same(aliases[i], name))
            return true;
    return false;
}

const struct orch_link *orch_link_find(const char *name)
{
    for (const struct orch_link *link = orch_links(); link->name; link++)
        if (orch_link_is_named(link, name))
            return link;
    return NULL;
}

const struct orch_link *orch_link_within(const struct orch_gpu_spec *spec)
{
    static const struct {
        const char *begins; /* the architecture, or the GPU's name; "": NVIDIA's */
        double least_gbs;
        const char *name;
    } LINKS[] = {{"CDNA", 1000, "infinity-fabric4"},
                 {"CDNA", 800, "infinity-fabric"},
                 {"TPU v5e", 400, "ici-v5e"},
                 {"TPU v5p", 1200, "ici-v5p"},
                 {"TPU v6e", 800, "ici-v6e"},
                 {"GB", 1800, "nvlink5-nvl72"},
                 {"", 1800, "nvlink5"},
                 {"", 900, "nvlink4"},
                 {"", 600, "nvlink3"},
                 {"", 300, "nvlink2"},
                 {"", 160, "nvlink1"}};
    bool is_module = spec->unit == ORCH_GPU_MODULE; /* bridges connect only pairs of cards */
    for (size_t i = 0; is_module && i < G_N_ELEMENTS(LINKS); i++)
        if (spec->nvlink_gbs >= LINKS[i].least_gbs &&
            (g_str_has_prefix(spec->arch, LINKS[i].begins) ||
             g_str_has_prefix(spec->name, LINKS[i].begins)))
            return orch_link_find(LINKS[i].name);
    const char *pcie = spec->pcie && *spec->pcie ? spec->pcie : "3.0";
    g_autofree char *name = g_strdup_printf("pcie%c", *pcie);
    const struct orch_link *link = orch_link_find(name);
    return link ? link : orch_link_find("pcie3");
}
