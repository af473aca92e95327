/* library.c - whose crash is it?  The innermost frame that is not the C library's or a sanitizer's says so. */
#include "fuzz/library.h"
#include "fuzz/driver.h"
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FRAMES = 64 };

static const char *contained;

/* Of glibc, the compiler's runtimes and the loader. */
static bool is_of_system(const char *name)
{
    static const char *const names[] = { "libc.so",     "libm.so",     "libasan.so",
                                         "libubsan.so", "libgcc_s.so", "ld-linux" };

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strncmp(name, names[k], strlen(names[k])) == 0)
            return true;
    return false;
}

static const char *file_of(void *frame)
{
    Dl_info           info;
    const char *const path  = dladdr(frame, &info) && info.dli_fname ? info.dli_fname : "";
    const char *const slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int past_system(void *const *frame, int n, int k)
{
    while (k < n && is_of_system(file_of(frame[k])))
        k++;
    return k;
}

/* The first frames are a sanitizer's backtrace(), if there is one, and the handler's own. */
static void handle(int number)
{
    void     *frame[MOST_FRAMES];
    const int n = backtrace(frame, MOST_FRAMES);
    const int k = past_system(frame, n, past_system(frame, n, 0) + 1);

    if (k < n && strncmp(file_of(frame[k]), contained, strlen(contained)) == 0)
        _exit(RD_FUZZ_BROKE);
    signal(number, SIG_DFL);
    raise(number);
}

void rd_fuzz_contain(const char *library)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGPROF };
    void            *frame[1];

    contained = library;
    (void)backtrace(frame, 1); /* which loads what it needs, and a handler must not */
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++)
        sigaction(signals[k], &(struct sigaction){ .sa_handler = handle, .sa_flags = SA_NODEFER },
                  NULL);
}

/* The handler hears what the sanitizer has found, too. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0:"
           "abort_on_error=1:detect_leaks=0:allocator_may_return_null=1";
}
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "abort_on_error=1:print_stacktrace=1";
}
