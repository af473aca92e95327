/* describe.c - what each stage runs as, and the text that is compiled of it: RDIM_DEBUG. */
#include "kernels/cpu/codegen/codegen.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/product/product.h"
#include "kernels/cpu/tile/plan/plan.h"

static void tiles_text(rd_text *text, const rd_tile_code *code)
{
    rd_text_add(text, code->total ? "total: one kernel" : "tiles");
}

static void nest_text(rd_text *text, const rd_program *p, rd_get_fn *get, void *pool)
{
    const bool here = rd_codegen_here(p->nest ? p->nest : p->whole) != NULL;

    rd_text_add(text, here ? "nest, compiled" : "nest, not here; until then ");
    if (!here && p->code)
        tiles_text(text, p->code);
    else if (!here)
        rd_text_add(text, "scalar");
    rd_text_add(text, "\n");
    rd_codegen_describe(p, rd_cpu_vector(), get, pool, text, NULL);
}

static void way_text(rd_text *text, const rd_program *p, rd_get_fn *get, void *pool)
{
    const char *why = rd_cpu_no_nest(p);

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
    if (!why)
        why = rd_codegen_describe(p, rd_cpu_vector(), get, pool, NULL, NULL);
    rd_text_add(text, "; no nest: %s\n", why ? why : "the tier is off");
}

void rd_cpu_describe(rd_text *text, const rd_program *p, bool code, rd_get_fn *get, void *pool)
{
    if (!code)
        way_text(text, p, get, pool);
    else if (p->nest || p->whole)
        rd_codegen_describe(p, rd_cpu_vector(), get, pool, NULL, text);
}
