/* sparse_model.c - what index arrays mean, place by place. */
#include "fuzz/sparse_model.h"
#include <string.h>

void sparse_name_levels(sparse *s, fuzz_bytes *in)
{
    for (int k = 0; k < s->rank; k++) {
        sparse_level *l = &s->level[k];

        l->kind = s->format == COO ? RD_LEVEL_COORDINATES
                  : k == 0         ? RD_LEVEL_DENSE
                                   : RD_LEVEL_COMPRESSED;
        l->axis = s->format == CSC ? 1 - k : k;
        if (s->format != ANY_FORMAT)
            continue;
        const uint8_t how = fuzz_byte(in);

        l->kind = (rd_level_kind)(how % 3);
        l->axis = (k + how / 3 % 3) % s->rank;
        if (how >= 252)
            l->axis = (int)fuzz_number(in);
    }
}

int64_t sparse_value(const sparse *s, int64_t i)
{
    if (s->values == 1)
        i = 0;
    return s->type == RD_BOOL ? i % 3 != 1 : (i * 7 + 3) % 5 - 2;
}

static int64_t size_of(const sparse *s, int k)
{
    return s->extent[s->level[k].axis];
}

static bool names_each_axis(const sparse *s)
{
    int seen = 0;

    for (int k = 0; k < s->rank; k++) {
        if (s->level[k].axis < 0 || s->level[k].axis >= s->rank)
            return false;
        seen |= 1 << s->level[k].axis;
    }
    return seen == (1 << s->rank) - 1;
}

/* An index as the row holds it. */
static int64_t at(const sparse_level *l, const index_row *row, int64_t i)
{
    return l->wide ? row->at[i] : (int32_t)row->at[i];
}

int64_t sparse_places(const sparse *s)
{
    __int128 n = 1;

    if (!names_each_axis(s))
        return 1;
    for (int k = 0; k < s->rank && n >= 0; k++) {
        n = s->level[k].kind == RD_LEVEL_DENSE ? n * size_of(s, k) : s->level[k].crd.n;
        if (n > (int64_t)1 << 40)
            return (int64_t)1 << 40;
    }
    return n < 0 ? 0 : (int64_t)n;
}

/* ---- Lengths ------------------------------------------------------------------------------------------- */
static bool positions_right(const sparse_level *l, __int128 before)
{
    if (l->pos.n != before + 1 || at(l, &l->pos, 0) != 0 ||
        at(l, &l->pos, l->pos.n - 1) != l->crd.n)
        return false;
    for (int64_t i = 1; i < l->pos.n; i++)
        if (at(l, &l->pos, i) < at(l, &l->pos, i - 1))
            return false;
    return true;
}

static verdict judge_lengths(const sparse *s, __int128 *places)
{
    verdict v = TAKEN;

    *places = 1;
    for (int k = 0; k < s->rank; k++) {
        const sparse_level *l = &s->level[k];

        if (l->kind == RD_LEVEL_DENSE) {
            *places *= size_of(s, k);
            if (*places > INT64_MAX)
                return REFUSED;
            if (*places >= (int64_t)1 << 31)
                v = EITHER;
            continue;
        }
        if (l->odd || (l->kind == RD_LEVEL_COMPRESSED && !positions_right(l, *places)) ||
            (l->kind == RD_LEVEL_COORDINATES && k > 0 && l->crd.n != *places))
            return REFUSED;
        *places = l->crd.n;
    }
    return v;
}

static verdict judge_shape(const sparse *s, dense *d)
{
    __int128 n    = 1;
    bool     none = false;

    for (int a = 0; a < s->rank; a++) {
        if (s->extent[a] < 0)
            return REFUSED;
        none |= s->extent[a] == 0;
        n *= s->extent[a] ? s->extent[a] : 1;
        if (n > INT64_MAX)
            return REFUSED;
    }
    d->too_large = n > MOST_PLACES;
    d->n         = none ? 0 : (int64_t)n;
    return n > (int64_t)1 << 56 ? EITHER : TAKEN;
}

/* ---- Places -------------------------------------------------------------------------------------------- */
typedef struct walk {
    const sparse *s;
    dense        *d;
    int64_t       now[MOST_AXES], before[MOST_AXES], done;
    bool          outside, falls;
} walk;

static void put(walk *w)
{
    int64_t place = 0;
    int     k     = 0;

    while (k < w->s->rank && w->now[k] == w->before[k])
        k++;
    if (w->done > 0 && (k == w->s->rank || w->now[k] < w->before[k]))
        w->falls = true;
    memcpy(w->before, w->now, sizeof w->now);
    for (int a = 0; a < w->s->rank; a++)
        for (int j = 0; j < w->s->rank; j++)
            if (w->s->level[j].axis == a)
                place = place * w->s->extent[a] + w->now[j];
    if (!w->d->too_large)
        w->d->at[place] = sparse_value(w->s, w->done);
    w->done++;
}

static void visit(walk *w, int k, int64_t place);

static void visit_index(walk *w, int k, int64_t place, int64_t index)
{
    w->now[k] = index;
    if (index < 0 || index >= size_of(w->s, k))
        w->outside = true;
    else
        visit(w, k + 1, place);
}

static void visit(walk *w, int k, int64_t place)
{
    if (k == w->s->rank) {
        put(w);
        return;
    }
    const sparse_level *l    = &w->s->level[k];
    int64_t             from = place, to = place + 1;

    if (l->kind == RD_LEVEL_DENSE) {
        for (int64_t i = 0; i < size_of(w->s, k); i++)
            visit_index(w, k, place * size_of(w->s, k) + i, i);
        return;
    }
    if (l->kind == RD_LEVEL_COMPRESSED) {
        from = at(l, &l->pos, place);
        to   = at(l, &l->pos, place + 1);
    } else if (k == 0) {
        to = l->crd.n;
    }
    for (int64_t p = from; p < to; p++)
        visit_index(w, k, p, at(l, &l->crd, p));
}

verdict sparse_judge(const sparse *s, dense *d)
{
    walk     w = { .s = s, .d = d };
    __int128 places;
    verdict  v, of_lengths;

    if (!names_each_axis(s) || (v = judge_shape(s, d)) == REFUSED ||
        (of_lengths = judge_lengths(s, &places)) == REFUSED)
        return REFUSED;
    for (int64_t i = 0; i < d->n && !d->too_large; i++)
        d->at[i] = s->fill;
    if (s->values != 1 && s->values != places)
        return REFUSED;
    if (of_lengths == EITHER || places > MOST_PLACES) {
        d->too_large = true;
        return EITHER;
    }
    if (places > 0)
        visit(&w, 0, 0);
    return w.outside ? REFUSED : w.falls ? (s->trusted ? EITHER : REFUSED) : v;
}
