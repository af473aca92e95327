/* fetch.c - what is fetched ahead: along rows that a fold takes by lanes; and rows that are gone
 * over more than once, or in parts, of which several loops compute: while they do, memory would
 * have nothing to do, so the next row is fetched. */
#include "kernels/cpu/codegen/parts.h"
#include "kernels/cpu/simd/simd.h"
#include "core/caches.h"
#include <inttypes.h>

/* Loads of the same elements in loops of the same row before the region. */
static int32_t loads_before(const rd_codegen *n, int32_t load, int32_t row)
{
    const rd_address *at    = &n->p->address[n->p->inst[load].arg];
    int32_t           count = 0;

    for (int32_t i = n->p->loop[row].begin; i < n->here->from; i++)
        count += n->p->inst[i].kind == RD_I_LOAD &&
                 n->p->address[n->p->inst[i].arg].slot == at->slot &&
                 rd_same_address(&n->p->address[n->p->inst[i].arg], at);
    return count;
}

double rd_bytes_along(const rd_codegen *n, const rd_address *at)
{
    double bytes = rd_has_registers(at) ? 0 : (double)rd_dtype_size(at->type);

    for (int32_t k = 0; k < at->n_add && bytes > 0; k++)
        bytes *= (double)n->p->axis_extent[at->add[k].axis];
    return bytes;
}

/* Rows that a fold takes by lanes, whole lines at a time: where a processor stops between rows and
 * pages it goes on by this, as in kernels (simd/fetch.c).  Lower triangle of 8192 x 8192 f32, sums
 * of rows: 1.43 of the loop by hand without, 1.18 with. */
static void fetch_along(rd_codegen *n, int32_t load)
{
    enum { DISTANCE = 2048, LEAST = 256 }; /* bytes */
    const rd_address *at   = &n->p->address[n->p->inst[load].arg];
    const int32_t     size = rd_dtype_size(at->type);

    if (!rd_fetches_rows || n->unrolled || n->here->one || n->padded || !n->here->fixed ||
        n->strip * size < LEAST || rd_coef(at, n->here->axis) != 1 || n->stored[at->slot] ||
        !rd_has_lanes(n, n->here) || rd_bytes_along(n, at) <= RD_CACHED_BYTES)
        return;
    rd_text_add(&n->before, "%*sFETCH((const %s *)m%" PRId32 " + ", 4 * n->indent, "",
                rd_memory_type(at->type), at->slot);
    rd_position_of_strip(n, &n->before, at);
    rd_text_add(&n->before, " + %d, n)\n", DISTANCE / size);
}

/* A row that several loops of an item read: the next one, whole. */
static void fetch_row(rd_codegen *n, int32_t load)
{
    const rd_address *at    = &n->p->address[n->p->inst[load].arg];
    const bool        parts = n->part >= 0;
    const int32_t     row   = parts                ? n->part
                              : n->here->loop >= 0 ? n->p->loop[n->here->loop].parent
                                                   : -1;
    const int64_t     coef  = row >= 0 ? rd_coef(at, n->p->loop[row].axis) : 0;
    const double      bytes = (double)rd_reach(n->p, n->here->axis) * rd_dtype_size(at->type);

    if (coef == 0 || n->unrolled || rd_coef(at, n->here->axis) != 1 || n->stored[at->slot] ||
        bytes * 4 > RD_L2_BYTES || bytes * (double)rd_trips(n->p, row) < RD_CACHED_BYTES ||
        loads_before(n, load, row) != (parts ? 0 : 1) || rd_has_registers(at))
        return;
    rd_text_add(&n->before, "%*sFETCH((const %s *)m%" PRId32 " + ", 4 * n->indent, "",
                rd_memory_type(at->type), at->slot);
    rd_position_of_strip(n, &n->before, at);
    rd_text_add(&n->before, " + ");
    rd_number_text(n, &n->before, coef);
    rd_text_add(&n->before, ", n)\n");
}

void rd_add_fetch(rd_codegen *n, int32_t load)
{
    fetch_row(n, load);
    fetch_along(n, load);
}

/* ---- Rows that go together ------------------------------------------------------------------- */
/* Side by side they are as many streams, which memory serves more slowly than one, and some
 * processors stop between rows of 4 KiB.  So while some rows are computed, as many behind them
 * are fetched in the order in which they lie, a part of a row at a time.  Where processors gain
 * by it (simd/fetch.c).  On a Zen 4, f64, 8192 x 8192, largest of columns, of the loop by hand:
 * 1.45 without, 1.10 with. */
static bool comes_in_rows(const rd_codegen *n, int32_t loop, int32_t i)
{
    enum { LEAST = 4 }; /* bytes of an element: a part of narrow ones would be no vectors */
    const rd_address *at =
        n->p->inst[i].kind == RD_I_LOAD ? &n->p->address[n->p->inst[i].arg] : NULL;

    if (!at || rd_coef(at, n->here->axis) != 1 || !rd_coef(at, n->p->loop[loop].axis) ||
        n->stored[at->slot] || rd_dtype_size(at->type) < LEAST)
        return false;
    for (int32_t k = n->p->inst[i].loop; k != loop; k = n->p->loop[k].parent)
        if (n->p->loop[k].axis != n->here->axis && rd_coef(at, n->p->loop[k].axis))
            return false;
    return rd_bytes_along(n, at) > RD_CACHED_BYTES;
}

bool rd_fetches_ahead(const rd_codegen *n, int32_t loop)
{
    if (!rd_fetches_rows_behind || !n->here || !n->here->wide || n->jam >= 0 || n->unrolled)
        return false;
    for (int32_t i = n->p->loop[loop].begin + 1; i < n->p->loop[loop].end; i++)
        if (comes_in_rows(n, loop, i))
            return true;
    return false;
}

/* Is it the first load of these elements in the loop? */
static bool is_first(const rd_codegen *n, int32_t loop, int32_t load)
{
    for (int32_t i = n->p->loop[loop].begin + 1; i < load; i++)
        if (n->p->inst[i].kind == RD_I_LOAD &&
            rd_same_address(&n->p->address[n->p->inst[i].arg],
                            &n->p->address[n->p->inst[load].arg]))
            return false;
    return true;
}

void rd_add_ahead(rd_codegen *n, int32_t loop, int rows)
{
    for (int32_t i = n->p->loop[loop].begin + 1; i < n->p->loop[loop].end; i++) {
        const rd_address *at = &n->p->address[n->p->inst[i].arg];

        if (!comes_in_rows(n, loop, i) || !is_first(n, loop, i))
            continue;
        rd_text_add(&n->before, "%*sconst %s *const ahead%" PRId32 " = (const %s *)m%" PRId32 " + ",
                    4 * n->indent, "", rd_memory_type(at->type), i, rd_memory_type(at->type),
                    at->slot);
        rd_position_of_strip(n, &n->before, at);
        rd_text_add(&n->before, ";\n%*sint64_t row%" PRId32 " = %d, at%" PRId32 " = 0;\n",
                    4 * n->indent, "", i, rows, i);
        rd_text_add(&n->fetched, " FETCH_ROWS(ahead%" PRId32 ", row%" PRId32 ", at%" PRId32 ", ", i,
                    i, i);
        rd_number_text(n, &n->fetched, rd_coef(at, n->p->loop[loop].axis));
        rd_text_add(&n->fetched, ", %d, n)", rows);
    }
}

void rd_add_loop_ahead(rd_codegen *n)
{
    rd_line(n, "int64_t part = 0;");
    rd_line(n, "for (; part + AHEAD <= n; part += AHEAD) {");
    n->indent++;
    rd_line(n, "%s", n->fetched.at + 1);
    rd_line(n, "INDEPENDENT for (int64_t i = part; i < part + AHEAD; i++) {%s }", n->inside.at);
    n->indent--;
    rd_line(n, "}");
    rd_line(n, "INDEPENDENT for (int64_t i = part; i < n; i++) {%s }", n->inside.at);
}
