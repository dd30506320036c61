/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder of hand-ins. Each pack is verified by a process of its own ('orch verify FILE --json
 * --facts'), so that one that is damaged or slow takes no other along, and all processors work. */
#include "core/cli/verify_show.h"

#include "core/pack/class.h"
#include "core/pack/unpack.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/data/unzip.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HANDINS_MAX = 2000, JOBS_MAX = 64, SHOWN_MAX = 200, DIFFERENCES_MAX = 5 };
#define OUTCOME_BYTES_MAX ((size_t)256 << 20)
#define SECONDS_MAX 300.0 /* of one pack */

/* ---- the packs of a folder ---------------------------------------------------------------------
 */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A ZIP of a hand-in, whose pack does not lie beside it as well. */
static bool is_lone_zip(const char *path)
{
    if (!g_str_has_suffix(path, ".zip") || !orch_zip_is(path))
        return false;
    g_autofree char *stem = g_strndup(path, strlen(path) - strlen(".zip"));
    g_autofree char *pack = g_strconcat(stem, ".orch", NULL);
    return !g_file_test(pack, G_FILE_TEST_EXISTS);
}

static void add_packs(GPtrArray *paths, const char *folder, int depth)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)) && paths->len < HANDINS_MAX) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (name[0] == '.' || g_file_test(path, G_FILE_TEST_IS_SYMLINK))
            continue;
        if (depth && g_file_test(path, G_FILE_TEST_IS_DIR))
            add_packs(paths, path, depth - 1);
        else if (orch_bundle_is(path) || is_lone_zip(path))
            g_ptr_array_add(paths, g_steal_pointer(&path));
    }
}

/* Hand-ins by name; a folder a student is fine. */
static GPtrArray *find_handins(const char *folder, GError **error)
{
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    add_packs(paths, folder, 2);
    g_ptr_array_sort(paths, compare_texts);
    if (!paths->len) {
        orch_error_set(error, ORCH_ERROR_IO, "'orch pack RECIPE FILE' makes one",
                       "there is no pack in '%s'", folder);
        return NULL;
    }
    GPtrArray *handins = g_ptr_array_new_with_free_func((GDestroyNotify)orch_handin_free);
    for (guint i = 0; i < paths->len; i++)
        g_ptr_array_add(handins, orch_handin_new(paths->pdata[i]));
    return handins;
}

/* ---- one process a pack ------------------------------------------------------------------------
 */

struct child {
    struct orch_handin *handin; /* NULL: the place is free */
    pid_t pid;
    char *out, *err; /* files */
    int64_t started_ns;
};

static GPtrArray *command_of(struct orch_cli *cli, const char *path, bool is_full)
{
    GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(argv, g_strdup("orch"));
    g_ptr_array_add(argv, g_strdup("verify"));
    g_ptr_array_add(argv, g_strdup("--json"));
    g_ptr_array_add(argv, g_strdup("--facts"));
    if (!is_full)
        g_ptr_array_add(argv, g_strdup("--quick"));
    for (int i = 0; cli->plugin_paths && cli->plugin_paths[i]; i++) {
        g_ptr_array_add(argv, g_strdup("--plugin-path"));
        g_ptr_array_add(argv, g_strdup(cli->plugin_paths[i]));
    }
    g_ptr_array_add(argv, g_strdup("--"));
    g_ptr_array_add(argv, orch_path_absolute(path, NULL));
    g_ptr_array_add(argv, NULL);
    return argv;
}

static int open_out(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static bool start(struct orch_cli *cli, struct child *child, const char *scratch, guint index,
                  bool is_full)
{
    child->out = g_strdup_printf("%s/%u.out", scratch, index);
    child->err = g_strdup_printf("%s/%u.err", scratch, index);
    child->started_ns = orch_mono_ns();
    g_autoptr(GPtrArray) argv = command_of(cli, child->handin->file, is_full);
    int out = open_out(child->out), err = open_out(child->err);
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    child->pid = out < 0 || err < 0 || in < 0 ? -1 : fork();
    if (child->pid == 0) {
        if (dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2)
            execv("/proc/self/exe", (char *const *)(void *)argv->pdata);
        _exit(127);
    }
    close(in);
    close(out);
    close(err);
    return child->pid > 0;
}

static void read_outcome(struct child *child, int status)
{
    struct orch_handin *handin = child->handin;
    char *text = NULL;
    size_t length = 0;
    if (orch_file_read(child->out, OUTCOME_BYTES_MAX, &text, &length, NULL) && length)
        handin->outcome = orch_json_parse(text, length, OUTCOME_BYTES_MAX, NULL);
    g_free(text);
    text = NULL;
    if (!handin->outcome && orch_file_read(child->err, 65536, &text, &length, NULL) && length)
        handin->why = g_strdup(g_str_has_prefix(text, "orch: ") ? text + 6 : text);
    g_free(text);
    if (handin->why)
        handin->why[strcspn(handin->why, "\n")] = 0;
    else if (!handin->outcome)
        handin->why = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                          ? g_strdup("not verified within 5 minutes, or killed")
                          : g_strdup_printf("verifying ended with status %d", status);
}

static void finish(struct child *child, int status)
{
    read_outcome(child, status);
    unlink(child->out);
    unlink(child->err);
    g_clear_pointer(&child->out, g_free);
    g_clear_pointer(&child->err, g_free);
    child->handin = NULL;
}

/* Looks whether a child has ended; kills it when it takes too long. */
static bool look_at(struct child *child)
{
    int status = 0;
    if (child->pid > 0 && waitpid(child->pid, &status, WNOHANG) == 0) {
        if ((double)(orch_mono_ns() - child->started_ns) / 1e9 > SECONDS_MAX)
            kill(child->pid, SIGKILL);
        return false;
    }
    finish(child, status);
    return true;
}

static void verify_all(struct orch_cli *cli, GPtrArray *handins, const char *scratch, bool is_full,
                       int jobs)
{
    struct child children[JOBS_MAX] = {{0}};
    guint next = 0, left = handins->len;
    while (left) {
        bool any = false;
        for (int i = 0; i < jobs; i++) {
            if (!children[i].handin && next < handins->len) {
                children[i].handin = handins->pdata[next];
                start(cli, &children[i], scratch, next++, is_full);
                any = true;
            } else if (children[i].handin && look_at(&children[i])) {
                left--;
                any = true;
            }
        }
        if (!any)
            g_usleep(2000);
    }
}

/* ---- what was found ----------------------------------------------------------------------------
 */

static bool is_good(const struct orch_handin *handin)
{
    return handin->outcome && json_is_true(json_object_get(handin->outcome, "good")) &&
           !handin->undeclared && !handin->copies;
}

static const char *outcome_of(const struct orch_handin *handin)
{
    if (!handin->outcome)
        return "no pack";
    if (orch_json_int(handin->outcome, "differs", 0))
        return "differs";
    if (!json_is_true(json_object_get(handin->outcome, "good")))
        return "problems";
    if (handin->copies || handin->undeclared)
        return handin->copies ? "copied" : "undeclared";
    return orch_json_int(handin->outcome, "not_checked", 0) ? "partly checked" : "confirmed";
}

/* A column of numbers or words; those that say nothing of any hand-in are for JSON alone. */
enum column {
    RECIPE,
    CONFIRMED,
    DIFFERS,
    NOT_CHECKED,
    SHARED,
    UNDECLARED,
    COPIED,
    SIGNATURE,
    COLUMNS
};
static const char *const COLUMN_NAMES[] = {"recipe",  ">confirmed",  ">differs", ">not checked",
                                           ">shared", ">undeclared", ">copied",  "signature"};

static int64_t number_of(const struct orch_handin *handin, enum column column)
{
    switch (column) {
    case CONFIRMED:
        return orch_json_int(handin->outcome, "confirmed", 0);
    case DIFFERS:
        return orch_json_int(handin->outcome, "differs", 0);
    case NOT_CHECKED:
        return orch_json_int(handin->outcome, "not_checked", 0);
    case SHARED:
        return handin->shared;
    case UNDECLARED:
        return handin->undeclared;
    default:
        return handin->copies;
    }
}

static const char *word_of(const struct orch_handin *handin, enum column column)
{
    return column == RECIPE ? orch_json_text(handin->outcome, "recipe", "-")
                            : orch_json_text(handin->outcome, "signature", "none");
}

static bool is_word(enum column column)
{
    return column == RECIPE || column == SIGNATURE;
}

/* Is it worth its place on a page: a number somewhere, words that are not all the same? */
static bool tells(const GPtrArray *handins, enum column column)
{
    bool any = column == CONFIRMED;
    for (guint i = 0; i < handins->len; i++)
        any = any || (is_word(column) ? strcmp(word_of(handins->pdata[i], column),
                                               word_of(handins->pdata[0], column)) != 0
                                      : number_of(handins->pdata[i], column) != 0);
    return any;
}

static struct orch_table *table_of(const GPtrArray *handins, const char *folder, bool has_all)
{
    const char *headers[COLUMNS + 4] = {"hand-in", "who", "outcome"};
    enum column columns[COLUMNS];
    int count = 0;
    for (int i = 0; i < COLUMNS; i++)
        if (has_all || tells(handins, (enum column)i)) {
            headers[3 + count] = COLUMN_NAMES[i];
            columns[count++] = (enum column)i;
        }
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < handins->len; i++) {
        const struct orch_handin *handin = handins->pdata[i];
        const char *name = handin->file + strlen(folder);
        orch_table_add(table, name + strspn(name, "/"), NULL);
        orch_table_add_who(table, orch_json_text(handin->outcome, "who", NULL));
        orch_table_add(table, outcome_of(handin), NULL);
        for (int j = 0; j < count; j++) {
            if (is_word(columns[j]))
                orch_table_add(table, word_of(handin, columns[j]), NULL);
            else
                orch_table_add_int(table, number_of(handin, columns[j]));
        }
    }
    return table;
}

/* "6 hand-ins: 5 confirmed, 1 differs; no signatures" */
static void print_sum(const GPtrArray *handins)
{
    static const char *const words[] = {"confirmed",  "partly checked", "differs", "copied",
                                        "undeclared", "problems",       "no pack"};
    printf("%u hand-in%s:", handins->len, handins->len == 1 ? "" : "s");
    const char *between = " ";
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        unsigned count = 0;
        for (guint j = 0; j < handins->len; j++)
            count += strcmp(outcome_of(handins->pdata[j]), words[i]) == 0;
        if (count)
            printf("%s%u %s", between, count, words[i]);
        between = count ? ", " : between;
    }
    const char *signature = word_of(handins->pdata[0], SIGNATURE);
    if (!tells(handins, SIGNATURE))
        printf("; signatures: %s", signature);
    putchar('\n');
}

/* The first numbers that are not what the rows give. */
static void print_numbers(const struct orch_handin *handin)
{
    const json_t *items = json_object_get(handin->outcome, "items");
    int shown = 0;
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        const json_t *list = json_object_get(item, "differences");
        for (size_t j = 0; j < json_array_size(list) && shown < DIFFERENCES_MAX; j++, shown++) {
            const json_t *d = json_array_get(list, j);
            orch_cli_print_line("%s: %s %s: %s: says %s, its rows give %s", handin->file,
                                orch_json_text(item, "question", ""),
                                orch_json_text(item, "title", ""), orch_json_text(d, "place", ""),
                                orch_json_text(d, "said", ""), orch_json_text(d, "found", ""));
        }
    }
    int more = (int)orch_json_int(handin->outcome, "differs", 0) - shown;
    if (more > 0)
        orch_cli_print_line("%s: %d more differ ('orch verify %s' lists them)", handin->file, more,
                            handin->file);
}

static void print_handin(const struct orch_handin *handin)
{
    if (handin->why)
        orch_cli_print_line("%s: %s", handin->file, handin->why);
    const json_t *problems = json_object_get(handin->outcome, "problems");
    for (size_t i = 0; i < json_array_size(problems) && i < 5; i++)
        orch_cli_print_line("%s: %s", handin->file, json_string_value(json_array_get(problems, i)));
    print_numbers(handin);
}

static void print_common(const GPtrArray *found)
{
    for (guint i = 0; i < found->len && i < SHOWN_MAX; i++) {
        const struct orch_in_common *c = found->pdata[i];
        if (!*c->run) {
            orch_cli_print_line("%s: %s and %s: %s", c->kind, c->file, c->other, c->what);
            continue;
        }
        orch_cli_print_line("%s: %s: %s %s%s%s%s%s: %s", c->kind, c->file, c->experiment,
                            orch_cli_short_key(c->run), c->other ? " and " : "",
                            c->other ? c->other : "", c->other ? " " : "",
                            c->other ? orch_cli_short_key(c->other_run) : "", c->what);
    }
    if (found->len > SHOWN_MAX)
        orch_cli_print_line("and %u more (--json has all)", found->len - SHOWN_MAX);
}

static json_t *common_json(const GPtrArray *found)
{
    json_t *out = json_array();
    for (guint i = 0; i < found->len; i++) {
        const struct orch_in_common *c = found->pdata[i];
        json_array_append_new(out, json_pack("{s:s, s:s, s:s?, s:s, s:s, s:s?, s:s}", "kind",
                                             c->kind, "file", c->file, "other", c->other,
                                             "experiment", c->experiment, "run", c->run,
                                             "other_run", c->other_run, "what", c->what));
    }
    return out;
}

static void give(struct orch_cli *cli, const GPtrArray *handins, const GPtrArray *found,
                 const char *folder)
{
    struct orch_table *table = table_of(handins, folder, cli->json);
    if (cli->json) {
        json_t *outcomes = json_array();
        for (guint i = 0; i < handins->len; i++) {
            const struct orch_handin *handin = handins->pdata[i];
            json_t *outcome = handin->outcome ? json_incref(handin->outcome) : json_null();
            json_object_del(outcome, "facts");
            json_array_append_new(outcomes, json_pack("{s:s, s:o, s:s?}", "file", handin->file,
                                                      "outcome", outcome, "why", handin->why));
        }
        orch_cli_print_json(json_pack("{s:o, s:o, s:o}", "handins", orch_table_to_json(table),
                                      "outcomes", outcomes, "in_common", common_json(found)));
        return;
    }
    orch_table_print(cli, table, "handins");
    for (guint i = 0; i < handins->len; i++)
        print_handin(handins->pdata[i]);
    print_common(found);
    print_sum(handins);
}

int orch_cli_verify_class(struct orch_cli *cli, const char *folder, bool is_full, int jobs,
                          GError **error)
{
    g_autofree char *scratch = g_build_filename(g_get_tmp_dir(), "orch-class-XXXXXX", NULL);
    g_autoptr(GPtrArray) handins = find_handins(folder, error);
    if (!handins)
        return -1;
    if (!g_mkdtemp(scratch)) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make a folder in '%s'",
                             g_get_tmp_dir());
        return -1;
    }
    int processors = jobs > 0 ? jobs : (int)g_get_num_processors();
    verify_all(cli, handins, scratch, is_full, CLAMP(processors, 1, JOBS_MAX));
    orch_tree_remove(scratch, NULL);
    g_autoptr(GPtrArray) found = orch_class_compare(handins);
    bool good = true;
    for (guint i = 0; i < handins->len; i++)
        good = good && is_good(handins->pdata[i]);
    give(cli, handins, found, folder);
    fflush(stdout);
    return good ? ORCH_EXIT_OK : ORCH_EXIT_CHECK;
}
