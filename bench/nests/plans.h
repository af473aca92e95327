/* This header declares what the files of rdim-nests share. */
#ifndef PLANS_H
#define PLANS_H
#include "eval/plan.h"
#include "eval/pool.h"
#include "../sweep/sweep.h"

/* Addresses without memory behind them: planning looks at no element, and an element that nobody
 * touches takes no room. */
typedef struct addresses {
    char  *at;
    size_t used, room;
} addresses;

/* An expression of the sweep, and its plan; NULL: it was refused. */
typedef struct planned {
    program *p;
    rd_ctx  *ctx;
    rd_plan *plan;
} planned;

bool    addresses_get(addresses *a);
planned planned_make(uint64_t seed, addresses *memory);
void    planned_free(planned *one);
void   *planned_memory(void *pool, size_t bytes); /* an rd_get_fn of an rd_pool */

/* scalar.c: what runs element by element, of so many seeds; files of the texts go to a folder, or NULL. */
int scalar_main(uint64_t first, int64_t count, const char *folder, addresses *memory);
#endif
