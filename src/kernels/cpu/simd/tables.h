/* tables.h - the tables that the parts of an instruction set define for instances/table.c. */
#define TABLES_OF(elem)                                                     \
    extern rd_simd_map *const    OF_ISA(maps_##elem)[RD_N_OPS][RD_N_FORMS]; \
    extern rd_simd_map *const    OF_ISA(selects_##elem)[RD_N_FORMS];        \
    extern rd_simd_cast *const   OF_ISA(casts_##elem)[RD_N_ELEMS];          \
    extern const rd_fold_code    OF_ISA(folds_##elem)[RD_N_REDUCERS];       \
    extern const rd_scan_code    OF_ISA(scans_##elem)[RD_N_REDUCERS];       \
    extern const rd_running_code OF_ISA(running_##elem)[RD_N_REDUCERS];
TABLES_OF(f32)
TABLES_OF(f64)
TABLES_OF(i64)
TABLES_OF(u64)
TABLES_OF(b8)

#define TABLES_OF_WALKS(elem)                                                      \
    extern rd_simd_rows *const   OF_ISA(fused_##elem)[RD_N_REDUCERS][RD_N_FUSED];  \
    extern rd_simd_cells *const  OF_ISA(cells_##elem)[RD_N_REDUCERS][RD_N_FUSED];  \
    extern rd_simd_totals *const OF_ISA(totals_##elem)[RD_N_REDUCERS][RD_N_FUSED]; \
    extern rd_simd_block *const  OF_ISA(blocks_##elem)[RD_N_REDUCERS][RD_N_FUSED];
TABLES_OF_WALKS(f32)
TABLES_OF_WALKS(f64)
#define RD_DTYPE(...)
#define RD_NARROW_FLOAT(type, name, ...) TABLES_OF_WALKS(name)
#include "core/dtypes.def"

#define TABLES_OF_FLOATS(elem)                                                           \
    extern rd_simd_rows *const     OF_ISA(transposed_##elem)[RD_N_REDUCERS][RD_N_FUSED]; \
    extern rd_simd_best *const     OF_ISA(best_##elem)[RD_N_REDUCERS];                   \
    extern rd_simd_rows *const     OF_ISA(best_rows_##elem)[RD_N_REDUCERS];              \
    extern rd_simd_count_if *const OF_ISA(counts_##elem)[RD_N_OPS][2];                   \
    rd_simd_product                OF_ISA(product_##elem);
TABLES_OF_FLOATS(f32)
TABLES_OF_FLOATS(f64)

extern rd_simd_cast *const OF_ISA(half_casts)[RD_N_ELEMS];
extern const rd_fold_code  OF_ISA(short_sums)[RD_N_REDUCERS]; /* of f32 */
#undef TABLES_OF
#undef TABLES_OF_WALKS
#undef TABLES_OF_FLOATS
