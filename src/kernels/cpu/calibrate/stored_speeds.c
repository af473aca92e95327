/* stored_speeds.c - measured speeds in the store: a sealed file for each processor, compiler and
 * instruction set. */
#include "kernels/cpu/calibrate/calibrate.h"
#include "core/caches.h"
#include "core/environment.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/jit/compiler.h"
#include "kernels/store/store.h"
#include "rdim.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_NAME = RD_HASH_TEXT + 16 };

/* ---- Where they count ------------------------------------------------------------------------ */
/* Adds what /proc/cpuinfo says of the first processor: maker, model, stepping; not what changes
 * from moment to moment. */
static void add_processor(rd_text *text)
{
    static const char *const keys[] = { "vendor_id", "cpu family",      "model",
                                        "stepping",  "CPU implementer", "CPU part" };
    char                     line[256];
    FILE *const              file = fopen("/proc/cpuinfo", "re");

    while (file && fgets(line, sizeof line, file) && line[0] != '\n')
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const char *const colon = strchr(line, ':');

            if (colon && strncmp(line, keys[k], strlen(keys[k])) == 0)
                /* behind ": " */
                rd_text_add(text, "%.*s ", (int)strcspn(colon + 2, "\n"), colon + 2);
        }
    if (file)
        fclose(file);
}

/* Adds the first line of the file of speeds, which says where they were measured: release,
 * processors, compiler, vectors. */
void rd_speeds_where(rd_text *text)
{
    rd_compiler cc;
    char        identity[RD_HASH_TEXT] = "none";

    if (rd_compiler_find(&cc, rd_env_snapshot_now()))
        rd_hash_text(cc.identity, identity);
    rd_text_add(text, "rdim speeds, release %06x, processors %ld, ", RD_VERSION,
                sysconf(_SC_NPROCESSORS_ONLN));
    add_processor(text);
    rd_text_add(text, "compiler %s, vectors of %d bytes", identity, rd_cpu_vector());
}

/* Makes the name of the file from the hash of its first line: "speeds-<hash>". */
static void name_of(const rd_text *where, char name[FILE_NAME])
{
    char hash[RD_HASH_TEXT];

    rd_hash_text(rd_hash_add(rd_hash_begin(), where->at, where->n), hash);
    snprintf(name, FILE_NAME, "speeds-%s", hash);
}

/* Opens the directory of the store; -1: there is none. */
static int open_store(void)
{
    return rd_store_open(rd_environment(RD_ENV_XDG_CACHE_HOME), rd_environment(RD_ENV_HOME));
}

/* ---- The file -------------------------------------------------------------------------------- */
/* Returns the text of a file of the store, with a 0 behind it; the caller frees it.  NULL: there is
 * none. */
static char *read_text(int dir, const char *name)
{
    size_t      n    = 0;
    char *const read = rd_store_read(dir, name, &n);
    char *const text = read ? realloc(read, n + 1) : NULL;

    if (!text) {
        free(read);
        return NULL;
    }
    text[n] = '\0';
    return text;
}

/* Reads the speeds from the file for this machine.  False: there is none that can be read, and s is
 * as before. */
bool rd_speeds_load(rd_speeds *s)
{
    const int dir   = open_store();
    rd_text   where = { 0 };
    char      name[FILE_NAME];
    char     *text = NULL;
    bool      done = false;

    rd_speeds_where(&where);
    if (dir >= 0 && !where.failed) {
        name_of(&where, name);
        text = read_text(dir, name);
        done = text && rd_speeds_read(text, where.at, s);
    }
    free(text);
    rd_text_free(&where);
    if (dir >= 0)
        close(dir);
    return done;
}

/* Writes the speeds to the file for this machine, by way of a temporary one, whose name
 * rd_store_aside() makes, and which rd_store_put() renames.  False: it cannot be written. */
static bool write_file(int dir, const rd_speeds *s, const rd_text *where)
{
    rd_text text = { 0 };
    char    name[FILE_NAME], temporary[FILE_NAME + 32];
    bool    done = false;

    name_of(where, name);
    rd_speeds_text(&text, s, where->at);
    if (!text.failed && rd_store_aside(dir, name, ".tmp", temporary, sizeof temporary) &&
        rd_store_write(dir, temporary, text.at, (long)text.n)) {
        done = rd_store_put(dir, temporary, name);
        if (!done)
            rd_store_remove(dir, temporary);
    }
    rd_text_free(&text);
    return done;
}

/* Writes the measured speeds to the file of this machine. False: it cannot be written. */
bool rd_speeds_save(const rd_speeds *s)
{
    const int dir   = open_store();
    rd_text   where = { 0 };
    bool      done  = false;

    rd_speeds_where(&where);
    if (dir >= 0 && !where.failed)
        done = write_file(dir, s, &where);
    rd_text_free(&where);
    if (dir >= 0)
        close(dir);
    return done;
}

/* ---- Caches ---------------------------------------------------------------------------------- */
/* Returns the bytes of the last cache that one thread can count on: at most 32 MiB, as processors
 * share it. Without a third level, four times the second one is assumed. */
static int64_t last_level(int64_t l2)
{
    enum { MOST = 32 << 20 };
    long size = 0;

#ifdef _SC_LEVEL3_CACHE_SIZE
    size = sysconf(_SC_LEVEL3_CACHE_SIZE); /* 0 or -1: not known */
#endif
    return size <= 0 ? 4 * l2 : size > MOST ? MOST : size;
}

/* Returns the usual speeds of processors with such vectors, with the cache sizes of this
 * machine. */
static rd_speeds unmeasured_speeds(void)
{
    const rd_cache_sizes caches = rd_caches();
    rd_speeds            s      = rd_speeds_usual(rd_cpu_vector());

    s.bytes_l1 = caches.l1;
    s.bytes_l2 = caches.l2;
    s.bytes_l3 = last_level(caches.l2);
    return s;
}

/* ---- Once in a process ----------------------------------------------------------------------- */
/* Returns the speeds of the process. `read`: first sets them from the store, or to the usual
 * ones. */
static const rd_speeds *speeds_of_process(bool read)
{
    static rd_speeds speeds;

    if (read) {
        speeds = unmeasured_speeds();
        (void)rd_speeds_load(&speeds);
    }
    return &speeds;
}

/* Sets the speeds of the process, for pthread_once(). */
static void read_once(void)
{
    (void)speeds_of_process(/*read=*/true);
}

/* Returns the speeds of this machine, which the first call reads. */
const rd_speeds *rd_speeds_here(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_once);
    return speeds_of_process(/*read=*/false);
}
