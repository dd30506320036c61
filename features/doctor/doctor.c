/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/doctor/doctor.h"

#include "core/feature/feature.h"
#include "core/plan/executor.h"
#include "core/schedule/slot_leases.h"

#include "features/doctor/filesystem_probe.h"
#include "features/doctor/installations.h"
#include "lib/base/error.h"
#include "lib/base/mount_space.h"
#include "lib/base/program_parts.h"
#include "lib/base/program_path.h"
#include "lib/base/text.h"
#include "lib/vcs/git_config.h"

#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static char *first_line(const GError *error)
{
    g_auto(GStrv) lines = g_strsplit(error->message, "\n", 2);
    return g_strdup(lines[0]);
}

static void look_at_machine(struct orch_workspace *workspace, struct orch_findings *f)
{
    const struct orch_machine *m = orch_workspace_machine(workspace);
    g_autofree char *memory = orch_bytes_format(m->memory_bytes);
    g_autofree char *text = g_strdup_printf("%s%s%s, %d cores, %d threads, %s, %s", m->cpu_model,
                                            m->vectors ? ", " : "", m->vectors ? m->vectors : "",
                                            m->cores, m->threads, memory, m->os);
    orch_findings_add(f, "machine", "ok", text, "");
    for (guint i = 0; i < m->gpus->len; i++) {
        const struct orch_gpu_device *gpu = m->gpus->pdata[i];
        g_autofree char *bytes = orch_bytes_format(gpu->memory_bytes);
        g_autofree char *detail = g_strdup_printf(
            "%u: %s, %s, compute capability %d.%d, driver %s", gpu->index, gpu->model, bytes,
            gpu->cc_major, gpu->cc_minor, m->gpu_driver ? m->gpu_driver : "?");
        orch_findings_add(f, "GPU", "ok", detail, "");
    }
    if (!m->gpus->len)
        orch_findings_add(f, "GPU", "missing", m->gpu_note ? m->gpu_note : "none",
                          "GPU trials are skipped here");
}

/* Which trials of this machine use which CPUs and GPUs. */
static void look_at_slots(struct orch_findings *f)
{
    g_autofree char *folder = orch_slot_leases_folder();
    g_autoptr(GError) problem = NULL;
    g_autoptr(GPtrArray) leases = orch_slot_leases_list(&problem);
    if (!folder)
        orch_findings_add(f, "slots", "missing", "ORCH_SLOTS=off",
                          "runs on this machine do not wait for each other's CPUs and GPUs");
    for (guint i = 0; i < leases->len; i++) {
        const struct orch_lease *lease = leases->pdata[i];
        g_autofree char *resources = orch_lease_resources(lease);
        g_autofree char *holder = orch_lease_text(lease);
        g_autofree char *detail =
            g_strdup_printf("%s: %s", *resources ? resources : "no CPU of its own", holder);
        orch_findings_add(f, lease->is_waiting ? "slots: waiting" : "slots: in use", "ok", detail,
                          "");
    }
    if (problem) {
        g_autofree char *what = orch_error_what(problem);
        const char *hint = orch_error_hint(problem);
        orch_findings_add(f, "slots", "missing", what, hint ? hint : "");
    }
    if (folder && !leases->len && !problem)
        orch_findings_add(f, "slots", "ok", "no trial runs on this machine", "");
}

static void look_at_git(struct orch_workspace *workspace, struct orch_findings *f)
{
    if (!workspace->vcs) {
        orch_findings_add(f, "git", "missing", "in no git repository",
                          "git init: runs are then stored with their source");
        return;
    }
    GError *problem = NULL;
    int64_t begin = orch_mono_ns();
    const struct orch_source *source = orch_workspace_source(workspace, &problem);
    if (!source) {
        g_autofree char *line = first_line(problem);
        orch_findings_add(f, "git", "problem", line, "");
        g_clear_error(&problem);
        return;
    }
    g_autofree char *text =
        g_strdup_printf("%s, tree %.12s%s, captured in %.0f ms by %s", workspace->root,
                        source->tree, source->dirty ? " (uncommitted changes)" : "",
                        (double)(orch_mono_ns() - begin) / 1e6, orch_vcs_backend(workspace->vcs));
    orch_findings_add(f, "git", "ok", text, "");
    const GPtrArray *filters = orch_vcs_filters_not_run(workspace->vcs);
    for (guint i = 0; filters && i < filters->len && i < 5; i++) {
        g_autofree char *detail = g_strdup_printf(
            "filter '%s' of the repository's own settings is not run", (char *)filters->pdata[i]);
        orch_findings_add(f, "git", "missing", detail, "define it with 'git config --global'");
    }
    const GPtrArray *programs = orch_vcs_programs_not_run(workspace->root);
    for (guint i = 0; i < programs->len && i < 5; i++) {
        g_autofree char *detail = g_strdup_printf(
            "'%s' of the repository's own settings is not followed", (char *)programs->pdata[i]);
        orch_findings_add(f, "git", "missing", detail, "set it with 'git config --global'");
    }
    for (guint i = 0; i < source->left_out->len && i < 5; i++) {
        const struct orch_left_out *file = source->left_out->pdata[i];
        g_autofree char *detail = g_strdup_printf("%s is not captured: %s", file->path, file->why);
        orch_findings_add(f, "git", "missing", detail, "");
    }
}

static void look_at_shards(struct orch_store *store, struct orch_findings *f)
{
    g_autoptr(GPtrArray) shards = orch_store_shards(store);
    for (guint i = 0; i < shards->len; i++) {
        const struct orch_shard *s = shards->pdata[i];
        g_autofree char *bytes = orch_bytes_format(s->file_bytes);
        g_autofree char *ago = orch_ago_format(s->changed_ns);
        g_autofree char *detail = g_strdup_printf(
            "%s%s: %" G_GINT64_FORMAT " runs, %s, changed %s", *s->host ? s->host : "from before",
            s->is_own ? " (this host)" : "", s->runs, bytes, ago);
        orch_findings_add(
            f, "store: shard", s->problem ? "problem" : "ok", s->problem ? s->problem : detail,
            s->problem ? orch_advice(ORCH_ADVICE_BROKEN_SHARD, "open the store on that host") : "");
    }
    const GPtrArray *warnings = orch_store_warnings(store);
    for (guint i = 0; i < warnings->len; i++)
        orch_findings_add(f, "store: shard", "missing", warnings->pdata[i],
                          "it is checked again next time");
}

/* Reports journals whose writer died. The next writer on the same host replays them. */
static void look_at_journals(struct orch_workspace *workspace, struct orch_findings *f)
{
    g_autoptr(GPtrArray) stale = orch_store_stale_journals(workspace->db_path);
    for (guint i = 0; i < stale->len; i++)
        orch_findings_add(
            f, "store: journal", "missing", stale->pdata[i],
            "its writer died; the next 'orch run' on its host stores it. Never remove it");
}

/* Tests whether the file system has what a store needs. */
static void look_at_filesystem(struct orch_workspace *workspace, struct orch_findings *f)
{
    g_autofree char *folder = orch_store_folder_of(workspace->db_path);
    g_autoptr(GPtrArray) probes = orch_probe_folder(folder);
    orch_probe_look(folder, probes);
    for (guint i = 0; i < probes->len; i++) {
        const struct orch_probe *p = probes->pdata[i];
        g_autofree char *what = g_strdup_printf("probe: %s", p->what);
        orch_findings_add(f, what, p->works ? "ok" : "problem", p->detail, p->follows);
    }
}

static void look_at_store(struct orch_workspace *workspace, struct orch_findings *f)
{
    GError *problem = NULL;
    g_autofree char *layout = orch_store_layout(workspace->db_path);
    orch_findings_add(f, "store: layout", "ok", layout, "");
    if (!orch_workspace_has_store(workspace)) {
        orch_findings_add(f, "store", "missing", workspace->db_path,
                          "made by the first 'orch run'");
        return;
    }
    struct orch_store *store = orch_workspace_store(workspace, ORCH_STORE_READ, &problem);
    struct orch_store_info info = {0};
    if (!store || !orch_store_info(store, &info, &problem)) {
        g_autofree char *line = first_line(problem);
        orch_findings_add(f, "store", "problem", line, "");
        g_clear_error(&problem);
        return;
    }
    g_autofree char *text = g_strdup_printf("%s: schema %d, %" G_GINT64_FORMAT " runs, %s on %s",
                                            orch_store_path(store), info.schema, info.runs,
                                            info.journal_mode ? info.journal_mode : "?",
                                            info.filesystem ? info.filesystem : "?");
    orch_findings_add(f, "store", "ok", text, "");
    if (!orch_store_is_shared(store) && access(orch_store_path(store), W_OK) != 0)
        orch_findings_add(f, "store", "problem", "the file cannot be written",
                          "make it writable (chmod)");
    look_at_shards(store, f);
    look_at_journals(workspace, f);
    g_autoptr(GPtrArray) actives = orch_store_actives(store, NULL);
    unsigned dead = 0;
    for (guint i = 0; actives && i < actives->len; i++)
        dead += !orch_active_is_alive(actives->pdata[i]);
    if (dead) {
        g_autofree char *detail = g_strdup_printf("%u trials of runs that were killed", dead);
        orch_findings_add(f, "store", "missing", detail, "the next 'orch run' closes them");
    }
    orch_store_info_clear(&info);
}

static void look_at_disk(struct orch_workspace *workspace, struct orch_findings *f)
{
    struct statvfs disk;
    g_autofree char *folder = orch_store_folder_of(workspace->db_path);
    if (statvfs(folder, &disk) != 0 && statvfs(workspace->root, &disk) != 0)
        return;
    if (disk.f_files && !disk.f_favail)
        orch_findings_add(f, "disk", "problem", "no more files can be made (inodes)",
                          "remove some files");
    int64_t free_bytes = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
    g_autofree char *text = orch_bytes_format(free_bytes);
    g_autofree char *detail = g_strdup_printf("%s free", text);
    orch_findings_add(f, "disk", free_bytes < (1 << 28) ? "problem" : "ok", detail,
                      free_bytes < (1 << 28) ? "free some space; 'orch gc' may help" : "");
}

static void look_at_parts(struct orch_findings *f)
{
    static const struct {
        const char *part, *what;
    } parts[] = {{"orch-host", "host program"}, {"plugins", "plugins"}, {"share", "data files"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        g_autofree char *path = orch_program_path(parts[i].part, NULL);
        orch_findings_add(f, parts[i].what, path ? "ok" : "problem", path ? path : "not found",
                          path ? "" : orch_program_way(ORCH_PART_OWN));
    }
    g_autofree char *torch = orch_program_module("orch-torch.so");
    bool there = torch && access(torch, F_OK) == 0;
    orch_findings_add(f, "LibTorch adapter", there ? "ok" : "missing",
                      there ? torch : "training is left out",
                      there ? "" : orch_program_way(ORCH_PART_TORCH));
    static const char *const programs[] = {"git", "python3", "mpirun", "nvcc"};
    for (unsigned i = 0; i < G_N_ELEMENTS(programs); i++)
        orch_findings_add_program(f, programs[i]);
}

/* What the features need. */
static void look_at_features(struct orch_workspace *workspace, struct orch_findings *f)
{
    for (const struct orch_feature *const *feature = orch_features(); *feature; feature++)
        if ((*feature)->doctor)
            (*feature)->doctor(workspace, f);
}

/* How trials run apart from the user's folder. */
static void look_at_apart(struct orch_findings *f)
{
    if (orch_mount_space_is_allowed())
        orch_findings_add(f, "folders apart", "ok",
                          "mount namespaces: trials in a copy see their files at the usual paths",
                          "");
    else
        orch_findings_add(f, "folders apart", "missing",
                          "links: this user may not use mount namespaces",
                          "absolute paths in programs lead to the work tree");
}

static void look_at_plugins(struct orch_plugins *plugins, struct orch_findings *f)
{
    g_autofree char *here = g_get_current_dir();
    g_autoptr(GPtrArray) entries = orch_plugins_list(plugins, here);
    unsigned good = 0;
    for (guint i = 0; i < entries->len; i++) {
        const struct orch_plugin_entry *entry = entries->pdata[i];
        good += entry->manifest != NULL;
        g_autofree char *hint = g_strdup_printf("orch plugin trust %s", entry->path);
        g_autofree char *untrusted = g_strdup_printf("%s is not trusted: not loaded", entry->path);
        if (entry->is_untrusted)
            orch_findings_add(f, "plugin", "missing", untrusted, hint);
        else if (entry->problem)
            orch_findings_add(f, "plugin", "problem", entry->problem, "");
        if (entry->shadowed_by)
            orch_findings_add(f, "plugin", "missing", entry->path,
                              "hidden by another plugin of the same name");
    }
    g_autofree char *detail = g_strdup_printf("%u can be named in recipes", good);
    orch_findings_add(f, "plugins", "ok", detail, "'orch plugin ls' lists them");
}

void orch_doctor_look(struct orch_workspace *workspace, struct orch_plugins *plugins,
                      struct orch_findings *findings)
{
    look_at_machine(workspace, findings);
    look_at_slots(findings);
    look_at_git(workspace, findings);
    look_at_store(workspace, findings);
    look_at_filesystem(workspace, findings);
    look_at_disk(workspace, findings);
    look_at_parts(findings);
    orch_installations_look(findings);
    look_at_features(workspace, findings);
    look_at_apart(findings);
    look_at_plugins(plugins, findings);
}

char *orch_doctor_folder(const struct orch_workspace *workspace)
{
    return orch_store_folder_of(workspace->db_path);
}

bool orch_doctor_hold(const struct orch_workspace *workspace, unsigned seconds, GError **error)
{
    g_autofree char *folder = orch_doctor_folder(workspace);
    return orch_probe_hold(folder, seconds, error);
}
