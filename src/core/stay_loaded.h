/* stay_loaded.h - keeps the library loaded, because its threads outlive its use. */
#ifndef RD_CORE_STAY_LOADED_H
#define RD_CORE_STAY_LOADED_H

/* From now on dlclose() does not unload this library, nor OpenMP's, which it needs. */
void rd_stay_loaded(void);
#endif
