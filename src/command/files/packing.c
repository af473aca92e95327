/* packing.c - missing values, scale and offset.
 *
 * No integer becomes a double on the way: of 64 bits the neighbour of a missing value would be missing, too.
 * So values of attributes are integers or reals (cmd_exact), and ends of ranges are compared as integers
 * of the stored type. */
#include "files/packing.h"
#include <math.h>
#include <string.h>

/* ---- Values ---------------------------------------------------------------------------------- */
cmd_exact cmd_integer(int64_t value)
{
    return (cmd_exact){ .type = RD_I64, .i = value };
}

/* Only those that need it are unsigned: equal integers are equal values. */
cmd_exact cmd_unsigned(uint64_t value)
{
    return value <= INT64_MAX ? cmd_integer((int64_t)value)
                              : (cmd_exact){ .type = RD_U64, .u = value };
}

cmd_exact cmd_real(double value)
{
    return (cmd_exact){ .type = RD_F64, .f = value };
}

static double as_double(cmd_exact v)
{
    return v.type == RD_F64 ? v.f : v.type == RD_U64 ? (double)v.u : (double)v.i;
}

static bool same(cmd_exact a, cmd_exact b)
{
    return a.type == b.type && (a.type == RD_F64 ? a.f == b.f : a.u == b.u);
}

static bool is_less(cmd_exact a, cmd_exact b) /* of integers */
{
    return a.type == b.type ? (a.type == RD_U64 ? a.u < b.u : a.i < b.i) : a.type == RD_I64;
}

/* ---- Integer types --------------------------------------------------------------------------- */
static int bits_of(rd_dtype type)
{
    return 8 * (int)cmd_size_of(type);
}

static bool is_unsigned(rd_dtype type)
{
    return type == RD_U8 || type == RD_U16 || type == RD_U32 || type == RD_U64;
}

static bool is_signed(rd_dtype type)
{
    return type == RD_I8 || type == RD_I16 || type == RD_I32 || type == RD_I64;
}

static cmd_exact least_of(rd_dtype type)
{
    return cmd_integer(is_unsigned(type) ? 0 : INT64_MIN >> (64 - bits_of(type)));
}

static cmd_exact most_of(rd_dtype type)
{
    return is_unsigned(type) ? cmd_unsigned(UINT64_MAX >> (64 - bits_of(type)))
                             : cmd_integer(INT64_MAX >> (64 - bits_of(type)));
}

bool cmd_holds(rd_dtype type, cmd_exact value)
{
    if (!is_signed(type) && !is_unsigned(type))
        return true;
    if (value.type == RD_F64) {
        if (!(value.f >= -0x1p63 && value.f < 0x1p63) || value.f != nearbyint(value.f))
            return false;
        value = cmd_integer((int64_t)value.f);
    }
    return !is_less(value, least_of(type)) && !is_less(most_of(type), value);
}

/* The same bytes with the other sign; RD_AUTO: no integers. */
static rd_dtype turned(rd_dtype type)
{
    static const rd_dtype pairs[][2] = {
        { RD_I8, RD_U8 }, { RD_I16, RD_U16 }, { RD_I32, RD_U32 }, { RD_I64, RD_U64 }
    };

    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        for (int j = 0; j < 2; j++)
            if (pairs[k][j] == type)
                return pairs[k][!j];
    return RD_AUTO;
}

/* Attributes of a variable that is read with the other sign have its stored type. */
static cmd_exact turn(cmd_exact value, rd_dtype from, rd_dtype to)
{
    if (to != turned(from) || value.type == RD_F64)
        return value;
    const int      unused = 64 - bits_of(to);
    const uint64_t bits   = value.u << unused;
    return is_unsigned(to) ? cmd_unsigned(bits >> unused) : cmd_integer((int64_t)bits >> unused);
}

/* ---- Attributes ------------------------------------------------------------------------------ */
typedef struct attributes {
    cmd_numbers *numbers;
    void        *user;
    rd_dtype     type;   /* of the variable */
    bool         turned; /* by _Unsigned */
} attributes;

/* Signed attributes of unsigned variables are common where nothing was turned, too; not the reverse. */
static int values_of(const attributes *a, const char *name, cmd_exact **at, rd_dtype *type)
{
    const int n = a->numbers(a->user, name, at, type);

    for (int k = 0; k < n && (a->turned || is_signed(*type)); k++)
        (*at)[k] = turn((*at)[k], *type, a->type);
    return n;
}

/* Most files say the same in both attributes. */
static void add_missing(cmd_packing *p, const cmd_exact *at, int n)
{
    cmd_exact *all = cmd_room((size_t)(p->n_missing + n) * sizeof *all);

    for (int k = 0; k < p->n_missing; k++)
        all[k] = p->missing[k];
    p->missing = all;
    for (int k = 0; k < n; k++) {
        bool known = false;

        for (int j = 0; j < p->n_missing; j++)
            known |= same(all[j], at[k]);
        if (!known)
            all[p->n_missing++] = at[k];
    }
}

/* The users' guide of NetCDF: of the packed numbers, unless it has the type of the unpacked ones, which
 * packed ones cannot be meant with.  Programs that write a range of unpacked numbers in the packed type, as
 * netCDF4 does of 'v.valid_min = -5.0', cannot be told from others by what a file says.  The numbers might
 * give a hint, where most are outside; but then a part of a file could mean something else than the whole,
 * and so could two files that are joined. */
static cmd_end_of_range end_of(const attributes *a, bool packed, cmd_exact value, rd_dtype type)
{
    return (cmd_end_of_range){ .is    = true,
                               .meant = packed && cmd_is_float(type) && type != a->type,
                               .value = value };
}

static void read_range(cmd_packing *p, const attributes *a)
{
    const bool packed = p->type != RD_AUTO;
    rd_dtype   type;
    cmd_exact *at;

    if (values_of(a, "valid_range", &at, &type) == 2) {
        p->low  = end_of(a, packed, at[0], type);
        p->high = end_of(a, packed, at[1], type);
    }
    if (values_of(a, "valid_min", &at, &type) == 1)
        p->low = end_of(a, packed, at[0], type);
    if (values_of(a, "valid_max", &at, &type) == 1)
        p->high = end_of(a, packed, at[0], type);
}

/* One number of an attribute; false: there is none. */
static bool read_one(const attributes *a, const char *name, double *to, rd_dtype *type)
{
    cmd_exact *at;
    const bool found = a->numbers(a->user, name, &at, type) == 1;

    if (found)
        *to = as_double(at[0]);
    return found;
}

/* Packed numbers are unpacked to the type of scale_factor and add_offset. */
static void read_scale(cmd_packing *p, const attributes *a)
{
    rd_dtype   type = RD_F32, other = RD_F32;
    const bool scaled  = read_one(a, "scale_factor", &p->scale, &type),
               shifted = read_one(a, "add_offset", &p->add, &other);
    const bool narrow  = a->type == RD_F32 || cmd_size_of(a->type) <= 2;

    if (scaled || shifted)
        p->type =
            (scaled && type != RD_F32) || (shifted && other != RD_F32) || !narrow ? RD_F64 : RD_F32;
}

void cmd_read_packing(cmd_variable *v, const char *sign, cmd_numbers *numbers, void *user)
{
    cmd_packing p    = { .scale = 1 };
    const bool  turn = sign && (strcmp(sign, "true") == 0    ? is_signed(v->type)
                                : strcmp(sign, "false") == 0 ? is_unsigned(v->type)
                                                             : false);
    rd_dtype    type;
    cmd_exact  *at;

    if (turn)
        v->type = turned(v->type);
    const attributes a = { numbers, user, v->type, turn };
    const int        n = values_of(&a, "_FillValue", &at, &type);
    p.has_fill         = n > 0;
    add_missing(&p, at, n);
    add_missing(&p, at, values_of(&a, "missing_value", &at, &type));
    read_scale(&p, &a);
    read_range(&p, &a);
    v->packing = p;
}

void cmd_add_default_fill(cmd_variable *v, cmd_exact value, rd_dtype stored)
{
    cmd_packing *p = &v->packing;

    if (p->has_fill)
        return;
    /* Integers stay integers, unless some were in fact never written. */
    p->by_need = p->n_missing == 0 && !p->low.is && !p->high.is && p->type == RD_AUTO &&
                 !cmd_is_float(v->type);
    value = turn(value, stored, v->type);
    add_missing(p, &value, 1);
}

/* ---- Expressions ----------------------------------------------------------------------------- */
/* An integer that is beyond those that rd_int() takes is a leaf. */
static rd_expr *constant(rd_ctx *ctx, cmd_exact value)
{
    if (value.type == RD_F64)
        return rd_num(ctx, value.f);
    if (value.type == RD_I64)
        return rd_int(ctx, value.i);
    uint64_t *at = cmd_room(sizeof *at);
    *at          = value.u;
    return rd_leaf(ctx, &(rd_array){ .in = at, .type = RD_U64 });
}

/* A whole number as an integer; false: it is none, or one that no integer type has. */
static bool as_integer(double value, cmd_exact *to)
{
    if (!(value >= -0x1p63 && value < 0x1p64) || value != floor(value))
        return false;
    *to = value < 0 ? cmd_integer((int64_t)value) : cmd_unsigned((uint64_t)value);
    return true;
}

/* A mask: the stored number is this one.  NULL: the type cannot have it, or it is NaN, which is
 * missing by itself. */
static rd_expr *equal_to(rd_ctx *ctx, rd_expr *raw, cmd_exact value)
{
    const rd_dtype type = rd_type_of(raw);

    if (cmd_is_float(type))
        return as_double(value) == as_double(value) ? rd_eq(raw, rd_num(ctx, as_double(value)))
                                                    : NULL;
    if (value.type == RD_F64 && !as_integer(value.f, &value))
        return NULL;
    return is_less(value, least_of(type)) || is_less(most_of(type), value)
               ? NULL
               : rd_eq(raw, constant(ctx, value));
}

/* A mask: the integers lie below the end of a range, or above it.  NULL: none does. */
static rd_expr *integers_beyond(rd_ctx *ctx, rd_expr *raw, cmd_exact end, bool below)
{
    const rd_dtype  type  = rd_type_of(raw);
    const cmd_exact least = least_of(type), most = most_of(type);

    if (end.type == RD_F64) {
        const double whole = below ? ceil(end.f) : floor(end.f);
        if (whole != whole)
            return NULL;
        if (!as_integer(whole, &end)) /* beyond all integers, on one side or the other */
            return (whole > 0) == below ? rd_eq(raw, raw) : NULL;
    }
    if (below ? !is_less(least, end) : !is_less(end, most))
        return NULL;
    if (below ? is_less(most, end) : is_less(end, least))
        return rd_eq(raw, raw);
    return below ? rd_lt(raw, constant(ctx, end)) : rd_gt(raw, constant(ctx, end));
}

static rd_expr *beyond(rd_ctx *ctx, rd_expr *x, cmd_exact end, bool below)
{
    if (!cmd_is_float(rd_type_of(x)))
        return integers_beyond(ctx, x, end, below);
    const double value = as_double(end);
    return value != value ? NULL
           : below        ? rd_lt(x, rd_num(ctx, value))
                          : rd_gt(x, rd_num(ctx, value));
}

/* The end of a range of unpacked numbers as a packed one.  Scale and offset are rounded to f32 in most
 * files, so that an end a sixteenth of a step from a packed number is that number. */
static double packed_end(const cmd_packing *p, double end)
{
    const double at = (end - p->add) / p->scale, whole = nearbyint(at);

    return fabs(at - whole) < 1. / 16 ? whole : at;
}

static rd_expr *either(rd_expr *x, rd_expr *y)
{
    return x && y ? rd_or(x, y) : x ? x : y;
}

/* Outside one end; `y` is what is unpacked. */
static rd_expr *outside(rd_ctx *ctx, const cmd_packing *p, rd_expr *raw, rd_expr *y, bool below)
{
    const cmd_end_of_range *end = below ? &p->low : &p->high;

    if (!end->is)
        return NULL;
    if (!end->meant)
        return beyond(ctx, raw, end->value, below);
    if (cmd_is_float(rd_type_of(raw)) || p->scale == 0 || !isfinite(p->scale))
        return beyond(ctx, y, end->value, below);
    return integers_beyond(ctx, raw, cmd_real(packed_end(p, as_double(end->value))),
                           below == (p->scale > 0));
}

/* A mask: the stored number stands for a missing value.  NULL: none does. */
static rd_expr *missing_of(rd_ctx *ctx, const cmd_packing *p, rd_expr *raw, rd_expr *y)
{
    rd_expr *where = NULL;

    for (int k = 0; k < p->n_missing; k++)
        where = either(where, equal_to(ctx, raw, p->missing[k]));
    where = either(where, outside(ctx, p, raw, y, true));
    return either(where, outside(ctx, p, raw, y, false));
}

/* Is it anywhere?  What fails is met again where the expression is evaluated. */
static bool is_anywhere(rd_ctx *ctx, rd_expr *where)
{
    bool found = false;

    return where && rd_eval(ctx, rd_any(where, RD_ALL), RD_INTO(&found, RD_SCALAR)) == RD_OK &&
           found;
}

static rd_dtype type_with_missing(rd_dtype stored)
{
    return cmd_is_float(stored) ? stored : cmd_size_of(stored) <= 2 ? RD_F32 : RD_F64;
}

rd_expr *cmd_unpack(rd_ctx *ctx, const cmd_packing *p, rd_expr *raw)
{
    const bool     packed = p->type != RD_AUTO;
    const rd_dtype stored = rd_type_of(raw);

    if (stored == RD_BOOL || stored == RD_C64 || stored == RD_C128)
        return raw;
    rd_expr *y = rd_cast(raw, packed ? p->type : type_with_missing(stored));
    if (packed && p->scale != 1)
        y = rd_mul(y, rd_num(ctx, p->scale));
    /* A sum, here or of the formula, would be rounded once with the product; other readers round twice, and there
     * 0 is 0.  A difference is not; the one with 0 changes nothing. */
    if (packed)
        y = rd_sub(y, rd_num(ctx, 0 - p->add));
    rd_expr *const where = missing_of(ctx, p, raw, y);
    if ((!where && !packed) || (p->by_need && !is_anywhere(ctx, where)))
        return raw;
    return where ? rd_where(where, rd_num(ctx, (double)NAN), y) : y;
}
