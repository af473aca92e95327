/* take_strip.h - takes strips of rows of any type but 16-bit floats (kernels/first_few.h). */
#define TAKE_PART "kernels/cpu/sort/take_elements.h"

#define IS_NAN(x) isnan(x)
#define NAN_OF_T  NAN
#define T         float
#define OF        f32
#define ANY       uint32_t
#include TAKE_PART
#define T   double
#define OF  f64
#define ANY uint64_t
#include TAKE_PART
#undef IS_NAN
#undef NAN_OF_T
#define IS_NAN(x) false
#define NAN_OF_T  0
#define T         int8_t
#define OF        i8
#define ANY       uint8_t
#include TAKE_PART
#define T   int16_t
#define OF  i16
#define ANY uint16_t
#include TAKE_PART
#define T   int32_t
#define OF  i32
#define ANY uint32_t
#include TAKE_PART
#define T   int64_t
#define OF  i64
#define ANY uint64_t
#include TAKE_PART
#define T   uint8_t
#define OF  u8
#define ANY uint8_t
#include TAKE_PART
#define T   uint16_t
#define OF  u16
#define ANY uint16_t
#include TAKE_PART
#define T   uint32_t
#define OF  u32
#define ANY uint32_t
#include TAKE_PART
#define T   uint64_t
#define OF  u64
#define ANY uint64_t
#include TAKE_PART
#undef IS_NAN
#undef NAN_OF_T

void JOIN(rd_sort_take, NAME)(const rd_sorting *s, const rd_row_strip *strip)
{
    switch (s->type) {
    case RD_F32: take_strip_f32(s, strip); break;
    case RD_F64: take_strip_f64(s, strip); break;
    case RD_I8: take_strip_i8(s, strip); break;
    case RD_I16: take_strip_i16(s, strip); break;
    case RD_I32: take_strip_i32(s, strip); break;
    case RD_I64: take_strip_i64(s, strip); break;
    case RD_BOOL:
    case RD_U8: take_strip_u8(s, strip); break;
    case RD_U16: take_strip_u16(s, strip); break;
    case RD_U32: take_strip_u32(s, strip); break;
    case RD_U64: take_strip_u64(s, strip); break;
    default: break; /* 16-bit floats do not come in strips */
    }
}
