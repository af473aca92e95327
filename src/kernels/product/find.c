/* find.c - recognises programs that are matrix products.
 *
 * A fold is a reduction; STEP gives it an element, CLOSE makes its result.
 *
 *     r0 = s0[i2 + 64*i0], r1 = s1[i1 + 32*i2], fold0 takes r0 * r1, s2[i1 + 32*i0] = r2
 *
 * Words. Scratch is temporary memory of a task. */
#include "kernels/product/product.h"

/* The instructions of a product, each once; loops stand around them. */
typedef struct product_parts {
    const rd_inst *load[2], *step, *close, *store;
    int32_t        n_load; /* loads found */
} product_parts;

/* Sets *place to the instruction; true if it was NULL, so that this is the first of its kind. */
static bool is_first(const rd_inst **place, const rd_inst *inst)
{
    const bool first = !*place;

    *place = inst;
    return first;
}

/* Notes an instruction in *found: a matrix product has two loads, a STEP (the sum takes an
 * element), a CLOSE (it makes the result) and a store. False if a product has no such
 * instruction, or has it already. Loops, and the START of the sum, need no note. */
static bool note_instruction(product_parts *found, const rd_inst *inst)
{
    switch (inst->kind) {
    case RD_I_LOOP:
    case RD_I_END:
    case RD_I_START: return true;
    case RD_I_LOAD: return found->n_load < 2 && is_first(&found->load[found->n_load++], inst);
    case RD_I_STEP: return is_first(&found->step, inst);
    case RD_I_CLOSE: return is_first(&found->close, inst);
    case RD_I_STORE: return is_first(&found->store, inst);
    default: return false;
    }
}

/* True if the reduction takes the product of the two loaded values (in either order, without a
 * mask: c < 0), and what is stored is its result. a, b, c, dst are registers. */
static bool multiplies_loads(const product_parts *f)
{
    const int32_t a = f->load[0]->dst, b = f->load[1]->dst, x = f->step->a, y = f->step->b;

    return ((x == a && y == b) || (x == b && y == a)) && f->step->c < 0 &&
           f->store->a == f->close->dst;
}

/* True if the reduction is a sum of products of f32 or f64, in its own type and not a scan. The
 * law `commutes` says that terms may be reordered, as a library adds in an order of its own. */
static bool is_sum_of_products(const rd_fold *f)
{
    return rd_reducer_multiplies(f->reducer) && f->law == RD_LAW_commutes && !f->scan &&
           f->out == f->type && (f->type == RD_F32 || f->type == RD_F64);
}

/* Finds the instructions of a matrix product in a program: c[..] = sum of a[..] * b[..]. False:
 * the program has other instructions or reductions, or lacks one of these. */
static bool find_parts(const rd_program *p, product_parts *found)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (!note_instruction(found, &p->inst[i]))
            return false;
    return p->n_fold == 1 && is_sum_of_products(&p->fold[0]) && found->n_load == 2 && found->step &&
           found->close && found->store && multiplies_loads(found);
}

/* True if the access is to a buffer of the caller's or of a stage, not to scratch (temporary
 * memory of a task), in the type of the sum. It is no gather (axis < 0: an index from a
 * register), and no index counts from the begin of a tile (local). */
static bool is_plain_access(const rd_program *p, const rd_address *a)
{
    for (int32_t t = 0; t < a->n_add; t++)
        if (a->add[t].axis < 0 || a->add[t].local)
            return false;
    return a->type == p->fold[0].type && a->slot < p->first_scratch;
}

/* Returns how many elements an address moves for one index of the axis: the sum of its
 * coefficients. */
static int64_t step_along(const rd_address *a, int32_t axis)
{
    int64_t step = 0;

    for (int32_t t = 0; t < a->n_add; t++)
        step += a->add[t].axis == axis ? a->add[t].coef : 0;
    return step;
}

/* True if a loop of the program runs over the axis. */
static bool is_looped(const rd_program *p, int32_t axis)
{
    for (int32_t k = 0; k < p->n_loop; k++)
        if (p->loop[k].axis == axis)
            return true;
    return false;
}

/* Adds an axis of the program, with the strides of c, a and b along it. at[] are the addresses of
 * c, a and b. False if only one matrix has it (or none): a sum over an axis of one matrix alone is
 * no product. */
static bool add_axis(rd_product *product, const rd_program *p, const rd_address *const *at,
                     int32_t number)
{
    rd_product_axis *axis = &product->axis[product->n_axis++];
    int              has  = 0;

    axis->number = number;
    axis->extent = p->axis_extent[number];
    for (int m = 0; m < RD_MATRICES; m++) {
        axis->step[m] = step_along(at[m], number);
        has += axis->step[m] != 0;
    }
    return has >= 2;
}

/* Finds the matrices of a program that is a product, and their strides along each axis.  Axes of
 * extent 1, or without a loop, are left out. *to NULL: it is none.  False: no memory. */
bool rd_product_find(const rd_program *p, rd_get_fn *get, void *pool, rd_product **to)
{
    product_parts     found = { .n_load = 0 };
    const rd_address *at[RD_MATRICES];
    rd_product       *product;

    *to = NULL;
    if (!find_parts(p, &found))
        return true;
    at[RD_C] = &p->address[found.store->arg];
    at[RD_A] = &p->address[found.load[0]->arg];
    at[RD_B] = &p->address[found.load[1]->arg];
    product  = get(pool, sizeof *product);
    if (!product || !(product->axis = get(pool, (size_t)(p->n_axis + 1) * sizeof *product->axis)))
        return false;
    product->type = p->fold[0].type;
    for (int m = 0; m < RD_MATRICES; m++) {
        product->matrix[m] = (rd_matrix){ at[m]->slot, at[m]->offset };
        if (!is_plain_access(p, at[m]))
            return true;
    }
    for (int32_t a = 0; a < p->n_axis; a++)
        if (p->axis_extent[a] > 1 && is_looped(p, a) && !add_axis(product, p, at, a))
            return true;
    *to = product;
    return true;
}
