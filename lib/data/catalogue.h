/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data sets and weights available by name: download location, digests, licence and citation; and
 * the folders on this machine where they are searched. Tables only; downloading is in
 * features/datasets/data.h. */
#ifndef ORCH_DATA_CATALOGUE_H
#define ORCH_DATA_CATALOGUE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum orch_data_kind { ORCH_DATA_SET, ORCH_DATA_WEIGHTS };

#define ORCH_DATA_URLS_MAX 2
#define ORCH_DATA_FILES_MAX 4

/** One download. The result is stored below a place (see orch_data_places): the file at `path`, or
 * the folder `top` of an archive as `into`. */
struct orch_data_file {
    const char *urls[ORCH_DATA_URLS_MAX + 1]; /* tried in order, ended by NULL */
    const char *path;
    int64_t bytes;      /* 0: not published */
    const char *sha256; /* as published: 64 hex digits, or the first ones; NULL: none */
    const char *md5;    /* as published; NULL: none */
    const char *member; /* the archive inside the archive to use; NULL: the archive itself */
    const char *top;    /* NULL: not an archive */
    const char *into;
    bool shared; /* the archive is used by other entries too, so it is kept after unpacking */
};

struct orch_data_entry {
    const char *name;
    enum orch_data_kind kind;
    const char *about, *licence, *citation;
    const char *package; /* Debian package with the same contents; NULL: none */
    int64_t about_bytes; /* estimated download size if the sizes of the files are not published */
    struct orch_data_file files[ORCH_DATA_FILES_MAX + 1]; /* ended by a NULL path */
};

/** All entries, sets first, ended by a NULL name. */
const struct orch_data_entry *orch_data_catalogue(void);
/** True if `name` is a spelling of this data set's name ("CIFAR-10", "imagenet1k"). */
bool orch_data_set_is_named(const char *set, const char *name);
/** Finds an entry by any spelling of its name; NULL if there is none. */
const struct orch_data_entry *orch_data_find(const char *name);
/** Returns "did you mean 'x'?" for an unknown name, or NULL. Caller frees. */
char *orch_data_suggest(const char *name);

/** Download size in bytes: published, else estimated (`*out_exact`, which may be NULL, is then
 * false). */
int64_t orch_data_bytes(const struct orch_data_entry *entry, bool *out_exact);

/** The folder for downloads: $ORCH_DATA, else orch/data in the user's cache folder. Caller
 * frees. */
char *orch_data_cache(void);
/** Folders that are searched for data sets, in order: only `root` if given, else $ORCH_DATA, the
 * user's cache folder, /usr/share/datasets. Caller unrefs. */
GPtrArray *orch_data_places(const char *root);

/** Path, below a place, of what is kept of a file. */
const char *orch_data_kept(const struct orch_data_file *file);
/** Finds an entry on this machine: the folder of a data set, the file of weights; NULL if any part
 * is missing. Searches `cache` (NULL: the default) first, and for weights also torchvision's cache.
 * Caller frees. */
char *orch_data_locate(const struct orch_data_entry *entry, const char *cache);

#endif
