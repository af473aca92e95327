/* packs.c - accesses of several elements side by side (strips.c): "x5[u] = rd_take<float, 4>(..)"
 * in front of what is done with them, "rd_put(.., y7)" behind it. */
#include "kernels/cuda/text.h"
#include <inttypes.h>

int32_t rd_cuda_packed(const rd_cuda_text *t, int32_t inst)
{
    for (int32_t k = 0; t->packs && k < t->packs->n; k++)
        if (t->packs->inst[k] == inst)
            return t->packs->each[k];
    return 0;
}

static const rd_address *address_of(const rd_cuda_text *t, int32_t inst)
{
    return &t->s->p->address[t->s->p->inst[inst].arg];
}

static bool is_load(const rd_cuda_text *t, int32_t inst)
{
    return t->s->p->inst[inst].kind == RD_I_LOAD;
}

static void note_pack(rd_cuda_text *t, const rd_address *at)
{
    t->packed |= UINT64_C(1) << (at->slot & 63);
}

/* ---- Loads ----------------------------------------------------------------------------------- */
void rd_cuda_declare_takes(rd_cuda_text *t, const rd_cuda_packs *packs)
{
    const int32_t times = t->apart ? 2 : 1;

    for (int32_t k = 0; k < packs->n; k++)
        if (is_load(t, packs->inst[k]))
            rd_cuda_line(t, "rd_pack<%s, %" PRId32 "> x%" PRId32 "[%" PRId32 "];",
                         rd_memory_type(address_of(t, packs->inst[k])->type), packs->each[k],
                         packs->inst[k], times * packs->ahead);
}

void rd_cuda_write_takes(rd_cuda_text *t, const rd_cuda_packs *packs)
{
    for (int32_t k = 0; k < packs->n; k++) {
        const int32_t     i  = packs->inst[k];
        const rd_address *at = address_of(t, i);

        if (!is_load(t, i))
            continue;
        rd_text place = rd_cuda_position(t, at);

        rd_cuda_line(t, "x%" PRId32 "[%s] = %s<%s, %" PRId32 ">(&((const %s *)m%" PRId32 ")[%s]);",
                     i, t->apart ? "2 * u + l" : "u",
                     packs->anywhere[k] ? "rd_take_each" : "rd_take", rd_memory_type(at->type),
                     packs->each[k], rd_memory_type(at->type), at->slot, place.at ? place.at : "");
        rd_text_free(&place);
        if (packs->each[k] > 1 && !packs->anywhere[k])
            note_pack(t, at);
    }
}

/* ---- Stores ---------------------------------------------------------------------------------- */
static bool is_put(const rd_cuda_text *t, int32_t inst)
{
    return t->s->p->inst[inst].kind == RD_I_STORE && t->part != RD_PART_TOTALS;
}

bool rd_cuda_has_puts(const rd_cuda_text *t)
{
    bool some = false;

    for (int32_t k = 0; t->packs && k < t->packs->n; k++)
        some |= is_put(t, t->packs->inst[k]);
    return some;
}

void rd_cuda_declare_puts(rd_cuda_text *t)
{
    for (int32_t k = 0; t->packs && k < t->packs->n; k++)
        if (is_put(t, t->packs->inst[k]))
            rd_cuda_line(t, "rd_pack<%s, %" PRId32 "> y%" PRId32 ";",
                         rd_memory_type(address_of(t, t->packs->inst[k])->type), t->packs->each[k],
                         t->packs->inst[k]);
}

/* What all threads of a team have, one stores. */
void rd_cuda_write_puts(rd_cuda_text *t)
{
    const bool one = t->s->team > 1 && t->spread < 0;

    for (int32_t k = 0; t->packs && k < t->packs->n; k++) {
        const int32_t     i  = t->packs->inst[k];
        const rd_address *at = address_of(t, i);

        if (!is_put(t, i))
            continue;
        rd_text place = rd_cuda_position(t, at);

        if (one)
            rd_cuda_line(t, "RD_MEET if (t == 0)");
        rd_cuda_line(t, "%s(&((%s *)m%" PRId32 ")[%s], y%" PRId32 ");",
                     t->packs->anywhere[k] ? "rd_put_each" : "rd_put", rd_memory_type(at->type),
                     at->slot, place.at ? place.at : "", i);
        if (one)
            rd_cuda_line(t, "RD_MEET");
        rd_text_free(&place);
        if (!t->packs->anywhere[k])
            note_pack(t, at);
    }
}
