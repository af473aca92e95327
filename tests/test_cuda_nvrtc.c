/* test_cuda_nvrtc.c - where the driver and NVRTC are found, and texts compiled by the fake NVRTC
 * (tests/cuda) and by NVRTC itself.  Each test is a process of its own. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "fake_gpu.h"
#include "fake_kernels.h"
#include "suite.h"
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* ---- Loading ----------------------------------------------------------------------------------- */
START_TEST(loads)
{
    const char *why;
    int         version;

    fake_use();
    ck_assert_msg(rd_cuda_api(&why) != NULL, "%s", why);
    ck_assert_msg(rd_nvrtc_api(&why) != NULL, "%s", why);
    ck_assert_ptr_eq(rd_cuda_api(NULL), rd_cuda_api(&why));
    ck_assert_int_eq(rd_cuda_api(NULL)->cuDriverGetVersion(&version), CUDA_SUCCESS);
    ck_assert_int_ge(version, 12000);
}
END_TEST

START_TEST(files_missing)
{
    const char *why;

    setenv("RDIM_LIBCUDA", "/nowhere/libcuda.so.1", 1);
    setenv("RDIM_LIBNVRTC", "/nowhere/libnvrtc.so", 1);
    ck_assert_ptr_null(rd_cuda_api(&why));
    ck_assert_str_eq(why, "/nowhere/libcuda.so.1 not found");
    ck_assert_ptr_null(rd_nvrtc_api(&why));
    ck_assert_str_eq(why, "/nowhere/libnvrtc.so not found");
}
END_TEST

START_TEST(functions_missing)
{
    const rd_nvrtc_text text = { .text = add_text, .name = "add", .architecture = 90 };
    rd_nvrtc_image      image;
    const char         *why;
    char                sentence[RD_CUDA_TEXT];

    setenv("RDIM_LIBCUDA", fake_nvrtc, 1);
    setenv("RDIM_LIBNVRTC", fake_cuda, 1);
    ck_assert_ptr_null(rd_cuda_api(&why));
    ck_assert_msg(strstr(why, " lacks cuInit") != NULL, "%s", why);
    ck_assert_ptr_null(rd_nvrtc_api(&why));
    ck_assert_msg(strstr(why, " lacks nvrtcVersion") != NULL, "%s", why);
    ck_assert(!rd_nvrtc_compile(&text, &image, sentence));
    ck_assert_str_eq(sentence, why);
    rd_nvrtc_free(&image);
}
END_TEST

START_TEST(not_a_library)
{
    const char *why;

    setenv("RDIM_LIBCUDA", "/dev/null", 1);
    ck_assert_ptr_null(rd_cuda_api(&why));
    ck_assert_msg(strstr(why, "not found") == NULL && why[0], "%s", why);
}
END_TEST

/* An NVRTC of this machine, which may be looked at and left, keeps memory of its own. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_disable() ((void)0)
#define __lsan_enable()  ((void)0)
#endif

/* Whatever lies on this machine, what is of a later CUDA than the driver is said to be so, not that
 * other files are missing. */
START_TEST(later_than_the_driver)
{
    char        dir[FAKE_PATH], path[FAKE_PATH + 32];
    const char *why;

    fake_use();
    fake_directory(dir);
    snprintf(path, sizeof path, "%s/lib64", dir);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/lib64/libnvrtc.so", dir);
    ck_assert_int_eq(symlink(fake_nvrtc, path), 0);
    unsetenv("RDIM_LIBNVRTC");
    setenv("CUDA_HOME", dir, 1);
    setenv("RDIM_FAKE_VERSION", "10020", 1);
    __lsan_disable();
    ck_assert_ptr_null(rd_nvrtc_api(&why));
    __lsan_enable();
    ck_assert_msg(strstr(why, " is of CUDA 1") && strstr(why, ", the driver of CUDA 10"), "%s",
                  why);
    fake_remove(dir);
}
END_TEST

START_TEST(wrong_text)
{
    const rd_nvrtc_text text = { .text = "int f( {", .name = "wrong.cu", .architecture = 90 };
    rd_nvrtc_image      image;
    char                why[RD_CUDA_TEXT];

    fake_use();
    ck_assert(!rd_nvrtc_compile(&text, &image, why));
    ck_assert_str_eq(why, "nvrtcCompileProgram: 6, NVRTC_ERROR_COMPILATION");
    ck_assert_ptr_nonnull(image.log);
    ck_assert_msg(strstr(image.log, "wrong.cu:1") != NULL, "%s", image.log);
    rd_nvrtc_free(&image);
}
END_TEST

/* ---- NVRTC ------------------------------------------------------------------------------------- */
static const char *const nvrtc_functions[] = {
    "nvrtcGetNumSupportedArchs", "nvrtcGetSupportedArchs", "nvrtcCreateProgram",
    "nvrtcCompileProgram",       "nvrtcGetCUBINSize",      "nvrtcGetCUBIN",
};

START_TEST(each_of_nvrtc_fails)
{
    const rd_nvrtc_text text = { .text = add_text, .name = "add.cu", .architecture = 90 };
    rd_nvrtc_image      image;
    char                why[RD_CUDA_TEXT], want[RD_CUDA_TEXT];

    fake_use();
    ck_assert_int_eq(fake_break(fake_nvrtc, nvrtc_functions[_i], 1, 1), 0);
    ck_assert(!rd_nvrtc_compile(&text, &image, why));
    rd_nvrtc_error(nvrtc_functions[_i], 1, want);
    ck_assert_str_eq(why, want);
    rd_nvrtc_free(&image);
    ck_assert_msg(rd_nvrtc_compile(&text, &image, why), "%s", why);
    rd_nvrtc_free(&image);
}
END_TEST

/* A process's objects serve the next, also while several begin at once. */
START_TEST(stored)
{
    char place[FAKE_PATH], command[FAKE_PATH + 32];
    int  status;

    fake_use();
    fake_directory(place);
    setenv("RDIM_FAKE_DIR", place, 1);
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            gpu_work(NULL);
            _exit(0);
        }
    while (wait(&status) > 0)
        ck_assert_int_eq(status, 0);
    snprintf(command, sizeof command, "test $(ls %s | wc -l) = 1", place);
    ck_assert_int_eq(system(command), 0);
    fake_remove(place);
}
END_TEST

static const struct {
    int  wanted, made_for;
    bool ptx;
} chosen[] = { { 75, 75, false }, { 86, 80, true }, { 90, 90, false }, { 121, 90, true } };

START_TEST(architectures)
{
    const rd_nvrtc_text old = { .text = add_text, .name = "add.cu", .architecture = 61 };
    rd_nvrtc_image      image;
    char                why[RD_CUDA_TEXT];

    fake_use();
    for (int i = 0; i < COUNT(chosen); i++) {
        const rd_nvrtc_text text = { .text         = add_text,
                                     .name         = "add.cu",
                                     .architecture = chosen[i].wanted };

        ck_assert_msg(rd_nvrtc_compile(&text, &image, why), "%s", why);
        ck_assert_int_eq(image.architecture, chosen[i].made_for);
        ck_assert_int_eq(image.ptx, chosen[i].ptx);
        rd_nvrtc_free(&image);
    }
    ck_assert(!rd_nvrtc_compile(&old, &image, why));
    ck_assert_str_eq(why, "the GPU has compute capability 6.1, NVRTC compiles for 7.5 and later");
    rd_nvrtc_free(&image);
}
END_TEST

static const char *const texts[]         = { add_text,   sum_text,  TURN("__syncthreads();\n"),
                                             STORE("n"), wait_text, relay_text };
static const int         real_machines[] = { 75, 80, 90 };

/* By the real one, where it is there. */
START_TEST(real_nvrtc)
{
    const char    *why;
    rd_nvrtc_image image;
    char           sentence[RD_CUDA_TEXT];

    unsetenv("RDIM_LIBNVRTC");
    if (!rd_nvrtc_api(&why)) {
        printf("skipped: kernels by NVRTC itself: %s\n", why);
        return;
    }
    for (int i = 0; i < COUNT(real_machines); i++) {
        const rd_nvrtc_text text = { .text         = texts[_i],
                                     .name         = "kernel.cu",
                                     .architecture = real_machines[i] };

        ck_assert_msg(rd_nvrtc_compile(&text, &image, sentence), "%s\n%s", sentence, image.log);
        ck_assert_msg(!image.ptx && memcmp(image.bytes, "\177ELF", 4) == 0, "no cubin");
        rd_nvrtc_free(&image);
    }
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, loads);
    tcase_add_test(tc, files_missing);
    tcase_add_test(tc, functions_missing);
    tcase_add_test(tc, not_a_library);
    tcase_add_test(tc, later_than_the_driver);
    tcase_add_test(tc, wrong_text);
    tcase_add_loop_test(tc, each_of_nvrtc_fails, 0, COUNT(nvrtc_functions));
    tcase_add_test(tc, stored);
    tcase_add_test(tc, architectures);
    tcase_add_loop_test(tc, real_nvrtc, 0, COUNT(texts));
}

int main(void)
{
    return fake_run("cuda_nvrtc", add);
}
