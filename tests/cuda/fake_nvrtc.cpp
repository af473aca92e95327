/* fake_nvrtc.cpp - NVRTC's functions, by fake_compiler.h: what they call a cubin is a shared object,
 * which the fake driver loads. */
#include "fake.h"
#include "fake_compiler.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
extern "C" {
#include "kernels/cuda/api.h"
#define RD_NVRTC(returns, name, parameters) FAKE_API returns name parameters;
#include "kernels/cuda/api.def"
}
typedef std::string string;

const char *const fake::functions[] = {
#define RD_NVRTC(returns, name, parameters) #name,
#include "kernels/cuda/api.def"
    nullptr
};
[[maybe_unused]] static void *const defined[] = {
#define RD_NVRTC(returns, name, parameters) (void *)name,
#include "kernels/cuda/api.def"
};

struct _nvrtcProgram {
    string text, name, image, log;
};

static const int architectures[] = { 75, 80, 90 };
enum { INVALID_PROGRAM = 4, INVALID_OPTION = 5 };

/* The result of a call that fails on demand, or that is given no program. */
static nvrtcResult refusal(const char *function, const void *program)
{
    const int error = fake::fault(function);

    return error || program ? error : (int)INVALID_PROGRAM;
}

/* One that no NVRTC has, so that nobody takes an image of this processor's for a GPU's. */
nvrtcResult nvrtcVersion(int *major, int *minor)
{
    *major = 13, *minor = 99;
    return fake::fault(__func__);
}

const char *nvrtcGetErrorString(nvrtcResult error)
{
    static const char *const names[] = { "NVRTC_SUCCESS",
                                         "NVRTC_ERROR_OUT_OF_MEMORY",
                                         "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                         "NVRTC_ERROR_INVALID_INPUT",
                                         "NVRTC_ERROR_INVALID_PROGRAM",
                                         "NVRTC_ERROR_INVALID_OPTION",
                                         "NVRTC_ERROR_COMPILATION" };

    fake::fault(__func__);
    return error >= 0 && error <= NVRTC_ERROR_COMPILATION ? names[error] : "NVRTC_ERROR unknown";
}

nvrtcResult nvrtcGetNumSupportedArchs(int *n)
{
    *n = sizeof architectures / sizeof *architectures;
    return fake::fault(__func__);
}

nvrtcResult nvrtcGetSupportedArchs(int *list)
{
    memcpy(list, architectures, sizeof architectures);
    return fake::fault(__func__);
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *text, const char *name, int,
                               const char *const *, const char *const *)
{
    const nvrtcResult no = refusal(__func__, text);

    if (!no)
        *program = new _nvrtcProgram{ text, name ? name : "default_program", "", "" };
    return no;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    const nvrtcResult no = refusal(__func__, *program);

    delete *program;
    *program = nullptr;
    return no;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int n, const char *const *options)
{
    const nvrtcResult no      = refusal(__func__, program);
    fake::strings     command = fake::base_command();
    int               target  = 0;

    if (no)
        return no;
    if (__builtin_cpu_supports("fma"))
        command.push_back("-mfma"); /* the same bits as by libm's, sooner */
    for (int i = 0; i < n; i++) {
        const string o = options[i];
        sscanf(options[i], "--gpu-architecture=sm_%d", &target);
        if (sscanf(options[i], "--gpu-architecture=compute_%d", &target) == 1)
            target = -target;
        if (o.rfind("-D", 0) == 0)
            command.push_back(o);
    }
    if (!std::count(std::begin(architectures), std::end(architectures), abs(target)))
        return INVALID_OPTION;
    command.push_back("-D__CUDA_ARCH__=" + std::to_string(abs(target) * 10));
    command.push_back("-DEMU_ARCHITECTURE=" + std::to_string(target));
    return fake::compile(command, program->text, program->name, program->image, program->log)
               ? NVRTC_SUCCESS
               : NVRTC_ERROR_COMPILATION;
}

/* Texts end with a zero byte, images do not. */
static nvrtcResult give(const char *function, nvrtcProgram program, const string &bytes, char *to,
                        size_t *n, bool text)
{
    const nvrtcResult no = refusal(function, program);

    if (!no && n)
        *n = bytes.size() + text;
    if (!no && to)
        memcpy(to, bytes.c_str(), bytes.size() + text);
    return no;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes)
{
    return give(__func__, program, program->image, nullptr, bytes, false);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin)
{
    return give(__func__, program, program->image, cubin, nullptr, false);
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *bytes)
{
    return give(__func__, program, program->image, nullptr, bytes, true);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx)
{
    return give(__func__, program, program->image, ptx, nullptr, true);
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes)
{
    return give(__func__, program, program->log, nullptr, bytes, true);
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
    return give(__func__, program, program->log, log, nullptr, true);
}
