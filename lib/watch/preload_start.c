/* SPDX-License-Identifier: MIT */
/* The functions that start programs. A program that would not load the library because its
 * environment was cleared or has an LD_PRELOAD of its own gets what it needs; one that cannot load
 * it is noted. So is the shell of system and popen when this process's own environment was cleared:
 * that is not changed. */
#include "lib/watch/preload_start.h"

#include "lib/watch/preload_next.h"
#include "lib/watch/preload_note.h"
#include "lib/watch/preload_path.h"
#include "lib/watch/preload_program.h"
#include "lib/watch/preload_raw.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

extern char **environ;
#pragma weak environ

enum { ENTRIES_MAX = 1000, PRELOAD_BYTES = 6144, WORDS_ON_STACK = 128 };

static const char MEMORY[] = ORCH_WATCH_ENV "=", PRELOAD[] = "LD_PRELOAD=",
                  SANITIZER[] = "ASAN_OPTIONS=", LENIENT[] = "verify_asan_link_order=0";

static char memory_entry[sizeof MEMORY + 64]; /* ORCH_WATCH_FILE=... of this process */

static char library[PRELOAD_BYTES / 2]; /* the path of orch-watch.so; "": unknown */

void orch_watch_start_begin(const char *memory, const char *libraries)
{
    size_t n = orch_watch_copy(memory_entry, sizeof memory_entry, MEMORY);
    orch_watch_copy(memory_entry + n, sizeof memory_entry - n, memory);
    for (const char *at = libraries; at && *at; at += *at != 0) {
        const char *start = at;
        while (*at && *at != ':' && *at != ' ')
            at++;
        n = (size_t)(at - start);
        orch_watch_copy(library, n < sizeof library ? n + 1 : 1, start);
        if (orch_watch_same(orch_watch_base(library), "orch-watch.so"))
            return;
    }
    library[0] = 0;
}

/* ---- environments -----------------------------------------------------------------------------
 */

/* The value of an entry "NAME=..." in `env`; NULL: it has none. */
static const char *value_in(char *const *env, const char *name)
{
    for (char *const *entry = env; entry && *entry; entry++)
        if (orch_watch_begins(*entry, name))
            return *entry + orch_watch_length(name);
    return NULL;
}

static char *const *own_environment(void)
{
    return &environ ? environ : NULL;
}

/* True when one of a list's texts between colons or spaces is this one. */
static bool lists(const char *list, const char *text)
{
    size_t n = orch_watch_length(text);
    while (list && *list) {
        if (orch_watch_begins(list, text) && (!list[n] || list[n] == ':' || list[n] == ' '))
            return true;
        while (*list && *list != ':' && *list != ' ')
            list++;
        list += *list != 0;
    }
    return false;
}

enum environment { IS_WHOLE, LACKS_OURS, IS_OTHERS /* another host watches what is started */ };

static enum environment look_at(char *const *env)
{
    const char *memory = value_in(env, MEMORY);
    if (memory && !orch_watch_same(memory, memory_entry + sizeof MEMORY - 1))
        return IS_OTHERS;
    const char *preload = value_in(env, PRELOAD);
    return memory && lists(preload, library) ? IS_WHOLE : LACKS_OURS;
}

/* An environment with what the library needs. */
struct extended {
    char *entries[ENTRIES_MAX + 4];
    char preload[PRELOAD_BYTES], sanitizer[PRELOAD_BYTES / 4];
};

/* "NAME=OLD:TEXT" or "NAME=TEXT". False: there is no room. */
static bool join(char *out, size_t bytes, const char *name, const char *old, const char *text)
{
    size_t n = orch_watch_copy(out, bytes, name);
    if (old && *old) {
        n += orch_watch_copy(out + n, bytes - n, old);
        n += orch_watch_copy(out + n, bytes - n, ":");
    }
    return n + orch_watch_copy(out + n, bytes - n, text) + 1 < bytes;
}

static bool extend(struct extended *to, char *const *env)
{
    const char *preload = value_in(env, PRELOAD), *options = value_in(env, SANITIZER);
    size_t n = 0;
    if (!join(to->preload, sizeof to->preload, PRELOAD, lists(preload, library) ? NULL : preload,
              lists(preload, library) ? preload : library) ||
        !join(to->sanitizer, sizeof to->sanitizer, SANITIZER, options, LENIENT))
        return false;
    for (char *const *entry = env; entry && *entry; entry++) {
        if (orch_watch_begins(*entry, MEMORY) || orch_watch_begins(*entry, PRELOAD) ||
            orch_watch_begins(*entry, SANITIZER))
            continue;
        if (n == ENTRIES_MAX)
            return false;
        to->entries[n++] = *entry;
    }
    to->entries[n++] = memory_entry;
    to->entries[n++] = to->preload;
    to->entries[n++] = to->sanitizer;
    to->entries[n] = NULL;
    return true;
}

/* ---- starting ---------------------------------------------------------------------------------
 */

enum how { BY_PATH, BY_NAME, BY_FD, BY_PLACE, SPAWN_PATH, SPAWN_NAME };

struct call {
    enum how how;
    int fd;           /* BY_FD, BY_PLACE */
    const char *path; /* but for BY_FD */
    char *const *argv, *const *env;
    int flags; /* BY_PLACE */
    pid_t *pid;
    const posix_spawn_file_actions_t *actions;
    const posix_spawnattr_t *attributes;
};

static int call_next(const struct call *c);

/* Behind a change of root or user neither can be opened. */
static bool is_in_reach(void)
{
    const char *const paths[] = {library, memory_entry + sizeof MEMORY - 1};
    for (unsigned i = 0; i < 2; i++)
        if (ORCH_WATCH_CALL(SYS_faccessat, AT_FDCWD, paths[i], R_OK, 0) != 0)
            return false;
    return true;
}

/* The path of the program, for what is said of it. False: there is none, so that nothing starts. */
static bool name_program(const struct call *c, char path[ORCH_WATCH_PATH_BYTES])
{
    if (c->how == BY_NAME || c->how == SPAWN_NAME)
        return orch_watch_program_find(c->path, value_in(own_environment(), "PATH="), path);
    bool is_fd = c->how == BY_FD || (c->how == BY_PLACE && (c->flags & AT_EMPTY_PATH) && !*c->path);
    struct orch_watch_path found;
    if (is_fd ? !orch_watch_path_of(c->fd, &found)
              : !orch_watch_resolve(&found, c->how == BY_PLACE ? c->fd : AT_FDCWD, c->path))
        return false;
    orch_watch_copy(path, ORCH_WATCH_PATH_BYTES, found.text);
    return true;
}

static int start_unobserved(const struct call *c, const char *path)
{
    orch_watch_used(ORCH_WATCH_READ, AT_FDCWD, path);
    orch_watch_program(ORCH_WATCH_START, path);
    return call_next(c);
}

static int start_observed(const struct call *c)
{
    orch_watch_started(1);
    int result = call_next(c);
    if ((c->how != SPAWN_PATH && c->how != SPAWN_NAME) || result)
        orch_watch_started(-1);
    return result;
}

__attribute__((noinline)) static int start_extended(struct call *c, const char *path)
{
    struct extended extended;
    if (!extend(&extended, c->env))
        return start_unobserved(c, path);
    c->env = extended.entries;
    return start_observed(c);
}

static int start(struct call *c)
{
    char path[ORCH_WATCH_PATH_BYTES];
    if (!orch_watch_memory() || (!c->path && c->how != BY_FD) || !name_program(c, path))
        return call_next(c);
    orch_watch_end_latest();
    enum environment environment = look_at(c->env);
    if (environment == IS_OTHERS || !is_in_reach() || !orch_watch_program_loads(AT_FDCWD, path))
        return start_unobserved(c, path);
    return environment == IS_WHOLE ? start_observed(c) : start_extended(c, path);
}

/* ---- the functions that programs call ---------------------------------------------------------
 */

ORCH_WATCH_BEFORE(int, execve, const char *path, char *const *argv, char *const *env)
{
    return start(&(struct call){.how = BY_PATH, .path = path, .argv = argv, .env = env});
}

ORCH_WATCH_BEFORE(int, execv, const char *path, char *const *argv)
{
    return orch_watch_before_execve(path, argv, own_environment());
}

ORCH_WATCH_BEFORE(int, execvpe, const char *file, char *const *argv, char *const *env)
{
    return start(&(struct call){.how = BY_NAME, .path = file, .argv = argv, .env = env});
}

ORCH_WATCH_BEFORE(int, execvp, const char *file, char *const *argv)
{
    return orch_watch_before_execvpe(file, argv, own_environment());
}

ORCH_WATCH_BEFORE(int, fexecve, int fd, char *const *argv, char *const *env)
{
    return start(&(struct call){.how = BY_FD, .fd = fd, .argv = argv, .env = env});
}

ORCH_WATCH_BEFORE(int, execveat, int fd, const char *path, char *const *argv, char *const *env,
                  int flags)
{
    return start(&(struct call){
        .how = BY_PLACE, .fd = fd, .path = path, .argv = argv, .env = env, .flags = flags});
}

#define SPAWN(NAME, HOW)                                                                           \
    ORCH_WATCH_BEFORE(int, NAME, pid_t *pid, const char *path,                                     \
                      const posix_spawn_file_actions_t *actions,                                   \
                      const posix_spawnattr_t *attributes, char *const *argv, char *const *env)    \
    {                                                                                              \
        return start(&(struct call){.how = HOW,                                                    \
                                    .path = path,                                                  \
                                    .argv = argv,                                                  \
                                    .env = env,                                                    \
                                    .pid = pid,                                                    \
                                    .actions = actions,                                            \
                                    .attributes = attributes});                                    \
    }
SPAWN(posix_spawn, SPAWN_PATH)
SPAWN(posix_spawnp, SPAWN_NAME)

static int spawned(orch_watch_type_posix_spawn *next, const struct call *c)
{
    return next ? next(c->pid, c->path, c->actions, c->attributes, c->argv, c->env) : ENOSYS;
}

static int call_next(const struct call *c)
{
    switch (c->how) {
    case BY_PATH:
        return ORCH_WATCH_CALL_NEXT(execve, c->path, c->argv, c->env);
    case BY_NAME:
        return ORCH_WATCH_CALL_NEXT(execvpe, c->path, c->argv, c->env);
    case BY_FD:
        return ORCH_WATCH_CALL_NEXT(fexecve, c->fd, c->argv, c->env);
    case BY_PLACE:
        return ORCH_WATCH_CALL_NEXT(execveat, c->fd, c->path, c->argv, c->env, c->flags);
    case SPAWN_PATH:
        return spawned(ORCH_WATCH_NEXT(posix_spawn), c);
    default:
        return spawned(ORCH_WATCH_NEXT(posix_spawnp), c);
    }
}

/* The words of a call like execl, in `room` or in memory that is never freed, because the program
 * is replaced. NULL: there is none. */
static char **gather(char *room[WORDS_ON_STACK], const char *first, va_list *args)
{
    size_t count = 1, space = WORDS_ON_STACK;
    char **words = room;
    words[0] = (char *)(uintptr_t)first;
    while (words[count - 1]) {
        if (count == space) {
            long more = orch_watch_raw(SYS_mmap, 0, (long)(2 * space * sizeof *words),
                                       PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (more < 0 && more > -4096)
                return NULL;
            for (size_t i = 0; i < count; i++)
                ((char **)more)[i] = words[i];
            words = (char **)more;
            space *= 2;
        }
        words[count++] = va_arg(*args, char *);
    }
    return words;
}

static int no_memory(void)
{
    errno = ENOMEM;
    return -1;
}

#define EXECL(NAME, ...)                                                                           \
    ORCH_WATCH_BEFORE(int, NAME, const char *path, const char *first, ...)                         \
    {                                                                                              \
        char *room[WORDS_ON_STACK];                                                                \
        va_list args;                                                                              \
        va_start(args, first);                                                                     \
        char **words = gather(room, first, &args);                                                 \
        int result = words ? __VA_ARGS__ : no_memory();                                            \
        va_end(args);                                                                              \
        return result;                                                                             \
    }
EXECL(execl, orch_watch_before_execv(path, words))
EXECL(execlp, orch_watch_before_execvp(path, words))
EXECL(execle, orch_watch_before_execve(path, words, va_arg(args, char *const *)))

static void note_shell(const char *command)
{
    static const char shell[] = "/bin/sh";
    if (!command || !orch_watch_memory())
        return;
    if (look_at(own_environment()) != IS_WHOLE || !is_in_reach() ||
        !orch_watch_program_loads(AT_FDCWD, shell))
        orch_watch_program(ORCH_WATCH_START, shell);
    else
        orch_watch_started(1);
}

ORCH_WATCH_BEFORE(int, system, const char *command)
{
    note_shell(command);
    return ORCH_WATCH_CALL_NEXT(system, command);
}

ORCH_WATCH_BEFORE(FILE *, popen, const char *command, const char *mode)
{
    orch_watch_type_popen *next = ORCH_WATCH_NEXT(popen);
    note_shell(command);
    return next ? next(command, mode) : (orch_watch_missing(), NULL);
}
