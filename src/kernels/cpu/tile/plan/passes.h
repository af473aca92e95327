/* passes.h - how a spec is written: what passes.c, nests.c and phases.c share. */
#ifndef RD_KERNELS_CPU_TILE_PLAN_PASSES_H
#define RD_KERNELS_CPU_TILE_PLAN_PASSES_H
#include "kernels/cpu/tile/plan/plan.h"

/* The register is now what an instruction of the spec has made. */
typedef struct rd_name {
    int32_t reg;
    int16_t value;
} rd_name;

/* A spec in the making, and its pass.  Names lie apart, so that a new writer is quickly zeroed. */
enum { RD_WRITER_NAMES = 2 * RD_SPEC_INSTS };
typedef struct rd_writer {
    const rd_program   *p;
    const rd_tile_code *code;
    rd_tile_pass       *pass;
    rd_spec            *spec;
    int32_t             loop;  /* the short loop at hand, from 1; 0: none */
    int32_t             phase; /* the phase at hand, from 1; 0: none      */
    int32_t             n_name;
    rd_name            *name; /* RD_WRITER_NAMES of them */
    bool                full; /* it does not fit */
} rd_writer;

/* Empty, of that form and so many lanes. */
void rd_writer_begin(rd_writer *w, rd_spec_form form, int32_t lanes);
/* Its number.  It makes a register, -1: none that is read. */
int16_t rd_writer_add(rd_writer *w, rd_spec_inst inst, int32_t reg);
void    rd_writer_name(rd_writer *w, int32_t reg, int16_t value);
/* A MAP of values. */
int16_t rd_writer_map(rd_writer *w, rd_op op, rd_dtype type, int16_t a, int16_t b);
int16_t rd_writer_cast(rd_writer *w, rd_dtype type, rd_dtype from, int16_t a);
/* Number of the operand, which the pass has already or gets. */
int16_t rd_writer_operand(rd_writer *w, rd_pass_operand operand);
/* The last instruction that made a register; if none has, it is loaded. */
int16_t rd_writer_value(rd_writer *w, int32_t reg);
/* A CONST, MAP, CAST or SELECT on what its operands are now. */
void rd_writer_compute(rd_writer *w, const rd_inst *inst);
/* A fold takes what its STEP does. */
void rd_writer_step(rd_writer *w, const rd_inst *inst);

/* The plan keeps a pass that has been found; false without memory. */
bool rd_pass_keep(rd_tile_code *code, const rd_tile_pass *pass, rd_get_fn *get, void *pool);
/* phases.c: the pass that a LOOP is, with loops over one other axis one after the other in it;
 * false: none. */
bool rd_tile_find_phases(const rd_program *p, const rd_tile_code *code, int32_t begin,
                         rd_tile_pass *pass);
/* 16-bit floats are widened and rounded by the machine alone: has the instruction to do with
 * any? */
bool rd_pass_has_halves(const rd_program *p, const rd_tile_code *code, int32_t i);
/* Can a MAP be in a pass? */
bool rd_pass_can_map(const rd_inst *inst);
/* Does the address depend on gathered indices? */
bool rd_pass_gathers(const rd_address *at);
/* Do the positions depend on the same axes in the same way, and on nothing else? */
bool rd_pass_same_position(const rd_address *a, const rd_address *b);
/* Do the folds' states move on together, from block to block and from cell to cell? */
bool rd_pass_go_together(const rd_tile_fold *a, const rd_tile_fold *b);
#endif
