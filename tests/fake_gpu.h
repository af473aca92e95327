/* fake_gpu.h - a device of the fake driver (tests/cuda), by way of src/kernels/cuda/api.h. */
#ifndef RD_TESTS_FAKE_GPU_H
#define RD_TESTS_FAKE_GPU_H
#include "kernels/cuda/api.h"
#include "fake_kernels.h"
#include "kernels/cuda/nvrtc.h"
#include "suite.h"

enum { GPU_N = 1000, GPU_BLOCKS = (GPU_N + THREADS - 1) / THREADS };

/* ---- The fakes --------------------------------------------------------------------------------- */
extern const char fake_cuda[], fake_nvrtc[], fake_cublas[]; /* their paths */
extern const char fake_old_cuda[]; /* a driver that lacks all that one may lack */
/* The driver, NVRTC and cuBLAS of this process, if nobody has asked for them yet.  What is left at exit, or
 * was reported, fails the test. */
void fake_use(void);
/* The same, with threads and blocks in one of some orders: i modulo FAKE_ORDERS; by i / FAKE_ORDERS,
 * work is done when it is asked for (0), when it is waited for (1), or streams go on at random. */
enum { FAKE_ORDERS = 4 };
extern const char *const fake_orders[FAKE_ORDERS];
void                     fake_use_order(int i);
/* Are they there? */
bool fake_is_here(void);
/* main() of a suite on the fakes, whose tests `add` names; skipped where they are not there. */
int fake_run(const char *name, void (*add)(TCase *tests));
/* A new directory, of the caller's to remove, and its removal. */
enum { FAKE_PATH = 200 };
void fake_directory(char path[FAKE_PATH]);
void fake_remove(const char *path);
/* What one of the files exports; what tests/cuda/fake.h and fake_driver.h have under similar
 * names. */
void       *fake_find(const char *file, const char *name);
int         fake_break(const char *file, const char *function, int call, int error);
int         fake_calls_of(const char *file, const char *function);
const char *fake_report_text(void);
long        fake_bytes_now(void);
void fake_time(double (*kernel)(const char *, unsigned, unsigned), double bus, double memory);
/* What the work so far would have taken a GPU, and would have if nothing ran beside anything. */
typedef struct fake_times {
    long taken, busy;
} fake_times;
fake_times fake_times_now(void);

/* ---- A device --------------------------------------------------------------------------------- */
typedef struct gpu {
    const rd_cuda *cuda;
    CUdevice       device;
    CUcontext      context;
    CUstream       stream;
    char           why[RD_CUDA_TEXT]; /* the first failure */
} gpu;

bool gpu_ok(gpu *g, const char *function, CUresult result);
/* Of whatever failed before, nothing more is asked. */
#define GPU_CALL(g, function, ...) \
    (!(g)->why[0] && gpu_ok(g, #function, (g)->cuda->function(__VA_ARGS__)))
/* What releases is called all the same. */
#define GPU_RELEASE(g, function, ...) gpu_ok(g, #function, (g)->cuda->function(__VA_ARGS__))

gpu         gpu_begin(void);
void        gpu_end(gpu *g);
CUdeviceptr gpu_get(gpu *g, size_t bytes);
CUmodule    gpu_load(gpu *g, const char *text);
/* GPU_N floats, which are their indices modulo 7. */
CUdeviceptr gpu_get_sevens(gpu *g);
void        gpu_launch(gpu *g, CUmodule module, const char *name, unsigned blocks, unsigned threads,
                       void **arguments);
/* All that a small program does: compiles, launches, waits, and checks what came. */
void *gpu_work(void *unused);
#endif
