/* scalar_expand.c - The pass scalar_expand passes values from one vector loop to another by
 * local arrays (scalar expansion).
 *
 *     vector i0 { r5 = ...; a3[i0 - m0] = r5 }
 *     vector i0 { r9 = load a3[i0 - m0]; ... }
 *
 * A strip starts at the index m0, and i0 - m0 is the number of an element in it.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_arrays.h"
#include <stdlib.h>
#include <string.h>

/* Facts of all values, and the vector loop at hand. */
typedef struct expansion {
    rd_schedule *t;
    int32_t     *made_in; /* per value: the vector loop that makes it, -1 */
    int32_t     *store;   /* per value: its array, -1                 */
    int32_t     *here;    /* per value: the load from its array in `loop`, -1 */
    int32_t      n_let;
    int32_t      loop;   /* the vector loop at hand                     */
    int          vector; /* bytes of a vector, 0 on a GPU               */
} expansion;

/* True if the value is a load from a local array (slot < 0) of the element with the loop's own
 * number in the strip, so that other vector loops of the strip can load it there as well. */
static bool is_array_element(const expansion *c, int32_t value)
{
    const rd_tree_value *let = &c->t->let[value];
    const rd_linear      at  = rd_strip_element(c->t, c->made_in[value]);

    return let->kind == RD_I_LOAD && let->slot < 0 && rd_linear_same(c->t, &let->at, &at);
}

/* Returns the type of the array's elements. A bool is a byte, but an int where the loop has fewer
 * rounds than a vector has bytes, as gcc 12 makes no vectors of a loop that is shorter than one.
 * extent -1: not known. */
static rd_dtype type_of_array(const expansion *c, int32_t value)
{
    const rd_dtype type   = c->t->let[value].type;
    const int64_t  extent = rd_loop_of(c->t, c->made_in[value])->extent;

    return type == RD_BOOL && extent >= 0 && extent < c->vector ? RD_I32 : type;
}

/* Makes sure that the value is in an array with an element for each index of the strip (a range
 * that vector loops visit): one is declared before its loop, and a STORE put behind its statement.
 * A value that was itself loaded from such an array needs no other. */
static void store_value(expansion *c, int32_t value)
{
    const int32_t loop = c->made_in[value];

    if (is_array_element(c, value)) {
        c->store[value] = c->t->let[value].store;
        return;
    }
    c->store[value] = rd_add_array_before(c->t, loop, type_of_array(c, value));
    rd_store_behind(c->t, loop, value, c->store[value]);
}

/* For rd_substitute_values(): the value that stands for `value` in the vector loop c->loop. If
 * another vector loop makes it, that is a load from its array at the start of c->loop, made once
 * and then used again (here). Values from n_let on are such loads. */
static int32_t value_in_loop(void *of, int32_t value)
{
    expansion *c = of;

    if (value >= c->n_let || c->made_in[value] < 0 || c->made_in[value] == c->loop)
        return value;
    if (c->here[value] >= 0)
        return c->here[value];
    if (c->store[value] < 0)
        store_value(c, value);
    if (c->t->failed)
        return value;
    c->here[value] = rd_load_at_start(c->t, c->loop, c->store[value], c->made_in[value]);
    if (c->t->failed)
        return value;
    /* the array may be of ints */
    c->t->let[c->here[value]].type = c->t->let[c->here[value]].from = c->t->let[value].type;
    return c->here[value];
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Records for each value of a part (head, body or tail) the vector loop that makes it; -1 if none
 * does. */
static void find_made(expansion *c, int32_t part)
{
    for (int32_t s = part; s >= 0; s = rd_next_stmt(c->t, s, part))
        for (int32_t k = 0; k < c->t->stmt[s].n_value; k++)
            c->made_in[c->t->stmt[s].value + k] = rd_vector_around(c->t, s);
}

/* Makes each statement of a part (head, body or tail) that stands in a vector loop read values of
 * other vector loops from arrays. When the traversal enters the next vector loop, the table `here`
 * is cleared, as nothing is loaded there yet. */
static void replace_in_part(expansion *c, int32_t part)
{
    for (int32_t s = part; s >= 0 && !c->t->failed; s = rd_next_stmt(c->t, s, part)) {
        const int32_t loop = rd_vector_around(c->t, s);

        if (loop >= 0 && loop != c->loop)
            memset(c->here, -1, ((size_t)c->n_let + 1) * sizeof *c->here);
        c->loop = loop >= 0 ? loop : c->loop;
        if (loop >= 0 && s != loop)
            rd_substitute_values(c->t, s, value_in_loop, c);
    }
}

/* The pass: a value that one vector loop makes and another one reads is passed by an array (scalar
 * expansion). It finds the loops in which values are made, then replaces each such value by a
 * load. All three tables begin as -1. On a GPU target is NULL. */
void rd_pass_scalar_expand(rd_schedule *t, const rd_target *target)
{
    const size_t bytes = ((size_t)t->n_let + 1) * sizeof(int32_t);
    expansion    c     = { .t       = t,
                           .made_in = malloc(bytes),
                           .store   = malloc(bytes),
                           .here    = malloc(bytes),
                           .n_let   = t->n_let,
                           .loop    = -1,
                           .vector  = target ? target->vector : 0 };

    if (!c.made_in || !c.store || !c.here)
        t->failed = true;
    else {
        memset(c.made_in, -1, bytes);
        memset(c.store, -1, bytes);
        memset(c.here, -1, bytes);
        for (int k = 0; k < RD_N_PARTS; k++)
            find_made(&c, t->part[k]);
        for (int k = 0; k < RD_N_PARTS && !t->failed; k++)
            replace_in_part(&c, t->part[k]);
    }
    free(c.made_in);
    free(c.store);
    free(c.here);
}
