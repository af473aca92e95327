/* micro_loops.c - makes and compiles the text of the loops that are timed. */
#include "kernels/cpu/calibrate/micro_loops.h"
#include "kernels/cpu/calibrate/meter.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/jit/compiler.h"
#include "kernels/cpu/jit/object.h"

/* The operations that are timed in vector loops: row, C type, its bytes, two statements in turn,
 * how often the measured operation stands in one, and the row of another operation to subtract. */
const rd_micro_map rd_micro_maps[RD_MICRO_MAPS] = {
    { RD_SPEED_add_f32, "float", 4, "a = a + b", "b = b + a", 1, -1 },
    { RD_SPEED_mul_f32, "float", 4, "a = a * b", "b = b * a", 1, -1 },
    { RD_SPEED_fma_f32, "float", 4, "a = __builtin_fmaf(a, b, c)", "b = __builtin_fmaf(b, a, c)", 1,
      -1 },
    { RD_SPEED_div_f32, "float", 4, "a = a / b", "b = b / a", 1, -1 },
    { RD_SPEED_sqrt_f32, "float", 4, "a = __builtin_sqrtf(a)", "b = __builtin_sqrtf(b)", 1, -1 },
    { RD_SPEED_select_f32, "float", 4, "a = a > b ? c : a + b", "b = b > a ? c : b + a", 1,
      RD_SPEED_add_f32 },
    { RD_SPEED_add_f64, "double", 8, "a = a + b", "b = b + a", 1, -1 },
    { RD_SPEED_mul_f64, "double", 8, "a = a * b", "b = b * a", 1, -1 },
    { RD_SPEED_fma_f64, "double", 8, "a = __builtin_fma(a, b, c)", "b = __builtin_fma(b, a, c)", 1,
      -1 },
    { RD_SPEED_div_f64, "double", 8, "a = a / b", "b = b / a", 1, -1 },
    { RD_SPEED_sqrt_f64, "double", 8, "a = __builtin_sqrt(a)", "b = __builtin_sqrt(b)", 1, -1 },
    { RD_SPEED_select_f64, "double", 8, "a = a > b ? c : a + b", "b = b > a ? c : b + a", 1,
      RD_SPEED_add_f64 },
    { RD_SPEED_add_i32, "u32", 4, "a = a + b", "b = b + a", 1, -1 },
    { RD_SPEED_mul_i32, "u32", 4, "a = a * b", "b = b * a", 1, -1 },
    { RD_SPEED_select_i32, "u32", 4, "a = a > b ? c : a + b", "b = b > a ? c : b + a", 1,
      RD_SPEED_add_i32 },
    { RD_SPEED_add_i64, "i64", 8, "a = a + b", "b = b + a", 1, -1 },
    { RD_SPEED_mul_i64, "u64", 8, "a = a * b", "b = b * a", 1, -1 },
    { RD_SPEED_select_i64, "i64", 8, "a = a > b ? c : a + b", "b = b > a ? c : b + a", 1,
      RD_SPEED_add_i64 },
    { RD_SPEED_add_u8, "u8", 1, "a = a + b", "b = b + a", 1, -1 },
    { RD_SPEED_select_u8, "u8", 1, "a = a > b ? c : a + b", "b = b > a ? c : b + a", 1,
      RD_SPEED_add_u8 },
    { RD_SPEED_convert, "float", 4, "a = (float)(int)a + b", "b = (float)(int)b + a", 2,
      RD_SPEED_add_f32 },
    { RD_SPEED_resize, "double", 8, "a = (double)(float)a + b", "b = (double)(float)b + a", 2,
      RD_SPEED_add_f64 },
};

/* The operations that are timed element by element, not in vectors. */
const rd_micro_map rd_micro_serials[RD_MICRO_SERIALS] = {
    { RD_SPEED_one_add, "double", 8, "a = a + b", NULL, 1, -1 },
    { RD_SPEED_one_div, "double", 8, "a = b / a", NULL, 1, -1 },
    { RD_SPEED_one_select, "double", 8, "a = a > b ? b : a + b", NULL, 1, RD_SPEED_one_add },
};

/* ---- Their text ------------------------------------------------------------------------------ */
/* Adds the C text of all loops that are timed: those of micro_loops.h, a function for each map, and
 * the table of functions rd_micro_loops. MAP and ONE are macros of rd_loops_text; the table has the
 * order of the RD_MICRO_ numbers. */
static void add_text(rd_text *text)
{
    rd_text_add(text, "%s", rd_loops_text);
    for (int k = 0; k < RD_MICRO_MAPS; k++)
        rd_text_add(text, "MAP(map%d, %s, %s, %s)\n", k, rd_micro_maps[k].type,
                    rd_micro_maps[k].one, rd_micro_maps[k].other);
    for (int k = 0; k < RD_MICRO_SERIALS; k++)
        rd_text_add(text, "ONE(one%d, %s)\n", k, rd_micro_serials[k].one);
    rd_text_add(text, "__attribute__((visibility(\"default\"))) "
                      "void (*const rd_micro_loops[])(ARGUMENTS) = {");
    for (int k = 0; k < RD_MICRO_MAPS; k++)
        rd_text_add(text, "map%d, ", k);
    for (int k = 0; k < RD_MICRO_SERIALS; k++)
        rd_text_add(text, "one%d, ", k);
    rd_text_add(text,
                "read_all, fill, fill_nontemporal, gather, reverse, serial_gather, serial_sum, "
                "prefix_sums, serial_max, short_loops, branches, push, merge_lanes };\n");
}

/* Compiles the loops that are timed and returns their table, by RD_MICRO_ number.  The compiled
 * object stays loaded, so nobody frees it.  NULL: *why says what is missing. */
rd_micro_loop *const *rd_micro_loops_compile(const char **why)
{
    rd_text text  = { 0 };
    void   *found = NULL;

    add_text(&text);
    if (text.failed)
        *why = "there is no memory";
    else if (rd_object_make(text.at, rd_compiler_flags(rd_cpu_vector(), /*rounds=*/false),
                            "rd_micro_loops", rd_env_snapshot_now(), RD_LONG_PATIENCE, /*key=*/NULL,
                            &found) == RD_OBJECT_NONE)
        *why = "there is no compiler or no directory for what it makes";
    rd_text_free(&text);
    return found;
}
