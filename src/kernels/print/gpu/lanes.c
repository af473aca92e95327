/* lanes.c - states of a patch (patches.c): those of a thread's columns are variables; those of the lanes of
 * all rows lie in shared memory, from where a thread takes those of its elements' row, and puts them back:
 *
 *     const rd_pack<float, 4> h = RD_TAKE_SHARED(float, 4, h1_0, place);
 *     RD_UNROLL for (int l = 0; l < 4; l++) s1_0[l] = h.e[l]; */
#include "core/combine_tree.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

static void open_brace(rd_printing *n, const char *line)
{
    rd_print_line(n, "%s", line);
    n->indent++;
}

static void close_brace(rd_printing *n)
{
    n->indent--;
    rd_print_line(n, "}");
}

/* Do threads have lanes of it, which lie in shared memory? */
static bool is_row(const rd_printing *n, int32_t fold)
{
    return n->t->store[fold].place == RD_IN_BLOCK;
}

int64_t rd_lanes_of_row(const rd_printing *n)
{
    return (int64_t)n->kernel->team * n->kernel->wide;
}

/* "begin1(&a0, &a1);" of variables. */
static void print_begin_of(rd_printing *n, int32_t fold)
{
    const rd_emit_fold *f    = &n->fold[fold].of;
    rd_text             line = { 0 };

    for (int k = 0; k < f->n_state; k++)
        rd_print_line(n, "%s a%d;", rd_state_type(f, k), k);
    rd_add_each(&line, f, "&a%d");
    rd_print_line(n, "begin%" PRId32 "(%s);", fold, line.at);
    rd_text_end(&line, n->to);
}

/* The lanes of all rows of a patch. */
void rd_print_begin_lanes(rd_printing *n, int32_t fold)
{
    rd_print_line(n, "for (int k = (int)threadIdx.x; k < %" PRId64 "; k += RD_THREADS) {",
                  RD_TREE_STEPS * rd_lanes_of_row(n));
    n->indent++;
    print_begin_of(n, fold);
    for (int k = 0; k < n->fold[fold].of.n_state; k++)
        rd_print_line(n, "h%" PRId32 "_%d[k] = a%d;", fold, k, k);
    close_brace(n);
}

/* "float s1_0[4];" of what a thread has at hand: its columns, or lanes of the row. */
void rd_print_declare_at_hand(rd_printing *n, bool rows)
{
    for (int32_t k = 0; k < n->t->p->n_fold; k++)
        for (int j = 0; is_row(n, k) == rows && j < n->fold[k].of.n_state; j++)
            rd_print_line(n, "%s s%" PRId32 "_%d[%" PRId32 "];", rd_state_type(&n->fold[k].of, j),
                          k, j, n->kernel->wide);
}

void rd_print_begin_columns(rd_printing *n)
{
    for (int32_t k = 0; k < n->t->p->n_fold; k++) {
        rd_text states = { 0 };

        if (is_row(n, k))
            continue;
        rd_print_states(&states, &n->fold[k], 's', k, "l");
        rd_print_line(n, "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) begin%" PRId32 "(%s);",
                      n->kernel->wide, k, states.at);
        rd_text_end(&states, n->to);
    }
}

static void take_lanes(rd_printing *n, int32_t fold, int k)
{
    const char   *type = rd_state_type(&n->fold[fold].of, k);
    const int32_t wide = n->kernel->wide;

    open_brace(n, "{");
    rd_print_line(n,
                  "const rd_pack<%s, %" PRId32 "> h = RD_TAKE_SHARED(%s, %" PRId32 ", h%" PRId32
                  "_%d, place);",
                  type, wide, type, wide, fold, k);
    rd_print_line(n, "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) s%" PRId32 "_%d[l] = h.e[l];",
                  wide, fold, k);
    close_brace(n);
}

static void put_lanes(rd_printing *n, int32_t fold, int k)
{
    const char   *type = rd_state_type(&n->fold[fold].of, k);
    const int32_t wide = n->kernel->wide;

    open_brace(n, "{");
    rd_print_line(n, "rd_pack<%s, %" PRId32 "> h;", type, wide);
    rd_print_line(n, "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) h.e[l] = s%" PRId32 "_%d[l];",
                  wide, fold, k);
    rd_print_line(n, "RD_PUT_SHARED(%s, %" PRId32 ", h%" PRId32 "_%d, place, h);", type, wide, fold,
                  k);
    close_brace(n);
}

/* The lanes of row `u` of this turn come from shared memory, or go back there. */
static void move_lanes(rd_printing *n, void (*move)(rd_printing *n, int32_t fold, int k))
{
    for (int32_t k = 0; k < n->t->p->n_fold; k++)
        for (int j = 0; is_row(n, k) && j < n->fold[k].of.n_state; j++)
            move(n, k, j);
}

void rd_print_take_lanes(rd_printing *n)
{
    move_lanes(n, take_lanes);
}

void rd_print_put_lanes(rd_printing *n)
{
    move_lanes(n, put_lanes);
}
