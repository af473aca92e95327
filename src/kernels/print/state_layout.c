/* state_layout.c - where the states of folds lie in a text.
 *
 *     float *const s0_0 = (float *)(q->state + 64);       states of the blocks at hand
 *     char *const tree0 = q->state + 24064;               rows of nodes of finished blocks
 *     int64_t *const f0 = (int64_t *)(q->state + 0);      first block; step behind the last one
 *     float s2_0[1];                                      states in variables
 *
 * The first array of a fold is in the task's state, unless the fold begins and ends in one part.
 * This file allots the bytes of a task's state; all parts of the program find the same there.
 *
 * A cell is an accumulator of a fold; it has a state for each lane, and a state has one or several
 * numbers, each in an array of its own.  A discard state takes the elements of no group.
 *
 * Fields. n->vector is the vector loop whose body is printed, -1: none. A step has values `weight`,
 * `mask` and `label`, -1 where the fold has no weights, mask or groups. A fold has `user` if its
 * reducer is the caller's own.
 *
 * Words. A strip is a range of neighbouring indices of one axis, which vector loops visit. */
#include "core/bytes.h"
#include "kernels/print/print.h"
#include <inttypes.h>

/* An array of a fold's states.  s: states of the block at hand.  A scan also has p, what is before
 * the block, and e, nodes of elements.  Running sums of floats have hi in p, lo in q, and their
 * doubles in w (kernels/math/prefix_sums.h). */
typedef struct state_array {
    char        name;   /* s, p, q, w or e                                */
    int         k;      /* which number of a state: s0_k                  */
    const char *type;   /* the C type of an element                       */
    int64_t     states; /* elements of the array                          */
    int64_t     bytes;  /* of the whole array, rounded up to cache lines  */
} state_array;

/* Describes array number k of a fold with so many states, for example "float s0_0[64]"; an array
 * holds one number of each state. False: there are no more arrays. They are, in this order:
 *
 *     s       states of the open blocks, with `discard` more behind them for elements of no group
 *     p       of a scan of several blocks: the fold of all blocks before
 *     q, w    of a running sum of floats (pair): the second word of p, and doubles that make both
 *     e       of a scan by the tree of a block (levels): nodes of 1, 2, 4 .. elements
 *
 * rd_lines() rounds bytes up to whole cache lines. */
static bool array_of(const rd_print_fold *f, int64_t states, int64_t discard, int64_t n_words,
                     int k, state_array *a)
{
    const int before = f->blocks && f->emit.fold->scan ? f->emit.n_state : 0,
              pair   = before && f->hi_lo_sums ? 2 : 0;

    *a = (state_array){ .name = 's', .k = k, .states = states };
    if (k >= f->emit.n_state + before + pair) {
        a->name   = 'e';
        a->k      = k - f->emit.n_state - before - pair;
        a->states = states * f->levels;
        if (!f->levels || a->k >= f->emit.n_state)
            return false;
    } else if (k >= f->emit.n_state + before) {
        const bool sums = k > f->emit.n_state + before;

        a->name   = sums ? 'w' : 'q';
        a->k      = 0;
        a->type   = sums ? "double" : NULL;
        a->states = rd_bytes_times(states, sums ? n_words : 1);
    } else if (k >= f->emit.n_state) {
        a->name = 'p';
        a->k    = k - f->emit.n_state;
    }
    a->states += a->name == 's' ? discard : 0;
    a->bytes =
        rd_lines(rd_bytes_times(a->states, a->type ? (int64_t)sizeof(double) : f->emit.bytes));
    if (!a->type)
        a->type = rd_state_type(&f->emit, a->k);
    return true;
}

/* Returns how many doubles (w) each state of a running sum of floats has. */
static int64_t doubles_of(const rd_printing *n, const rd_tree_array *store)
{
    return n->t->fold[store->fold].n_words;
}

/* ---- Layout ---------------------------------------------------------------------------------- */
/* Offsets of more states than 2^36 might not fit an int64_t: each has some bytes in every row of
 * its combine tree. */
static const int64_t MOST_STATES = INT64_C(1) << 36;

/* Copies the facts of a fold that the text needs: rows of its combine tree (0: no tree), and
 * levels of a scan by the tree of a block. blocks: it has several; pair: it is a running sum of
 * floats. */
static rd_print_fold fold_of(const rd_loop_fold *f)
{
    return (rd_print_fold){ .emit       = f->emit,
                            .lanes      = f->lanes,
                            .tree_rows  = f->tree_rows,
                            .shift      = f->shift,
                            .levels     = f->levels,
                            .blocks     = f->blocks,
                            .hi_lo_sums = f->hi_lo_sums };
}

/* Allots bytes of a task's state to fold `number`: two ints f0 if tasks share it (split), its
 * states if they lie in the task's memory, and the rows of its combine tree, if it has one. With
 * fewer lanes (partial accumulators) here than in the program, one state takes the elements of
 * several. A sum of small ints then needs a wider type, row_sums. cells: neighbouring elements go
 * to accumulators of their own. rd_piece() takes bytes behind those allotted so far, and returns
 * where they begin. */
static void allot(rd_printing *n, int32_t number)
{
    const rd_tree_array *store = &n->t->store[number];
    rd_print_fold       *f     = &n->fold[number];
    int64_t              bytes = 0;
    state_array          a;

    f->emit.cells = store->cells;
    f->states     = store->extent;
    f->lanes      = store->lanes;
    if (f->lanes < n->t->fold[number].lanes)
        f->emit.sums = f->emit.row_sums;
    if (f->states > MOST_STATES) {
        n->why = "more states than there is memory for";
        return;
    }
    f->discard = rd_print_discard_states(n->t, number);
    for (int k = 0; array_of(f, f->states, f->discard, doubles_of(n, store), k, &a); k++)
        bytes = rd_bytes_add(bytes, a.bytes);
    if (n->t->fold[number].split)
        f->facts = rd_piece(&n->state, /*n=*/1, /*each=*/64);
    if (store->storage == RD_IN_TASK)
        f->current = rd_piece(&n->state, /*n=*/1, bytes);
    if (f->tree_rows)
        f->tree = rd_piece(
            &n->state, f->tree_rows,
            rd_bytes_times(f->emit.n_state, rd_lines(rd_bytes_times(f->states, f->emit.bytes))));
}

/* Makes n->fold, the facts of all folds, and allots their bytes of a task's state. False: no
 * memory. */
bool rd_print_lay_out_states(rd_printing *n, rd_get_fn *get, void *pool)
{
    const rd_program *p = n->t->p;

    n->fold = get(pool, ((size_t)p->n_fold + 1) * sizeof *n->fold);
    for (int32_t k = 0; n->fold && k < p->n_fold; k++) {
        n->fold[k] = fold_of(&n->t->fold[k]);
        if (p->fold[k].user && !rd_user_facts(&n->fold[k].emit, k, n->pointers, get, pool))
            return false;
        allot(n, k);
    }
    return n->fold;
}

/* ---- Declarations ---------------------------------------------------------------------------- */
/* Prints names of what lies in the task's state, at the beginning of each function of the text:
 * "float *const s0_0 = (float *)(q->state + 64);" for states, tree0 for a combine tree
 * (f->tree_rows rows), and f0 for a fold that tasks share (split). */
void rd_print_declare_states(rd_printing *n)
{
    for (int32_t k = 0; k < n->t->p->n_fold; k++) {
        const rd_print_fold *f  = &n->fold[k];
        int64_t              at = f->current;
        state_array          a;

        for (int j = 0; n->t->store[k].storage == RD_IN_TASK &&
                        array_of(f, f->states, f->discard, doubles_of(n, &n->t->store[k]), j, &a);
             j++) {
            rd_print_line(n, "%s *const %c%" PRId32 "_%d = (%s *)(q->state + %" PRId64 ");", a.type,
                          a.name, k, a.k, a.type, at);
            at = rd_bytes_add(at, a.bytes);
        }
        if (f->tree_rows)
            rd_print_line(n, "char *const tree%" PRId32 " = q->state + %" PRId64 ";", k, f->tree);
        if (n->t->fold[k].split)
            rd_print_line(n, "int64_t *const f%" PRId32 " = (int64_t *)(q->state + %" PRId64 ");",
                          k, f->facts);
    }
}

/* Prints a local array: "float a3[64] LINES;" of elements (fold < 0), or "float s2_0[1];" of
 * states, an array for each number of a state. Elements of a padded strip begin as 0, so that
 * rounds behind the last element read defined numbers. States of a run of equal labels
 * (one_label) begin as 0, too: run5 = -1 says that they are of no label yet. */
void rd_print_declare_array(rd_printing *n, const rd_stmt *s)
{
    const int32_t        number  = s->store;
    const rd_tree_array *store   = &n->t->store[number];
    const bool           is_copy = number >= n->t->p->n_fold; /* a copy that passes have added */
    state_array          a;

    if (store->fold < 0) {
        rd_print_line(n, "%s a%" PRId32 "[%" PRId64 "] LINES%s;",
                      store->memory ? rd_memory_type(store->type) : rd_register_type(store->type),
                      number, store->extent, rd_padded_around(n->t, s->parent) ? " = { 0 }" : "");
        return;
    }
    for (int k = 0;
         array_of(&n->fold[store->fold], store->extent, /*discard=*/0, doubles_of(n, store), k, &a);
         k++)
        if (!is_copy || (a.name != 'w' && a.name != 'e')) /* no step reads w or e */
            rd_print_line(n, "%s %c%" PRId32 "_%d[%" PRId64 "]%s;", a.type, a.name, number, a.k,
                          a.states,
                          store->one_label                    ? " = { 0 }"
                          : store->storage == RD_IN_REGISTERS ? ""
                                                              : " LINES");
    if (store->one_label)
        rd_print_line(n, "int64_t run%" PRId32 " = -1;", number); /* see label_runs.c */
}

/* ---- Which states ---------------------------------------------------------------------------- */
/* Adds the addresses of all numbers of a state, as arguments: "&s0_0[at], &s0_1[at]". name:
 * which states, s, p, u or so; store: the number of their arrays. */
void rd_print_state_addresses(rd_text *to, const rd_print_fold *f, char name, int32_t store,
                              const char *at)
{
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, "%s&%c%" PRId32 "_%d[%s]", k ? ", " : "", name, store, k, at);
}

/* Adds a position times a stride: "(i0) * 64". A constant position is multiplied here. */
static void add_times(rd_printing *n, rd_text *to, const rd_linear *at, int64_t stride)
{
    if (at->n == 0 || stride == 0) {
        rd_print_number(n, to, at->offset * stride);
        return;
    }
    rd_text_add(to, stride == 1 ? "" : "(");
    rd_print_linear(n, to, at);
    if (stride != 1) {
        rd_text_add(to, ") * ");
        rd_print_number(n, to, stride);
    }
}

/* Adds the offset of the group that the label r7 names: " + (int64_t)r7 * 4". Groups lie
 * `group_stride` accumulators apart, and an accumulator has cell_stride states. If elements of no
 * group go to a discard state behind the last group, it is " + rd_group_of((int64_t)r7, N3) * 4",
 * which gives N3 for labels outside; in loops that compute subscripts by vectors,
 * rd_group_by_vectors(). */
static void add_group(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    const rd_fold *f = &n->t->p->fold[s->fold];

    if (rd_has_discard_state(n->t, s)) {
        rd_text_add(to, " + rd_group_%s((int64_t)r%" PRId32 ", ", n->vectors ? "by_vectors" : "of",
                    s->label);
        rd_print_number(n, to, f->n_group);
        rd_text_add(to, ") * ");
    } else
        rd_text_add(to, " + (int64_t)r%" PRId32 " * ", s->label);
    rd_print_number(n, to, f->group_stride * n->t->store[s->store].cell_stride);
}

/* Adds the subscript of the first state of a cell, the accumulator of one result: "i0 * 64 + m2
 * + i". fold_at.state_offset is what elements of a strip, or rounds of an unroll-and-jam, add to
 * it, because each has a state of its own; its constant comes last. A label (>= 0) adds the offset
 * of its group. */
void rd_print_cell_subscript(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    const rd_tree_array *store = &n->t->store[s->store];
    rd_linear            more  = s->fold_at.state_offset;

    add_times(n, to, &s->fold_at.cell, store->cell_stride);
    more.offset = 0;
    if (more.n) {
        rd_text_add(to, " + ");
        rd_print_linear(n, to, &more);
    }
    if (s->fold_at.state_offset.offset) /* spelled out, so that compilers see that states differ */
        rd_text_add(to, " + %" PRId64, s->fold_at.state_offset.offset);
    if (s->label >= 0)
        add_group(n, to, s);
}

/* Adds the subscript of the state that an element goes to: that of its accumulator, plus its lane
 * (one of 64 partial accumulators, in turn), "i0 * 64 + ((i1) & 63)". The mask replaces a remainder
 * (s->wraps): the number of lanes is a power of 2 and no index is negative, which compilers do not
 * know. An array of one lane's states (lane_stride 0), or of folds with one lane, has no such part.
 */
void rd_print_state_subscript(rd_printing *n, rd_text *to, const rd_stmt *s)
{
    const rd_tree_array *store = &n->t->store[s->store];
    const rd_fold       *f     = &n->t->p->fold[s->fold];

    if (n->vector >= 0 && rd_loop_of(n->t, n->vector)->flattened) {
        rd_text_add(to, "i"); /* a state lies where its element does */
        return;
    }
    rd_print_cell_subscript(n, to, s);
    if (f->lanes == 1 || store->lane_stride == 0 ||
        (s->fold_at.lane.n == 0 && s->fold_at.lane.offset == 0))
        return;
    rd_text_add(to, s->wraps ? " + ((" : " + (");
    rd_print_linear(n, to, &s->fold_at.lane);
    rd_text_add(to, s->wraps ? ") & %" PRId32 ")" : ")", f->lanes - 1);
    if (store->lane_stride != 1) {
        rd_text_add(to, " * ");
        rd_print_number(n, to, store->lane_stride);
    }
}

/* True if the vector loop has one state of the fold, in a variable: one lane (partial
 * accumulator), a built-in reducer, no scan. Compilers vectorise such a reduction if no other
 * loop stands inside, so states must not be in arrays. */
bool rd_is_one_state(const rd_printing *n, const rd_stmt *s)
{
    const rd_tree_array *store = &n->t->store[s->store];

    return n->vector >= 0 && store->storage == RD_IN_REGISTERS && store->extent == 1 &&
           n->fold[s->fold].lanes == 1 && !n->fold[s->fold].emit.fold->user &&
           !n->fold[s->fold].emit.fold->scan;
}
