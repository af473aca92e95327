/* run_loops.c - runs the loops of a tree in its shadow run, each in an order that it allows.
 *
 * A copy is one instance of a loop's body with its own values and indices.  Copies of a jam
 * (unroll-and-jam) run each statement for all copies before the next statement.  A round is one
 * iteration; marks are axes that are bound to its begin and end.
 *
 * Fields. A loop's `start_mark` and `stop_mark` are its marks, axes bound to where its round begins
 * and ends, -1: none. */
#include "kernels/loop/shadow/run_tree.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COPIES = 4096, VECTOR = 8 };

/* ---- Copies ---------------------------------------------------------------------------------- */
/* Frees the values and indices of a copy (instance of the code). */
void rd_shadow_copy_free(rd_shadow_copy *c)
{
    free(c->value);
    free(c->axis);
}

/* Makes a copy (one instance of the code: its values and indices), with those of another one, or
 * zeros if `of` is NULL. False: no memory. */
bool rd_shadow_copy_new(const rd_schedule *t, rd_shadow_copy *c, const rd_shadow_copy *of)
{
    const size_t n_let = (size_t)t->n_let + 1, n_axis = (size_t)t->n_axis + 1;

    *c = (rd_shadow_copy){ calloc(n_let, sizeof *c->value), calloc(n_axis, sizeof *c->axis) };
    if (!c->value || !c->axis)
        return false;
    if (of) {
        memcpy(c->value, of->value, n_let * sizeof *c->value);
        memcpy(c->axis, of->axis, n_axis * sizeof *c->axis);
    }
    return true;
}

/* ---- Rounds of loops ------------------------------------------------------------------------- */
/* The rounds of a loop, as ranges of indices, in the order in which they run. */
typedef struct round_list {
    int64_t         n, room;
    rd_shadow_span *at;
} round_list;

/* Adds a round of the indices [from, to) to the list. The task fails without memory. */
static void add_round(rd_shadow_task *r, round_list *list, int64_t from, int64_t to)
{
    if (list->n == list->room) {
        const int64_t         room = list->room ? 2 * list->room : 16;
        rd_shadow_span *const made = realloc(list->at, (size_t)room * sizeof *made);

        if (made) {
            list->at   = made;
            list->room = room;
        }
        if (!rd_shadow_require(r, made != NULL) || !list->at)
            return;
    }
    list->at[list->n++] = (rd_shadow_span){ from, to };
}

/* Adds a round, and checks its length against the width that the loop states for rounds with marks
 * (axes bound to the ends of a round). */
static void add_step(rd_shadow_task *r, const rd_for *loop, round_list *list, int64_t from,
                     int64_t to)
{
    rd_shadow_require(r, loop->width <= 0 || loop->stop_mark < 0 || to - from == loop->width ||
                             rd_shadow_fails(r->why,
                                             "a round has %" PRId64 " indices, and says %" PRId32,
                                             to - from, loop->width));
    add_round(r, list, from, to);
}

/* Lists the rounds of a loop over `all`, each `step` indices long, the last one perhaps shorter.
 * It fails if there are more rounds than the run may visit statements, so that wrong trees end. */
static void list_steps(rd_shadow_task *r, const rd_for *loop, rd_shadow_span all, round_list *list)
{
    const int64_t n = all.to > all.from ? (all.to - all.from + loop->step - 1) / loop->step : 0;

    if (n > r->visits) {
        rd_shadow_require(r, rd_shadow_fails(r->why, "a loop has %" PRId64 " rounds", n));
        return;
    }
    for (int64_t k = 0; k < n && !r->failed; k++) {
        const int64_t at = all.from + (loop->backwards ? n - 1 - k : k) * loop->step;

        add_step(r, loop, list, at, all.to - at < loop->step ? all.to : at + loop->step);
    }
}

/* Puts all odd rounds first, from the last one on, then the even ones. No serial loop has this
 * order, so a round that depends on another one computes another hash, and is found. */
static void reverse_odd_even(rd_shadow_task *r, round_list *list)
{
    rd_shadow_span *const made = malloc(((size_t)list->n + 1) * sizeof *made);
    int64_t               n    = 0;

    if (!rd_shadow_require(r, made != NULL) || !made) {
        free(made);
        return;
    }
    for (int64_t odd = 1; odd >= 0; odd--)
        for (int64_t k = list->n - 1; k >= 0; k--)
            if (k % 2 == odd)
                made[n++] = list->at[k];
    free(list->at);
    list->at   = made;
    list->room = list->n + 1;
}

/* Binds, in a copy (instance of the code), the loop's index and its marks (axes of a round's begin
 * and end) to a round. */
static void bind(rd_shadow_copy *c, const rd_for *loop, rd_shadow_span at)
{
    const int32_t axis[]  = { loop->axis, loop->start_mark, loop->stop_mark };
    const int64_t index[] = { at.from, at.from, at.to };

    for (int k = 0; k < 3; k++)
        if (axis[k] >= 0)
            c->axis[axis[k]] = index[k];
}

/* Runs the body in n copies for each round of the list, all together: each statement runs in all n
 * * rounds copies before the next statement does, as in unroll-and-jam. More than MOST_COPIES
 * fail. */
static void run_jam(rd_shadow_task *r, int32_t body, const rd_for *loop, rd_shadow_copy *const *c,
                    int n, const round_list *list)
{
    const int64_t   total = n * list->n;
    rd_shadow_copy *made = NULL, **each = NULL;

    if (!rd_shadow_require(r, total <= MOST_COPIES ||
                                  rd_shadow_fails(r->why, "a jam has %" PRId64 " copies", total)))
        return;
    made = calloc((size_t)total + 1, sizeof *made);
    each = calloc((size_t)total + 1, sizeof *each);
    rd_shadow_require(r, made && each);
    for (int64_t k = 0; k < total && made && each && !r->failed; k++) {
        each[k] = &made[k];
        if (rd_shadow_require(r, rd_shadow_copy_new(r->t, each[k], c[k / list->n])))
            bind(each[k], loop, list->at[k % list->n]);
    }
    if (each && total && !r->failed)
        rd_shadow_body(r, body, each, (int)total);
    for (int64_t k = 0; k < total && made; k++)
        rd_shadow_copy_free(&made[k]);
    free(made);
    free(each);
}

/* Runs the rounds one after the other; in each, the n copies of jams around go through the body
 * together. r->last tells IF_LAST that the last round runs. Behind the loop the axis has its old
 * index again. */
static void run_rounds(rd_shadow_task *r, int32_t body, const rd_for *loop,
                       rd_shadow_copy *const *c, int n, const round_list *list)
{
    int64_t *outside = malloc((size_t)n * sizeof *outside);

    if (!rd_shadow_require(r, outside != NULL) || !outside) {
        free(outside);
        return;
    }
    for (int j = 0; j < n; j++)
        outside[j] = c[j]->axis[loop->axis];
    for (int64_t k = 0; k < list->n && !r->failed; k++) {
        r->last[body] = k + 1 == list->n;
        for (int j = 0; j < n; j++)
            bind(c[j], loop, list->at[k]);
        rd_shadow_body(r, body, c, n);
    }
    for (int j = 0; j < n; j++)
        c[j]->axis[loop->axis] = outside[j];
    free(outside);
}

/* True if rounds can be interleaved statement by statement: the body has no loops, whose ranges
 * might differ between rounds, and no arrays, which belong to one round. */
static bool can_interleave(const rd_schedule *t, int32_t body)
{
    bool possible = true;

    for (int32_t s = body; s >= 0; s = rd_next_stmt(t, s, body))
        possible &= s == body || (t->stmt[s].kind != RD_S_LOOP && t->stmt[s].kind != RD_S_ARRAY);
    return possible;
}

/* Runs the rounds interleaved, VECTOR at a time, as a vector does. */
static void run_vectors(rd_shadow_task *r, int32_t body, const rd_for *loop,
                        rd_shadow_copy *const *c, int n, const round_list *list)
{
    for (int64_t k = 0; k < list->n && !r->failed; k += VECTOR) {
        const round_list group = { .n  = list->n - k < VECTOR ? list->n - k : VECTOR,
                                   .at = list->at + k };

        run_jam(r, body, loop, c, n, &group);
    }
}

/* ---- Loops ----------------------------------------------------------------------------------- */
/* Runs a loop in n copies: lists its rounds, in an unusual order if its kind allows any, and runs
 * them one by one, interleaved (vectors), or all together (jams). It checks that all copies have
 * the same bounds, and that there are no more rounds than the loop says (extent). A loop that runs
 * at most once (RD_FOR_ONCE) has all indices in one round. */
static void run_loop(rd_shadow_task *r, int32_t stmt, rd_shadow_copy *const *c, int n)
{
    const rd_for        *loop   = &r->t->loop[r->t->stmt[stmt].arg];
    const rd_shadow_span bounds = { rd_shadow_edge(r, c[0], &loop->from, /*greatest=*/true),
                                    rd_shadow_edge(r, c[0], &loop->to, /*greatest=*/false) };
    round_list           list   = { 0 };

    for (int k = 1; k < n; k++)
        rd_shadow_require(
            r, (rd_shadow_edge(r, c[k], &loop->from, /*greatest=*/true) == bounds.from &&
                rd_shadow_edge(r, c[k], &loop->to, /*greatest=*/false) == bounds.to) ||
                   rd_shadow_fails(r->why, "copies of a jam have loops of other ranges"));
    if (loop->kind == RD_FOR_BLOCK) {
        rd_shadow_run_block_loop(r, stmt, loop, c, n, bounds);
        return;
    }
    if (loop->kind == RD_FOR_ONCE && bounds.from < bounds.to)
        add_step(r, loop, &list, bounds.from, bounds.to);
    if (loop->kind != RD_FOR_ONCE)
        list_steps(r, loop, bounds, &list);
    if (rd_in_any_order(loop))
        reverse_odd_even(r, &list);
    rd_shadow_require(r, loop->extent < 0 || list.n <= loop->extent ||
                             rd_shadow_fails(r->why,
                                             "a loop over i%" PRId32 " has %" PRId64
                                             " rounds, and says %" PRId64,
                                             loop->axis, list.n, loop->extent));
    if (!r->failed && loop->kind == RD_FOR_JAM)
        run_jam(r, stmt, loop, c, n, &list);
    else if (!r->failed && loop->kind == RD_FOR_VECTOR && !loop->in_order &&
             can_interleave(r->t, stmt))
        run_vectors(r, stmt, loop, c, n, &list);
    else if (!r->failed)
        run_rounds(r, stmt, loop, c, n, &list);
    free(list.at);
}

/* Runs the statements of a body in n copies (instances of the code), each statement in all copies
 * before the next one. A run that visits far more statements than its program has instructions
 * fails, so that wrong trees end. */
void rd_shadow_body(rd_shadow_task *r, int32_t body, rd_shadow_copy *const *c, int n)
{
    for (int32_t s = r->t->stmt[body].first; s >= 0 && !r->failed; s = r->t->stmt[s].next) {
        r->visits -= n;
        if (r->visits < 0)
            rd_shadow_require(
                r, rd_shadow_fails(r->why, "it visits many times what its program does"));
        else if (r->t->stmt[s].kind == RD_S_LOOP) {
            run_loop(r, s, c, n);
            rd_shadow_end_of_loop(r, s);
        } else
            for (int k = 0; k < n && !r->failed; k++)
                rd_shadow_statement(r, s, c[k]);
    }
}
