/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges files by their names alone: reading them would take as long as the folder is large, and
 * the user sees the proposal before anything runs. */
#include "core/cli/scripts_here.h"

#include "core/cli/cli.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *ending, *program;
} RUNNERS[] = {
    {".py", "python3"}, {".sh", "bash"}, {".R", "Rscript"}, {".jl", "julia"},
    {".lua", "lua"},    {".rb", "ruby"}, {".pl", "perl"},   {".js", "node"},
};

/* Words of names, with the points that they add. A name without any of them has PLAIN. */
enum { PLAIN = 30, PROGRAM_CHECKS = 64, RECIPE_CHECKS = 200 };
static const struct {
    const char *word;
    int points;
} WORDS[] = {
    {"train", 100},      {"training", 95},   {"finetune", 90},   {"pretrain", 90},
    {"fit", 80},         {"main", 70},       {"run", 60},        {"experiment", 60},
    {"sweep", 55},       {"bench", 50},      {"benchmark", 50},  {"simulate", 50},
    {"measure", 50},     {"eval", 20},       {"evaluate", 20},   {"test", -200},
    {"tests", -200},     {"conftest", -200}, {"setup", -200},    {"install", -200},
    {"configure", -200}, {"build", -200},    {"deploy", -200},   {"orch", -200},
    {"manage", -200},    {"gradlew", -200},  {"mvnw", -200},     {"noxfile", -200},
    {"utils", -100},     {"util", -100},     {"helpers", -100},  {"helper", -100},
    {"common", -100},    {"config", -100},   {"settings", -100}, {"version", -100},
    {"model", -60},      {"models", -60},    {"net", -60},       {"data", -60},
    {"dataset", -60},    {"datasets", -60},  {"loader", -60},    {"losses", -60},
    {"plot", -40},       {"plots", -40},
};

static int word_points(const char *word, size_t length)
{
    for (size_t i = 0; i < G_N_ELEMENTS(WORDS); i++)
        if (strlen(WORDS[i].word) == length &&
            g_ascii_strncasecmp(WORDS[i].word, word, length) == 0)
            return WORDS[i].points;
    return 0;
}

/* How much the name of a script looks like that of the one that trains or measures: 100 for
 * "train.py". Negative for tests, settings and modules that others import. */
static int script_rank(const char *name)
{
    if (*name == '_' || *name == '.')
        return -200;
    const char *end = strrchr(name, '.');
    end = end && end > name ? end : name + strlen(name);
    int best = 0, minus = 0, words = 0;
    for (const char *p = name; p < end;) {
        size_t length = 0;
        while (p + length < end && isalpha((unsigned char)p[length]))
            length++;
        int points = word_points(p, length);
        best = MAX(best, points);
        minus += MIN(points, 0);
        words += length > 0;
        p += length ? length : 1;
    }
    return (best ? best : PLAIN) + minus - MAX(words - 1, 0);
}

/* A script of the folder, while they are sorted. */
struct script {
    int rank;
    char *name;
    const char *runner; /* NULL: a program by itself */
};

static void clear_script(gpointer data)
{
    g_free(((struct script *)data)->name);
}

static int compare_scripts(gconstpointer a, gconstpointer b)
{
    const struct script *x = a, *y = b;
    return x->rank != y->rank ? y->rank - x->rank : strcmp(x->name, y->name);
}

/* Whether a name can be shown and typed as it is. 'orch try' reads braces as parameters. */
static bool is_plain_name(const char *name)
{
    if (!g_utf8_validate(name, -1, NULL) || strpbrk(name, "{}\n\t"))
        return false;
    for (const char *p = name; *p; p = g_utf8_next_char(p))
        if (orch_text_is_hidden(g_utf8_get_char(p)))
            return false;
    return true;
}

static bool is_regular(DIR *folder, const struct dirent *entry)
{
    struct stat info;
    if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK)
        return entry->d_type == DT_REG;
    return fstatat(dirfd(folder), entry->d_name, &info, 0) == 0 && S_ISREG(info.st_mode);
}

static const char *runner_of(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(RUNNERS); i++)
        if (g_str_has_suffix(name, RUNNERS[i].ending) && strlen(name) > strlen(RUNNERS[i].ending))
            return RUNNERS[i].program;
    return NULL;
}

/* Adds an entry that is a script, or a program: a file without an ending that may be executed. Few
 * of these are asked for, as each takes a system call. */
static void add_script(GArray *scripts, DIR *folder, const struct dirent *entry, int *checks)
{
    const char *runner = runner_of(entry->d_name);
    const int rank = script_rank(entry->d_name);
    if (rank < 0 || (!runner && (strchr(entry->d_name, '.') || (*checks)++ >= PROGRAM_CHECKS)))
        return;
    if (!is_plain_name(entry->d_name) || !is_regular(folder, entry) ||
        (!runner && faccessat(dirfd(folder), entry->d_name, X_OK, 0) != 0))
        return;
    struct script script = {rank - (runner != RUNNERS[0].program), g_strdup(entry->d_name), runner};
    g_array_append_val(scripts, script);
}

/* The command that starts a script of the folder ("" or "src/"). */
static char *script_command(const char *folder, const struct script *script)
{
    bool needs_dot = !*folder && (!script->runner || *script->name == '-');
    g_autofree char *path = g_strconcat(needs_dot ? "./" : "", folder, script->name, NULL);
    char *word = orch_cli_shell_word(path);
    if (!script->runner)
        return word;
    char *command = g_strconcat(script->runner, " ", word, NULL);
    g_free(word);
    return command;
}

struct dated {
    struct timespec changed;
    char *path;
};

static void clear_dated(gpointer data)
{
    g_free(((struct dated *)data)->path);
}

/* The last changed first; of one time, as after a clone, 'first.recipe', then by name. */
static int compare_dated(gconstpointer a, gconstpointer b)
{
    const struct dated *x = a, *y = b;
    if (x->changed.tv_sec != y->changed.tv_sec)
        return x->changed.tv_sec < y->changed.tv_sec ? 1 : -1;
    int first =
        g_str_has_suffix(y->path, "first.recipe") - g_str_has_suffix(x->path, "first.recipe");
    return first ? first : strcmp(x->path, y->path);
}

static void add_recipe(GArray *recipes, DIR *folder, const char *prefix, const char *name)
{
    struct stat info;
    if (*name == '.' || !g_str_has_suffix(name, ".recipe") || recipes->len >= RECIPE_CHECKS ||
        !is_plain_name(name) || fstatat(dirfd(folder), name, &info, 0) != 0 ||
        !S_ISREG(info.st_mode))
        return;
    struct dated recipe = {info.st_mtim, g_strconcat(prefix, name, NULL)};
    g_array_append_val(recipes, recipe);
}

/* Adds what a folder has to one or both lists (or NULL). Returns 0, or errno. */
static int read_folder(const char *path, GArray *scripts, GArray *recipes)
{
    DIR *folder = opendir(*path ? path : ".");
    if (!folder)
        return errno;
    const struct dirent *entry;
    int checks = 0;
    for (int i = 0; i < ORCH_HERE_ENTRIES && (entry = readdir(folder)); i++) {
        if (scripts)
            add_script(scripts, folder, entry, &checks);
        if (recipes)
            add_recipe(recipes, folder, path, entry->d_name);
    }
    closedir(folder);
    return 0;
}

void orch_here_read(struct orch_here *out)
{
    static const char *const usual[] = {"", "src/", "scripts/"};
    g_autoptr(GArray) scripts = g_array_new(FALSE, FALSE, sizeof(struct script));
    g_autoptr(GArray) recipes = g_array_new(FALSE, FALSE, sizeof(struct dated));
    g_array_set_clear_func(scripts, clear_script);
    g_array_set_clear_func(recipes, clear_dated);
    *out = (struct orch_here){.scripts = g_ptr_array_new_with_free_func(g_free),
                              .recipes = g_ptr_array_new_with_free_func(g_free)};
    out->error = read_folder(usual[0], scripts, recipes);
    size_t at = 0;
    while (!scripts->len && ++at < G_N_ELEMENTS(usual))
        read_folder(usual[at], scripts, NULL);
    read_folder("recipes/", NULL, recipes);
    g_array_sort(scripts, compare_scripts);
    g_array_sort(recipes, compare_dated);
    for (guint i = 0; i < scripts->len; i++)
        g_ptr_array_add(out->scripts,
                        script_command(usual[at], &g_array_index(scripts, struct script, i)));
    for (guint i = 0; i < recipes->len; i++)
        g_ptr_array_add(out->recipes, g_strdup(g_array_index(recipes, struct dated, i).path));
}

void orch_here_clear(struct orch_here *here)
{
    g_ptr_array_unref(here->scripts);
    g_ptr_array_unref(here->recipes);
    *here = (struct orch_here){0};
}
