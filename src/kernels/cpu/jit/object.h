/* object.h - C text into code that can be called: from the store, or from the compiler by way of
 * the store. */
#ifndef RD_KERNELS_CPU_JIT_OBJECT_H
#define RD_KERNELS_CPU_JIT_OBJECT_H
#include "kernels/cpu/jit/env_snapshot.h"
#include "kernels/store/hash.h"
#include <stdbool.h>

/* What the text must end in is added to it: the object's proof of what it is, a symbol that holds
 * its key.  The key is the hash of all that decides what the object does: text, compiler, flags,
 * the form in which it is called. */
typedef enum rd_object_from {
    RD_OBJECT_NONE,     /* no directory, no compiler, it failed, or what it made is not what was
                         * asked for */
    RD_OBJECT_STORED,   /* the store had it     */
    RD_OBJECT_COMPILED, /* it was compiled now  */
} rd_object_from;

/* The address of `symbol` in the object, in *found; objects stay loaded.  The compiler may take so
 * many seconds; 0: only from the store.
 * `key` has room for RD_HASH_TEXT bytes and gets its name in the store, "" where none is known; or
 * NULL. */
rd_object_from rd_object_make(const char *text, const char *const *flags, const char *symbol,
                              const rd_env_snapshot *surroundings, int patience, char *key,
                              void **found);
/* A few bytes about the object of that key, which the store keeps beside it; as many as were put, or
 * false. */
bool rd_object_get_note(const char *key, const rd_env_snapshot *surroundings, void *note, size_t n);
void rd_object_put_note(const char *key, const rd_env_snapshot *surroundings, const void *note,
                        size_t n);
#endif
