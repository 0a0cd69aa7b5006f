/* The script of pictures (picture.js), for a script element with CDATA. */
#ifndef UTRAIL_VIEW_PICTURE_SCRIPT_H
#define UTRAIL_VIEW_PICTURE_SCRIPT_H

extern const char picture_script[];

#endif
