// SPDX-License-Identifier: Apache-2.0

#include "herald_pictures.h"

void herald_picture_free(herald_picture *picture) {
    picture->release(picture->owner);
    picture->owner = NULL;
    picture->pixels = NULL;
}
