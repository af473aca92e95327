/* explain_residue.c - what explain says of operations that run element by element. */
#include "eval/explain_residue.h"
#include "kernels/scalar_residue.h"
#include <math.h>

/* Zeroed memory of a pool, in the form that the backend asks for. */
static void *memory_of(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

/* The predicted time of a stage in nanoseconds: its start, then computing or memory, whichever
 * takes longer. */
static double price_of(const rd_stage_form *s, const rd_residue *r)
{
    return s->price.start + fmax(r->ns / s->threads, s->price.memory);
}

/* Writes a line if operations that run element by element, not by vectors, take more than a tenth
 * of a stage's predicted time: "scalar in stage 0: 40 % of its price, about 2 ms: ...". False: no
 * memory. s->backend->residue counts these operations in r; NULL: the backend has none. TOLD is
 * the tenth. */
bool rd_residue_of_stage(rd_text *text, const rd_stage_form *s, rd_pool *pool)
{
    static const double TOLD = 0.1;
    rd_residue          r;

    if (!s->backend->residue)
        return true;
    if (!s->backend->residue(s->p, s->form.kind, memory_of, pool, &r))
        return false;
    const double ns = rd_residue_ns(&r) / s->threads, share = ns / price_of(s, &r);

    if (!(share > TOLD))
        return true;
    rd_text_add(text, "scalar in stage %d: %.0f %% of its price, about ", s->number, 100 * share);
    rd_time_text(text, 1e-9 * ns);
    rd_text_add(text, ": ");
    rd_residue_text(text, &r);
    rd_text_add(text, "\n");
    return true;
}
