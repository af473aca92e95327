/* store.c - the directory of compiled objects. */
#define _POSIX_C_SOURCE 200809L
#include "kernels/store/store.h"
#include "kernels/store/hash.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- The directory --------------------------------------------------------------------------- */
/* Writes the user's cache directory by the XDG rules: $XDG_CACHE_HOME, else $HOME/.cache.
 * Values that are not absolute paths are ignored.  `room`: bytes of `path`.  False: neither is
 * usable, or the path is too long. */
static bool base_path(const char *cache, const char *home, char *path, size_t room)
{
    int n = -1;

    if (cache && cache[0] == '/')
        n = snprintf(path, room, "%s", cache);
    else if (home && home[0] == '/')
        n = snprintf(path, room, "%s/.cache", home);
    return n > 0 && (size_t)n < room;
}

/* True if only the user can enter the directory: others could have written files to it. */
static bool is_private(int dir)
{
    struct stat facts;

    return fstat(dir, &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid() &&
           (facts.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

/* Opens the directory "rdim" below the user's cache directory, and makes both if they are
 * missing.  Returns a file descriptor, -1: there is none, or others than the user can enter it.
 * Links are not followed. */
int rd_store_open(const char *cache, const char *home)
{
    char path[4096];
    int  base, dir;

    if (!base_path(cache, home, path, sizeof path) ||
        (mkdir(path, S_IRWXU) != 0 && errno != EEXIST))
        return -1;
    base = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (base < 0)
        return -1;
    dir = mkdirat(base, "rdim", S_IRWXU) == 0 || errno == EEXIST
              ? openat(base, "rdim", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
              : -1;
    close(base);
    if (dir >= 0 && !is_private(dir)) {
        close(dir);
        dir = -1;
    }
    return dir;
}

/* ---- Files ----------------------------------------------------------------------------------- */
/* Writes a file name that is not in use: stem, process number, counter, ending.  `room`: bytes
 * of `name`.  False: the name is too long, or no free one was found. */
bool rd_store_aside(int dir, const char *stem, const char *ending, char *name, int room)
{
    enum { NAMES = 100 }; /* those of a killed process with our number may be in the way */
    static atomic_uint counter;

    for (int k = 0; k < NAMES; k++) {
        const int n = snprintf(name, (size_t)room, "%s.%ld.%u%s", stem, (long)getpid(),
                               atomic_fetch_add(&counter, 1), ending);
        if (n < 0 || n >= room)
            return false;
        if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
            return errno == ENOENT;
    }
    return false;
}

/* Removes a file of the cache directory. Errors are ignored, because another process may have
 * removed it. */
void rd_store_remove(int dir, const char *name)
{
    (void)unlinkat(dir, name, 0);
}

/* True if a file name ends with `ending` and has something before it. */
static bool has_ending(const char *name, const char *ending)
{
    const size_t n = strlen(name), k = strlen(ending);
    return n > k && strcmp(name + n - k, ending) == 0;
}

/* Removes temporary files (.c, .tmp) that are older than an hour: processes that were killed
 * have left them. */
void rd_store_sweep(int dir)
{
    enum { OLD = 3600 }; /* seconds; a compiler is not waited for so long */
    const int      listing = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR           *files   = listing >= 0 ? fdopendir(listing) : NULL;
    const time_t   now     = time(NULL);
    struct dirent *file;
    struct stat    facts;

    if (!files) {
        if (listing >= 0)
            close(listing);
        return;
    }
    while ((file = readdir(files)))
        if ((has_ending(file->d_name, ".c") || has_ending(file->d_name, ".tmp")) &&
            fstatat(dir, file->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
            now - facts.st_mtime > OLD)
            rd_store_remove(dir, file->d_name);
    closedir(files);
}

/* Sets the file's time to now if it is older than an hour.  The time says when the object was
 * last used; objects that were used longest ago are removed first. */
static void note_use(int fd)
{
    enum { HOUR = 3600 };
    struct stat facts;

    if (fstat(fd, &facts) == 0 && time(NULL) - facts.st_mtime > HOUR)
        (void)futimens(fd, NULL);
}

/* Writes n bytes, and tries again after signals and short writes.  False: an error. */
static bool write_all(int fd, const void *bytes, long n)
{
    for (const char *at = bytes; n > 0;) {
        const ssize_t put = write(fd, at, (size_t)n);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += put;
        n -= put;
    }
    return true;
}

/* Writes a new file, which only the user can read.  False: a file of that name exists, or an
 * error; then no partial file is left. */
bool rd_store_write(int dir, const char *name, const char *bytes, long n)
{
    const int fd =
        openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    bool whole = fd >= 0 && write_all(fd, bytes, n);

    if (fd < 0)
        return false;
    whole = close(fd) == 0 && whole;
    if (!whole)
        rd_store_remove(dir, name);
    return whole;
}

/* ---- Seals ----------------------------------------------------------------------------------- */
typedef struct seal {
    char     magic[16]; /* MAGIC */
    uint64_t bytes;     /* of the file before the seal */
    rd_hash  hash;      /* of the bytes before the seal */
} seal;
static const char MAGIC[16] = "rdim sealed it 1";

/* Makes the seal of the first n bytes of a file: a magic text, the length, and a hash of the
 * bytes.  False: the file cannot be mapped. */
static bool make_seal(int fd, uint64_t n, seal *s)
{
    const void *bytes = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);

    if (bytes == MAP_FAILED)
        return false;
    *s = (seal){ .bytes = n, .hash = rd_hash_add(rd_hash_begin(), bytes, n) };
    memcpy(s->magic, MAGIC, sizeof MAGIC);
    munmap((void *)bytes, n);
    return true;
}

/* True if the open file is a regular file of the user's that nobody else can write to; *bytes
 * gets its size. */
static bool is_ours(int fd, uint64_t *bytes)
{
    struct stat facts;

    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_uid != geteuid() ||
        (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return false;
    *bytes = (uint64_t)facts.st_size;
    return true;
}

/* Makes the temporary file `aside` an object of the cache: closes it to other users, appends the
 * seal (length and hash of its bytes), and renames it to `name`. A rename is atomic, so readers
 * see all of it or none. False: something failed; the temporary file remains. */
bool rd_store_put(int dir, const char *aside, const char *name)
{
    const int fd   = openat(dir, aside, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    uint64_t  n    = 0;
    bool      done = false;
    seal      s;

    if (fd < 0)
        return false;
    /* The linker's file has the mode that the umask leaves, which may be open to all. */
    done = fchmod(fd, S_IRUSR | S_IWUSR) == 0 && is_ours(fd, &n) && n > 0 && make_seal(fd, n, &s) &&
           write_all(fd, &s, sizeof s);
    done = close(fd) == 0 && done;
    return done && renameat(dir, aside, dir, name) == 0;
}

/* True if the file belongs to the user alone and ends with a seal (a magic text, and length and
 * hash of the bytes before it) that fits those bytes. */
static bool is_sealed(int fd)
{
    uint64_t n = 0;
    seal     found, want;

    return is_ours(fd, &n) && n > sizeof found &&
           pread(fd, &found, sizeof found, (off_t)(n - sizeof found)) == (ssize_t)sizeof found &&
           make_seal(fd, n - sizeof found, &want) && memcmp(&found, &want, sizeof want) == 0;
}

/* True if the directory has an object of that name that is the user's and has a seal (length and
 * hash) that fits it; it is noted as used now. Any other file of that name, a link too, is
 * removed. */
bool rd_store_has(int dir, const char *name)
{
    const int fd   = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    const int why  = errno;
    bool      good = fd >= 0 && is_sealed(fd);

    if (good)
        note_use(fd);
    if (fd >= 0)
        close(fd);
    if (!good && (fd >= 0 || why != ENOENT))
        rd_store_remove(dir, name);
    return good;
}

/* Reads n bytes from the beginning of a file, and tries again after signals and short reads.
 * False: an error, or fewer bytes. */
static bool read_all(int fd, char *bytes, size_t n)
{
    for (size_t at = 0; at < n;) {
        const ssize_t got = pread(fd, bytes + at, n - at, (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += (size_t)got;
    }
    return true;
}

/* Returns the bytes of an object, malloc'ed, without the seal behind them (their length and
 * hash), and their number in *n; NULL: there is no good one. The object is read into memory
 * first and then compared with its seal, so that nobody can change it in between. A bad object
 * is removed. */
char *rd_store_read(int dir, const char *name, size_t *n)
{
    const int fd    = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    uint64_t  all   = 0;
    char     *bytes = NULL;
    seal      s;

    if (fd < 0)
        return NULL;
    if (is_ours(fd, &all) && all > sizeof s && (bytes = malloc(all)) && !read_all(fd, bytes, all)) {
        free(bytes);
        bytes = NULL;
    }
    if (bytes)
        note_use(fd);
    close(fd);
    *n = bytes ? all - sizeof s : 0;
    if (bytes) {
        const rd_hash hash = rd_hash_add(rd_hash_begin(), bytes, *n);

        memcpy(&s, bytes + *n, sizeof s);
        if (memcmp(s.magic, MAGIC, sizeof MAGIC) == 0 && s.bytes == *n && s.hash.a == hash.a &&
            s.hash.b == hash.b)
            return bytes;
        free(bytes);
    }
    rd_store_remove(dir, name);
    return NULL;
}
