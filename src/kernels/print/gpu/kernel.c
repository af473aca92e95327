/* kernel.c - statements that a kernel prints in its own way; all others have the text that print/
 * gives them.
 *
 * A team is the threads that do an item of work; a tile is a part of an array in shared memory.  A
 * store with `slot` < 0 goes to an array of the tree, not to the program's memory.
 *
 * Words. A fold is a reduction or a scan. */
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* ---- Folds ----------------------------------------------------------------------------------- */
/* Makes the printer's facts of all folds; false: no memory. `hi_lo_sums`: the fold is a running sum
 * of floats, whose prefix is a pair hi + lo. pointers: a kernel cannot call a user's reducer by its
 * address, so its text is used. */
static bool describe_folds(rd_printing *n, rd_get_fn *get, void *pool)
{
    const rd_program *p = n->t->p;

    n->fold = get(pool, ((size_t)p->n_fold + 1) * sizeof *n->fold);
    for (int32_t k = 0; n->fold && k < p->n_fold; k++) {
        n->fold[k] = (rd_print_fold){ .emit   = n->t->fold[k].emit,
                                      .lanes  = p->fold[k].lanes,
                                      .blocks = true, /* a scan of one has states before it, too */
                                      .hi_lo_sums = n->t->fold[k].hi_lo_sums };
        if (p->fold[k].user && !rd_user_facts(&n->fold[k].emit, k, /*pointers=*/false, get, pool))
            return false;
    }
    return n->fold;
}

/* Prints the functions of a scan; nothing for other folds. prefix0() gives a result; a look-back
 * scan has functions of one pass, any other scan those that end a block of 64 steps. `levels`:
 * levels of nodes of a scan whose prefixes go by a tree; 0: from the left. */
static void print_scan_functions(const rd_printing *n, rd_text *to, int32_t fold)
{
    const rd_loop_fold *f = &n->t->fold[fold];

    if (!f->emit.fold->scan)
        return;
    rd_print_prefix_function(to, &n->fold[fold], fold);
    if (n->kernel->look_back)
        rd_print_look_back_functions(to, &n->fold[fold].emit, f->hi_lo_sums, fold);
    else
        rd_print_block_end_functions(to, &n->fold[fold].emit, f->hi_lo_sums, f->levels, fold);
}

/* True if an early exit (a loop ends as no element can change a result any more) asks whether
 * the fold's state (accumulator) is final. */
static bool has_exit(const rd_schedule *t, int32_t fold)
{
    const int32_t body = t->part[RD_PART_BODY];

    for (int32_t s = body; s >= 0; s = rd_next_stmt(t, s, body))
        if (t->stmt[s].kind == RD_S_EXIT && t->stmt[s].fold == fold)
            return true;
    return false;
}

/* Prints the functions that kernels call: operators, then for each fold its reducer, its combine
 * tree, its scan and the test of early exits. In a block tile each tile is one block, so it
 * needs no tree. False: no memory. */
bool rd_print_kernel_functions(rd_printing *n, rd_text *to, rd_get_fn *get, void *pool)
{
    if (!rd_print_prepare(n, get, pool) || !describe_folds(n, get, pool) ||
        !rd_print_operators(n, to, get, pool))
        return false;
    for (int32_t k = 0; k < n->t->p->n_fold; k++) {
        rd_emit_reducer(to, &n->fold[k].emit, k);
        if (rd_has_tree(n, k) && !n->kernel->block_tiles)
            rd_print_node_functions(to, &n->fold[k].emit, k);
        print_scan_functions(n, to, k);
        if (has_exit(n->t, k))
            rd_print_exit_functions(to, &n->fold[k], k);
    }
    return true;
}

/* ---- Indices --------------------------------------------------------------------------------- */
/* Adds the index of an axis: "i1"; or "m3 + i" if the loop over a thread's adjacent elements
 * (thread_loop, -1: none) goes along it. A clamped loop, which may reach behind the last result,
 * has declared its index. */
static void add_index_along(rd_printing *n, rd_text *to, int32_t axis)
{
    const rd_for *loop = n->thread_loop >= 0 ? rd_loop_of(n->t, n->thread_loop) : NULL;

    if (loop && loop->axis == axis && !rd_is_clamped(n, n->thread_loop)) {
        rd_print_linear(n, to, &loop->from.part[0].at);
        rd_text_add(to, " + i");
    } else
        rd_print_axis(n, to, axis);
}

/* Adds the position of an instruction in the program's order: the number that all loops around
 * and the instruction give together, as if the program ran serially. Of all invalid indices a
 * run reports the one with the least position. In a backward loop the last index comes first.
 *
 *     (((uint64_t)0 * 3 + 0) * q.N[1] + (i1)) * 12 + 5 */
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

/* Prints the check of an index that is read at run time: "RD_INDEX_I64(r5, r4, q.N[2], order)".
 * r5 becomes r4; if r4 is outside of the extent, the kernel reports it with its position in the
 * program's order. */
static void print_index(rd_printing *n, const rd_stmt *s)
{
    const rd_tree_value *let  = &n->t->let[s->value];
    rd_text              line = { 0 };

    rd_text_add(&line, "%s(r%" PRId32 ", r%" PRId32 ", ",
                rd_dtype_class(let->from) == RD_CLASS_u64 ? "RD_INDEX_U64" : "RD_INDEX_I64",
                s->value, n->t->operand[let->first]);
    rd_print_number(n, &line, let->word.i64);
    rd_text_add(&line, ", ");
    add_order(n, &line, let->arg);
    rd_print_line(n, "%s)", line.at ? line.at : "");
    rd_text_end(&line, n->to);
}

/* ---- Memory ---------------------------------------------------------------------------------- */
/* Prints "const float r0 = p7[u].e[i];": an element of vector p7, which statement 7 loaded
 * before the round; with a cast from its type in memory. */
static void print_vector_load_element(rd_printing *n, int32_t stmt)
{
    const rd_stmt       *s       = &n->t->stmt[stmt];
    const rd_tree_value *let     = &n->t->let[s->value];
    rd_text              element = { 0 }, value = { 0 };

    rd_print_vector_element(n, &element, stmt);
    rd_add_from_memory(&value, let->type, element.at ? element.at : "");
    rd_print_line(n, "const %s r%" PRId32 " = %s;", rd_register_type(let->type), s->value,
                  value.at ? value.at : "");
    rd_text_end(&element, n->to);
    rd_text_end(&value, n->to);
}

/* Prints "o9.e[i] = r4;": sets an element of vector o9, which statement 9 stores as a whole
 * behind the loop. s->x is the register; rd_begin_stored() and rd_end_stored() print a cast to
 * the type in memory around it, such as "rd_f16_of_f32(r4)". */
static void print_vector_store_element(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s    = &n->t->stmt[stmt];
    rd_text        line = { 0 };

    rd_print_vector_element(n, &line, stmt);
    rd_text_add(&line, " = ");
    rd_begin_stored(&line, s->type);
    rd_text_add(&line, "r%" PRId32 "%s;", s->x, rd_end_stored(s->type));
    rd_print_line(n, "%s", line.at);
    rd_text_end(&line, n->to);
}

/* Prints a store by one thread, as all threads of the team have the same value. Barriers of the
 * team stand around it: earlier reads must be done, and later ones must see it. */
static void print_store_of_one(rd_printing *n, int32_t stmt)
{
    rd_print_line(n, "RD_SYNC_TEAM if (t == 0)");
    n->indent++;
    rd_print_store(n, stmt);
    n->indent--;
    rd_print_line(n, "RD_SYNC_TEAM");
}

/* Prints a STORE that kernels have a text of their own for. It may store to an array in shared
 * memory (slot < 0: to an array of the tree); an element of a vector, or a result that may lie
 * behind the last one (pairs). Or one thread stores, if all threads of a team have the value.
 * False: print/ has its text. */
static bool print_store(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s = &n->t->stmt[stmt];

    if (s->slot < 0 && n->t->store[s->store].storage == RD_IN_BLOCK && n->kernel->pairs)
        rd_print_store_result_row(n, s);
    else if (s->slot < 0 && n->t->store[s->store].storage == RD_IN_BLOCK)
        rd_print_store_to_row(n, s);
    else if (rd_is_vector_access(n, stmt))
        print_vector_store_element(n, stmt);
    else if (n->kernel->pairs && s->slot >= 0 && n->thread_loop >= 0 &&
             rd_is_clamped(n, n->thread_loop)) {
        rd_print_if_result(n);
        rd_print_store(n, stmt);
    } else if (n->t->stmt[stmt].slot >= 0 && n->kernel->team > 1 && !n->kernel->per_thread)
        print_store_of_one(n, stmt);
    else
        return false;
    return true;
}

/* True if the next statement stores to an array in shared memory. Of a pair's arrays such a
 * store prints the load, too, as it copies the element as it is in memory. */
static bool is_stored_to_row(const rd_printing *n, int32_t stmt)
{
    const int32_t next = n->t->stmt[stmt].next;

    return next >= 0 && n->t->stmt[next].kind == RD_S_STORE && n->t->stmt[next].store >= 0 &&
           n->t->store[n->t->stmt[next].store].storage == RD_IN_BLOCK;
}

/* Prints a LET (it makes a value) that kernels have a text of their own for. These are a checked
 * index, or a load from shared memory (slot < 0: from an array of the tree) or of a vector. False:
 * print/ has its text. A load of pairs that the next statement only copies to a result's row has no
 * text: that store prints it. */
static bool print_let(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s = &n->t->stmt[stmt];

    if (n->t->let[s->value].kind == RD_I_INDEX && n->dialect->places)
        print_index(n, s);
    else if (rd_is_tile_load(n, stmt))
        rd_print_tile_load(n, stmt);
    else if (n->kernel->pairs && is_stored_to_row(n, stmt))
        return true;
    else if (n->t->let[s->value].kind == RD_I_LOAD && n->t->let[s->value].slot < 0 &&
             n->t->store[n->t->let[s->value].store].storage == RD_IN_BLOCK)
        rd_print_load_from_row(n, s);
    else if (rd_is_vector_access(n, stmt))
        print_vector_load_element(n, stmt);
    else
        return false;
    return true;
}

/* Prints the declaration of an array: "float a3[4];" of elements (fold < 0), or the states
 * (accumulators) of a fold. Of a look-back scan these are one state for each element of a tile
 * (per_element). Returns true: it is printed. */
static bool print_array(rd_printing *n, const rd_stmt *s)
{
    if (n->t->store[s->store].fold < 0) {
        rd_print_line(n, "%s a%" PRId32 "[%" PRId64 "];",
                      rd_register_type(n->t->store[s->store].type), s->store,
                      n->t->store[s->store].extent);
        return true;
    }
    if (n->t->store[s->store].per_element)
        rd_print_scan_tile(n, s->store);
    else
        rd_print_thread_states(n, s);
    return true;
}

/* Prints how a range stores its partials (its nodes of a combine tree), or how it reads the
 * prefix of the ranges before it. In a look-back scan (per_element) one call does both, at the
 * second of both statements, LOOK_BACK. */
static void print_nodes(rd_printing *n, const rd_stmt *s)
{
    if (n->t->store[s->store].per_element && s->kind == RD_S_LOOK_BACK)
        rd_print_look_back(n, s);
    else if (s->kind == RD_S_LOOK_BACK)
        rd_print_load_prefix(n, s);
    else if (!n->t->store[s->store].per_element)
        (n->t->p->fold[s->fold].scan ? rd_print_store_scan_partial : rd_print_store_partials)(n, s);
}

/* Prints a statement of a kernel by its kind, if kernels have a text of their own for it; false:
 * print/ has its text. */
bool rd_print_in_kernel(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s = &n->t->stmt[stmt];

    if (n->kernel->block_tiles && rd_print_in_block_tile(n, stmt))
        return true;
    switch (s->kind) {
    case RD_S_LOOP: return rd_print_kernel_loop(n, stmt);
    case RD_S_LET: return print_let(n, stmt);
    case RD_S_STORE: return print_store(n, stmt);
    case RD_S_ARRAY: return print_array(n, s);
    case RD_S_BARRIER:
        rd_print_line(n, n->kernel->look_back ? "__syncthreads();" : "RD_SYNC_TEAM");
        return true;
    case RD_S_BEGIN:
        (n->t->store[s->store].per_element ? rd_print_begin_scan_tile : rd_print_begin_states)(n,
                                                                                               s);
        return true;
    case RD_S_STEP: rd_print_thread_step(n, stmt); return true;
    case RD_S_PREFIX: rd_print_serial_prefix(n, s); return true;
    case RD_S_PUSH_IF_NEW: rd_print_begin_block(n, s); return true;
    case RD_S_STORE_PARTIALS:
    case RD_S_LOOK_BACK: print_nodes(n, s); return true;
    case RD_S_BUILD_TREE: return true; /* kernels of their own do that, or LOOK_BACK */
    case RD_S_SCAN_BLOCKS: rd_print_scan_blocks(n, s); return true;
    case RD_S_SCAN_RESULT: rd_print_scan_result(n, s); return true;
    case RD_S_IF_LAST: rd_print_if_last(n, stmt); return true;
    case RD_S_COMBINE_PARTIALS: rd_print_combine_partials(n, s); return true;
    case RD_S_MERGE_BLOCKS:
    case RD_S_MERGE_LANES: return true; /* RD_S_FINISH prints all three */
    case RD_S_FINISH: rd_print_thread_finish(n, s); return true;
    default: return false;
    }
}
