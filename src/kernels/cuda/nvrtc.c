/* nvrtc.c - compiles CUDA C++ text to a cubin by NVRTC; or to PTX, if the device is newer than
 * NVRTC. */
#include "kernels/cuda/nvrtc.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARCHITECTURES = 64, MAX_OPTIONS = 32 };

/* The first options give results the CPU's bits.  They also mark operations in PTX as rounded one
 * by one, so that the driver's compiler may contract none. */
const char *const rd_nvrtc_options[] = {
    "--fmad=false",
    "--ftz=false",
    "--prec-div=true",
    "--prec-sqrt=true",
    "--std=c++17",
    "--device-as-default-execution-space",
    "--ptxas-options=-v",  /* says what is spilled */
    "--diag-suppress=177", /* a function that is not called: texts begin with many */
    NULL
};
enum { N_OPTIONS = sizeof rd_nvrtc_options / sizeof *rd_nvrtc_options - 1 };

/* Checks the result of an NVRTC call: true for success; else `why` gets the error. */
static bool is_ok(const char *function, nvrtcResult result, char why[RD_CUDA_TEXT])
{
    if (result != NVRTC_SUCCESS)
        rd_nvrtc_error(function, result, why);
    return result == NVRTC_SUCCESS;
}

/* ---- For which device ------------------------------------------------------------------------ */
/* Lists the GPU architectures for which NVRTC compiles: 90 is compute capability 9.0. */
static bool get_architectures(const rd_nvrtc *api, int architectures[MAX_ARCHITECTURES], int *n,
                              char why[RD_CUDA_TEXT])
{
    if (!is_ok("nvrtcGetNumSupportedArchs", api->nvrtcGetNumSupportedArchs(n), why))
        return false;
    if (*n < 1 || *n > MAX_ARCHITECTURES) {
        snprintf(why, RD_CUDA_TEXT, "NVRTC compiles for %d architectures, not 1 to %d", *n,
                 MAX_ARCHITECTURES);
        return false;
    }
    return is_ok("nvrtcGetSupportedArchs", api->nvrtcGetSupportedArchs(architectures), why);
}

/* Chooses the architecture for which the text is compiled: the device's, or the newest one
 * before it if NVRTC does not know the device.  Then the result is PTX, which the driver
 * compiles further.  False: NVRTC only knows later architectures. */
static bool choose(const rd_nvrtc *api, int wanted, rd_nvrtc_image *image, char why[RD_CUDA_TEXT])
{
    int list[MAX_ARCHITECTURES], n, least;

    if (!get_architectures(api, list, &n, why))
        return false;
    least = list[0];
    for (int i = 0; i < n; i++) {
        least = list[i] < least ? list[i] : least;
        if (list[i] <= wanted && list[i] > image->architecture)
            image->architecture = list[i];
    }
    image->ptx = image->architecture != wanted;
    if (image->architecture == 0)
        snprintf(why, RD_CUDA_TEXT,
                 "the GPU has compute capability %d.%d, NVRTC compiles for %d.%d and later",
                 wanted / 10, wanted % 10, least / 10, least % 10);
    return image->architecture != 0;
}

/* ---- One program ----------------------------------------------------------------------------- */
/* Allocates n bytes for a compiled image; NULL: no memory, and `why` says so. malloc(0) might
 * return NULL, so at least a byte is asked for. */
static char *room_for(size_t n, char why[RD_CUDA_TEXT])
{
    char *room = malloc(n ? n : 1);

    if (!room)
        snprintf(why, RD_CUDA_TEXT, "out of memory: %zu bytes of NVRTC's", n);
    return room;
}

/* Keeps the compiler's messages in image->log.  They only help, so errors are ignored. */
static void take_log(const rd_nvrtc *api, nvrtcProgram program, rd_nvrtc_image *image)
{
    size_t n = 0;

    if (api->nvrtcGetProgramLogSize(program, &n) != NVRTC_SUCCESS || n <= 1)
        return;
    image->log = malloc(n);
    if (image->log && api->nvrtcGetProgramLog(program, image->log) != NVRTC_SUCCESS) {
        free(image->log);
        image->log = NULL;
    }
}

/* Takes the compiled machine code (cubin) from NVRTC. */
static bool take_cubin(const rd_nvrtc *api, nvrtcProgram program, rd_nvrtc_image *image,
                       char why[RD_CUDA_TEXT])
{
    return is_ok("nvrtcGetCUBINSize", api->nvrtcGetCUBINSize(program, &image->n), why) &&
           (image->bytes = room_for(image->n, why)) != NULL &&
           is_ok("nvrtcGetCUBIN", api->nvrtcGetCUBIN(program, image->bytes), why);
}

/* Takes the compiled PTX from NVRTC. */
static bool take_ptx(const rd_nvrtc *api, nvrtcProgram program, rd_nvrtc_image *image,
                     char why[RD_CUDA_TEXT])
{
    return is_ok("nvrtcGetPTXSize", api->nvrtcGetPTXSize(program, &image->n), why) &&
           (image->bytes = room_for(image->n, why)) != NULL &&
           is_ok("nvrtcGetPTX", api->nvrtcGetPTX(program, image->bytes), why);
}

/* Compiles an NVRTC program with the usual and the text's own options, and takes its messages
 * and its image. sm_90 as target gives a cubin, compute_90 PTX. */
static bool compile(const rd_nvrtc *api, nvrtcProgram program, const rd_nvrtc_text *text,
                    rd_nvrtc_image *image, char why[RD_CUDA_TEXT])
{
    const char *all[MAX_OPTIONS];
    char        target[64];
    int         n = 0;
    bool        compiled;

    if (text->n_options > MAX_OPTIONS - N_OPTIONS - 1) {
        snprintf(why, RD_CUDA_TEXT, "%d options for NVRTC are too many", text->n_options);
        return false;
    }
    snprintf(target, sizeof target, "--gpu-architecture=%s_%d", image->ptx ? "compute" : "sm",
             image->architecture);
    all[n++] = target;
    for (int i = 0; i < N_OPTIONS; i++)
        all[n++] = rd_nvrtc_options[i];
    for (int i = 0; i < text->n_options; i++)
        all[n++] = text->options[i];
    compiled = is_ok("nvrtcCompileProgram", api->nvrtcCompileProgram(program, n, all), why);
    take_log(api, program, image);
    return compiled &&
           (image->ptx ? take_ptx(api, program, image, why) : take_cubin(api, program, image, why));
}

/* True if a kernel spills registers to memory: the messages have "12 bytes spill stores" with a
 * number other than 0.  The test looks at the digit before " bytes": a 0 that follows another
 * digit, as in 10, counts as spilled. */
bool rd_nvrtc_spills(const rd_nvrtc_image *image)
{
    static const char STORES[] = " bytes spill stores";

    for (const char *at = image->log ? strstr(image->log, STORES) : NULL; at;
         at             = strstr(at + 1, STORES))
        if (at - image->log < 2 || at[-1] != '0' || (at[-2] >= '0' && at[-2] <= '9'))
            return true;
    return false;
}

/* Compiles a text by NVRTC: chooses the architecture, creates a program, compiles and destroys
 * it.  False: `why` has the reason. */
static bool compile_once(const rd_nvrtc_text *text, rd_nvrtc_image *image, char why[RD_CUDA_TEXT])
{
    const char     *missing;
    const rd_nvrtc *api = rd_nvrtc_api(&missing);
    nvrtcProgram    program;
    bool            done;

    *image = (rd_nvrtc_image){ 0 };
    if (!api) {
        snprintf(why, RD_CUDA_TEXT, "%s", missing);
        return false;
    }
    if (!choose(api, text->architecture, image, why) ||
        !is_ok("nvrtcCreateProgram",
               api->nvrtcCreateProgram(&program, text->text, text->name, 0, NULL, NULL), why))
        return false;
    done = compile(api, program, text, image, why);
    /* A program that cannot be destroyed is lost; the image is no worse for it. */
    (void)api->nvrtcDestroyProgram(&program);
    return done;
}

/* Compiles a text.  If registers spill, it is compiled again without a bound on registers:
 * RD_FIT, the blocks of threads for which registers must be left, becomes 1. */
bool rd_nvrtc_compile(const rd_nvrtc_text *text, rd_nvrtc_image *image, char why[RD_CUDA_TEXT])
{
    const char   *options[MAX_OPTIONS];
    rd_nvrtc_text again = *text;

    if (!compile_once(text, image, why))
        return false;
    if (!rd_nvrtc_spills(image) || text->n_options >= MAX_OPTIONS - N_OPTIONS - 1)
        return true;
    for (int i = 0; i < text->n_options; i++)
        options[i] = text->options[i];
    options[again.n_options++] = "-DRD_FIT=1";
    again.options              = options;
    rd_nvrtc_free(image);
    return compile_once(&again, image, why);
}

/* Frees an image and its messages. */
void rd_nvrtc_free(rd_nvrtc_image *image)
{
    free(image->bytes);
    free(image->log);
    *image = (rd_nvrtc_image){ 0 };
}
