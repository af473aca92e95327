/* isa.h - what the kernels of one instruction set share.
 *
 * The files of instances/ are compiled once for each instruction set, with RD_ISA (its name) and
 * RD_VECTOR_BYTES set by CMake.  They are several so that they compile in parallel;
 * instances/table.c puts their tables into one. */
#ifndef RD_CPU_SIMD_ISA_H
#define RD_CPU_SIMD_ISA_H
#include "kernels/cpu/simd/simd.h"
#include "kernels/math/row_functions.h"
#include "kernels/math/prefix_sums.h"
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* A name with the instruction set in it, as all sets are linked together. */
#define OF_ISA(name) JOIN(JOIN(rd_simd, name), RD_ISA)

#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wshadow"
/* entries made by hand replace those of rows */
#pragma GCC diagnostic ignored "-Woverride-init"

/* Pragmas for the next loop.  UNROLL(n): unroll it n times.  INDEPENDENT: its iterations are
 * independent; clang finds that itself, and would reorder sums if told. */
#if defined(__clang__)
#define UNROLL(n) _Pragma("clang loop unroll(full)")
#define INDEPENDENT
#else
#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define UNROLL(n)   PRAGMA(GCC unroll n)
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Functions with vector arguments must be inlined, so that vectors stay in registers. */
#define ALWAYS inline __attribute__((always_inline))

#include "kernels/math/shuffle.h"
#define INDICES_f32_16 INDICES_4
#define INDICES_f32_32 INDICES_8
#define INDICES_f32_64 INDICES_16
#define INDICES_f64_16 INDICES_2
#define INDICES_f64_32 INDICES_4
#define INDICES_f64_64 INDICES_8

#include "kernels/cpu/simd/vector_types.h"
#define ELEM f32
#define T    float
#define I    int32_t
#include "kernels/cpu/simd/float_vectors.h"
#undef ELEM
#undef T
#undef I
#define ELEM f64
#define T    double
#define I    int64_t
#include "kernels/cpu/simd/float_vectors.h"
#undef ELEM
#undef T
#undef I
#include "kernels/cpu/simd/half_vectors.h"
#include "kernels/cpu/simd/nontemporal.h"
#include "kernels/cpu/simd/tables.h"
#endif
