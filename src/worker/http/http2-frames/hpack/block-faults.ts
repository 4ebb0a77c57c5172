/** How the log says what is wrong with a block: as nginx says it of whoever sent it. */
export interface BlockFaults {
  /** A field, or a name, has a number that no table has. `most`: the largest number that the first byte can say. */
  index(index: number, most: number): string;
  /** The other end would have a larger table than it may. */
  tableSize(size: number): string;
  /** A size update stands behind a field; undefined where that is taken. */
  readonly lateTableSize: string | undefined;
  /** A number has too many bytes. */
  longNumber(what: NumberKind): string;
  /** The block ends where something of a field, or a number, was to follow. */
  readonly cutOff: string;
  /** The block ends within a name or a value. */
  readonly cutOffText: string;
  readonly nameless: string;
  /** A name or a value is longer than is allowed. */
  longText(what: NumberKind, length: number): string;
  /** All fields together are longer than is allowed. */
  readonly largeSection: string;
  /** A text is no Huffman code. */
  readonly coding: string;
}

/** What a number in a block stands for. */
export type NumberKind = 'header index' | 'size update' | 'name length' | 'value length';
