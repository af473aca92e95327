/* blocks.c - steps are counted, and blocks go to the tree, where loops over them are cut. */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>
#include <stdlib.h>

/* ---- Blocks ---------------------------------------------------------------------------------- */
bool rd_ends_blocks(const rd_codegen *n, int32_t loop)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (n->fold[k].along == loop && n->fold[k].blocks)
            return true;
    return false;
}

/* Indices of the loop that are a step. */
static int64_t unit_of(rd_codegen *n, const rd_codegen_fold *f, int32_t axis)
{
    const int64_t rows = (f->of.fold->lane_extent + f->of.fold->lanes - 1) / f->of.fold->lanes;

    if (f->of.fold->lane_extent > f->of.fold->lanes && rd_coef(&f->of.fold->lane, axis) == 1)
        return f->of.fold->lanes;
    if (llabs(rd_coef(&f->of.fold->outer, axis)) * rows != 1)
        n->why = "steps that do not follow each other";
    return 1;
}

void rd_count_steps(rd_codegen *n, const rd_codegen_fold *f, int32_t axis, const char *from)
{
    rd_text       line = { 0 };
    const rd_bind kept = n->bind[axis];
    const int64_t rows = (f->of.fold->lane_extent + f->of.fold->lanes - 1) / f->of.fold->lanes;

    n->bind[axis].kind = RD_BIND_INDEX;
    rd_line(n, "int64_t t%d;", rd_number_of(n, f));
    rd_text_add(&line, "{ const int64_t i%d = %s; t%d = (", axis, from, rd_number_of(n, f));
    rd_position(n, &line, &f->of.fold->outer);
    rd_text_add(&line, ") * ");
    rd_number_text(n, &line, rows);
    if (f->of.fold->lane_extent > f->of.fold->lanes) {
        rd_text_add(&line, " + (");
        rd_position(n, &line, &f->of.fold->lane);
        rd_text_add(&line, ") / %d", f->of.fold->lanes);
    }
    rd_text_add(&line, "; }");
    n->bind[axis] = kept;
    rd_line(n, "%s", line.at);
    rd_text_free(&line);
}

void rd_blocks_begin(rd_codegen *n, int32_t loop, const char *from, const char *hi)
{
    const int32_t axis = n->p->loop[loop].axis;
    const bool    back = n->p->loop[loop].backwards;

    rd_line(n, "end%d = %s;", loop, hi);
    for (int32_t k = 0; k < n->p->n_fold; k++) {
        const rd_codegen_fold *f = &n->fold[k];

        if (f->along != loop || !f->blocks)
            continue;
        rd_count_steps(n, f, axis, from);
        if (back)
            rd_line(n, "end%d = MORE(end%d, %s + 1 - (%" PRId64 " - t%d %% %" PRId64 "));", loop,
                    loop, from, f->of.fold->steps, k, f->of.fold->steps);
        else
            rd_line(n,
                    "end%d = LESS(end%d, %s + (%" PRId64 " - t%d %% %" PRId64 ") * %" PRId64 ");",
                    loop, loop, from, f->of.fold->steps, k, f->of.fold->steps, unit_of(n, f, axis));
    }
}

void rd_add_tree_arguments(rd_codegen *n, rd_text *to, const rd_codegen_fold *f)
{
    rd_text_add(to, ", tree%d, ", rd_number_of(n, f));
    rd_number_text(n, to, f->states);
}

/* Behind the last element of a block, where loops are not cut at their ends. */
void rd_end_block(rd_codegen *n, const rd_codegen_fold *f)
{
    const int     number = rd_number_of(n, f);
    const int64_t block  = (int64_t)f->of.fold->lanes * f->of.fold->steps;
    rd_text       place = { 0 }, at = { 0 }, line = { 0 };

    rd_position(n, &place, &f->of.fold->lane);
    rd_add_first_state(n, &at, f);
    rd_text_add(&line, "if ((%s + 1) %% %" PRId64 " == 0", place.at, block);
    if (f->steps % f->of.fold->steps == 0) {
        rd_text_add(&line, " || %s + 1 == ", place.at);
        rd_number_text(n, &line, f->of.fold->lane_extent);
    }
    rd_text_add(&line, ") push%d(", number);
    rd_add_states(&line, n, f, "s", at.at);
    rd_add_tree_arguments(n, &line, f);
    rd_text_add(&line, ", %s, %d, (%s) / %" PRId64 ", ", at.at, f->lanes, place.at, block);
    rd_text_add(&line, f->split ? "f%d[0]);" : "0);", number);
    rd_line(n, "%s", line.at);
    rd_text_free(&place);
    rd_text_free(&at);
    rd_text_free(&line);
}

/* States of the cells at hand that lie side by side. */
static void add_count(const rd_codegen *n, rd_text *to, const rd_codegen_fold *f)
{
    const rd_region *r = rd_region_of(n, f);

    if (f->mode != RD_FOLD_CELLS)
        rd_text_add(to, "%d", f->lanes);
    else if (n->here)
        rd_text_add(to, "n");
    else
        rd_text_add(to, "hi%d_%d - lo%d_%d", r->axis, n->bind[r->axis].range, r->axis,
                    n->bind[r->axis].range);
}

/* Their block goes to the tree; of a scan, to what is before the next. */
static void push_cell(rd_codegen *n, const rd_codegen_fold *f)
{
    rd_text line = { 0 }, at = { 0 }, count = { 0 };

    rd_add_first_state(n, &at, f);
    add_count(n, &count, f);
    if (f->cached)
        rd_copy_group(n, f, rd_group_of(n, f), false);
    if (f->of.fold->scan)
        rd_turn_text(n, &line, f, at.at, count.at);
    else {
        rd_text_add(&line, "push%d(", rd_number_of(n, f));
        rd_add_states(&line, n, f, "s", at.at);
        rd_add_tree_arguments(n, &line, f);
        rd_text_add(&line, ", %s, %s, (t%d >> %d) - 1, ", at.at, count.at, rd_number_of(n, f),
                    f->shift);
        rd_text_add(&line, f->split ? "f%d[0]);" : "0);", rd_number_of(n, f));
    }
    rd_line(n, "%s", line.at);
    if (f->cached)
        rd_copy_group(n, f, rd_group_of(n, f), true);
    rd_text_free(&line);
    rd_text_free(&at);
    rd_text_free(&count);
}

/* The cells that stand in loops inside: [.., depth) are open. */
static void push_cells(rd_codegen *n, const rd_codegen_fold *f, const int32_t *loops, int32_t depth)
{
    const rd_region *r = rd_region_of(n, f);
    const rd_loop   *l;
    rd_bind         *b, kept;

    if (depth == 0) {
        push_cell(n, f);
        return;
    }
    l    = &n->p->loop[loops[depth - 1]];
    b    = &n->bind[l->axis];
    kept = *b;
    if (!rd_coef(&f->of.fold->cell, l->axis) || (f->mode == RD_FOLD_CELLS && r->axis == l->axis)) {
        push_cells(n, f, loops, depth - 1);
    } else if (f->cached) {
        b->kind = RD_BIND_NUMBER;
        for (b->number = 0; b->number < l->extent; b->number++)
            push_cells(n, f, loops, depth - 1);
    } else {
        b->kind = RD_BIND_INDEX;
        rd_line(n, "for (int64_t i%d = lo%d_%d; i%d < hi%d_%d; i%d++) {", l->axis, l->axis,
                kept.range, l->axis, l->axis, kept.range, l->axis);
        n->indent++;
        push_cells(n, f, loops, depth - 1);
        n->indent--;
        rd_line(n, "}");
    }
    *b = kept;
}

void rd_blocks_end(rd_codegen *n, int32_t loop, const char *from, const char *to)
{
    for (int32_t k = 0; k < n->p->n_fold; k++) {
        const rd_codegen_fold *f = &n->fold[k];
        int32_t                loops[2 * RD_MAX_RANK + 64], depth = 0;
        int64_t                unit;

        if (f->along != loop || !f->blocks)
            continue;
        for (int32_t l = n->p->inst[f->step].loop; l != loop && l >= 0; l = n->p->loop[l].parent)
            loops[depth++] = l;
        unit = unit_of(n, f, n->p->loop[loop].axis);
        if (n->p->loop[loop].backwards)
            rd_line(n, "t%d += %s - %s;", k, from, to);
        else
            rd_line(n, "t%d += (%s - %s + %" PRId64 ") / %" PRId64 ";", k, to, from, unit - 1,
                    unit);
        rd_line(n, "if (t%d %% %" PRId64 " == 0) {", k, f->of.fold->steps);
        n->indent++;
        if (rd_has_groups(f))
            rd_labels_push(n, f);
        else
            push_cells(n, f, loops, depth);
        n->indent--;
        rd_line(n, "}");
    }
}
