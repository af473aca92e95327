/* modules.c - kernel texts compiled to images: once in a process, and kept in the user's cache
 * directory for other processes.
 *
 * A module is a compiled text; its image is what the driver loads. */
#define _GNU_SOURCE /* strdup */
#include "kernels/cuda/gpu.h"
#include "core/environment.h"
#include "core/clock.h"
#include "kernels/cuda/nvrtc.h"
#include "kernels/store/hash.h"
#include "kernels/store/store.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The version of the images' format.  It is part of their key. */
static const char FORM[] = "rdim image 1";

/* A module as one GPU has it. */
typedef struct loaded_module {
    struct loaded_module *next;
    const rd_gpu         *gpu;
    CUmodule              module; /* as the driver has loaded it */
} loaded_module;

/* The image of a text for an architecture. */
struct rd_module {
    struct rd_module *next;
    rd_hash           hash;              /* of its text, NVRTC and options */
    int32_t           architecture;      /* 90 is compute capability 9.0 */
    char             *image;             /* NULL: it does not compile */
    size_t            n;                 /* bytes of the image */
    char             *text;              /* of a stored image that no driver has accepted yet */
    char              why[RD_CUDA_TEXT]; /* why it does not compile */
    loaded_module    *loaded;            /* on each GPU that uses it */
};

/* Modules stay for the life of the process, as compiled loops do. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static rd_module      *modules;
static rd_module_stats stats;

/* Returns the counts of compiled, stored and failed texts of this process, and the seconds spent
 * in NVRTC. */
rd_module_stats rd_module_stats_now(void)
{
    rd_module_stats now;

    pthread_mutex_lock(&lock);
    now = stats;
    pthread_mutex_unlock(&lock);
    return now;
}

/* ---- The store ------------------------------------------------------------------------------- */
/* The place of an image in the cache directory. */
typedef struct cache_entry {
    int  dir; /* the directory's descriptor, -1: there is none */
    char key[RD_HASH_TEXT], name[RD_HASH_TEXT + 16];
} cache_entry;

/* Opens the cache directory, and makes the name of an image's file: its hash and the GPU's
 * architecture. dir -1: there is no directory.  A setuid program reads no environment variables,
 * so it keeps nothing. */
static void open_entry(const rd_module *m, cache_entry *e)
{
    e->dir = rd_store_open(rd_environment(RD_ENV_XDG_CACHE_HOME), rd_environment(RD_ENV_HOME));
    rd_hash_text(m->hash, e->key);
    snprintf(e->name, sizeof e->name, "%s.sm_%d", e->key, (int)m->architecture);
}

/* Reads a compiled image from the cache directory.  The file begins with the image's key, which
 * must match.  False: there is none. */
static bool find_stored(rd_module *m, const cache_entry *e)
{
    char  *bytes;
    size_t n;

    if (e->dir < 0 || !(bytes = rd_store_read(e->dir, e->name, &n)))
        return false;
    if (n > RD_HASH_TEXT && memcmp(bytes, e->key, RD_HASH_TEXT) == 0) {
        m->n     = n - RD_HASH_TEXT;
        m->image = malloc(m->n);
        if (m->image)
            memcpy(m->image, bytes + RD_HASH_TEXT, m->n);
    }
    free(bytes);
    return m->image;
}

/* Writes a compiled image to the cache directory: to a temporary file first, which then gets its
 * name in one step, so that no reader sees half of it. Errors are ignored, as the cache only
 * saves time. The directory is trimmed to its limit. */
static void store_image(const rd_module *m, const cache_entry *e)
{
    char  aside[RD_HASH_TEXT + 48];
    char *bytes = malloc(RD_HASH_TEXT + m->n);

    if (bytes && e->dir >= 0 && rd_store_aside(e->dir, e->key, ".tmp", aside, sizeof aside)) {
        memcpy(bytes, e->key, RD_HASH_TEXT);
        memcpy(bytes + RD_HASH_TEXT, m->image, m->n);
        if (rd_store_write(e->dir, aside, bytes, (long)(RD_HASH_TEXT + m->n)) &&
            !rd_store_put(e->dir, aside, e->name))
            rd_store_remove(e->dir, aside);
        rd_store_trim(e->dir, rd_environment(RD_ENV_RDIM_CACHE_LIMIT));
    }
    free(bytes);
}

/* ---- Making ---------------------------------------------------------------------------------- */
/* Appends the first error of the compiler's messages to the reason of a failure, up to the end
 * of its line. 7 is the length of "error: ". */
static void add_message(rd_module *m, const char *log)
{
    const char  *at = log ? strstr(log, "error: ") : NULL;
    const size_t n  = strlen(m->why);

    if (at)
        snprintf(m->why + n, sizeof m->why - n, ": %.*s", (int)strcspn(at + 7, "\n"), at + 7);
}

/* Compiles a text by NVRTC; m->image stays NULL if it does not compile, and m->why has the
 * reason.  Counts the time and the outcome. */
static void compile(rd_module *m, const char *text)
{
    const rd_nvrtc_text source = { .text         = text,
                                   .name         = "rdim.cu",
                                   .architecture = m->architecture };
    const double        begun  = rd_seconds();
    rd_nvrtc_image      image;

    if (rd_nvrtc_compile(&source, &image, m->why)) {
        m->image    = image.bytes;
        m->n        = image.n;
        image.bytes = NULL;
        stats.compiled++;
    } else {
        add_message(m, image.log);
        stats.failed++;
    }
    stats.seconds += rd_seconds() - begun;
    rd_nvrtc_free(&image);
}

/* Hashes all that an image depends on: the format, NVRTC's version, its options and the text. */
static rd_hash hash_of(const char *text)
{
    const rd_nvrtc *nvrtc      = rd_nvrtc_api(/*why=*/NULL);
    int             version[2] = { 0 };

    if (nvrtc)
        (void)nvrtc->nvrtcVersion(&version[0], &version[1]);
    rd_hash hash = rd_hash_add(rd_hash_begin(), FORM, sizeof FORM);

    hash = rd_hash_add(hash, version, sizeof version);
    for (const char *const *option = rd_nvrtc_options; *option; option++)
        hash = rd_hash_add(hash, *option, strlen(*option) + 1);
    return rd_hash_add(hash, text, strlen(text));
}

/* Finds a module that this process has made; NULL: none.  The caller holds the lock. */
static rd_module *find(rd_hash hash, int32_t architecture)
{
    for (rd_module *m = modules; m; m = m->next)
        if (m->hash.a == hash.a && m->hash.b == hash.b && m->architecture == architecture)
            return m;
    return NULL;
}

/* Makes a module: from the cache directory, or by compiling the text, and adds it to the list.
 * The text of a stored image is kept, as the driver might refuse the image.  The caller holds
 * the lock.  NULL: no memory. */
static rd_module *make_module(const char *text, rd_hash hash, int32_t architecture)
{
    rd_module  *m = calloc(1, sizeof *m);
    cache_entry e;

    if (!m)
        return NULL;
    m->hash         = hash;
    m->architecture = architecture;
    open_entry(m, &e);
    if (find_stored(m, &e)) {
        stats.stored++;
        m->text = strdup(text);
    } else {
        compile(m, text);
        if (m->image)
            store_image(m, &e);
    }
    if (e.dir >= 0)
        close(e.dir);
    m->next = modules;
    modules = m;
    return m;
}

/* Compiles the text of a module again, since the driver refuses the stored image; the new image
 * replaces the stored one, if there is a cache directory (dir >= 0). False: the text does not
 * compile, and the old image stays. */
static bool make_again(rd_module *m)
{
    char *const  old = m->image;
    const size_t n   = m->n;
    cache_entry  e;

    m->image = NULL;
    compile(m, m->text);
    free(m->text);
    m->text = NULL;
    if (!m->image) {
        m->image = old;
        m->n     = n;
        return false;
    }
    free(old);
    open_entry(m, &e);
    store_image(m, &e);
    if (e.dir >= 0)
        close(e.dir);
    return true;
}

/* Returns the compiled module of a text: one of this process, one of the cache directory, or a
 * new one.  NULL: it does not compile, and `why` has the reason. */
const rd_module *rd_module_of(const char *text, int32_t architecture, char why[RD_CUDA_TEXT])
{
    const rd_hash hash = hash_of(text);
    rd_module    *m;
    bool          made;

    pthread_mutex_lock(&lock);
    m = find(hash, architecture);
    if (!m)
        m = make_module(text, hash, architecture);
    made = m && m->image;
    if (!made)
        snprintf(why, RD_CUDA_TEXT, "%s", m ? m->why : "out of memory");
    pthread_mutex_unlock(&lock);
    return made ? m : NULL;
}

/* ---- Loading --------------------------------------------------------------------------------- */
/* Loads an image on the GPU.  If the driver refuses a stored image, and not for lack of memory,
 * its text is compiled again.  After the first success the text is dropped. */
static bool load_image(rd_module *m, rd_gpu *gpu, CUmodule *module, char why[RD_CUDA_TEXT])
{
    bool full, done = RD_GPU_TAKE(gpu, &full, why, cuModuleLoadData, module, m->image);

    if (!done && !full && m->text && make_again(m))
        done = RD_GPU_TAKE(gpu, &full, why, cuModuleLoadData, module, m->image);
    if (done) {
        free(m->text);
        m->text = NULL;
    }
    return done;
}

/* Returns the module as loaded on this GPU; the first call loads it there. Each GPU has its own
 * entry in the list m->loaded. NULL: `why` has the reason. The caller holds the lock and has
 * entered the GPU's context. */
static loaded_module *load(rd_module *m, rd_gpu *gpu, char why[RD_CUDA_TEXT])
{
    loaded_module *l = m->loaded;

    while (l && l->gpu != gpu)
        l = l->next;
    if (l)
        return l;
    l = calloc(1, sizeof *l);
    if (!l) {
        snprintf(why, RD_CUDA_TEXT, "out of memory");
        return NULL;
    }
    if (!load_image(m, gpu, &l->module, why)) {
        free(l);
        return NULL;
    }
    l->gpu    = gpu;
    l->next   = m->loaded;
    m->loaded = l;
    return l;
}

/* Finds a kernel by its name in a module on a GPU; the first call loads the module there.
 * False: `why` has the reason. */
bool rd_module_kernel(const rd_module *module, rd_gpu *gpu, const char *name, CUfunction *kernel,
                      char why[RD_CUDA_TEXT])
{
    rd_module     *m    = (rd_module *)module;
    bool           done = false, full;
    loaded_module *l;

    if (!rd_gpu_enter(gpu, why))
        return false;
    pthread_mutex_lock(&lock);
    l    = load(m, gpu, why);
    done = l && RD_GPU_TAKE(gpu, &full, why, cuModuleGetFunction, kernel, l->module, name);
    pthread_mutex_unlock(&lock);
    rd_gpu_leave(gpu);
    return done;
}

/* Unloads all modules of a GPU, before its context is released. */
void rd_modules_unload(rd_gpu *gpu)
{
    char ignored[RD_CUDA_TEXT];

    if (!rd_gpu_enter(gpu, ignored))
        return;
    pthread_mutex_lock(&lock);
    for (rd_module *m = modules; m; m = m->next)
        for (loaded_module **at = &m->loaded; *at;) {
            loaded_module *const l = *at;

            if (l->gpu != gpu) {
                at = &l->next;
                continue;
            }
            *at = l->next;
            (void)RD_GPU_CALL(gpu, ignored, cuModuleUnload, l->module);
            free(l);
        }
    pthread_mutex_unlock(&lock);
    rd_gpu_leave(gpu);
}
