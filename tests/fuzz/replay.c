/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a fuzz target without a fuzzer: feeds it each file of the folders (or files) named on the
 * command line. Fails when a name cannot be read or nothing was fed; a finding aborts. */
#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* An exact allocation, so that AddressSanitizer sees a read behind the last byte. */
static int feed(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return -1;
    struct stat info;
    int ok = fstat(fileno(file), &info) == 0;
    size_t length = ok ? (size_t)info.st_size : 0;
    uint8_t *bytes = malloc(length ? length : 1);
    ok = ok && bytes && fread(bytes, 1, length, file) == length;
    fclose(file);
    if (ok)
        LLVMFuzzerTestOneInput(bytes, length);
    free(bytes);
    return ok ? 1 : -1;
}

static int feed_all(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return feed(path);
    int count = 0;
    for (struct dirent *entry; count >= 0 && (entry = readdir(dir));) {
        char name[PATH_MAX];
        if (entry->d_name[0] == '.')
            continue;
        if (snprintf(name, sizeof name, "%s/%s", path, entry->d_name) >= (int)sizeof name)
            continue;
        int fed = feed_all(name);
        count = fed < 0 ? -1 : count + fed;
    }
    closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int fed = feed_all(argv[i]);
        if (fed < 0) {
            fprintf(stderr, "replay: cannot read '%s'\n", argv[i]);
            return 1;
        }
        total += fed;
    }
    printf("replay: %d inputs\n", total);
    return total ? 0 : 1;
}
