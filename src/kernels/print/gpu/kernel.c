/* kernel.c - statements of a kernel whose text is not C's. */
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* ---- Folds ------------------------------------------------------------------------------------ */
static bool lay_out(rd_printing *n, rd_get_fn *get, void *pool)
{
    const rd_program *p = n->t->p;

    n->fold = get(pool, ((size_t)p->n_fold + 1) * sizeof *n->fold);
    for (int32_t k = 0; n->fold && k < p->n_fold; k++) {
        n->fold[k] = (rd_print_fold){ .of     = n->t->fold[k].of,
                                      .lanes  = p->fold[k].lanes,
                                      .blocks = true, /* a scan of one has states before it, too */
                                      .pair   = n->t->fold[k].pair };
        if (p->fold[k].user && !rd_user_facts(&n->fold[k].of, k, false, get, pool))
            return false;
    }
    return n->fold;
}

static void print_scan_functions(const rd_printing *n, rd_text *to, int32_t fold)
{
    const rd_loop_fold *f = &n->t->fold[fold];

    if (!f->of.fold->scan)
        return;
    rd_print_prefix_function(to, &n->fold[fold], fold);
    if (n->kernel->tiles)
        rd_print_sweep_functions(to, &n->fold[fold].of, f->pair, fold);
    else
        rd_print_turn_functions(to, &n->fold[fold].of, f->pair, f->levels, fold);
}

static bool exits_by(const rd_schedule *t, int32_t fold)
{
    const int32_t body = t->part[RD_PART_BODY];

    for (int32_t s = body; s >= 0; s = rd_next_stmt(t, s, body))
        if (t->stmt[s].kind == RD_S_EXIT && t->stmt[s].fold == fold)
            return true;
    return false;
}

bool rd_print_kernel_functions(rd_printing *n, rd_text *to, rd_get_fn *get, void *pool)
{
    if (!rd_print_prepare(n, get, pool) || !lay_out(n, get, pool) ||
        !rd_print_operators(n, to, get, pool))
        return false;
    for (int32_t k = 0; k < n->t->p->n_fold; k++) {
        rd_emit_reducer(to, &n->fold[k].of, k);
        if (rd_has_tree(n, k) && !n->kernel->patches)
            rd_print_node_functions(to, &n->fold[k].of, k);
        print_scan_functions(n, to, k);
        if (exits_by(n->t, k))
            rd_print_exit_functions(to, &n->fold[k], k);
    }
    return true;
}

/* ---- Indices ---------------------------------------------------------------------------------- */
/* "i1", or "m3 + i" where neighbours of a thread lie along it. */
static void add_index_along(rd_printing *n, rd_text *to, int32_t axis)
{
    const rd_for *loop = n->thread_loop >= 0 ? rd_loop_of(n->t, n->thread_loop) : NULL;

    if (loop && loop->axis == axis && !rd_is_clamped(n, n->thread_loop)) {
        rd_print_linear(n, to, &loop->from.part[0].at);
        rd_text_add(to, " + i");
    } else
        rd_print_axis(n, to, axis);
}

/* Where in the program's order an index is that failed: of the loops around it, from the outside
 * in, which item of the body and which round.  The least of all is what a run reports. */
static void add_order(rd_printing *n, rd_text *to, int32_t inst)
{
    const rd_program *p    = n->t->p;
    const int32_t     loop = p->inst[inst].loop;

    if (loop >= 0) {
        rd_text_add(to, "(");
        add_order(n, to, p->loop[loop].begin);
        rd_text_add(to, " * ");
        rd_print_number(n, to, p->loop[loop].extent);
        if (p->loop[loop].backwards) {
            rd_text_add(to, " + ");
            rd_print_number(n, to, p->loop[loop].extent - 1);
        }
        rd_text_add(to, p->loop[loop].backwards ? " - (" : " + (");
        add_index_along(n, to, p->loop[loop].axis);
        rd_text_add(to, "))");
    } else
        rd_text_add(to, "(uint64_t)0");
    rd_text_add(to, " * %" PRId32 " + %" PRId32, p->n_inst + 1, inst);
}

/* "RD_INDEX_I64(r5, r4, q.N[2], order)" */
static void print_index(rd_printing *n, const rd_stmt *s)
{
    const rd_let *let  = &n->t->let[s->value];
    rd_text       line = { 0 };

    rd_text_add(&line, "%s(r%" PRId32 ", r%" PRId32 ", ",
                rd_dtype_class(let->from) == RD_CLASS_u64 ? "RD_INDEX_U64" : "RD_INDEX_I64",
                s->value, n->t->operand[let->first]);
    rd_print_number(n, &line, let->word.i64);
    rd_text_add(&line, ", ");
    add_order(n, &line, let->arg);
    rd_print_line(n, "%s)", line.at ? line.at : "");
    rd_text_end(&line, n->to);
}

/* ---- Memory ----------------------------------------------------------------------------------- */
/* "const float r0 = p7[u].e[i];" */
static void print_packed_load(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s       = &n->t->stmt[stmt];
    const rd_let  *let     = &n->t->let[s->value];
    rd_text        element = { 0 }, value = { 0 };

    rd_print_packed(n, &element, stmt);
    rd_add_from_memory(&value, let->type, element.at ? element.at : "");
    rd_print_line(n, "const %s r%" PRId32 " = %s;", rd_register_type(let->type), s->value,
                  value.at ? value.at : "");
    rd_text_end(&element, n->to);
    rd_text_end(&value, n->to);
}

static void print_packed_store(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s    = &n->t->stmt[stmt];
    rd_text        line = { 0 };

    rd_print_packed(n, &line, stmt);
    rd_text_add(&line, " = ");
    rd_begin_stored(&line, s->type);
    rd_text_add(&line, "r%" PRId32 "%s;", s->x, rd_end_stored(s->type));
    rd_print_line(n, "%s", line.at);
    rd_text_end(&line, n->to);
}

/* One thread of a team stores what all have; none may still have to read what was there, and all
 * see it. */
static void print_store_of_one(rd_printing *n, int32_t stmt)
{
    rd_print_line(n, "RD_MEET if (t == 0)");
    n->indent++;
    rd_print_store(n, stmt);
    n->indent--;
    rd_print_line(n, "RD_MEET");
}

static bool print_store(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s = &n->t->stmt[stmt];

    if (s->slot < 0 && n->t->store[s->store].place == RD_IN_BLOCK && n->kernel->pairs)
        rd_print_row_of_thread(n, s);
    else if (s->slot < 0 && n->t->store[s->store].place == RD_IN_BLOCK)
        rd_print_to_row(n, s);
    else if (rd_is_packed(n, stmt))
        print_packed_store(n, stmt);
    else if (n->kernel->pairs && s->slot >= 0 && n->thread_loop >= 0 &&
             rd_is_clamped(n, n->thread_loop)) {
        rd_print_if_result(n);
        rd_print_store(n, stmt);
    } else if (n->t->stmt[stmt].slot >= 0 && n->kernel->team > 1 && !n->kernel->threads)
        print_store_of_one(n, stmt);
    else
        return false;
    return true;
}

/* A row of a thread takes it as it is in memory. */
static bool is_kept_in_row(const rd_printing *n, int32_t stmt)
{
    const int32_t next = n->t->stmt[stmt].next;

    return next >= 0 && n->t->stmt[next].kind == RD_S_STORE && n->t->stmt[next].store >= 0 &&
           n->t->store[n->t->stmt[next].store].place == RD_IN_BLOCK;
}

static bool print_let(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s = &n->t->stmt[stmt];

    if (n->t->let[s->value].kind == RD_I_INDEX && n->dialect->places)
        print_index(n, s);
    else if (rd_is_from_tile(n, stmt))
        rd_print_from_tile(n, stmt);
    else if (n->kernel->pairs && is_kept_in_row(n, stmt))
        return true;
    else if (n->t->let[s->value].kind == RD_I_LOAD && n->t->let[s->value].slot < 0 &&
             n->t->store[n->t->let[s->value].store].place == RD_IN_BLOCK)
        rd_print_from_row(n, s);
    else if (rd_is_packed(n, stmt))
        print_packed_load(n, stmt);
    else
        return false;
    return true;
}

static bool print_array(rd_printing *n, const rd_stmt *s)
{
    if (n->t->store[s->store].fold < 0) {
        rd_print_line(n, "%s a%" PRId32 "[%" PRId64 "];",
                      rd_register_type(n->t->store[s->store].type), s->store,
                      n->t->store[s->store].extent);
        return true;
    }
    if (n->t->store[s->store].each)
        rd_print_tile(n, s->store);
    else
        rd_print_thread_states(n, s);
    return true;
}

/* LEAVE and AWAIT; of tiles in order these are one, with LIFT. */
static void print_nodes(rd_printing *n, const rd_stmt *s)
{
    if (n->t->store[s->store].each && s->kind == RD_S_AWAIT)
        rd_print_await_tiles(n, s);
    else if (s->kind == RD_S_AWAIT)
        rd_print_await(n, s);
    else if (!n->t->store[s->store].each)
        (n->t->p->fold[s->fold].scan ? rd_print_leave_scan : rd_print_leave)(n, s);
}

bool rd_print_in_kernel(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s = &n->t->stmt[stmt];

    if (n->kernel->patches && rd_print_in_patch(n, stmt))
        return true;
    switch (s->kind) {
    case RD_S_LOOP: return rd_print_kernel_loop(n, stmt);
    case RD_S_LET: return print_let(n, stmt);
    case RD_S_STORE: return print_store(n, stmt);
    case RD_S_ARRAY: return print_array(n, s);
    case RD_S_MEET:
        rd_print_line(n, n->kernel->tiles ? "__syncthreads();" : "RD_MEET");
        return true;
    case RD_S_BEGIN:
        (n->t->store[s->store].each ? rd_print_begin_tile : rd_print_begin_states)(n, s);
        return true;
    case RD_S_STEP: rd_print_thread_step(n, stmt); return true;
    case RD_S_PREFIX: rd_print_prefix_of_thread(n, s); return true;
    case RD_S_OPENS: rd_print_opens(n, s); return true;
    case RD_S_LEAVE:
    case RD_S_AWAIT: print_nodes(n, s); return true;
    case RD_S_LIFT: return true;
    case RD_S_WITHIN: rd_print_within(n, s); return true;
    case RD_S_SOFAR: rd_print_so_far(n, s); return true;
    case RD_S_LAST: rd_print_last(n, stmt); return true;
    case RD_S_JOIN: rd_print_join_ranges(n, s); return true;
    case RD_S_REST:
    case RD_S_LANES: return true; /* with FINISH */
    case RD_S_FINISH: rd_print_close(n, s); return true;
    default: return false;
    }
}
