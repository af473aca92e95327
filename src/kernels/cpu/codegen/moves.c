/* moves.c - states that are moved to where a loop has them at hand: to variables, or to copies
 * around it; and back. */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>

/* States of the strip's elements as variables, while several steps are taken. */
static void move_states(rd_codegen *n, int32_t loop, bool in)
{
    for (int32_t k = 0; k < n->p->n_fold; k++) {
        rd_codegen_fold *f  = &n->fold[k];
        rd_text          at = { 0 };

        if (!rd_within(n, f->step, loop) || f->inner)
            continue;
        f->held = false;
        rd_add_state(n, &at, f);
        for (int j = 0; j < f->of.n_state; j++)
            if (in)
                rd_text_add(rd_strip_loop(n), " %s h%d_%d = s%d_%d[%s];", rd_state_type(&f->of, j),
                            k, j, k, j, at.at);
            else
                rd_text_add(rd_strip_loop(n), " s%d_%d[%s] = h%d_%d;", k, j, at.at, k, j);
        f->held = in;
        rd_text_free(&at);
    }
}

void rd_states_hold(rd_codegen *n, int32_t loop)
{
    move_states(n, loop, true);
}

void rd_states_drop(rd_codegen *n, int32_t loop)
{
    move_states(n, loop, false);
}

/* The copy of group g is at c[g lanes], the states themselves at their cell.
 * No function ever takes the address of the copy, so that compilers keep it in registers. */
void rd_copy_group(rd_codegen *n, const rd_codegen_fold *f, int64_t g, bool in)
{
    const int number = rd_number_of(n, f);
    rd_text   at     = { 0 };

    rd_add_first_state(n, &at, f);
    for (int k = 0; k < f->of.n_state; k++)
        if (in)
            rd_line(n, "for (int l = 0; l < %d; l++) c%d_%d[%d + l] = s%d_%d[%s + l];", f->lanes,
                    number, k, (int)g * f->lanes, number, k, at.at);
        else
            rd_line(n, "for (int l = 0; l < %d; l++) s%d_%d[%s + l] = c%d_%d[%d + l];", f->lanes,
                    number, k, at.at, number, k, (int)g * f->lanes);
    rd_text_free(&at);
}

/* ---- States of lanes, around their loop ------------------------------------------------------ */
static bool can_cache(const rd_codegen *n, const rd_codegen_fold *f, int32_t loop)
{
    int64_t groups = 1;

    if (f->along != loop || f->mode != RD_FOLD_LANES || (f->local && !f->room))
        return false;
    for (int32_t k = n->p->inst[f->step].loop; k != loop && k >= 0; k = n->p->loop[k].parent) {
        if (!rd_writes_out(n, k, n->p->loop[loop].axis))
            return false;
        groups *= n->p->loop[k].extent;
    }
    return groups <= 16;
}

/* The loops that are written out between the strip and the step, of which cells depend. */
static int32_t cell_loops(const rd_codegen *n, const rd_codegen_fold *f, int32_t loop,
                          int32_t *loops, int64_t *groups)
{
    int32_t depth = 0;

    *groups = 1;
    for (int32_t k = n->p->inst[f->step].loop; k != loop; k = n->p->loop[k].parent)
        if (rd_coef(&f->of.fold->cell, n->p->loop[k].axis)) {
            loops[depth++] = k;
            *groups *= n->p->loop[k].extent;
        }
    return depth;
}

static void copy_states(rd_codegen *n, const rd_codegen_fold *f, int32_t loop, bool in)
{
    int32_t       loops[RD_CODEGEN_FEW];
    int64_t       groups;
    const int32_t depth = cell_loops(n, f, loop, loops, &groups);

    for (int k = 0; in && k < f->of.n_state; k++)
        rd_line(n, "%s c%d_%d[%d] LINES;", rd_state_type(&f->of, k), rd_number_of(n, f), k,
                (int)groups * f->lanes);
    for (int64_t g = 0; g < groups; g++) {
        rd_bind kept[RD_CODEGEN_FEW];
        int64_t rest = g;

        for (int32_t d = 0; d < depth; d++) {
            rd_bind *b = &n->bind[n->p->loop[loops[d]].axis];

            kept[d]   = *b;
            b->kind   = RD_BIND_NUMBER;
            b->number = rest % n->p->loop[loops[d]].extent;
            rest /= n->p->loop[loops[d]].extent;
        }
        rd_copy_group(n, f, g, in);
        for (int32_t d = 0; d < depth; d++)
            n->bind[n->p->loop[loops[d]].axis] = kept[d];
    }
}

void rd_states_in(rd_codegen *n, int32_t loop)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (can_cache(n, &n->fold[k], loop)) {
            copy_states(n, &n->fold[k], loop, true);
            n->fold[k].cached = true;
        }
}

/* Is the cell at hand the same all along the loop? */
static bool is_alone(const rd_codegen *n, const rd_codegen_fold *f, int32_t loop)
{
    if (!f->of.user || rd_has_groups(f) || f->along != loop || f->mode != RD_FOLD_SCALAR ||
        f->lanes > 1 || (f->of.fold->scan && f->of.fold->cell.n_add))
        return false;
    for (int32_t k = n->p->inst[f->step].loop; k != loop && k >= 0; k = n->p->loop[k].parent)
        if (rd_coef(&f->of.fold->cell, n->p->loop[k].axis))
            return false;
    return true;
}

void rd_states_alone(rd_codegen *n, int32_t loop, bool in)
{
    rd_labels_keep(n, loop, in);
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (is_alone(n, &n->fold[k], loop)) {
            n->fold[k].cached = false;
            copy_states(n, &n->fold[k], loop, in);
            n->fold[k].cached = in;
        }
}

void rd_states_out(rd_codegen *n, int32_t loop)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (n->fold[k].cached && n->fold[k].along == loop) {
            n->fold[k].cached = false;
            copy_states(n, &n->fold[k], loop, false);
        }
}
