/* SPDX-License-Identifier: MIT */
/* Loaded into the processes of a trial (LD_PRELOAD), and linked into orch-host for the compiled
 * plugins that it loads (ORCH_WATCH_LINKED): stands before the C library's functions that open,
 * read, change and list files and start programs (preload_open.c, _read.c, _change.c, ...), and
 * notes in shared memory (watch_map.h) which files below the watched folders they concerned. It
 * never changes what these functions do, return or leave in errno, but for the environment of a
 * program that would not load the library (preload_start.c).
 *
 * It is linked with no library and needs few symbols, so that programs of another C library or of
 * an older version can load it. Its functions neither allocate nor lock, use little stack, and may
 * run in signal handlers and between fork and exec. Reading a file again costs one look-up.
 *
 * A process notes its own program and its libraries, which the kernel and the loader open.
 *
 * Not seen: system calls that a program makes itself, other than by syscall(2) (Go is told by its
 * note, and the first use of io_uring by its call); folders that nftw and fts list below the first
 * one, or in which glob finds nothing; descriptors above 2 that a process which was not watched has
 * opened; what else than the named file dlopen loads in a process that is killed.
 *
 * Rejected: fanotify, which needs privileges; seccomp notifications and ptrace, which stop the
 * program at each call; a record written by a system call at each opening, which took 19 us. */
#include "lib/watch/preload_folder.h"
#include "lib/watch/preload_library.h"
#include "lib/watch/preload_next.h"
#include "lib/watch/preload_note.h"
#include "lib/watch/preload_path.h"
#include "lib/watch/preload_raw.h"
#include "lib/watch/preload_start.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef ORCH_WATCH_LINKED
enum { IS_LINKED = 1 };
#else
enum { IS_LINKED = 0 };
#endif

extern char **environ;
#pragma weak environ

static const char *variable(const char *name)
{
    size_t n = orch_watch_length(name);
    for (char **entry = &environ ? environ : NULL; entry && *entry; entry++)
        if (orch_watch_begins(*entry, name) && (*entry)[n] == '=')
            return *entry + n + 1;
    return NULL;
}

/* Notes the program that this process runs. */
static void note_program(void)
{
    struct orch_watch_path path;
    if (!orch_watch_path_behind("/proc/self/exe", &path))
        return;
    orch_watch_folder_begin(orch_watch_base(path.text));
    orch_watch_used(ORCH_WATCH_READ, AT_FDCWD, path.text);
    if (orch_watch_is_without_libc())
        orch_watch_program(ORCH_WATCH_START, path.text);
}

static struct orch_watch_map *open_memory(const char *path)
{
    long fd = path ? ORCH_WATCH_CALL(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0) : -1;
    if (fd < 0)
        return NULL;
    long bytes = ORCH_WATCH_CALL(SYS_lseek, fd, 0, SEEK_END, 0);
    struct orch_watch_map *map = NULL;
    if (bytes == (long)sizeof *map) {
        long there = orch_watch_raw(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        map = there < 0 && there > -4096 ? NULL : (void *)there;
    }
    ORCH_WATCH_CALL(SYS_close, fd, 0, 0, 0);
    return map && map->magic == ORCH_WATCH_MAGIC ? map : NULL;
}

static void begin(struct orch_watch_map *map)
{
    const char *path = variable(ORCH_WATCH_ENV);
    if (!map || !path)
        return;
    orch_watch_find_next();
    orch_watch_start_begin(path, variable("LD_PRELOAD"));
    orch_watch_begin(map, (int)orch_watch_raw(SYS_getpid, 0, 0, 0, 0, 0, 0));
    __atomic_fetch_add(&map->attached, 1, __ATOMIC_RELAXED);
    for (int fd = 0; !IS_LINKED && fd <= STDERR_FILENO; fd++)
        orch_watch_inherited(fd);
    if (!IS_LINKED)
        note_program();
    orch_watch_libraries();
}

#ifdef ORCH_WATCH_LINKED
void orch_watch_attach(struct orch_watch_map *inherited)
{
    begin(inherited ? inherited : open_memory(variable(ORCH_WATCH_ENV)));
}
#else
__attribute__((constructor)) static void attach(void)
{
    begin(open_memory(variable(ORCH_WATCH_ENV)));
}
#endif
