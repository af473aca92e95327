/* beside.c - blocks of a user's reducer side by side.
 *
 * A block is folded from the left, each step waiting for the last.  But blocks know nothing of each
 * other, so many of them are lanes of vectors: their elements are turned, each step takes one of
 * every block, and the blocks go to the tree in order.  No bit changes. */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>
#include <stdio.h>

/* Twice as many as a vector holds: while one takes its step, so does the other. */
static int64_t blocks_beside(const rd_codegen *n, const rd_codegen_fold *f)
{
    return 2 * (int64_t)rd_step_lanes(n, f, 1);
}

/* The user's fold that is all that the loop does, if its blocks may go beside each other; else
 * NULL. */
static const rd_codegen_fold *fold_of(const rd_codegen *n, int32_t loop)
{
    const rd_loop         *l     = &n->p->loop[loop];
    const rd_codegen_fold *found = NULL;

    for (int32_t i = l->begin + 1; i < l->end; i++)
        switch (n->p->inst[i].kind) {
        case RD_I_STEP:
            if (i + 1 < l->end)
                return NULL;
            found = &n->fold[n->p->inst[i].arg];
            break;
        case RD_I_CONST:
        case RD_I_COORD:
        case RD_I_LOAD:
        case RD_I_MAP:
        case RD_I_CAST:
        case RD_I_SELECT: break;
        default: return NULL;
        }
    if (!found || !found->of.user || found->along != loop || !found->blocks || found->of.masked ||
        found->of.weighted || found->lanes > 1 || found->mode != RD_FOLD_SCALAR || l->backwards ||
        rd_step_lanes(n, found, 1) < 2 ||
        rd_trips(n->p, loop) < blocks_beside(n, found) * found->of.fold->steps)
        return NULL;
    return found;
}

static void index_of_lane(rd_codegen *n, const rd_codegen_fold *f, int32_t axis)
{
    rd_line(n, "const int64_t i%d = beside%d + b * %" PRId64 " + j;", axis, f->along,
            f->of.fold->steps);
}

/* What the steps take, step after step, of all blocks. */
static void turn_elements(rd_codegen *n, const rd_codegen_fold *f, int32_t axis)
{
    const rd_loop *l    = &n->p->loop[f->along];
    const rd_inst *step = &n->p->inst[f->step];
    rd_text        x    = { 0 };

    rd_line(n, "%s x%d[%" PRId64 "][%" PRId64 "] LINES;", rd_register_type(f->of.fold->user->in),
            f->along, f->of.fold->steps, blocks_beside(n, f));
    rd_line(n, "for (int64_t b = 0; b < %" PRId64 "; b++)", blocks_beside(n, f));
    rd_line(n, "    for (int64_t j = 0; j < %" PRId64 "; j++) {", f->of.fold->steps);
    n->indent += 2;
    index_of_lane(n, f, axis);
    rd_walk_items(n, l->begin + 1, f->step);
    rd_operand_text(n, &x, step->a);
    rd_line(n, "x%d[j][b] = %s;", f->along, x.at);
    n->indent -= 2;
    rd_line(n, "    }");
    rd_text_free(&x);
}

static void take_steps(rd_codegen *n, const rd_codegen_fold *f, int32_t axis)
{
    const int number = rd_number_of(n, f);
    rd_text   line   = { 0 };

    for (int k = 0; k < f->of.n_state; k++)
        rd_line(n, "%s u%d_%d[%" PRId64 "] LINES;", rd_state_type(&f->of, k), number, k,
                blocks_beside(n, f));
    rd_text_add(&line, "begin%d(", number);
    rd_add_states(&line, n, f, "u", "b");
    rd_line(n, "for (int64_t b = 0; b < %" PRId64 "; b++) %s);", blocks_beside(n, f), line.at);
    rd_text_free(&line);
    rd_line(n, "for (int64_t j = 0; j < %" PRId64 "; j++)", f->of.fold->steps);
    rd_line(n, "    INDEPENDENT for (int64_t b = 0; b < %" PRId64 "; b++) {", blocks_beside(n, f));
    n->indent += 2;
    index_of_lane(n, f, axis);
    rd_text_add(&line, "step%d(", number);
    rd_add_states(&line, n, f, "u", "b");
    rd_text_add(&line, ", x%d[j][b], 1, ", f->along);
    rd_position(n, &line, &f->of.fold->index);
    rd_line(n, "%s);", line.at);
    n->indent -= 2;
    rd_line(n, "    }");
    rd_text_free(&line);
}

static void push_blocks(rd_codegen *n, const rd_codegen_fold *f)
{
    const int number = rd_number_of(n, f);
    rd_text   at = { 0 }, line = { 0 };

    rd_add_first_state(n, &at, f);
    rd_line(n, "for (int64_t b = 0; b < %" PRId64 "; b++) {", blocks_beside(n, f));
    n->indent++;
    for (int k = 0; k < f->of.n_state; k++)
        rd_line(n, "s%d_%d[%s] = u%d_%d[b];", number, k, at.at, number, k);
    rd_text_add(&line, "push%d(", number);
    rd_add_states(&line, n, f, "s", at.at);
    rd_add_tree_arguments(n, &line, f);
    rd_text_add(&line, ", %s, 1, t%d / %" PRId64 " + b, ", at.at, number, f->of.fold->steps);
    rd_text_add(&line, f->split ? "f%d[0]);" : "0);", number);
    rd_line(n, "%s", line.at);
    n->indent--;
    rd_line(n, "}");
    rd_text_free(&line);
    rd_text_free(&at);
}

bool rd_blocks_beside(rd_codegen *n, int32_t loop, const char *lo, const char *hi)
{
    const rd_codegen_fold *f    = n->here || n->dry ? NULL : fold_of(n, loop);
    const int32_t          axis = n->p->loop[loop].axis;
    const rd_bind          kept = n->bind[axis];
    char                   from[40];

    if (!f)
        return false;
    snprintf(from, sizeof from, "beside%d", loop);
    rd_line(n, "int64_t %s = %s;", from, lo);
    rd_line(n, "for (; %s + %" PRId64 " <= %s; %s += %" PRId64 ") {", from,
            blocks_beside(n, f) * f->of.fold->steps, hi, from,
            blocks_beside(n, f) * f->of.fold->steps);
    n->indent++;
    rd_count_steps(n, f, axis, from);
    rd_line(n, "if (t%d %% %" PRId64 ") break;", rd_number_of(n, f), f->of.fold->steps);
    n->bind[axis].kind = RD_BIND_INDEX;
    turn_elements(n, f, axis);
    take_steps(n, f, axis);
    n->bind[axis] = kept;
    push_blocks(n, f);
    n->indent--;
    rd_line(n, "}");
    return true;
}
