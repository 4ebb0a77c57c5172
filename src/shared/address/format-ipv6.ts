/** Sixteen bytes as an IPv6 address, the longest run of zero groups left out. nginx: ngx_inet6_ntop. */
export function formatIpv6(bytes: Uint8Array): string {
  const groups: number[] = [];
  for (let i = 0; i < 16; i += 2) {
    groups.push((bytes[i]! << 8) | bytes[i + 1]!);
  }
  let best = -1;
  let length = 1;
  for (let i = 0; i < 8; i++) {
    let n = 0;
    while (i + n < 8 && groups[i + n] === 0) {
      n++;
    }
    if (n > length) {
      best = i;
      length = n;
    }
  }
  const hex = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  if (best === 0 && groups[5] === 0xffff && length === 5) {
    return `::ffff:${bytes[12]}.${bytes[13]}.${bytes[14]}.${bytes[15]}`;
  }
  return best === -1 ? hex(groups) : `${hex(groups.slice(0, best))}::${hex(groups.slice(best + length))}`;
}
