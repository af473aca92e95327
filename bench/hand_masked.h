/* hand_masked.h - (a, b, c) reduced over axis 0, axis 2 or all by the elements that a mask leaves,
 * or by weights.  Any extents, but a is a multiple of 8.  Included for each type.
 *
 * One set of loops: `fold` and `form` are constants wherever it is inlined.  An element that is
 * left out is a lane of a mask: no branch. */

#ifndef HAND_MASKED_H
#define HAND_MASKED_H
enum form { FORM_plain, FORM_skip_nan, FORM_where, FORM_where_gt, FORM_weights };
enum fold {
    FOLD_sum,
    FOLD_mean,
    FOLD_var,
    FOLD_max,
    FOLD_argmax,
    FOLD_lse,
    FOLD_exps,
    FOLD_welford,  /* mean and variance */
    FOLD_top3,     /* the three greatest, the greatest first */
    FOLD_geometric /* geometric mean of in0 + 1 */
};

/* Vectors of columns that a thread walks down at a time; elements of a run between two spills of
 * its accumulators into doubles. */
enum { MASKED_BLOCK = 256, MASKED_CHUNK = 4096 };

/* The result of some elements: sum of values (less a base), of their squares or exps (less the
 * greatest), of weights or their number; the greatest and where.  Of top3 s, q, n are the three. */
typedef struct folded {
    double  s, q, n, most, base;
    int64_t at;
} folded;

static void insert_folded(folded *a, double x)
{
    a->n = fmax(a->n, fmin(a->q, x));
    a->q = fmax(a->q, fmin(a->s, x));
    a->s = fmax(a->s, x);
}

/* b's elements follow a's. */
static void join_folded(enum fold fold, folded *a, const folded *b)
{
    const double most = fmax(a->most, b->most);

    if (fold == FOLD_top3) {
        insert_folded(a, b->s);
        insert_folded(a, b->q);
        insert_folded(a, b->n);
        return;
    }
    if (fold == FOLD_argmax && b->most > a->most)
        a->at = b->at;
    if (fold == FOLD_lse && most > -INFINITY)
        a->q = a->q * exp(a->most - most) + b->q * exp(b->most - most);
    else
        a->q += b->q;
    a->s += b->s;
    a->n += b->n;
    a->most = most;
}
/* A thread's share, the k-th of a->threads; what it found goes to *f, or into the result. */
typedef void masked_share(const hand_args *a, int k, folded *f);

/* The share is a function of its own: constants do not reach into a parallel region. */
static void each_share(const hand_args *a, masked_share *share, folded *f)
{
#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int k = 0; k < a->threads; k++)
        share(a, k, &f[k]);
}
#endif

/* ---- Elements -------------------------------------------------------------------------------- */
typedef REAL F(u) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL)), may_alias));
#define LOAD_ANY(p) ((V)(*(const F(u) *)(p)))

/* Values, which of them take part, and weights: 1 where there are none. */
typedef struct F(item) {
    V v, w;
    M m;
} F(item);

/* n elements from x, at most LANES. */
INLINE F(item) F(item_at)(enum form form, const REAL *x, const bool *where, V w, int64_t n)
{
    F(item) i = { .w = w, .m = F(first)(n) };

    if (n == LANES)
        i.v = LOAD_ANY(x);
    else
        i.v = F(part)(x, i.m);
    if (form == FORM_skip_nan)
        i.m &= F(numbers)(i.v);
    if (form == FORM_where)
        i.m = F(trues)(where, n);
    if (form == FORM_where_gt)
        i.m &= F(beyond)(i.v, SPLAT(0.4));
    return i;
}

/* ---- Accumulators, lane by lane -------------------------------------------------------------- */
typedef struct F(state) {
    V s, q, n; /* of max, argmax and lse s is the greatest so far */
    W at;
} F(state);

INLINE F(state) F(no_elements)(enum fold fold)
{
    F(state) t = { 0 };

    if (fold == FOLD_max || fold == FOLD_argmax || fold == FOLD_lse)
        t.s = SPLAT(-INFINITY);
    if (fold == FOLD_top3)
        t.s = t.q = t.n = SPLAT(-INFINITY);
    t.at -= 1;
    return t;
}

INLINE void F(insert)(F(state) * t, V x)
{
    t->n = F(max)(t->n, F(min)(t->q, x));
    t->q = F(max)(t->q, F(min)(t->s, x));
    t->s = F(max)(t->s, x);
}

INLINE void F(step)(enum fold fold, enum form form, F(state) * t, const F(item) * i, V base,
                    W index)
{
    V d = i->v, w;
    M m;

    if (fold == FOLD_var || fold == FOLD_welford)
        d -= base;
    if (fold == FOLD_geometric)
        d = F(log)(d + 1);
    w = d * i->w;

    switch (fold) {
    case FOLD_max: t->s = F(max)(t->s, F(select)(i->m, d, t->s)); return;
    case FOLD_argmax:
        m     = i->m & F(beyond)(d, t->s);
        t->s  = F(select)(m, d, t->s);
        t->at = F(choose)(m, index, t->at);
        return;
    case FOLD_exps: t->q += F(where)(i->m, F(exp)(d - base) * i->w); return;
    case FOLD_top3: F(insert)(t, F(select)(i->m, d, SPLAT(-INFINITY))); return;
    default: break;
    }
    t->s += F(where)(i->m, w);
    if (fold == FOLD_var || fold == FOLD_welford)
        t->q += F(where)(i->m, w * d);
    if (fold != FOLD_sum && form != FORM_plain)
        t->n += F(where)(i->m, i->w);
}

/* Sums of exp(x - m), m the greatest so far: one correction for 8 vectors.  Lanes that had no
 * element before have none to correct. */
INLINE void F(step_exps)(F(state) * t, const F(item) * i)
{
    const M had  = F(beyond)(t->s, SPLAT(-INFINITY));
    V       most = t->s, sum = SPLAT(0);

    UNROLL(8)
    for (int u = 0; u < 8; u++)
        most = F(max)(most, F(select)(i[u].m, i[u].v, most));
    UNROLL(8)
    for (int u = 0; u < 8; u++)
        sum += F(where)(i[u].m, F(exp)(i[u].v - most) * i[u].w);
    t->q = sum + F(where)(had, t->q * F(exp)(t->s - most));
    t->s = most;
}

/* ---- Along a run ----------------------------------------------------------------------------- */
/* The three greatest of all lanes: the greatest of each lane stands first, so taking it away three
 * times is enough. */
INLINE folded F(top_of)(F(state) t)
{
    double three[3];
    W      lane = { 0 };

    for (int k = 0; k < LANES; k++)
        lane[k] = k;
    for (int u = 0; u < 3; u++) {
        const REAL most = F(highest)(t.s);
        const W    at   = (W)(t.s == SPLAT(most));
        const W    one  = (W)(lane == F(lowest)((at & lane) | (~at & LANES)));

        three[u] = (double)most;
        t.s      = (V)(((W)t.q & one) | ((W)t.s & ~one));
        t.q      = (V)(((W)t.n & one) | ((W)t.q & ~one));
        t.n      = (V)(((W)SPLAT(-INFINITY) & one) | ((W)t.n & ~one));
    }
    return (folded){ .s = three[0], .q = three[1], .n = three[2] };
}

INLINE folded F(total_of)(enum fold fold, F(state) * t)
{
    folded f = { .most = -INFINITY, .at = -1 };

    if (fold == FOLD_max || fold == FOLD_argmax) {
        const V top = F(max)(F(max)(t[0].s, t[1].s), F(max)(t[2].s, t[3].s));
        W       at  = { 0 };

        f.most = (double)F(highest)(top);
        if (fold == FOLD_max || f.most == -INFINITY)
            return f;
        at += INT32_MAX; /* beyond every index */
        UNROLL(4)
        for (int u = 0; u < 4; u++) {
            const W first = (W)(t[u].s == SPLAT(f.most)) & (W)(t[u].at < at);

            at = (first & t[u].at) | (~first & at);
        }
        f.at = F(lowest)(at);
        return f;
    }
    if (fold == FOLD_top3) {
        for (int u = 1; u < 4; u++) {
            F(insert)(t, t[u].s);
            F(insert)(t, t[u].q);
            F(insert)(t, t[u].n);
        }
        return F(top_of)(t[0]);
    }
    f.s = F(total)((t[0].s + t[1].s) + (t[2].s + t[3].s));
    f.q = F(total)((t[0].q + t[1].q) + (t[2].q + t[3].q));
    f.n = F(total)((t[0].n + t[1].n) + (t[2].n + t[3].n));
    return f;
}

/* n elements from the i-th, at most LANES. */
INLINE void F(step_at)(enum fold fold, enum form form, F(state) * t, const REAL *x,
                       const bool *where, const REAL *w, int64_t i, int64_t n, REAL base)
{
    F(item) it = F(item_at)(form, x + i, where + i, SPLAT(1), n);
    W lane     = { 0 };

    for (int k = 0; k < LANES; k++)
        lane[k] = k;
    if (form == FORM_weights && n == LANES)
        it.w = LOAD_ANY(w + i);
    else if (form == FORM_weights)
        it.w = F(part)(w + i, it.m);
    F(step)(fold, form, t, &it, SPLAT(base), lane + (INT)i);
}

/* n elements, at most MASKED_CHUNK. */
INLINE folded F(along)(enum fold fold, enum form form, const REAL *x, const bool *where,
                       const REAL *w, int64_t n, REAL base)
{
    F(state) t[4];
    int64_t i = 0;

    for (int k = 0; k < 4; k++)
        t[k] = F(no_elements)(fold);
    for (; i + 4 * LANES <= n; i += 4 * LANES)
        UNROLL(4)
    for (int k = 0; k < 4; k++)
        F(step_at)(fold, form, &t[k], x, where, w, i + k * LANES, LANES, base);
    for (; i + LANES <= n; i += LANES)
        F(step_at)(fold, form, &t[0], x, where, w, i, LANES, base);
    if (i < n)
        F(step_at)(fold, form, &t[1], x, where, w, i, n - i, base);
    return F(total_of)(fold, t);
}

/* Chunk by chunk; a chunk's greatest element first, where exps are wanted. */
INLINE folded F(along_chunks)(enum fold fold, enum form form, const REAL *x, const bool *where,
                              const REAL *w, int64_t n, REAL base)
{
    folded f = { .most = -INFINITY, .at = -1, .base = (double)base };

    if (fold == FOLD_top3)
        f.s = f.q = f.n = -INFINITY;
    for (int64_t i = 0; i < n; i += MASKED_CHUNK) {
        const int64_t some = i + MASKED_CHUNK < n ? MASKED_CHUNK : n - i;
        const bool   *here = form == FORM_where ? where + i : where;
        folded        part = F(along)(fold == FOLD_lse ? FOLD_max : fold,
                               form == FORM_weights && fold == FOLD_lse ? FORM_plain : form, x + i,
                               here, w + i, some, base);

        if (fold == FOLD_lse && part.most > -INFINITY)
            part.q = F(along)(FOLD_exps, form, x + i, here, w + i, some, (REAL)part.most).q;
        part.at += part.at < 0 ? 0 : i;
        join_folded(fold, &f, &part);
    }
    return f;
}

/* A run, with n set where the mask does not count. */
INLINE folded F(run_of)(enum fold fold, enum form form, const hand_args *a, int64_t start,
                        int64_t n)
{
    const REAL *x     = (const REAL *)a->in[0] + start;
    const REAL *first = a->dims == 4 ? x : a->in[0]; /* one base for what is joined */
    const REAL  base  = isnan(first[0]) ? 0 : first[0];
    folded f = F(along_chunks)(fold, form, x, (const bool *)a->in[1] + start, a->in[1], n, base);

    if (form == FORM_plain && fold != FOLD_top3)
        f.n = (double)n;
    return f;
}

INLINE void F(put)(enum fold fold, const folded *f, void *out, int64_t i)
{
    const double mean = f->s / f->n, var = f->q / f->n - mean * mean;
    REAL        *y = out;

    switch (fold) {
    case FOLD_sum: y[i] = (REAL)f->s; return;
    case FOLD_mean: y[i] = (REAL)mean; return;
    case FOLD_var: y[i] = (REAL)var; return;
    case FOLD_max: y[i] = (REAL)(f->most > -INFINITY ? f->most : NAN); return;
    case FOLD_argmax: ((int64_t *)out)[i] = f->at; return;
    case FOLD_geometric: y[i] = (REAL)exp(mean); return;
    case FOLD_welford:
        y[2 * i]     = (REAL)(f->base + mean);
        y[2 * i + 1] = (REAL)var;
        return;
    case FOLD_top3:
        y[3 * i]     = (REAL)f->s;
        y[3 * i + 1] = (REAL)f->q;
        y[3 * i + 2] = (REAL)f->n;
        return;
    default: y[i] = (REAL)(f->most + log(f->q)); return;
    }
}

INLINE void F(masked_rows)(enum fold fold, enum form form, const hand_args *a, int k)
{
    const int64_t rows = a->shape[0] * a->shape[1], n = a->shape[2];
    const int64_t end = rows * (k + 1) / a->threads;

    for (int64_t i = rows * k / a->threads; i < end; i++) {
        const folded f = F(run_of)(fold, form, a, i * n, n);

        F(put)(fold, &f, a->out[0], i);
    }
}

/* A weight of axis 1 is one of a whole row: it multiplies the row's sums. */
INLINE folded F(weighted_row)(enum fold fold, const hand_args *a, int64_t i, double base)
{
    const int64_t b = a->shape[1], c = a->shape[2];
    const double  w = (double)((const REAL *)a->in[1])[i % b];
    folded f = F(along_chunks)(fold, FORM_plain, (const REAL *)a->in[0] + i * c, NULL, NULL, c,
                               (REAL)base);

    f.s *= w;
    f.q *= w;
    f.n = w * (double)c;
    return f;
}

INLINE void F(masked_all)(enum fold fold, enum form form, const hand_args *a, int k, folded *f)
{
    const int64_t rows = a->shape[0] * a->shape[1], c = a->shape[2];
    const double  base  = (double)((const REAL *)a->in[0])[0];
    const int64_t start = rows * k / a->threads, end = rows * (k + 1) / a->threads;

    if (form != FORM_weights) {
        *f = F(run_of)(fold, form, a, start * c, (end - start) * c);
        f->at += f->at < 0 ? 0 : start * c;
        return;
    }
    *f = (folded){ .most = -INFINITY };
    for (int64_t i = start; i < end; i++) {
        const folded row = F(weighted_row)(fold, a, i, base);

        join_folded(fold, f, &row);
    }
}
