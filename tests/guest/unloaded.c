/* unloaded.c - a host of plugins: the library is loaded, evaluates, and is unloaded.
 *
 * usage: unloaded LIBRARY THREADS.  With two threads a team of OpenMP's outlives the library's use, and
 * its code must stay.  Without a team nothing stays: it is loaded and unloaded several times. */
#include <dlfcn.h>
#include <rdim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *function(void *library, const char *name)
{
    void *const found = dlsym(library, name);

    if (!found) {
        puts(dlerror());
        exit(2);
    }
    return found;
}

/* dlsym() gives functions as pointers to data. */
#define GET(library, variable, name)                         \
    do {                                                     \
        void *const found_ = function(library, name);        \
        memcpy((void *)&(variable), &found_, sizeof found_); \
    } while (0)

static double sum(void *library, const float *x, int64_t n, int threads)
{
    rd_ctx *(*make)(const rd_ctx_opts *);
    void (*end)(rd_ctx *);
    rd_expr *(*leaf)(rd_ctx *, const rd_array *);
    rd_expr *(*reduce)(rd_expr *, const char *, const rd_reduce_opts *);
    double (*at)(rd_ctx *, rd_expr *, rd_index);

    GET(library, make, "rd_ctx_new");
    GET(library, end, "rd_ctx_free");
    GET(library, leaf, "rd_leaf");
    GET(library, reduce, "rd_reduce_name");
    GET(library, at, "rd_at");
    rd_ctx  *ctx = make(&(rd_ctx_opts){ .size = sizeof(rd_ctx_opts), .threads = threads });
    rd_expr *y =
        reduce(leaf(ctx, &(rd_array){ .in = x, .type = RD_F32, .shape = { .n = 1, .at = { n } } }),
               "sum", &(rd_reduce_opts){ .size = sizeof(rd_reduce_opts), .dims = RD_ALL });
    const double all = at(ctx, y, (rd_index){ 0 });

    end(ctx);
    return all;
}

int main(int argc, char **argv)
{
    const int64_t n       = 12000000; /* a team starts for a millisecond of work */
    const int     threads = argc > 2 ? atoi(argv[2]) : 2;
    float *const  x       = malloc((size_t)n * sizeof *x);

    if (argc < 2 || !x)
        return 2;
    for (int64_t i = 0; i < n; i++)
        x[i] = 1;
    for (int k = 0; k < 3; k++) {
        void *const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

        if (!library) {
            puts(dlerror());
            return 2;
        }
        if (sum(library, x, n, threads) != (double)n) {
            puts("another sum");
            return 1;
        }
        dlclose(library);
        usleep(300000); /* threads of a pool wait, by code that must still be there */
    }
    void *const stays = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);

    free(x);
    if ((stays != NULL) != (threads > 1)) {
        printf("with %d threads the library %s\n", threads, stays ? "stays" : "is gone");
        return 1;
    }
    return 0;
}
