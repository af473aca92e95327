/* object.h - C text into code that can be called: from the store, or from the compiler by way of
 * the store. */
#ifndef RD_KERNELS_CPU_JIT_OBJECT_H
#define RD_KERNELS_CPU_JIT_OBJECT_H
#include "kernels/cpu/jit/env_snapshot.h"
#include "kernels/store/hash.h"
#include <stdbool.h>

/* Where an object came from. The end of its text is added here: a symbol that holds its key, as
 * a proof of what it is. The key is the hash of all that decides what the object does: text,
 * compiler, flags, and how it is called. */
typedef enum rd_object_from {
    RD_OBJECT_NONE,     /* no store, no compiler, it failed, or what it made proves wrong */
    RD_OBJECT_STORED,   /* the store had it     */
    RD_OBJECT_COMPILED, /* it was compiled now  */
} rd_object_from;

/* Finds the address of `symbol` in the object, in *found; objects stay loaded. `patience`:
 * seconds that the compiler may take; 0: only the store is asked. `key` has room for
 * RD_HASH_TEXT bytes and gets the name in the store, "" if none is known; or is NULL. */
rd_object_from rd_object_make(const char *text, const char *const *flags, const char *symbol,
                              const rd_env_snapshot *surroundings, int patience, char *key,
                              void **found);
/* Read and write a few bytes about an object, which the store keeps beside it. False: there is
 * no note of n bytes. */
bool rd_object_get_note(const char *key, const rd_env_snapshot *surroundings, void *note, size_t n);
void rd_object_put_note(const char *key, const rd_env_snapshot *surroundings, const void *note,
                        size_t n);
#endif
