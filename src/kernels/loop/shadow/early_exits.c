/* early_exits.c - checks that loops which are left early leave out nothing that matters, in a
 * shadow run.
 *
 * An EXIT leaves its loop once no element can change certain states any more.  The shadow run
 * leaves no loop.  Instead, behind an EXIT the rest of the loop may only step into the states that
 * the EXIT has checked.  It may do nothing else that is seen behind the loop.
 *
 * Words. A cell is one result of a fold, with its accumulators. A lane is one of the accumulators
 * of a cell, to which elements go in turn. */
#include "kernels/loop/shadow/run_tree.h"
#include <inttypes.h>
#include <stdlib.h>

/* An EXIT (early exit) of the tree, and the cells [from, to) (accumulators) that it has checked,
 * until its loop ends. */
struct rd_shadow_exit {
    int32_t stmt;
    bool    checked;
    int64_t from, to;
};

/* Counts the EXITs of the tree, and notes their statements if there is room (r->exit). */
static void find_exits(rd_shadow_task *r)
{
    r->n_exit = 0;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = r->t->part[k]; s >= 0; s = rd_next_stmt(r->t, s, r->t->part[k]))
            if (r->t->stmt[s].kind == RD_S_EXIT) {
                if (r->exit)
                    r->exit[r->n_exit].stmt = s;
                r->n_exit++;
            }
}

/* Makes the list of all EXITs of the tree: counts them, makes room, and notes them. False: no
 * memory. */
bool rd_shadow_find_exits(rd_shadow_task *r)
{
    find_exits(r);
    r->exit = calloc((size_t)r->n_exit + 1, sizeof *r->exit);
    if (r->exit)
        find_exits(r);
    return r->exit != NULL;
}

/* Runs an EXIT. A shadow run leaves no loop; it notes that the EXIT has checked its states:
 * `count` of them from the cell's on, of which each cell has as many as lanes (partial
 * accumulators). */
void rd_shadow_note_exit(rd_shadow_task *r, const rd_shadow_copy *c, const rd_stmt *s)
{
    const int64_t lanes = r->t->fold[s->fold].lanes,
                  from  = rd_shadow_position(r, c, &s->fold_at.cell);

    for (int32_t k = 0; k < r->n_exit; k++)
        if (&r->t->stmt[r->exit[k].stmt] == s) {
            r->exit[k].checked = true;
            r->exit[k].from    = from;
            r->exit[k].to      = from + rd_shadow_position(r, c, &s->count) / lanes;
        }
}

/* Forgets what the EXITs of a loop that has ended have checked. An EXIT's arg is the loop that it
 * leaves. */
void rd_shadow_end_of_loop(rd_shadow_task *r, int32_t loop)
{
    for (int32_t k = 0; k < r->n_exit; k++)
        r->exit[k].checked &= r->t->stmt[r->exit[k].stmt].arg != loop;
}

/* True if every EXIT that has run in a loop around may leave out a step into this cell
 * (accumulator): if it is of this fold, it has checked the cell, which nothing can change any
 * more. Else a failure. */
bool rd_shadow_may_step(const rd_shadow_task *r, const rd_stmt *s, int64_t cell)
{
    for (int32_t k = 0; k < r->n_exit; k++) {
        const struct rd_shadow_exit *e = &r->exit[k];

        if (e->checked && r->t->stmt[e->stmt].fold == s->fold && (cell < e->from || cell >= e->to))
            return rd_shadow_fails(r->why,
                                   "f%" PRId32 ": an exit that looks at cells from %" PRId64
                                   " to %" PRId64 " leaves out a step of cell %" PRId64,
                                   s->fold, e->from, e->to, cell);
    }
    return true;
}

/* True if no EXIT has run in a loop around, which would leave out what is stored now; else a
 * failure. */
bool rd_shadow_may_store(const rd_shadow_task *r)
{
    for (int32_t k = 0; k < r->n_exit; k++)
        if (r->exit[k].checked)
            return rd_shadow_fails(r->why, "an exit by f%" PRId32 " leaves out what is stored",
                                   r->t->stmt[r->exit[k].stmt].fold);
    return true;
}
