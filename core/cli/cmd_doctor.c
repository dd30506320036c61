/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks everything that orch depends on on this machine, and says what is missing and how to fix
 * it. */
#include "core/cli/cli.h"
#include "core/cli/nets.h"
#include "core/hardware/hardware.h"
#include "store/filesystem_probe.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/hw/measure.h"

#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct findings {
    struct orch_table *table;
    unsigned problems;
};

/* level: "ok", "missing" (some feature is not available) or "problem" */
static void add(struct findings *f, const char *what, const char *level, const char *detail,
                const char *hint)
{
    orch_table_add(f->table, what, NULL);
    orch_table_add(f->table, level, NULL);
    orch_table_add(f->table, detail, NULL);
    orch_table_add(f->table, hint, NULL);
    f->problems += strcmp(level, "problem") == 0;
}

static char *first_line(const GError *error)
{
    g_auto(GStrv) lines = g_strsplit(error->message, "\n", 2);
    return g_strdup(lines[0]);
}

static void look_at_machine(struct orch_cli *cli, struct findings *f)
{
    const struct orch_machine *m = orch_workspace_machine(cli->workspace);
    g_autofree char *memory = orch_bytes_format(m->memory_bytes);
    g_autofree char *text = g_strdup_printf("%s, %d cores, %d threads, %s, %s", m->cpu_model,
                                            m->cores, m->threads, memory, m->os);
    add(f, "machine", "ok", text, "");
    for (guint i = 0; i < m->gpus->len; i++) {
        const struct orch_gpu_device *gpu = m->gpus->pdata[i];
        g_autofree char *bytes = orch_bytes_format(gpu->memory_bytes);
        g_autofree char *detail = g_strdup_printf(
            "%u: %s, %s, compute capability %d.%d, driver %s", gpu->index, gpu->model, bytes,
            gpu->cc_major, gpu->cc_minor, m->gpu_driver ? m->gpu_driver : "?");
        add(f, "GPU", "ok", detail, "");
    }
    if (!m->gpus->len)
        add(f, "GPU", "missing", m->gpu_note ? m->gpu_note : "none", "GPU trials are skipped here");
}

static void look_at_git(struct orch_cli *cli, struct findings *f)
{
    if (!cli->workspace->vcs) {
        add(f, "git", "missing", "in no git repository",
            "git init: runs are then keyed by their tree");
        return;
    }
    GError *problem = NULL;
    int64_t begin = orch_mono_ns();
    const struct orch_source *source = orch_workspace_source(cli->workspace, &problem);
    if (!source) {
        g_autofree char *line = first_line(problem);
        add(f, "git", "problem", line, "");
        g_clear_error(&problem);
        return;
    }
    g_autofree char *text = g_strdup_printf(
        "%s, tree %.12s%s, captured in %.0f ms by %s", cli->workspace->root, source->tree,
        source->dirty ? " (uncommitted changes)" : "", (double)(orch_mono_ns() - begin) / 1e6,
        orch_vcs_backend(cli->workspace->vcs));
    add(f, "git", "ok", text, "");
    const GPtrArray *filters = orch_vcs_filters_not_run(cli->workspace->vcs);
    for (guint i = 0; filters && i < filters->len && i < 5; i++) {
        g_autofree char *detail = g_strdup_printf(
            "filter '%s' of the repository's own settings is not run", (char *)filters->pdata[i]);
        add(f, "git", "missing", detail, "define it with 'git config --global'");
    }
    const GPtrArray *programs = orch_vcs_programs_not_run(cli->workspace->root);
    for (guint i = 0; i < programs->len && i < 5; i++) {
        g_autofree char *detail = g_strdup_printf(
            "'%s' of the repository's own settings is not followed", (char *)programs->pdata[i]);
        add(f, "git", "missing", detail, "set it with 'git config --global'");
    }
    for (guint i = 0; i < source->left_out->len && i < 5; i++) {
        const struct orch_left_out *file = source->left_out->pdata[i];
        g_autofree char *detail = g_strdup_printf("%s is not captured: %s", file->path, file->why);
        add(f, "git", "missing", detail, "");
    }
}

static void look_at_shards(struct orch_store *store, struct findings *f)
{
    g_autoptr(GPtrArray) shards = orch_store_shards(store);
    for (guint i = 0; i < shards->len; i++) {
        const struct orch_shard *s = shards->pdata[i];
        g_autofree char *bytes = orch_bytes_format(s->file_bytes);
        g_autofree char *ago = orch_cli_ago(s->changed_ns);
        g_autofree char *detail = g_strdup_printf(
            "%s%s: %" G_GINT64_FORMAT " runs, %s, changed %s", *s->host ? s->host : "from before",
            s->is_own ? " (this host)" : "", s->runs, bytes, ago);
        add(f, "store: shard", s->problem ? "problem" : "ok", s->problem ? s->problem : detail,
            s->problem ? "open the store on that host; else 'orch db repair'" : "");
    }
    const GPtrArray *warnings = orch_store_warnings(store);
    for (guint i = 0; i < warnings->len; i++)
        add(f, "store: shard", "missing", warnings->pdata[i], "it is looked at again next time");
}

/* Reports journals whose writer died. The next writer on the same host replays them. */
static void look_at_journals(struct orch_cli *cli, struct findings *f)
{
    g_autoptr(GPtrArray) stale = orch_store_stale_journals(cli->workspace->db_path);
    for (guint i = 0; i < stale->len; i++)
        add(f, "store: journal", "missing", stale->pdata[i],
            "its writer died; any writing command on its host plays it back. Never remove it");
}

/* Tests whether the file system has what a store needs. */
static void look_at_filesystem(struct orch_cli *cli, struct findings *f)
{
    g_autofree char *folder = orch_store_folder_of(cli->workspace->db_path);
    g_autoptr(GPtrArray) probes = orch_probe_folder(folder);
    orch_probe_look(folder, probes);
    for (guint i = 0; i < probes->len; i++) {
        const struct orch_probe *p = probes->pdata[i];
        g_autofree char *what = g_strdup_printf("probe: %s", p->what);
        add(f, what, p->works ? "ok" : "problem", p->detail, p->follows);
    }
}

static void look_at_store(struct orch_cli *cli, struct findings *f)
{
    GError *problem = NULL;
    g_autofree char *layout = orch_store_layout(cli->workspace->db_path);
    add(f, "store: layout", "ok", layout, "");
    if (!orch_workspace_has_store(cli->workspace)) {
        add(f, "store", "missing", cli->workspace->db_path, "made by the first 'orch run'");
        return;
    }
    struct orch_store *store = orch_workspace_store(cli->workspace, ORCH_STORE_READ, &problem);
    struct orch_store_info info = {0};
    if (!store || !orch_store_info(store, &info, &problem)) {
        g_autofree char *line = first_line(problem);
        add(f, "store", "problem", line, "");
        g_clear_error(&problem);
        return;
    }
    g_autofree char *text = g_strdup_printf("%s: schema %d, %" G_GINT64_FORMAT " runs, %s on %s",
                                            orch_store_path(store), info.schema, info.runs,
                                            info.journal_mode ? info.journal_mode : "?",
                                            info.filesystem ? info.filesystem : "?");
    add(f, "store", "ok", text, "");
    if (!orch_store_is_shared(store) && access(orch_store_path(store), W_OK) != 0)
        add(f, "store", "problem", "the file cannot be written", "chmod, or --db elsewhere");
    look_at_shards(store, f);
    look_at_journals(cli, f);
    g_autoptr(GPtrArray) actives = orch_store_actives(store, NULL);
    unsigned dead = 0;
    for (guint i = 0; actives && i < actives->len; i++)
        dead += !orch_process_is_alive(&((struct orch_active_row *)actives->pdata[i])->runner);
    if (dead) {
        g_autofree char *detail = g_strdup_printf("%u trials of runs that were killed", dead);
        add(f, "store", "missing", detail, "the next 'orch run' closes them");
    }
    orch_store_info_clear(&info);
}

static void look_at_disk(struct orch_cli *cli, struct findings *f)
{
    struct statvfs disk;
    g_autofree char *folder = orch_store_folder_of(cli->workspace->db_path);
    if (statvfs(folder, &disk) != 0 && statvfs(cli->workspace->root, &disk) != 0)
        return;
    if (disk.f_files && !disk.f_favail)
        add(f, "disk", "problem", "no more files can be made (inodes)", "remove some files");
    int64_t free_bytes = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
    g_autofree char *text = orch_bytes_format(free_bytes);
    g_autofree char *detail = g_strdup_printf("%s free", text);
    add(f, "disk", free_bytes < (1 << 28) ? "problem" : "ok", detail,
        free_bytes < (1 << 28) ? "free some space; 'orch gc' may help" : "");
}

static void look_at_parts(struct findings *f)
{
    static const struct {
        const char *part, *what;
    } parts[] = {{"orch-host", "host program"}, {"plugins", "plugins"}, {"share", "data files"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        g_autofree char *path = orch_program_path(parts[i].part, NULL);
        add(f, parts[i].what, path ? "ok" : "problem", path ? path : "not found",
            path ? "" : "./build.sh build");
    }
    g_autofree char *plugins = orch_program_path("plugins", NULL);
    g_autofree char *torch =
        plugins ? g_build_filename(plugins, "common", "orch-torch.so", NULL) : NULL;
    bool there = torch && access(torch, F_OK) == 0;
    add(f, "LibTorch adapter", there ? "ok" : "missing", there ? torch : "training is left out",
        there ? "" : "./build.sh torch");
    static const char *const programs[] = {"git", "python3", "mpirun", "nvcc", "sbatch"};
    for (unsigned i = 0; i < G_N_ELEMENTS(programs); i++) {
        g_autofree char *path = g_find_program_in_path(programs[i]);
        add(f, programs[i], path ? "ok" : "missing", path ? path : "not on the PATH", "");
    }
}

static void look_at_plugins(struct orch_cli *cli, struct findings *f)
{
    g_autofree char *here = g_get_current_dir();
    g_autoptr(GPtrArray) entries = orch_plugins_list(orch_cli_plugins(cli), here);
    unsigned good = 0;
    for (guint i = 0; i < entries->len; i++) {
        const struct orch_plugin_entry *entry = entries->pdata[i];
        good += entry->manifest != NULL;
        g_autofree char *hint = g_strdup_printf("orch plugin trust %s", entry->path);
        g_autofree char *untrusted = g_strdup_printf("%s is not trusted: not loaded", entry->path);
        if (entry->is_untrusted)
            add(f, "plugin", "missing", untrusted, hint);
        else if (entry->problem)
            add(f, "plugin", "problem", entry->problem, "");
        if (entry->shadowed_by)
            add(f, "plugin", "missing", entry->path, "hidden by another of its name");
    }
    g_autofree char *detail = g_strdup_printf("%u can be named in recipes", good);
    add(f, "plugins", "ok", detail, "'orch plugin ls' lists them");
}

/* ---- --bench -----------------------------------------------------------------------------------
 */

struct measured {
    double one_core, all_cores, memory; /* operations and bytes per second */
    struct orch_disk_rates disk;
    const char *library;
};

/* Formats the device file that 'orch predict --gpu here' reads. */
static char *device_text(const struct orch_machine *m, const struct measured *v)
{
    g_autofree char *when = orch_time_format(orch_now_ns(), false);
    return g_strdup_printf("# written by 'orch doctor --bench'\n"
                           "gpus:\n"
                           "  - name: \"%s\"\n"
                           "    arch: \"%s\"\n"
                           "    fp32_tflops: %.6f\n"
                           "    bandwidth_gbs: %.3f\n"
                           "    memory_gb: %.3f\n"
                           "    note: \"%s UTC: %d threads, %s; one core %.4f TFLOP/s; disk %.0f "
                           "MB/s written, %.0f read\"\n",
                           m->hostname, m->cpu_model, v->all_cores / 1e12, v->memory / 1e9,
                           (double)m->memory_bytes / 1e9, when, m->threads, v->library,
                           v->one_core / 1e12, v->disk.write / 1e6, v->disk.read / 1e6);
}

static bool keep_device(const struct orch_machine *m, const struct measured *v, GError **error)
{
    g_autofree char *path = orch_hardware_here_file();
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *text = device_text(m, v);
    if (g_mkdir_with_parents(folder, 0755) != 0) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot make the folder '%s'", folder);
        return false;
    }
    return g_file_set_contents(path, text, -1, error);
}

static bool bench(struct orch_cli *cli, struct findings *f, GError **error)
{
    const struct orch_machine *m = orch_workspace_machine(cli->workspace);
    struct measured v = {0};
    orch_cli_say(cli,
                 "measuring: matrix products, memory, disk (a few seconds; let nothing else run)");
    v.one_core = orch_measure_gemm(1, 1, &v.library);
    for (int i = 0; i < 2; i++) /* best of two, and at least the rate of one core */
        v.all_cores = MAX(v.all_cores, orch_measure_gemm(m->threads, 1, &v.library));
    v.all_cores = MAX(v.all_cores, v.one_core);
    v.memory = orch_measure_memory(m->threads, 1);
    if (!(v.one_core > 0) || !(v.all_cores > 0)) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "matrix products could not be measured");
        return false;
    }
    if (!orch_measure_disk(cli->workspace->root, &v.disk, error) || !keep_device(m, &v, error))
        return false;
    g_autofree char *gemm =
        g_strdup_printf("%.4g GFLOP/s on one core, %.4g on %d threads (%s, fp32)", v.one_core / 1e9,
                        v.all_cores / 1e9, m->threads, v.library);
    g_autofree char *memory = g_strdup_printf("%.4g GB/s (copy)", v.memory / 1e9);
    g_autofree char *disk =
        g_strdup_printf("%.4g MB/s written, %.4g MB/s read", v.disk.write / 1e6, v.disk.read / 1e6);
    add(f, "bench: products", "ok", gemm, "'orch predict --gpu here'");
    add(f, "bench: memory", "ok", memory, "");
    add(f, "bench: disk", "ok", disk, "");
    for (guint i = 0; i < m->gpus->len; i++) {
        const struct orch_gpu_device *gpu = m->gpus->pdata[i];
        const struct orch_gpu_spec *spec = orch_gpu_find(gpu->model);
        g_autofree char *detail =
            g_strdup_printf("%s: %s", gpu->model, spec ? spec->name : "not in the table of GPUs");
        add(f, "bench: GPU", spec ? "ok" : "missing", detail,
            spec ? "'orch predict --gpu' goes by its specification" : "put it into hardware.yaml");
    }
    return true;
}

struct doctor_options {
    bool bench;
    const char *hold;
};

static const struct orch_option OPTIONS[] = {
    {"bench", 0, NULL, ORCH_OPT_FLAG, offsetof(struct doctor_options, bench),
     "also benchmark this machine, and keep the result as device 'here' for forecasts"},
    {"hold", 0, "SECONDS", ORCH_OPT_TEXT, offsetof(struct doctor_options, hold),
     "hold a lock in the store's folder, for 'orch doctor' on another host to test"},
    {0}};

static int hold(struct orch_cli *cli, const char *text, GError **error)
{
    int64_t seconds = 0;
    g_autofree char *folder = orch_store_folder_of(cli->workspace->db_path);
    if (!orch_cli_count(text, "--hold", 86400, &seconds, error))
        return -1;
    orch_cli_say(cli, "holding a lock in '%s' for %d s: run 'orch doctor' on another host now",
                 folder, (int)seconds);
    return orch_probe_hold(folder, (unsigned)seconds, error) ? ORCH_EXIT_OK : -1;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct doctor_options *o = options;
    if (!orch_cli_workspace(cli, NULL, error))
        return -1;
    if (o->hold)
        return hold(cli, o->hold, error);
    static const char *const headers[] = {"what", "state", "found", "cure", NULL};
    struct findings f = {.table = orch_table_new(headers)};
    look_at_machine(cli, &f);
    look_at_git(cli, &f);
    look_at_store(cli, &f);
    look_at_filesystem(cli, &f);
    look_at_disk(cli, &f);
    look_at_parts(&f);
    look_at_plugins(cli, &f);
    if (o->bench && !bench(cli, &f, error)) {
        json_decref(orch_table_to_json(f.table));
        return -1;
    }
    orch_table_print(cli, f.table, "findings");
    if (!cli->json)
        orch_cli_say(cli, f.problems ? "%u problem(s)" : "no problems", f.problems);
    return f.problems ? ORCH_EXIT_CHECK : ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_DOCTOR = {
    .name = "doctor",
    .group = "Maintenance",
    .summary = "check what this machine has and how to install what is missing",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct doctor_options),
    .about =
        "Two processes test in the store's folder what a store needs of its file system (locks, "
        "exclusive create, link, rename, fsync, clock). To test between hosts, run 'orch doctor "
        "--hold 60' on one, 'orch doctor' on the other within that time.\n\n"
        "Exits with 7 when something needs a fix; missing optional parts (GPU, LibTorch) do not "
        "count.",
    .run = run,
};
