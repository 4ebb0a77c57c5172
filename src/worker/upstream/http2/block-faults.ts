import type { BlockFaults } from '../../http/http2-frames/hpack/block-faults.js';

/** The largest size that the first byte of a size update can say. */
const MOST_IN_A_BYTE = 0x1f;

/**
 * What the log says of a backend's header block. A backend was told to have no table: whatever number but 0 it gives the table is named as
 * far as its first byte goes. nginx: the messages of ngx_http_grpc_parse_fragment.
 */
export const backendBlockFaults: BlockFaults = {
  index: (index, most) => `upstream sent invalid http2 table index: ${Math.min(index, most)}`,
  tableSize: (size) => `upstream sent invalid http2 dynamic table size update: ${Math.min(size, MOST_IN_A_BYTE)}`,
  lateTableSize: undefined,
  longNumber: (what) => {
    switch (what) {
      case 'header index':
        return 'upstream sent http2 table index with continuation flag';
      case 'size update':
        return `upstream sent invalid http2 dynamic table size update: ${MOST_IN_A_BYTE}`;
      default:
        return `upstream sent too large http2 header ${what}`;
    }
  },
  cutOff: 'upstream sent truncated http2 header',
  cutOffText: 'upstream sent truncated http2 header',
  nameless: 'upstream sent zero http2 header name length',
  longText: (what, length) => `upstream sent too large http2 header ${what}: ${length}`,
  largeSection: 'upstream sent too large http2 header',
  coding: 'upstream sent invalid encoded header',
};
