/* faults.c - the command while a call of the system fails.
 *
 *     faults COMMAND SHIM FOLDER 1            each call of each command line
 *     faults COMMAND SHIM FOLDER 50 [LINE]    one call of 50, of one line
 *
 * What must hold: exit status 0 with the right result, or 1 or 2 with a sentence and the old files as they
 * were; no other status, no signal, no wait, no file left beside, and no process. */
#include "shim.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 1 << 22, SECONDS_EACH = 30 };
static const char old[] = "what was there before";

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

/* R is the command.  Files are made by the lines of `made`. */
static const char *const made[] = {
    "$R 'v = reshape(arange(4200), (60, 70)) / 3.' -o a.npy",
    "$R 'v = reshape(arange(400000), (500, 800)) / 3.' -o big.npy",
    "$R 'v = v; w = v[0]' v=a.npy -o z.npz -o n.nc -o h.h5",
    "$R 'v[:, :3]' v=a.npy -o t.csv",
    "head -c 8000 a.npy | tail -c 4000 > raw.bin",
    "cp $CASES/3.nc $CASES/4z.nc $CASES/c.npz $CASES/chunks.nc $CASES/1.grib $FILES/records.npy .",
    "cp -r $FILES/codecs_2.zarr $FILES/codecs_3.zarr .",
};

static const struct line {
    const char *says, *output, *second; /* NULL: none */
} lines[] = {
    { "$R 'mean(v, axis=0)' v=a.npy -o o.npy", "o.npy", NULL },
    { "$R 'v * 2 + 1' v=big.npy -o o.npy", "o.npy", NULL },
    { "$R 'v * 2' v=big.npy -o o.bin", "o.bin", NULL },
    { "$R 'v * 2' v=big.npy -o o.nc", "o.nc", NULL },
    { "$R 'v * 2' v=big.npy -o o.h5", "o.h5", NULL },
    { "$R 'm = mean(v, axis=0); s = v * 2' v=z.npz:v -o o.npz", "o.npz", NULL },
    { "$R 'x + 1' c.npz -o o.npy", "o.npy", NULL },
    { "$R 'v + 1' n.nc -o o.nc", "o.nc", NULL },
    { "$R 'v + 1' h.h5 -o o.h5", "o.h5", NULL },
    { "$R 'v + w' n.nc -o o.csv", "o.csv", NULL },
    { "$R 'sum(x, axis=0)' x=t.csv -o o.npy", "o.npy", NULL },
    { "$R 'sum(x, axis=1)' x=raw.bin:f8:50x10 -o o.npy", "o.npy", NULL },
    { "$R 'x * 2' x='raw.bin:>f4:100x10' -o o.npy", "o.npy", NULL },
    { "$R 'm = mean(v, axis=0); s = v + 1' v=a.npy -o m=o.npy -o s=p.npy", "o.npy", "p.npy" },
    { "$R 'm = mean(v, axis=0); s = v + 1' v=h.h5 -o m=o.npy -o s=p.nc", "o.npy", "p.nc" },
    { "TMPDIR=. $R --memory 100 'v' z.npz -o o.npy", "o.npy", NULL },
    { "$R 'v' v=a.npy,a.npy -o o.npy", "o.npy", NULL },
    { "$R 'v' v=n.nc,n.nc -o o.npz", "o.npz", NULL },
    { "$R 'v' v=a.npy --plot o.svg", "o.svg", NULL },
    { "$R 'v' v=a.npy --plot o.png", "o.png", NULL },
    { "$R 'mean(v, axis=1)' v=a.npy", NULL, NULL },
    { "$R 'mean(v, axis=1)' n.nc", NULL, NULL },
    { "$R 'mean(v, axis=1)' h.h5", NULL, NULL },
    { "$R 'mean(v, axis=1)' z.npz", NULL, NULL },
    { "$R --list n.nc h.h5 z.npz t.csv a.npy 3.nc 4z.nc chunks.nc", NULL, NULL },
    { "$R --explain 'mean(v, axis=1)' n.nc", NULL, NULL },
    { "$R 'zlib + shuffled' codecs_2.zarr -o o.npy", "o.npy", NULL },
    { "$R 'checked + shards' codecs_3.zarr -o o.npy", "o.npy", NULL },
    { "$R 'x * 2' records.npy -o o.nc", "o.nc", NULL },
    { "cat a.npy | $R 'x + 1' x=- -o o.npz", "o.npz", NULL },
    { "$R --list 1.grib codecs_2.zarr records.npy", NULL, NULL },
};

static const struct fault {
    const char *call;
    int         error; /* 0: the usual one */
    long        times; /* one of so many times `step` is tried */
} faults[] = {
    { "open", 0, 1 },      { "read", 0, 1 },        { "read", EINTR, 1 },   { "write", 0, 1 },
    { "write", EINTR, 1 }, { "mmap", 0, 1 },        { "munmap", 0, 1 },     { "ftruncate", 0, 1 },
    { "fallocate", 0, 1 }, { "fsync", 0, 1 },       { "rename", 0, 1 },     { "close", 0, 1 },
    { "fork", 0, 1 },      { "dlopen", 0, 1 },      { "sendmsg", 0, 1 },    { "sendmsg", EINTR, 1 },
    { "recvmsg", 0, 1 },   { "recvmsg", EINTR, 1 }, { "socketpair", 0, 1 }, { "posix_spawn", 0, 1 },
    { "short", 0, 1 },     { "memory", 0, 20 },     { "places", 0, 1 },     { "thread", 0, 1 },
    { "fstat", 0, 1 },     { "dlsym", 0, 4 },
};

static const char  *command, *shim;
static fault_count *calls;
static long         runs, succeeded, refused, bad;
static char         now[ROOM], good[2][ROOM];
static long         good_size[2];

/* ---- One run ------------------------------------------------------------------------------------- */
static long read_bytes(const char *name, char bytes[ROOM])
{
    FILE      *f = fopen(name, "rb");
    const long n = f ? (long)fread(bytes, 1, ROOM - 1, f) : -1;

    if (f)
        fclose(f);
    bytes[n > 0 ? n : 0] = '\0';
    return n;
}

static void write_old(const char *name)
{
    FILE *f = name ? fopen(name, "wb") : NULL;

    if (f) {
        fwrite(old, 1, sizeof old, f);
        fclose(f);
    }
}

static void become(const char *line, const struct fault *fault, long at, bool on)
{
    char text[4096], number[40];

    setpgid(0, 0);
    dup2(open("out", O_WRONLY | O_CREAT | O_TRUNC, 0666), STDOUT_FILENO);
    dup2(open("err", O_WRONLY | O_CREAT | O_TRUNC, 0666), STDERR_FILENO);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    snprintf(text, sizeof text, "R='%s %s'; %s", "env", command, line);
    if (fault) {
        snprintf(number, sizeof number, "%ld", at);
        setenv("RDIM_FAULT_CALL", fault->call, 1);
        setenv("RDIM_FAULT_AT", number, 1);
        setenv("RDIM_FAULT_COUNT", "count", 1);
        snprintf(number, sizeof number, "%d", fault->error);
        setenv("RDIM_FAULT_ERROR", number, 1);
        if (on)
            setenv("RDIM_FAULT_ON", "1", 1);
        snprintf(text, sizeof text, "R='env LD_PRELOAD=%s %s'; exec %s", shim, command,
                 strncmp(line, "TMPDIR", 6) == 0 ? "env " : "");
        strncat(text, line, sizeof text - strlen(text) - 1);
    }
    execl("/bin/sh", "sh", "-c", text, (char *)NULL);
    _exit(127);
}

/* The status; -1: it did not end. */
static int run(const char *line, const struct fault *fault, long at, bool on)
{
    int status = 0;

    for (int k = 0; k < FAULT_KINDS; k++)
        calls[k].n = 0;
    const pid_t child = fork();
    if (child == 0)
        become(line, fault, at, on);
    setpgid(child, child);
    for (int k = 0; k < SECONDS_EACH * 1000; k++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        nanosleep(&(struct timespec){ .tv_nsec = k < 100 ? 500000 : 1000000 }, NULL);
    }
    kill(-child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

/* ---- What is left -------------------------------------------------------------------------------- */
/* The reader of an ended command is ours; it goes at once. */
static bool is_process_left(void)
{
    for (int k = 0; k < 2000; k++) {
        const pid_t gone = waitpid(-1, NULL, WNOHANG);
        if (gone < 0)
            return false;
        if (gone == 0)
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    return true;
}

static bool is_file_left(void)
{
    DIR *folder = opendir(".");
    bool found  = false;

    for (const struct dirent *e; folder && (e = readdir(folder));)
        found |= strstr(e->d_name, ".tmp") != NULL;
    if (folder)
        closedir(folder);
    return found;
}

static void remove_left(void)
{
    if (system("rm -f *.tmp") != 0)
        exit(2);
}

/* ---- What must hold ------------------------------------------------------------------------------ */
/* Formats that keep the time of day: what they hold, as it is printed. */
static bool says_the_same(const char *name, const char *right)
{
    char line[400];

    snprintf(line, sizeof line, "$R --list %s; for v in m s v w result; do $R $v %s; done", name,
             name);
    if (strstr(name, ".svg") || strstr(name, ".png"))
        return true;
    run(line, NULL, 0, false);
    static char first[ROOM];
    read_bytes("out", first);
    snprintf(
        line, sizeof line,
        "cp %s kept; cp %s %s; $R --list %s; for v in m s v w result; do $R $v %s; done; cp kept %s",
        name, right, name, name, name, name);
    run(line, NULL, 0, false);
    read_bytes("out", now);
    return strcmp(first, now) == 0 && *now;
}

static bool is_old(const char *name)
{
    return read_bytes(name, now) == (long)sizeof old && memcmp(now, old, sizeof old) == 0;
}

static bool is_right(const char *name, int k)
{
    char right[100];

    snprintf(right, sizeof right, "right%d", k);
    return (read_bytes(name, now) == good_size[k] &&
            memcmp(now, good[k], (size_t)good_size[k]) == 0) ||
           (!is_old(name) && says_the_same(name, right));
}

/* A list goes on behind what cannot be read, and says why. */
static bool is_told(const struct line *l, const char *text)
{
    return strstr(l->says, " --list ") && strstr(text, "; cannot be read: ");
}

static const char *judge(const struct line *l, int status)
{
    static char said[ROOM];
    const char *names[] = { l->output, l->second };

    if (status == -1)
        return "does not end";
    if (!WIFEXITED(status))
        return "a signal";
    if (WEXITSTATUS(status) > 2)
        return "another exit status";
    read_bytes("err", said);
    if (is_file_left())
        return "a file is left";
    if (WEXITSTATUS(status) == 0) {
        for (int k = 0; k < 2; k++)
            if (names[k] && !is_right(names[k], k))
                return "exit status 0, and another result";
        if (!l->output &&
            (read_bytes("out", now) != good_size[0] ||
             memcmp(now, good[0], (size_t)good_size[0]) != 0) &&
            !is_told(l, now))
            return "exit status 0, and another text";
        return NULL;
    }
    if (strncmp(said, "rdim: ", 6) != 0 && !strstr(said, "\nrdim: "))
        return "no sentence";
    if (l->output && !is_old(l->output) &&
        !(l->second && strstr(said, "written: ") && is_right(l->output, 0)))
        return "the old file is gone";
    if (l->second && !is_old(l->second))
        return "the second old file is gone";
    return NULL;
}

static void try_fault(const struct line *l, const struct fault *f, long at, bool on)
{
    write_old(l->output);
    write_old(l->second);
    const int   status = run(l->says, f, at, on);
    const bool  left   = is_process_left();
    const char *why    = judge(l, status);

    runs++;
    if (!why && left)
        why = "a process is left";
    if (why) {
        bad++;
        read_bytes("err", now);
        printf("faults: %s: %s %ld%s, error %d: %s (%d); %.200s\n", l->says, f->call, at,
               on ? " and later" : "", f->error, why, status, now);
        remove_left();
    } else if (status == 0)
        succeeded++;
    else
        refused++;
}

/* ---- All of them --------------------------------------------------------------------------------- */
static bool prepare(const struct line *l)
{
    const char *names[] = { l->output ? l->output : "out", l->second };
    char        line[300];

    if (run(l->says, NULL, 0, false) != 0)
        return false;
    for (int k = 0; k < 2; k++)
        if (names[k]) {
            good_size[k] = read_bytes(names[k], good[k]);
            snprintf(line, sizeof line, "cp %s right%d", names[k], k);
            if (system(line) != 0)
                return false;
        }
    return true;
}

/* How often each is called, when none fails. */
static void count_calls(const struct line *l, long n[])
{
    static const struct fault none = { "", 0, 1 };

    write_old(l->output);
    write_old(l->second);
    run(l->says, &none, -1, false);
    (void)is_process_left();
    for (int f = 0; f < COUNT(faults); f++)
        n[f] = strcmp(faults[f].call, "short") == 0 ? 1 : fault_counter(calls, faults[f].call)->n;
}

/* The n-th of all alone, then with all behind it.  Of `step` of them one is tried. */
static void try_line(const struct line *l, long step, long *turn)
{
    long n[COUNT(faults)];

    count_calls(l, n);
    for (int f = 0; f < COUNT(faults); f++)
        for (long k = 0; k < n[f]; k++)
            for (int on = 0; on < (faults[f].error == EINTR ? 1 : 2); on++)
                if ((*turn)++ % (step * faults[f].times) == 0)
                    try_fault(l, &faults[f], k, on);
}

static void make_files(void)
{
    const int fd = open("count", O_RDWR | O_CREAT | O_TRUNC, 0666);

    if (fd < 0 || ftruncate(fd, FAULT_BYTES) != 0)
        exit(2);
    calls = mmap(NULL, FAULT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    for (int f = 0; f < COUNT(faults); f++)
        snprintf(calls[f].name, sizeof calls[f].name, "%s", faults[f].call);
    for (int k = 0; k < COUNT(made); k++)
        if (run(made[k], NULL, 0, false) != 0)
            printf("faults: not made here: %s\n", made[k]);
}

int main(int argc, char **argv)
{
    long turn = 0;
    char folder[4096];

    if (argc < 5) {
        fputs("usage: faults COMMAND SHIM FOLDER STEP\n", stderr);
        return 2;
    }
    command = argv[1];
    shim    = argv[2];
    snprintf(folder, sizeof folder, "%s/faults-%ld", argv[3], (long)getpid());
    const long step = atol(argv[4]);
    if (mkdir(folder, 0777) != 0 || chdir(folder) != 0 || step < 1)
        return 2;
    setenv("RDIM_TIER1", "off", 1);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    make_files();
    for (int k = 0; k < COUNT(lines); k++) {
        if (argc > 5 && atoi(argv[5]) != k)
            continue;
        if (prepare(&lines[k]))
            try_line(&lines[k], step, &turn);
        else {
            read_bytes("err", now);
            printf("faults: not in this build: %s; %.200s\n", lines[k].says, now);
        }
    }
    printf(
        "faults: %ld calls that failed, of %ld: %ld runs were right all the same, %ld refused, %ld bad\n",
        runs, turn, succeeded, refused, bad);
    if (chdir("..") == 0 && bad == 0) {
        char line[4200];
        snprintf(line, sizeof line, "rm -r '%s'", folder);
        if (system(line) != 0)
            return 2;
    }
    return bad > 0;
}
