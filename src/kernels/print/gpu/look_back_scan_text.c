/* look_back_scan_text.c - scans in one pass with look-back: a block of threads goes from tile to
 * tile (cuda/text/lookback_scan.cuh).
 *
 *     RD_SHARED(scan0::node, blocks2, 64);                    ARRAY
 *     RD_SHARED(scan0::before, before2, 64);
 *     scan0::state tile2[8][4];
 *     begin0(&tile2[u][i]);                     for u, for i  BEGIN
 *     if (m1 - m0 == 4096) {                                  the loop of steps
 *         p5[u] = rd_take<float, 4>(..);        for u = 0 .. 7
 *         step0(&tile2[u][i], r0, 1, ..);       for u, for i
 *     } else { element by element }
 *     rd_scan_blocks<scan0>(tile2);                           SCAN_BLOCKS
 *     rd_leave_blocks<scan0, RD_THREADS>(tile2, blocks2);
 *     if (threadIdx.x / 32 == 0)                              STORE_PARTIALS, BUILD_TREE, LOOK_BACK
 *         rd_before_blocks<scan0, 64>(blocks2, before2, .., q.head.n_range, range);
 *     prefix0(&tile2[u][i], &b2.e[0], &b2.e[1], &r7);         SCAN_RESULT
 *
 * Positions decide which thread adds what, and each node has one value.  So no bit depends on
 * which block of threads comes first.
 *
 * A tile is a range of a scan's elements, which one block of threads takes; a block of the tree is
 * 64 of them.  m0 and m1 are marks: variables with the tile's first index, and the one behind its
 * last.
 *
 * Words. A partial is a node that one range of a split loop leaves for the combine. A fold is a
 * reduction or a scan. */
#include "core/combine_tree.h"
#include "kernels/loop/facts.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* ---- Functions of a scan --------------------------------------------------------------------- */
/* Adds begin(), which makes an empty state: "static inline void begin(float *a) { begin0(a); }".
 * Some states have a second number, a flag that an element was met (seen). Here it goes to a
 * dummy, as an element's position tells that. */
static void add_begin(rd_text *to, const rd_emit_fold *f, int32_t number)
{
    rd_text_add(to, "    static inline void begin(%s *a) {", rd_state_type(f, /*k=*/0));
    if (f->seen)
        rd_text_add(to, " %s z;", rd_state_type(f, /*k=*/1));
    rd_text_add(to, " begin%" PRId32 "(a%s); }\n", number, f->seen ? ", &z" : "");
}

/* Adds join(), which merges two states: "static inline float join(float a, float b) { merge0(&a,
 * &b); return a; }". A second number of a state, the flag that it has met an element (seen), is
 * 1 here, as both have. */
static void add_join(rd_text *to, const rd_emit_fold *f, int32_t number)
{
    const char *type = rd_state_type(f, /*k=*/0), *z = f->seen ? ", &z" : "";

    rd_text_add(to, "    static inline %s join(%s a, %s b) {", type, type, type);
    if (f->seen)
        rd_text_add(to, " %s z = 1;", rd_state_type(f, /*k=*/1));
    rd_text_add(to, " merge%" PRId32 "(&a%s, &b%s); return a; }\n", number, z, z);
}

/* Adds begin() and join() for doubles: nodes (partial results in the combine tree) of a running sum
 * of f32 (sums of whole blocks) are f64. Node -0.0 is the sum of nothing, as it changes no sum. */
static void add_wide_nodes(rd_text *to)
{
    rd_text_add(to, "    static inline void begin(double *a) { *a = -0.0; }\n"
                    "    static inline double join(double a, double b) { return a + b; }\n");
}

/* Adds "struct scan0 { ... };", with the types and functions by which
 * cuda/text/lookback_scan.cuh scans. words() makes of a sum of all before what prefix0() takes:
 * of a running sum of floats (`pair`) two words hi + lo, else the state (accumulator) itself. */
void rd_print_look_back_functions(rd_text *to, const rd_emit_fold *f, bool pair, int32_t number)
{
    const char *type = rd_state_type(f, /*k=*/0), *node = pair ? "double" : type;
    const bool  f32 = rd_dtype_class(f->fold->type) == RD_CLASS_f32;

    rd_text_add(to,
                "struct scan%" PRId32 " {\n    typedef %s state;\n    typedef %s node;\n"
                "    typedef rd_pack<%s, %d> before;\n",
                number, type, node, type, pair ? 2 : 1);
    add_begin(to, f, number);
    add_join(to, f, number);
    if (pair && f32)
        add_wide_nodes(to);
    rd_text_add(to, "    static inline before words(%s all) { before w;", node);
    if (pair)
        rd_text_add(to, " rd_prefix_sum_%s(all, &w.e[0], &w.e[1]);", f32 ? "f32" : "f64");
    else
        rd_text_add(to, " w.e[0] = all;");
    rd_text_add(to, " return w; }\n};\n");
}

/* ---- States of elements ---------------------------------------------------------------------- */
/* Returns the rounds of a tile: the elements that a thread has of it, divided by the `width`
 * that it takes at once. */
static int32_t rounds_of(const rd_printing *n, int32_t store)
{
    return n->t->store[store].per_thread / n->kernel->width;
}

/* Returns the number of blocks (64 elements) of the combine tree in a tile. */
static int64_t blocks_of(const rd_printing *n, int32_t store)
{
    return n->t->store[store].extent / RD_TREE_STEPS;
}

/* Prints the declarations of a tile. There are in shared memory the nodes (partial results in
 * the combine tree) of its blocks and the prefix before each block; in registers a state
 * (accumulator) for each of the thread's elements.
 *
 *     RD_SHARED(scan0::node, blocks2, 64); .. scan0::state tile2[8][4]; */
void rd_print_scan_tile(rd_printing *n, int32_t store)
{
    const int32_t fold   = n->t->store[store].fold;
    const int64_t blocks = blocks_of(n, store);

    rd_print_line(n, "RD_SHARED(scan%" PRId32 "::node, blocks%" PRId32 ", %" PRId64 ");", fold,
                  store, blocks);
    rd_print_line(n, "RD_SHARED(scan%" PRId32 "::before, before%" PRId32 ", %" PRId64 ");", fold,
                  store, blocks);
    rd_print_line(n, "scan%" PRId32 "::state tile%" PRId32 "[%" PRId32 "][%" PRId32 "];", fold,
                  store, rounds_of(n, store), n->kernel->width);
}

/* Returns ", &seen" if states have a second number, the flag that they have met an element; else
 * "". */
static const char *seen_of(const rd_printing *n, int32_t fold)
{
    return n->fold[fold].emit.seen ? ", &seen" : "";
}

/* Prints "begin0(&tile2[u][i]);" for all elements of a thread. Those behind the end of the axis
 * keep this empty state (accumulator). `seen`, the flag of some states that they have met an
 * element, is a dummy. */
void rd_print_begin_scan_tile(rd_printing *n, const rd_stmt *s)
{
    const rd_emit_fold *f = &n->fold[s->fold].emit;

    rd_print_line(n,
                  "RD_UNROLL for (int u = 0; u < %" PRId32
                  "; u++) RD_UNROLL for (int i = 0; i < %" PRId32 "; i++) {",
                  rounds_of(n, s->store), n->kernel->width);
    n->indent++;
    if (f->seen)
        rd_print_line(n, "%s seen;", rd_state_type(f, /*k=*/1));
    rd_print_line(n, "begin%" PRId32 "(&tile%" PRId32 "[u][i]%s);", s->fold, s->store,
                  seen_of(n, s->fold));
    n->indent--;
    rd_print_line(n, "}");
}

/* Adds the state (accumulator) of the element at hand: "&tile2[u][i], &seen". A thread's states
 * stand in the order of the scan; if it goes backwards, the state's position
 * (`fold_at.state_offset`) falls with the index, so the subscript does, too. */
static void add_state(const rd_printing *n, rd_text *to, const rd_stmt *s)
{
    const int32_t axis = rd_loop_of(n->t, n->thread_loop)->axis;

    rd_text_add(to, "&tile%" PRId32 "[u]", s->store);
    if (rd_linear_coef(n->t, &s->fold_at.state_offset, axis) < 0)
        rd_text_add(to, "[%" PRId32 " - i]", n->kernel->width - 1);
    else
        rd_text_add(to, "[i]");
    rd_text_add(to, "%s", seen_of(n, s->fold));
}

/* Prints how the state (accumulator) of an element takes the element: "{ step0(&tile2[u][i], r0,
 * 1, i1); }". The flag `seen` of some states is a dummy: each state has its element. */
void rd_print_scan_tile_step(rd_printing *n, const rd_stmt *s)
{
    rd_text state = { 0 };

    add_state(n, &state, s);
    rd_print_line(n, "{");
    n->indent++;
    if (n->fold[s->fold].emit.seen)
        rd_print_line(n, "%s seen = 0;", rd_state_type(&n->fold[s->fold].emit, /*k=*/1));
    rd_print_begin_line(n);
    rd_print_add_step(n, n->to, s, state.at);
    rd_text_add(n->to, "\n");
    n->indent--;
    rd_print_line(n, "}");
    rd_text_end(&state, n->to);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */
/* Prints the scan within the blocks of the tile, and how each block's last prefix, its node
 * (partial result in the combine tree), goes to shared memory. An exclusive scan then shifts the
 * prefixes by one element.
 *
 *     rd_scan_blocks<scan0>(tile2); rd_leave_blocks<..>(..); */
void rd_print_scan_blocks(rd_printing *n, const rd_stmt *s)
{
    rd_print_line(n, "rd_scan_blocks<scan%" PRId32 ">(tile%" PRId32 ");", s->fold, s->store);
    rd_print_line(
        n, "rd_leave_blocks<scan%" PRId32 ", RD_THREADS>(tile%" PRId32 ", blocks%" PRId32 ");",
        s->fold, s->store, s->store);
    if (n->t->p->fold[s->fold].exclusive)
        rd_print_line(n, "rd_exclude<scan%" PRId32 ">(tile%" PRId32 ");", s->fold, s->store);
}

/* Prints the look-back: warp k of the block does it for fold k. It stores the tile's nodes (partial
 * results in the combine tree), waits for those of earlier tiles, and finds the prefix before each
 * block of the tile.
 *
 *     if (threadIdx.x / 32 == 0)
 *         rd_before_blocks<scan0, 64>(blocks2, before2, .., q.head.n_range, range);
 *
 * s->arg is the array of these nodes, which lie from its byte_offset on. */
void rd_print_look_back(rd_printing *n, const rd_stmt *s)
{
    rd_print_line(n, "if (threadIdx.x / 32 == %" PRId32 ")", s->fold);
    rd_print_line(n,
                  "    rd_before_blocks<scan%" PRId32 ", %" PRId64 ">(blocks%" PRId32
                  ", before%" PRId32 ", (uint64_t *)(nodes + %" PRId64 "), q.head.n_range, range);",
                  s->fold, blocks_of(n, s->store), s->store, s->store,
                  n->t->store[s->arg].byte_offset);
}

/* Prints "uint8_t seen = i1 > 0;": true if any element comes before this one. It is the second
 * number of the state before (whether it has met an element), in that number's type. */
static void declare_seen(rd_printing *n, const rd_stmt *s)
{
    rd_text step = { 0 };

    rd_print_step_number(n, &step, s);
    rd_print_line(n, "%s seen = %s > 0;", rd_state_type(&n->fold[s->fold].emit, /*k=*/1), step.at);
    rd_text_end(&step, n->to);
}

/* Prints the result of an element: b2, the prefix before its block of 64 elements, merged with its
 * state: "prefix0(&tile2[u][i], &b2.e[0], &b2.e[1], &r7);". Of a running sum of floats (pair), b2
 * has two words hi + lo. line.at + 1 leaves out the space before the declarations of results. */
void rd_print_scan_result(rd_printing *n, const rd_stmt *s)
{
    const rd_fold *fold = &n->t->p->fold[s->fold];
    rd_text        line = { 0 };

    rd_print_results(&line, s, fold);
    rd_print_line(n, "%s", line.at + 1);
    rd_text_end(&line, n->to);
    rd_print_line(n, "{");
    n->indent++;
    if (n->fold[s->fold].emit.seen)
        declare_seen(n, s);
    rd_text_add(&line, "prefix%" PRId32 "(", s->fold);
    add_state(n, &line, s);
    rd_text_add(&line, ", &b%" PRId32 ".e[0]%s", s->store, seen_of(n, s->fold));
    if (n->t->fold[s->fold].hi_lo_sums)
        rd_text_add(&line, ", &b%" PRId32 ".e[1]", s->store);
    rd_print_line(n, "%s, &r%" PRId32 ");", line.at, s->value);
    n->indent--;
    rd_print_line(n, "}");
    rd_text_end(&line, n->to);
}

/* ---- Loops ----------------------------------------------------------------------------------- */
/* Prints "scan0::before b2 = before2[rd_block_of<RD_THREADS, 4>(u)];": the prefix before the
 * block (of 64) that a thread's elements of round u are of. They are all of one block. */
static void declare_before(rd_printing *n, int32_t loop)
{
    for (int32_t s = loop; s >= 0; s = rd_next_stmt(n->t, s, loop))
        if (n->t->stmt[s].kind == RD_S_SCAN_RESULT)
            rd_print_line(n,
                          "scan%" PRId32 "::before b%" PRId32 " = before%" PRId32
                          "[rd_block_of<RD_THREADS, %" PRId32 ">(u)];",
                          n->t->stmt[s].fold, n->t->stmt[s].store, n->t->stmt[s].store,
                          n->kernel->width);
}

/* Prints all rounds of a tile: as one batch, whose vector loads come first, or element by
 * element.
 *
 *     RD_UNROLL for (int u = 0; u < 8; u++) { .. } */
static void print_rounds(rd_printing *n, int32_t loop, rd_round_strategy form)
{
    const rd_for *l = rd_loop_of(n->t, loop);

    n->kernel->strategy = form;
    if (form == RD_ROUND_BATCHED)
        rd_print_vector_loads(n, loop, l->prefetched);
    rd_print_line(n, "RD_UNROLL for (int u = 0; u < %" PRId32 "; u++) {", l->prefetched);
    n->indent++;
    declare_before(n, loop);
    rd_print_round(n, loop, "u");
    rd_print_body(n, loop);
    n->indent--;
    rd_print_line(n, "}");
    n->kernel->strategy = RD_ROUND_SINGLE;
}

/* Prints a loop over a tile: a whole tile by vector accesses, the last one, which may be
 * shorter, element by element. A whole tile has all rounds of a batch (prefetched times step
 * elements). v1 is the tile's first index. */
void rd_print_scan_tile_loop(rd_printing *n, int32_t loop)
{
    const rd_for *l  = rd_loop_of(n->t, loop);
    rd_text       lo = { 0 }, hi = { 0 };

    rd_print_linear(n, &lo, &l->from.part[0].at);
    rd_print_linear(n, &hi, &l->to.part[0].at);
    n->kernel->rounds = loop;
    rd_print_declare_vector_loads(n, loop, l->prefetched);
    rd_print_line(n, "if (%s - %s == %" PRId64 ") {", hi.at, lo.at, l->prefetched * l->step);
    n->indent++;
    rd_print_line(n, "const int64_t v%" PRId32 " = %s;", l->axis, lo.at);
    print_rounds(n, loop, RD_ROUND_BATCHED);
    n->indent--;
    rd_print_line(n, "} else {");
    n->indent++;
    rd_print_line(n, "const int64_t v%" PRId32 " = %s;", l->axis, lo.at);
    print_rounds(n, loop, RD_ROUND_SINGLE);
    n->indent--;
    rd_print_line(n, "}");
    n->kernel->rounds = -1;
    rd_text_end(&lo, n->to);
    rd_text_end(&hi, n->to);
}
