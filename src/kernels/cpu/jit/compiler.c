/* compiler.c - finds and runs the system's C compiler.
 *
 * Patience is how many seconds a compilation may take before it is stopped. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "kernels/cpu/jit/compiler.h"
#include "core/clock.h"
#include <errno.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Further flags for gcc, which change speed alone.  clang does not know them, and needs none.
 *     -fno-thread-jumps          a jump past a second choice that the first one decides keeps gcc
 *                                from vectorising
 *     -fdisable-tree-cunrolli    so do short loops (rows of 8) that are unrolled before vectors are
 *                                sought
 *     -fno-loop-unroll-and-jam   our passes combine rows: two short rows from memory at once take
 *                                twice the time of one after the other
 *     -fschedule-insns ..        an element is a long chain of operations, and the next vector
 *                                fills the time that it takes (gcc 12 on a Zen 4: 16 % of a
 *                                Gaussian sum over pairs in f32, 13 % in f64)
 *     -fno-tree-loop-distribute-patterns
 *                                a loop that fills an array for exp is no memcpy, which would put
 *                                the array in memory
 *     -falign-loops=32           loops of a few instructions, as of sparse rows, take a fourth more
 *                                where they cross a line of 32 bytes */
static const char *const gcc_flags[] = {
    "-fno-thread-jumps", "-fdisable-tree-cunrolli", "-fno-loop-unroll-and-jam",
    "-fschedule-insns",  "-fsched-pressure",        "-fno-tree-loop-distribute-patterns",
    "-falign-loops=32"
};
enum { N_GCC_FLAGS = sizeof gcc_flags / sizeof *gcc_flags };

/* Returns the compiler's flags for vectors of so many bytes (64, 32 or the baseline); NULL is
 * behind the last.  They are those of the library's own kernels.  `rounds`: the text rounds an f64
 * to a narrower float, which needs a further flag, the first of each list.  Nobody frees them.  `+
 * !rounds` passes over the first flag. */
const char *const *rd_compiler_flags(int vector_bytes, bool rounds)
{
    /* As the library's own kernels are compiled, see CMakeLists.txt. */
#define ALWAYS                                                                         \
    "-std=gnu11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", \
        "-fvisibility=hidden", "-fPIC", "-shared", "-pipe", "-w"
    /* gcc 12 leaves out the rounding where adjacent f64 are rounded to f32 and used as f64 again.
     * Its vectoriser of adjacent values (SLP) is worth a factor of 3 elsewhere. */
#define IF_ROUNDS "-fno-tree-slp-vectorize"
    static const char *const baseline[] = { IF_ROUNDS, ALWAYS, NULL };
    static const char *const avx2[]     = { IF_ROUNDS, ALWAYS, "-mavx2", "-mfma", NULL };
    static const char *const avx512[]   = { IF_ROUNDS,    ALWAYS,       "-mavx2",
                                            "-mfma",      "-mavx512f",  "-mavx512bw",
                                            "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512",
                                            NULL };

    return (vector_bytes == 64 ? avx512 : vector_bytes == 32 ? avx2 : baseline) + !rounds;
}

/* ---- Which ----------------------------------------------------------------------------------- */
/* Sets the identity of the compiler, a hash of what an update changes: its file (size, time, inode)
 * and our flags.  To ask it for its version would cost as much as a small compilation.  False: the
 * file cannot be run. */
static bool identify(rd_compiler *cc)
{
    struct stat facts;
    int64_t     numbers[4];

    if (stat(cc->path, &facts) != 0 || !S_ISREG(facts.st_mode) || access(cc->path, X_OK) != 0)
        return false;
    numbers[0]   = facts.st_size;
    numbers[1]   = facts.st_mtim.tv_sec;
    numbers[2]   = facts.st_mtim.tv_nsec;
    numbers[3]   = (int64_t)facts.st_ino;
    cc->identity = rd_hash_add(rd_hash_begin(), cc->path, strlen(cc->path));
    cc->identity = rd_hash_add(cc->identity, numbers, sizeof numbers);
    for (size_t k = 0; k < N_GCC_FLAGS; k++)
        cc->identity = rd_hash_add(cc->identity, gcc_flags[k], strlen(gcc_flags[k]));
    return true;
}

/* Finds the program that RDIM_CC names, or cc, in the directories of PATH, and notes what
 * identifies it.  Only absolute paths count: the compiler runs in another directory, and the
 * current one may be anybody's.  False: there is none. */
bool rd_compiler_find(rd_compiler *cc, const rd_env_snapshot *surroundings)
{
    const char *asked = rd_env_snapshot_get(surroundings, "RDIM_CC"),
               *path  = rd_env_snapshot_get(surroundings, "PATH");
    const char *name  = asked && *asked ? asked : "cc";

    cc->surroundings = surroundings;
    if (strchr(name, '/')) {
        /* a path: PATH is not searched */
        return name[0] == '/' &&
               snprintf(cc->path, sizeof cc->path, "%s", name) < (int)sizeof cc->path &&
               identify(cc);
    }
    for (const char *at = path; at && *at;) {
        const size_t n = strcspn(at, ":");
        const int    k = snprintf(cc->path, sizeof cc->path, "%.*s/%s", (int)n, at, name);

        /* An empty or relative directory means the current one, which may be anybody's. */
        if (*at == '/' && k > 0 && k < (int)sizeof cc->path && identify(cc))
            return true;
        at += n + (at[n] == ':'); /* behind the colon, or at the end */
    }
    return false;
}

/* ---- A run ----------------------------------------------------------------------------------- */
/* Sets the directory in which a child begins. glibc can do so since 2.29; a build for older ones
 * (script/wheel) finds the function by its name. Without it nothing is compiled. */
static int set_directory(posix_spawn_file_actions_t *actions, int dir)
{
    int (*say)(posix_spawn_file_actions_t *, int);

    say = (__typeof__(say))dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addfchdir_np");
    return say ? say(actions, dir) : -1;
}

/* Starts the compiler in directory `dir`, with no input or output.  It has a process group of its
 * own, so that its children can be stopped with it and keys that the user presses do not reach it.
 * No signals are blocked or ignored, whatever the thread of the caller does.  False: it was not
 * started; all that was set up is released. */
static bool spawn(const rd_compiler *cc, int dir, char *const *argv, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t          attributes;
    sigset_t                   none, all;
    bool                       spawned;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return false;
    }
    sigemptyset(&none);
    sigfillset(&all);
    /* The directory first: its descriptor may be one of the three that a program has closed. */
    spawned = set_directory(&actions, dir) == 0 &&
              posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) == 0 &&
              posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) == 0 &&
              posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) == 0 &&
              posix_spawnattr_setsigmask(&attributes, &none) == 0 &&
              posix_spawnattr_setsigdefault(&attributes, &all) == 0 &&
              posix_spawnattr_setpgroup(&attributes, 0) == 0 &&
              posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                        POSIX_SPAWN_SETPGROUP) == 0 &&
              posix_spawn(pid, cc->path, &actions, &attributes, argv,
                          rd_env_snapshot_all(cc->surroundings)) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return spawned;
}

typedef enum outcome { COMPILED, REFUSED, UNFINISHED } outcome;

/* stopped: the seconds after which a compiler was stopped, if none may run any more, else 0;
 * worked: 1 once a compilation has ended well */
static atomic_int stopped, worked;
static atomic_int overdue; /* runs that were stopped, since one ended well    */

/* Returns the seconds after which a compiler was stopped, if none is run any more; else 0. */
int rd_compiler_stopped(void)
{
    return atomic_load_explicit(&stopped, memory_order_relaxed);
}

/* Returns a descriptor that becomes readable when the child ends (pidfd); -1 if the system has
 * none. */
static int open_child(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

/* Waits until the child ends, or for `left` seconds.  Without a descriptor (child -1) it waits for
 * a 16th of the time that the child has taken so far; a look each half millisecond woke this thread
 * 300 times a compilation. */
static void wait_a_while(int child, double taken, double left)
{
    struct pollfd ended = { .fd = child, .events = POLLIN };

    poll(&ended, 1, 1 + (int)(1000 * (child >= 0 ? left : taken / 16)));
}

/* True if the child has ended; *how gets the outcome.  If the program ignores SIGCHLD, or waits for
 * all children itself, the exit status is lost, and the object must show how it ended. */
static bool has_ended(pid_t pid, outcome *how)
{
    int         status;
    const pid_t done = waitpid(pid, &status, WNOHANG);

    if (done == pid)
        *how = !WIFEXITED(status) ? UNFINISHED : WEXITSTATUS(status) == 0 ? COMPILED : REFUSED;
    if (done < 0 && errno == ECHILD)
        *how = COMPILED;
    return done == pid || (done < 0 && errno == ECHILD);
}

/* Kills the child and its group, also if the child has left that group.  Waits a second at most: a
 * process that cannot be killed, as it runs for another user or waits in the kernel, is left. */
static void stop(pid_t pid, int child)
{
    const double last  = 1; /* seconds */
    const double begun = rd_seconds();
    outcome      how;

    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    while (!has_ended(pid, &how) && rd_seconds() - begun < last)
        wait_a_while(child, rd_seconds() - begun, begun + last - rd_seconds());
}

/* Counts a compilation that was stopped. A compiler that has worked before does not hang, so
 * only its text goes without code. After a few in a row, or after the first of all, no compiler
 * is run again. */
static void count_overdue(int patience)
{
    enum { FEW = 3 };

    if (atomic_fetch_add(&overdue, 1) + 1 >= FEW || !atomic_load(&worked))
        atomic_store(&stopped, patience);
}

/* Waits for the child for `patience` seconds at most, and kills it then.  Returns how the
 * compilation ended. */
static outcome wait_for(pid_t pid, int patience)
{
    const double begun = rd_seconds();
    const int    child = open_child(pid);
    outcome      how   = UNFINISHED;
    bool         ended;

    while (!(ended = has_ended(pid, &how)) && rd_seconds() - begun < patience)
        wait_a_while(child, rd_seconds() - begun, begun + patience - rd_seconds());
    if (!ended) {
        count_overdue(patience);
        stop(pid, child);
        how = UNFINISHED;
    }
    if (child >= 0)
        close(child);
    return how;
}

/* Runs the compiler once on a source file, with the first n_more of gcc's further flags (all or
 * none of them). UNFINISHED: it was not started, or was stopped. */
static outcome run(const rd_compiler *cc, int dir, const char *const *flags, int n_more,
                   const char *source, const char *object, int patience)
{
    const char *argv[RD_MAX_FLAGS + 8];
    int         n = 0;
    pid_t       pid;

    argv[n++] = cc->path;
    for (int k = 0; flags[k] && k < RD_MAX_FLAGS; k++)
        argv[n++] = flags[k];
    for (int k = 0; k < n_more; k++)
        argv[n++] = gcc_flags[k];
    argv[n++] = "-o";
    argv[n++] = object;
    argv[n++] = source;
    argv[n]   = NULL;
    return spawn(cc, dir, (char *const *)argv, &pid) ? wait_for(pid, patience) : UNFINISHED;
}

/* Compiles a text; a second time without gcc's further flags if the compiler refuses.  One that has
 * worked before has up to three times the patience (seconds before it is stopped): its text is
 * long, or the machine is busy. */
bool rd_compiler_run(const rd_compiler *cc, int dir, const char *const *flags, const char *source,
                     const char *object, int patience)
{
    const int more = 3 * patience < RD_LONG_PATIENCE ? 3 * patience : RD_LONG_PATIENCE;
    const int most = atomic_load(&worked) ? more : patience;
    outcome   done;

    if (rd_compiler_stopped())
        return false;
    done = run(cc, dir, flags, N_GCC_FLAGS, source, object, most);
    if (done == REFUSED)
        done = run(cc, dir, flags, /*n_more=*/0, source, object, most);
    if (done == COMPILED) {
        atomic_store(&worked, 1);
        atomic_store(&overdue, 0);
    }
    return done == COMPILED;
}
