/* SPDX-License-Identifier: MIT */
/* Which GPUs CUDA_VISIBLE_DEVICES leaves, after "CUDA Environment Variables" in NVIDIA's CUDA C++
 * Programming Guide: entries are indices, UUIDs or their unambiguous beginnings; an entry that
 * names no GPU hides itself and all that follow. An index counts in the order of the bus, NVML's
 * and nvidia-smi's, so trials get CUDA_DEVICE_ORDER=PCI_BUS_ID. An entry that names a GPU whose
 * MIG is on means its first instance. */
#include "lib/base/text.h"
#include "lib/hw/probe.h"

#include <string.h>

/* The position of the device that an entry names; -1: none, or several. */
static int find(const struct orch_machine *machine, const char *entry)
{
    guint64 number;
    int found = -1;
    bool is_number = g_ascii_string_to_unsigned(entry, 10, 0, G_MAXINT32, &number, NULL);
    for (guint i = 0; i < machine->gpus->len; i++) {
        const struct orch_gpu_device *gpu = machine->gpus->pdata[i];
        if (is_number && gpu->index == number)
            return (int)i;
        if (is_number || !*entry || !g_str_has_prefix(gpu->uuid, entry))
            continue;
        if (strcmp(gpu->uuid, entry) == 0)
            return (int)i;
        if (found >= 0)
            return -1;
        found = (int)i;
    }
    return found;
}

/* How a trial's environment names the device: an index, or its UUID. */
static char *name_of(const struct orch_gpu_device *gpu, bool by_uuid)
{
    return *gpu->uuid && (by_uuid || gpu->is_mig) ? g_strdup(gpu->uuid)
                                                  : g_strdup_printf("%u", gpu->index);
}

/* Keeps the devices at these positions, in this order, and hides the others. */
static void keep(struct orch_machine *machine, const GArray *positions)
{
    g_autofree struct orch_gpu_device **all =
        g_memdup2(machine->gpus->pdata, machine->gpus->len * sizeof *all);
    guint count = machine->gpus->len;
    g_ptr_array_set_free_func(machine->gpus, NULL);
    g_ptr_array_set_size(machine->gpus, 0);
    g_ptr_array_set_free_func(machine->gpus, (GDestroyNotify)orch_gpu_device_free);
    for (guint i = 0; i < positions->len; i++) {
        int at = g_array_index(positions, int, i);
        g_ptr_array_add(machine->gpus, all[at]);
        all[at] = NULL;
    }
    for (guint i = 0; i < count; i++)
        if (all[i])
            g_ptr_array_add(machine->hidden_gpus, all[i]);
}

void orch_visible_gpus_choose(struct orch_machine *machine, const char *list)
{
    if (!list || !machine->gpus->len) {
        for (guint i = 0; i < machine->gpus->len; i++) {
            struct orch_gpu_device *gpu = machine->gpus->pdata[i];
            gpu->visible = name_of(gpu, false);
        }
        return;
    }
    g_auto(GStrv) entries = g_strsplit(list, ",", -1);
    g_autoptr(GArray) positions = g_array_new(FALSE, FALSE, sizeof(int));
    const char *wrong = NULL;
    for (char **entry = entries; *entry && !wrong; entry++) {
        int at = find(machine, g_strstrip(*entry));
        struct orch_gpu_device *gpu = at < 0 ? NULL : machine->gpus->pdata[at];
        if (!gpu || gpu->visible) { /* unknown, or named twice */
            wrong = *entry;
            continue;
        }
        gpu->visible = name_of(gpu, !g_ascii_isdigit(**entry));
        g_array_append_val(positions, at);
    }
    guint hidden = machine->gpus->len - positions->len;
    keep(machine, positions);
    if (!hidden)
        return;
    g_free(machine->gpu_note);
    bool is_meant = !wrong || !*wrong || strcmp(wrong, "-1") == 0;
    machine->gpu_note =
        g_strdup_printf("CUDA_VISIBLE_DEVICES='%s' hides %u GPU%s%s%s%s", list, hidden,
                        orch_plural(hidden), is_meant ? "" : ": '", is_meant ? "" : wrong,
                        is_meant ? "" : "' names no GPU, or one twice");
}
