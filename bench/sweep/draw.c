/* draw.c - a program of a seed: its kind, and as many tries as it takes. */
#include "sweep.h"
#include <stdio.h>
#include <stdlib.h>

static const struct kind {
    const char *name;
    draw_fn    *draw;
    int         weight;
} kinds[] = {
    { "map", sweep_draw_maps, 18 },        { "reduction", sweep_draw_reductions, 28 },
    { "scan", sweep_draw_scans, 8 },       { "several", sweep_draw_several, 8 },
    { "rows", sweep_draw_rows, 10 },       { "pairs", sweep_draw_pairs, 9 },
    { "window", sweep_draw_windows, 7 },   { "view", sweep_draw_views, 8 },
    { "product", sweep_draw_products, 7 }, { "user", sweep_draw_users, 5 },
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static void forget(program *p)
{
    for (int k = 0; k < p->n_nodes; k++)
        free(p->nodes[k]);
    free(p->numpy);
    *p = (program){ .seed = p->seed, .kind = p->kind, .max_bytes = p->max_bytes };
}

static bool complete(const program *p)
{
    double bytes = 0;

    for (int k = 0; k < p->n_roots; k++) {
        if (!p->root[k] || p->root[k]->rank > MOST_RANK)
            return false;
        bytes += (double)sweep_elements(p->root[k]) * sweep_dtype(p->root[k]->type)->size;
    }
    for (int k = 0; k < p->n_leaves; k++)
        bytes += (double)p->leaves[k].elements * sweep_dtype(p->leaves[k].type)->size;
    if (p->overfull || p->n_roots == 0 || bytes > 2 * p->max_bytes)
        return false;
    return sweep_work(p) < 4e7;
}

program *sweep_draw(uint64_t seed, double max_bytes)
{
    program *p = calloc(1, sizeof *p);
    dice     d = { seed * 0x2545F4914F6CDD1DU };
    int      weights[N_KINDS], k;

    for (k = 0; k < N_KINDS; k++)
        weights[k] = kinds[k].weight;
    k            = sweep_weighted(&d, weights, N_KINDS);
    p->seed      = seed;
    p->kind      = kinds[k].name;
    p->max_bytes = max_bytes;
    do {
        forget(p);
        kinds[k].draw(&d, p);
    } while (!complete(p));
    return p;
}

void sweep_free(program *p)
{
    for (int k = 0; k < p->n_leaves; k++)
        free(p->leaves[k].memory);
    forget(p);
    free(p);
}
