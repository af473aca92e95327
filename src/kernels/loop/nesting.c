/* nesting.c - where statements of a loop tree stand.
 *
 * A body is the list of statements that a loop, an IF or a part of the tree holds.  A statement is
 * named by its number.
 *
 * Words. A mark is an axis that is bound to where a loop's round begins or ends. */
#include "kernels/loop/facts.h"

/* True if the statement stands in the body of the other one, at any depth. */
bool rd_stands_in(const rd_schedule *t, int32_t stmt, int32_t body)
{
    int32_t s = t->stmt[stmt].parent;

    while (s >= 0 && s != body)
        s = t->stmt[s].parent;
    return s >= 0;
}

/* Returns the innermost LOOP statement around a statement; -1: none. */
int32_t rd_loop_around(const rd_schedule *t, int32_t stmt)
{
    int32_t s = t->stmt[stmt].parent;

    while (s >= 0 && t->stmt[s].kind != RD_S_LOOP)
        s = t->stmt[s].parent;
    return s;
}

/* Writes the loops around a statement, at most `most` of them, and returns how many there are. */
int32_t rd_loops_around(const rd_schedule *t, int32_t stmt, int32_t *loop, int32_t most)
{
    int32_t n = 0;

    for (int32_t s = rd_loop_around(t, stmt); s >= 0; s = rd_loop_around(t, s), n++)
        if (n < most)
            loop[n] = s;
    return n;
}

/* Returns the statement itself if it is a vector loop, else the innermost vector loop around it;
 * -1: none. */
int32_t rd_vector_around(const rd_schedule *t, int32_t stmt)
{
    while (stmt >= 0 && !rd_is_vector(t, stmt))
        stmt = t->stmt[stmt].parent;
    return stmt;
}

/* Returns the innermost loop around a statement that binds the axis: as its index, or as the mark
 * of a round's begin or end.  -1: none. */
int32_t rd_binder_of(const rd_schedule *t, int32_t stmt, int32_t axis)
{
    for (int32_t s = rd_loop_around(t, stmt); s >= 0 && axis >= 0; s = rd_loop_around(t, s)) {
        const rd_for *l = rd_loop_of(t, s);

        if (l->axis == axis || l->start_mark == axis || l->stop_mark == axis)
            return s;
    }
    return -1;
}

/* Returns the first loop of the tree that was made from loop number `of` of the program; -1: none.
 */
int32_t rd_loop_from(const rd_schedule *t, int32_t of)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->program_loop == of)
                return s;
    return -1;
}

/* Returns the first loop in a body, at any depth, that is over the axis; -1: none. */
int32_t rd_loop_over(const rd_schedule *t, int32_t body, int32_t axis)
{
    for (int32_t s = rd_next_stmt(t, body, body); s >= 0; s = rd_next_stmt(t, s, body))
        if (t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->axis == axis)
            return s;
    return -1;
}

/* Counts the statements in a body, at any depth, whose kind is among `kinds`, a sum of
 * RD_KIND_BIT()s. */
int32_t rd_count_kinds(const rd_schedule *t, int32_t body, uint64_t kinds)
{
    int32_t n = 0;

    for (int32_t s = rd_next_stmt(t, body, body); s >= 0; s = rd_next_stmt(t, s, body))
        n += (kinds & RD_KIND_BIT(t->stmt[s].kind)) != 0;
    return n;
}

/* True if the statement is a loop without loops in its body. */
bool rd_is_innermost(const rd_schedule *t, int32_t loop)
{
    return t->stmt[loop].kind == RD_S_LOOP && rd_count_kinds(t, loop, RD_KIND_BIT(RD_S_LOOP)) == 0;
}

/* Returns the next innermost loop in a body behind statement `last`; -1: there is none. */
int32_t rd_next_innermost(const rd_schedule *t, int32_t body, int32_t last)
{
    int32_t s = rd_next_stmt(t, last, body);

    while (s >= 0 && !rd_is_innermost(t, s))
        s = rd_next_stmt(t, s, body);
    return s;
}

/* Returns the next EXIT behind `last` that leaves this loop; -1: there is none. */
int32_t rd_next_exit(const rd_schedule *t, int32_t loop, int32_t last)
{
    int32_t s = rd_next_stmt(t, last, loop);

    while (s >= 0 && !(t->stmt[s].kind == RD_S_EXIT && t->stmt[s].arg == loop))
        s = rd_next_stmt(t, s, loop);
    return s;
}

/* Returns the innermost statement that holds both a and b in its body; -1: they stand in different
 * parts (head, body, tail). */
int32_t rd_common_body(const rd_schedule *t, int32_t a, int32_t b)
{
    int32_t s = t->stmt[a].parent;

    while (s >= 0 && !rd_stands_in(t, b, s))
        s = t->stmt[s].parent;
    return s;
}

/* Returns the statement directly in the body that is, or at some depth holds, the given one. */
static int32_t in_body(const rd_schedule *t, int32_t stmt, int32_t body)
{
    while (t->stmt[stmt].parent != body)
        stmt = t->stmt[stmt].parent;
    return stmt;
}

/* True if `a` stands before `b` in preorder. Compared are the two statements of their common body
 * that are or hold a and b; different parts of the tree (body -1) compare by number. */
bool rd_comes_before(const rd_schedule *t, int32_t a, int32_t b)
{
    const int32_t body = rd_common_body(t, a, b);
    int32_t       x, y;

    if (a == b || rd_stands_in(t, a, b))
        return false;
    if (rd_stands_in(t, b, a))
        return true;
    x = in_body(t, a, body);
    y = in_body(t, b, body);
    if (body < 0)
        return t->stmt[x].arg < t->stmt[y].arg;
    while (x >= 0 && x != y)
        x = t->stmt[x].next;
    return x == y;
}
