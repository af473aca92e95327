/* cut_loops.c - loops whose tiles end at seams, so that what joins needs no buffer there.
 *
 * A loop over columns is cut if each instruction that joins (seams.c) mostly reads contiguous rows
 * of memory.  A tile of it then lies in one piece of each axis, and the register is the memory
 * itself.  Pieces in which something must be copied, such as what is reflected, are tiles that fit
 * the buffers (run/joined_values.c). */
#include "kernels/cpu/tile/plan/tile_plan.h"

/* Returns what a place (an index that is moved or clamped) is in the largest piece of its axis:
 * coef * index + offset; of a comparison 0 or 1 in `offset`. form_axis is the axis that decides,
 * -1: the place is a number. */
static rd_place_form usual_form(const rd_tile_code *code, int32_t reg)
{
    const rd_tile_reg    *r      = &code->reg[reg];
    const rd_axis_pieces *pieces = r->form_axis < 0 ? NULL : &code->pieces[r->form_axis];
    int32_t               most   = 0; /* the largest piece so far */

    for (int32_t k = 1; pieces && k < pieces->n; k++)
        if (pieces->from[k + 1] - pieces->from[k] > pieces->from[most + 1] - pieces->from[most])
            most = k;
    return r->form[most];
}

/* Returns the LOAD that gives the value of an instruction that joins (is done piece by piece) in
 * the largest pieces of its axes: follows the chosen side of each SELECT. -1: that value comes from
 * no LOAD that it does itself. */
static int32_t usual_load(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    while (p->inst[i].kind == RD_I_SELECT) {
        const bool side = usual_form(code, p->inst[i].a).offset;

        i = code->reg[side ? p->inst[i].b : p->inst[i].c].born;
        if (!code->inst[i].by_pieces || !code->inst[i].skip)
            return -1;
    }
    return i;
}

/* True if an instruction that joins (is done piece by piece) reads, in the largest pieces,
 * contiguous rows of a type that needs no conversion.  The stride along columns counts what index
 * registers (axis < 0) contribute. */
static bool is_mostly_memory(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const int32_t          load = usual_load(p, code, i);
    const rd_tile_strides *w    = load >= 0 ? &code->inst[load].strides : NULL;
    int64_t                col  = w ? w->col : 0;

    for (int32_t k = 0; w && k < w->at->n_add; k++)
        if (w->at->add[k].axis < 0 &&
            code->reg[w->at->add[k].reg].form_axis == code->inst[load].col_axis)
            col += w->at->add[k].coef * usual_form(code, w->at->add[k].reg).coef;
    return w && col == 1 && rd_tile_is_native(w->at->type);
}

/* True if the rows of a tile may take some of their columns before any row takes the others: each
 * fold allows it, and nothing can fail, as errors are reported in order. Group-bys do not allow
 * it. */
static bool can_split(const rd_program *p, const rd_tile_code *code, const rd_loop *loop)
{
    for (int32_t i = loop->begin + 1; i < loop->end; i++) {
        const rd_inst_kind kind = p->inst[i].kind;

        if (kind == RD_I_INDEX || kind == RD_I_CALL || kind == RD_I_EXIT)
            return false;
        if ((kind == RD_I_STEP || kind == RD_I_SCAN) &&
            (code->fold[p->inst[i].arg].grouped ||
             !rd_tile_can_split_columns(&code->fold[p->inst[i].arg])))
            return false;
    }
    return true;
}

/* True if the tiles of a loop over columns should end at seams (where a moved index changes): each
 * instruction that joins there mostly reads contiguous memory, which then needs no buffer. Pieces
 * are ranges of an axis in which no moved index changes; one piece means no seam along the
 * columns. */
static bool is_to_be_cut(const rd_program *p, const rd_tile_code *code, int32_t number)
{
    const rd_loop *loop  = &p->loop[number];
    bool           found = false;

    if (code->loop[number].role != RD_LOOP_COLS || code->loop[number].square || loop->backwards)
        return false;
    for (int32_t i = loop->begin + 1; i < loop->end; i++) {
        if (!code->inst[i].by_pieces || code->inst[i].skip) /* another instruction does its work */
            continue;
        if (!is_mostly_memory(p, code, i))
            return false;
        found = true;
    }
    /* cut between rows only, or tiles are single rows, or columns may come in pieces */
    return found && (code->pieces[loop->axis].n == 1 || loop->parent < 0 ||
                     code->loop[loop->parent].role != RD_LOOP_ROWS || can_split(p, code, loop));
}

/* Marks the loops whose tiles end at seams, where rolled, padded or joined arrays meet; and the
 * folds whose columns then come piece by piece (planned like those in squares). */
void rd_tile_cut_loops(const rd_program *p, rd_tile_code *code)
{
    for (int32_t k = 0; k < p->n_loop && code->pieces; k++) {
        const rd_loop *loop = &p->loop[k];

        if (!is_to_be_cut(p, code, k))
            continue;
        code->loop[k].cuts = true;
        if (loop->parent >= 0 && code->loop[loop->parent].role == RD_LOOP_ROWS)
            code->loop[loop->parent].cuts = true;
        for (int32_t i = loop->begin + 1; i < loop->end && code->pieces[loop->axis].n > 1; i++)
            if (p->inst[i].kind == RD_I_STEP || p->inst[i].kind == RD_I_SCAN)
                code->fold[p->inst[i].arg].in_square = true; /* planned as columns of squares are */
    }
}
