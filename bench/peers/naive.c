/* naive.c - what script/demo compares with: a mean over time that leaves NaN out, and how each
 * month differs from it, as loops that say it the plainest way.  naive FILE.npy: f32, (time,
 * rows, columns). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;

    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* NumPy's format 1.0; the extents in shape[]. */
static float *read_npy(const char *path, long shape[3])
{
    FILE *const   file = fopen(path, "rb");
    unsigned char head[10];
    char          text[512] = "";
    float        *x         = NULL;

    if (!file || fread(head, 1, sizeof head, file) != sizeof head)
        return NULL;
    const size_t length = head[8] + 256U * head[9];
    if (length < sizeof text && fread(text, 1, length, file) == length && strstr(text, "'<f4'") &&
        strstr(text, "'shape': (")) {
        char *at = strstr(text, "'shape': (") + strlen("'shape': (");

        for (int k = 0; k < 3; k++) {
            shape[k] = strtol(at, &at, 10);
            at += *at == ',';
        }
        const size_t n = (size_t)shape[0] * (size_t)shape[1] * (size_t)shape[2];
        x              = malloc(n * sizeof *x);
        if (x && fread(x, sizeof *x, n, file) != n) {
            free(x);
            x = NULL;
        }
    }
    fclose(file);
    return x;
}

static void mean(const float *x, const long shape[3], float *m)
{
    const long cells = shape[1] * shape[2];

    for (long c = 0; c < cells; c++) {
        double sum = 0;
        long   n   = 0;

        for (long t = 0; t < shape[0]; t++)
            if (!isnan(x[t * cells + c])) {
                sum += x[t * cells + c];
                n++;
            }
        m[c] = (float)(sum / (double)n);
    }
}

static void differences(const float *x, const long shape[3], const float *m, float *d)
{
    const long cells = shape[1] * shape[2];

    for (long t = 0; t < shape[0]; t++)
        for (long c = 0; c < cells; c++)
            d[t * cells + c] = x[t * cells + c] - m[c];
}

int main(int argc, char **argv)
{
    long   shape[3] = { 0 };
    float *x        = argc > 1 ? read_npy(argv[1], shape) : NULL;
    float *m        = malloc((size_t)(shape[1] * shape[2] + 1) * sizeof *m);
    float *d        = malloc((size_t)(shape[0] * shape[1] * shape[2] + 1) * sizeof *d);

    if (!x || !m || !d) {
        fprintf(stderr, "naive: it takes a .npy of f32 with three axes\n");
        return EXIT_FAILURE;
    }
    for (int run = 0; run < 2; run++) { /* the first one meets fresh memory */
        const double start = now();
        mean(x, shape, m);
        const double middle = now();
        differences(x, shape, m, d);
        if (run == 1)
            printf("naive loops: mean %.0f ms, differences %.0f ms more\n", 1e3 * (middle - start),
                   1e3 * (now() - middle));
    }
    free(x);
    free(m);
    free(d);
    return EXIT_SUCCESS;
}
