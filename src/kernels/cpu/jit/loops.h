/* loops.h - the loops of a compiled pass.  Part of an emitted text, behind what emit.c has defined:
 *
 * POINTERS(j, r, from)  where the operands of row r are, from column `from` on; values that a row has one of
 * STRIP_POINTERS        the same, behind COPIES(from, n), which copies what is the same in all rows for a strip of n columns
 *                       and, where PADS, makes those up to STRIP like the last
 * SUMS(ROWS, n)         what short loops come to for elements [0, n), n <= STRIP, of the rows that ROWS(DO, n) does DO(j, n)
 *                       for; HAS_SUMS: there are any
 * ELEMENT(j, i)         all values of column i of these, and what is stored of them
 * POWERS(j, n)          exponentials that elements [0, n) need, n <= MOST; where n is constant in registers
 * STEP_POWERS(j, n)     those that steps need besides; HAS_POWERS: there are any
 * FIRST(r), STEP(r)     states n0, n1 .. begin with the element, of row r, or take it
 * STATES(DO)            DO(number, type) for each state
 * ENDS(l, to)           the block of lane l of the states ends; they go to element `to` of the call's
 * CLOSE(r, width)       states of `width` lanes become one, that of row r
 * FORM_..., LANES       as in spec.h
 * STRIP                 states that a pass over several rows keeps in registers
 * FETCH(part)           what comes PART columns of JAM rows after those from column `part` on
 * ROWS                  rows that share short loops, of which registers hold the sums: 4, 2 or 1
 * JAM                   rows that share a pass over states in memory, 0: states in registers
 *
 * Loops over lanes have constant trips where it matters: compilers then keep the arrays of states in registers. */
#define IN_MEMORY(k, type) type *const s##k = (type *)q->state[k] + from;
#define IN_ARRAYS(k, type) type s##k[LANES] __attribute__((aligned(64)));
#define LOCALS(k, type)    type s##k[STRIP] __attribute__((aligned(64)));
#define NEW(k, type)       type n##k;
#define HAVE(k, type)      type n##k = s##k[i];
#define PUT(k, type)       s##k[i] = n##k;
#define BEGIN              PUT
#define BEGINS             STATES(NEW) FIRST(0) STATES(BEGIN)
#define TAKES              STATES(HAVE) STEP(r) STATES(PUT)
#define STRIP_TAKES(j)     STATES(STRIP_HAVE) STEP(r + j) STATES(STRIP_PUT)
#define STRIP_BEGINS       STATES(NEW) FIRST(0) STATES(STRIP_PUT)
#define STRIP_HAVE         HAVE
#define STRIP_PUT          PUT
#define ROW_STEPS(j)              \
    {                             \
        ELEMENT(j, i) STEP(r + j) \
    }
/* Whole vectors of f32, whatever states are. */
enum { LONGER = LANES > STRIP ? LANES : STRIP, MOST = LONGER > 16 ? LONGER : 16 };
#define WHOLE(n) (__builtin_constant_p(n) ? (n) : MOST)

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

/* Rows of a strip from r on: their short loops, which share what they read of a column, and what follows. */
#define SHARED_SUMS        ALL_ROWS(ROW_POINTERS, STRIP) SUMS(ALL_ROWS, STRIP)
#define ROW_POINTERS(j, n) STRIP_POINTERS(j, r + j, from)
#define ROW_MAPS(j, n)     SUMMED(j, n, )
#define ROW_TAKES(j, n)    SUMMED_STEPS(j, n, STRIP_TAKES(j))

/* All elements of a row at once, or a strip at a time if exponentials are taken, or short loops run. */
#if HAS_POWERS || HAS_SUMS
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
#define TAKE_COUNT(k, type)
#define GIVE_COUNT(k, type)                   \
    for (int64_t i = 0; begins && i < n; i++) \
        ((type *)q->state[k] + from)[i] = 1;

/* ---- No folds ---------------------------------------------------------------------------------------------- */
#ifdef FORM_MAPS
#if HAS_SUMS
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
#else
static void map(const rd_kernel_call *q)
{
    for (int64_t r = 0; r < q->rows; r++)
        PARTS(q->n)
        {
            const int64_t n = q->n - from;
            POINTERS(0, r, from)
            EACH_OF_PART(0, n, )
        }
}
#endif
#define KERNELS .map = map
#endif

/* ---- States in memory -------------------------------------------------------------------------------------- */
/* Where strips take all columns, states begin there: what is copied for a strip serves the first row too. */
#if !PADS && (defined(FORM_LANES) || defined(FORM_COLUMNS))
static void first(const rd_kernel_call *q)
{
    PARTS(q->n)
    {
        const int64_t n = q->n - from;
        STATES(IN_MEMORY)
        POINTERS(0, 0, from)
        EACH_OF_PART(0, n, BEGINS)
    }
}
#endif

#if defined(FORM_LANES) || defined(FORM_COLUMNS)
/* Rows [r, end), for the states from `from` on. */
static void rows(const rd_kernel_call *q, int64_t r, int64_t end, int64_t from)
{
    STATES(IN_MEMORY)
    if (PADS && q->begins) {
        POINTERS(0, r, from)
        EACH(0, q->n - from, BEGINS)
        r++;
    }
    for (; r < end; r++) {
        POINTERS(0, r, from)
        EACH_STEPS(0, q->n - from, TAKES)
    }
}
#ifdef FORM_LANES
#define KERNELS .first = first, .step = step, .block = block
#elif PADS
#define KERNELS .step = step
#else
#define KERNELS .first = first, .step = step
#endif
#endif

#if JAM && !HAS_POWERS
/* Neighbouring results: a state in memory is read and written once for JAM rows.  Rows that are read together are as many
 * streams, which memory serves at two thirds of the rate of one, so those that follow are fetched as they lie. */
static void step(const rd_kernel_call *q)
{
    enum { from = 0, PART = 64 };
    int64_t r = 0;
    STATES(IN_MEMORY)
    for (; r + JAM <= q->rows; r += JAM) {
        POINTERS(0, r, 0)
        POINTERS(1, r + 1, 0)
        POINTERS(2, r + 2, 0)
        POINTERS(3, r + 3, 0)
        for (int64_t part = 0; part < q->n; part += PART) {
            const int64_t end = part + PART < q->n ? part + PART : q->n;
            FETCH(part)
            INDEPENDENT
            for (int64_t i = part; i < end; i++) {
                STATES(HAVE)
                ROW_STEPS(0);
                ROW_STEPS(1);
                ROW_STEPS(2);
                ROW_STEPS(3);
                STATES(PUT)
            }
        }
    }
    rows(q, r, q->rows, 0);
}
#elif defined(FORM_LANES) || defined(FORM_COLUMNS)
/* Rows [r, end) of n columns.  Rows share short loops, so that what these read of a column serves several. */
static inline __attribute__((always_inline)) void strip_rows(const rd_kernel_call *q, int64_t r, int64_t end,
                                                             int64_t from, int64_t n)
{
    const int begins = PADS && q->begins;
    STATES(LOCALS)
    COPIES(from, n)
    if (begins) {
        STRIP_POINTERS(0, r, from)
        EACH(0, STRIP, STRIP_BEGINS)
        r++;
    } else {
        STATES(TAKE)
    }
#if HAS_SUMS
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

static void step(const rd_kernel_call *q)
{
    enum {
        FEWEST = HAS_POWERS ? 1 : STRIP / 16
    }; /* columns worth a strip; exponentials are taken of whole ones anyway */
    const int64_t height = JAM ? JAM : q->rows;
    for (int64_t begin = 0; begin < q->rows; begin += height) {
        const int64_t end  = begin + height < q->rows ? begin + height : q->rows;
        int64_t       from = 0;
        for (; from + STRIP <= q->n; from += STRIP)
            strip_rows(q, begin, end, from, STRIP);
        if (PADS && from + FEWEST <= q->n) {
            strip_rows(q, begin, end, from, q->n - from);
            from = q->n;
        }
        if (from < q->n)
            rows(q, begin, end, from);
    }
}
#endif

/* ---- Whole blocks ------------------------------------------------------------------------------------------- */
#ifdef FORM_LANES
#define COUNT(k, type)
#define COUNT_INDEX          COUNT
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
            EACH_STEPS(0, STRIP, TAKES)
        }
        INDEPENDENT
        for (int i = 0; i < STRIP; i++) {
            STATES(COUNT) ENDS(i, from + i)
        }
    }
}
#endif

/* ---- States of a row --------------------------------------------------------------------------------------- */
#ifdef FORM_TOTALS
#define KEEP(k, type)               \
    for (int i = 0; i < STRIP; i++) \
        kept##k[from + i] = s##k[i];
#define KEPT(k, type) type *const kept##k = s##k;
#define KEEP_COUNT(k, type)
#define KEPT_COUNT(k, type)
#define COUNT(k, type)
#define COUNT_COUNT(k, type)            \
    for (int64_t l = 0; l < LANES; l++) \
        s##k[l] = (type)(whole / LANES + (l < rest));

static void total(const rd_kernel_call *q)
{
    const int64_t whole = q->n / LANES * LANES, rest = q->n - whole;

    for (int64_t r = 0; r < q->rows; r++) {
        STATES(IN_ARRAYS)
        for (int64_t from = 0; whole && from < LANES; from += STRIP) {
            STATES(KEPT)
            STATES(LOCALS)
            {
                POINTERS(0, r, from)
                EACH(0, STRIP, BEGINS)
            }
            for (int64_t at = from + LANES; at < whole; at += LANES) {
                POINTERS(0, r, at)
                EACH_STEPS(0, STRIP, TAKES)
            }
            STATES(KEEP)
        }
        if (rest) {
            POINTERS(0, r, whole)
            if (whole)
                EACH_STEPS(0, rest, TAKES)
            else
                EACH(0, rest, BEGINS)
        }
        STATES(COUNT)
        if (whole) {
            CLOSE(r, LANES)
        } else {
            CLOSE(r, rest)
        }
    }
}
#define KERNELS .total = total
#endif

__attribute__((visibility("default"))) const rd_kernels rdim_kernels = { KERNELS };
