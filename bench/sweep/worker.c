/* worker.c - a process of Python with NumPy, for one number of threads. */
#include "sweep.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SWEEP_WORKER
#define SWEEP_WORKER "worker.py"
#endif

struct worker {
    FILE  *to, *from;
    pid_t  process;
    double total; /* of the magnitudes of its first result */
};

static void become_python(int threads, const int *to, const int *from)
{
    char n[16];

    snprintf(n, sizeof n, "%d", threads);
    setenv("OPENBLAS_NUM_THREADS", n, 1);
    setenv("OMP_NUM_THREADS", n, 1);
    dup2(to[0], 0);
    dup2(from[1], 1);
    for (int k = 3; k < 256; k++)
        close(k);
    execlp("python3", "python3", SWEEP_WORKER, (char *)NULL);
    _exit(127);
}

worker *sweep_worker_start(int threads)
{
    worker *w = calloc(1, sizeof *w);
    int     to[2], from[2];
    char    line[16];

    signal(SIGPIPE, SIG_IGN);
    if (pipe(to) < 0 || pipe(from) < 0) {
        free(w);
        return NULL;
    }
    w->process = fork();
    if (w->process == 0)
        become_python(threads, to, from);
    close(to[0]);
    close(from[1]);
    w->to   = fdopen(to[1], "w");
    w->from = fdopen(from[0], "r");
    if (fgets(line, sizeof line, w->from))
        return w;
    sweep_worker_stop(w); /* no python3, or no numpy */
    return NULL;
}

static char *save(const leaf *l, int k)
{
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    char       *path   = sweep_format("%s/rdim-sweep-%d-%d", folder, (int)getpid(), k);
    FILE       *f      = fopen(path, "w");

    if (f) {
        fwrite(l->memory, (size_t)sweep_dtype(l->type)->size, (size_t)l->elements, f);
        fclose(f);
    }
    return path;
}

static int lines(const char *text_)
{
    int n = 0;

    for (; *text_; text_++)
        n += *text_ == '\n';
    return n;
}

static bool answer(worker *w, char *line, size_t size)
{
    fflush(w->to);
    return fgets(line, (int)size, w->from) != NULL;
}

bool sweep_worker_load(worker *w, const program *p, const char *python)
{
    char *path[MOST_LEAVES], line[300] = "";
    bool  ok;

    fprintf(w->to, "load %d %d\n", p->n_leaves, lines(python));
    for (int k = 0; k < p->n_leaves; k++) {
        const leaf *l = &p->leaves[k];

        path[k] = save(l, k);
        fprintf(w->to, "%s %lld %s %d", sweep_dtype(l->type)->numpy, (long long)l->first, path[k],
                l->rank);
        for (int i = 0; i < 2 * l->rank; i++)
            fprintf(w->to, " %lld", (long long)(i < l->rank ? l->n[i] : l->stride[i - l->rank]));
        fputc('\n', w->to);
    }
    fputs(python, w->to);
    ok = answer(w, line, sizeof line) && sscanf(line, "ok %lf", &w->total) == 1;
    if (!ok)
        fprintf(stderr, "rdim-sweep: seed %llu: numpy: %s", (unsigned long long)p->seed, line);
    for (int k = 0; k < p->n_leaves; k++) {
        unlink(path[k]);
        free(path[k]);
    }
    return ok;
}

double sweep_worker_total(const worker *w)
{
    return w->total;
}

double sweep_worker_time(worker *w, int times)
{
    char line[300];

    fprintf(w->to, "time %d\n", times);
    if (!answer(w, line, sizeof line) || strncmp(line, "error", 5) == 0)
        return NAN;
    return atof(line);
}

void sweep_worker_stop(worker *w)
{
    if (!w)
        return;
    fclose(w->to);
    fclose(w->from);
    waitpid(w->process, NULL, 0);
    free(w);
}
