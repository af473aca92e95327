/* old-glibc.h - included before all else in wheels (script/wheel): functions of libm that glibc 2.29 gave a
 * second version, which sets errno otherwise, are asked for by their first one, so that 2.28 has them.  The first
 * version of glibc that a machine had is the first version of its symbols. */
#if defined(__x86_64__) && !defined(__ASSEMBLER__)
__asm__(".symver exp,exp@GLIBC_2.2.5");
__asm__(".symver exp2,exp2@GLIBC_2.2.5");
__asm__(".symver log,log@GLIBC_2.2.5");
__asm__(".symver log2,log2@GLIBC_2.2.5");
__asm__(".symver pow,pow@GLIBC_2.2.5");
#elif defined(__aarch64__) && !defined(__ASSEMBLER__)
__asm__(".symver exp,exp@GLIBC_2.17");
__asm__(".symver exp2,exp2@GLIBC_2.17");
__asm__(".symver log,log@GLIBC_2.17");
__asm__(".symver log2,log2@GLIBC_2.17");
__asm__(".symver pow,pow@GLIBC_2.17");
#endif
