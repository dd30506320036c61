/* SPDX-License-Identifier: MIT */
/* Every offset and size in the file is checked against its length before use. */
#include "lib/base/elf.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { ID_BYTES_MAX = 64, TEXTS_MAX = 1000, DYNAMIC_MAX = 4096 };

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

/* False for anything but an ELF file of this machine's class. */
static bool take_head(const uint8_t *bytes, size_t length, ElfW(Ehdr) * out)
{
    static const unsigned char kind = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    return take(bytes, length, 0, out, sizeof *out) && memcmp(out->e_ident, ELFMAG, SELFMAG) == 0 &&
           out->e_ident[EI_CLASS] == kind && out->e_phentsize == sizeof(ElfW(Phdr));
}

char *orch_elf_build_id(const void *file, size_t length)
{
    const uint8_t *bytes = file;
    ElfW(Ehdr) head;
    if (!take_head(bytes, length, &head))
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

/* Copies the name that begins at an offset of the file; NULL if it is empty or does not end inside.
 */
static char *name_at(const uint8_t *bytes, size_t length, uint64_t begin)
{
    if (begin >= length || !memchr(bytes + begin, '\0', length - begin) || !bytes[begin])
        return NULL;
    return g_strdup((const char *)bytes + begin);
}

/* ---- dynamic section --------------------------------------------------------------------------
 */

/* Finds the segment of the wanted type, or (PT_LOAD) the one that holds an address. */
static bool find_segment(const uint8_t *bytes, size_t length, const ElfW(Ehdr) * head,
                         unsigned type, uint64_t address, ElfW(Phdr) * out)
{
    for (unsigned i = 0; i < head->e_phnum; i++) {
        if (!take(bytes, length, head->e_phoff + (uint64_t)i * sizeof *out, out, sizeof *out))
            return false;
        if (out->p_type == type && (type != PT_LOAD || (address >= out->p_vaddr &&
                                                        address - out->p_vaddr < out->p_filesz)))
            return true;
    }
    return false;
}

char **orch_elf_dynamic_texts(const void *file, size_t length, int64_t tag)
{
    const uint8_t *bytes = file;
    ElfW(Ehdr) head;
    ElfW(Phdr) dynamic, segment;
    ElfW(Dyn) entry;
    uint64_t offsets[TEXTS_MAX], table = 0;
    unsigned count = 0;
    GPtrArray *texts = g_ptr_array_new();
    if (take_head(bytes, length, &head) &&
        find_segment(bytes, length, &head, PT_DYNAMIC, 0, &dynamic))
        for (unsigned i = 0; i < DYNAMIC_MAX; i++) {
            if (!take(bytes, length, dynamic.p_offset + (uint64_t)i * sizeof entry, &entry,
                      sizeof entry) ||
                entry.d_tag == DT_NULL)
                break;
            if (entry.d_tag == DT_STRTAB)
                table = entry.d_un.d_ptr;
            else if (entry.d_tag == tag && count < TEXTS_MAX)
                offsets[count++] = entry.d_un.d_val;
        }
    if (count && find_segment(bytes, length, &head, PT_LOAD, table, &segment))
        for (unsigned i = 0; i < count; i++) {
            char *text =
                name_at(bytes, length, table - segment.p_vaddr + segment.p_offset + offsets[i]);
            if (text)
                g_ptr_array_add(texts, text);
        }
    g_ptr_array_add(texts, NULL);
    return (char **)g_ptr_array_free(texts, FALSE);
}
