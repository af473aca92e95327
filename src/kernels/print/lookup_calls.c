/* lookup_calls.c - vector loops by call that look up elements of small tables
 * (pass/permute_lookups.c), as text:
 *
 *     rd_look_up_4_uint8_t(a5, (const float *)x1 + i1 * 4, 4, 1,
 *                          (const uint8_t *)x0 + m0 + i1, n0, &failed);
 *
 * There is a function for each pair of an element's size and an index type:
 * cpu/nest/lookup_prelude.h.
 *
 * A lookup is a load from a small table at a checked index (INDEX); a strip is the n0 elements of
 * the loop.
 *
 * Fields. A load or store with `slot` >= 0 is of the program's memory, others are of arrays of the
 * tree. */
#include "kernels/print/print.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Returns the value of the loop's INDEX, an index that is read at run time and checked against
 * the table's size. -1: the loop looks up nothing. */
static int32_t find_index(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next)
        if (t->stmt[s].kind == RD_S_LET && t->let[t->stmt[s].value].kind == RD_I_INDEX)
            return t->stmt[s].value;
    return -1;
}

/* Returns which term of a load's address is the checked index: a term with axis < 0 is a value,
 * others are axes. -1: none is, or let is NULL. */
static int32_t term_of(const rd_schedule *t, const rd_tree_value *let, int32_t index)
{
    for (int32_t k = 0; let && k < let->at.n; k++)
        if (t->term[let->at.first + k].axis < 0 && t->term[let->at.first + k].value == index)
            return k;
    return -1;
}

/* Returns which term of the address is the checked index, in the load of this statement. -1: the
 * statement looks up nothing. */
static int32_t term_at(const rd_schedule *t, int32_t stmt, int32_t index)
{
    return term_of(t, rd_let_of(t, stmt), index);
}

/* ---- Functions ------------------------------------------------------------------------------- */
/* Returns the C type of the indices where they lie. A buffer of the program (slot >= 0) and some
 * local arrays hold the type in memory; other local arrays hold the register's type, which is
 * wider. */
static const char *type_of_index(const rd_schedule *t, int32_t index)
{
    const rd_tree_value *let = &t->let[t->operand[t->let[index].first]];

    return let->slot >= 0 || t->store[let->store].memory ? rd_memory_type(let->type)
                                                         : rd_register_type(let->type);
}

/* Writes the end of the function's name, "4_uint8_t" of rd_look_up_4_uint8_t(): the bytes of an
 * element, and the type of its index. stmt: the load; index: the value of the checked index. */
static void name_of(const rd_schedule *t, int32_t stmt, int32_t index, char *name, size_t room)
{
    snprintf(name, room, "%d_%s", rd_dtype_size(t->let[t->stmt[stmt].value].type),
             type_of_index(t, index));
}

/* Characters of the end of a name, and different functions of a text.  Of a further one the text
 * would have a second definition. */
enum { NAME = 24, MOST = 16 };

/* Adds the macro "LOOK_UP(4, uint8_t)", which defines rd_look_up_4_uint8_t(), unless the text
 * has it already. name[0 .. *n-1] are the ends of the names that it has. */
static void add_function(const rd_schedule *t, int32_t stmt, int32_t index, char name[MOST][NAME],
                         int *n, rd_text *to)
{
    char wanted[NAME];

    name_of(t, stmt, index, wanted, sizeof wanted);
    for (int k = 0; k < *n; k++)
        if (strcmp(name[k], wanted) == 0)
            return;
    rd_text_add(to, "LOOK_UP(%d, %s)\n", rd_dtype_size(t->let[t->stmt[stmt].value].type),
                type_of_index(t, index));
    if (*n < MOST)
        snprintf(name[(*n)++], NAME, "%s", wanted);
}

/* Prints the functions of all lookups in the tree, each once. A lookup is a load from a small
 * table at a checked index; it stands in a vector loop by call, which the text runs by one call. */
void rd_print_lookup_functions(const rd_printing *n, rd_text *to)
{
    const rd_schedule *t = n->t;
    char               name[MOST][NAME];
    int                count = 0;

    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k])) {
            const int32_t index = rd_is_by_call(t, s) ? find_index(t, s) : -1;

            for (int32_t i = index >= 0 ? t->stmt[s].first : -1; i >= 0; i = t->stmt[i].next)
                if (term_at(t, i, index) >= 0)
                    add_function(t, i, index, name, &count, to);
        }
}

/* ---- Calls ----------------------------------------------------------------------------------- */
/* Adds the begin of an address, to which a position is added: "(const float *)x1 + " of a buffer
 * of the program, or "a5 + " of a local array. */
static void add_pointer(rd_text *to, const rd_tree_value *let)
{
    if (let->slot >= 0)
        rd_text_add(to, "(const %s *)x%" PRId32 " + ", rd_memory_type(let->type), let->slot);
    else
        rd_text_add(to, "a%" PRId32 " + ", let->store);
}

/* Adds the address of the table's first element: that of the load, without the term that is the
 * checked index. So the terms before it and those behind it are printed as two positions. */
static void add_table(rd_printing *n, rd_text *to, const rd_tree_value *let, int32_t term)
{
    const rd_linear before = { let->at.offset, term, let->at.first },
                    behind = { 0, let->at.n - term - 1, let->at.first + term + 1 };

    add_pointer(to, let);
    rd_print_linear(n, to, &before);
    rd_text_add(to, " + ");
    rd_print_linear(n, to, &behind);
}

/* Prints the call that looks up the elements of one load: "rd_look_up_4_uint8_t(a5, <table>, 4,
 * 1, <indices>, n0, &failed);". 4 is the table's extent, 1 the stride of its elements. The
 * result goes to the array that the next statement stores to. */
static void print_call(rd_printing *n, int32_t stmt, int32_t index, const char *count)
{
    const rd_schedule   *t    = n->t;
    const rd_tree_value *let  = rd_let_of(t, stmt);
    const rd_tree_value *of   = &t->let[t->operand[t->let[index].first]]; /* the index, unchecked */
    const int32_t        term = term_at(t, stmt, index);
    char                 name[NAME];

    name_of(t, stmt, index, name, sizeof name);
    rd_print_begin_line(n);
    rd_text_add(n->to, "rd_look_up_%s(a%" PRId32 ", ", name, t->stmt[t->stmt[stmt].next].store);
    add_table(n, n->to, let, term);
    rd_text_add(n->to, ", %" PRId64 ", ", t->let[index].word.i64);
    rd_print_number(n, n->to, t->term[let->at.first + term].coef);
    rd_text_add(n->to, ", ");
    add_pointer(n->to, of);
    rd_print_linear(n, n->to, &of->at);
    rd_text_add(n->to, ", %s, &failed);\n", count);
}

/* Prints a vector loop by call that looks up elements of small tables: one call for each load at
 * the checked index. False if the loop has no such index (INDEX). Addresses are those of the
 * loop's first element (n->at_first_element). */
bool rd_print_lookups(rd_printing *n, int32_t loop)
{
    const int32_t index = find_index(n->t, loop);
    rd_text       count = { 0 };

    if (index < 0)
        return false;
    rd_print_count(n, &count, loop);
    rd_print_loads(n, loop, count.at);
    n->at_first_element = true;
    for (int32_t s = n->t->stmt[loop].first; s >= 0; s = n->t->stmt[s].next)
        if (term_at(n->t, s, index) >= 0)
            print_call(n, s, index, count.at);
    n->at_first_element = false;
    rd_text_end(&count, n->to);
    return true;
}
