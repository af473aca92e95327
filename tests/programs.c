/* programs.c - loop programs written by hand, and tasks that run them. */
#define _POSIX_C_SOURCE 200809L
#include "programs.h"
#include "kernels/cpu/tile/tile.h"
#include <stdlib.h>
#include <string.h>

void builder_init(builder *b, int32_t n_axis, const int64_t *extent)
{
    memset(b, 0, sizeof *b);
    b->p = (rd_program){ .inst          = b->inst,
                         .loop          = b->loop,
                         .address       = b->address,
                         .fold          = b->fold,
                         .call          = b->call,
                         .axis_extent   = b->axis_extent,
                         .scratch_bytes = b->scratch_bytes,
                         .n_axis        = n_axis,
                         .body          = INT32_MAX,
                         .tail          = INT32_MAX,
                         .n_reg         = PROGRAM_REGISTERS,
                         .root          = -1,
                         .grain         = 1,
                         .first_scratch = INT32_MAX };
    for (int32_t k = 0; k < n_axis; k++)
        b->axis_extent[k] = extent[k];
}

const rd_program *builder_done(builder *b)
{
    if (b->p.tail > b->p.n_inst)
        b->p.tail = b->p.n_inst;
    if (b->p.body > b->p.tail)
        b->p.body = b->p.tail;
    rd_program_tree(&b->p);
    return &b->p;
}

void builder_add(builder *b, rd_inst inst)
{
    b->inst[b->p.n_inst++] = inst;
}

void builder_loop(builder *b, rd_loop loop)
{
    b->open[b->n_open++] = b->p.n_loop;
    builder_add(b, (rd_inst){ .kind = RD_I_LOOP, .arg = b->p.n_loop });
    loop.extent            = b->axis_extent[loop.axis];
    b->loop[b->p.n_loop++] = loop;
}

void builder_end(builder *b)
{
    const int32_t loop = b->open[--b->n_open];

    builder_add(b, (rd_inst){ .kind = RD_I_END, .arg = loop });
}

void builder_body(builder *b)
{
    b->p.body = b->p.n_inst;
}

void builder_tail(builder *b)
{
    b->p.tail = b->p.n_inst;
}

int32_t builder_address(builder *b, rd_address address)
{
    b->address[b->p.n_address] = address;
    return b->p.n_address++;
}

int32_t builder_fold(builder *b, rd_fold fold)
{
    b->fold[b->p.n_fold] = fold;
    return b->p.n_fold++;
}

int32_t builder_call(builder *b, rd_call call)
{
    b->call[b->p.n_call] = call;
    return b->p.n_call++;
}

static rd_address along(int32_t slot, rd_dtype type, int32_t axis, int64_t coef, int64_t offset)
{
    return (rd_address){ .slot   = slot,
                         .type   = type,
                         .offset = offset,
                         .n_add  = axis >= 0,
                         .add    = { { .axis = axis, .coef = coef } } };
}

void builder_load(builder *b, int32_t dst, int32_t slot, rd_dtype type, int32_t axis, int64_t coef,
                  int64_t offset)
{
    const int32_t address = builder_address(b, along(slot, type, axis, coef, offset));
    builder_add(b, (rd_inst){ .kind = RD_I_LOAD, .type = type, .dst = dst, .arg = address });
}

void builder_store(builder *b, int32_t a, int32_t slot, rd_dtype type, int32_t axis, int64_t coef,
                   int64_t offset)
{
    const int32_t address = builder_address(b, along(slot, type, axis, coef, offset));
    builder_add(b, (rd_inst){ .kind = RD_I_STORE, .type = type, .a = a, .arg = address });
}

static rd_address along_2(int32_t slot, rd_dtype type, int64_t row, int64_t col, int64_t offset)
{
    rd_address at = { .slot = slot, .type = type, .offset = offset };

    if (row)
        at.add[at.n_add++] = (rd_addend){ .axis = 0, .coef = row };
    if (col)
        at.add[at.n_add++] = (rd_addend){ .axis = 1, .coef = col };
    return at;
}

void builder_load_2(builder *b, int32_t dst, int32_t slot, rd_dtype type, int64_t row, int64_t col,
                    int64_t offset)
{
    const int32_t address = builder_address(b, along_2(slot, type, row, col, offset));
    builder_add(b, (rd_inst){ .kind = RD_I_LOAD, .type = type, .dst = dst, .arg = address });
}

void builder_store_2(builder *b, int32_t a, int32_t slot, rd_dtype type, int64_t row, int64_t col,
                     int64_t offset)
{
    const int32_t address = builder_address(b, along_2(slot, type, row, col, offset));
    builder_add(b, (rd_inst){ .kind = RD_I_STORE, .type = type, .a = a, .arg = address });
}

/* No byte longer than asked for.  It is garbage at first, as the evaluator's is, and of a later task
 * what the one before it left. */
static void *new_state(const rd_program *p)
{
    void *state = NULL;

    if (posix_memalign(&state, 64, p->state_bytes ? (size_t)p->state_bytes : 1))
        abort();
    memset(state, 0xa5, (size_t)p->state_bytes);
    return state;
}

static rd_task new_task(void *state, void *const *slot, int64_t lo, int64_t hi)
{
    return (rd_task){ .slot = slot, .lo = lo, .hi = hi, .state = state };
}

static void add_report(rd_task *task, const rd_task *next)
{
    if (task->status == RD_OK) {
        task->status = next->status;
        memcpy(task->sentence, next->sentence, sizeof task->sentence);
    }
    task->warnings |= next->warnings;
    task->loads += next->loads;
}

/* Memory of one prepared program: a list of blocks. */
typedef struct block {
    struct block *next;
    _Alignas(16) char at[];
} block;

static void *block_memory(void *pool, size_t bytes)
{
    block **list = pool, *b = calloc(1, sizeof *b + bytes);

    if (!b)
        abort();
    b->next = *list;
    *list   = b;
    return b->at;
}

program_runs runs_so_far;

rd_task run_tasks(const rd_program *program, void *const *slot, const int64_t *cut, int32_t n)
{
    rd_program prepared = *program, *p = &prepared;
    block     *blocks = NULL;
    rd_task    first  = { 0 };
    void      *of_first, *of_others;

    if (!rd_backend_cpu.prepare(p, block_memory, &blocks))
        abort();
    *(p->code ? &runs_so_far.tiles : &runs_so_far.scalar) += 1;
    runs_so_far.totals += p->code && ((const rd_tile_code *)p->code)->total;
    of_first  = new_state(p);
    of_others = n > 1 ? new_state(p) : NULL;
    for (int32_t t = 0; t < n; t++) {
        rd_task task = new_task(t == 0 ? of_first : of_others, slot, cut[t], cut[t + 1]);
        rd_backend_cpu.head(p, &task);
        rd_backend_cpu.body(p, &task);
        if (t == 0) {
            first = task;
        } else {
            rd_backend_cpu.join(p, &first, &task);
            add_report(&first, &task);
        }
    }
    rd_backend_cpu.tail(p, &first);
    free(of_others);
    free(of_first);
    first.state = NULL;
    for (block *next; blocks; blocks = next) {
        next = blocks->next;
        free(blocks);
    }
    return first;
}

rd_task run_program(const rd_program *p, void *const *slot)
{
    const int64_t whole[2] = { 0, p->root >= 0 ? p->axis_extent[p->root] : 0 };

    return run_tasks(p, slot, whole, 1);
}
