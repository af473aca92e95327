/* dtype.c - element types: names, sizes, promotion, and conversion of one value between memory,
 * registers and types.
 *
 * The class of a type says which member of a register's word (rd_word) holds its values.  A half
 * is a 16-bit float. */
#include "core/dtype.h"
#include "core/half.h"
#include <math.h>
#include <string.h>

/* Facts of an element type, from its row in dtypes.def. */
typedef struct dtype_info {
    const char *name;
    int         size; /* bytes; 0: not a type */
    rd_kind     kind;
    rd_class class;
    int  exponent, fraction; /* bits of a float's two fields */
    bool infinity;           /* a float has one              */
} dtype_info;

/* The types by number. */
static const dtype_info table[] = {
    [RD_AUTO] = { "auto", 0, RD_KIND_BOOL, RD_CLASS_u64, 0, 0, false },
#define RD_DTYPE(type, name, ctype, kind, class, long_, code, dlpack, ...) \
    [RD_##type] = { #name, (int)sizeof(ctype), kind, RD_CLASS_##class, __VA_ARGS__ },
#include "core/dtypes.def"
    [RD_C64]  = { "c64", 2 * sizeof(float), RD_KIND_COMPLEX, RD_CLASS_f32, 0, 0, false },
    [RD_C128] = { "c128", 2 * sizeof(double), RD_KIND_COMPLEX, RD_CLASS_f64, 0, 0, false },
};
enum { N_TYPES = sizeof table / sizeof table[0] };

/* Returns the row of a type in the table; for a number that is no type a row of size 0, named
 * "?". */
static const dtype_info *info(rd_dtype type)
{
    static const dtype_info garbage = { "?", 0, RD_KIND_BOOL, RD_CLASS_u64, 0, 0, false };

    return (unsigned)type < N_TYPES ? &table[type] : &garbage;
}

/* True for a type of elements; false for AUTO and numbers that are no type. */
bool rd_dtype_ok(rd_dtype type)
{
    return info(type)->size > 0;
}

/* True for c64 and c128. */
bool rd_dtype_is_complex(rd_dtype type)
{
    return info(type)->kind == RD_KIND_COMPLEX;
}

/* True for a type of elements that is not complex. */
bool rd_dtype_is_real(rd_dtype type)
{
    return rd_dtype_ok(type) && !rd_dtype_is_complex(type);
}

/* The type of the real and imaginary parts of a complex type. */
rd_dtype rd_dtype_part(rd_dtype type)
{
    return type == RD_C64 ? RD_F32 : RD_F64;
}

/* The complex type with parts of type `part`; c64 for smaller floats, too. */
rd_dtype rd_dtype_of_parts(rd_dtype part)
{
    return part == RD_F64 ? RD_C128 : RD_C64;
}

/* The name of a type, as "f32"; "?" for a number that is no type. */
const char *rd_dtype_name(rd_dtype type)
{
    return info(type)->name;
}

/* The bytes of an element; 0 for a number that is no type. */
int rd_dtype_size(rd_dtype type)
{
    return info(type)->size;
}

/* The alignment of elements in bytes: their size; of complex types that of a part. */
int rd_dtype_align(rd_dtype type)
{
    return rd_dtype_is_complex(type) ? info(type)->size / 2 : info(type)->size;
}

/* The kind of a type: bool, unsigned, int, float or complex. */
rd_kind rd_dtype_kind(rd_dtype type)
{
    return info(type)->kind;
}

/* Returns the class of a type: which member of rd_word, the union that a register holds, has its
 * values. */
rd_class rd_dtype_class(rd_dtype type)
{
    return info(type)->class;
}

/* The signed int type of so many bytes; f64 if there is none. */
static rd_dtype signed_of_size(int size)
{
    return size == 2 ? RD_I16 : size == 4 ? RD_I32 : size == 8 ? RD_I64 : RD_F64;
}

/* True if float type b holds each number of float type a: b's exponent and fraction have no
 * fewer bits. */
static bool is_within(rd_dtype a, rd_dtype b)
{
    return info(a)->exponent <= info(b)->exponent && info(a)->fraction <= info(b)->fraction;
}

/* Returns the narrowest float type, from `type` on, that holds all ints of so many bits, or f64.
 * The leading 1 of a number is not stored in its fraction, so a fraction holds one bit more. */
static rd_dtype float_of_ints(rd_dtype type, int bits)
{
    if (info(type)->fraction + 1 >= bits)
        return type;
    return info(type)->fraction < info(RD_F32)->fraction && info(RD_F32)->fraction + 1 >= bits
               ? RD_F32
               : RD_F64;
}

/* Returns the common type of two real types, as NumPy 2 promotes them. Of two floats neither of
 * which holds the other (f16 and bf16) it is f32; of u64 and a signed int it is f64. small and
 * large are bytes. A kind mixed with itself gives the larger type; bool gives the other one. */
static rd_dtype promote_real(rd_dtype a, rd_dtype b)
{
    /* low has the lower kind: bool, unsigned, int, float */
    const bool     ordered = rd_dtype_kind(a) <= rd_dtype_kind(b);
    const rd_dtype low = ordered ? a : b, high = ordered ? b : a;
    const int      small = rd_dtype_size(low), large = rd_dtype_size(high);

    if (rd_dtype_kind(low) == RD_KIND_FLOAT)
        return is_within(low, high) ? high : is_within(high, low) ? low : RD_F32;
    if (rd_dtype_kind(low) == rd_dtype_kind(high))
        return large >= small ? high : low;
    if (rd_dtype_kind(low) == RD_KIND_BOOL)
        return high;
    if (rd_dtype_kind(high) == RD_KIND_INT) /* u64 and a signed type: no int holds both, size 16
                                             * gives f64 */
        return large > small ? high : signed_of_size(2 * small);
    return float_of_ints(high, 8 * small);
}

/* The common type of two types, as in the Array API standard.  A complex one has parts of the
 * common type of both parts. */
rd_dtype rd_dtype_promote(rd_dtype a, rd_dtype b)
{
    if (rd_dtype_is_complex(a) || rd_dtype_is_complex(b)) {
        const rd_dtype p = rd_dtype_is_complex(a) ? rd_dtype_part(a) : a;
        const rd_dtype q = rd_dtype_is_complex(b) ? rd_dtype_part(b) : b;

        return rd_dtype_of_parts(rd_dtype_promote(p, q));
    }
    return promote_real(a, b);
}

/* True if every value of `from` is a value of `to`: their common type is `to`. */
bool rd_dtype_safe(rd_dtype from, rd_dtype to)
{
    return rd_dtype_promote(from, to) == to;
}

/* True for floats of 16 bits or fewer, which only memory has: in registers they are f32. */
bool rd_dtype_is_narrow_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT && rd_dtype_size(type) < 4;
}

/* True for floats without infinities (f8e4m3), in which numbers that are too large become NaN. */
bool rd_dtype_lacks_infinity(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT && !info(type)->infinity;
}

/* The bits of a float type's exponent. */
int rd_dtype_exponent_bits(rd_dtype type)
{
    return info(type)->exponent;
}

/* The bits of a float's fraction; 0 for other types. */
int rd_dtype_fraction_bits(rd_dtype type)
{
    return info(type)->fraction;
}

/* The largest finite number of a float type.  The exponent of all ones is kept for infinities and
 * NaN, and the significand is 1.11..1.  A type without infinities has numbers with that exponent,
 * and NaN is the significand 1.11..1 of it.  A type without exponent bits is no float. */
double rd_dtype_largest(rd_dtype type)
{
    const int  exponent = info(type)->exponent, fraction = info(type)->fraction;
    const bool infinity = info(type)->infinity;

    return exponent < 1
               ? INFINITY
               : ldexp(2 - ldexp(infinity ? 1 : 2, -fraction), (1 << (exponent - 1)) - infinity);
}

/* True if a value of `from` has the same bits in a register as the same value of `to`, so that a
 * cast does nothing. Not from bool, which arrays keep in bytes. */
bool rd_dtype_same_word(rd_dtype from, rd_dtype to)
{
    return from == to || (from != RD_BOOL && rd_dtype_class(from) == rd_dtype_class(to) &&
                          rd_dtype_safe(from, to));
}

/* Loads a value of a type from memory (which need not be aligned) into a register's word, the
 * union member of its class; narrow floats become f32. Rows of dtypes.def make the cases;
 * `class` is the union's member. */
rd_word rd_word_load(const void *p, rd_dtype type)
{
    rd_word value = { .u64 = 0 };

    switch (type) {
#define RD_DTYPE(enum_, name, ctype, kind, class, ...) \
    case RD_##enum_: {                                 \
        ctype memory;                                  \
        memcpy(&memory, p, sizeof memory);             \
        value.class = memory;                          \
        break;                                         \
    }
#define RD_NARROW_FLOAT(enum_, name, ctype, kind, class, ...) \
    case RD_##enum_: {                                        \
        ctype memory;                                         \
        memcpy(&memory, p, sizeof memory);                    \
        value.class = ctype##_to_f32(memory);                 \
        break;                                                \
    }
#include "core/dtypes.def"
    default: break;
    }
    if (type == RD_BOOL)
        value.u64 = value.u64 != 0;
    return value;
}

/* Stores a register's word as a value of a type in memory, which need not be aligned; an f32 is
 * rounded to narrow floats. Rows of dtypes.def make the cases; `class` is the union's member. */
void rd_word_store(void *p, rd_dtype type, rd_word value)
{
    switch (type) {
#define RD_DTYPE(enum_, name, ctype, kind, class, ...) \
    case RD_##enum_: {                                 \
        const ctype memory = (ctype)value.class;       \
        memcpy(p, &memory, sizeof memory);             \
        break;                                         \
    }
#define RD_NARROW_FLOAT(enum_, name, ctype, kind, class, ...) \
    case RD_##enum_: {                                        \
        const ctype memory = ctype##_of_f32(value.class);     \
        memcpy(p, &memory, sizeof memory);                    \
        break;                                                \
    }
#include "core/dtypes.def"
    default: break;
    }
}

/* True if the value in a word of that class (the member of the union that holds it) is not 0; a
 * NaN is true. */
static bool is_true(rd_word value, rd_class class)
{
    switch (class) {
    case RD_CLASS_f32: return value.f32 != 0;
    case RD_CLASS_f64: return value.f64 != 0;
    default: return value.u64 != 0;
    }
}

/* Converts a word of a class to f32 or f64 (`to`). Each int is rounded once; by way of f64 it
 * would be rounded twice. `narrow`: to f32. A word holds a value in one of the classes f32, f64,
 * i64 and u64. */
static rd_word to_float(rd_word value, rd_class class, rd_class to)
{
    const bool narrow = to == RD_CLASS_f32;
    rd_word    y      = { .u64 = 0 };

    switch (class) {
    case RD_CLASS_f32: narrow ? (void)(y.f32 = value.f32) : (void)(y.f64 = value.f32); break;
    case RD_CLASS_f64: narrow ? (void)(y.f32 = (float)value.f64) : (void)(y.f64 = value.f64); break;
    case RD_CLASS_i64:
        narrow ? (void)(y.f32 = (float)value.i64) : (void)(y.f64 = (double)value.i64);
        break;
    default: narrow ? (void)(y.f32 = (float)value.u64) : (void)(y.f64 = (double)value.u64); break;
    }
    return y;
}

/* Converts a word of a class to a narrow float (16 bits or fewer), rounded once, at the store.
 * The f32 before is exact, or rounded to odd: its last bit then says on which side of a tie the
 * number is. Rounded to odd: rd_odd_f64() and the like. It is stored and loaded again, to be
 * what memory would hold. */
static rd_word to_narrow_float(rd_word value, rd_class class, rd_dtype to)
{
    char memory[2];

    switch (class) {
    case RD_CLASS_f32: break;
    case RD_CLASS_f64: value.f32 = rd_odd_f64(value.f64); break;
    case RD_CLASS_i64: value.f32 = rd_odd_i64(value.i64); break;
    default: value.f32 = rd_odd_u64(value.u64); break;
    }
    rd_word_store(memory, to, value);
    return rd_word_load(memory, to);
}

/* Keeps the low `size` bytes of an int and extends them to 64 bits again, with the sign if the
 * target is signed: 300 as i8 is 44, 200 is -56. Of sizes that are no ints below 64 bits all
 * bits stay. */
static rd_word wrap(uint64_t bits, rd_class to, int size)
{
    uint64_t top;

    if (size < 1 || size > 7)
        return (rd_word){ .u64 = bits };
    top = (uint64_t)1 << (8 * size - 1);
    bits &= 2 * top - 1;
    return (rd_word){ .u64 = to == RD_CLASS_i64 ? (bits ^ top) - top : bits };
}

/* Converts a word between types by rd_cast()'s rules: to bool by comparison with 0, floats to ints
 * with saturation, ints by wrapping. is_true() compares with 0, and wrap() cuts an int to the
 * bytes of its type. */
rd_word rd_word_convert(rd_word value, rd_dtype from, rd_dtype to)
{
    const rd_class source = rd_dtype_class(from), target = rd_dtype_class(to);

    if (to == RD_BOOL)
        return (rd_word){ .u64 = is_true(value, source) };
    if (rd_dtype_is_narrow_float(to))
        return to_narrow_float(value, source, to);
    if (target == RD_CLASS_f32 || target == RD_CLASS_f64)
        return to_float(value, source, target);
    if (source == RD_CLASS_f32 || source == RD_CLASS_f64) {
        const double x = source == RD_CLASS_f32 ? value.f32 : value.f64;
        value.u64      = target == RD_CLASS_i64 ? (uint64_t)rd_saturate_i64(x) : rd_saturate_u64(x);
    }
    return wrap(value.u64, target, rd_dtype_size(to));
}

/* The word of a number in that type, by rd_cast()'s rules. */
rd_word rd_word_from_double(double value, rd_dtype type)
{
    return rd_word_convert((rd_word){ .f64 = value }, RD_F64, type);
}

/* The word of an int in that type, by rd_cast()'s rules. */
rd_word rd_word_from_int(int64_t value, rd_dtype type)
{
    return rd_word_convert((rd_word){ .i64 = value }, RD_I64, type);
}

/* The number in a word as f64, rounded if it must be. */
double rd_word_to_double(rd_word value, rd_dtype type)
{
    return rd_word_convert(value, type, RD_F64).f64;
}

/* Returns the least or the greatest value of a real type as a register's word; of floats an
 * infinity, or the largest number of a type without one. `most` is the greatest float. The last
 * case is bool: 0 or 1. */
rd_word rd_word_end(rd_dtype type, bool greatest)
{
    const int bits = 8 * rd_dtype_size(type);
    rd_word   w    = { 0 };
    double    most;

    switch (rd_dtype_kind(type)) {
    case RD_KIND_FLOAT:
        most = rd_dtype_lacks_infinity(type) ? rd_dtype_largest(type) : INFINITY;
        return rd_word_from_double(greatest ? most : -most, type);
    case RD_KIND_INT: w.i64 = greatest ? INT64_MAX >> (64 - bits) : INT64_MIN >> (64 - bits); break;
    case RD_KIND_UINT: w.u64 = greatest ? UINT64_MAX >> (64 - bits) : 0; break;
    default: w.u64 = greatest;
    }
    return w;
}
