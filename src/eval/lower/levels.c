/* levels.c - the stack of open loop bodies while a program is written: their instructions, and
 * the values with registers there.
 *
 * A level is an open loop body.  A value has a register until the level at which it was computed
 * ends. */
#include "eval/lower/lower.h"

/* Items larger than this start with room for one.  Folds are large, and most programs have one. */
enum { LARGE = 1024 };

/* Returns the memory of item n in a growing vector with room for *room items of `size` bytes. NULL
 * without memory, which sets l->failed. The vector doubles when it is full. LARGE items begin
 * with room for one, others for 4. */
void *rd_push(rd_lowering *l, void **vector, int32_t n, int32_t *room, size_t size)
{
    if (n == *room) {
        int32_t more = n ? 2 * n : size > LARGE ? 1 : 4;
        void   *p    = rd_pool_grow(l->graph->pool, *vector, (size_t)n, (size_t)more, size);

        if (!p) {
            l->failed = true;
            return NULL;
        }
        *vector = p;
        *room   = more;
    }
    return (char *)*vector + (size_t)n * size;
}

/* Appends an instruction to the code of an open loop body (level). */
void rd_emit(rd_lowering *l, rd_opened *level, rd_inst inst)
{
    rd_inst *at = rd_push(l, (void **)&level->inst, level->n, &level->room, sizeof inst);

    if (at) {
        *at = inst;
        level->n++;
    }
}

/* Records that value v is in register `reg`, computed in the open loop body number `level`, until
 * that body ends. */
void rd_set_register(rd_lowering *l, int v, int level, int reg)
{
    rd_opened *at   = &l->level[level];
    int32_t   *slot = rd_push(l, (void **)&at->value, at->n_value, &at->room_value, sizeof *slot);

    if (!slot)
        return;
    *slot = v;
    at->n_value++;
    l->reg[v] = reg;
    l->at[v]  = level;
}

/* Opens a loop body (level) inside the current one, to which code is then written. */
rd_opened *rd_open_level(rd_lowering *l, rd_loop_scope *scope)
{
    rd_opened *level = &l->level[++l->depth];

    *level = (rd_opened){ .scope = scope };
    return level;
}

/* Ends the innermost open loop body (level): forgets which values have registers in it, and
 * returns its code. */
rd_opened rd_end_level(rd_lowering *l)
{
    rd_opened level = l->level[l->depth--];

    for (int i = 0; i < level.n_value; i++)
        l->reg[level.value[i]] = l->at[level.value[i]] = -1;
    return level;
}
