/* stay_loaded.h - threads of the library's outlive its use, so its code must stay. */
#ifndef RD_CORE_STAY_LOADED_H
#define RD_CORE_STAY_LOADED_H

/* From now on dlclose() does not unload this library, and so not OpenMP's, which it needs. */
void rd_stay_loaded(void);
#endif
