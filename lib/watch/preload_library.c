/* SPDX-License-Identifier: MIT */
#include "lib/watch/preload_library.h"

#include "lib/watch/preload_next.h"
#include "lib/watch/preload_note.h"
#include "lib/watch/preload_raw.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>

#pragma weak dl_iterate_phdr

static int loader_pid; /* process that has called dlopen and not looked since; 0: none */

static int visit(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    if (info->dlpi_name && orch_watch_base(info->dlpi_name) != info->dlpi_name)
        orch_watch_used(ORCH_WATCH_READ, AT_FDCWD, info->dlpi_name);
    return 0;
}

void orch_watch_libraries(void)
{
    int saved = errno;
    if (dl_iterate_phdr)
        dl_iterate_phdr(visit, NULL);
    errno = saved;
}

/* ---- Go ---------------------------------------------------------------------------------------
 */

/* Looks for a note of the name "Go". */
static bool has_go_note(const char *at, size_t bytes)
{
    while (bytes >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)at;
        size_t name = ((size_t)note->n_namesz + 3) / 4 * 4,
               text = ((size_t)note->n_descsz + 3) / 4 * 4;
        size_t all = sizeof *note + name + text;
        if (all > bytes)
            return false;
        if (note->n_namesz == 4 && orch_watch_same(at + sizeof *note, "Go"))
            return true;
        at += all;
        bytes -= all;
    }
    return false;
}

/* The first object is the program. */
static int look_at_program(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE &&
            has_go_note((const char *)(info->dlpi_addr + segment->p_vaddr), segment->p_memsz))
            *(bool *)ctx = true;
    }
    return 1;
}

bool orch_watch_is_without_libc(void)
{
    bool is_go = false;
    if (dl_iterate_phdr)
        dl_iterate_phdr(look_at_program, &is_go);
    return is_go;
}

/* ---- later ------------------------------------------------------------------------------------
 */

static void expect(const char *file)
{
    if (!file || !orch_watch_memory())
        return;
    __atomic_store_n(&loader_pid, (int)orch_watch_raw(SYS_getpid, 0, 0, 0, 0, 0, 0),
                     __ATOMIC_RELAXED);
    if (orch_watch_base(file) != file)
        orch_watch_used(ORCH_WATCH_READ, AT_FDCWD, file);
}

/* These two look at the address of their caller: they are jumped to, not called. What they load
 * beside the file itself is looked at when the process ends. */
ORCH_WATCH_BEFORE(void *, dlopen, const char *file, int mode)
{
    orch_watch_type_dlopen *next = ORCH_WATCH_NEXT(dlopen);
    expect(file);
    return next ? next(file, mode) : NULL;
}

ORCH_WATCH_BEFORE(void *, dlmopen, long space, const char *file, int mode)
{
    orch_watch_type_dlmopen *next = ORCH_WATCH_NEXT(dlmopen);
    expect(file);
    return next ? next(space, file, mode) : NULL;
}

/* Not in a child made by fork, where another thread may have held the loader's lock, unless it has
 * loaded something itself. */
static void look_again(void)
{
    int pid = __atomic_load_n(&loader_pid, __ATOMIC_RELAXED);
    if (pid && pid == (int)orch_watch_raw(SYS_getpid, 0, 0, 0, 0, 0, 0))
        orch_watch_libraries();
}

__attribute__((destructor)) static void end(void)
{
    orch_watch_end_latest();
    look_again();
}

#define EXIT(NAME)                                                                                 \
    ORCH_WATCH_BEFORE(void, NAME, int status)                                                      \
    {                                                                                              \
        orch_watch_type_##NAME *next = ORCH_WATCH_NEXT(NAME);                                      \
        orch_watch_end_latest();                                                                   \
        look_again();                                                                              \
        if (next)                                                                                  \
            next(status);                                                                          \
        for (;;)                                                                                   \
            orch_watch_raw(SYS_exit_group, status, 0, 0, 0, 0, 0);                                 \
    }
EXIT(_exit)
EXIT(_Exit)
