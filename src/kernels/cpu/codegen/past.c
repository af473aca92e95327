/* past.c - results so large that they leave the caches before anybody reads them again are stored
 * past these: a plain store would first read the line, a third of what x + y moves. */
#include "kernels/cpu/codegen/parts.h"
#include "core/caches.h"
#include <inttypes.h>

/* Fewer bytes of a strip are not worth the two lines at its ends. */
enum { LEAST = 256 };

/* For tests. */
static int64_t forced;

void rd_codegen_force_past(int64_t bytes)
{
    forced = bytes;
}

static bool is_loaded(const rd_codegen *n, int32_t slot)
{
    for (int32_t i = 0; i < n->p->n_inst; i++)
        if (n->p->inst[i].kind == RD_I_LOAD && n->p->address[n->p->inst[i].arg].slot == slot)
            return true;
    return false;
}

bool rd_goes_past(const rd_codegen *n, const rd_region *r, int32_t i)
{
    const rd_inst    *inst = &n->p->inst[i];
    const rd_address *at   = inst->kind == RD_I_STORE ? &n->p->address[inst->arg] : NULL;

    if (!at || at->slot >= n->p->first_scratch || rd_coef(at, r->axis) != 1 ||
        rd_reach(n->p, r->axis) * rd_dtype_size(at->type) < LEAST || is_loaded(n, at->slot))
        return false;
    return rd_bytes_along(n, at) >= (forced ? (double)forced : (double)RD_STREAM_BYTES);
}

bool rd_any_goes_past(const rd_codegen *n, const rd_region *r)
{
    bool any = false;

    for (int32_t i = r->from; i < r->to; i++)
        any |= rd_goes_past(n, r, i);
    return any;
}

/* Its array holds a part of the strip. */
static bool by_parts(const rd_codegen *n)
{
    return rd_strip_room(n) > RD_PART;
}

void rd_add_past(rd_codegen *n, int32_t i)
{
    const rd_inst    *inst   = &n->p->inst[i];
    const rd_address *at     = &n->p->address[inst->arg];
    const char       *type   = rd_memory_type(at->type);
    const int32_t     number = ++n->names; /* rows that go together have one each */
    const bool        parts  = by_parts(n);
    rd_text          *to     = rd_strip_loop(n);

    rd_text_add(&n->before, "%*s%s o%" PRId32 "[%d] LINES;\n", 4 * n->indent, "", type, number,
                parts ? RD_PART : rd_strip_room(n));
    rd_text_add(to, " o%" PRId32 "[i%s] = ", number, parts ? " - part" : "");
    rd_add_stored(n, to, at->type, inst->a);
    rd_text_add(to, ";");
    rd_text_add(&n->after, "%*srd_past((char *)((%s *)m%" PRId32 " + ", 4 * n->indent, "", type,
                at->slot);
    rd_position_of_strip(n, &n->after, at);
    rd_text_add(&n->after, "%s), (const char *)o%" PRId32 ", %s * %d);\n", parts ? " + part" : "",
                number, parts ? "(end - part)" : "n", rd_dtype_size(at->type));
    n->arrays = n->past = true;
}

void rd_add_loop_past(rd_codegen *n)
{
    const char *inside = n->inside.at, *after = n->after.at;

    if (!by_parts(n)) {
        rd_text_add(n->to, "%*sINDEPENDENT for (int64_t i = 0; i < n; i++) {%s }\n%s",
                    4 * n->indent, "", inside, after);
        return;
    }
    rd_line(n, "for (int64_t part = 0; part < n; part += %d) {", RD_PART);
    rd_line(n, "const int64_t end = LESS(part + %d, n);", RD_PART);
    rd_text_add(n->to, "%*sINDEPENDENT for (int64_t i = part; i < end; i++) {%s }\n%s",
                4 * n->indent, "", inside, after);
    rd_line(n, "}");
}

void rd_add_over_line(rd_codegen *n, rd_text *to)
{
    const rd_region *r = n->here;

    for (int32_t i = r->from; i < r->to; i++) {
        const rd_address *at;

        if (n->p->inst[i].loop != r->loop || r->around || !rd_goes_past(n, r, i))
            continue;
        at = &n->p->address[n->p->inst[i].arg];
        rd_text_add(to, " - OVER_LINE((%s *)m%" PRId32 " + ", rd_memory_type(at->type), at->slot);
        rd_position_of_strip(n, to, at);
        rd_text_add(to, ")");
        return;
    }
}
