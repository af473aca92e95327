/* types.c - element types: their C and NumPy names, and how they promote (Array API, NumPy 2). */
#include "sweep.h"

static const dtype dtypes[] = {
    /* clang-format off */
    [RD_BOOL] = { "bool", "uint8_t",  "bool",    "uint8_t",   1, false, false, 0,       1        },
    [RD_I8]   = { "i8",   "int8_t",   "int8",    "int8_t",    1, false, true,  0,       127      },
    [RD_I16]  = { "i16",  "int16_t",  "int16",   "int16_t",   2, false, true,  0,       32767    },
    [RD_I32]  = { "i32",  "int32_t",  "int32",   "int32_t",   4, false, true,  0,       2.1e9    },
    [RD_I64]  = { "i64",  "int64_t",  "int64",   "int64_t",   8, false, true,  0,       4e18     },
    [RD_U8]   = { "u8",   "uint8_t",  "uint8",   "uint8_t",   1, false, false, 0,       255      },
    [RD_U16]  = { "u16",  "uint16_t", "uint16",  "uint16_t",  2, false, false, 0,       65535    },
    [RD_U32]  = { "u32",  "uint32_t", "uint32",  "uint32_t",  4, false, false, 0,       4.2e9    },
    [RD_U64]  = { "u64",  "uint64_t", "uint64",  "uint64_t",  8, false, false, 0,       4e18     },
    [RD_F16]  = { "f16",  "float",    "float16", "_Float16",  2, true,  true,  4.9e-4,  3e4      },
    [RD_BF16] = { "bf16", "float",    NULL,      "bfloat",    2, true,  true,  3.9e-3,  1e30     },
    [RD_F32]  = { "f32",  "float",    "float32", "float",     4, true,  true,  6e-8,    1e30     },
    [RD_F64]  = { "f64",  "double",   "float64", "double",    8, true,  true,  1.2e-16, 1e200    },
    /* clang-format on */
};

const dtype *sweep_dtype(rd_dtype type)
{
    return &dtypes[type];
}

double sweep_eps(rd_dtype type)
{
    return dtypes[type].eps;
}

static rd_dtype signed_of(int size)
{
    return size == 1   ? RD_I8
           : size == 2 ? RD_I16
           : size == 4 ? RD_I32
           : size == 8 ? RD_I64
                       : RD_F64;
}

static rd_dtype promote_floats(rd_dtype a, rd_dtype b)
{
    if (a == b)
        return a;
    return a == RD_F64 || b == RD_F64 ? RD_F64 : RD_F32; /* f16 and bf16 meet in f32 */
}

/* An int of 8 bits fits any float, of 16 bits f32, of more f64. */
static rd_dtype promote_mixed(rd_dtype real, rd_dtype whole)
{
    const int size = dtypes[whole].size;

    return size == 1 ? real : promote_floats(real, size == 2 ? RD_F32 : RD_F64);
}

static rd_dtype promote_ints(rd_dtype a, rd_dtype b)
{
    const dtype *x = &dtypes[a], *y = &dtypes[b];

    if (x->is_signed == y->is_signed)
        return x->size >= y->size ? a : b;
    if (y->is_signed)
        return promote_ints(b, a);
    return x->size > y->size ? a : signed_of(2 * y->size);
}

rd_dtype sweep_promote(rd_dtype a, rd_dtype b)
{
    if (a == b || b == RD_BOOL)
        return a;
    if (a == RD_BOOL)
        return b;
    if (dtypes[a].is_float)
        return dtypes[b].is_float ? promote_floats(a, b) : promote_mixed(a, b);
    return dtypes[b].is_float ? promote_mixed(b, a) : promote_ints(a, b);
}

rd_dtype sweep_op_type(const op_row *o, rd_dtype a, rd_dtype b)
{
    const rd_dtype t = o->arity == 2 ? sweep_promote(a, b) : a;

    switch (o->rule) {
    case OP_ARITH: return t == RD_BOOL ? RD_I64 : t;
    case OP_FLOAT: return dtypes[t].is_float ? t : RD_F64;
    default: return t;
    }
}

rd_dtype sweep_fold_type(fold_kind f, rd_dtype type)
{
    const dtype *t = &dtypes[type];

    switch (f) {
    case F_SUM:
    case F_PROD: return t->is_float ? type : t->is_signed || type == RD_BOOL ? RD_I64 : RD_U64;
    case F_MEAN:
    case F_VAR:
    case F_STD:
    case F_NORM:
    case F_LOGSUMEXP: return t->is_float ? type : RD_F64;
    case F_ARGMIN:
    case F_ARGMAX:
    case F_COUNT: return RD_I64;
    case F_ANY:
    case F_ALL: return RD_BOOL;
    default: return type;
    }
}
