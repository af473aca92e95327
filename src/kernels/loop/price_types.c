/* price_types.c - the rows of speeds.def that depend on the type of elements. */
#include "kernels/loop/price_statement.h"

enum { OF_F32, OF_F64, OF_I32, OF_I64, OF_U8, N_OF };

/* Returns the class of a type: the element that a vector instruction computes with.  Bools are
 * bytes; other small ints have 32 bits in registers. */
static int class_of_type(rd_dtype type)
{
    if (rd_dtype_kind(type) == RD_KIND_FLOAT)
        return rd_register_size(type) == 4 ? OF_F32 : OF_F64;
    return type == RD_BOOL ? OF_U8 : rd_register_size(type) == 4 ? OF_I32 : OF_I64;
}

/* Returns the bytes of an element in a vector.  Compilers compute small ints in 16 bits where they
 * can. */
int rd_size_in_vector(rd_dtype type)
{
    static const int size[N_OF] = { 4, 8, 4, 8, 1 };

    return type != RD_BOOL && rd_small_type(type) ? 2 : size[class_of_type(type)];
}

/* The rows of speeds.def of an operation, by class of type: f32, f64, i32, i64, and a given one for
 * bytes, which have no row for products. */
#define ROWS(op, of_u8)                                                                           \
    {                                                                                             \
        RD_SPEED_##op##_f32, RD_SPEED_##op##_f64, RD_SPEED_##op##_i32, RD_SPEED_##op##_i64, of_u8 \
    }
static const int add_rows[N_OF]    = ROWS(add, RD_SPEED_add_u8);
static const int mul_rows[N_OF]    = ROWS(mul, RD_SPEED_add_u8);
static const int select_rows[N_OF] = ROWS(select, RD_SPEED_select_u8);

/* Returns the time of an addition of two vectors of the type. */
double rd_add_ns(const rd_speeds *s, rd_dtype type)
{
    return s->row[add_rows[class_of_type(type)]];
}

/* Returns the time of a multiplication of two vectors of the type. */
double rd_mul_ns(const rd_speeds *s, rd_dtype type)
{
    return s->row[mul_rows[class_of_type(type)]];
}

/* Returns the time of a comparison and a selection of vectors of the type. */
double rd_select_ns(const rd_speeds *s, rd_dtype type)
{
    return s->row[select_rows[class_of_type(type)]];
}

/* Chooses between two numbers: the one for f32 if the type has 4 bytes in registers, else that for
 * f64. */
double rd_of_floats(rd_dtype type, double f32, double f64)
{
    return rd_register_size(type) == 4 ? f32 : f64;
}
