/* strategies.c - the strategies to run a prepared program, as a table of functions. A task takes
 * the first strategy that is there for it. "nest" is there for tasks of runs that began once it
 * was compiled. */
#include "kernels/cpu/strategies.h"
#include "kernels/cpu/nest/nest.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/product/product.h"
#include "kernels/cpu/tile/run/tile_task.h"

static void nothing(const rd_program *p, rd_task *task)
{
    (void)p;
    (void)task;
}

static void no_join(const rd_program *p, rd_task *into, const rd_task *next)
{
    (void)p;
    (void)into;
    (void)next;
}

/* ---- A matrix product ------------------------------------------------------------------------ */
static bool is_product(const rd_program *p, const rd_task *task)
{
    (void)task;
    return p->product;
}

static void product_body(const rd_program *p, rd_task *task)
{
    rd_product_run(p->product, task);
}

/* ---- A compiled nest ------------------------------------------------------------------------- */
/* True if the run of the task began with compiled functions. */
static bool is_nest(const rd_program *p, const rd_task *task)
{
    return p->nest && task && task->strategy;
}

static void nest_head(const rd_program *p, rd_task *task)
{
    rd_nest_head(p->nest, task->strategy, p, task);
}

static void nest_body(const rd_program *p, rd_task *task)
{
    rd_nest_body(p->nest, task->strategy, p, task);
}

static void nest_join(const rd_program *p, rd_task *into, const rd_task *next)
{
    if (into->status == RD_OK && next->status == RD_OK)
        rd_nest_join(p->nest, into->strategy, into, next);
}

static void nest_tail(const rd_program *p, rd_task *task)
{
    rd_nest_tail(p->nest, task->strategy, p, task);
}

/* ---- One kernel does all, head and tail included --------------------------------------------- */
bool rd_is_total(const rd_program *p)
{
    return p->code && ((const rd_tile_code *)p->code)->total;
}

static bool is_total(const rd_program *p, const rd_task *task)
{
    (void)task;
    return rd_is_total(p);
}

/* ---- Tiles ----------------------------------------------------------------------------------- */
static bool is_tiles(const rd_program *p, const rd_task *task)
{
    (void)task;
    return p->code;
}

static void tiles_head(const rd_program *p, rd_task *task)
{
    rd_tiles_run(rd_tiles_new(p, task->state), task, 0, p->body);
}

static void tiles_body(const rd_program *p, rd_task *task)
{
    rd_tiles_run((rd_tiles *)(void *)task->state, task, p->body, p->tail);
}

/* Joins the folds that tasks share; only those have begun in the head. */
static void tiles_join(const rd_program *p, rd_task *into, const rd_task *next)
{
    const rd_tile_code *code = p->code;

    if (into->status != RD_OK || next->status != RD_OK)
        return;
    for (int32_t k = 0; k < p->n_fold; k++)
        if (p->fold[k].split)
            rd_tiles_merge_task(&code->fold[k], ((rd_tiles *)(void *)into->state)->fold[k],
                                ((rd_tiles *)(void *)next->state)->fold[k]);
}

static void tiles_tail(const rd_program *p, rd_task *task)
{
    rd_tiles_run((rd_tiles *)(void *)task->state, task, p->tail, p->n_inst);
}

/* ---- The reference --------------------------------------------------------------------------- */
static bool is_any(const rd_program *p, const rd_task *task)
{
    (void)p;
    (void)task;
    return true;
}

static void reference_head(const rd_program *p, rd_task *task)
{
    rd_backend_scalar.head(p, task);
}

static void reference_body(const rd_program *p, rd_task *task)
{
    rd_backend_scalar.body(p, task);
}

static void reference_join(const rd_program *p, rd_task *into, const rd_task *next)
{
    rd_backend_scalar.join(p, into, next);
}

static void reference_tail(const rd_program *p, rd_task *task)
{
    rd_backend_scalar.tail(p, task);
}

/* ---- The table ------------------------------------------------------------------------------- */
static const rd_cpu_strategy strategies[] = {
    { "product", is_product, nothing, product_body, no_join, nothing },
    { "nest", is_nest, nest_head, nest_body, nest_join, nest_tail },
    { "total", is_total, nothing, rd_tile_run_total, no_join, nothing },
    { "tiles", is_tiles, tiles_head, tiles_body, tiles_join, tiles_tail },
    { "scalar", is_any, reference_head, reference_body, reference_join, reference_tail },
};

/* Returns the first strategy of the table that is there for the task. */
const rd_cpu_strategy *rd_cpu_strategy_of(const rd_program *p, const rd_task *task)
{
    const rd_cpu_strategy *strategy = strategies;

    while (!strategy->is(p, task))
        strategy++;
    return strategy;
}
