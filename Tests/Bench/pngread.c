/* Reads a PNG's rows with libpng as they are and does nothing with them: the bound of every thumbnailer that reads
   through libpng and zlib. */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
  FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
  if (!file) return 64;
  png_structp codec = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(codec);
  if (setjmp(png_jmpbuf(codec))) return 65;
  png_init_io(codec, file);
  png_read_info(codec, info);
  png_bytep row = malloc(png_get_rowbytes(codec, info));
  for (png_uint_32 y = 0; y < png_get_image_height(codec, info); y++) png_read_row(codec, row, NULL);
  return 0;
}
