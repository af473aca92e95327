/* form_residue.c - what a prepared program runs element by element on the CPU, in each of its
 * forms. */
#include "kernels/scalar_residue.h"
#include "kernels/cpu/calibrate/calibrate.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/nest/nest.h"
#include "kernels/cpu/tile/plan/tile_plan.h"
#include "kernels/print/tree_residue.h"

/* Adds the scalar residue (what runs element by element) of the loop tree of a compiled nest.
 * False: no memory. The tree is that of the form in which the program runs: as one task, unless it
 * has loops for several (p->nest). */
static bool add_nest(const rd_program *p, rd_get_fn *get, void *pool, rd_residue *r)
{
    const char  *why = NULL;
    rd_schedule *t = rd_nest_schedule(p, rd_cpu_vector(), /*whole=*/p->whole && !p->nest, get, pool,
                                      /*log=*/NULL, &why);
    const bool   ok = t && rd_schedule_residue(t, rd_speeds_here(), r);

    rd_schedule_free(t);
    return ok;
}

/* Adds all instructions to the scalar residue: the reference interpreter runs each for one element
 * at a time. */
static void add_reference(const rd_program *p, rd_residue *r)
{
    char name[RD_RESIDUE_NAME];

    for (int32_t i = 0; i < p->n_inst; i++) {
        const double times = rd_program_times(p, i);

        if (p->inst[i].kind == RD_I_LOOP || p->inst[i].kind == RD_I_END)
            continue;
        rd_residue_inst(p, &p->inst[i], name);
        rd_residue_add(r, RD_RESIDUE_interpreted, name, times,
                       times * rd_speeds_here()->interpreted);
    }
}

/* Finds the scalar residue of the program in a form, which is what runs element by element with its
 * predicted time: rd_backend_table.residue.  False: no memory. */
bool rd_cpu_residue(const rd_program *p, rd_form_kind kind, rd_get_fn *get, void *pool,
                    rd_residue *r)
{
    *r = (rd_residue){ 0 };
    switch (kind) {
    case RD_FORM_NEST: return add_nest(p, get, pool, r);
    case RD_FORM_TILES: rd_tile_residue(p, p->code, rd_speeds_here(), r); return true;
    case RD_FORM_REFERENCE: add_reference(p, r); return true;
    default: return true;
    }
}
