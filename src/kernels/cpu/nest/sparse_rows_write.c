/* sparse_rows_write.c - writes the program as a loop over rows, once sparse_rows.c has found
 * that it can be.
 *
 * Words. A cell is one result of a fold, with its accumulators. A fold is a reduction or a scan. */
#include "kernels/cpu/nest/sparse_rows.h"
#include <string.h>

/* Appends an instruction to the new program. */
static void put(rd_sparse_rows_draft *r, const rd_inst *inst)
{
    r->to->inst[r->to->n_inst++] = *inst;
}

/* Appends the LOOP or the END of loop number `loop` to the new program. */
static void put_loop(rd_sparse_rows_draft *r, rd_inst_kind kind, int32_t loop)
{
    put(r, &(rd_inst){ .kind = kind, .arg = loop });
}

/* Gives an address the axis of rows (the groups) in place of axis `from` of a loop over groups.
 * The index then counts from the first row, not from a task's share (`local`). */
static void rename_axes(const rd_sparse_rows_draft *r, rd_address *a, int32_t from)
{
    for (int32_t k = 0; k < a->n_add; k++)
        if (a->add[k].axis == from) {
            a->add[k].axis  = r->group;
            a->add[k].local = false;
        }
}

/* Removes the addends of an axis from an address. The last addend takes the place of a removed one,
 * and is looked at next. */
static void drop_axis(rd_address *a, int32_t axis)
{
    for (int32_t k = 0; k < a->n_add; k++)
        if (a->add[k].axis == axis)
            a->add[k--] = a->add[--a->n_add];
}

/* Copies the body of a loop over groups, which finishes and stores results, to the end of the loop
 * over rows: there it runs for one row. CLOSE names the cell of a group; of one row there is one
 * cell. */
static void put_groups(rd_sparse_rows_draft *r, int32_t loop)
{
    const rd_program *p = r->p;

    for (int32_t i = p->loop[loop].begin + 1; i < p->loop[loop].end; i++) {
        const rd_inst *inst = &p->inst[i];

        if (rd_inst_table[inst->kind].names == RD_NAMES_ADDRESS)
            rename_axes(r, &r->to->address[inst->arg], p->loop[loop].axis);
        if (inst->kind == RD_I_CLOSE)
            drop_axis(&r->to->fold[inst->arg].cell, p->loop[loop].axis);
        put(r, inst);
    }
}

/* Makes each group-by fold one that begins and ends within a row: one cell (result) for each row
 * becomes one cell, and all elements are one block (steps without end). No two tasks share a row
 * (`split`). */
static void set_folds(rd_sparse_rows_draft *r)
{
    for (int32_t k = 0; k < r->to->n_fold; k++) {
        rd_fold *f = &r->to->fold[k];

        f->n_cell /= f->n_group;
        f->n_group      = 0;
        f->group_stride = 0;
        f->steps        = INT64_MAX;
        f->by_rows      = true;
        f->split        = false;
    }
}

/* Sets the bounds of the loop over the elements of a row, as addresses: those of begin[i] and
 * begin[i + 1], where i is the index of the row.  They lie `begins` elements behind the first
 * label.  `bounds`, which a mask gave, are gone. */
static void set_row(rd_sparse_rows_draft *r, rd_loop *row)
{
    rd_address begin = r->begin;

    begin.offset += r->p->fold[0].begins;
    begin.add[0].axis                  = r->group;
    row->row_from                      = r->to->n_address;
    r->to->address[r->to->n_address++] = begin;
    begin.offset++;
    row->row_to                        = r->to->n_address;
    r->to->address[r->to->n_address++] = begin;
    row->bounds                        = NULL;
}

/* True if some instruction reads the register. */
static bool is_read(const rd_program *p, int32_t reg)
{
    int32_t read[RD_MOST_READ];

    for (int32_t i = 0; i < p->n_inst; i++)
        for (int32_t k = rd_inst_reads(p, &p->inst[i], read); k-- > 0;)
            if (read[k] == reg)
                return true;
    return false;
}

/* Removes the instructions that make labels (LOAD and CAST), as nothing reads them any more.
 * Backwards, so that a CAST goes before the LOAD that it reads. */
static void drop_labels(rd_program *to)
{
    for (int32_t i = to->n_inst; i-- > to->body;) {
        const rd_inst *inst = &to->inst[i];

        if ((inst->kind != RD_I_LOAD && inst->kind != RD_I_CAST) || is_read(to, inst->dst))
            continue;
        memmove(&to->inst[i], &to->inst[i + 1], (size_t)(--to->n_inst - i) * sizeof *inst);
    }
}

/* Writes the new program: the head without STARTs, the loop over rows with the starts of folds and
 * the bodies of all loops, and an empty tail. The loops of the tail that have no parent are those
 * over groups. */
static void write(rd_sparse_rows_draft *r)
{
    const rd_program *p    = r->p;
    rd_program       *to   = r->to;
    const int32_t     loop = to->n_loop++;

    to->loop[loop] =
        (rd_loop){ .kind = RD_LOOP_EACH, .axis = r->group, .extent = p->axis_extent[r->group] };
    set_folds(r);
    set_row(r, &to->loop[r->element_loop]);
    to->n_inst = 0;
    for (int32_t i = 0; i < p->body; i++)
        if (p->inst[i].kind != RD_I_START)
            put(r, &p->inst[i]);
    to->body = to->n_inst;
    put_loop(r, RD_I_LOOP, loop);
    for (int32_t i = 0; i < p->body; i++)
        if (p->inst[i].kind == RD_I_START)
            put(r, &p->inst[i]);
    for (int32_t i = p->body; i < p->tail; i++)
        put(r, &p->inst[i]);
    for (int32_t k = 0; k < p->n_loop; k++)
        if (p->loop[k].begin >= p->tail && p->loop[k].parent < 0)
            put_groups(r, k);
    put_loop(r, RD_I_END, loop);
    drop_labels(to);
    to->tail  = to->n_inst;
    to->root  = r->group;
    to->grain = 1; /* a task may begin at any row */
}

/* Copies the program to r->to, with room for one more loop and two addresses.  False: no memory.
 * The memory is the pool's. */
static bool copy(rd_sparse_rows_draft *r, rd_get_fn *get, void *pool)
{
    const rd_program *p = r->p;
    rd_program       *to;

    if (!(r->to = to = get(pool, sizeof *to)))
        return false;
    *to         = *p;
    to->inst    = get(pool, ((size_t)p->n_inst + 2) * sizeof *to->inst); /* LOOP and END */
    to->loop    = get(pool, ((size_t)p->n_loop + 1) * sizeof *to->loop);
    to->address = get(pool, ((size_t)p->n_address + 2) * sizeof *to->address); /* bounds of a row */
    to->fold    = get(pool, (size_t)p->n_fold * sizeof *to->fold);
    if (!to->inst || !to->loop || !to->address || !to->fold)
        return false;
    memcpy(to->loop, p->loop, (size_t)p->n_loop * sizeof *to->loop);
    memcpy(to->address, p->address, (size_t)p->n_address * sizeof *to->address);
    memcpy(to->fold, p->fold, (size_t)p->n_fold * sizeof *to->fold);
    return true;
}

/* Makes r->to, the program as a loop over the rows of a sparse array.  False: no memory.
 * rd_nest_number_loops() numbers the loops anew, in `loops`; rd_program_tree() sets which loop
 * holds which. */
bool rd_sparse_rows_write(rd_sparse_rows_draft *r, rd_get_fn *get, void *pool)
{
    rd_loop *loops  = get(pool, ((size_t)r->p->n_loop + 1) * sizeof *loops);
    int32_t *number = get(pool, ((size_t)r->p->n_loop + 1) * sizeof *number);

    if (!copy(r, get, pool) || !loops || !number)
        return false;
    write(r);
    rd_nest_number_loops(r->to, loops, number);
    rd_program_tree(r->to);
    return true;
}
