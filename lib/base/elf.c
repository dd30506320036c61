/* SPDX-License-Identifier: MIT */
/* Every offset and size in the file is checked against its length before use. */
#include "lib/base/elf.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { ID_BYTES_MAX = 64 };

/* Copies a structure out of the file; false if it is not completely inside. */
static bool take(const uint8_t *bytes, size_t length, uint64_t offset, void *out, size_t size)
{
    if (offset > length || length - offset < size)
        return false;
    memcpy(out, bytes + offset, size);
    return true;
}

static char *hex_text(const uint8_t *bytes, size_t count)
{
    GString *text = g_string_new(NULL);
    for (size_t i = 0; i < count; i++)
        g_string_append_printf(text, "%02x", bytes[i]);
    return g_string_free(text, FALSE);
}

static uint64_t padded(uint64_t size)
{
    return (size + 3) & ~UINT64_C(3);
}

/* Searches one segment of notes. Caller frees. */
static char *find_in_notes(const uint8_t *bytes, size_t length)
{
    ElfW(Nhdr) note;
    uint64_t at = 0;
    while (take(bytes, length, at, &note, sizeof note)) {
        uint64_t name = at + sizeof note, value = name + padded(note.n_namesz);
        char owner[4];
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof owner &&
            take(bytes, length, name, owner, sizeof owner) && memcmp(owner, "GNU", 4) == 0 &&
            note.n_descsz > 0 && note.n_descsz <= ID_BYTES_MAX && value <= length &&
            length - value >= note.n_descsz)
            return hex_text(bytes + value, note.n_descsz);
        at = value + padded(note.n_descsz);
    }
    return NULL;
}

char *orch_elf_build_id(const void *file, size_t length)
{
    static const unsigned char kind = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    const uint8_t *bytes = file;
    ElfW(Ehdr) head;
    if (!take(bytes, length, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != kind || head.e_phentsize != sizeof(ElfW(Phdr)))
        return NULL;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        ElfW(Phdr) segment;
        if (!take(bytes, length, head.e_phoff + (uint64_t)i * sizeof segment, &segment,
                  sizeof segment))
            return NULL;
        if (segment.p_type != PT_NOTE || segment.p_offset > length ||
            length - segment.p_offset < segment.p_filesz)
            continue;
        char *id = find_in_notes(bytes + segment.p_offset, segment.p_filesz);
        if (id)
            return id;
    }
    return NULL;
}
