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

static bool is_ok(const char *function, nvrtcResult result, char why[RD_CUDA_TEXT])
{
    if (result != NVRTC_SUCCESS)
        rd_nvrtc_error(function, result, why);
    return result == NVRTC_SUCCESS;
}

/* ---- For which device ------------------------------------------------------------------------ */
/* Lists the architectures for which NVRTC compiles. */
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

/* Chooses the device's architecture, or the newest one before it, whose PTX the device can run. */
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
/* Allocates memory for an image. */
static char *room_for(size_t n, char why[RD_CUDA_TEXT])
{
    char *room = malloc(n ? n : 1);

    if (!room)
        snprintf(why, RD_CUDA_TEXT, "out of memory: %zu bytes of NVRTC's", n);
    return room;
}

/* Takes the compiler's messages, which only help: there is a result without them, too. */
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

/* Takes the compiled cubin. */
static bool take_cubin(const rd_nvrtc *api, nvrtcProgram program, rd_nvrtc_image *image,
                       char why[RD_CUDA_TEXT])
{
    return is_ok("nvrtcGetCUBINSize", api->nvrtcGetCUBINSize(program, &image->n), why) &&
           (image->bytes = room_for(image->n, why)) != NULL &&
           is_ok("nvrtcGetCUBIN", api->nvrtcGetCUBIN(program, image->bytes), why);
}

/* Takes the compiled PTX. */
static bool take_ptx(const rd_nvrtc *api, nvrtcProgram program, rd_nvrtc_image *image,
                     char why[RD_CUDA_TEXT])
{
    return is_ok("nvrtcGetPTXSize", api->nvrtcGetPTXSize(program, &image->n), why) &&
           (image->bytes = room_for(image->n, why)) != NULL &&
           is_ok("nvrtcGetPTX", api->nvrtcGetPTX(program, image->bytes), why);
}

/* Compiles a program with all options, and takes its messages and its image. */
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

/* True if the messages have "12 bytes spill stores" with a number other than 0. */
bool rd_nvrtc_spills(const rd_nvrtc_image *image)
{
    static const char STORES[] = " bytes spill stores";

    for (const char *at = image->log ? strstr(image->log, STORES) : NULL; at;
         at             = strstr(at + 1, STORES))
        if (at - image->log < 2 || at[-1] != '0' || (at[-2] >= '0' && at[-2] <= '9'))
            return true;
    return false;
}

/* Creates a program of the text, compiles and destroys it. */
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

/* Compiles; if registers spill, compiles again without a bound on them. */
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

void rd_nvrtc_free(rd_nvrtc_image *image)
{
    free(image->bytes);
    free(image->log);
    *image = (rd_nvrtc_image){ 0 };
}
