/* store.h - the cache directory of compiled objects.  It belongs to the user, is closed to
 * others, and holds only whole objects.
 *
 * An object is a shared library with a seal behind it: its length and the hash of its bytes.  A
 * loader trusts the library that it maps, and a truncated one would crash the process.  So the
 * seal is checked before. */
#ifndef RD_KERNELS_STORE_STORE_H
#define RD_KERNELS_STORE_STORE_H
#include <stdbool.h>
#include <stddef.h>

/* Opens $XDG_CACHE_HOME/rdim or $HOME/.cache/rdim, and makes it if it is missing; returns a file
 * descriptor.  Returns -1 unless it is a directory, no link, owned by the user, and closed to
 * all others.  The arguments are the values of the variables; NULL: not set. */
int rd_store_open(const char *cache, const char *home);
/* Writes a name that no file in `dir` has: a stem, a number, an ending.  False if there is none. */
bool rd_store_aside(int dir, const char *stem, const char *ending, char *name, int room);
/* Writes a new file.  False on failure, and then there is none. */
bool rd_store_write(int dir, const char *name, const char *bytes, long n);
/* Seals the object `aside` and gives it its name, replacing one that is there. */
bool rd_store_put(int dir, const char *aside, const char *name);
/* True if there is a whole, sealed object of that name that is ours.  A file that is not so is
 * removed. */
bool rd_store_has(int dir, const char *name);
/* The bytes of such an object without its seal, malloc'ed; NULL: there is none. */
char *rd_store_read(int dir, const char *name, size_t *n);
void  rd_store_remove(int dir, const char *name);
/* Removes temporary files older than an hour: ended processes have left them. */
void rd_store_sweep(int dir);
/* Removes the least recently used objects until the rest is within the limit: RDIM_CACHE_LIMIT,
 * as in "500M" or "2G"; 1 GiB if it is NULL or no such number.  A process that uses an object
 * keeps it. */
void rd_store_trim(int dir, const char *limit);
#endif
