/* x87's extended numbers as text, also on machines that have no type for them. */
#ifndef UTRAIL_VIEW_EXTENDED_H
#define UTRAIL_VIEW_EXTENDED_H

#include <stdint.h>

#include "utils/base/containers/strbuf.h"

/*
 * Write the text of printf("%#Lf") on x86: all digits before the point and six after it, rounded to
 * the nearest number, or to the even one of two.
 *
 * @fraction: 64 bits with the leading one
 * @head: sign and exponent (Intel SDM volume 1, 4.2.2)
 */
void put_extended(uint64_t fraction, uint16_t head, struct strbuf *out);

#endif
