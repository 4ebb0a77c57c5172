// How much nginx's slab allocator would fit into a zone of the same size, so that `zone=NAME:SIZE` means as much here.

const PAGE = 4096;
/** What the allocator keeps for itself at the start of a zone: pool header, slot heads and their statistics. */
const HEADER = 704;
/** Each page has an entry in the page table. nginx: sizeof(ngx_slab_page_t) */
const PAGE_ENTRY = 24;

/** Bytes that entries of a zone of `bytes` bytes can take, by {@link slabCost}. One page holds the zone's own small objects. */
export function slabCapacity(bytes: number): number {
  return Math.max(0, Math.floor((bytes - HEADER) / (PAGE + PAGE_ENTRY)) - 1) * PAGE;
}

/** Bytes the allocator takes for an object: the next power of two, or whole pages above half a page. nginx: ngx_slab_alloc_locked */
export function slabCost(size: number): number {
  if (size > PAGE / 2) {
    return Math.ceil(size / PAGE) * PAGE;
  }
  let cost = 8;
  while (cost < size) {
    cost *= 2;
  }
  return cost;
}
