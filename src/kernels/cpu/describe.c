/* describe.c - what each stage runs as, its loop tree, and the text that is compiled of it, for
 * RDIM_DEBUG.
 *
 * A nest is the program's loops as one compiled C function. Tiles are rows and columns of elements
 * that kernels work on. A strip is a range of one axis that vectors go through. */
#include "kernels/cpu/nest/nest.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/product/product.h"
#include "kernels/cpu/tile/plan/tile_plan.h"
#include "kernels/loop/loop.h"
#include "kernels/scalar_residue.h"

/* Adds "total: one kernel" if one kernel runs the whole program, else "tiles". */
static void tiles_text(rd_text *text, const rd_tile_code *code)
{
    rd_text_add(text, code->total ? "total: one kernel" : "tiles");
}

/* Adds "nest, compiled", or what runs in its place: "nest, not here; until then tiles"; and its
 * strips (ranges of an axis that vectors go through). `lost` is how many times as long as tiles the
 * loops took, 0: not slower. */
static void nest_text(rd_text *text, const rd_program *p, rd_get_fn *get, void *pool)
{
    const bool   here = rd_nest_loaded(p->nest ? p->nest : p->whole) != NULL;
    const double lost = p->timed ? rd_nest_slowdown(p->nest, p->work) : 0;

    if (lost > 0)
        rd_text_add(text, "tiles, as compiled loops took %.3g times as long", lost);
    else
        rd_text_add(text, here ? "nest, compiled" : "nest, not here; until then ");
    if (!here && p->code)
        tiles_text(text, p->code);
    else if (!here)
        rd_text_add(text, "scalar");
    rd_text_add(text, "\n");
    rd_nest_describe(p, rd_cpu_vector(), get, pool, text, /*code=*/NULL);
}

/* Adds why there are no compiled loops: "; no nest: a product". A text without memory has `failed`
 * set. */
static void refusal_text(rd_text *text, const rd_program *p, rd_get_fn *get, void *pool)
{
    const char *why = rd_cpu_why_no_nest(p);

    if (!why && !rd_nest_refused(p, rd_cpu_vector(), get, pool, &why))
        text->failed = true;
    rd_text_add(text, "; no nest: %s\n", why ? why : "the tier is off");
}

/* Adds what the stage runs as: a matrix product, a compiled nest, tiles, or the reference
 * interpreter. */
static void strategy_text(rd_text *text, const rd_program *p, rd_get_fn *get, void *pool)
{
    if (p->product) {
        rd_text_add(text, "product by %s\n",
                    rd_product_by(p->product) ? rd_product_by(p->product) : "kernels");
        return;
    }
    if (p->nest || p->whole) {
        nest_text(text, p, get, pool);
        return;
    }
    if (p->code)
        tiles_text(text, p->code);
    else
        rd_text_add(text, "scalar");
    refusal_text(text, p, get, pool);
}

/* Adds the strips of the nest, and its loop tree after each pass; or why there is no tree. The tree
 * itself is freed at once, as only its text is wanted. */
static void loops_text(rd_text *text, const rd_program *p, rd_get_fn *get, void *pool)
{
    const char *why;

    rd_schedule_free(rd_nest_schedule(p, rd_cpu_vector(), /*whole=*/p->whole && !p->nest, get, pool,
                                      text, &why));
    if (why)
        rd_text_add(text, "no tree: %s\n", why);
}

/* Adds the scalar residue of one form, which is what runs element by element and not in vectors:
 * "tiles: 10 of 1000 operations element by element, 0.1 of 2 us", and a line for each reason. */
static void residue_text(rd_text *text, const rd_program *p, rd_form_kind kind, const char *name,
                         rd_get_fn *get, void *pool)
{
    rd_residue r;

    if (!rd_cpu_residue(p, kind, get, pool, &r)) {
        text->failed = true;
        return;
    }
    rd_text_add(text, "%s: %.0f of %.0f operations element by element, %.3g of %.3g us\n", name,
                rd_residue_operations(&r), r.operations, rd_residue_ns(&r) / 1e3, r.ns / 1e3);
    rd_residue_lines(text, &r);
}

/* Adds the scalar residue (what runs element by element) of compiled loops, and of what runs until
 * they are there. */
static void residues_text(rd_text *text, const rd_program *p, rd_get_fn *get, void *pool)
{
    if (p->nest || p->whole)
        residue_text(text, p, RD_FORM_NEST, "compiled loops", get, pool);
    if (p->code && !p->product)
        residue_text(text, p, RD_FORM_TILES, "tiles", get, pool);
    else if (!p->product)
        residue_text(text, p, RD_FORM_REFERENCE, "the reference", get, pool);
}

/* Adds the description of a stage that `what` names: rd_backend_table.describe. */
void rd_cpu_describe(rd_text *text, const rd_program *p, rd_description what, rd_get_fn *get,
                     void *pool)
{
    if (what == RD_DESCRIBE_FORM)
        strategy_text(text, p, get, pool);
    else if (what == RD_DESCRIBE_LOOPS)
        loops_text(text, p, get, pool);
    else if (what == RD_DESCRIBE_SCALAR)
        residues_text(text, p, get, pool);
    else if (p->nest || p->whole)
        rd_nest_describe(p, rd_cpu_vector(), get, pool, /*strips=*/NULL, text);
}
