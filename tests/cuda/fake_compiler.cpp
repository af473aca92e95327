/* fake_compiler.cpp - CUDA C++ to a shared object for this processor, by the system's C++ compiler.
 *
 * Objects are kept by the hash of all that goes into them, in RDIM_FAKE_DIR or a directory that
 * lives as long as the process.  Any number of processes may use one: files are written aside and
 * then get their names.
 *
 * Nothing is optimised: tests' kernels run for less time than it takes to compile them (-O1: 0.17 s a
 * kernel, -O0: 0.09).  The 1500 lines that many share are not compiled before, as a header: that saves
 * less than 0.02 s. */
#include "fake_compiler.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fcntl.h>
#include <fstream>
#include <mutex>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
typedef std::string   string;
typedef fake::strings strings;

/* ---- Files ------------------------------------------------------------------------------------- */
static string read_file(const string &path)
{
    std::ifstream      file(path, std::ios::binary);
    std::ostringstream text;

    text << file.rdbuf();
    return text.str();
}

static bool exists(const string &path)
{
    return access(path.c_str(), R_OK) == 0;
}

/* Removed at the end, if it is ours; not by a child of fork(). */
struct directory {
    string path;
    pid_t  owner = 0;

    directory()
    {
        const char *const named = getenv("RDIM_FAKE_DIR"), *const place = getenv("TMPDIR");
        std::error_code ignored;

        path = named ? named : string(place ? place : P_tmpdir) + "/rdim-fake-XXXXXX";
        if (named)
            std::filesystem::create_directories(path, ignored);
        else if (mkdtemp(path.data()))
            owner = getpid();
    }
    ~directory()
    {
        std::error_code ignored;

        if (owner == getpid())
            std::filesystem::remove_all(path, ignored);
    }
};

static const string &place()
{
    static const directory d;
    return d.path;
}

/* A name that nobody else uses. */
static string aside()
{
    static std::mutex guard;
    static int        n;

    const std::lock_guard<std::mutex> lock(guard);
    return place() + "/aside." + std::to_string(getpid()) + "." + std::to_string(n++);
}

/* 128 bits, by two hashes after Fowler, Noll and Vo: tests meet no forgers. */
static string hash(const string &text)
{
    unsigned long long a = 0xcbf29ce484222325, b = 0x9e3779b97f4a7c15;
    char               digits[33];

    for (const char c : text) {
        a = (a ^ (unsigned char)c) * 0x100000001b3;
        b = (b ^ (unsigned char)c) * 0x100000001b3 + (b >> 47);
    }
    snprintf(digits, sizeof digits, "%016llx%016llx", a, b);
    return digits;
}

/* ---- The compiler ------------------------------------------------------------------------------ */
const fake::strings &fake::base_command()
{
    static const char *const cxx     = getenv("RDIM_FAKE_CXX");
    static const strings     command = {
            cxx ? cxx : RD_FAKE_CXX,
        "-std=gnu++17",
        "-O0",
        "-fno-exceptions",
        "-fno-asynchronous-unwind-tables",
        "-fPIC",
        "-fvisibility=hidden",
        "-w",
        "-ffp-contract=off",
        "-fno-fast-math",
        "-fno-math-errno",
        "-I" RD_FAKE_SOURCES,
#if defined __SANITIZE_ADDRESS__
        /* As this file is compiled: what reads beyond an allocation, or shifts too far, is told. */
        "-g1",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
#endif
    };
    return command;
}

/* What it says goes to a file, which is read. */
static bool run(const strings &command, string &log)
{
    const string               path = aside() + ".log";
    std::vector<char *>        words;
    posix_spawn_file_actions_t files;
    pid_t                      child;
    int                        status = -1;

    for (const string &word : command)
        words.push_back((char *)word.c_str());
    words.push_back(nullptr);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    if (posix_spawnp(&child, words[0], &files, nullptr, words.data(), environ) == 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    else
        log += "cannot run " + command[0] + "\n";
    posix_spawn_file_actions_destroy(&files);
    log += read_file(path);
    unlink(path.c_str());
    return status == 0;
}

static bool rename_to(const string &from, const string &to)
{
    return rename(from.c_str(), to.c_str()) == 0;
}

static void write_file(const string &path, const string &text)
{
    std::ofstream(path, std::ios::binary) << text;
}

/* ---- From text to object ----------------------------------------------------------------------- */
/* The end of what the parenthesis at `at` encloses. */
static size_t closing(const string &text, size_t at)
{
    int depth = 0;

    for (; at < text.size(); at++)
        if (text[at] == '(')
            depth++;
        else if (text[at] == ')' && --depth == 0)
            return at;
    return string::npos;
}

/* For each kernel of the text what fake_modules.cpp asks for.  A declaration is
 * `__global__ void NAME(`, with __launch_bounds__(...) before or behind the void. */
static string entries(const string &text)
{
    static const char BOUNDS[] = "__launch_bounds__";
    string            result;

    for (size_t at = 0; (at = text.find("__global__", at)) != string::npos;) {
        string       declaration = text.substr(at += strlen("__global__"), 500), bound = "(0)";
        const size_t bounds = declaration.find(BOUNDS);
        std::istringstream words;
        string             type, name;

        if (bounds < declaration.find_first_of("{;")) {
            const size_t end = closing(declaration, bounds);
            if (end == string::npos)
                continue;
            bound = declaration.substr(bounds + strlen(BOUNDS), end + 1 - bounds - strlen(BOUNDS));
            declaration.erase(bounds, end + 1 - bounds);
        }
        words.str(declaration.substr(0, declaration.find('(')));
        if (words >> type >> name && type == "void" && !(words >> type))
            result += "extern \"C\" EMU_EXPORT const emu_kernel " + name + "__emu = emu::entry<" +
                      name + ">::kernel(emu::first" + bound + ");\n";
    }
    return result;
}

/* Of all that an object depends on. */
static string key_of(const strings &command, const string &text, const string &name)
{
    static const string runtime = read_file(RD_FAKE_SOURCES "/emu.h") +
                                  read_file(RD_FAKE_SOURCES "/emu_block.h") +
                                  read_file(RD_FAKE_SOURCES "/emu_host.h");
    string all = runtime + name + "\n";

    for (const string &word : command)
        all += word + "\n";
    return hash(all + text);
}

bool fake::compile(strings command, const string &text, const string &name, string &image,
                   string &log)
{
    const string object = place() + "/" + key_of(command, text, name) + ".so", mine = aside();

    if (!exists(object)) {
        write_file(mine + ".cpp",
                   "#include \"emu.h\"\n#line 1 \"" + name + "\"\n" + text + "\n" + entries(text));
        command.insert(command.end(),
                       { "-shared", "-nostdlib", mine + ".cpp", "-o", mine + ".so", "-lm" });
        const bool done = run(command, log) && rename_to(mine + ".so", object);
        unlink((mine + ".cpp").c_str());
        if (!done)
            return false;
    }
    image = read_file(object);
    return !image.empty();
}
