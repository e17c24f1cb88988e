#pragma once
#include "order.h"

enum greed { modest, too_many_processes, too_much_space };

/* Whether the descendants of this process are more, or the folders it may write hold more, than the
 * order allows. The kernel's own limits count per user, or per file, which is not enough. */
enum greed greed_of(const struct order *order);
