/* object.c - C text into code that can be called: compiled, stored, loaded.
 *
 * An object is a shared library made of one C text. The store is a directory of the user's cache.
 * An object's key is the hash of text, compiler and flags; a symbol in the object, its proof, holds
 * the key. */
#include "kernels/cpu/jit/object.h"
#include "core/text_buffer.h"
#include "kernels/cpu/jit/compiler.h"
#include "kernels/store/store.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The version of how objects are called and sealed; it is a part of their keys. */
static const char FORM[] = "rdim object 1";

typedef struct object {
    const char        *text;
    const char *const *flags;
    const char        *symbol; /* what is looked up in the object      */
    rd_compiler        cc;
    int                dir;                    /* descriptor of the store's directory  */
    int                patience;               /* seconds; 0: nothing is compiled      */
    char               key[RD_HASH_TEXT];      /* hash, as text                        */
    char               name[RD_HASH_TEXT + 8]; /* of the file in the store             */
} object;

/* Sets the key of an object, a hash of all that decides what it does (compiler, flags, text); and
 * its file name, which is the key and ".so". FORM is the version of how objects are called. */
static void set_name(object *o)
{
    rd_hash hash = rd_hash_add(rd_hash_begin(), FORM, sizeof FORM);

    hash = rd_hash_add(hash, &o->cc.identity, sizeof o->cc.identity);
    for (int k = 0; o->flags[k]; k++)
        hash = rd_hash_add(hash, o->flags[k], strlen(o->flags[k]));
    hash = rd_hash_add(hash, o->text, strlen(o->text));
    rd_hash_text(hash, o->key);
    snprintf(o->name, sizeof o->name, "%s.so", o->key);
}

/* Held while an object is loaded, so that a fork does not copy the loader in the middle of it. */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t  watched = PTHREAD_ONCE_INIT;

/* Locks the loader; also before a fork, so that the child finds it unlocked. */
static void begin_loading(void)
{
    pthread_mutex_lock(&loading);
}

/* Unlocks the loader; also behind a fork, in the parent and the child. */
static void end_loading(void)
{
    pthread_mutex_unlock(&loading);
}

/* Sets the functions that a fork calls. */
static void watch_forks(void)
{
    (void)pthread_atfork(begin_loading, end_loading, end_loading);
}

/* Loads an object (shared library) from the directory of the store and returns the address of its
 * symbol; NULL: it cannot be loaded, or its proof is not its key.  The path goes by the descriptor,
 * so it is that very directory.  An object with a wrong proof stays loaded, and nothing calls
 * it. */
static void *load(const object *o)
{
    char        path[128];
    void       *handle, *found;
    const char *proof;

    pthread_once(&watched, watch_forks);
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", o->dir, o->name);
    begin_loading();
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    proof  = handle ? dlsym(handle, "rdim_proof") : NULL;
    found  = proof && strcmp(proof, o->key) == 0 ? dlsym(handle, o->symbol) : NULL;
    end_loading();
    return found;
}

/* Writes the C text to a file, with a symbol at its end (the proof) that holds the key.  False: it
 * cannot be written. */
static bool write_source(const object *o, const char *name)
{
    rd_text text = { 0 };
    bool    done;

    rd_text_add(&text,
                "%s\n__attribute__((visibility(\"default\"))) const char rdim_proof[] = \"%s\";\n",
                o->text, o->key);
    done = !text.failed && rd_store_write(o->dir, name, text.at, (long)text.n);
    rd_text_free(&text);
    return done;
}

/* Compiles the text to a temporary file, and moves that into the store.  The first compilation of a
 * process removes old temporary files.  False: it failed. */
static bool compile(const object *o)
{
    static atomic_flag swept = ATOMIC_FLAG_INIT;
    char               source[RD_HASH_TEXT + 48], made[RD_HASH_TEXT + 48];
    bool               done;

    if (!atomic_flag_test_and_set(&swept))
        rd_store_sweep(o->dir);
    if (!rd_store_aside(o->dir, o->key, ".c", source, sizeof source) ||
        !rd_store_aside(o->dir, o->key, ".tmp", made, sizeof made))
        return false;
    done = write_source(o, source) &&
           rd_compiler_run(&o->cc, o->dir, o->flags, source, made, o->patience) &&
           rd_store_put(o->dir, made, o->name);
    rd_store_remove(o->dir, source);
    if (!done)
        rd_store_remove(o->dir, made);
    return done;
}

/* Loads the object from the store, or compiles it if there is patience (seconds; 0: never).  An
 * object that is whole but not what its name says is removed.  rd_store_trim() removes old objects
 * beyond the limit that the environment sets. */
static rd_object_from find_or_compile(object *o, void **found)
{
    if (rd_store_has(o->dir, o->name)) {
        *found = load(o);
        if (*found)
            return RD_OBJECT_STORED;
        rd_store_remove(o->dir, o->name); /* whole, but not what its name says */
        return RD_OBJECT_NONE;
    }
    if (!o->patience || !compile(o))
        return RD_OBJECT_NONE;
    *found = load(o);
    rd_store_trim(o->dir, rd_env_snapshot_get(o->cc.surroundings, "RDIM_CACHE_LIMIT"));
    return *found ? RD_OBJECT_COMPILED : RD_OBJECT_NONE;
}

/* Opens the directory of the store, in the cache directory of the user; -1: there is none. */
static int open_store(const rd_env_snapshot *surroundings)
{
    return rd_store_open(rd_env_snapshot_get(surroundings, "XDG_CACHE_HOME"),
                         rd_env_snapshot_get(surroundings, "HOME"));
}

/* Finds the compiler and the store, and loads the object of a text, compiling it if need be. *found
 * gets the address of `symbol`; NULL: there is none.  `key`, if it is not NULL, gets the name in
 * the store ("": none).  Objects stay loaded, so nobody frees what is found. */
rd_object_from rd_object_make(const char *text, const char *const *flags, const char *symbol,
                              const rd_env_snapshot *surroundings, int patience, char *key,
                              void **found)
{
    object o = { .text = text, .flags = flags, .symbol = symbol, .patience = patience };

    rd_object_from from;

    *found = NULL;
    if (key)
        key[0] = 0;
    if (!rd_compiler_find(&o.cc, surroundings))
        return RD_OBJECT_NONE;
    o.dir = open_store(surroundings);
    if (o.dir < 0)
        return RD_OBJECT_NONE;
    set_name(&o);
    if (key)
        memcpy(key, o.key, RD_HASH_TEXT);
    from = find_or_compile(&o, found);
    close(o.dir);
    return from;
}

/* ---- Notes ----------------------------------------------------------------------------------- */
enum { NOTE_NAME = RD_HASH_TEXT + 8 };

/* Makes the file name of an object's note: its key and ".note". */
static void name_note(const char *key, char name[NOTE_NAME])
{
    snprintf(name, NOTE_NAME, "%s.note", key);
}

/* Reads a note of n bytes that the store keeps beside an object.  False: there is none of that
 * size. */
bool rd_object_get_note(const char *key, const rd_env_snapshot *surroundings, void *note, size_t n)
{
    const int dir = open_store(surroundings);
    char      name[NOTE_NAME], *bytes;
    size_t    found = 0;

    if (dir < 0)
        return false;
    name_note(key, name);
    bytes = rd_store_read(dir, name, &found);
    close(dir);
    if (bytes && found == n)
        memcpy(note, bytes, n);
    free(bytes);
    return bytes && found == n;
}

/* Writes a note beside an object in the store, by way of a temporary file.  Failures are
 * ignored. */
void rd_object_put_note(const char *key, const rd_env_snapshot *surroundings, const void *note,
                        size_t n)
{
    const int dir = open_store(surroundings);
    char      name[NOTE_NAME], aside[RD_HASH_TEXT + 48];

    if (dir < 0)
        return;
    name_note(key, name);
    if (rd_store_aside(dir, key, ".tmp", aside, sizeof aside) &&
        rd_store_write(dir, aside, note, (long)n) && !rd_store_put(dir, aside, name))
        rd_store_remove(dir, aside);
    close(dir);
}
