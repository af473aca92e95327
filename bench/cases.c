/* cases.c - the tables of cases, in the order they run. */
#include "bench.h"
#include <stddef.h>

const bench_case *const *bench_tables(void)
{
    static const bench_case *const tables[] = {
        bench_sums,      bench_maps,   bench_transposes, bench_pairs, bench_rows,    bench_products,
        bench_images,    bench_masked, bench_everyday,   bench_made,  bench_complex, bench_order,
        bench_catalogue, bench_labels, bench_sparse,     NULL
    };

    return tables;
}
