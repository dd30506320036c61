/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/actor/shared_memory.h"

#include "lib/base/error.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool map(struct orch_shared_memory *out, int fd, int64_t bytes)
{
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return false;
    *out = (struct orch_shared_memory){.head = memory, .fd = fd};
    return true;
}

bool orch_shared_memory_new(struct orch_shared_memory *out, const char *name, uint64_t magic,
                            int64_t bytes, const char *users, GError **error)
{
    const int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 && map(out, fd, bytes)) {
        *out->head = (struct orch_shared_head){.magic = magic, .bytes = bytes};
        return true;
    }
    orch_error_set_errno(error, ORCH_ERROR_IO, errno,
                         "cannot make %" G_GINT64_FORMAT " bytes of memory for %s", bytes, users);
    if (fd >= 0)
        close(fd);
    return false;
}

bool orch_shared_memory_attach(struct orch_shared_memory *out, int fd, uint64_t magic,
                               int64_t least)
{
    struct stat about;
    if (fstat(fd, &about) != 0 || about.st_size < (off_t)least || !map(out, fd, about.st_size))
        return false;
    if (out->head->magic == magic && out->head->bytes == about.st_size)
        return true;
    munmap(out->head, (size_t)about.st_size);
    return false;
}

void orch_shared_memory_close(struct orch_shared_memory *memory)
{
    munmap(memory->head, (size_t)memory->head->bytes);
    close(memory->fd);
}

bool orch_shared_ring_is_full(const struct orch_shared_ring *ring, int64_t room)
{
    return ring->head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) >= (uint64_t)room;
}

void orch_shared_ring_push(struct orch_shared_ring *ring)
{
    __atomic_store_n(&ring->head, ring->head + 1, __ATOMIC_RELEASE);
}

bool orch_shared_ring_is_empty(const struct orch_shared_ring *ring)
{
    return __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) == ring->tail;
}

void orch_shared_ring_pop(struct orch_shared_ring *ring)
{
    __atomic_store_n(&ring->tail, ring->tail + 1, __ATOMIC_RELEASE);
}

int64_t orch_shared_ring_written(const struct orch_shared_ring *ring)
{
    return (int64_t)__atomic_load_n(&ring->head, __ATOMIC_RELAXED);
}
