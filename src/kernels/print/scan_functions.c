/* scan_functions.c - functions of the text for scans: results of prefixes, carries of blocks,
 * and the tree of prefixes (RD_PREFIX_TREE).
 *
 *     static inline void prefix0(float *s0, float *p0, float *q, float *y0)    result so far
 *     static void carry0(float *s0, float *p0, .., int64_t n)                  a block ends
 *     static inline void prefix_tree0(.., int64_t at, int64_t stride, int64_t n)
 *
 * A scan has the states s of the block at hand, and p of all blocks before it.  Sums of floats
 * also have q, the second word of p, and w, from which both are made (kernels/math/prefix_sums.h).
 * A prefix by the tree has nodes e, of 1, 2, 4 .. elements.
 *
 * A block is 64 steps or so of the scan; a carry takes its result to the next block.  f->blocks:
 * the scan has several; f->hi_lo_sums: it is such a sum; f->levels: it goes by the tree, with nodes
 * of so many levels.
 *
 * Words. A fold is a reduction or a scan. */
#include "kernels/print/fold_functions.h"

/* Adds parameters for the fold of all blocks before the open one, ", float *p0, float *q". A
 * running sum of floats (pair) is p + q, two words. A scan of one block has nothing before it. */
static void add_carry_in(rd_text *to, const rd_print_fold *f)
{
    if (!f->blocks)
        return;
    rd_text_add(to, ", ");
    rd_add_parameters(to, &f->emit, /*nodes=*/false, "", 'p');
    if (f->hi_lo_sums)
        rd_text_add(to, ", %s *q", rd_state_type(&f->emit, /*k=*/0));
}

/* Prints prefix0(), which makes the results y of an element of a scan: the fold p of all blocks
 * before, merged with the state s of the open block.
 *
 *     static inline void prefix0(float *s0, float *p0, float *q, float *y0)
 *     { float w0 = *s0; block0(&w0); w0 = *p0 + (*q + w0); finish0(&w0, y0); }
 *
 * pair: a running sum of floats, of which p + q is the sum before. seen: the last number of a
 * state is a flag that it has met an element. */
void rd_print_prefix_function(rd_text *to, const rd_print_fold *f, int number)
{
    /* the second word of a pair says something in f32 alone */
    const bool has_second_word = rd_dtype_class(f->emit.fold->type) == RD_CLASS_f32;

    rd_text_add(to, "static inline void prefix%d(", number);
    rd_add_parameters(to, &f->emit, /*nodes=*/false, "", 's');
    add_carry_in(to, f);
    for (int k = 0; k < f->emit.fold->n_out; k++)
        rd_text_add(to, ", %s *y%d", rd_result_type(f->emit.fold), k);
    rd_text_add(to, ")\n{\n   ");
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, " %s w%d = *s%d;", rd_state_type(&f->emit, k), k, k);
    rd_text_add(to, " block%d(", number);
    rd_add_each(to, &f->emit, "&w%d");
    rd_text_add(to, ");\n   ");
    if (f->blocks && f->hi_lo_sums) {
        rd_text_add(to, has_second_word ? " w0 = *p0 + (*q + w0);" : " w0 = *p0 + w0;");
        if (f->emit.seen)
            rd_text_add(to, " w1 = *p1 | w1;");
    } else if (f->blocks) {
        for (int k = 0; k < f->emit.n_state; k++)
            rd_text_add(to, " const %s b%d = w%d; w%d = *p%d;", rd_state_type(&f->emit, k), k, k, k,
                        k);
        rd_text_add(to, " merge%d(", number);
        rd_add_each(to, &f->emit, "&w%d");
        rd_text_add(to, ", ");
        rd_add_each(to, &f->emit, "&b%d");
        rd_text_add(to, ");");
    }
    rd_text_add(to, " finish%d(", number);
    rd_add_each(to, &f->emit, "&w%d");
    for (int k = 0; k < f->emit.fold->n_out; k++)
        rd_text_add(to, ", y%d", k);
    rd_text_add(to, ");\n}\n");
}

/* Adds carry0(): the open block of n neighbouring accumulators has ended; it is added to p, the
 * fold of all blocks before the next one, and s begins again. A running sum of floats (pair) adds
 * blocks by a function of the library, with doubles w.
 *
 *     static void carry0(float *s0, float *p0, int64_t n)
 *     { INDEPENDENT for (..) { block0(&s0[l]); merge0(&p0[l], &s0[l]); begin0(&s0[l]); } } */
static void add_carry(rd_text *to, const rd_print_fold *f, int number)
{
    const char *elem = rd_dtype_class(f->emit.fold->type) == RD_CLASS_f32 ? "f32" : "f64";

    if (!f->blocks)
        return;
    rd_text_add(to, "static void carry%d(", number);
    rd_add_parameters(to, &f->emit, /*nodes=*/false, "", 's');
    add_carry_in(to, f);
    if (f->hi_lo_sums)
        rd_text_add(to, ", double *w, int64_t pitch, int64_t block");
    rd_text_add(
        to, ", int64_t n)\n{\n    INDEPENDENT for (int64_t l = 0; l < n; l++) {\n        block%d(",
        number);
    rd_add_each(to, &f->emit, "&s%d[l]");
    rd_text_add(to, ");\n");
    if (f->hi_lo_sums) {
        rd_text_add(to, f->emit.seen ? "        p1[l] |= s1[l];\n    }\n" : "    }\n");
        rd_text_add(to,
                    "    rd_take_blocks_%s(n, block, w, pitch, s0, p0, q);\n"
                    "    INDEPENDENT for (int64_t l = 0; l < n; l++) {\n",
                    elem);
    } else {
        rd_text_add(to, "        merge%d(", number);
        rd_add_each(to, &f->emit, "&p%d[l]");
        rd_text_add(to, ", ");
        rd_add_each(to, &f->emit, "&s%d[l]");
        rd_text_add(to, ");\n");
    }
    rd_text_add(to, "        begin%d(", number);
    rd_add_each(to, &f->emit, "&s%d[l]");
    rd_text_add(to, ");\n    }\n}\n");
}

/* Adds a loop over n accumulators that sets a = merge(node, a), where e holds the node of a
 * level, which covers the elements before a: "INDEPENDENT for (..) { float a0 = e0[level *
 * stride + l]; merge0(&a0, &u0[l]); u0[l] = a0; }". a: the name of the arrays, 'u' or 's'. */
static void add_merge_before(rd_text *to, const rd_print_fold *f, int number, char a)
{
    rd_text_add(to, "INDEPENDENT for (int64_t l = 0; l < n; l++) {");
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, " %s a%d = e%d[level * stride + l];", rd_state_type(&f->emit, k), k, k);
    rd_text_add(to, " merge%d(", number);
    rd_add_each(to, &f->emit, "&a%d");
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, ", &%c%d[l]", a, k);
    rd_text_add(to, ");");
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, " %c%d[l] = a%d;", a, k, k);
    rd_text_add(to, " }\n");
}

/* Adds prefix_tree0(), one step of a scan by an aligned binary tree over a block. The element u,
 * number `at` of its block, merges with the nodes on its left that are its siblings, one for each
 * low bit of `at` that is 1, and becomes a node in e. The prefix s is the merge of all nodes that
 * cover elements 0 to `at`: one for each bit of at + 1, from the right.
 *
 * For at = 5 (elements 0 to 5): u = merge(4, 5), s = merge(0..3, u). */
static void add_tree(rd_text *to, const rd_print_fold *f, int number)
{
    if (!f->levels)
        return;
    rd_text_add(to, "static inline void prefix_tree%d(", number);
    rd_add_parameters(to, &f->emit, /*nodes=*/false, "", 'e');
    rd_text_add(to, ", ");
    rd_add_parameters(to, &f->emit, /*nodes=*/false, "", 'u');
    rd_text_add(to, ", ");
    rd_add_parameters(to, &f->emit, /*nodes=*/false, "", 's');
    rd_text_add(to, ", int64_t at, int64_t stride, int64_t n)\n{\n    int level = 0;\n\n"
                    "    for (; at >> level & 1; level++)\n        ");
    add_merge_before(to, f, number, 'u');
    rd_text_add(to, "    INDEPENDENT for (int64_t l = 0; l < n; l++) {");
    for (int k = 0; k < f->emit.n_state; k++)
        rd_text_add(to, " e%d[level * stride + l] = u%d[l]; s%d[l] = u%d[l];", k, k, k, k);
    rd_text_add(to, " }\n    for (level++; (at + 1) >> level; level++)\n"
                    "        if ((at + 1) >> level & 1)\n            ");
    add_merge_before(to, f, number, 's');
    rd_text_add(to, "}\n");
}

/* Prints the functions of a scan: the result of an element, the end of a block, and the tree of
 * a block's prefixes. Reductions have none of them. */
void rd_print_scan_functions(rd_text *to, const rd_print_fold *f, int number)
{
    if (!f->emit.fold->scan)
        return;
    rd_print_prefix_function(to, f, number);
    add_carry(to, f, number);
    add_tree(to, f, number);
}
