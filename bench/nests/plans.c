/* plans.c - plans of expressions of the sweep, which are not run. */
#include "plans.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

bool addresses_get(addresses *a)
{
    a->room = (size_t)1 << 36;
    a->at = mmap(NULL, a->room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
    if (a->at == MAP_FAILED)
        perror("rdim-nests: mmap");
    return a->at != MAP_FAILED;
}

static void *addresses_take(addresses *a, int64_t elements, rd_dtype type)
{
    const size_t bytes = (size_t)elements * (size_t)sweep_dtype(type)->size;
    void        *taken = a->at + a->used;

    a->used += bytes / 4096 * 4096 + 4096;
    if (a->used > a->room) {
        fprintf(stderr, "rdim-nests: an expression of more than %zu bytes\n", a->room);
        exit(1);
    }
    return taken;
}

static rd_plan *plan_of(program *p, rd_ctx *ctx, addresses *memory)
{
    rd_expr  *root[MOST_ROOTS];
    rd_array  out[MOST_ROOTS];
    rd_result list[MOST_ROOTS];

    memory->used = 0;
    for (int k = 0; k < p->n_leaves; k++)
        p->leaves[k].memory = addresses_take(memory, p->leaves[k].elements, p->leaves[k].type);
    if (!sweep_to_rdim(p, ctx, root))
        return NULL;
    for (int k = 0; k < p->n_roots; k++) {
        out[k]      = (rd_array){ .type = p->root[k]->type, .shape = rd_shape_of(root[k]) };
        out[k].data = addresses_take(memory, sweep_elements(p->root[k]), out[k].type);
        list[k]     = (rd_result){ root[k], &out[k] };
    }
    return rd_plan_new(ctx, (rd_exprs){ 0 }, (rd_results){ list, p->n_roots }, NULL);
}

planned planned_make(uint64_t seed, addresses *memory)
{
    const rd_ctx_opts o   = { .size = sizeof o, .threads = 1 };
    planned           one = { sweep_draw(seed, 64e6), rd_ctx_new(&o), NULL };

    one.plan = plan_of(one.p, one.ctx, memory);
    return one;
}

void planned_free(planned *one)
{
    rd_ctx_free(one->ctx);
    for (int k = 0; k < one->p->n_leaves; k++)
        one->p->leaves[k].memory = NULL; /* sweep_free() would free it */
    sweep_free(one->p);
}

void *planned_memory(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}
