/* kept.h - the state of a row that comes in strips (kernels/first_few.h), and how it shrinks;
 * sort_kernels.h includes it once.
 *
 * Elements that may be among the first few are candidates, in the order of their places.  They are
 * put in order only now and then, and the first `most` stay.  So an element costs a comparison with
 * a bound, and one that comes before it a few instructions without a branch.  The bound is the last
 * of the first few as they were then.  If k are kept of n elements in any order, some k of the
 * next n come before that bound, so candidates are put in order again when the row is several times
 * as long (LONGER).
 *
 * Words: header (n, the place at which to put them in order, what comes in, the bound, whether they
 * are in order), then elements, then places of 32 bits. */

/* These elements become candidates: all; or all numbers, as the last one that is kept is NaN; or
 * those that come before the bound. */
enum { ALL_COME, NUMBERS_COME, BEFORE_COMES };

typedef struct kept {
    const rd_sorting *s;
    int64_t           n, most, room; /* candidates: now; that stay; that there is memory for */
    int64_t     copied; /* so many candidates have their elements at `x`; others are in the strip */
    int64_t     begin;  /* the strip's first place */
    int64_t     fronts; /* fronts of the strip's blocks that the state has; 0: none */
    const char *strip;  /* the strip's elements */
    const char *front;  /* its fronts */
    char       *x;      /* elements of the candidates */
    uint32_t   *place;  /* positions of the candidates in the row */
    uint64_t   *header;
    void       *bound;       /* an element; of narrow floats a key */
    int32_t     size, comes; /* bytes of an element; ALL_COME, NUMBERS_COME or BEFORE_COMES */
    bool        ordered;     /* the candidates are in order */
} kept;

/* Opens the state of a row at one of its strips (ranges of the row that come one after the other).
 * The state holds the candidates for the first few.  `begins`: it is the first strip, so the state
 * is empty. */
static kept open_kept(const rd_sorting *s, const rd_row_strip *strip, bool begins)
{
    uint64_t *const header = strip->state;
    const int64_t   room   = rd_first_few_room(s->kept);

    if (begins)
        memset(header, 0, RD_FIRST_FEW_HEADER * sizeof *header);
    return (kept){ .s       = s,
                   .n       = (int64_t)header[0],
                   .copied  = (int64_t)header[0],
                   .most    = s->kept,
                   .room    = room,
                   .begin   = strip->begin,
                   .strip   = strip->from,
                   .fronts  = strip->fronts,
                   .front   = (const char *)(header + rd_first_few_fronts(s->kept)),
                   .x       = (char *)(header + RD_FIRST_FEW_HEADER),
                   .place   = (uint32_t *)(void *)(header + RD_FIRST_FEW_HEADER + room),
                   .header  = header,
                   .bound   = header + 3,
                   .size    = rd_dtype_size(s->type),
                   .comes   = (int32_t)header[2],
                   .ordered = header[4] != 0 };
}

/* ---- Order ----------------------------------------------------------------------------------- */
/* Up to this number of keys are ordered by their ranks. */
enum { FEW_KEPT = 32 };

/* Finds the order of n <= most <= 32 keys: the sorted k-th is key order[k].  The rank of a key is
 * the number of keys that are less, or equal and before it.  No branch depends on keys, and `most`
 * is a constant, so vectors count all ranks at once; ranks behind n are not used. */
static ALWAYS void order_few(int most, int64_t n, uint32_t *key, uint32_t *order)
{
    uint32_t rank[FEW_KEPT] = { 0 };

    for (int64_t k = 0; k < n; k++)
        for (int i = 0; i < most; i++)
            rank[i] += (key[i] > key[k]) | ((key[i] == key[k]) & (i > k));
    for (int64_t i = 0; i < n; i++)
        order[rank[i]] = (uint32_t)i;
}

/* Finds the order of the candidates for the first few by 32-bit keys, which keys() makes: the
 * sorted k-th is candidate order[k].  Equal ones keep their order.  Up to 32 are ranked; more are
 * sorted as 64-bit keys with the number of the candidate in the low half. */
static void order_kept_32(const kept *f, found (*keys)(int64_t, const void *, uint32_t *, uint32_t),
                          uint32_t invert, uint32_t *order)
{
    uint32_t key[RD_FIRST_FEW_ROOM];
    uint64_t both[RD_FIRST_FEW_ROOM + 8], work[RD_FIRST_FEW_ROOM + 8];

    (void)keys(f->n, f->x, key, invert);
    if (f->n <= FEW_KEPT / 2) {
        order_few(FEW_KEPT / 2, f->n, key, order);
        return;
    }
    if (f->n <= FEW_KEPT) {
        order_few(FEW_KEPT, f->n, key, order);
        return;
    }
    for (int64_t i = 0; i < f->n; i++)
        both[i] = (uint64_t)key[i] << 32 | (uint64_t)i;
    sort_64(f->n, both, work);
    for (int64_t i = 0; i < f->n; i++)
        order[i] = (uint32_t)both[i];
}

/* Finds the order of the candidates by 64-bit keys: the sorted k-th is candidate order[k].  Up to
 * 256 are ranked by counting the keys before each one; more are sorted by radix, with their
 * numbers. */
static void order_kept_64(const kept *f, found (*keys)(int64_t, const void *, uint64_t *, uint64_t),
                          uint64_t invert, uint32_t *order)
{
    enum { RANKED = 256 };
    uint64_t       key[RD_FIRST_FEW_ROOM];
    pair_64        pairs[RD_FIRST_FEW_ROOM], work[RD_FIRST_FEW_ROOM];
    const pair_64 *sorted;

    (void)keys(f->n, f->x, key, invert);
    if (f->n <= RANKED) {
        for (int64_t k = 0; k < f->n; k++) {
            const uint64_t one    = key[k];
            uint64_t       before = 0;

            for (int64_t i = 0; i < k; i++)
                before += key[i] <= one;
            for (int64_t i = k + 1; i < f->n; i++)
                before += key[i] < one;
            order[before] = (uint32_t)k;
        }
        return;
    }
    for (int64_t i = 0; i < f->n; i++)
        pairs[i] = (pair_64){ key[i], (uint64_t)i };
    sorted = sort_pairs_64(f->n, pairs, work);
    for (int64_t i = 0; i < f->n; i++)
        order[i] = (uint32_t)sorted[i].place;
}

/* ROW(type, bits of its keys, its conversion, bits of its elements as a mask) */
#define ROW(name, bits, sign, mask, ...)                                                    \
    case RD_##name:                                                                         \
        order_kept_##bits(f, keys_##sign, f->s->facts->descending ? (key_##bits)(mask) : 0, \
                          order);                                                           \
        break;

/* Finds the order of the candidates by the macro ROW, which has the case of each type.  Bools are
 * ordered as bytes are, so two rows of the table make the same branch. */
static void order_kept(const kept *f, uint32_t *order)
{
    switch (f->s->type) {
        // NOLINTNEXTLINE(bugprone-branch-clone)
        ROWS_OF_WORDS
#define RD_DTYPE(...)
#define RD_NARROW_FLOAT ROW_OF_NARROW_FLOAT
#include "core/dtypes.def"
    default: break;
    }
}
#undef ROW

/* ---- Candidates ------------------------------------------------------------------------------ */
/* Moves n elements of `size` bytes: y[i] = x[order[i]]; order NULL: y[i] = x[i]. */
static void permute_kept(int32_t size, int64_t n, const uint32_t *order, const void *x, void *y)
{
#define MOVE(U)                     \
    for (int64_t i = 0; i < n; i++) \
        ((U *)y)[i] = ((const U *)x)[order ? order[i] : i];
    switch (size) {
    case 1: MOVE(uint8_t) break;
    case 2: MOVE(uint16_t) break;
    case 4: MOVE(uint32_t) break;
    default: MOVE(uint64_t) break;
    }
#undef MOVE
}

/* Copies the elements of the newest candidates from the strip into the state: so far only their
 * positions in the row are noted. at_hand counts the candidates whose elements are in the state. */
static void bring_elements(kept *f)
{
    switch (f->size) {
#define BRING(U)                          \
    for (; f->copied < f->n; f->copied++) \
        ((U *)(void *)f->x)[f->copied] =  \
            ((const U *)(const void *)f->strip)[f->place[f->copied] - f->begin];
    case 1: BRING(uint8_t) break;
    case 2: BRING(uint16_t) break;
    case 4: BRING(uint32_t) break;
    default: BRING(uint64_t) break;
#undef BRING
    }
}

/* True if candidate k is NaN; never for ints. */
static bool is_nan_kept(const kept *f, int64_t k)
{
    return rd_dtype_kind(f->s->type) == RD_KIND_FLOAT &&
           isnan(rd_word_to_double(rd_word_load(f->x + k * f->size, f->s->type), f->s->type));
}

/* Sets the bound, which later elements must come before, to the last of the first few; of floats of
 * 8 or 16 bits to its key, as these are compared by keys. */
static void set_bound(kept *f)
{
    const char *const last = f->x + (f->most - 1) * f->size;

    switch (f->s->type) {
#define RD_DTYPE(...)
#define RD_NARROW_FLOAT(name, sign, C, ...)                                         \
    case RD_##name:                                                                 \
        (void)keys_##sign(1, last, f->bound,                                        \
                          f->s->facts->descending ? (1U << 8 * sizeof(C)) - 1 : 0); \
        break;
#include "core/dtypes.def"
    default: memcpy(f->bound, last, (size_t)f->size);
    }
}

/* Puts the candidates in order, and keeps the first `most` of them.  If there are so many, the last
 * becomes the bound: later elements must come before it, or be numbers if it is NaN. */
static void shrink(kept *f)
{
    uint32_t      order[RD_FIRST_FEW_ROOM], place[RD_FIRST_FEW_ROOM];
    uint64_t      x[RD_FIRST_FEW_ROOM];
    const int64_t stay = f->n < f->most ? f->n : f->most;

    bring_elements(f);
    order_kept(f, order);
    memcpy(x, f->x, (size_t)(f->n * f->size));
    memcpy(place, f->place, (size_t)f->n * sizeof *place);
    permute_kept(f->size, stay, order, x, f->x);
    permute_kept(sizeof *place, stay, order, place, f->place);
    f->n = f->copied = stay;
    f->ordered       = true;
    if (stay == f->most) {
        f->comes = is_nan_kept(f, stay - 1) ? NUMBERS_COME : BEFORE_COMES;
        set_bound(f);
    }
}

/* Ends a strip that ends at position `end` of the row: writes the state back.  Candidates are put
 * in order at the end of the row, or when it is LONGER times as long as at the last time
 * (header[1]), as that lowers the bound. */
static void close_strip(kept *f, int64_t end)
{
    enum { LONGER = 4 };

    f->ordered &= f->copied == f->n; /* no candidate came with this strip */
    bring_elements(f);
    if (!f->ordered && (end == f->s->n || (f->n >= f->most && (uint64_t)end >= f->header[1]))) {
        shrink(f);
        f->header[1] = LONGER * (uint64_t)end;
    }
    f->header[0] = (uint64_t)f->n;
    f->header[2] = (uint64_t)f->comes;
    f->header[4] = f->ordered;
}

/* Writes the results of a sort from its candidates, which are in order: their positions in the row,
 * or the elements.  NaN are last, and are written as the canonical NaN of the type. */
static void write_kept(const kept *f, void *to)
{
    if (f->s->facts->what == RD_SORT_PLACES) {
        for (int64_t k = 0; k < f->s->n_out; k++)
            ((int64_t *)to)[k] = f->place[k];
        return;
    }
    memcpy(to, f->x, (size_t)(f->s->n_out * f->size));
    for (int64_t k = f->s->n_out; k-- > 0 && is_nan_kept(f, k);)
        rd_word_store((char *)to + k * f->size, f->s->type, rd_word_from_double(NAN, f->s->type));
}
