/* blas.c - calls of a BLAS, each on the calling thread.
 *
 * The BLAS is loaded when the first product needs it, not with this library.  OpenBLAS starts its
 * threads when it is loaded, which takes longer than many a program without matrix products. */
#include "kernels/cpu/product/blas.h"
#include <stddef.h>

#if RD_OPENBLAS || RD_BLIS
#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <strings.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#if !RD_OPENBLAS
/* Functions of OpenBLAS that other libraries lack. */
enum { OPENBLAS_THREAD = 1, OPENBLAS_OPENMP };
int   openblas_get_parallel(void);
int   openblas_get_num_threads(void);
void  openblas_set_num_threads(int threads);
char *openblas_get_corename(void);
#endif

/* Types are those of the header that was there when this was compiled. */
static struct {
    bool                                  tried;
    void                                 *file;     /* NULL: not loaded                      */
    const char                           *name;     /* NULL: not there, or of no use         */
    bool                                  behind;   /* it does not know the processor        */
    int                                   parallel; /* how it runs on several threads        */
    __typeof__(cblas_sgemm)              *sgemm;
    __typeof__(cblas_dgemm)              *dgemm;
    __typeof__(cblas_ssyrk)              *ssyrk;
    __typeof__(cblas_dsyrk)              *dsyrk;
    __typeof__(openblas_get_parallel)    *get_parallel;
    __typeof__(openblas_get_num_threads) *get_threads;
    __typeof__(openblas_set_num_threads) *set_threads;
    __typeof__(openblas_get_corename)    *core;
} blas;

static atomic_flag locked = ATOMIC_FLAG_INIT;
/* n_inside: our threads that are between rd_blas_begin() and rd_blas_end(); outside: how many
 * threads OpenBLAS had before the first of them came. */
static int n_inside, outside;

/* Takes the spin lock of the variables of this file.  It is held for some instructions only, but
 * once for a load of the library. */
static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&locked, memory_order_acquire))
        ; /* held for some instructions, but once for a load */
}

/* Releases the lock of this file's variables. */
static void unlock(void)
{
    atomic_flag_clear_explicit(&locked, memory_order_release);
}

/* Loads the system's BLAS by its name, else the file that was found when this was compiled.  NULL:
 * neither is there. */
static void *load(void)
{
    void *file = dlopen(RD_BLAS_NAME, RTLD_NOW | RTLD_LOCAL);

    return file ? file : dlopen(RD_BLAS_FILE, RTLD_NOW | RTLD_LOCAL);
}

/* True if several threads may call the BLAS at once.  A build without threads may lack the locks
 * for that; a build with OpenMP obeys OpenMP only, so it needs that this library has it, too.
 * blas.parallel notes which of both it is; BLIS may always be called. */
static bool serves_threads(void)
{
    if (RD_BLIS)
        return true;
    if (!blas.get_parallel || !blas.get_threads || !blas.set_threads)
        return false;
    blas.parallel = blas.get_parallel();
#ifdef _OPENMP
    if (blas.parallel == OPENBLAS_OPENMP)
        return true;
#endif
    return blas.parallel == OPENBLAS_THREAD;
}

/* True if the processor has AVX2 and fused multiply-add. */
static bool has_avx2(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

/* True if OpenBLAS runs code for a core without AVX2 on a processor that has it, as it is older
 * than the processor.  The list of such cores is complete, as no more are built. */
static bool is_behind(void)
{
    static const char *const old[] = { "Katmai",       "Coppermine", "Northwood",  "Prescott",
                                       "Banias",       "Atom",       "Core2",      "Penryn",
                                       "Dunnington",   "Nehalem",    "Athlon",     "Opteron",
                                       "Opteron_SSE3", "Barcelona",  "Bobcat",     "Nano",
                                       "Sandybridge",  "Bulldozer",  "Piledriver", "Steamroller",
                                       "Generic" };
    const char *const        core  = blas.core && has_avx2() ? blas.core() : "";
    bool                     found = false;

    for (size_t k = 0; k < sizeof old / sizeof *old && !found; k++)
        found = strcmp(core, old[k]) == 0;
    return found;
}

/* Loads the BLAS and looks up its functions. blas.name stays NULL if one is missing or several
 * threads may not call it. */
static void find(void)
{
    void *const file = blas.file = load();

    if (!file)
        return;
    blas.sgemm        = (__typeof__(blas.sgemm))dlsym(file, "cblas_sgemm");
    blas.dgemm        = (__typeof__(blas.dgemm))dlsym(file, "cblas_dgemm");
    blas.ssyrk        = (__typeof__(blas.ssyrk))dlsym(file, "cblas_ssyrk");
    blas.dsyrk        = (__typeof__(blas.dsyrk))dlsym(file, "cblas_dsyrk");
    blas.get_parallel = (__typeof__(blas.get_parallel))dlsym(file, "openblas_get_parallel");
    blas.get_threads  = (__typeof__(blas.get_threads))dlsym(file, "openblas_get_num_threads");
    blas.set_threads  = (__typeof__(blas.set_threads))dlsym(file, "openblas_set_num_threads");
    blas.core         = (__typeof__(blas.core))dlsym(file, "openblas_get_corename");
    blas.behind       = is_behind();
    if (blas.sgemm && blas.dgemm && blas.ssyrk && blas.dsyrk && serves_threads())
        blas.name = RD_OPENBLAS ? "OpenBLAS" : "BLIS";
}

/* Resets the lock in the child of a fork, which must not find it held, or the library half loaded,
 * by a thread of its parent. */
static void in_child(void)
{
    n_inside = 0;
    unlock();
}

/* Sets the functions that a fork calls: the lock is held meanwhile, so that the child finds it free
 * and the library whole. */
static void watch_forks(void)
{
    (void)pthread_atfork(lock, unlock, in_child);
}

/* Returns the name of the BLAS, which the first call loads; NULL if there is none that several
 * threads may call. */
const char *rd_blas_name(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch_forks);
    lock();
    if (!blas.tried) /* to load one */
        find();
    blas.tried = true;
    unlock();
    return blas.name;
}

/* Returns the address of a function of the BLAS library, such as LAPACK's; NULL: there is no
 * library, or none of that name in it. */
void *rd_blas_symbol(const char *name)
{
    (void)rd_blas_name(); /* loads it */
    return blas.file ? dlsym(blas.file, name) : NULL;
}

/* Returns the name of the BLAS for symmetric products, of which it computes one half. */
const char *rd_blas_name_of_syrk(void)
{
    return RD_OPENBLAS ? "OpenBLAS, half of it" : "BLIS, half of it";
}

/* True if the BLAS uses code for processors without AVX2, though this one has AVX2. */
bool rd_blas_lacks_avx2(void)
{
    return rd_blas_name() && blas.behind;
}

/* Returns the most products (m * n * k) of a matrix product in f32 that the BLAS computes without
 * copying the matrices; 0: it always copies.  OpenBLAS has such kernels on processors with AVX-512,
 * up to 100 x 100 x 100: 115 GFLOP/s in place of 95. */
int64_t rd_blas_most_uncopied(void)
{
    static const char *const cores[] = { "SkylakeX", "Cooperlake", "SapphireRapids" };
    const char *const        core    = rd_blas_name() && blas.core ? blas.core() : "";

    for (size_t k = 0; k < sizeof cores / sizeof *cores; k++)
        if (strcasecmp(core, cores[k]) == 0)
            return 1000000;
    return 0;
}

/* Sets c to a a^T (or adds it to c) on and above the diagonal: SYRK, the symmetric product, which
 * computes one half. */
static void syrk(const rd_gemm *g)
{
    const enum CBLAS_TRANSPOSE a = g->a_transposed ? CblasTrans : CblasNoTrans;

    if (g->type == RD_F32)
        blas.ssyrk(CblasRowMajor, CblasUpper, a, g->n, g->k, /*alpha=*/1, g->a, g->lead_a,
                   /*beta=*/g->add ? 1 : 0, g->c, g->lead_c);
    else
        blas.dsyrk(CblasRowMajor, CblasUpper, a, g->n, g->k, /*alpha=*/1, g->a, g->lead_a,
                   /*beta=*/g->add ? 1 : 0, g->c, g->lead_c);
}

/* Calls GEMM (general matrix multiply), or SYRK for a block on the diagonal of a symmetric
 * product. */
void rd_blas_gemm(const rd_gemm *g)
{
    const enum CBLAS_TRANSPOSE a = g->a_transposed ? CblasTrans : CblasNoTrans,
                               b = g->b_transposed ? CblasTrans : CblasNoTrans;

    if (g->symmetric)
        syrk(g);
    else if (g->type == RD_F32)
        blas.sgemm(CblasRowMajor, a, b, g->m, g->n, g->k, /*alpha=*/1, g->a, g->lead_a, g->b,
                   g->lead_b,
                   /*beta=*/g->add ? 1 : 0, g->c, g->lead_c);
    else
        blas.dgemm(CblasRowMajor, a, b, g->m, g->n, g->k, /*alpha=*/1, g->a, g->lead_a, g->b,
                   g->lead_b,
                   /*beta=*/g->add ? 1 : 0, g->c, g->lead_c);
}

/* ---- Threads ---------------------------------------------------------------------------------- *
 * How many threads OpenBLAS uses is one number for the whole process; in builds with OpenMP it is
 * what OpenMP says of the calling thread.  Work is shared out by run_product.c already, so as long
 * as some of our calls run the number is 1, and then what it was.  What the program itself asks of
 * OpenBLAS meanwhile runs on one thread too.  BLIS uses one thread unless BLIS_NUM_THREADS or
 * OMP_NUM_THREADS says otherwise. */
/* Sets OpenMP to one thread for calls from this thread; returns how many there were, for
 * end_openmp(). */
static int begin_openmp(void)
{
    int before = 1;

#ifdef _OPENMP
    before = omp_get_max_threads();
    omp_set_num_threads(1);
#endif
    return before;
}

/* Restores the number of threads of OpenMP, for calls from this thread. */
static void end_openmp(int before)
{
#ifdef _OPENMP
    omp_set_num_threads(before);
#else
    (void)before;
#endif
}

/* Switches the BLAS to one thread for calls from here, as tasks share the work already.  The number
 * is one for the whole process, so the first of our threads notes the old one.  Returns what
 * rd_blas_end() needs. */
int rd_blas_begin(void)
{
    if (blas.parallel == OPENBLAS_OPENMP)
        return begin_openmp();
    if (blas.parallel == OPENBLAS_THREAD) {
        lock();
        if (n_inside++ == 0 && (outside = blas.get_threads()) != 1)
            blas.set_threads(1);
        unlock();
    }
    return 0;
}

/* Restores the number of threads when the last of our threads leaves (n_inside 0), unless the
 * program itself has set another number in between.  `before` is what rd_blas_begin() returned. */
void rd_blas_end(int before)
{
    if (blas.parallel == OPENBLAS_OPENMP)
        end_openmp(before);
    if (blas.parallel == OPENBLAS_THREAD) {
        lock();
        if (--n_inside == 0 && outside != 1 && blas.get_threads() == 1) /* as we set it */
            blas.set_threads(outside);
        unlock();
    }
}
#else
/* Returns NULL: this library was built without a BLAS. */
const char *rd_blas_name(void)
{
    return NULL;
}

/* Returns NULL: there is no library. */
void *rd_blas_symbol(const char *name)
{
    (void)name;
    return NULL;
}

/* Returns NULL: this library was built without a BLAS, so explain() has no name to show. */
const char *rd_blas_name_of_syrk(void)
{
    return NULL;
}

/* False: there is no BLAS. */
bool rd_blas_lacks_avx2(void)
{
    return false;
}

/* 0: there is no BLAS. */
int64_t rd_blas_most_uncopied(void)
{
    return 0;
}

/* Does nothing, as there is no BLAS. */
int rd_blas_begin(void)
{
    return 0;
}

/* Does nothing, as there is no BLAS. */
void rd_blas_end(int before)
{
    (void)before;
}

/* Does nothing: nobody calls it without a BLAS. */
void rd_blas_gemm(const rd_gemm *g)
{
    (void)g;
}
#endif
