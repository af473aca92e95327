/* vector_elements.c - elements of vector loops as text: how many there are, and pointers to the
 * first of them. A load or store that stands directly in a vector loop has a pointer; one in
 * unrolled rounds inside it has none.
 *
 *     const int64_t c7 = hi - lo;
 *     const float *const p7 = (const float *)x0 + m0 * 3;
 *
 * m0 is a mark, the first index of a strip; a strip is a round of a loop over strips, with n0
 * indices.
 *
 * Fields. A loop's `strips_number` is the number of the strips that it runs over, -1: none. A load
 * or store with `slot` >= 0 is of the program's memory, others are of arrays of the tree. n->vector
 * is the vector loop whose body is printed, -1: none.
 *
 * Words. A loop by call is one call of a function in the text. Scratch is temporary memory of a
 * task. */
#include "kernels/print/print.h"
#include <inttypes.h>

/* ---- How many -------------------------------------------------------------------------------- */
/* Returns the loop over strips around the vector loop, if the vector loop takes one whole strip
 * (a few hundred neighbouring indices). That is from the start mark to the stop mark, the
 * variables with the strip's bounds. -1: there is none. */
static int32_t strip_around(const rd_printing *n, int32_t stmt)
{
    const rd_for *loop = rd_loop_of(n->t, stmt);

    for (int32_t s = n->t->stmt[stmt].parent; s >= 0; s = n->t->stmt[s].parent) {
        const rd_for *around = n->t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(n->t, s) : NULL;

        if (around && around->strips_number >= 0 &&
            rd_linear_coef(n->t, &loop->from.part[0].at, around->start_mark) == 1)
            return rd_linear_coef(n->t, &loop->to.part[0].at, around->stop_mark) == 1 ? s : -1;
    }
    return -1;
}

/* Adds the number of elements of a vector loop, as text: "n2" of the strip that it takes, or its
 * own "c7" if it takes no whole strip. */
void rd_print_count(rd_printing *n, rd_text *to, int32_t stmt)
{
    const int32_t strip = strip_around(n, stmt);

    if (strip >= 0)
        rd_text_add(to, "n%" PRId32,
                    rd_loop_of(n->t, strip)->start_mark - n->t->p->n_axis - RD_MARKS);
    else
        rd_text_add(to, "c%" PRId32, stmt);
}

/* Returns to how many rounds the vector loops of a padded strip are extended, so that they are
 * whole vectors; 0 if the innermost strip around the statement is not padded. Added rounds have
 * no effect. */
int32_t rd_padded_around(const rd_schedule *t, int32_t stmt)
{
    for (; stmt >= 0; stmt = t->stmt[stmt].parent)
        if (t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(t, stmt)->strips_number >= 0)
            return rd_loop_of(t, stmt)->padded;
    return 0;
}

/* Prints the number of elements of a vector loop, "const int64_t c7 = hi - lo;". A loop that
 * takes a whole strip has none of its own: it uses the strip's, n2. */
void rd_print_declare_count(rd_printing *n, int32_t stmt)
{
    const rd_for *loop = rd_loop_of(n->t, stmt);
    rd_text       from = { 0 }, to = { 0 };

    if (strip_around(n, stmt) >= 0)
        return;
    rd_print_from(n, &from, &loop->from);
    rd_print_to(n, &to, &loop->to);
    rd_print_line(n, "const int64_t c%" PRId32 " = %s - (%s);", stmt, to.at, from.at);
    rd_text_end(&from, n->to);
    rd_text_end(&to, n->to);
}

/* ---- Pointers -------------------------------------------------------------------------------- */
/* True if the access is by a pointer that was declared before the vector loop. It is in a buffer
 * of the program (slot >= 0), and its statement stands directly in the loop. No subscript is
 * read at run time, as a term with axis < 0 would be. */
bool rd_has_pointer(const rd_printing *n, int32_t slot, const rd_linear *at, int32_t parent)
{
    if (n->vector < 0 || slot < 0 || parent != n->vector)
        return false;
    for (int32_t k = 0; k < at->n; k++)
        if (n->t->term[at->first + k].axis < 0)
            return false;
    return true;
}

/* Prints a copy of the elements that is padded with zeros, "float z7[64] LINES; INDEPENDENT for
 * (..) z7[i] = i < n0 ? p7[i] : 0;". So the vector loop may run over whole vectors without
 * reading behind the caller's array. */
static void declare_padded(rd_printing *n, int32_t stmt, const char *type, int32_t padded)
{
    rd_text count = { 0 };

    rd_print_count(n, &count, n->vector);
    rd_print_line(n, "%s z%" PRId32 "[%" PRId32 "] LINES;", type, stmt, padded);
    rd_print_line(n,
                  "INDEPENDENT for (int64_t i = 0; i < %" PRId32 "; i++) z%" PRId32
                  "[i] = i < %s ? p%" PRId32 "[i] : 0;",
                  padded, stmt, count.at, stmt);
    rd_text_end(&count, n->to);
}

/* True if the load reads adjacent elements (coefficient 1) in a strip whose vector loops are
 * padded to whole vectors, so that the text has a padded copy z of them. A vector loop by call,
 * which is one call of a function, reads memory itself. */
bool rd_is_padded(const rd_printing *n, int32_t stmt, const rd_linear *at)
{
    return n->t->stmt[stmt].kind == RD_S_LET && !rd_loop_of(n->t, n->vector)->by_call &&
           rd_linear_coef(n->t, at, rd_loop_of(n->t, n->vector)->axis) == 1 &&
           rd_padded_around(n->t, stmt);
}

/* Prints the pointer to the first element of a load or store, if rd_has_pointer(): "const float
 * *const p7 = (const float *)x0 + m0 * 3;"; and the padded copy of a load in a padded strip. */
static void declare_pointer(rd_printing *n, int32_t stmt)
{
    const rd_stmt       *s    = &n->t->stmt[stmt];
    const rd_tree_value *let  = s->kind == RD_S_LET ? &n->t->let[s->value] : NULL; /* a load */
    const rd_linear     *at   = let ? &let->at : &s->at;
    const int32_t        slot = let ? let->slot : s->slot;
    const char *type = rd_memory_type(let ? let->type : s->type), *qualifier = let ? "const " : "";
    rd_text     place = { 0 };

    if ((let && let->kind != RD_I_LOAD) || (!let && s->kind != RD_S_STORE) ||
        !rd_has_pointer(n, slot, at, s->parent))
        return;
    rd_print_linear(n, &place, at);
    rd_print_line(n, "%s%s *const p%" PRId32 " = (%s%s *)x%" PRId32 " + %s;", qualifier, type, stmt,
                  qualifier, type, slot, place.at);
    if (rd_is_padded(n, stmt, at))
        declare_padded(n, stmt, type, rd_padded_around(n->t, stmt));
    rd_text_end(&place, n->to);
}

/* ---- Loads ----------------------------------------------------------------------------------- */
/* Counts the elements of the caller's arrays that one round of a body loads, for the statistics
 * that runs report. Scratch (temporary memory) is not counted, nor a load marked `uncounted`.
 * Loads in an unrolled loop count once for each of its rounds. */
static int64_t loads_in(const rd_printing *n, int32_t body)
{
    int64_t loads = 0;

    for (int32_t s = n->t->stmt[body].first; s >= 0; s = n->t->stmt[s].next) {
        const rd_stmt       *stmt = &n->t->stmt[s];
        const rd_tree_value *let  = stmt->kind == RD_S_LET ? &n->t->let[stmt->value] : NULL;

        if (stmt->kind == RD_S_LOOP)
            loads += rd_loop_of(n->t, s)->extent * loads_in(n, s);
        else
            loads += let && let->kind == RD_I_LOAD && !let->uncounted && let->slot >= 0 &&
                     let->slot < n->t->p->first_scratch;
    }
    return loads;
}

/* Prints a call that converts the elements of a strip from their type in memory to the array a5:
 * "rd_widen_f16(a5, p7, n0);". Bools are bytes in memory. The declared pointer is to the first
 * element (n->at_first_element: positions are those of round 0). load: the LOAD statement. */
void rd_print_widen(rd_printing *n, int32_t stmt, int32_t load, int32_t result, const char *count)
{
    const int64_t  loads = loads_in(n, stmt);
    const rd_dtype type  = n->t->let[n->t->stmt[load].value].type;

    n->at_first_element = true;
    declare_pointer(n, load);
    n->at_first_element = false;
    if (loads)
        rd_print_line(n, "loads += %" PRId64 " * %s;", loads, count);
    rd_print_line(n, "rd_widen_%s(a%" PRId32 ", p%" PRId32 ", %s);",
                  rd_dtype_name(type == RD_BOOL ? RD_U8 : type), result, load, count);
}

/* Returns the constant part of a load's address. It orders the planes of interleaved elements:
 * of RGB pixels, 0 is red, 1 green, 2 blue. */
static int64_t offset_of(const rd_printing *n, int32_t load)
{
    return n->t->let[n->t->stmt[load].value].at.offset;
}

/* Finds the three loads of interleaved planes (such as red, green, blue bytes) in a loop, sorted
 * by their constant offsets, by insertion. */
static void find_planes(const rd_printing *n, int32_t loop, int32_t load[3])
{
    int k = 0;

    for (int32_t s = n->t->stmt[loop].first; s >= 0; s = n->t->stmt[s].next) {
        int at = k;

        if (n->t->stmt[s].kind != RD_S_LET)
            continue;
        for (; at > 0 && offset_of(n, load[at - 1]) > offset_of(n, s); at--)
            load[at] = load[at - 1];
        load[at] = s;
        k++;
    }
}

/* Prints the count of elements that a vector loop reads: "loads += 2 * n0;". Loads that a pass
 * has moved before the loop (hoisted_loads) still count, so that the statistics do not depend on
 * the schedule. */
void rd_print_loads(rd_printing *n, int32_t stmt, const char *count)
{
    const int64_t loads = loads_in(n, stmt) + rd_loop_of(n->t, stmt)->hoisted_loads;

    if (loads)
        rd_print_line(n, "loads += %" PRId64 " * %s;", loads, count);
}

/* Prints the call that splits three interleaved planes of bytes into arrays, "rd_planes_u8(a5,
 * a6, a7, p9, n0);". p9 points to the first byte of the plane with the least offset
 * (n->at_first_element: positions of round 0). The statement behind each load stores its element to
 * an array, a5 to a7. */
void rd_print_planes(rd_printing *n, int32_t stmt, const char *count)
{
    int32_t load[3] = { 0 };
    rd_text arrays  = { 0 };

    find_planes(n, stmt, load);
    for (int k = 0; k < 3; k++)
        rd_text_add(&arrays, "a%" PRId32 ", ", n->t->stmt[n->t->stmt[load[k]].next].store);
    n->at_first_element = true;
    declare_pointer(n, load[0]);
    n->at_first_element = false;
    rd_print_loads(n, stmt, count);
    rd_print_line(n, "rd_planes_u8(%sp%" PRId32 ", %s);", arrays.at, load[0], count);
    rd_text_end(&arrays, n->to);
}

/* Prints the pointers of all loads and stores of a vector loop, and its count of loads. With
 * n->at_first_element, positions are those of the loop's first round, without i. */
void rd_print_pointers(rd_printing *n, int32_t stmt)
{
    rd_text count = { 0 };

    n->at_first_element = true;
    for (int32_t s = n->t->stmt[stmt].first; s >= 0; s = n->t->stmt[s].next)
        declare_pointer(n, s);
    n->at_first_element = false;
    rd_print_count(n, &count, stmt);
    rd_print_loads(n, stmt, count.at);
    rd_text_end(&count, n->to);
}

/* ---- Lines ----------------------------------------------------------------------------------- */
/* Adds " - LINE_OFFSET((float *)x1 + m0)": a strip has so many elements less, so that the next
 * strip begins with a cache line of what the STORE writes. The address is that of the first
 * element of the STORE's vector loop (n->at_first_element). */
void rd_print_line_offset(rd_printing *n, rd_text *to, int32_t store)
{
    const rd_stmt *s = &n->t->stmt[store];

    n->vector           = s->parent;
    n->at_first_element = true;
    rd_text_add(to, " - LINE_OFFSET((%s *)x%" PRId32 " + ", rd_memory_type(s->type), s->slot);
    rd_print_linear(n, to, &s->at);
    rd_text_add(to, ")");
    n->at_first_element = false;
    n->vector           = -1;
}
