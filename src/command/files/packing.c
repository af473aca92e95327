/* packing.c - missing values, scale and offset. */
#include "files/packing.h"
#include <math.h>

/* Bytes that are meant as unsigned ones have attributes of signed ones, too. */
static int numbers_of(const cmd_variable *v, cmd_numbers *numbers, void *user, const char *name,
                      int most, double *at, rd_dtype *type)
{
    const int n = numbers(user, name, most, at, type);

    for (int k = 0; k < n; k++)
        if (at[k] < 0 &&
            ((v->type == RD_U8 && *type == RD_I8) || (v->type == RD_U16 && *type == RD_I16)))
            at[k] += v->type == RD_U8 ? 256 : 65536;
    return n;
}

/* Most files say the same in both attributes. */
static int without_twins(double *missing, int n)
{
    int left = 0;

    for (int k = 0; k < n; k++) {
        bool known = false;

        for (int j = 0; j < left; j++)
            known |= missing[j] == missing[k];
        if (!known)
            missing[left++] = missing[k];
    }
    return left;
}

void cmd_read_packing(cmd_variable *v, cmd_numbers *numbers, void *user)
{
    cmd_packing p    = { .scale = 1 };
    rd_dtype    type = RD_F32, other = RD_F32;
    double      at[CMD_MOST_MISSING];

    p.n_missing = numbers_of(v, numbers, user, "_FillValue", 1, p.missing, &type);
    p.n_missing += numbers_of(v, numbers, user, "missing_value", CMD_MOST_MISSING - p.n_missing,
                              p.missing + p.n_missing, &type);
    p.n_missing = without_twins(p.missing, p.n_missing);
    if (numbers_of(v, numbers, user, "valid_range", 2, at, &type) == 2) {
        p.has_low = p.has_high = true;
        p.low                  = at[0];
        p.high                 = at[1];
    }
    if (numbers_of(v, numbers, user, "valid_min", 1, at, &type) == 1) {
        p.has_low = true;
        p.low     = at[0];
    }
    if (numbers_of(v, numbers, user, "valid_max", 1, at, &type) == 1) {
        p.has_high = true;
        p.high     = at[0];
    }
    type               = RD_F32;
    const bool scaled  = numbers(user, "scale_factor", 1, &p.scale, &type) == 1;
    const bool shifted = numbers(user, "add_offset", 1, &p.add, &other) == 1;
    const bool narrow  = v->type == RD_F32 || cmd_size_of(v->type) <= 2;
    if (scaled || shifted) /* what is packed is unpacked to the type of these */
        p.type =
            (scaled && type != RD_F32) || (shifted && other != RD_F32) || !narrow ? RD_F64 : RD_F32;
    v->packing = p;
}

/* A value that the stored type cannot have is nowhere: NULL. */
static rd_expr *number_like(rd_ctx *ctx, rd_dtype type, double value)
{
    static const struct range {
        rd_dtype type;
        double   low, high;
    } ranges[] = { { RD_I8, -128, 127 },
                   { RD_U8, 0, 255 },
                   { RD_I16, -32768, 32767 },
                   { RD_U16, 0, 65535 },
                   { RD_I32, -2147483648., 2147483647. },
                   { RD_U32, 0, 4294967295. },
                   { RD_I64, -9.2233720368547e18, 9.2233720368547e18 },
                   { RD_U64, 0, 9.2233720368547e18 } };

    if (cmd_is_float(type))
        return rd_num(ctx, value);
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
        if (ranges[k].type == type)
            return value >= ranges[k].low && value <= ranges[k].high &&
                           value == (double)(int64_t)value
                       ? rd_int(ctx, (int64_t)value)
                       : NULL;
    return NULL;
}

static rd_expr *either(rd_expr *x, rd_expr *y)
{
    return x && y ? rd_or(x, y) : x ? x : y;
}

/* Where the stored value stands for none; NULL: nowhere. */
static rd_expr *missing_of(rd_ctx *ctx, const cmd_packing *p, rd_expr *raw)
{
    const rd_dtype type  = rd_type_of(raw);
    rd_expr       *where = NULL;

    for (int k = 0; k < p->n_missing; k++) {
        rd_expr *value = p->missing[k] == p->missing[k] ? number_like(ctx, type, p->missing[k])
                                                        : NULL; /* NaN is NaN already */
        where          = either(where, value ? rd_eq(raw, value) : NULL);
    }
    if (p->has_low) {
        rd_expr *low = number_like(ctx, type, p->low);
        where        = either(where, rd_lt(raw, low ? low : rd_num(ctx, p->low)));
    }
    if (p->has_high) {
        rd_expr *high = number_like(ctx, type, p->high);
        where         = either(where, rd_gt(raw, high ? high : rd_num(ctx, p->high)));
    }
    return where;
}

rd_expr *cmd_unpack(rd_ctx *ctx, const cmd_packing *p, rd_expr *raw)
{
    const rd_dtype stored = rd_type_of(raw);
    rd_expr       *where = missing_of(ctx, p, raw), *y = raw;
    rd_dtype       type = p->type;

    if (!where && type == RD_AUTO)
        return raw;
    if (type == RD_AUTO)
        type = cmd_is_float(stored) ? stored : cmd_size_of(stored) <= 2 ? RD_F32 : RD_F64;
    y = rd_cast(y, type);
    if (p->type != RD_AUTO && p->scale != 1)
        y = rd_mul(y, rd_num(ctx, p->scale));
    if (p->type != RD_AUTO && p->add != 0)
        y = rd_add(y, rd_num(ctx, p->add));
    return where ? rd_where(where, rd_num(ctx, (double)NAN), y) : y;
}
