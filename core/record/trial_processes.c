/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/record/trial_processes.h"

#include "lib/base/ident.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS_BYTES_MAX = 1 << 18 };

static const char KEY_VARIABLE[] = "ORCH_RUN=";

/* ---- reading /proc ----------------------------------------------------------------------------
 */

/* Reads /proc/PID/NAME (NUL-separated words); returns its length, 0 when it cannot be read. */
static size_t read_words(const char *pid, const char *name, char *out, size_t size)
{
    g_autofree char *path = g_strdup_printf("/proc/%s/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t length = 0;
    ssize_t n;
    while (length + 1 < size && (n = read(fd, out + length, size - 1 - length)) > 0)
        length += (size_t)n;
    close(fd);
    out[length] = 0;
    return length;
}

/* Calls `visit` for each process but this one. */
static void each_process(void (*visit)(void *ctx, const char *pid), void *ctx)
{
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; proc && (entry = readdir(proc));)
        if (g_ascii_isdigit(entry->d_name[0]) &&
            (pid_t)g_ascii_strtoll(entry->d_name, NULL, 10) != getpid())
            visit(ctx, entry->d_name);
    if (proc)
        closedir(proc);
}

static bool has_word(const char *words, size_t length, const char *word)
{
    for (size_t at = 0; at < length; at += strlen(words + at) + 1)
        if (strcmp(words + at, word) == 0)
            return true;
    return false;
}

/* ---- one trial --------------------------------------------------------------------------------
 */

struct word_search {
    const char *name, *word; /* the file of /proc, and a word in it */
    bool (*found)(pid_t pid);
    char *buffer;
    unsigned count;
};

static void look_for_word(void *ctx, const char *pid)
{
    struct word_search *search = ctx;
    size_t length = read_words(pid, search->name, search->buffer, WORDS_BYTES_MAX);
    if (length && has_word(search->buffer, length, search->word) &&
        search->found((pid_t)g_ascii_strtoll(pid, NULL, 10)))
        search->count++;
}

/* Calls `found` for each process whose /proc file `name` contains the word. */
static unsigned each_process_with(const char *name, const char *word, bool (*found)(pid_t pid))
{
    struct word_search search = {name, word, found, g_malloc(WORDS_BYTES_MAX), 0};
    each_process(look_for_word, &search);
    g_free(search.buffer);
    return search.count;
}

static bool kill_it(pid_t pid)
{
    return kill(pid, SIGKILL) == 0;
}

static bool is_there(pid_t pid)
{
    struct orch_process process;
    return orch_process_get(pid, &process) && orch_process_is_alive(&process);
}

/* A stopped host does not notice that its runner is gone, so it is continued. */
static bool is_alive(pid_t pid)
{
    if (orch_process_is_stopped(pid))
        kill(pid, SIGCONT);
    return is_there(pid);
}

unsigned orch_kill_leftovers(const char *key)
{
    g_autofree char *word = g_strconcat(KEY_VARIABLE, key, NULL);
    return each_process_with("environ", word, kill_it);
}

/* The host is found by its command line, which works even before it writes its first line. */
bool orch_trial_host_is_alive(const char *trial_dir)
{
    return each_process_with("cmdline", trial_dir, is_alive) > 0;
}

void orch_trial_end_orphans(const char *key, const char *trial_dir)
{
    if (!orch_trial_host_is_alive(trial_dir))
        orch_kill_leftovers(key);
}

/* ---- many trials ------------------------------------------------------------------------------
 */

struct trial_search {
    GHashTable *by_word; /* "UID WORD", where WORD is a folder or a key -> the trial */
    GHashTable *uids;
    char *buffer;
};

static char *word_of(uid_t uid, const char *word)
{
    return g_strdup_printf("%u %s", (unsigned)uid, word);
}

static void mark_found(const struct trial_search *search, uid_t uid, const char *word)
{
    g_autofree char *name = word_of(uid, word);
    struct orch_wanted_trial *trial = g_hash_table_lookup(search->by_word, name);
    if (trial)
        trial->is_found = true;
}

static void look_for_trials(void *ctx, const char *pid)
{
    const struct trial_search *search = ctx;
    const pid_t number = (pid_t)g_ascii_strtoll(pid, NULL, 10);
    uid_t uid;
    if (!orch_process_owner(number, &uid) ||
        !g_hash_table_contains(search->uids, GUINT_TO_POINTER(uid)) || !is_there(number))
        return;
    size_t length = read_words(pid, "cmdline", search->buffer, WORDS_BYTES_MAX);
    for (size_t at = 0; at < length; at += strlen(search->buffer + at) + 1)
        if (search->buffer[at] == '/')
            mark_found(search, uid, search->buffer + at);
    length = read_words(pid, "environ", search->buffer, WORDS_BYTES_MAX);
    for (size_t at = 0; at < length; at += strlen(search->buffer + at) + 1)
        if (g_str_has_prefix(search->buffer + at, KEY_VARIABLE))
            mark_found(search, uid, search->buffer + at + strlen(KEY_VARIABLE));
}

void orch_trials_look_for(GPtrArray *trials)
{
    struct trial_search search = {.by_word =
                                      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                                  .uids = g_hash_table_new(NULL, NULL),
                                  .buffer = g_malloc(WORDS_BYTES_MAX)};
    for (guint i = 0; i < trials->len; i++) {
        struct orch_wanted_trial *trial = trials->pdata[i];
        g_hash_table_add(search.uids, GUINT_TO_POINTER(trial->uid));
        g_hash_table_insert(search.by_word, word_of(trial->uid, trial->key), trial);
        g_hash_table_insert(search.by_word, word_of(trial->uid, trial->trial_dir), trial);
    }
    if (trials->len)
        each_process(look_for_trials, &search);
    g_hash_table_unref(search.by_word);
    g_hash_table_unref(search.uids);
    g_free(search.buffer);
}
