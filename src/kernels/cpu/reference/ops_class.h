/* ops_class.h - the rows of ops.def for one register class.
 *
 * op_functions.c includes it once per class, with CLASS (a member of rd_word), T (its C type), RD_F
 * and PICK set.  PICK takes a rule's float or int code, or drops the row. */
#define RD_T(f)      WITH_WARNINGS_##f
#define KERNEL(name) JOIN(op_##name, CLASS)
#define OPERANDS_1   const T a = pa->CLASS;
#define OPERANDS_2   OPERANDS_1 const T b = pb->CLASS;
#define OPERANDS_3   OPERANDS_2 const T c = pc->CLASS;
#define DEFINE(name, n, result, ...)                                              \
    static void KERNEL(name)(rd_word * dst, const rd_word *pa, const rd_word *pb, \
                             const rd_word *pc, uint32_t *warnings)               \
    {                                                                             \
        OPERANDS_##n dst->result = (__VA_ARGS__);                                 \
    }

#define RD_OP(name, n, rule, cost, by, of_c, float_code, ...) \
    PICK(rule, DEFINE, (name, n, CLASS, float_code), (name, n, CLASS, __VA_ARGS__))
#define RD_TEST(name, n, rule, cost, by, of_c, float_code, ...) \
    PICK(rule, DEFINE, (name, n, u64, float_code), (name, n, u64, __VA_ARGS__))
#include "core/ops.def"

#define ENTRY(name)                 [RD_OP_##name] = KERNEL(name),
#define RD_OP(name, n, rule, ...)   PICK(rule, ENTRY, (name), (name))
#define RD_TEST(name, n, rule, ...) PICK(rule, ENTRY, (name), (name))
static rd_op_fn *const JOIN(table, CLASS)[RD_N_OPS] = {
#include "core/ops.def"
};

#undef RD_T
#undef RD_F
#undef KERNEL
#undef OPERANDS_1
#undef OPERANDS_2
#undef OPERANDS_3
#undef DEFINE
#undef ENTRY
#undef PICK
#undef CLASS
#undef T
