/* store.h - the directory of compiled objects: ours, closed to others, with whole objects in it or
 * none.
 *
 * An object is a shared library with a seal behind it: its length and the hash of its bytes.  A
 * loader of shared libraries trusts what it maps, and one that is cut short would crash the
 * process; the seal is looked at before. */
#ifndef RD_KERNELS_STORE_STORE_H
#define RD_KERNELS_STORE_STORE_H
#include <stdbool.h>
#include <stddef.h>

/* $XDG_CACHE_HOME/rdim or $HOME/.cache/rdim as a file descriptor, made if it is missing; -1 unless
 * it is a directory, no link, owned by the user, and closed to all others.  Whatever lies in it was
 * then put there by the user.  The variables' values; NULL: not set. */
int rd_store_open(const char *cache, const char *home);
/* A name of `dir` that is in use by nobody: the start of a name, a number, an ending.  False:
 * cannot be. */
bool rd_store_aside(int dir, const char *stem, const char *ending, char *name, int room);
/* Writes a new file.  False on failure, and then there is none. */
bool rd_store_write(int dir, const char *name, const char *bytes, long n);
/* Seals the object `aside` and gives it its name, replacing one that is there. */
bool rd_store_put(int dir, const char *aside, const char *name);
/* Is there an object of that name, whole, sealed, and ours?  One that is not is removed. */
bool rd_store_has(int dir, const char *name);
/* The bytes of such an object, without its seal; malloc'ed.  NULL: there is none. */
char *rd_store_read(int dir, const char *name, size_t *n);
void  rd_store_remove(int dir, const char *name);
/* Removes what processes that ended while they compiled have left: files aside that are an hour
 * old. */
void rd_store_sweep(int dir);
/* Removes objects, those first whose last use is longest ago, until they have no more than the
 * limit: RDIM_CACHE_LIMIT, as in "500M" or "2G"; 1 GiB if it is NULL or no such number.  Other
 * processes that use one keep it. */
void rd_store_trim(int dir, const char *limit);
#endif
