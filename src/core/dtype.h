/* dtype.h - facts about element types, from dtypes.def. */
#ifndef RD_CORE_DTYPE_H
#define RD_CORE_DTYPE_H
#include "core/saturate.h"
#include "rdim.h"
#include <stddef.h>

/* Kinds of types, in the order of promotion. */
typedef enum rd_kind {
    RD_KIND_BOOL,
    RD_KIND_UINT,
    RD_KIND_INT,
    RD_KIND_FLOAT,
    RD_KIND_COMPLEX
} rd_kind;

/* One value in a register of a loop program.  The class of its type says which member is used. */
typedef union rd_word {
    float    f32;
    double   f64;
    int64_t  i64;
    uint64_t u64;
} rd_word;

/* The members of rd_word.  Several types share one: small ints are in i64 or u64, halves in f32. */
typedef enum rd_class {
    RD_CLASS_f32,
    RD_CLASS_f64,
    RD_CLASS_i64,
    RD_CLASS_u64,
    RD_N_CLASS
} rd_class;

/* rd_dtype_ok(): true for types of elements.  Real types are those of dtypes.def, which loops
 * know.  Complex ones become pairs of reals before any loop (expr/complex.h). */
bool        rd_dtype_ok(rd_dtype type);
bool        rd_dtype_is_real(rd_dtype type);
bool        rd_dtype_is_complex(rd_dtype type);
const char *rd_dtype_name(rd_dtype type); /* "f32"; "?" for garbage */
int         rd_dtype_size(rd_dtype type); /* bytes                                                */
int         rd_dtype_align(rd_dtype type); /* bytes: the size; of complex types a part's */
rd_kind     rd_dtype_kind(rd_dtype type);
rd_class    rd_dtype_class(rd_dtype type);
/* The type of x op y for two strong types, as in the Array API standard; mixed kinds as in NumPy
 * 2. */
rd_dtype rd_dtype_promote(rd_dtype a, rd_dtype b);
/* True if every value of `from` is a value of `to`, by type: NumPy's "safe" casting. */
bool rd_dtype_safe(rd_dtype from, rd_dtype to);
/* The type of the parts of a complex type, and the complex type that can hold floats of `part`. */
rd_dtype rd_dtype_part(rd_dtype type);
rd_dtype rd_dtype_of_parts(rd_dtype part);
/* True for floats that only memory has, of 16 bits or fewer: they are f32 in registers, and the
 * result of each operation is rounded to them.  rd_dtype_size() says which take two bytes. */
bool rd_dtype_is_narrow_float(rd_dtype type);
/* True for floats without infinities, in which numbers that are too large become NaN. */
bool rd_dtype_lacks_infinity(rd_dtype type);
/* Bits of a float type's exponent and fraction, and its largest finite number. */
int    rd_dtype_exponent_bits(rd_dtype type);
int    rd_dtype_fraction_bits(rd_dtype type);
double rd_dtype_largest(rd_dtype type);
/* True if a value of `from` has the same register bits as a value of `to`.  Not for bool, which
 * arrays keep in bytes. */
bool rd_dtype_same_word(rd_dtype from, rd_dtype to);

/* Load and store a value; convert it by rd_cast()'s rules (rdim.h). */
rd_word rd_word_load(const void *p, rd_dtype type);
void    rd_word_store(void *p, rd_dtype type, rd_word value);
rd_word rd_word_convert(rd_word value, rd_dtype from, rd_dtype to);
rd_word rd_word_from_double(double value, rd_dtype type);
rd_word rd_word_from_int(int64_t value, rd_dtype type);
double  rd_word_to_double(rd_word value, rd_dtype type);
/* The least or the greatest value of a real type; of floats an infinity where there is one. */
rd_word rd_word_end(rd_dtype type, bool greatest);

#endif
