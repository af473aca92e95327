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
/* Switches OpenBLAS to one thread. */
static int n_inside, outside; /* see rd_blas_begin() */

static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&locked, memory_order_acquire))
        ; /* held for some instructions, but once for a load */
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&locked, memory_order_release);
}

/* Loads the system's BLAS by its name, else the file that was found when this was compiled. */
static void *load(void)
{
    void *file = dlopen(RD_BLAS_NAME, RTLD_NOW | RTLD_LOCAL);

    return file ? file : dlopen(RD_BLAS_FILE, RTLD_NOW | RTLD_LOCAL);
}

/* True if several threads may call it at once.  A build without threads may lack the locks for
 * that; a build with OpenMP obeys OpenMP only. */
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

static bool has_avx2(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

/* True if OpenBLAS runs code for a core without AVX2 on a processor that has it.  The list of such
 * cores is complete, as no more are built. */
static bool is_behind(void)
{
    static const char *const old[] = { "Katmai",       "Coppermine", "Northwood",  "Prescott",
                                       "Banias",       "Atom",       "Core2",      "Penryn",
                                       "Dunnington",   "Nehalem",    "Athlon",     "Opteron",
                                       "Opteron_SSE3", "Barcelona",  "Bobcat",     "Nano",
                                       "Sandybridge",  "Bulldozer",  "Piledriver", "Steamroller",
                                       "Generic" };
    const char *const        core  = blas.core && has_avx2() ? blas.core() : "";
    bool                     is    = false;

    for (size_t k = 0; k < sizeof old / sizeof *old && !is; k++)
        is = strcmp(core, old[k]) == 0;
    return is;
}

/* Looks up the functions of the BLAS. */
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

/* After a fork: the child must not find the lock held, or the library half loaded, by a thread of
 * its parent. */
static void in_child(void)
{
    n_inside = 0;
    unlock();
}

static void watch_forks(void)
{
    (void)pthread_atfork(lock, unlock, in_child);
}

/* The name of the BLAS, which the first call loads; NULL if there is none that several threads may
 * call. */
const char *rd_blas_name(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch_forks);
    lock();
    if (!blas.tried)
        find();
    blas.tried = true;
    unlock();
    return blas.name;
}

void *rd_blas_symbol(const char *name)
{
    (void)rd_blas_name(); /* loads it */
    return blas.file ? dlsym(blas.file, name) : NULL;
}

const char *rd_blas_name_of_syrk(void)
{
    return RD_OPENBLAS ? "OpenBLAS, half of it" : "BLIS, half of it";
}

bool rd_blas_lacks_avx2(void)
{
    return rd_blas_name() && blas.behind;
}

/* Sets c to a a^T on and above the diagonal (SYRK). */
static void syrk(const rd_gemm *g)
{
    const enum CBLAS_TRANSPOSE a = g->a_transposed ? CblasTrans : CblasNoTrans;

    if (g->type == RD_F32)
        blas.ssyrk(CblasRowMajor, CblasUpper, a, g->n, g->k, 1, g->a, g->lead_a, g->add ? 1 : 0,
                   g->c, g->lead_c);
    else
        blas.dsyrk(CblasRowMajor, CblasUpper, a, g->n, g->k, 1, g->a, g->lead_a, g->add ? 1 : 0,
                   g->c, g->lead_c);
}

/* Calls GEMM, or SYRK for a block on the diagonal. */
void rd_blas_gemm(const rd_gemm *g)
{
    const enum CBLAS_TRANSPOSE a = g->a_transposed ? CblasTrans : CblasNoTrans,
                               b = g->b_transposed ? CblasTrans : CblasNoTrans;

    if (g->symmetric)
        syrk(g);
    else if (g->type == RD_F32)
        blas.sgemm(CblasRowMajor, a, b, g->m, g->n, g->k, 1, g->a, g->lead_a, g->b, g->lead_b,
                   g->add ? 1 : 0, g->c, g->lead_c);
    else
        blas.dgemm(CblasRowMajor, a, b, g->m, g->n, g->k, 1, g->a, g->lead_a, g->b, g->lead_b,
                   g->add ? 1 : 0, g->c, g->lead_c);
}

/* ---- Threads ---------------------------------------------------------------------------------- *
 * How many threads OpenBLAS uses is one number for the whole process; in builds with OpenMP it is
 * what OpenMP says of the calling thread.  Work is shared out by run_product.c already, so as long as some
 * of ours are here the number is 1, and then what it was.  What the program itself asks of OpenBLAS
 * meanwhile runs on one thread too.  BLIS uses one thread unless BLIS_NUM_THREADS or
 * OMP_NUM_THREADS says otherwise. */
static int begin_openmp(void)
{
    int before = 1;

#ifdef _OPENMP
    before = omp_get_max_threads();
    omp_set_num_threads(1);
#endif
    return before;
}

static void end_openmp(int before)
{
#ifdef _OPENMP
    omp_set_num_threads(before);
#else
    (void)before;
#endif
}

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

/* Restores the number of threads, unless somebody else has set it in between. */
void rd_blas_end(int before)
{
    if (blas.parallel == OPENBLAS_OPENMP)
        end_openmp(before);
    if (blas.parallel == OPENBLAS_THREAD) {
        lock();
        if (--n_inside == 0 && outside != 1 && blas.get_threads() == 1)
            blas.set_threads(outside);
        unlock();
    }
}
#else
const char *rd_blas_name(void)
{
    return NULL;
}

void *rd_blas_symbol(const char *name)
{
    (void)name;
    return NULL;
}

const char *rd_blas_name_of_syrk(void)
{
    return NULL;
}

bool rd_blas_lacks_avx2(void)
{
    return false;
}

int rd_blas_begin(void)
{
    return 0;
}

void rd_blas_end(int before)
{
    (void)before;
}

void rd_blas_gemm(const rd_gemm *g)
{
    (void)g;
}
#endif
