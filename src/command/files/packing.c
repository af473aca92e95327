/* packing.c - missing values, scale and offset of variables.
 *
 * No integer becomes a double: of 64-bit integers, a neighbour of a missing value would then be
 * missing, too. So values of attributes are integers or reals (cmd_exact), and ends of ranges are
 * compared as integers of the stored type. */
#include "files/packing.h"
#include <math.h>
#include <string.h>

/* ---- Values ---------------------------------------------------------------------------------- */
/* Makes an exact signed integer. */
cmd_exact cmd_integer(int64_t value)
{
    return (cmd_exact){ .type = RD_I64, .i = value };
}

/* Makes a signed integer if int64 holds the value, so that equal integers have one
 * representation. */
cmd_exact cmd_unsigned(uint64_t value)
{
    return value <= INT64_MAX ? cmd_integer((int64_t)value)
                              : (cmd_exact){ .type = RD_U64, .u = value };
}

/* Makes an exact real. */
cmd_exact cmd_real(double value)
{
    return (cmd_exact){ .type = RD_F64, .f = value };
}

/* The value as a double, which rounds integers beyond 2^53. */
static double as_double(cmd_exact v)
{
    return v.type == RD_F64 ? v.f : v.type == RD_U64 ? (double)v.u : (double)v.i;
}

/* True if both values have equal type and value. Integers of one type are compared by their
 * bits. */
static bool is_same(cmd_exact a, cmd_exact b)
{
    return a.type == b.type && (a.type == RD_F64 ? a.f == b.f : a.u == b.u);
}

/* True if integer a is less than b. Only integers above INT64_MAX are unsigned, so an unsigned one
 * is the greater of two types. */
static bool is_less(cmd_exact a, cmd_exact b)
{
    return a.type == b.type ? (a.type == RD_U64 ? a.u < b.u : a.i < b.i) : a.type == RD_I64;
}

/* ---- Integer types --------------------------------------------------------------------------- */
/* The number of bits of a type. */
static int bits_of(rd_dtype type)
{
    return 8 * (int)cmd_size_of(type);
}

/* True if the type is an unsigned integer. */
static bool is_unsigned(rd_dtype type)
{
    return type == RD_U8 || type == RD_U16 || type == RD_U32 || type == RD_U64;
}

/* True if the type is a signed integer. */
static bool is_signed(rd_dtype type)
{
    return type == RD_I8 || type == RD_I16 || type == RD_I32 || type == RD_I64;
}

/* The least value of an integer type. */
static cmd_exact least_of(rd_dtype type)
{
    return cmd_integer(is_unsigned(type) ? 0 : INT64_MIN >> (64 - bits_of(type)));
}

/* The greatest value of an integer type. */
static cmd_exact most_of(rd_dtype type)
{
    return is_unsigned(type) ? cmd_unsigned(UINT64_MAX >> (64 - bits_of(type)))
                             : cmd_integer(INT64_MAX >> (64 - bits_of(type)));
}

/* True if the type can hold the value. Floats and bools count as able to hold each. A real must be
 * whole, and is compared as an integer. */
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

/* The integer type of the same size and the other sign; RD_AUTO: `type` is no integer. */
static rd_dtype other_sign(rd_dtype type)
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

/* Reinterprets an integer of type `from` as type `to`, if the two differ in sign alone: -1 of 8
 * bits becomes 255. The shifts remove the bits above the type, and extend the sign or zero. */
static cmd_exact with_sign_of(cmd_exact value, rd_dtype from, rd_dtype to)
{
    if (to != other_sign(from) || value.type == RD_F64)
        return value;
    const int      unused = 64 - bits_of(to);
    const uint64_t bits   = value.u << unused;
    return is_unsigned(to) ? cmd_unsigned(bits >> unused) : cmd_integer((int64_t)bits >> unused);
}

/* ---- Attributes ------------------------------------------------------------------------------ */
/* The attributes of one variable, as its format reads them. */
typedef struct attributes {
    cmd_numbers *numbers;
    void        *user;
    rd_dtype     type;         /* of the variable */
    bool         sign_changed; /* true if _Unsigned changed the sign of the type */
} attributes;

/* Reads an attribute as values of the variable's type; returns how many. Signed attributes of
 * unsigned variables are common even without _Unsigned, and are reinterpreted; the reverse is
 * not. */
static int values_of(const attributes *a, const char *name, cmd_exact **at, rd_dtype *type)
{
    const int n = a->numbers(a->user, name, at, type);

    for (int k = 0; k < n && (a->sign_changed || is_signed(*type)); k++)
        (*at)[k] = with_sign_of((*at)[k], *type, a->type);
    return n;
}

/* Adds n missing values, without duplicates: most files have one value in both attributes,
 * _FillValue and missing_value. */
static void add_missing(cmd_packing *p, const cmd_exact *at, int n)
{
    cmd_exact *all = cmd_room((size_t)(p->n_missing + n) * sizeof *all);

    for (int k = 0; k < p->n_missing; k++)
        all[k] = p->missing[k];
    p->missing = all;
    for (int k = 0; k < n; k++) {
        bool known = false;

        for (int j = 0; j < p->n_missing; j++)
            known |= is_same(all[j], at[k]);
        if (!known)
            all[p->n_missing++] = at[k];
    }
}

/* Makes one end of the valid range. By the users' guide of NetCDF it limits packed numbers, unless
 * it is a float of another type than theirs (`meant`: it limits unpacked values). Some programs
 * write a range of unpacked numbers in the packed type, as netCDF4 does for 'v.valid_min = -5.0'. A
 * file does not tell these apart. The numbers might give a hint, but then a part of a file could
 * mean something else than the whole file. */
static cmd_end_of_range end_of(const attributes *a, bool packed, cmd_exact value, rd_dtype type)
{
    return (cmd_end_of_range){ .is    = true,
                               .meant = packed && cmd_is_float(type) && type != a->type,
                               .value = value };
}

/* Reads the valid range: valid_range has both ends; valid_min and valid_max have priority.
 * `packed`: the variable has a scale or an offset. */
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

/* Reads an attribute of one number; false: there is none. */
static bool read_one(const attributes *a, const char *name, double *to, rd_dtype *type)
{
    cmd_exact *at;
    const bool found = a->numbers(a->user, name, &at, type) == 1;

    if (found)
        *to = as_double(at[0]);
    return found;
}

/* Reads scale_factor and add_offset. Unpacked values are f32 if both attributes are f32 and the
 * stored type has few enough bits (`narrow`); else f64. */
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

/* Reads what stored numbers mean. _Unsigned ("true" or "false") first changes the sign of the
 * variable's integer type, unless it has that sign; then come missing values, scale and range. */
void cmd_read_packing(cmd_variable *v, const char *sign, cmd_numbers *numbers, void *user)
{
    cmd_packing p            = { .scale = 1 };
    const bool  sign_changes = sign && (strcmp(sign, "true") == 0    ? is_signed(v->type)
                                        : strcmp(sign, "false") == 0 ? is_unsigned(v->type)
                                                                     : false);
    rd_dtype    type;
    cmd_exact  *at;

    if (sign_changes)
        v->type = other_sign(v->type);
    const attributes a = { numbers, user, v->type, sign_changes };
    const int        n = values_of(&a, "_FillValue", &at, &type);
    p.has_fill         = n > 0;
    add_missing(&p, at, n);
    add_missing(&p, at, values_of(&a, "missing_value", &at, &type));
    read_scale(&p, &a);
    read_range(&p, &a);
    v->packing = p;
}

/* Adds the default fill value as a missing value, unless the variable has _FillValue. `by_need`: an
 * integer variable without other missing values, range and scale stays of its type unless an
 * element has the value. */
void cmd_add_default_fill(cmd_variable *v, cmd_exact value, rd_dtype stored)
{
    cmd_packing *p = &v->packing;

    if (p->has_fill)
        return;
    /* Integers stay integers unless some elements were never written. */
    p->by_need = p->n_missing == 0 && !p->low.is && !p->high.is && p->type == RD_AUTO &&
                 !cmd_is_float(v->type);
    value = with_sign_of(value, stored, v->type);
    add_missing(p, &value, 1);
}

/* ---- Expressions ----------------------------------------------------------------------------- */
/* Makes a constant. An integer above INT64_MAX is a leaf (input array), as rd_int() does not take
 * it. */
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

/* Converts a whole double to an integer, unsigned if it is not negative. False: it is not whole, or
 * too large for 64 bits. */
static bool as_integer(double value, cmd_exact *to)
{
    if (!(value >= -0x1p63 && value < 0x1p64) || value != floor(value))
        return false;
    *to = value < 0 ? cmd_integer((int64_t)value) : cmd_unsigned((uint64_t)value);
    return true;
}

/* Makes a mask that is true where the stored number equals `value`. NULL: the type cannot hold the
 * value, or it is NaN, which needs no mask. */
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

/* Makes a mask that is true where integers lie below the lower end (`below`), or above the upper
 * end, of a range. NULL: none can. A real end is rounded inward. An end beyond all integers of the
 * type makes none or all of them lie outside; rd_eq(raw, raw) is true everywhere. */
static rd_expr *integers_beyond(rd_ctx *ctx, rd_expr *raw, cmd_exact end, bool below)
{
    const rd_dtype  type  = rd_type_of(raw);
    const cmd_exact least = least_of(type), most = most_of(type);

    if (end.type == RD_F64) {
        const double whole = below ? ceil(end.f) : floor(end.f);
        if (whole != whole)
            return NULL;
        if (!as_integer(whole, &end)) /* the end lies beyond all integers */
            return (whole > 0) == below ? rd_eq(raw, raw) : NULL;
    }
    if (below ? !is_less(least, end) : !is_less(end, most))
        return NULL;
    if (below ? is_less(most, end) : is_less(end, least))
        return rd_eq(raw, raw);
    return below ? rd_lt(raw, constant(ctx, end)) : rd_gt(raw, constant(ctx, end));
}

/* Makes a mask that is true where numbers lie outside one end of a range. NULL: none can, as the
 * end is NaN or beyond the type. */
static rd_expr *mask_beyond(rd_ctx *ctx, rd_expr *x, cmd_exact end, bool below)
{
    if (!cmd_is_float(rd_type_of(x)))
        return integers_beyond(ctx, x, end, below);
    const double value = as_double(end);
    return value != value ? NULL
           : below        ? rd_lt(x, rd_num(ctx, value))
                          : rd_gt(x, rd_num(ctx, value));
}

/* Converts the end of a range of unpacked values to packed ones. Most files round scale and offset
 * to f32, so an end within a sixteenth of a packed number is that number. */
static double packed_end(const cmd_packing *p, double end)
{
    const double at = (end - p->add) / p->scale, whole = nearbyint(at);

    return fabs(at - whole) < 1. / 16 ? whole : at;
}

/* Joins two masks by or; NULL is a mask that is false everywhere. */
static rd_expr *or_masks(rd_expr *x, rd_expr *y)
{
    return x && y ? rd_or(x, y) : x ? x : y;
}

/* Makes a mask for one end of the valid range. `y` holds the unpacked values. An end of unpacked
 * values (`meant`) becomes one of packed integers, so that no value is rounded; a negative scale
 * exchanges the ends. Floats, and numbers with a scale that has no inverse, are compared after
 * unpacking. */
static rd_expr *mask_outside(rd_ctx *ctx, const cmd_packing *p, rd_expr *raw, rd_expr *y,
                             bool below)
{
    const cmd_end_of_range *end = below ? &p->low : &p->high;

    if (!end->is)
        return NULL;
    if (!end->meant)
        return mask_beyond(ctx, raw, end->value, below);
    if (cmd_is_float(rd_type_of(raw)) || p->scale == 0 || !isfinite(p->scale))
        return mask_beyond(ctx, y, end->value, below);
    return integers_beyond(ctx, raw, cmd_real(packed_end(p, as_double(end->value))),
                           below == (p->scale > 0));
}

/* Makes a mask that is true where the stored number means a missing value: one of the listed
 * numbers, or one outside of the valid range. NULL: none can. */
static rd_expr *missing_of(rd_ctx *ctx, const cmd_packing *p, rd_expr *raw, rd_expr *y)
{
    rd_expr *where = NULL;

    for (int k = 0; k < p->n_missing; k++)
        where = or_masks(where, equal_to(ctx, raw, p->missing[k]));
    where = or_masks(where, mask_outside(ctx, p, raw, y, /*below=*/true));
    return or_masks(where, mask_outside(ctx, p, raw, y, /*below=*/false));
}

/* True if the mask is true for any element, which evaluates it. An error is ignored here, as it
 * occurs again when the expression is evaluated. */
static bool is_anywhere(rd_ctx *ctx, rd_expr *where)
{
    bool found = false;

    return where && rd_eval(ctx, rd_any(where, RD_ALL), RD_INTO(&found, RD_SCALAR)) == RD_OK &&
           found;
}

/* The type that holds NaN beside the stored numbers: f32 holds integers of up to 16 bits exactly,
 * and f64 those of up to 32 bits. Integers of 64 bits may be rounded. */
static rd_dtype type_with_missing(rd_dtype stored)
{
    return cmd_is_float(stored) ? stored : cmd_size_of(stored) <= 2 ? RD_F32 : RD_F64;
}

/* Casts, scales and shifts the numbers, and replaces missing ones by NaN. Bools and complex numbers
 * stay as they are, and so do numbers without scale and without missing values. */
rd_expr *cmd_unpack(rd_ctx *ctx, const cmd_packing *p, rd_expr *raw)
{
    const bool     packed = p->type != RD_AUTO;
    const rd_dtype stored = rd_type_of(raw);

    if (stored == RD_BOOL || stored == RD_C64 || stored == RD_C128)
        return raw;
    rd_expr *y = rd_cast(raw, packed ? p->type : type_with_missing(stored));
    if (packed && p->scale != 1)
        y = rd_mul(y, rd_num(ctx, p->scale));
    /* Uses a difference, as a sum could be contracted with the product and rounded once. Other
     * readers round twice, and get 0 where this would not. A difference with 0 changes nothing. */
    if (packed)
        y = rd_sub(y, rd_num(ctx, 0 - p->add));
    rd_expr *const where = missing_of(ctx, p, raw, y);
    if ((!where && !packed) || (p->by_need && !is_anywhere(ctx, where)))
        return raw;
    return where ? rd_where(where, rd_num(ctx, (double)NAN), y) : y;
}
