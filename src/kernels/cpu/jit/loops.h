/* loops.h - the loops of a compiled pass.  Part of an emitted text, behind what emit.c has defined:
 *
 * POINTERS(j, r, from)  where the operands of row r are, from column `from` on; values that a row
 * has one of
 * STRIP_POINTERS        the same, behind COPIES(from, n), which copies what is the same in all rows
 *                       for a strip of n columns and, where PADS, makes those up to STRIP like the
 *                       last
 * SUMS(ROWS, n)         what short loops come to for elements [0, n), n <= STRIP, of the rows that
 *                       ROWS(DO, n) does DO(j, n) for; HAS_SUMS: there are any
 * ELEMENT(j, i)         all values of column i of these, and what is stored of them
 * POWERS(j, n)          exponentials that elements [0, n) need, n <= MOST; where n is constant in
 *                       registers
 * STEP_POWERS(j, n)     those that steps need besides; N_POWERS: how many strips of them there are
 * FIRST(r), STEP(r)     states n0, n1 .. begin with the element, of row r, or take it
 * STATES(DO)            DO(number, type) for each state
 * ENDS(l, to)           the block of lane l of the states ends; they go to element `to` of the
 *                       call's, or to node `to`
 * NODES                 LEVELS nodes of finished blocks; BLOCKS: there may be several
 * MERGES(node, width)   a node takes the one behind it, of `width` lanes
 * HALVES(half, width)   `width` lanes of node 0 take those `half` behind them; CLOSE: all
 *                       lanes become one
 * GIVES(r)              lane 0 of node 0 is the result of row r
 * GIVEN_PARAMETER       what a phase is given of its row; GIVEN_ARGUMENT hands it on; IS_PHASE:
 *                       this is one of several, of which emit.c calls map_row() or total_row()
 * OUTPUTS               strips of what goes past the caches, HAS_PAST: something does;
 *                       ELEMENT puts it there
 * PAST(n)               their first n elements go; HEAD: how many come before a cache line begins
 * FORM_..., LANES       as in spec.h
 * STRIP                 states that a pass over several rows keeps in registers
 * FETCH(part)           what comes after PART columns of JAM rows, from column `part` on
 * FETCH_STRIP(adjoin)   what comes some way behind this strip, if rows that are `adjoin` elements
 *                       apart adjoin
 * FETCHES_END           is there a FETCH_END?
 * FETCH_END             the beginning of what follows a block, where a row is total or in its first
 *                       phase
 * FETCH_ROW             columns of the next row, in the second phase
 * ROWS                  rows that are taken together: they share short loops, of which registers
 *                       hold the sums, or have exponentials side by side: 4, 2 or 1
 * JAM                   rows that share a pass over states in memory, 0: states in registers
 *
 * Loops over lanes have constant trips where it matters: compilers then keep the arrays of states
 * in registers. */
#define IN_MEMORY(k, type) type *const s##k = (type *)q->state[k] + from;
#define IN_ARRAYS(k, type) type s##k[LANES] __attribute__((aligned(64)));
#define LOCALS(k, type)    type s##k[STRIP] __attribute__((aligned(64)));
#define NEW(k, type)       type n##k;
#define HAVE(k, type)      type n##k = s##k[i];
#define PUT(k, type)       s##k[i] = n##k;
#define BEGIN(k, type)     PUT(k, type)
#define BEGINS             STATES(NEW) FIRST(0) STATES(BEGIN)
#define TAKES              STATES(HAVE) STEP(r) STATES(PUT)
#define STRIP_TAKES(j)     STATES(STRIP_HAVE) STEP(r + j) STATES(STRIP_PUT)
#define STRIP_BEGINS       STATES(NEW) FIRST(0) STATES(STRIP_BEGIN)
#define STRIP_BEGIN        STRIP_PUT
#define STRIP_HAVE         HAVE
#define STRIP_PUT          PUT
#define ROW_STEPS(j)              \
    {                             \
        ELEMENT(j, i) STEP(r + j) \
    }
#define ROW_BEGINS(j)              \
    {                              \
        ELEMENT(j, i) FIRST(r + j) \
    }
/* Whole vectors of f32, whatever states are. */
enum { LONGER = LANES > STRIP ? LANES : STRIP, MOST = LONGER > 16 ? LONGER : 16 };

/* exp of e[0 .. n).  Written out where few are: gcc takes long for each, and of many none stays in
 * registers. */
#define POWER_STRIP(class, e, n)                  \
    if (__builtin_constant_p(n) && N_POWERS <= 2) \
        rd_exp_strip_##class(e, n);               \
    else                                          \
        rd_exp_strips_##class(e, n);

#define ROW_0(DO, n) DO(0, n)
#if ROWS == 4
#define ALL_ROWS(DO, n) DO(0, n) DO(1, n) DO(2, n) DO(3, n)
#elif ROWS == 2
#define ALL_ROWS(DO, n) DO(0, n) DO(1, n)
#else
#define ALL_ROWS ROW_0
#endif

/* Elements [0, n) of row j: begin states, or neither; or states take them. */
#define EACH(j, n, ...)           \
    {                             \
        SUMS(ROW_##j, n)          \
        SUMMED(j, n, __VA_ARGS__) \
    }
#define SUMMED(j, n, ...)                   \
    {                                       \
        POWERS(j, n)                        \
        INDEPENDENT                         \
        for (int64_t i = 0; i < (n); i++) { \
            ELEMENT(j, i) __VA_ARGS__       \
        }                                   \
    }
#define EACH_STEPS(j, n, ...)           \
    {                                   \
        SUMS(ROW_##j, n)                \
        SUMMED_STEPS(j, n, __VA_ARGS__) \
    }
#define SUMMED_STEPS(j, n, ...)             \
    {                                       \
        POWERS(j, n)                        \
        STEP_POWERS(j, n)                   \
        INDEPENDENT                         \
        for (int64_t i = 0; i < (n); i++) { \
            ELEMENT(j, i) __VA_ARGS__       \
        }                                   \
    }

/* Rows of a strip from r on: their short loops, which share what they read of a column, and what
 * follows. */
#define SHARED_SUMS        ALL_ROWS(ROW_POINTERS, STRIP) SUMS(ALL_ROWS, STRIP)
#define ROW_POINTERS(j, n) STRIP_POINTERS(j, r + j, from)
#define ROW_MAPS(j, n)     SUMMED(j, n, )
#define ROW_TAKES(j, n)    SUMMED_STEPS(j, n, STRIP_TAKES(j))

/* All elements of a row at once, or a strip at a time if exponentials are taken, or short loops
 * run. */
#if N_POWERS || HAS_SUMS
#define PARTS(n) for (int64_t from = 0; from < (n); from += STRIP)
#define EACH_OF_PART(j, n, ...)     \
    if (n >= STRIP)                 \
        EACH(j, STRIP, __VA_ARGS__) \
    else                            \
        EACH(j, n, __VA_ARGS__)
#else
#define PARTS(n)     for (int64_t from = 0; from < (n); from = (n))
#define EACH_OF_PART EACH
#endif

/* n columns; states of those beyond them are the last one's, and go nowhere. */
#define TAKE(k, type)                   \
    for (int64_t i = 0; i < STRIP; i++) \
        s##k[i] = ((type *)q->state[k] + from)[i < n ? i : n - 1];
#define GIVE(k, type)               \
    for (int64_t i = 0; i < n; i++) \
        ((type *)q->state[k] + from)[i] = s##k[i];

/* States that are indices: the number of a row of this call, or -1 for what is in memory. */
#define IN_MEMORY_INDEX(k, type) int64_t *const s##k = (int64_t *)q->state[k] + from;
#define LOCALS_INDEX             LOCALS
#define NEW_INDEX                NEW
#define BEGIN_INDEX              PUT_INDEX
#define HAVE_INDEX(k, type)      type n##k = -1;
#define PUT_INDEX(k, type)       s##k[i] = n##k < 0 ? s##k[i] : q->index + n##k * q->index_row;
#define STRIP_HAVE_INDEX         HAVE
#define STRIP_PUT_INDEX          PUT
#define STRIP_BEGIN_INDEX        PUT
#define TAKE_INDEX(k, type)         \
    for (int i = 0; i < STRIP; i++) \
        s##k[i] = -1;
#define GIVE_INDEX(k, type)         \
    for (int64_t i = 0; i < n; i++) \
        if (s##k[i] >= 0)           \
            ((int64_t *)q->state[k] + from)[i] = q->index + s##k[i] * q->index_row;

/* States that count elements: they begin with 1, and the caller adds the rows that follow. */
#define IN_MEMORY_COUNT IN_MEMORY
#define IN_ARRAYS_COUNT IN_ARRAYS
#define LOCALS_COUNT    LOCALS
#define NEW_COUNT       NEW
#define BEGIN_COUNT     PUT
#define HAVE_COUNT      NEW
#define PUT_COUNT(k, type)
#define STRIP_HAVE_COUNT NEW
#define STRIP_PUT_COUNT(k, type)
#define STRIP_BEGIN_COUNT(k, type)
#define TAKE_COUNT(k, type)
#define GIVE_COUNT(k, type)                   \
    for (int64_t i = 0; begins && i < n; i++) \
        ((type *)q->state[k] + from)[i] = 1;

/* States that stay what they began with. */
#define IN_MEMORY_FIXED  IN_MEMORY
#define IN_ARRAYS_FIXED  IN_ARRAYS
#define LOCALS_FIXED     LOCALS
#define NEW_FIXED        NEW
#define BEGIN_FIXED      PUT
#define HAVE_FIXED       HAVE
#define STRIP_HAVE_FIXED HAVE
#define TAKE_FIXED       TAKE
#define PUT_FIXED(k, type)
#define STRIP_PUT_FIXED(k, type)
#define STRIP_BEGIN_FIXED PUT
#define GIVE_FIXED(k, type)                   \
    for (int64_t i = 0; begins && i < n; i++) \
        ((type *)q->state[k] + from)[i] = s##k[i];

/* ---- No folds -------------------------------------------------------------------------------- */
#if defined(FORM_MAPS) && HAS_PAST
/* n columns from `from` on: what goes past the caches does so by the strip. */
#define SOME(n)                       \
    {                                 \
        POINTERS(0, r, from)          \
        FETCH_ROW                     \
        OUTPUTS EACH(0, n, ) PAST(n); \
        from += (n);                  \
    }

static void map_row(const rd_kernel_call *q, int64_t r GIVEN_PARAMETER)
{
    int64_t from = 0, head, rest;
    {
        POINTERS(0, r, 0)
        head = HEAD < q->n ? HEAD : q->n;
    }
    if (head)
        SOME(head)
    while (from + STRIP <= q->n)
        SOME(STRIP)
    rest = q->n - from;
    if (rest)
        SOME(rest)
}
#elif defined(FORM_MAPS) && HAS_SUMS
/* A strip of columns, for which operands are copied, in rows that share short loops. */
static void map_strip(const rd_kernel_call *q, int64_t from)
{
    int64_t r = 0;
    COPIES(from, STRIP)
    for (; r + ROWS <= q->rows; r += ROWS) {
        SHARED_SUMS
        ALL_ROWS(ROW_MAPS, STRIP)
    }
    for (; r < q->rows; r++) {
        STRIP_POINTERS(0, r, from)
        EACH(0, STRIP, )
    }
}

static void map(const rd_kernel_call *q)
{
    int64_t from = 0;
    for (; from + STRIP <= q->n; from += STRIP)
        map_strip(q, from);
    for (int64_t r = 0; r < q->rows && from < q->n; r++) {
        POINTERS(0, r, from)
        EACH(0, q->n - from, )
    }
}
#define KERNELS .map = map
#elif defined(FORM_MAPS)
static void map_row(const rd_kernel_call *q, int64_t r GIVEN_PARAMETER)
{
    PARTS(q->n)
    {
        const int64_t n = q->n - from;
        POINTERS(0, r, from)
        EACH_OF_PART(0, n, )
    }
}
#endif

#if defined(FORM_MAPS) && !HAS_SUMS && !IS_PHASE
static void map(const rd_kernel_call *q)
{
    for (int64_t r = 0; r < q->rows; r++)
        map_row(q, r);
}
#define KERNELS .map = map
#endif

/* ---- States in memory ------------------------------------------------------------------------ */
#if defined(FORM_LANES) || defined(FORM_COLUMNS)
/* Columns worth a strip; exponentials are taken of whole ones anyway. */
enum { FEWEST = N_POWERS || STRIP < 32 ? 1 : STRIP / 16 };

/* Rows [r, end), for the states from `from` on. */
static void rows(const rd_kernel_call *q, int64_t r, int64_t end, int64_t from)
{
    STATES(IN_MEMORY)
    for (; r < end; r++) {
        POINTERS(0, r, from)
        EACH_STEPS(0, q->n - from, TAKES)
    }
}

#if JAM && !N_POWERS
/* Neighbouring results: a state in memory is read and written once for JAM rows.  Rows that are
 * read together are as many streams, which memory serves at two thirds of the rate of one, so those
 * that follow are fetched as they lie. */
#define JAMMED_PART(n, start, first_row, end)         \
    {                                                 \
        FETCH(part)                                   \
        INDEPENDENT                                   \
        for (int64_t i = part; i < part + (n); i++) { \
            STATES(start) first_row;                  \
            ROW_STEPS(1);                             \
            ROW_STEPS(2);                             \
            ROW_STEPS(3);                             \
            STATES(end)                               \
        }                                             \
        part += (n);                                  \
    }
#define JAMMED_POINTERS   \
    POINTERS(0, r, 0)     \
    POINTERS(1, r + 1, 0) \
    POINTERS(2, r + 2, 0) \
    POINTERS(3, r + 3, 0)

/* Rows from r on. */
static __attribute__((noinline)) void take(const rd_kernel_call *q, int64_t r)
{
    enum { from = 0 };
    STATES(IN_MEMORY)
    for (; r + JAM <= q->rows; r += JAM) {
        int64_t part = 0;
        JAMMED_POINTERS
        while (part + PART <= q->n)
            JAMMED_PART(PART, HAVE, ROW_STEPS(0), PUT)
        if (part < q->n)
            JAMMED_PART(q->n - part, HAVE, ROW_STEPS(0), PUT)
    }
    rows(q, r, q->rows, 0);
}

/* As a block begins with as many rows as others are jammed, none of its 64 are left over.  How many
 * columns have begun. */
static int64_t begin_jammed(const rd_kernel_call *q)
{
    enum { from = 0, r = 0 };
    int64_t part = 0;
    STATES(IN_MEMORY)
    JAMMED_POINTERS
    while (part + PART <= q->n)
        JAMMED_PART(PART, NEW, ROW_BEGINS(0), BEGIN)
    return part;
}
#else
/* Rows [r, end) of n columns, whose states begin with row r or have begun.  Rows share short loops,
 * so that what these read of a column serves several, or have their exponentials side by side. */
static inline __attribute__((always_inline)) void strip_rows(const rd_kernel_call *q, int64_t r,
                                                             int64_t end, int64_t from, int64_t n,
                                                             int begins)
{
    STATES(LOCALS)
    COPIES(from, n)
    if (begins) {
        STRIP_POINTERS(0, r, from)
        EACH(0, STRIP, STRIP_BEGINS)
        r++;
    } else {
        STATES(TAKE)
    }
#if ROWS > 1
    for (; r + ROWS <= end; r += ROWS) {
        SHARED_SUMS
        ALL_ROWS(ROW_TAKES, STRIP)
    }
#endif
    for (; r < end; r++) {
        STRIP_POINTERS(0, r, from)
        EACH_STEPS(0, STRIP, STRIP_TAKES(0))
    }
    STATES(GIVE)
}

static __attribute__((noinline)) void take(const rd_kernel_call *q, int64_t r)
{
    const int64_t height = JAM ? JAM : q->rows;
    for (int64_t begin = r; begin < q->rows; begin += height) {
        const int64_t end  = begin + height < q->rows ? begin + height : q->rows;
        int64_t       from = 0;
        for (; from + STRIP <= q->n; from += STRIP)
            strip_rows(q, begin, end, from, STRIP, 0);
        if (PADS && from + FEWEST <= q->n) {
            strip_rows(q, begin, end, from, q->n - from, 0);
            from = q->n;
        }
        if (from < q->n)
            rows(q, begin, end, from);
    }
}
#endif

/* The first row, from column `from` on. */
static void begin(const rd_kernel_call *q, int64_t from)
{
#if N_POWERS || HAS_SUMS
    for (; from < q->n; from += STRIP)
#endif
    {
        const int64_t n = q->n - from;
        STATES(IN_MEMORY)
        POINTERS(0, 0, from)
        EACH_OF_PART(0, n, BEGINS)
    }
}

#if PADS
/* Where strips take all columns, states begin there: what is copied for a strip serves the first
 * row too. */
static void first(const rd_kernel_call *q)
{
    int64_t from = 0;
    for (; from + STRIP <= q->n; from += STRIP)
        strip_rows(q, 0, q->rows, from, STRIP, 1);
    if (from + FEWEST <= q->n)
        strip_rows(q, 0, q->rows, from, q->n - from, 1);
    else if (from < q->n) {
        begin(q, from);
        rows(q, 1, q->rows, from);
    }
}
#else
static void first(const rd_kernel_call *q)
{
    int64_t rows_begun = 1;
#if JAM && !N_POWERS
    if (q->rows >= JAM) {
        const int64_t part = begin_jammed(q);

        begin(q, part);
        rows(q, 1, JAM, part);
        rows_begun = JAM;
    } else
#endif
        begin(q, 0);
    take(q, rows_begun);
}
#endif

static void step(const rd_kernel_call *q)
{
    take(q, 0);
}
#ifdef FORM_LANES
#define KERNELS .first = first, .step = step, .block = block
#else
#define KERNELS .first = first, .step = step
#endif
#endif

/* ---- Whole blocks ---------------------------------------------------------------------------- */
#ifdef FORM_LANES
#define COUNT(k, type)
#define COUNT_INDEX          COUNT
#define COUNT_FIXED          COUNT
#define COUNT_COUNT(k, type) s##k[i] = (type)q->rows;

static void block(const rd_kernel_call *q)
{
    for (int64_t from = 0; from < LANES; from += STRIP) {
        STATES(LOCALS)
        {
            POINTERS(0, 0, from)
            EACH(0, STRIP, BEGINS)
        }
        for (int64_t r = 1; r < q->rows; r++) {
            POINTERS(0, r, from)
            FETCH_STRIP(LANES)
            EACH_STEPS(0, STRIP, TAKES)
        }
        INDEPENDENT
        for (int i = 0; i < STRIP; i++) {
            STATES(COUNT) ENDS(i, from + i)
        }
    }
}
#endif

/* ---- States of a row ------------------------------------------------------------------------- */
#ifdef FORM_TOTALS
#define KEEP(k, type)               \
    for (int i = 0; i < STRIP; i++) \
        kept##k[from + i] = s##k[i];
#define KEPT(k, type) type *const kept##k = s##k;
#define KEEP_COUNT(k, type)
#define KEPT_COUNT(k, type)
#define KEEP_FIXED KEEP
#define KEPT_FIXED KEPT
#define COUNT(k, type)
#define COUNT_FIXED COUNT
#define COUNT_COUNT(k, type)            \
    for (int64_t l = 0; l < LANES; l++) \
        s##k[l] = (type)(whole / LANES + (l < rest));

typedef struct tree {
    NODES
} tree;

/* Elements [at, at + n) of row r are a block, whose states become a node. */
static void take_block(const rd_kernel_call *q, tree *t, int64_t r, int64_t at, int64_t n,
                       int64_t node GIVEN_PARAMETER)
{
    const int64_t whole = n / LANES * LANES, rest = n - whole, lanes = whole ? LANES : rest;

    STATES(IN_ARRAYS)
    for (int64_t from = 0; whole && from < LANES; from += STRIP) {
        STATES(KEPT)
        STATES(LOCALS)
        {
            POINTERS(0, r, at + from)
            EACH(0, STRIP, BEGINS)
        }
        for (int64_t step = LANES; step < whole; step += LANES) {
            POINTERS(0, r, at + from + step)
            FETCH_STRIP(q->n)
            FETCH_ROW
            EACH_STEPS(0, STRIP, TAKES)
        }
        STATES(KEEP)
    }
    if (rest) {
        POINTERS(0, r, at + whole)
        if (whole)
            EACH_STEPS(0, rest, TAKES)
        else
            EACH(0, rest, BEGINS)
    }
    if (FETCHES_END && (at + n < q->n || r + 1 < q->rows)) {
        POINTERS(0, at + n < q->n ? r : r + 1, at + n < q->n ? at + n : 0)
        FETCH_END
    }
    STATES(COUNT)
    for (int64_t l = 0; l < lanes; l++) {
        ENDS(l, node)
    }
}

#if BLOCKS
static void merge_nodes(tree *t, int64_t node, int64_t width)
{
    MERGES(node, width)
}
#endif

/* `width` lanes of node 0 become one. */
static void close(tree *t, int64_t width)
{
    if (width == LANES) {
        CLOSE
        return;
    }
    for (int64_t half = LANES / 2; half > 0; half /= 2)
        if (width > half) {
            HALVES(half, width - half)
            width = half;
        }
}

static void total_row(const rd_kernel_call *q, tree *t, int64_t r GIVEN_PARAMETER)
{
    int64_t depth = 0, width = LANES;

    for (int64_t block = 0, at = 0; at < q->n; block++, at += q->block) {
        const int64_t n = q->n - at < q->block ? q->n - at : q->block;

        take_block(q, t, r, at, n, depth++ GIVEN_ARGUMENT);
        width = n < LANES ? n : LANES;
#if BLOCKS
        for (int64_t k = block; k & 1; k /= 2, width = LANES)
            merge_nodes(t, --depth - 1, width);
#endif
    }
#if BLOCKS
    for (; depth > 1; width = LANES)
        merge_nodes(t, --depth - 1, width);
#endif
    close(t, width);
}

#if !IS_PHASE
static void total(const rd_kernel_call *q)
{
    for (int64_t r = 0; r < q->rows; r++) {
        tree t;

        total_row(q, &t, r);
        GIVES(r)
    }
}
#define KERNELS .total = total
#endif
#endif

#if !IS_PHASE
__attribute__((visibility("default"))) const rd_kernels rdim_kernels = { KERNELS };
#endif
