/* tree_edit.c - parts of loop trees are added, moved and copied.
 *
 * A tree that has failed for lack of memory stays as it is: further calls do nothing and return
 * number 0. An element to add may lie in the array that grows, so each call copies it first.
 *
 * Words. A mark is an axis that is bound to where a loop's round begins or ends. A fold is a
 * reduction or a scan. */
#include "kernels/loop/loop.h"
#include <stdlib.h>
#include <string.h>

/* ---- Room ------------------------------------------------------------------------------------ */
/* Makes room for n more elements of `bytes` behind the first `count`; false: the tree has failed.
 * `array` is the address of the array's pointer, which is copied bytewise as its type differs. */
static bool make_room(rd_schedule *t, void *array, int32_t *room, int32_t count, int32_t n,
                      size_t bytes)
{
    enum { FIRST = 64 }; /* most trees need no more, and none is moved */
    void  *old, *new;
    size_t wanted = (size_t)*room;

    if (t->failed)
        return false;
    if (count + n <= *room)
        return true;
    while (wanted < (size_t)count + (size_t)n)
        wanted = wanted < FIRST ? FIRST : wanted * 2;
    memcpy(&old, array, sizeof old);
    new = realloc(old, wanted * bytes);
    if (!new) {
        t->failed = true;
        return false;
    }
    memcpy(array, &new, sizeof new);
    *room = (int32_t)wanted;
    return true;
}

#define ROOM_FOR(t, name, array, n) \
    make_room(t, &(t)->array, &(t)->room_##name, (t)->n_##name, n, sizeof *(t)->array)

/* Makes room for n more terms behind the last one, which callers then fill; false: the tree has
 * failed. */
bool rd_room_for_terms(rd_schedule *t, int32_t n)
{
    return ROOM_FOR(t, term, term, n);
}

/* Makes room for the first element of each array, so that number 0 may be read even in a failed
 * tree. */
bool rd_room_for_first(rd_schedule *t)
{
    return ROOM_FOR(t, stmt, stmt, 1) && ROOM_FOR(t, let, let, 1) && ROOM_FOR(t, for, loop, 1) &&
           ROOM_FOR(t, store, store, 1) && ROOM_FOR(t, term, term, 1) &&
           ROOM_FOR(t, operand, operand, 1);
}

/* Returns a statement of a kind that names nothing: every number in it is -1. */
rd_stmt rd_stmt_of(rd_stmt_kind kind)
{
    return (rd_stmt){ .kind      = kind,
                      .arg       = -1,
                      .fold      = -1,
                      .x         = -1,
                      .weight    = -1,
                      .mask      = -1,
                      .label     = -1,
                      .value     = -1,
                      .slot      = -1,
                      .store     = -1,
                      .loaded_by = -1 };
}

/* Adds a statement to the tree and returns its number; 0: no memory. It is linked into no body
 * yet. */
int32_t rd_add_stmt(rd_schedule *t, const rd_stmt *stmt)
{
    rd_stmt made = *stmt; /* which may lie in the array that moves */

    made.parent = made.prev = made.next = made.first = made.last = -1;
    if (!ROOM_FOR(t, stmt, stmt, 1))
        return 0;
    t->stmt[t->n_stmt] = made;
    return t->n_stmt++;
}

/* Adds a value to the tree and returns its number; 0: no memory. No statement makes the value yet.
 */
int32_t rd_add_let(rd_schedule *t, const rd_tree_value *let)
{
    const rd_tree_value made = *let;

    if (!ROOM_FOR(t, let, let, 1))
        return 0;
    t->let[t->n_let] = made;
    return t->n_let++;
}

/* Adds a value with the LET statement that makes it; returns the statement, which is in no body
 * yet. */
int32_t rd_add_made(rd_schedule *t, const rd_tree_value *let)
{
    rd_stmt stmt = rd_stmt_of(RD_S_LET);
    int32_t made;

    stmt.n_value = 1;
    stmt.value   = rd_add_let(t, let);
    made         = rd_add_stmt(t, &stmt);
    if (!t->failed)
        t->let[stmt.value].made_by = made;
    return made;
}

/* Adds a loop record (kind, axis, bounds) to the tree and returns its number; 0: no memory. */
int32_t rd_add_for(rd_schedule *t, const rd_for *loop)
{
    const rd_for made = *loop;

    if (!ROOM_FOR(t, for, loop, 1))
        return 0;
    t->loop[t->n_for] = made;
    return t->n_for++;
}

/* Adds a loop record with its LOOP statement; returns the statement, which is in no body yet. */
int32_t rd_add_loop(rd_schedule *t, const rd_for *loop)
{
    rd_stmt stmt = rd_stmt_of(RD_S_LOOP);

    stmt.arg = rd_add_for(t, loop);
    return rd_add_stmt(t, &stmt);
}

/* Adds the description of an array to the tree and returns its number; 0: no memory. */
int32_t rd_add_store(rd_schedule *t, const rd_tree_array *store)
{
    const rd_tree_array made = *store;

    if (!ROOM_FOR(t, store, store, 1))
        return 0;
    t->store[t->n_store] = made;
    return t->n_store++;
}

/* Adds a mark and returns its number: an axis of the tree that a loop binds to the begin or end of
 * a round. */
int32_t rd_add_mark(rd_schedule *t)
{
    return t->n_axis++;
}

/* Adds a list of operands to the tree and returns the number of the first. */
int32_t rd_add_operands(rd_schedule *t, const int32_t *value, int32_t n)
{
    if (!ROOM_FOR(t, operand, operand, n))
        return 0;
    if (n)
        memcpy(&t->operand[t->n_operand], value, (size_t)n * sizeof *value);
    t->n_operand += n;
    return t->n_operand - n;
}

/* ---- Copies and ends ------------------------------------------------------------------------- */
/* Returns a copy of an array of n elements of `bytes` each, with room for one more; NULL and
 * *failed: no memory. */
static void *copy_of(const void *array, int32_t n, size_t bytes, bool *failed)
{
    void *made = malloc(((size_t)n + 1) * bytes);

    if (!made)
        *failed = true;
    else if (n)
        memcpy(made, array, (size_t)n * bytes);
    return made;
}

/* Copies a tree with all its arrays.  The copy names the same program and the same facts of
 * folds. */
rd_schedule *rd_schedule_copy(const rd_schedule *t)
{
    rd_schedule *c = malloc(sizeof *c);

    if (!c)
        return NULL;
    *c              = *t;
    c->stmt         = copy_of(t->stmt, t->n_stmt, sizeof *t->stmt, &c->failed);
    c->let          = copy_of(t->let, t->n_let, sizeof *t->let, &c->failed);
    c->loop         = copy_of(t->loop, t->n_for, sizeof *t->loop, &c->failed);
    c->store        = copy_of(t->store, t->n_store, sizeof *t->store, &c->failed);
    c->term         = copy_of(t->term, t->n_term, sizeof *t->term, &c->failed);
    c->operand      = copy_of(t->operand, t->n_operand, sizeof *t->operand, &c->failed);
    c->room_stmt    = t->n_stmt;
    c->room_let     = t->n_let;
    c->room_for     = t->n_for;
    c->room_store   = t->n_store;
    c->room_term    = t->n_term;
    c->room_operand = t->n_operand;
    if (c->failed) {
        rd_schedule_free(c);
        return NULL;
    }
    return c;
}

/* Frees a tree and its arrays; NULL is allowed. */
void rd_schedule_free(rd_schedule *t)
{
    if (!t)
        return;
    free(t->stmt);
    free(t->let);
    free(t->loop);
    free(t->store);
    free(t->term);
    free(t->operand);
    free(t);
}

/* ---- Where statements stand ------------------------------------------------------------------ */
/* Puts a statement between two neighbours of a body.  -1: there is no neighbour on that side, so
 * the statement becomes the first or the last of the body. */
static void link(rd_schedule *t, int32_t body, int32_t previous, int32_t stmt, int32_t next)
{
    if (t->failed)
        return;
    t->stmt[stmt].parent = body;
    t->stmt[stmt].prev   = previous;
    t->stmt[stmt].next   = next;
    if (previous >= 0)
        t->stmt[previous].next = stmt;
    else
        t->stmt[body].first = stmt;
    if (next >= 0)
        t->stmt[next].prev = stmt;
    else
        t->stmt[body].last = stmt;
}

/* Puts a statement that is in no body at the end of a body. */
void rd_append(rd_schedule *t, int32_t body, int32_t stmt)
{
    if (!t->failed)
        link(t, body, t->stmt[body].last, stmt, /*next=*/-1);
}

/* Puts a statement that is in no body before the statement `next`, in the same body. */
void rd_put_before(rd_schedule *t, int32_t stmt, int32_t next)
{
    if (!t->failed)
        link(t, t->stmt[next].parent, t->stmt[next].prev, stmt, next);
}

/* Puts a statement that is in no body behind the statement `previous`, in the same body. */
void rd_put_behind(rd_schedule *t, int32_t stmt, int32_t previous)
{
    if (!t->failed)
        link(t, t->stmt[previous].parent, previous, stmt, t->stmt[previous].next);
}

/* Unlinks a statement from its body, with its own body, which stays linked to it. Does nothing if
 * it is in no body (parent -1). */
void rd_take_out(rd_schedule *t, int32_t stmt)
{
    rd_stmt *s = &t->stmt[stmt];

    if (t->failed || s->parent < 0)
        return;
    if (s->prev >= 0)
        t->stmt[s->prev].next = s->next;
    else
        t->stmt[s->parent].first = s->next;
    if (s->next >= 0)
        t->stmt[s->next].prev = s->prev;
    else
        t->stmt[s->parent].last = s->prev;
    s->parent = s->prev = s->next = -1;
}

/* Puts a new loop before statement `first`, and moves the statements from `first` to `last` of
 * that body into it; returns the loop's statement. */
int32_t rd_put_loop_around(rd_schedule *t, int32_t first, int32_t last, const rd_for *loop)
{
    const int32_t stmt = rd_add_loop(t, loop);

    if (t->failed)
        return 0;
    rd_put_before(t, stmt, first);
    for (int32_t s = first, next, end = t->stmt[last].next; s != end; s = next) {
        next = t->stmt[s].next;
        rd_take_out(t, s);
        rd_append(t, stmt, s);
    }
    return stmt;
}

/* Returns a loop of a pass's own over so many rounds, one index each, from a position on. It binds
 * no marks, has no strips, and comes from no loop of the program. */
rd_for rd_rounds_from(rd_for_kind kind, int32_t axis, rd_linear from, int64_t rounds)
{
    rd_for loop = { .kind          = kind,
                    .axis          = axis,
                    .start_mark    = -1,
                    .stop_mark     = -1,
                    .from          = rd_edge_of(from),
                    .to            = rd_edge_of(from),
                    .step          = 1,
                    .extent        = rounds,
                    .program_loop  = -1,
                    .strips_number = -1 };

    loop.to.part[0].at.offset += rounds;
    return loop;
}

/* Makes the loop the rest behind whole rounds of `rows`: it begins at `border`, where the loop over
 * whole rounds ends, and has rows - 1 rounds at most. It is no loop of the program any more, so
 * passes that look for these do not find it again. */
void rd_keep_rest(rd_schedule *t, int32_t loop, const rd_edge_part *border, int64_t rows)
{
    rd_for *const rest = &t->loop[t->stmt[loop].arg];

    rest->from.part[0] = *border;
    rest->extent       = rows - 1;
    rest->program_loop = -1;
}
