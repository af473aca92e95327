/* compile.c - loops from C to memory: the compiler runs beside whatever else is done, one
 * process a program. */
#include "sweep.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *compiler(void)
{
    const char *cc = getenv("CC");

    return cc && *cc ? cc : "cc";
}

void sweep_loops_compile(loop_set *l, const char *folder, uint64_t seed)
{
    char  c[600], so[600];
    FILE *f;

    l->path = sweep_format("%s/loops%llu", folder, (unsigned long long)seed);
    snprintf(c, sizeof c, "%s.c", l->path);
    snprintf(so, sizeof so, "%s.so", l->path);
    f = fopen(c, "w");
    if (!f)
        return;
    fputs(l->source, f);
    fclose(f);
    l->compiler = fork();
    if (l->compiler == 0) {
        execlp(compiler(), "cc", "-O3", "-march=native", "-fno-math-errno", "-fopenmp", "-w",
               "-shared", "-fPIC", "-o", so, c, "-lm", (char *)NULL);
        _exit(127);
    }
}

bool sweep_loops_open(loop_set *l)
{
    char so[600];
    int  status = 1;

    if (l->compiler <= 0 || waitpid(l->compiler, &status, 0) < 0 || status != 0)
        return false;
    l->compiler = 0;
    snprintf(so, sizeof so, "%s.so", l->path);
    l->library = dlopen(so, RTLD_NOW | RTLD_LOCAL);
    if (!l->library) {
        fprintf(stderr, "rdim-sweep: %s\n", dlerror());
        return false;
    }
    for (int v = 0; v <= l->n_variants; v++) {
        char name[16];

        snprintf(name, sizeof name, "run%d", v);
        *(void **)&l->run[v] = dlsym(l->library, name);
        if (!l->run[v])
            return false;
    }
    return true;
}

static void remove_file(const char *path, const char *ending)
{
    char *name = sweep_format("%s%s", path, ending);

    unlink(name);
    free(name);
}

void sweep_loops_close(loop_set *l)
{
    /* The library stays loaded: OpenMP's threads may still look at its code. */
    if (l->path) {
        remove_file(l->path, ".c");
        remove_file(l->path, ".so");
    }
    free(l->path);
    free(l->source);
    *l = (loop_set){ 0 };
}
