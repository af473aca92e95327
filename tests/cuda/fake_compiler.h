/* fake_compiler.h - what the fake NVRTC compiles with. */
#ifndef RD_TESTS_CUDA_FAKE_COMPILER_H
#define RD_TESTS_CUDA_FAKE_COMPILER_H
#include <string>
#include <vector>

namespace fake
{
typedef std::vector<std::string> strings;

/* The compiler and its options, but for those that the caller of NVRTC has a say in. */
const strings &base_command();
/* The object's bytes, from the directory if it has them, or the compiler's messages. */
bool compile(strings command, const std::string &text, const std::string &name, std::string &image,
             std::string &log);
} // namespace fake
#endif
