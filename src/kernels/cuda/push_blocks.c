/* push_blocks.c - how a range pushes the blocks that it has begun, as nodes of the tree (program.h).
 *
 * Arrays of a fold: s, the states of the blocks at hand, one for each cell and lane; w, the rows of
 * its tree; b, which block each cell is at.  A thread that has several lanes of a cell pushes them
 * together.  Lanes that have met no element have identities. */
#include "kernels/cuda/kernel_frame.h"
#include <inttypes.h>
#include <stdio.h>

void rd_cuda_states(rd_text *to, const rd_cuda_fold *f, int32_t number, const char *name,
                    const char *at)
{
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, "%s&%s%" PRId32 "_%d[%s]", k ? ", " : "", name, number, k, at);
}

int32_t rd_cuda_fold_number(const rd_cuda_strategy *s, const rd_cuda_fold *f)
{
    return (int32_t)(f - s->fold);
}

const char *rd_cuda_lane_of(const rd_cuda_text *t, const rd_cuda_fold *f, char to[32])
{
    if (t->s->width > 1)
        snprintf(to, 32, "(%" PRId32 " * t + l)", t->s->width);
    else
        snprintf(to, 32, f->of.fold->lanes > t->s->team ? "(RD_TEAM * l + t)" : "t");
    return to;
}

/* Which lane of a cell is the first of this thread's, and how far apart they are. */
static const char *first_lane(const rd_cuda_text *t)
{
    static const char *const first[] = { "t", "t", "2 * t", "", "4 * t", "", "", "", "8 * t" };

    return first[t->s->width];
}

static int32_t lanes_apart(const rd_cuda_text *t)
{
    return t->s->width > 1 ? 1 : t->s->team;
}

/* The arguments of push() that say which lanes: all of the cell that this thread moves on. */
static void add_lanes_of_push(rd_text *to, const rd_cuda_text *t, const rd_cuda_fold *f)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    const int32_t lanes  = f->of.fold->lanes;
    const bool    team   = f->storage == RD_STORAGE_TEAM; /* rows have all lanes of the cell, */
    const bool    shared = team && f->threads_are_lanes;  /* others' between ours             */
    const int32_t row    = team ? lanes : f->here;

    rd_text_add(to, ", %d, %d, %" PRId64 ", c%" PRId32 " * (int64_t)%" PRId32 "%s%s", (int)f->here,
                shared ? (int)lanes_apart(t) : 1, f->n_cell * row, number, row, shared ? " + " : "",
                shared ? first_lane(t) : "");
}

/* "&s0_0[first lane of the cell that is this thread's], ..., w0_0": of push(). */
static void add_arrays_of_push(rd_text *to, const rd_cuda_text *t, const rd_cuda_fold *f)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    const bool    shared = f->threads_are_lanes && f->storage == RD_STORAGE_TEAM;
    rd_text       first  = { 0 };

    rd_text_add(&first, "c%" PRId32 " * %" PRId32 "%s%s", number,
                f->storage == RD_STORAGE_TEAM ? f->of.fold->lanes : f->here, shared ? " + " : "",
                shared ? first_lane(t) : "");
    rd_cuda_states(to, f, number, "s", first.at ? first.at : "");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, ", w%" PRId32 "_%d", number, k);
    rd_text_end(&first, t->print.to);
}

/* "b0[c0]", which block the fold is at: in cell c0, or in the lanes of it that a thread has. */
static void add_counter(rd_text *to, const rd_cuda_fold *f, int32_t number)
{
    if (rd_cuda_counters(f) > 1)
        rd_text_add(to, "b%" PRId32 "[c%" PRId32 " * %d + t]", number, number, rd_cuda_counters(f));
    else
        rd_text_add(to, "b%" PRId32 "[c%" PRId32 "]", number, number);
}

void rd_cuda_move_on(rd_cuda_text *t, const rd_cuda_fold *f, const char *block)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);
    rd_text       line   = { 0 };

    rd_text_add(&line, "while (");
    add_counter(&line, f, number);
    rd_text_add(&line, " < %s) { push%" PRId32 "(", block, number);
    add_arrays_of_push(&line, t, f);
    add_lanes_of_push(&line, t, f);
    rd_text_add(&line, ", ");
    add_counter(&line, f, number);
    rd_text_add(&line, f->split >= 0 ? ", from%" PRId32 : ", 0", number);
    rd_text_add(&line, "); ");
    add_counter(&line, f, number);
    rd_text_add(&line, "++; }");
    rd_print_line(&t->print, "%s", line.at ? line.at : "");
    rd_text_end(&line, t->print.to);
}
