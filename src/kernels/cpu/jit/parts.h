/* parts.h - what the parts of emit.c share.  Each adds a piece of a pass's text: functions, or
 * macros that loops.h names. */
#ifndef RD_KERNELS_CPU_JIT_PARTS_H
#define RD_KERNELS_CPU_JIT_PARTS_H
#include "core/text.h"
#include "kernels/cpu/jit/spec.h"
#include "kernels/cpu/simd/simd.h"

/* ---- emit_elements.c ------------------------------------------------------------------------- */
/* Types in C: of registers, their names in the library's functions, of memory. */
extern const char *const rd_c_types[RD_N_ELEMS], *const rd_c_classes[RD_N_ELEMS];
extern const char *const rd_c_memory_types[RD_N_DTYPES];

/* Rows of ops.def and reducers.def for elements of a class are between these. */
void rd_emit_class(rd_text *text, rd_elem elem);
void rd_emit_class_end(rd_text *text);
/* f<number>() for each instruction that is an operator or a cast. */
void rd_emit_ops(rd_text *text, const rd_spec *spec);
/* Is the instruction an exponential, of which strips are taken? */
bool rd_spec_is_power(const rd_spec *spec, int number);
/* What v<number> is, of values that are there. */
void rd_emit_value(rd_text *text, const rd_spec *spec, int number);
/* ELEMENT; sums over short loops; strips of exponentials. */
void rd_emit_element(rd_text *text, const rd_spec *spec);
void rd_emit_sums(rd_text *text, const rd_spec *spec);
void rd_emit_powers(rd_text *text, const rd_spec *spec);

/* ---- emit_folds.c ---------------------------------------------------------------------------- */
/* Does it take an exponential of the distance of each element from m?  Steps and merges are handed
 * it as `power`. */
bool rd_fold_has_power(const rd_spec_fold *fold);
/* Does state k of the fold count its elements?  The loops do not; who knows how many rows there
 * were does. */
bool rd_fold_is_count(const rd_spec_fold *fold, int k);
/* Is the fold one of the phase at hand? */
bool rd_spec_takes_part(const rd_spec *spec, int fold);
/* Do blocks end in the pass itself? */
bool rd_spec_closes_blocks(const rd_spec *spec);
/* Vector types; first<number>(), step<number>(), and where blocks end in registers what comes after
 * them. */
void rd_emit_vectors(rd_text *text, const rd_spec *spec);
void rd_emit_fold(rd_text *text, const rd_spec *spec, int number);
/* Number of the fold's first state among all. */
int rd_spec_first_state(const rd_spec *spec, int fold);
/* "&s0[l], &s1[l]", or without an index. */
void rd_emit_state_arguments(rd_text *text, const rd_spec *spec, int fold, const char *name,
                             const char *index);
/* STATES; FIRST and STEP; ends of blocks; trees on the stack. */
void rd_emit_states(rd_text *text, const rd_spec *spec);
void rd_emit_steps(rd_text *text, const rd_spec *spec, const char *macro, const char *function,
                   bool powers);
void rd_emit_block(rd_text *text, const rd_spec *spec);
void rd_emit_tree(rd_text *text, const rd_spec *spec);

/* ---- emit_memory.c --------------------------------------------------------------------------- */
/* POINTERS, or with copies of what no row changes; the copies; element i of an operand. */
void rd_emit_pointers(rd_text *text, const rd_spec *spec, const char *name, bool copies);
void rd_emit_copies(rd_text *text, const rd_spec *spec);
void rd_emit_operand(rd_text *text, const rd_spec *spec, int operand);
/* Is an array of equals made of what stays along the columns, a strip long, for each row, or index
 * of a short loop?  That. */
bool rd_spec_repeats(const rd_spec *spec, int operand);
void rd_emit_repeated(rd_text *text, const rd_spec *spec, int operand);
/* Can columns beyond the last be like it? */
bool rd_spec_pads(const rd_spec *spec);
/* Rows that share a pass over states in memory; 0: states are in registers. */
int rd_spec_jam(const rd_spec *spec);
/* What is fetched: of rows over columns, behind a strip, of the next row. */
void rd_emit_fetch(rd_text *text, const rd_spec *spec);
void rd_emit_fetch_strip(rd_text *text, const rd_spec *spec);
void rd_emit_fetch_next(rd_text *text, const rd_spec *spec);
/* Stores past the caches. */
void rd_emit_past(rd_text *text, const rd_spec *spec);
#endif
