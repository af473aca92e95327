/* tiles.c - the text of scans in one pass (sweeps.c): each element is read once.
 *
 * A block of threads takes the next tile in order, which a counter gives.  It leaves the nodes that
 * end with its tile, waits for those that cover what is before it (kernels/math/so_far.h), and
 * stores results while its elements are still in registers.
 *
 *     for (work; (work = the next tile) < all;) {
 *         x5[u] = rd_take<float, 4>(...);              for u = 0 .. 7
 *         v0[u][l] = r5;                               for u, for l = 0 .. 3: what the scan takes
 *         rd_scan_blocks(v0);                          prefixes
 *         blocks0[..] = what each of the tile's blocks comes to
 *         before0[..] = what is before each, by a warp: the only one that waits for other tiles
 *         for u, for l: the rest of the body, with r7 = before and prefix
 *     }
 *
 * Which thread adds what is decided by positions, and nodes have one value each: so no bit depends
 * on which block of threads comes first (text/sweep.cuh). */
#include "core/tree.h"
#include "kernels/cuda/text.h"
#include <inttypes.h>

/* ---- Functions of a scan --------------------------------------------------------------------- */
/* "begin0(a, &z);": where states say whether an element came, nobody asks these. */
static void add_begin(rd_text *to, const rd_cuda_fold *f, int32_t number)
{
    const char *type = rd_state_type(&f->of, 0);

    rd_text_add(to, "    static inline void begin(%s *a) {", type);
    if (f->of.seen)
        rd_text_add(to, " %s z;", rd_state_type(&f->of, 1));
    rd_text_add(to, " begin%" PRId32 "(a%s); }\n", number, f->of.seen ? ", &z" : "");
}

static void add_join(rd_text *to, const rd_cuda_fold *f, int32_t number)
{
    const char *type = rd_state_type(&f->of, 0), *z = f->of.seen ? ", &z" : "";

    rd_text_add(to, "    static inline %s join(%s a, %s b) {", type, type, type);
    if (f->of.seen)
        rd_text_add(to, " %s z = 1;", rd_state_type(&f->of, 1));
    rd_text_add(to, " merge%" PRId32 "(&a%s, &b%s); return a; }\n", number, z, z);
}

/* Nodes of running sums of f32 are f64. */
static void add_wide_nodes(rd_text *to)
{
    rd_text_add(to, "    static inline void begin(double *a) { *a = -0.0; }\n"
                    "    static inline double join(double a, double b) { return a + b; }\n");
}

/* "struct scan0 { ... };", see text/sweep.cuh. */
void rd_cuda_sweep_functions(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f    = &t->s->fold[number];
    const char         *type = rd_state_type(&f->of, 0), *node = f->pair ? "double" : type;
    const bool          f32 = rd_dtype_class(f->of.fold->type) == RD_CLASS_f32;

    rd_text_add(t->to,
                "struct scan%" PRId32 " {\n    typedef %s state;\n    typedef %s node;\n"
                "    typedef rd_pack<%s, %d> before;\n",
                number, type, node, type, f->pair ? 2 : 1);
    add_begin(t->to, f, number);
    add_join(t->to, f, number);
    if (f->pair && f32)
        add_wide_nodes(t->to);
    rd_text_add(t->to, "    static inline before words(%s all) { before w;", node);
    if (f->pair)
        rd_text_add(t->to, " rd_so_far_%s(all, &w.e[0], &w.e[1]);", f32 ? "f32" : "f64");
    else
        rd_text_add(t->to, " w.e[0] = all;");
    rd_text_add(t->to, " return w; }\n};\n");
}

/* ---- Elements -------------------------------------------------------------------------------- */
static void open_brace(rd_cuda_text *t, const char *line)
{
    rd_cuda_line(t, "%s", line);
    t->indent++;
}

static void close_brace(rd_cuda_text *t)
{
    t->indent--;
    rd_cuda_line(t, "}");
}

/* "RD_UNROLL for (int u = 0; u < 8; u++) {" */
static void open_rounds(rd_cuda_text *t)
{
    rd_cuda_line(t, "RD_UNROLL for (int u = 0; u < %" PRId32 "; u++) {",
                 rd_cuda_sweep_rounds(t->s));
    t->indent++;
}

static bool is_backwards(const rd_cuda_text *t)
{
    return t->s->p->loop[t->s->cut[0]].backwards;
}

static rd_text extent_of(rd_cuda_text *t)
{
    rd_text text = { 0 };

    rd_cuda_number(t, &text, t->s->p->loop[t->s->cut[0]].extent);
    return text;
}

/* "const int64_t i1 = lo + (u * 128 + (int)threadIdx.x) * 4 + l;" of an element, of the first of
 * several where `first`; backwards lo and rounds are counted from the end. */
static void declare_index(rd_cuda_text *t, bool first)
{
    const rd_cuda_shape *s    = t->s;
    const bool           back = is_backwards(t);
    rd_text              n = extent_of(t), from = { 0 };

    if (back)
        rd_text_add(&from, "%s - %" PRId32 " - lo -", n.at ? n.at : "", s->wide);
    else
        rd_text_add(&from, "lo +");
    rd_cuda_line(
        t, "const int64_t i%" PRId32 " = %s (u * %" PRId32 " + (int)threadIdx.x) * %" PRId32 "%s;",
        s->cut_axis, from.at ? from.at : "", s->choice.block, s->wide, first ? "" : " + l");
    rd_text_free(&n);
    rd_text_free(&from);
}

static void open_elements(rd_cuda_text *t)
{
    rd_cuda_line(t, "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) {", t->s->wide);
    t->indent++;
    declare_index(t, false);
}

/* "if (i1 >= hi) continue;": the row ends in the tile. */
static void skip_what_is_not_there(rd_cuda_text *t)
{
    rd_text n = extent_of(t);

    if (!t->packs && is_backwards(t))
        rd_cuda_line(t, "if (i%" PRId32 " < %s - hi) continue;", t->s->cut_axis, n.at ? n.at : "");
    else if (!t->packs)
        rd_cuda_line(t, "if (i%" PRId32 " >= hi) continue;", t->s->cut_axis);
    rd_text_free(&n);
}

/* "&v0[u][l], &seen": the state of an element, in their order; `seen` where it is told by the
 * place. */
static void add_state(rd_text *to, const rd_cuda_text *t, int32_t number)
{
    rd_text_add(to, "&v%" PRId32 "[u]", number);
    if (is_backwards(t))
        rd_text_add(to, "[%" PRId32 " - l]", t->s->wide - 1);
    else
        rd_text_add(to, "[l]");
    rd_text_add(to, t->s->fold[number].of.seen ? ", &seen" : "");
}

static void begin_element(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f     = &t->s->fold[number];
    rd_text             state = { 0 };

    add_state(&state, t, number);
    if (f->of.seen)
        rd_cuda_line(t, "%s seen;", rd_state_type(&f->of, 1));
    rd_cuda_line(t, "begin%" PRId32 "(%s);", number, state.at ? state.at : "");
    rd_text_free(&state);
}

/* What a scan takes of an element. */
static void take_element(rd_cuda_text *t, const rd_inst *inst)
{
    const rd_cuda_fold *f     = &t->s->fold[inst->arg];
    rd_text             state = { 0 };

    add_state(&state, t, inst->arg);
    open_brace(t, "{");
    if (f->of.seen)
        rd_cuda_line(t, "%s seen = 0;", rd_state_type(&f->of, 1));
    rd_cuda_add_step(t, inst, state.at ? state.at : "");
    close_brace(t);
    rd_text_free(&state);
}

/* ---- Before the scans ------------------------------------------------------------------------ */
static void write_loads(rd_cuda_text *t, const rd_cuda_packs *packs)
{
    open_rounds(t);
    declare_index(t, true);
    rd_cuda_write_takes(t, packs);
    close_brace(t);
}

static void write_early(rd_cuda_text *t)
{
    const rd_cuda_shape *s = t->s;
    const rd_loop       *l = &s->p->loop[s->cut[0]];

    open_rounds(t);
    open_elements(t);
    for (int32_t k = 0; k < s->p->n_fold; k++) {
        open_brace(t, "{");
        begin_element(t, k);
        close_brace(t);
    }
    skip_what_is_not_there(t);
    for (int32_t i = l->begin + 1; i < l->end; i++)
        if (s->p->inst[i].kind == RD_I_SCAN)
            take_element(t, &s->p->inst[i]);
        else if (s->early[i])
            rd_cuda_inst(t, i);
    close_brace(t);
    close_brace(t);
}

/* ---- The scans ------------------------------------------------------------------------------- */
static void declare_scan(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_shape *s      = t->s;
    const int64_t        blocks = s->range / RD_TREE_STEPS;

    rd_cuda_line(t, "RD_SHARED(scan%" PRId32 "::node, blocks%" PRId32 ", %" PRId64 ");", number,
                 number, blocks);
    rd_cuda_line(t, "RD_SHARED(scan%" PRId32 "::before, before%" PRId32 ", %" PRId64 ");", number,
                 number, blocks);
    rd_cuda_line(t, "scan%" PRId32 "::state v%" PRId32 "[%" PRId32 "][%" PRId32 "];", number,
                 number, rd_cuda_sweep_rounds(s), s->wide);
}

static void scan_blocks(rd_cuda_text *t, int32_t number)
{
    rd_cuda_line(t, "rd_scan_blocks<scan%" PRId32 ">(v%" PRId32 ");", number, number);
    rd_cuda_line(t,
                 "rd_leave_blocks<scan%" PRId32 ", RD_THREADS>(v%" PRId32 ", blocks%" PRId32 ");",
                 number, number, number);
    if (t->s->fold[number].of.fold->exclusive)
        rd_cuda_line(t, "rd_exclude<scan%" PRId32 ">(v%" PRId32 ");", number, number);
}

/* The first word of its nodes, as an expression. */
static rd_text nodes_of(rd_cuda_text *t, int32_t number)
{
    rd_text text = { 0 };

    rd_text_add(&text, "(uint64_t *)((char *)q.head.nodes + ");
    rd_cuda_number(t, &text, RD_TICKET + t->s->fold[number].node);
    rd_text_add(&text, " + item * ");
    rd_cuda_number(t, &text, t->s->node_bytes);
    rd_text_add(&text, ")");
    return text;
}

/* A warp for each. */
static void find_before(rd_cuda_text *t, int32_t number)
{
    rd_text nodes = nodes_of(t, number);

    rd_cuda_line(t, "if (threadIdx.x / 32 == %" PRId32 ")", number);
    rd_cuda_line(t,
                 "    rd_before_blocks<scan%" PRId32 ", %" PRId64 ">(blocks%" PRId32
                 ", before%" PRId32 ", %s, q.head.n_range, range);",
                 number, t->s->range / RD_TREE_STEPS, number, number, nodes.at ? nodes.at : "");
    rd_text_free(&nodes);
}

/* ---- Behind the scans ------------------------------------------------------------------------ */
/* Is any element before? */
static void declare_seen(rd_cuda_text *t, const rd_cuda_fold *f)
{
    rd_text n = extent_of(t);

    if (is_backwards(t))
        rd_cuda_line(t, "%s seen = i%" PRId32 " < %s - 1;", rd_state_type(&f->of, 1),
                     t->s->cut_axis, n.at ? n.at : "");
    else
        rd_cuda_line(t, "%s seen = i%" PRId32 " > 0;", rd_state_type(&f->of, 1), t->s->cut_axis);
    rd_text_free(&n);
}

/* "sofar0(&v0[u][l], &b0.e[0], &b0.e[1], &r7);" */
static void give_result(rd_cuda_text *t, const rd_inst *inst)
{
    const rd_cuda_fold *f     = &t->s->fold[inst->arg];
    rd_text             state = { 0 };

    add_state(&state, t, inst->arg);
    rd_cuda_line(t, "%s r%" PRId32 ";", rd_result_type(f->of.fold), inst->dst);
    open_brace(t, "{");
    if (f->of.seen)
        declare_seen(t, f);
    rd_cuda_line(t, "sofar%" PRId32 "(%s, &b%" PRId32 ".e[0]%s", inst->arg,
                 state.at ? state.at : "", inst->arg, f->of.seen ? ", &seen" : "");
    if (f->pair)
        rd_cuda_line(t, "    , &b%" PRId32 ".e[1]", inst->arg);
    rd_cuda_line(t, "    , &r%" PRId32 ");", inst->dst);
    close_brace(t);
    rd_text_free(&state);
}

static void write_late(rd_cuda_text *t)
{
    const rd_cuda_shape *s = t->s;
    const rd_loop       *l = &s->p->loop[s->cut[0]];

    open_rounds(t);
    for (int32_t k = 0; k < s->p->n_fold; k++)
        rd_cuda_line(t,
                     "scan%" PRId32 "::before b%" PRId32 " = before%" PRId32
                     "[rd_block_of<RD_THREADS, %" PRId32 ">(u)];",
                     k, k, k, s->wide);
    rd_cuda_declare_puts(t);
    open_elements(t);
    skip_what_is_not_there(t);
    for (int32_t i = l->begin + 1; i < l->end; i++)
        if (s->p->inst[i].kind == RD_I_SCAN)
            give_result(t, &s->p->inst[i]);
        else
            rd_cuda_inst(t, i);
    close_brace(t);
    if (t->packs) {
        open_brace(t, "{");
        declare_index(t, true);
        rd_cuda_write_puts(t);
        close_brace(t);
    }
    close_brace(t);
}

/* ---- A tile ---------------------------------------------------------------------------------- */
/* Whole tiles by packs; of others, element by element, what is there. */
static void write_both(rd_cuda_text *t, const rd_cuda_packs *packs, void (*write)(rd_cuda_text *t))
{
    open_brace(t, "if (whole) {");
    t->packs = packs;
    if (write == write_early)
        write_loads(t, packs);
    write(t);
    t->packs = NULL;
    close_brace(t);
    open_brace(t, "else {");
    write(t);
    close_brace(t);
}

void rd_cuda_write_tile(rd_cuda_text *t)
{
    const rd_cuda_shape *s = t->s;
    const int32_t        n = s->p->n_fold;
    rd_cuda_packs        packs;

    rd_cuda_packs_of(s, s->cut[0], &packs);
    for (int32_t i = s->from; i < s->p->loop[s->cut[0]].begin; i++)
        if (s->p->inst[i].kind != RD_I_START)
            rd_cuda_inst(t, i);
    for (int32_t k = 0; k < n; k++)
        declare_scan(t, k);
    rd_cuda_declare_takes(t, &packs);
    rd_cuda_line(t, "const bool whole = hi - lo == %" PRId64 ";", s->range);
    t->open |= UINT64_C(1) << s->cut_axis;
    write_both(t, &packs, write_early);
    for (int32_t k = 0; k < n; k++)
        scan_blocks(t, k);
    rd_cuda_line(t, "__syncthreads();");
    for (int32_t k = 0; k < n; k++)
        find_before(t, k);
    rd_cuda_line(t, "__syncthreads();");
    write_both(t, &packs, write_late);
    t->open &= ~(UINT64_C(1) << s->cut_axis);
}
