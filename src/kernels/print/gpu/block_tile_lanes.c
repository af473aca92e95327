/* block_tile_lanes.c - states of a block tile (block_tile_text.c).  A thread's columns are
 * variables.  The lanes of all rows lie in shared memory: a thread loads those of its row, and
 * stores them back:
 *
 *     const rd_pack<float, 4> h = RD_TAKE_SHARED(float, 4, h1_0, place);
 *     RD_UNROLL for (int l = 0; l < 4; l++) s1_0[l] = h.e[l];
 *
 * A block tile is 64 rows by some columns, which a block of threads reduces along both axes.  A
 * lane is one of the states of a row, to which its elements go in turn; h1_0 holds number 0 of the
 * states of fold 1, in shared memory. */
#include "core/combine_tree.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* True if the fold reduces rows: its accumulators lie in shared memory. Those of columns are
 * variables of a thread. */
static bool is_row(const rd_printing *n, int32_t fold)
{
    return n->t->store[fold].storage == RD_IN_BLOCK;
}

/* Returns the number of lanes of a row, its partial accumulators: the columns that a team (the
 * threads of an item) takes at a time. */
int64_t rd_lanes_of_row(const rd_printing *n)
{
    return (int64_t)n->kernel->team * n->kernel->width;
}

/* Prints an empty state of the fold in variables a0, a1 .., one for each of the n_state numbers
 * of a state: "float a0; begin1(&a0);". */
static void print_begin_of(rd_printing *n, int32_t fold)
{
    const rd_emit_fold *f    = &n->fold[fold].emit;
    rd_text             line = { 0 };

    for (int k = 0; k < f->n_state; k++)
        rd_print_line(n, "%s a%d;", rd_state_type(f, k), k);
    rd_add_each(&line, f, "&a%d");
    rd_print_line(n, "begin%" PRId32 "(%s);", fold, line.at);
    rd_text_end(&line, n->to);
}

/* Prints how the lanes (partial accumulators) of all 64 rows of a tile begin. They lie in shared
 * memory: h1_0 has number 0 of the states of fold 1. All threads of the block share the work:
 *
 *     for (int k = ..) { float a0; begin1(&a0); h1_0[k] = a0; } */
void rd_print_begin_row_lanes(rd_printing *n, int32_t fold)
{
    rd_print_line(n, "for (int k = (int)threadIdx.x; k < %" PRId64 "; k += RD_THREADS) {",
                  RD_TREE_STEPS * rd_lanes_of_row(n));
    n->indent++;
    print_begin_of(n, fold);
    for (int k = 0; k < n->fold[fold].emit.n_state; k++)
        rd_print_line(n, "h%" PRId32 "_%d[k] = a%d;", fold, k, k);
    rd_print_close(n);
}

/* Prints "float s1_0[4];": the `width` states of a thread, an array for each of the n_state
 * numbers of a state. They are of lanes (partial accumulators) of the row at hand (`rows`), or
 * of the thread's columns. */
void rd_print_declare_tile_states(rd_printing *n, bool rows)
{
    for (int32_t k = 0; k < n->t->p->n_fold; k++)
        for (int j = 0; is_row(n, k) == rows && j < n->fold[k].emit.n_state; j++)
            rd_print_line(n, "%s s%" PRId32 "_%d[%" PRId32 "];", rd_state_type(&n->fold[k].emit, j),
                          k, j, n->kernel->width);
}

/* Prints how the states (accumulators) of a thread's columns begin, for each fold of columns:
 * "RD_UNROLL for (int l = 0; l < 4; l++) begin0(&s0_0[l]);". */
void rd_print_begin_columns(rd_printing *n)
{
    for (int32_t k = 0; k < n->t->p->n_fold; k++) {
        rd_text states = { 0 };

        if (is_row(n, k))
            continue;
        rd_print_state_addresses(&states, &n->fold[k], 's', k, "l");
        rd_print_line(n, "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) begin%" PRId32 "(%s);",
                      n->kernel->width, k, states.at);
        rd_text_end(&states, n->to);
    }
}

/* Prints how a thread loads number k of its lanes' states from shared memory, as one vector at
 * `place`:
 *
 *     const rd_pack<float, 4> h = RD_TAKE_SHARED(..); .. s1_0[l] = h.e[l]; */
static void take_lanes(rd_printing *n, int32_t fold, int k)
{
    const char   *type  = rd_state_type(&n->fold[fold].emit, k);
    const int32_t width = n->kernel->width;

    rd_print_open(n, "{");
    rd_print_line(n,
                  "const rd_pack<%s, %" PRId32 "> h = RD_TAKE_SHARED(%s, %" PRId32 ", h%" PRId32
                  "_%d, place);",
                  type, width, type, width, fold, k);
    rd_print_line(n, "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) s%" PRId32 "_%d[l] = h.e[l];",
                  width, fold, k);
    rd_print_close(n);
}

/* Prints how a thread stores number k of its lanes' states back to shared memory, as one vector:
 * "rd_pack<float, 4> h; .. h.e[l] = s1_0[l]; RD_PUT_SHARED(.., h);". */
static void put_lanes(rd_printing *n, int32_t fold, int k)
{
    const char   *type  = rd_state_type(&n->fold[fold].emit, k);
    const int32_t width = n->kernel->width;

    rd_print_open(n, "{");
    rd_print_line(n, "rd_pack<%s, %" PRId32 "> h;", type, width);
    rd_print_line(n, "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) h.e[l] = s%" PRId32 "_%d[l];",
                  width, fold, k);
    rd_print_line(n, "RD_PUT_SHARED(%s, %" PRId32 ", h%" PRId32 "_%d, place, h);", type, width,
                  fold, k);
    rd_print_close(n);
}

/* Calls `move` (take_lanes or put_lanes) for each fold of rows, and each number k of its state
 * (a state is n_state numbers, such as sum and count). */
static void move_lanes(rd_printing *n, void (*move)(rd_printing *n, int32_t fold, int k))
{
    for (int32_t k = 0; k < n->t->p->n_fold; k++)
        for (int j = 0; is_row(n, k) && j < n->fold[k].emit.n_state; j++)
            move(n, k, j);
}

/* Prints how a thread loads its lanes of a row, the partial accumulators, from shared memory. */
void rd_print_load_row_lanes(rd_printing *n)
{
    move_lanes(n, take_lanes);
}

/* Prints how a thread stores its lanes of a row, the partial accumulators, back to shared
 * memory. */
void rd_print_store_row_lanes(rd_printing *n)
{
    move_lanes(n, put_lanes);
}
