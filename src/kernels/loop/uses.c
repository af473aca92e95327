/* uses.c - which statements of a loop tree read which values.
 *
 * A read list has each value once.  It counts values beyond its room, too, but does not keep
 * them.
 *
 * Fields. A term of a position with `axis` -1 is a value, an index that is read at run time.
 *
 * Words. A fold is a reduction or a scan. */
#include "kernels/loop/facts.h"

/* A list of values, each once: n were found, of which the first `most` are kept. */
typedef struct read_list {
    int32_t *value;
    int32_t  n, most;
} read_list;

/* Adds a value to the list unless it is there already; -1 is no value. Values beyond the room are
 * only counted. */
static void add(read_list *r, int32_t value)
{
    for (int32_t k = 0; k < r->n && k < r->most; k++)
        if (r->value[k] == value)
            return;
    if (value < 0)
        return;
    if (r->n < r->most)
        r->value[r->n] = value;
    r->n++;
}

/* Adds the values in a position: its terms with axis < 0. */
static void add_position(read_list *r, const rd_schedule *t, const rd_linear *at)
{
    for (int32_t k = 0; k < at->n; k++)
        if (t->term[at->first + k].axis < 0)
            add(r, t->term[at->first + k].value);
}

/* Adds the values in all parts of a loop bound. */
static void add_edge(read_list *r, const rd_schedule *t, const rd_edge *edge)
{
    for (int32_t k = 0; k < edge->n; k++) {
        add_position(r, t, &edge->part[k].at);
        add_position(r, t, &edge->part[k].base);
    }
}

/* Adds the operands of a LET, and for a LOAD or COORD the values in its position. */
static void add_let(read_list *r, const rd_schedule *t, const rd_tree_value *let)
{
    for (int32_t k = 0; k < let->n; k++)
        add(r, t->operand[let->first + k]);
    if (let->kind == RD_I_LOAD || let->kind == RD_I_COORD)
        add_position(r, t, &let->at);
}

/* Adds the values in the positions of a statement: its address, its count and the place of its
 * fold's element. */
static void add_positions(read_list *r, const rd_schedule *t, const rd_stmt *s)
{
    add_position(r, t, &s->at);
    add_position(r, t, &s->count);
    add_position(r, t, &s->fold_at.cell);
    add_position(r, t, &s->fold_at.lane);
    add_position(r, t, &s->fold_at.lane_line);
    add_position(r, t, &s->fold_at.index);
}

/* Lists the values that a statement reads itself: operands, values in positions and in the bounds
 * of a loop.  Returns how many there are; at most `most` are written. */
int32_t rd_reads_of(const rd_schedule *t, int32_t stmt, int32_t *value, int32_t most)
{
    const rd_stmt *s = &t->stmt[stmt];
    read_list      r = { .value = value, .most = most };

    add(&r, s->x);
    add(&r, s->weight);
    add(&r, s->mask);
    add(&r, s->label);
    add_positions(&r, t, s);
    if (s->kind == RD_S_LET)
        add_let(&r, t, &t->let[s->value]);
    if (s->kind == RD_S_LOOP) {
        add_edge(&r, t, &rd_loop_of(t, stmt)->from);
        add_edge(&r, t, &rd_loop_of(t, stmt)->to);
    }
    return r.n;
}

/* True if the statement itself reads the value; also if it reads more values than the list
 * holds. */
bool rd_reads_value(const rd_schedule *t, int32_t stmt, int32_t value)
{
    int32_t       read[RD_MOST_READS];
    const int32_t n = rd_reads_of(t, stmt, read, RD_MOST_READS);

    for (int32_t k = 0; k < n && k < RD_MOST_READS; k++)
        if (read[k] == value)
            return true;
    return n > RD_MOST_READS;
}

/* Returns the next statement in preorder, from the last of a part (head, body or tail) on to the
 * next part; -1: it was the last. */
static int32_t next_in_program(const rd_schedule *t, int32_t stmt)
{
    int32_t part = stmt, next;

    while (t->stmt[part].parent >= 0)
        part = t->stmt[part].parent;
    next = rd_next_stmt(t, stmt, part);
    return next >= 0 ? next
           : t->stmt[part].kind == RD_S_PART && t->stmt[part].arg + 1 < RD_N_PARTS
               ? t->part[t->stmt[part].arg + 1]
               : -1;
}

/* Returns the next statement behind `last` that reads a value, in preorder; -1: there is none.
 * The search begins with the first part (head, body or tail) if `last` is -1. */
int32_t rd_next_use(const rd_schedule *t, int32_t value, int32_t last)
{
    int32_t s = last < 0 ? t->part[0] : next_in_program(t, last);

    while (s >= 0 && !rd_reads_value(t, s, value))
        s = next_in_program(t, s);
    return s;
}

/* Returns the last statement that reads a value; -1: none does. */
int32_t rd_last_use(const rd_schedule *t, int32_t value)
{
    int32_t found = -1;

    for (int32_t s = rd_next_use(t, value, /*last=*/-1); s >= 0; s = rd_next_use(t, value, s))
        found = s;
    return found;
}

/* True if a statement in a body reads the value, at any depth. */
bool rd_is_read_in(const rd_schedule *t, int32_t value, int32_t body)
{
    for (int32_t s = rd_next_stmt(t, body, body); s >= 0; s = rd_next_stmt(t, s, body))
        if (rd_reads_value(t, s, value))
            return true;
    return false;
}

/* True if a statement outside of a body reads the value. */
bool rd_is_read_outside(const rd_schedule *t, int32_t value, int32_t body)
{
    for (int32_t s = rd_next_use(t, value, /*last=*/-1); s >= 0; s = rd_next_use(t, value, s))
        if (!rd_stands_in(t, s, body))
            return true;
    return false;
}
