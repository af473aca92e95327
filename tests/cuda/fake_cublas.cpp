/* fake_cublas.cpp - cuBLAS's functions on the fake driver: plain loops, all sums in f64.
 *
 * A file of its own, as cuBLAS is, which asks the driver for its stream and memory.  What a caller
 * may not do is an error here even where cuBLAS would let it pass: matrices beyond an allocation,
 * results that overlap, calls without a workspace of the caller's, whose bits may differ from run
 * to run. */
#include "fake.h"
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <set>
#include <vector>
extern "C" {
#include "kernels/cuda/api.h"
/* Definitions that differ from api.def do not compile. */
#define RD_CUBLAS(returns, name, parameters) FAKE_API returns name parameters;
#include "kernels/cuda/api.def"
/* Of the last product that was asked for. */
FAKE_API CUstream fake_stream(void);
}

const char *const fake::functions[] = {
#define RD_CUBLAS(returns, name, parameters) #name,
#include "kernels/cuda/api.def"
    nullptr
};

struct cublasContext {
    int      device;
    CUstream stream;
    void    *workspace; /* the caller's; NULL: its own */
    size_t   bytes;
};

namespace
{
std::mutex               guard;
std::set<cublasHandle_t> handles;
CUstream                 last;

/* ---- The driver's part ------------------------------------------------------------------------- */
template <class F> F find(const char *name)
{
    void *const file = dlopen(getenv("RDIM_LIBCUDA"), RTLD_NOW | RTLD_NOLOAD);

    return (F)dlsym(file, name);
}

int device()
{
    static const auto ask = find<int (*)()>("fake_context");
    return ask();
}

void hold(int n)
{
    static const auto tell = find<void (*)(int)>("fake_hold");
    tell(n);
}

cublasStatus_t refuse(const std::string &why)
{
    static const auto tell = find<void (*)(const char *)>("fake_tell");

    tell(why.c_str());
    return CUBLAS_STATUS_INVALID_VALUE;
}

bool has(const void *at, size_t bytes)
{
    static const auto ask = find<int (*)(unsigned long long, size_t)>("fake_has");
    return ask((uintptr_t)at, bytes);
}

CUresult enqueue(CUstream stream, void (*work)(void *), void *data)
{
    static const auto ask = find<CUresult (*)(CUstream, void (*)(void *), void *)>("fake_enqueue");
    return ask(stream, work, data);
}

/* ---- Products ---------------------------------------------------------------------------------- */
struct matrix {
    char     *at;
    bool      turned; /* as it is to be multiplied, element (i, j) is at j, i */
    int       rows, cols, lead;
    long long step;

    long long place(int i, int j) const
    {
        return turned ? j + (long long)i * lead : i + (long long)j * lead;
    }
    /* Elements of one, from the first to the last. */
    long long span() const
    {
        return rows && cols ? place(rows - 1, cols - 1) + 1 : 0;
    }
    bool lead_is_good() const
    {
        const int column = turned ? cols : rows;

        return lead >= (column > 1 ? column : 1);
    }
};

struct product {
    cublasContext handle;
    const char   *name;
    cudaDataType  type;
    matrix        a, b, c;
    int           k, count;
    double        alpha, beta;

    size_t size() const
    {
        return type == CUDA_R_32F ? 4 : 8;
    }
    double get(const matrix &m, long long place) const
    {
        return type == CUDA_R_32F ? ((const float *)m.at)[place] : ((const double *)m.at)[place];
    }
    void put(long long place, double x) const
    {
        if (type == CUDA_R_32F)
            ((float *)c.at)[place] = (float)x;
        else
            ((double *)c.at)[place] = x;
    }
    /* From the last product to the first, so that sums of f64 have bits of their own. */
    void add_up(int batch, int i, int j) const
    {
        double sum = 0;

        for (int s = k - 1; s >= 0; s--)
            sum += get(a, batch * a.step + a.place(i, s)) * get(b, batch * b.step + b.place(s, j));
        const long long at = batch * c.step + c.place(i, j);
        put(at, alpha * sum + (beta == 0 ? 0 : beta * get(c, at)));
    }
    void run() const
    {
        for (size_t i = 0; i < handle.bytes; i += 4096)
            ((char *)handle.workspace)[i] = 0x5A; /* it is cuBLAS's */
        for (int batch = 0; batch < count; batch++)
            for (int j = 0; j < c.cols; j++)
                for (int i = 0; i < c.rows; i++)
                    add_up(batch, i, j);
    }
};

bool is_there(const product &p, const matrix &m)
{
    return m.span() == 0 ||
           (m.step >= 0 && has(m.at, (size_t)(m.span() + m.step * (p.count - 1)) * p.size()));
}

bool overlaps_itself(const product &p)
{
    std::vector<bool> met((size_t)(p.c.span() + p.c.step * (p.count - 1)));

    for (int batch = 0; batch < p.count; batch++)
        for (int j = 0; j < p.c.cols; j++)
            for (int i = 0; i < p.c.rows; i++) {
                const auto at = (size_t)(batch * p.c.step + p.c.place(i, j));

                if (met[at])
                    return true;
                met[at] = true;
            }
    return false;
}

cublasStatus_t look(const product &p)
{
    const std::string name = p.name;

    if (!p.a.lead_is_good() || !p.b.lead_is_good() || !p.c.lead_is_good())
        return refuse(name + ": a leading dimension is less than a column");
    if (!is_there(p, p.a) || !is_there(p, p.b) || !is_there(p, p.c))
        return refuse(name + ": a matrix is not in an allocation of the device");
    if (overlaps_itself(p))
        return refuse(name + ": results overlap");
    if (!p.handle.workspace || !has(p.handle.workspace, p.handle.bytes))
        return refuse(name + ": no workspace of the caller's");
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t start(product p)
{
    const cublasStatus_t bad = look(p);

    if (bad)
        return bad;
    last                 = p.handle.stream;
    const CUresult asked = enqueue(
        p.handle.stream,
        [](void *data) {
            ((product *)data)->run();
            delete (product *)data;
        },
        new product(p));
    return asked ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

/* ---- How each call begins ---------------------------------------------------------------------- */
/* A handle is one, and of the context that is current. */
cublasStatus_t unusable(const char *function, cublasHandle_t handle)
{
    const int error = fake::fault(function);

    if (error)
        return error;
    if (!handles.count(handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    return handle->device == device() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

bool is_operation(cublasOperation_t op)
{
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T;
}

bool is_known(cudaDataType a, cudaDataType b, cudaDataType c, cublasComputeType_t compute)
{
    return a == b && b == c &&
           ((a == CUDA_R_32F && compute == CUBLAS_COMPUTE_32F) ||
            (a == CUDA_R_64F && compute == CUBLAS_COMPUTE_64F));
}

double scale(const void *at, cudaDataType type)
{
    return type == CUDA_R_32F ? *(const float *)at : *(const double *)at;
}

struct operand {
    const void       *at;
    cublasOperation_t op;
    cudaDataType      type;
    int               lead;
    long long         step;

    matrix of(int rows, int cols) const
    {
        return { (char *)at, op == CUBLAS_OP_T, rows, cols, lead, step };
    }
};

struct extents {
    int                 m, n, k, count;
    cublasComputeType_t compute;
    cublasGemmAlgo_t    algorithm;
};

cublasStatus_t multiply(const char *name, cublasHandle_t handle, const extents &e, const operand &a,
                        const operand &b, const operand &c, const void *alpha, const void *beta)
{
    const std::lock_guard<std::mutex> lock(guard);
    const cublasStatus_t              no = unusable(name, handle);

    if (no)
        return no;
    if (!is_operation(a.op) || !is_operation(b.op) || e.m < 0 || e.n < 0 || e.k < 0 ||
        e.count < 0 || e.algorithm != CUBLAS_GEMM_DEFAULT)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!is_known(a.type, b.type, c.type, e.compute))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return start({ *handle, name, c.type, a.of(e.m, e.k), b.of(e.k, e.n), c.of(e.m, e.n), e.k,
                   e.count, scale(alpha, c.type), scale(beta, c.type) });
}
} // namespace

CUstream fake_stream(void)
{
    return last;
}

cublasStatus_t cublasGetProperty(libraryPropertyType which, int *value)
{
    const char *const major = getenv("RDIM_FAKE_CUBLAS");

    if (which != MAJOR_VERSION)
        return CUBLAS_STATUS_INVALID_VALUE;
    *value = major ? atoi(major) : 13;
    return fake::fault(__func__);
}

const char *cublasGetStatusName(cublasStatus_t status)
{
#define RD_CUBLAS_NUMBER(name, number)                                          \
    if (std::string(#name).rfind("CUBLAS_STATUS_", 0) == 0 && status == number) \
        return #name;
#include "kernels/cuda/api.def"
    return "CUBLAS_STATUS_UNKNOWN";
}

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    const std::lock_guard<std::mutex> lock(guard);
    const int                         error = fake::fault(__func__);

    if (error)
        return error;
    if (device() < 0)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = new cublasContext{ device(), nullptr, nullptr, 0 };
    handles.insert(*handle);
    hold(1);
    return CUBLAS_STATUS_SUCCESS;
}

/* Whatever it returns, the handle is gone. */
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    const std::lock_guard<std::mutex> lock(guard);
    const cublasStatus_t              no = unusable(__func__, handle);

    if (handles.erase(handle)) {
        delete handle;
        hold(-1);
    }
    return no;
}

/* The workspace is its own again. */
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, CUstream stream)
{
    const std::lock_guard<std::mutex> lock(guard);
    const cublasStatus_t              no = unusable(__func__, handle);

    if (no)
        return no;
    handle->stream    = stream;
    handle->workspace = nullptr;
    handle->bytes     = 0;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *at, size_t bytes)
{
    const std::lock_guard<std::mutex> lock(guard);
    const cublasStatus_t              no = unusable(__func__, handle);

    if (no)
        return no;
    if ((uintptr_t)at % 256 || !has(at, bytes))
        return refuse("cublasSetWorkspace: not aligned, or not in an allocation of the device");
    handle->workspace = at;
    handle->bytes     = bytes;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t a_op,
                                          cublasOperation_t b_op, int m, int n, int k,
                                          const void *alpha, const void *a, cudaDataType a_type,
                                          int lead_a, long long a_step, const void *b,
                                          cudaDataType b_type, int lead_b, long long b_step,
                                          const void *beta, void *c, cudaDataType c_type,
                                          int lead_c, long long c_step, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    return multiply(__func__, handle, { m, n, k, count, compute, algorithm },
                    { a, a_op, a_type, lead_a, a_step }, { b, b_op, b_type, lead_b, b_step },
                    { c, CUBLAS_OP_N, c_type, lead_c, c_step }, alpha, beta);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op,
                            int m, int n, int k, const void *alpha, const void *a,
                            cudaDataType a_type, int lead_a, const void *b, cudaDataType b_type,
                            int lead_b, const void *beta, void *c, cudaDataType c_type, int lead_c,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    return multiply(__func__, handle, { m, n, k, 1, compute, algorithm },
                    { a, a_op, a_type, lead_a, 0 }, { b, b_op, b_type, lead_b, 0 },
                    { c, CUBLAS_OP_N, c_type, lead_c, 0 }, alpha, beta);
}
