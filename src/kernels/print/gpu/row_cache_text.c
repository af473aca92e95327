/* row_cache_text.c - cached rows of a team in shared memory.  Element i1 = m0 + width * t + i of
 * a round lies at m0 + team * i + t, so adjacent threads access adjacent words, which lie in
 * different banks:
 *
 *     rows[z1 + 1 * q.N[2] + (int)v1 + u * 64 + RD_TEAM * i + t] = rd_word_of_float(r4);
 *
 * The start of the round is added in 32 bits: with m0, which has 64, a softmax took 2.4 more
 * instructions an element.
 *
 * A round is the elements that a team takes at a time, and v1 where it begins; u numbers rounds of
 * a batch.  A staged row is one that a thread block copies to shared memory for a thread; a square
 * is a part of an operand that is transposed. */
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* Adds the word of a cached row that has the thread's element i of round u: "rows[z1 + 1 *
 * q.N[2] + (int)v1 + u * 64 + RD_TEAM * i + t]". z1: the team's rows; v1: where the rounds
 * begin. Outside of a batch there is one round, 0. byte_offset holds the row's number. */
static void add_place(rd_printing *n, rd_text *to, const rd_tree_array *row)
{
    const rd_for *rounds = rd_loop_of(n->t, n->kernel->rounds);

    rd_text_add(to, "rows[z1 + %" PRId64 " * ", row->byte_offset);
    rd_print_number(n, to, row->extent);
    rd_text_add(to, " + (int)v%" PRId32 " + %s * %" PRId64 " + RD_TEAM * i + t]", rounds->axis,
                n->kernel->strategy == RD_ROUND_BATCHED ? "u" : "0", rounds->step);
}

/* Adds an element of the thread's staged row in shared memory, "stage0[mine0 + (int)(i1)]"; or
 * of a square of a transpose, "square5[z2 + ..]". byte_offset holds the number of the row or
 * square. n->spelled: numbers are printed as constants. */
static void add_staged(rd_printing *n, rd_text *to, const rd_tree_array *row, const rd_linear *at)
{
    if (n->kernel->transposes) {
        n->spelled = true;
        rd_text_add(to, "square%" PRId64 "[z2 + ", row->byte_offset);
        rd_print_linear(n, to, at);
        rd_text_add(to, "]");
        n->spelled = false;
        return;
    }
    rd_text_add(to, "stage%" PRId64 "[mine%" PRId64 " + (int)(", row->byte_offset,
                row->byte_offset);
    rd_print_linear(n, to, at);
    rd_text_add(to, ")]");
}

/* Prints a store to the thread's staged row: "stage0[mine0 + (int)(i1)] = r4;". An element of a
 * vector that a load has just brought is copied as it is in memory, without a cast. */
static void print_to_staged(rd_printing *n, const rd_stmt *s)
{
    rd_text line = { 0 };

    add_staged(n, &line, &n->t->store[s->store], &s->at);
    rd_text_add(&line, " = ");
    if (rd_is_vector_access(n, n->t->let[s->x].made_by)) { /* as it is in memory */
        rd_print_vector_element(n, &line, n->t->let[s->x].made_by);
        rd_print_line(n, "%s;", line.at);
        rd_text_end(&line, n->to);
        return;
    }
    rd_begin_stored(&line, s->type);
    rd_print_line(n, "%sr%" PRId32 "%s;", line.at, s->x, rd_end_stored(s->type));
    rd_text_end(&line, n->to);
}

/* Prints a load from the thread's staged row in shared memory: "const float r4 = stage0[mine0 +
 * (int)(i1)];". */
static void print_from_staged(rd_printing *n, const rd_stmt *s)
{
    const rd_tree_value *let   = &n->t->let[s->value];
    rd_text              place = { 0 }, value = { 0 };

    add_staged(n, &place, &n->t->store[let->store], &let->at);
    rd_add_from_memory(&value, let->type, place.at);
    rd_print_line(n, "const %s r%" PRId32 " = %s;", rd_register_type(let->type), s->value,
                  value.at);
    rd_text_end(&place, n->to);
    rd_text_end(&value, n->to);
}

/* Prints a STORE to a row in shared memory: "rows[..] = rd_word_of_float(r4);". row_word is the
 * bytes of an element of cached rows: 2 for 16-bit types, whose bits are stored; 0: the kernel
 * has no cached rows but staged rows or squares. */
void rd_print_store_to_row(rd_printing *n, const rd_stmt *s)
{
    rd_text line = { 0 };

    if (n->kernel->row_word == 0) {
        print_to_staged(n, s);
        return;
    }

    add_place(n, &line, &n->t->store[s->store]);
    rd_text_add(&line, " = ");
    if (n->kernel->row_word < 4) {
        rd_begin_stored(&line, s->type);
        rd_text_add(&line, "r%" PRId32 "%s.bits", s->x, rd_end_stored(s->type));
    } else
        rd_text_add(&line, "rd_word_of_%s(r%" PRId32 ")", rd_register_type(s->type), s->x);
    rd_print_line(n, "%s;", line.at);
    rd_text_end(&line, n->to);
}

/* Prints a LOAD from a row in shared memory: "const float r4 = rd_float_of(rows[..]);". row_word
 * is the bytes of an element of cached rows: 2 for 16-bit types, "rd_f16_to_f32(rd_f16{ rows[..]
 * })", in which an 8-bit type may lie, too; 0: the kernel has staged rows or squares. */
void rd_print_load_from_row(rd_printing *n, const rd_stmt *s)
{
    const rd_tree_value *let   = &n->t->let[s->value];
    rd_text              place = { 0 }, half = { 0 }, value = { 0 };

    if (n->kernel->row_word == 0) {
        print_from_staged(n, s);
        return;
    }
    add_place(n, &place, &n->t->store[let->store]);
    if (n->kernel->row_word < 4) {
        const bool narrows = rd_dtype_size(let->type) < n->kernel->row_word;

        rd_text_add(&half, narrows ? "%s{ (uint8_t)%s }" : "%s{ %s }", rd_memory_type(let->type),
                    place.at);
        rd_add_from_memory(&value, let->type, half.at);
    } else
        rd_text_add(&value, "rd_%s_of(%s)", rd_register_type(let->type), place.at);
    rd_print_line(n, "const %s r%" PRId32 " = %s;", rd_register_type(let->type), s->value,
                  value.at);
    rd_text_end(&place, n->to);
    rd_text_end(&half, n->to);
    rd_text_end(&value, n->to);
}
