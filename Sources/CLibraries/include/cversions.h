#pragma once

/* The commit that the program was built from, or "unknown". */
const char *cversions_commit(void);

/* The versions of the libraries that are loaded now, such as "SQLite 3.40.1, …". */
const char *cversions_libraries(void);
