/* promoted_states.c - states that are copied to a local array around the loops that take their
 * elements (scalar promotion), and back, as text:
 *
 *     for (int l = 0; l < 64; l++) s9_0[0 + l] = s0_0[i1 * 64 + l];
 *     s7_0[0] = s0_0[m2 + i];
 *
 * No function takes the address of such an array, so compilers keep it in registers.
 *
 * A cell is an accumulator of a fold; it has a state for each lane, and a state has numbers 0 to k
 * - 1. */
#include "kernels/print/print.h"
#include <inttypes.h>

/* Adds one number of a state, "s9_0[at + l]": number k of lane l (a partial accumulator) in
 * array 9. lane_stride 0: the state has no lanes, and l is left out. name: which states of the
 * fold, s, p or q. */
static void add_state(rd_text *to, int32_t store, char name, int k, const char *at,
                      int64_t lane_stride)
{
    rd_text_add(to, "%c%" PRId32 "_%d[%s", name, store, k, at);
    if (lane_stride)
        rd_text_add(to, lane_stride == 1 ? " + l" : " + l * %" PRId64, lane_stride);
    rd_text_add(to, "]");
}

/* Prints the copy of number k of a state to a local array (LOAD_STATES) or back. `there` is the
 * subscript in the local array s->arg, `at` that in array s->store. name: s is the state of the
 * open block; p and q are what a scan has before that block. If the local array has a stride of
 * lanes, all lanes are copied by a loop. */
static void print_copy(rd_printing *n, const rd_stmt *s, char name, int k, const char *there,
                       const char *at)
{
    const rd_tree_array *local     = &n->t->store[s->arg];
    const bool           all_lanes = local->lane_stride != 0, loads = s->kind == RD_S_LOAD_STATES;
    rd_text              local_text = { 0 }, cell_text = { 0 };

    add_state(&local_text, s->arg, name, k, there, local->lane_stride);
    add_state(&cell_text, s->store, name, k, at, all_lanes ? n->t->store[s->store].lane_stride : 0);
    if (all_lanes)
        rd_print_line(n, "for (int l = 0; l < %" PRId32 "; l++) %s = %s;", n->fold[s->fold].lanes,
                      loads ? local_text.at : cell_text.at, loads ? cell_text.at : local_text.at);
    else
        rd_print_line(n, "%s = %s;", loads ? local_text.at : cell_text.at,
                      loads ? cell_text.at : local_text.at);
    rd_text_end(&local_text, n->to);
    rd_text_end(&cell_text, n->to);
}

/* Prints the copies of all numbers of a state to the local array s->arg (LOAD_STATES) or back to
 * array s->store (STORE_STATES). What a scan has before its open block, p and q, is only loaded,
 * because steps do not change it; q is the second word of a running sum of floats (pair). A
 * local array with `one_label` holds the state of a run of equal labels, which is written back
 * to its accumulator. lane_stride 0: the local array has one lane's state. */
void rd_print_state_copy(rd_printing *n, const rd_stmt *s)
{
    const rd_print_fold *f      = &n->fold[s->fold];
    const bool           before = s->kind == RD_S_LOAD_STATES && f->blocks && f->emit.fold->scan;
    rd_text              at = { 0 }, there = { 0 };

    if (n->t->store[s->arg].one_label) {
        rd_print_run_write_back(n, s);
        return;
    }
    rd_print_linear(n, &there, &s->at);
    if (n->t->store[s->arg].lane_stride)
        rd_print_cell_subscript(n, &at, s);
    else
        rd_print_state_subscript(n, &at, s);
    for (int k = 0; k < f->emit.n_state; k++) {
        print_copy(n, s, 's', k, there.at, at.at);
        if (before)
            print_copy(n, s, 'p', k, there.at, at.at);
    }
    if (before && f->hi_lo_sums)
        print_copy(n, s, 'q', /*k=*/0, there.at, at.at);
    rd_text_end(&at, n->to);
    rd_text_end(&there, n->to);
}
