/* trim.c - keeps the directory of compiled objects within its limit (least recently used objects
 * go first). */
#define _POSIX_C_SOURCE 200809L
#include "kernels/store/store.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A file of the cache directory. */
typedef struct stored_object {
    char    name[64]; /* file name in the directory; longer names are no objects */
    int64_t bytes;    /* size of the file */
    time_t  used;     /* the file's time, which store.c sets at each use */
} stored_object;

/* Compares two objects for qsort(): the one that was used longer ago comes first. */
static int by_use(const void *a, const void *b)
{
    const time_t x = ((const stored_object *)a)->used, y = ((const stored_object *)b)->used;

    return (x > y) - (x < y);
}

/* Returns a limit in bytes: "500M" is 500 * 2^20, with K, M or G. NULL, anything else, and a
 * number that overflows give the usual 1 GiB. */
static int64_t bytes_of(const char *limit)
{
    const int64_t usual = INT64_C(1) << 30;
    char         *end   = NULL;
    long long     n     = limit && *limit >= '0' && *limit <= '9' ? strtoll(limit, &end, 10) : -1;
    int           shift = 0;

    if (n < 0)
        return usual;
    if (*end && (*end == 'K' || *end == 'M' || *end == 'G'))
        shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 30, end++;
    return *end || n > INT64_MAX >> shift ? usual : (int64_t)n << shift;
}

/* True if the file is a compiled object: its name fits, and has none of the endings of temporary
 * files (.c, .i, .tmp). */
static bool is_object(const char *name)
{
    const char *const ending = strrchr(name, '.');

    return strlen(name) < sizeof((stored_object *)NULL)->name &&
           !(ending && (!strcmp(ending, ".c") || !strcmp(ending, ".i") || !strcmp(ending, ".tmp")));
}

/* Lists all objects of the directory, malloc'ed; *n gets their number.  If memory is short, the
 * list ends early: then less is removed. */
static stored_object *list_objects(DIR *files, int dir, size_t *n)
{
    stored_object *list = NULL;
    size_t         room = 0;
    struct dirent *file;
    struct stat    facts;

    *n = 0;
    while ((file = readdir(files))) {
        if (!is_object(file->d_name) ||
            fstatat(dir, file->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode))
            continue;
        if (*n == room) {
            room                      = room ? 2 * room : 64;
            stored_object *const more = realloc(list, room * sizeof *more);

            if (!more)
                break;
            list = more;
        }
        list[*n] = (stored_object){ .bytes = facts.st_size, .used = facts.st_mtime };
        memcpy(list[(*n)++].name, file->d_name, strlen(file->d_name) + 1);
    }
    return list;
}

/* Adds up the sizes of all objects, and removes the least recently used ones until the sum is
 * within the limit, such as "500M". */
void rd_store_trim(int dir, const char *limit)
{
    const int64_t most    = bytes_of(limit);
    const int     listing = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR          *files   = listing >= 0 ? fdopendir(listing) : NULL;
    int64_t       all     = 0;
    size_t        n;

    if (!files) {
        if (listing >= 0)
            close(listing);
        return;
    }
    stored_object *const list = list_objects(files, dir, &n);

    closedir(files);
    for (size_t k = 0; k < n; k++)
        all += list[k].bytes;
    if (n && all > most)
        qsort(list, n, sizeof *list, by_use);
    for (size_t k = 0; k < n && all > most; all -= list[k++].bytes)
        rd_store_remove(dir, list[k].name);
    free(list);
}
