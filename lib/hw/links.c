/* SPDX-License-Identifier: MIT */
#include "lib/hw/links.h"

#include "lib/base/text.h"

#include <string.h>

static const char PCI[] = "PCI-SIG: lanes x rate x line code, x16, one direction";
static const char NVLINK[] = "NVIDIA: all links of a GPU, one direction (V100 6, A100 12, H100 18)";
static const char ETHERNET[] = "IEEE 802.3 line rate";
static const char IBTA[] = "InfiniBand roadmap, 4x data rate";

/* Latencies are typical values for messages of a few bytes. */
static const struct orch_link LINKS[] = {
    {"ethernet1", "1gbe", 1, 50, ETHERNET},
    {"ethernet10", "ethernet,10gbe", 10, 30, ETHERNET},
    {"ethernet20", "", 20, 30, "two 10-gigabit links; PALEO's table"},
    {"ethernet25", "25gbe", 25, 20, ETHERNET},
    {"ethernet100", "100gbe", 100, 10, ETHERNET},
    {"aws", "", 2, 100, "PALEO's table: what the authors measured between instances"},
    {"infiniband-fdr", "fdr", 54.54, 2, IBTA},
    {"infiniband70", "infiniband", 70, 2, "PALEO's table"},
    {"infiniband-edr", "edr", 100, 2, IBTA},
    {"infiniband-hdr", "hdr", 200, 2, IBTA},
    {"infiniband-ndr", "ndr", 400, 2, IBTA},
    {"pcie2", "", 64, 5, PCI},
    {"pcie3", "pcie", 126.03, 5, PCI},
    {"pcie4", "", 252.06, 5, PCI},
    {"pcie5", "", 504.12, 5, PCI},
    {"nvlink1", "", 640, 3, "NVIDIA: P100, 4 links of 20 GB/s a direction"},
    {"nvlink2", "", 1200, 3, NVLINK},
    {"nvlink3", "", 2400, 3, NVLINK},
    {"nvlink4", "", 3600, 3, NVLINK},
    {.name = NULL},
};

const struct orch_link *orch_links(void)
{
    return LINKS;
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
    for (const struct orch_link *link = LINKS; link->name; link++)
        if (orch_link_is_named(link, name))
            return link;
    return NULL;
}

const struct orch_link *orch_link_within(const struct orch_gpu_spec *spec)
{
    static const struct {
        double least_gbs;
        const char *name;
    } NVLINKS[] = {{900, "nvlink4"}, {600, "nvlink3"}, {300, "nvlink2"}, {160, "nvlink1"}};
    bool is_sxm = spec->unit == ORCH_GPU_MODULE; /* NVLink bridges connect only pairs of cards */
    for (size_t i = 0; is_sxm && i < G_N_ELEMENTS(NVLINKS); i++)
        if (spec->nvlink_gbs >= NVLINKS[i].least_gbs)
            return orch_link_find(NVLINKS[i].name);
    const char *pcie = spec->pcie ? spec->pcie : "3.0";
    g_autofree char *name = g_strdup_printf("pcie%c", *pcie);
    const struct orch_link *link = orch_link_find(name);
    return link ? link : orch_link_find("pcie3");
}
