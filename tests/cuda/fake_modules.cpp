/* fake_modules.cpp - images made by the fake NVRTC: shared objects, whose bytes are the image. */
#include "fake_driver.h"
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>
using namespace fake;

/* The image's own length, which no caller tells: the table of sections is its end. */
static size_t length_of(const void *image)
{
    const Elf64_Ehdr *const head = (const Elf64_Ehdr *)image;

    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_type != ET_DYN)
        return 0;
    return head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
}

/* A file without a name.  It stays open, and has the path by which other processes find it, too:
 * those that look up lines for the sanitizers. */
static void *load(const void *image, size_t bytes, int *fd)
{
    char path[64];

    *fd = memfd_create("kernels", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), *fd);
    if (*fd < 0 || write(*fd, image, bytes) != (ssize_t)bytes)
        return nullptr;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    const call   c(__func__, CONTEXT);
    const size_t bytes = length_of(image);
    int          fd    = -1;

    if (c.no || !bytes)
        return c.no ? c.no : CUDA_ERROR_INVALID_IMAGE;
    void *const      file = load(image, bytes, &fd);
    const int *const arch = file ? (const int *)dlsym(file, "emu_architecture") : nullptr;
    emu_host **const now  = file ? (emu_host **)dlsym(file, "emu_now") : nullptr;
    if (!arch || !now) {
        const char *const why = file ? "no kernels' file" : dlerror();
        report(std::string("an image cannot be loaded: ") + (why ? why : "no memory"));
        return CUDA_ERROR_INVALID_IMAGE;
    }
    /* Code for one GPU runs on later ones of the same first digit; PTX, negative, on all later. */
    const int ours = number("RDIM_FAKE_ARCH", 90), theirs = *arch < 0 ? -*arch : *arch;
    if (theirs > ours || (*arch > 0 && theirs / 10 != ours / 10)) {
        dlclose(file);
        close(fd);
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    *module = new CUmod_st{ device(), fd, file, now, {} };
    modules.insert(*module);
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    const call c(__func__, CONTEXT);

    if (!c.may_release)
        return c.no;
    if (!modules.erase(module))
        return CUDA_ERROR_INVALID_HANDLE;
    finish_all(module->device);
    dlclose(module->file);
    close(module->fd);
    delete module;
    return c.no;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    if (!modules.count(module) || module->device != device())
        return CUDA_ERROR_INVALID_HANDLE;
    const std::string exported = std::string(name) + "__emu";
    const auto        kernel   = (const emu_kernel *)dlsym(module->file, exported.c_str());
    if (!kernel)
        return CUDA_ERROR_NOT_FOUND;
    CUfunc_st &f = module->functions[name];
    if (!f.kernel)
        f = { module, name, kernel, SHARED };
    *function = &f;
    return CUDA_SUCCESS;
}

static int max_threads(CUfunction f)
{
    return f->kernel->max_threads ? f->kernel->max_threads : EMU_MAX_THREADS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction function)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = max_threads(function); break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 32; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = function->shared; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    if (which != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > SHARED_OPTIN)
        return CUDA_ERROR_INVALID_VALUE;
    function->shared = value;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    *blocks = threads > 0 && threads <= max_threads(function) ? 2048 / threads : 0;
    return CUDA_SUCCESS;
}

/* ---- Launches ---------------------------------------------------------------------------------- */
/* As the driver, it takes the arguments along. */
struct copied {
    std::vector<std::string> bytes;
    std::vector<void *>      addresses;

    copied(const emu_kernel &kernel, void *const *arguments)
    {
        for (int i = 0; i < kernel.n; i++)
            bytes.emplace_back((const char *)arguments[i], kernel.sizes[i]);
        for (std::string &b : bytes)
            addresses.push_back(b.data());
    }
};

/* A word that is an address of the host's memory, not pinned: a GPU would fault there.  Numbers of
 * lengths are small, and addresses of devices are not mapped for the host. */
static bool is_of_host(uint64_t word)
{
    const uint64_t page = word & ~UINT64_C(4095);
    unsigned char  there;

    if (word < UINT64_C(1) << 32 || word >> 47 || memory_is_ours(word))
        return false;
    for (const auto &entry : pinned)
        if (word - (uintptr_t)entry.first <= entry.second)
            return false;
    return mincore((void *)page, 4096, &there) == 0;
}

static bool has_host_memory(const CUfunc_st &f, const copied &arguments)
{
    for (size_t i = 0; i < arguments.bytes.size(); i++)
        for (size_t at = 0; at + 8 <= arguments.bytes[i].size(); at += 8) {
            uint64_t word;
            memcpy(&word, &arguments.bytes[i][at], 8);
            if (is_of_host(word)) {
                report(f.name + ": argument " + std::to_string(i) + " has an address of the host");
                return true;
            }
        }
    return false;
}

static void launch_now(CUfunction f, emu_dim blocks, emu_dim threads, unsigned shared,
                       const copied &arguments)
{
    const int          device = f->module->device;
    const fake::launch l = { f->kernel, f->name.c_str(),           f->module->now, blocks, threads,
                             shared,    arguments.addresses.data() };

    const double before = processor_now();
    memory_open(device);
    CUresult          error  = run(l);
    const std::string beside = memory_check(device);
    memory_close(device);
    if (!beside.empty()) {
        report(f->name + " wrote " + beside);
        error = CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    contexts[device].dead = error;
    clock_kernel(device, l, processor_now() - before);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void **arguments, void **extra)
{
    const call          c(__func__, CONTEXT);
    const unsigned long threads = (unsigned long)block_x * block_y * block_z;

    if (c.no)
        return c.no;
    if (!modules.count(function->module) || function->module->device != device())
        return CUDA_ERROR_INVALID_HANDLE;
    if (!grid_x || !grid_y || !grid_z || !threads || grid_x > 0x7FFFFFFF || grid_y > 65535 ||
        grid_z > 65535 || threads > EMU_MAX_THREADS || block_z > 64 || extra ||
        shared > (unsigned)function->shared)
        return CUDA_ERROR_INVALID_VALUE;
    if ((int)threads > max_threads(function))
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    launches++;
    const auto taken = std::make_shared<copied>(*function->kernel, arguments);
    if (has_host_memory(*function, *taken)) {
        contexts[device()].dead = CUDA_ERROR_ILLEGAL_ADDRESS;
        return CUDA_SUCCESS;
    }
    return enqueue(stream, KERNELS, number("RDIM_FAKE_KERNEL", 0), [=] {
        launch_now(function, { grid_x, grid_y, grid_z }, { block_x, block_y, block_z }, shared,
                   *taken);
    });
}
