/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which engines plugin onnxrun finds on this machine. */
#include "features/onnx/engines_found.h"
#include "core/results/findings.h"
#include "lib/base/program_parts.h"
#include "lib/base/program_path.h"
#include "lib/onnx/onnxruntime.h"

#include <stdbool.h>
#include <unistd.h>

static void look_at_onnxruntime(struct orch_findings *findings)
{
    g_autoptr(GPtrArray) places = orch_onnxruntime_find();
    const struct orch_onnxruntime *found = NULL, *bare = NULL;
    for (guint i = 0; i < places->len && !found; i++) {
        const struct orch_onnxruntime *place = places->pdata[i];
        if (place->path && access(place->path, R_OK) == 0)
            found = place;
        else
            bare = place;
    }
    g_autofree char *detail =
        found  ? g_strdup_printf("%s, of %s", found->path, found->from)
        : bare ? g_strdup_printf("%s: no readable library (Python's package has one from 1.19 on)",
                                 bare->from)
               : g_strdup("not found: trials of plugin onnxrun with this engine are skipped");
    orch_findings_add(findings, "ONNX Runtime", found ? "ok" : "missing", detail,
                      found ? "" : ORCH_ONNXRUNTIME_HINT);
}

static void look_at_opencv(struct orch_findings *findings)
{
    g_autofree char *path = orch_program_module("orch-opencv.so");
    const bool is_there = path && access(path, F_OK) == 0;
    orch_findings_add(findings, "OpenCV adapter", is_there ? "ok" : "missing",
                      is_there ? path
                               : "not built: trials of plugin onnxrun with this engine are skipped",
                      is_there ? "" : orch_program_way(ORCH_PART_OPENCV));
}

void orch_engines_found(struct orch_workspace *workspace, struct orch_findings *findings)
{
    (void)workspace;
    look_at_onnxruntime(findings);
    look_at_opencv(findings);
}
