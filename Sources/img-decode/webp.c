/* WebP by libwebp; of an animation the first picture. */
#include <stdlib.h>

#include <webp/decode.h>
#include <webp/demux.h>

#include "picture.h"

void decode_webp(struct source source) {
  WebPData data = {source.bytes, source.size};
  WebPDemuxState state;
  WebPDemuxer *demuxer = WebPDemuxPartial(&data, &state);
  if (!demuxer || state < WEBP_DEMUX_PARSED_HEADER)
    refuse(state == WEBP_DEMUX_PARSE_ERROR ? STATUS_DAMAGED : STATUS_INCOMPLETE, "no header");
  uint32_t flags = WebPDemuxGetI(demuxer, WEBP_FF_FORMAT_FLAGS);
  WebPIterator frame;
  WebPBitstreamFeatures features;
  if (state != WEBP_DEMUX_DONE) refuse(STATUS_INCOMPLETE, "the file ends early");
  if (!WebPDemuxGetFrame(demuxer, 1, &frame)) refuse(STATUS_DAMAGED, "no picture");
  if (WebPGetFeatures(frame.fragment.bytes, frame.fragment.size, &features) != VP8_STATUS_OK)
    refuse(STATUS_DAMAGED, "no picture's header");

  struct head head = {
    .width = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH),
    .height = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT), .depth = 8,
    .is_animation = WebPDemuxGetI(demuxer, WEBP_FF_FRAME_COUNT) > 1,
  };
  int is_part = (uint32_t)frame.width < head.width || (uint32_t)frame.height < head.height;
  head.channels = features.has_alpha || is_part ? 4 : 3;
  WebPChunkIterator profile = {0};
  if (flags & ICCP_FLAG && WebPDemuxGetChunk(demuxer, "ICCP", 1, &profile) && profile.chunk.size <= 4 << 20)
    head.profile_size = (uint32_t)profile.chunk.size;
  send_head(&head, profile.chunk.bytes);

  size_t stride = (size_t)head.width * head.channels, size = stride * head.height;
  uint8_t *rows = calloc(1, size);
  if (!rows) refuse(STATUS_TOO_LARGE, "out of memory");
  size_t start = (size_t)frame.y_offset * stride + (size_t)frame.x_offset * head.channels;
  WebPDecoderConfig config;
  WebPInitDecoderConfig(&config);
  config.output.colorspace = head.channels == 4 ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = (WebPRGBABuffer){.rgba = rows + start, .stride = (int)stride, .size = size - start};
  switch (WebPDecode(frame.fragment.bytes, frame.fragment.size, &config)) {
  case VP8_STATUS_OK: send_rows(&head, rows, stride); return;
  case VP8_STATUS_OUT_OF_MEMORY: refuse(STATUS_TOO_LARGE, "out of memory");
  case VP8_STATUS_NOT_ENOUGH_DATA: case VP8_STATUS_SUSPENDED: refuse(STATUS_INCOMPLETE, "the picture ends early");
  default: refuse(STATUS_DAMAGED, "the coded picture is damaged");
  }
}
