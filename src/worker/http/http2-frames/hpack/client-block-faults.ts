import type { BlockFaults } from './block-faults.js';

/** What the log says of a client's header block. nginx: the messages of ngx_http_v2.c. */
export const clientBlockFaults: BlockFaults = {
  index: () => 'client sent invalid hpack table index',
  tableSize: (size) => `client sent invalid table size update: ${size}`,
  lateTableSize: 'client sent table size update behind a field',
  longNumber: (what) =>
    what === 'header index' || what === 'size update'
      ? `client sent header block with too long ${what} value`
      : 'client sent header field with too long length value',
  cutOff: 'client sent header block with incorrect length',
  cutOffText: 'client sent header field with incorrect length',
  nameless: 'client sent zero header name length',
  longText: () => 'client sent too large header field',
  largeSection: 'client sent too large header',
  coding: 'client sent invalid encoded header field',
};
