#pragma once
/* The doors to libpng, libjpeg and LittleCMS; setjmp stays behind them. */
int ccodecs_ready(void);
