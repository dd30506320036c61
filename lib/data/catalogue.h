/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data sets and weights that can be had by name: where they come from, how they are told to be
 * right, what their authors ask for; and the places on this machine where such files are looked
 * for. Arithmetic and tables only: what downloads is lib/data/data.h. */
#ifndef ORCH_DATA_CATALOGUE_H
#define ORCH_DATA_CATALOGUE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum orch_data_kind { ORCH_DATA_SET, ORCH_DATA_WEIGHTS };

#define ORCH_DATA_URLS_MAX 2
#define ORCH_DATA_FILES_MAX 4

/** One download. What is kept of it lies below a place (see orch_data_places): the file itself at
 * `path`, or, of an archive, its folder `top` as `into`. */
struct orch_data_file {
    const char *urls[ORCH_DATA_URLS_MAX + 1]; /* tried in turn, ended by NULL */
    const char *path;
    int64_t bytes;      /* 0: not published */
    const char *sha256; /* as published: 64 hex digits, or the first of them; NULL: none */
    const char *md5;    /* as published; NULL: none */
    const char *member; /* the archive within the archive that is meant; NULL: itself */
    const char *top;    /* NULL: not an archive */
    const char *into;
    bool shared; /* an archive that other entries need too: kept after unpacking */
};

struct orch_data_entry {
    const char *name;
    enum orch_data_kind kind;
    const char *about, *licence, *citation;
    const char *package; /* Debian's, which holds the same; NULL: none */
    int64_t about_bytes; /* to download, where the sizes of the files are not published */
    struct orch_data_file files[ORCH_DATA_FILES_MAX + 1]; /* ended by a NULL path */
};

/** All entries, sets first, ended by a NULL name. */
const struct orch_data_entry *orch_data_catalogue(void);
/** Is `name` a spelling of this data set's name ("CIFAR-10", "imagenet1k")? */
bool orch_data_set_is_named(const char *set, const char *name);
/** The entry of a name, which may be spelled as people do, or NULL. */
const struct orch_data_entry *orch_data_find(const char *name);
/** "did you mean 'x'?" for a name that is not in the catalogue, or NULL. The caller frees. */
char *orch_data_suggest(const char *name);

/** Bytes to download: published, else estimated (then `*out_exact` is false; may be NULL). */
int64_t orch_data_bytes(const struct orch_data_entry *entry, bool *out_exact);

/** The one folder that downloads go to: $ORCH_DATA, else orch/data in the user's cache folder. The
 * caller frees. */
char *orch_data_cache(void);
/** Folders in which sets are looked for, in this order: `root` alone when it is given, else
 * $ORCH_DATA, the user's cache folder, /usr/share/datasets. The caller unrefs. */
GPtrArray *orch_data_places(const char *root);

/** What is kept of a file, below a place. */
const char *orch_data_kept(const struct orch_data_file *file);
/** Where an entry lies on this machine: the folder of a set, the file of weights; NULL when any
 * part of it is missing. Weights are looked for in torchvision's cache, too. `cache` (NULL: the
 * usual one) is looked at first. The caller frees. */
char *orch_data_locate(const struct orch_data_entry *entry, const char *cache);

#endif
