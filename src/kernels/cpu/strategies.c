/* strategies.c - the strategies to run a prepared program, as a table of functions. A task takes
 * the first strategy that is there for it. "nest" is there for tasks of runs that began once it
 * was compiled.
 *
 * A program has three parts: head, body, tail; tasks share the body, and join() combines the folds
 * of neighbouring tasks. A nest is the program's loops as one compiled C function. */
#include "kernels/cpu/strategies.h"
#include "kernels/cpu/nest/nest.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/product/product.h"
#include "kernels/cpu/tile/run/tile_task.h"

/* Does nothing, for strategies without a head or a tail. */
static void nothing(const rd_program *p, rd_task *task)
{
    (void)p;
    (void)task;
}

/* Does nothing, for strategies that run as one task. */
static void no_join(const rd_program *p, rd_task *into, const rd_task *next)
{
    (void)p;
    (void)into;
    (void)next;
}

/* ---- A matrix product ------------------------------------------------------------------------ */
/* True if the program is a matrix product. */
static bool is_product(const rd_program *p, const rd_task *task)
{
    (void)task;
    return p->product;
}

/* Runs the task's share of a matrix product. */
static void product_body(const rd_program *p, rd_task *task)
{
    rd_product_run(p->product, task);
}

/* ---- A compiled nest ------------------------------------------------------------------------- */
/* True if the run of the task began with compiled functions (task->strategy, else NULL). p->nest is
 * NULL if the program has no nest; task is NULL if the question is about any run. */
static bool is_nest(const rd_program *p, const rd_task *task)
{
    return p->nest && task && task->strategy;
}

/* Runs the head of a compiled nest (the loops as one C function), once for each task. */
static void nest_head(const rd_program *p, rd_task *task)
{
    rd_nest_head(p->nest, task->strategy, p, task);
}

/* Runs the body of a compiled nest on the task's share of the root loop. */
static void nest_body(const rd_program *p, rd_task *task)
{
    rd_nest_body(p->nest, task->strategy, p, task);
}

/* Merges the accumulators of two neighbouring tasks (a split reduction), unless one of them has
 * failed. */
static void nest_join(const rd_program *p, rd_task *into, const rd_task *next)
{
    if (into->status == RD_OK && next->status == RD_OK)
        rd_nest_join(p->nest, into->strategy, into, next);
}

/* Runs the tail of a compiled nest, once after all tasks. */
static void nest_tail(const rd_program *p, rd_task *task)
{
    rd_nest_tail(p->nest, task->strategy, p, task);
}

/* ---- One kernel does all, head and tail included --------------------------------------------- */
/* True if one kernel runs the whole program: the tile machine has a plan (p->code), and that is one
 * total. */
bool rd_is_total(const rd_program *p)
{
    return p->code && ((const rd_tile_code *)p->code)->total;
}

/* True if one kernel runs the whole program. */
static bool is_total(const rd_program *p, const rd_task *task)
{
    (void)task;
    return rd_is_total(p);
}

/* ---- Tiles ----------------------------------------------------------------------------------- */
/* True if the tile machine can run the program: it has a plan for it. */
static bool is_tiles(const rd_program *p, const rd_task *task)
{
    (void)task;
    return p->code;
}

/* Makes the task's state for the tile machine (an interpreter on blocks of rows x columns), and
 * runs the head on it. The tile machine's task lies in task->state from here on, for body and tail,
 * too. */
static void tiles_head(const rd_program *p, rd_task *task)
{
    rd_tiles_run(rd_tiles_new(p, task->state), task, /*from=*/0, p->body);
}

/* Runs the body on tiles, on the task's share of the root loop. */
static void tiles_body(const rd_program *p, rd_task *task)
{
    rd_tiles_run((rd_tiles *)(void *)task->state, task, p->body, p->tail);
}

/* Merges the folds that tasks share (split reductions) of two neighbouring tasks, unless one has
 * failed.  Only these folds have begun in the head. */
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

/* Runs the tail on tiles, once after all tasks. */
static void tiles_tail(const rd_program *p, rd_task *task)
{
    rd_tiles_run((rd_tiles *)(void *)task->state, task, p->tail, p->n_inst);
}

/* ---- The reference --------------------------------------------------------------------------- */
/* True: the reference can run every program. */
static bool is_any(const rd_program *p, const rd_task *task)
{
    (void)p;
    (void)task;
    return true;
}

/* Runs the head of a program by the reference interpreter, once for each task. */
static void reference_head(const rd_program *p, rd_task *task)
{
    rd_backend_scalar.head(p, task);
}

/* Runs the body of a program by the reference interpreter, on the task's share of the root loop. */
static void reference_body(const rd_program *p, rd_task *task)
{
    rd_backend_scalar.body(p, task);
}

/* Merges the accumulators of two neighbouring tasks of the reference interpreter (split
 * reductions). */
static void reference_join(const rd_program *p, rd_task *into, const rd_task *next)
{
    rd_backend_scalar.join(p, into, next);
}

/* Runs the tail of a program by the reference interpreter, once after all tasks. */
static void reference_tail(const rd_program *p, rd_task *task)
{
    rd_backend_scalar.tail(p, task);
}

/* ---- The table ------------------------------------------------------------------------------- */
/* In order of preference: a task takes the first one that is there. */
static const rd_cpu_strategy strategies[] = {
    { "product", is_product, nothing, product_body, no_join, nothing },
    { "nest", is_nest, nest_head, nest_body, nest_join, nest_tail },
    { "total", is_total, nothing, rd_tile_run_total, no_join, nothing },
    { "tiles", is_tiles, tiles_head, tiles_body, tiles_join, tiles_tail },
    { "scalar", is_any, reference_head, reference_body, reference_join, reference_tail },
};

/* Returns the first strategy of the table that suits the task; the last one suits any. */
const rd_cpu_strategy *rd_cpu_strategy_of(const rd_program *p, const rd_task *task)
{
    const rd_cpu_strategy *strategy = strategies;

    while (!strategy->suits(p, task))
        strategy++;
    return strategy;
}
