const named = (name: string): number => Buffer.from(name, 'latin1').readUInt32BE(0);

/** The names of the atoms that a film is cut by, or that are sent with it, as numbers of 32 bits. */
export const FTYP: number = named('ftyp');
export const MOOV: number = named('moov');
export const MDAT: number = named('mdat');
export const MVHD: number = named('mvhd');
export const TRAK: number = named('trak');
export const CMOV: number = named('cmov');
export const TKHD: number = named('tkhd');
export const EDTS: number = named('edts');
export const ELST: number = named('elst');
export const MDIA: number = named('mdia');
export const MDHD: number = named('mdhd');
export const HDLR: number = named('hdlr');
export const MINF: number = named('minf');
export const VMHD: number = named('vmhd');
export const SMHD: number = named('smhd');
export const DINF: number = named('dinf');
export const STBL: number = named('stbl');
export const STSD: number = named('stsd');
export const STTS: number = named('stts');
export const STSS: number = named('stss');
export const CTTS: number = named('ctts');
export const STSC: number = named('stsc');
export const STSZ: number = named('stsz');
export const STCO: number = named('stco');
export const CO64: number = named('co64');
