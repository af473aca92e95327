/* shim.c - loaded before the command (LD_PRELOAD), makes calls of the system fail.
 *
 * RDIM_FAULT_CALL is the name of a call below, or "short", RDIM_FAULT_AT which one of them fails, from 0 on,
 * RDIM_FAULT_ON whether all later ones do, and RDIM_FAULT_ERROR an errno to fail with instead of the usual
 * one; without a name all calls are counted.  RDIM_FAULT_COUNT is a file of shim.h's counters, mapped, in which
 * all processes of a run count the calls
 * together: what fails is the n-th call of the run, be it the reader's or the command's.  "short" halves
 * what each read and write does.  Of memory, of threads and of names in libraries only the program's own calls
 * are counted, as libraries crash without them: "memory" is each call of malloc() and the like, and "places" is the
 * first one of each place in its code. */
#include "shim.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static fault_count *calls;
static const char  *failing = "";
static long         failing_at;
static bool         and_all_later;
static int          failing_error;

static uintptr_t code, code_end; /* of the program */

static const char *setting(const char *name)
{
    const char *value = getenv(name);

    return value ? value : "";
}

/* The first object is the program. */
static int find_code(struct dl_phdr_info *info, size_t n, void *none)
{
    (void)n;
    (void)none;
    for (int k = 0; k < info->dlpi_phnum; k++)
        if (info->dlpi_phdr[k].p_type == PT_LOAD && info->dlpi_phdr[k].p_flags & PF_X) {
            code     = info->dlpi_addr + info->dlpi_phdr[k].p_vaddr;
            code_end = code + info->dlpi_phdr[k].p_memsz;
        }
    return 1;
}

__attribute__((constructor)) static void begin(void)
{
    dl_iterate_phdr(find_code, NULL);

    const long fd = syscall(SYS_openat, AT_FDCWD, setting("RDIM_FAULT_COUNT"), O_RDWR);
    const long at = syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    syscall(SYS_close, fd);
    if (fd < 0 || at == -1)
        return;
    calls         = (fault_count *)at;
    failing       = setting("RDIM_FAULT_CALL");
    failing_at    = atol(setting("RDIM_FAULT_AT"));
    and_all_later = *setting("RDIM_FAULT_ON");
    failing_error = atoi(setting("RDIM_FAULT_ERROR"));
}

static bool fails(const char *name, int error)
{
    if (!calls || (*failing && strcmp(failing, name) != 0))
        return false;
    const long k = atomic_fetch_add(&fault_counter(calls, name)->n, 1);
    if (!*failing)
        return false;
    if (k != failing_at && !(and_all_later && failing_at >= 0 && k > failing_at))
        return false;
    errno = failing_error ? failing_error : error;
    return true;
}

static size_t shortened(size_t n)
{
    return calls && n > 1 && strcmp(failing, "short") == 0 ? (n + 1) / 2 : n;
}

/* RTLD_NEXT's function of the same name and type. */
#define REAL(name)                 \
    static __typeof__(&name) real; \
    if (!real)                     \
    *(void **)&real = dlsym(RTLD_NEXT, #name)

#define OPENS(name, before, ...)                                                      \
    int name(before const char *path, int flags, ...)                                 \
    {                                                                                 \
        va_list list;                                                                 \
        REAL(name);                                                                   \
        va_start(list, flags);                                                        \
        const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
        va_end(list);                                                                 \
        return fails("open", EMFILE) ? -1 : real(__VA_ARGS__, mode);                  \
    }
#define COMMA ,
OPENS(open, , path, flags)
OPENS(open64, , path, flags)
OPENS(openat, int folder COMMA, folder, path, flags)
OPENS(openat64, int folder COMMA, folder, path, flags)

#define READS(name, ...)                                                         \
    {                                                                            \
        REAL(name);                                                              \
        return fails("read", EIO) ? -1 : real(fd, to, shortened(n) __VA_ARGS__); \
    }
ssize_t read(int fd, void *to, size_t n) READS(read) ssize_t
    pread(int fd, void *to, size_t n, off_t at) READS(pread, , at) ssize_t
    pread64(int fd, void *to, size_t n, off64_t at) READS(pread64, , at)

/* What is said to people is no file. */
#define WRITES(name, ...)                                                   \
    {                                                                       \
        REAL(name);                                                         \
        return fd > 2 && fails("write", ENOSPC)                             \
                   ? -1                                                     \
                   : real(fd, from, fd > 2 ? shortened(n) : n __VA_ARGS__); \
    }
        ssize_t write(int fd, const void *from, size_t n) WRITES(write) ssize_t
    pwrite(int fd, const void *from, size_t n, off_t at) WRITES(pwrite, , at) ssize_t
    pwrite64(int fd, const void *from, size_t n, off64_t at) WRITES(pwrite64, , at)

#define SIMPLE(type, name, as, error, failure, parameters, arguments) \
    type name parameters                                              \
    {                                                                 \
        REAL(name);                                                   \
        return fails(#as, error) ? (failure) : real arguments;        \
    }
        SIMPLE(void *, mmap, mmap, ENOMEM, MAP_FAILED,
               (void *at, size_t n, int p, int f, int fd, off_t o),
               (at, n, p, f, fd, o)) SIMPLE(void *, mmap64, mmap, ENOMEM, MAP_FAILED,
                                            (void *at, size_t n, int p, int f, int fd, off64_t o),
                                            (at, n, p, f, fd, o))
            SIMPLE(int, munmap, munmap, ENOMEM, -1, (void *at, size_t n), (at, n))
                SIMPLE(int, ftruncate, ftruncate, ENOSPC, -1, (int fd, off_t n), (fd, n))
                    SIMPLE(int, ftruncate64, ftruncate, ENOSPC, -1, (int fd, off64_t n),
                           (fd, n)) SIMPLE(int, posix_fallocate, fallocate, ENOSPC, errno,
                                           (int fd, off_t at, off_t n), (fd, at, n))
                        SIMPLE(int, posix_fallocate64, fallocate, ENOSPC, errno,
                               (int fd, off64_t at, off64_t n),
                               (fd, at, n)) SIMPLE(int, fsync, fsync, EIO, -1, (int fd), (fd))
                            SIMPLE(int, rename, rename, EACCES, -1, (const char *a, const char *b),
                                   (a, b)) SIMPLE(pid_t, fork, fork, EAGAIN, -1, (void), ())
                                SIMPLE(int, posix_spawn, posix_spawn, EAGAIN, errno,
                                       (pid_t *restrict p, const char *restrict f,
                                        const posix_spawn_file_actions_t *restrict a,
                                        const posix_spawnattr_t *restrict s,
                                        char *const *restrict v, char *const *restrict e),
                                       (p, f, a, s, v, e))
                                    SIMPLE(ssize_t, sendmsg, sendmsg, EPIPE, -1,
                                           (int fd, const struct msghdr *m, int f), (fd, m, f))
                                        SIMPLE(ssize_t, recvmsg, recvmsg, ECONNRESET, -1,
                                               (int fd, struct msghdr *m, int f), (fd, m, f))
                                            SIMPLE(int, socketpair, socketpair, EMFILE, -1,
                                                   (int a, int b, int c, int v[2]), (a, b, c, v))

    /* Closed it is all the same, as Linux does. */
    int close(int fd)
{
    REAL(close);
    const bool failed = fails("close", EIO);
    const int  error = errno, status = real(fd);

    errno = failed ? error : errno;
    return failed ? -1 : status;
}

void *dlopen(const char *path, int flags)
{
    REAL(dlopen);
    return path && fails("dlopen", 0) ? NULL : real(path, flags);
}

/* ---- Calls of the program alone ---------------------------------------------------------------- */
#define IS_OURS() is_ours((uintptr_t)__builtin_return_address(0))
static bool is_ours(uintptr_t from)
{
    return calls && from >= code && from < code_end;
}

/* Has no call come from there? */
static bool is_new(uintptr_t from)
{
    static _Atomic uintptr_t seen[4096];

    for (size_t k = 0; k < sizeof seen / sizeof *seen; k++) {
        uintptr_t none = 0;

        if (atomic_compare_exchange_strong(&seen[k], &none, from))
            return true;
        if (none == from)
            return false;
    }
    return false;
}

static bool lacks_memory(uintptr_t from)
{
    if (!is_ours(from))
        return false;
    return (is_new(from) && fails("places", ENOMEM)) || fails("memory", ENOMEM);
}

/* glibc's own names of its functions, as dlsym() may ask for memory. */
#define MEMORY(name, parameters, arguments)                                                    \
    extern void *__libc_##name parameters; /* NOLINT */                                        \
    void *name                 parameters                                                      \
    {                                                                                          \
        return lacks_memory((uintptr_t)__builtin_return_address(0)) ? NULL                     \
                                                                    : __libc_##name arguments; \
    }
MEMORY(malloc, (size_t n), (n))
MEMORY(calloc, (size_t n, size_t size), (n, size))
MEMORY(realloc, (void *at, size_t n), (at, n))

int vasprintf(char **to, const char *format, va_list list)
{
    REAL(vasprintf);
    return lacks_memory((uintptr_t)__builtin_return_address(0)) ? -1 : real(to, format, list);
}

int asprintf(char **to, const char *format, ...)
{
    static __typeof__(&vasprintf) real;
    va_list                       list;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "vasprintf");
    if (lacks_memory((uintptr_t)__builtin_return_address(0)))
        return -1;
    va_start(list, format);
    const int n = real(to, format, list);
    va_end(list);
    return n;
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict how,
                   void *(*work)(void *of), void *restrict of)
{
    REAL(pthread_create);
    return IS_OURS() && fails("thread", 0) ? EAGAIN : real(thread, how, work, of);
}

int fstat(int fd, struct stat *to)
{
    REAL(fstat);
    return IS_OURS() && fails("fstat", EIO) ? -1 : real(fd, to);
}

/* Of a library that is older, or newer, than what is known. */
void *dlsym(void *restrict file, const char *restrict name)
{
    static const char *const  versions[] = { "GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17" };
    static __typeof__(&dlsym) real;

    for (int k = 0; !real && k < 3; k++)
        *(void **)&real = dlvsym(RTLD_NEXT, "dlsym", versions[k]);
    return !real || (IS_OURS() && fails("dlsym", 0)) ? NULL : real(file, name);
}
