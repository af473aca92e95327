/* slice_model.c - what views are, by lists of places. */
#include "fuzz/slice_model.h"
#include <string.h>

/* ---- Arrays -------------------------------------------------------------------------------------------- */
void model_begin(model *m, const rd_shape *shape)
{
    *m = (model){ .rank = shape->n, .n = 1 };
    for (int a = 0; a < m->rank; a++)
        m->n *= m->extent[a] = shape->at[a];
    for (int64_t i = 0; i < m->n; i++)
        m->element[i] = (int32_t)(i * 7 + 1);
}

static int32_t element_at(const model *m, const lists *l, int64_t i)
{
    int64_t at[RD_MAX_RANK], place = 0;
    bool    outside = false;

    memcpy(at, l->base, sizeof at);
    for (int a = 0; a < m->rank; a++)
        outside |= at[a] < 0;
    for (int k = l->rank - 1; k >= 0; i /= l->n[k--]) {
        const int64_t j = i % l->n[k];

        if (l->of[k] >= 0) {
            at[l->of[k]] += l->at[k][j];
            outside |= l->at[k][j] < 0;
        }
        if (l->also[k] >= 0)
            at[l->also[k]] += l->and_at[k][j];
    }
    for (int a = 0; a < m->rank && !outside; a++)
        place = place * m->extent[a] + at[a];
    return outside ? OUTSIDE : m->element[place];
}

bool model_step(model *m, const lists *l)
{
    static model y;

    y = (model){ .rank = l->rank, .n = 1, .doubtful = m->doubtful || l->doubtful };
    for (int k = 0; k < l->rank; k++)
        if (l->n[k] == 0)
            y.n = 0;
    for (int k = 0; k < l->rank; k++) {
        y.extent[k] = l->n[k];
        y.origin[k] = l->origin[k];
        y.n *= y.n <= MOST_ELEMENTS ? l->n[k] : 1;
    }
    const bool fits = y.n <= MOST_ELEMENTS && !l->too_large;

    for (int64_t i = 0; i < y.n && fits; i++)
        y.element[i] = element_at(m, l, i);
    *m = y;
    return fits;
}

/* ---- Lists --------------------------------------------------------------------------------------------- */
static void begin(lists *l)
{
    memset(l, 0, sizeof *l);
    for (int k = 0; k < RD_MAX_RANK; k++)
        l->of[k] = l->also[k] = -1;
}

/* A new axis of the result; its number. */
static int add_axis(lists *l, int of, int64_t origin)
{
    const int k = l->rank < RD_MAX_RANK ? l->rank : RD_MAX_RANK - 1;

    l->rank++;
    l->of[k]     = of;
    l->n[k]      = 0;
    l->origin[k] = origin;
    return k;
}

static void add_place(lists *l, int k, int64_t place)
{
    if (l->n[k] < MOST_EXTENT)
        l->at[k][l->n[k]] = place;
    else
        l->too_large = true;
    l->n[k]++;
}

static void add_whole(const model *m, int a, lists *l)
{
    const int k = add_axis(l, a, m->origin[a]);

    for (int64_t i = 0; i < m->extent[a]; i++)
        add_place(l, k, i);
}

/* Python's rule; an axis that begins elsewhere has no indices from the end. */
static __int128 cut(const model *m, int a, int64_t bound, int64_t step)
{
    const __int128 n = m->extent[a], low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
    __int128       b = (__int128)bound - m->origin[a];

    if (m->origin[a] == 0 && b < 0)
        b += n;
    return b < low ? low : b > high ? high : b;
}

static void add_range(const model *m, int a, int64_t start, int64_t stop, int64_t step, lists *l)
{
    const __int128 from = start != RD_OPEN ? cut(m, a, start, step)
                          : step > 0       ? 0
                                           : m->extent[a] - 1;
    const __int128 to   = stop != RD_OPEN ? cut(m, a, stop, step) : step > 0 ? m->extent[a] : -1;
    const bool     all  = start == RD_OPEN && stop == RD_OPEN && step == 1;
    const int      k    = add_axis(l, a, all ? m->origin[a] : 0);

    for (__int128 i = from; step > 0 ? i < to : i > to; i += step)
        add_place(l, k, (int64_t)i);
}

static bool place_of(const model *m, int a, int64_t i, int64_t *place)
{
    const __int128 p = (__int128)i - m->origin[a], n = m->extent[a];

    if (p < (m->origin[a] ? 0 : -n) || p >= n)
        return false;
    *place = (int64_t)(p < 0 ? p + n : p);
    return true;
}

/* ---- Calls --------------------------------------------------------------------------------------------- */
bool model_select(const model *m, int axis, int64_t i, lists *l)
{
    begin(l);
    l->knows_origin = true;
    for (int a = 0; a < m->rank; a++)
        if (a != axis)
            add_whole(m, a, l);
    return place_of(m, axis, i, &l->base[axis]);
}

void model_range(const model *m, int axis, int64_t start, int64_t stop, int64_t step, lists *l)
{
    begin(l);
    l->knows_origin = true;
    for (int a = 0; a < m->rank; a++) {
        if (a == axis)
            add_range(m, a, start, stop, step, l);
        else
            add_whole(m, a, l);
    }
}

bool model_permute(const model *m, const rd_index *order, lists *l)
{
    uint64_t seen = 0;

    begin(l);
    l->knows_origin = true;
    for (int k = 0; k < order->n; k++) {
        const int64_t n = m->rank, a = order->at[k] < 0 ? order->at[k] + n : order->at[k];

        if (a < 0 || a >= n || seen >> a & 1)
            return false;
        seen |= (uint64_t)1 << a;
        add_whole(m, (int)a, l);
    }
    return order->n == m->rank;
}

void model_diagonal(const model *m, int axis1, int axis2, int64_t offset, lists *l)
{
    begin(l);
    for (int a = 0; a < m->rank; a++)
        if (a != axis1 && a != axis2)
            add_whole(m, a, l);
    const int k = add_axis(l, axis1, 0);

    l->also[k] = axis2;
    for (int64_t i = 0; i < m->extent[axis1]; i++) {
        const __int128 j = (__int128)i + offset;

        if (j < 0 || j >= m->extent[axis2])
            continue;
        l->and_at[k][l->n[k]] = (int64_t)j;
        add_place(l, k, i);
    }
}

void model_window(const model *m, int axis, int64_t n, int64_t step, lists *l)
{
    begin(l);
    for (int a = 0; a < m->rank; a++) {
        if (a != axis) {
            add_whole(m, a, l);
            continue;
        }
        const int k = add_axis(l, a, 0);

        for (__int128 i = 0; i + n <= m->extent[a]; i += step)
            add_place(l, k, (int64_t)i);
    }
    const int k = add_axis(l, axis, 0);

    for (int64_t j = 0; j < n; j++)
        add_place(l, k, j);
}

/* Of an axis of one element it does not matter which index asks for it. */
static int64_t taken_place(const model *m, int axis, const indices *index, int64_t i, lists *l)
{
    int64_t       place  = -1;
    const int64_t number = index->at[i];
    const bool inside = (number >= 0 || !index->is_unsigned) && place_of(m, axis, number, &place);

    if (!inside)
        l->doubtful = true;
    return inside ? place : m->extent[axis] == 1 ? 0 : -1;
}

void model_take(const model *m, int axis, const indices *index, lists *l)
{
    begin(l);
    for (int a = 0; a < m->rank; a++) {
        if (a != axis) {
            add_whole(m, a, l);
            continue;
        }
        if (index->rank == 0) {
            l->base[a] = taken_place(m, axis, index, 0, l);
            continue;
        }
        const int k = add_axis(l, a, 0);

        for (int64_t i = 0; i < index->n; i++)
            add_place(l, k, taken_place(m, axis, index, i, l));
    }
}

int64_t model_store(void *to, rd_dtype type, int64_t number)
{
    switch (type) {
    case RD_I8: return *(int8_t *)to = (int8_t)number;
    case RD_U8: return *(uint8_t *)to = (uint8_t)number;
    case RD_BOOL: return *(bool *)to = number & 1;
    case RD_I16: return *(int16_t *)to = (int16_t)number;
    case RD_I32: return *(int32_t *)to = (int32_t)number;
    case RD_U64: *(uint64_t *)to = (uint64_t)number; return number < 0 ? INT64_MAX : number;
    case RD_F64: *(double *)to = (double)number; return number;
    default: return *(int64_t *)to = number;
    }
}

/* ---- Texts --------------------------------------------------------------------------------------------- */
typedef enum kind { NUMBER, COLON, COMMA, DOTS, NEW, END, WRONG } kind;

typedef struct token {
    kind    kind;
    int64_t value;
} token;

/* The next token; spaces and tabs stand between tokens. */
static token next(const char **at)
{
    static const struct {
        const char *word;
        kind        kind;
    } words[]  = { { "...", DOTS }, { "new", NEW }, { ":", COLON }, { ",", COMMA } };
    __int128 n = 0;

    *at += strspn(*at, " \t");
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strncmp(*at, words[k].word, strlen(words[k].word)) == 0) {
            *at += strlen(words[k].word);
            return (token){ words[k].kind, 0 };
        }
    const bool   minus = **at == '-';
    const char  *digit = *at + minus;
    const size_t many  = strspn(digit, "0123456789");

    for (size_t k = 0; k < many && n <= INT64_MAX; k++)
        n = n * 10 + (digit[k] - '0');
    if (!**at)
        return (token){ END, 0 };
    *at = digit + many;
    return many && n <= INT64_MAX ? (token){ NUMBER, (int64_t)(minus ? -n : n) }
                                  : (token){ WRONG, 0 };
}

/* start:stop:step, of which `t` is the token behind the start. */
static bool read_range(const char **at, token *t, int64_t *stop, int64_t *step)
{
    *t = next(at);
    if (t->kind == NUMBER) {
        *stop = t->value;
        *t    = next(at);
    }
    if (t->kind != COLON)
        return true;
    *t = next(at);
    if (t->kind == NUMBER) {
        *step = t->value;
        *t    = next(at);
    }
    return *step != 0;
}

/* How many axes of the operand the parts take. */
static int count_taken(const char *text)
{
    int n = 0;

    for (bool more = true; more;) {
        const char *comma = strchr(text, ',');
        const char *end   = comma ? comma : text + strlen(text);

        text += strspn(text, " \t");
        n += text < end && *text != '.' && *text != 'n';
        more = comma != NULL;
        text = more ? comma + 1 : end;
    }
    return n;
}

/* One part, and the token behind it. */
static bool read_part(const model *m, const char **at, int rest, bool *dots, int *axis, lists *l,
                      token *t)
{
    int64_t start = RD_OPEN, stop = RD_OPEN, step = 1;

    *t = next(at);
    if (t->kind == DOTS || t->kind == NEW) {
        const bool again = t->kind == DOTS && *dots;

        if (t->kind == NEW)
            l->n[add_axis(l, -1, 0)] = 1;
        for (int k = 0; t->kind == DOTS && k < rest; k++)
            add_whole(m, (*axis)++, l);
        *dots |= t->kind == DOTS;
        *t = next(at);
        return !again;
    }
    const bool number = t->kind == NUMBER;

    if (number) {
        start = t->value;
        *t    = next(at);
    }
    if (*axis >= m->rank)
        return false;
    if (t->kind != COLON)
        return number && place_of(m, *axis, start, &l->base[*axis]) && (*axis)++ >= 0;
    if (!read_range(at, t, &stop, &step))
        return false;
    add_range(m, (*axis)++, start, stop, step, l);
    return true;
}

bool model_text(const model *m, const char *text, lists *l)
{
    const int rest = m->rank - count_taken(text);
    bool      dots = false;
    int       axis = 0;
    token     t;

    begin(l);
    l->knows_origin = true;
    if (rest < 0)
        return false;
    do {
        if (!read_part(m, &text, rest, &dots, &axis, l, &t))
            return false;
    } while (t.kind == COMMA);
    while (axis < m->rank)
        add_whole(m, axis++, l);
    return t.kind == END && l->rank <= RD_MAX_RANK;
}
