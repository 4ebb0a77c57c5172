import { derElements, oidText } from './der.js';

/** OpenSSL's short names. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  '2.5.4.3': 'CN',
  '2.5.4.4': 'SN',
  '2.5.4.5': 'serialNumber',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.9': 'street',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '2.5.4.12': 'title',
  '2.5.4.13': 'description',
  '2.5.4.15': 'businessCategory',
  '2.5.4.16': 'postalAddress',
  '2.5.4.17': 'postalCode',
  '2.5.4.20': 'telephoneNumber',
  '2.5.4.41': 'name',
  '2.5.4.42': 'GN',
  '2.5.4.43': 'initials',
  '2.5.4.44': 'generationQualifier',
  '2.5.4.46': 'dnQualifier',
  '2.5.4.65': 'pseudonym',
  '2.5.4.97': 'organizationIdentifier',
  '0.9.2342.19200300.100.1.1': 'UID',
  '0.9.2342.19200300.100.1.3': 'mail',
  '0.9.2342.19200300.100.1.25': 'DC',
  '1.2.840.113549.1.9.1': 'emailAddress',
  '1.2.840.113549.1.9.2': 'unstructuredName',
  '1.3.6.1.4.1.311.60.2.1.1': 'jurisdictionL',
  '1.3.6.1.4.1.311.60.2.1.2': 'jurisdictionST',
  '1.3.6.1.4.1.311.60.2.1.3': 'jurisdictionC',
};

const STRING = { UTF8: 12, NUMERIC: 18, PRINTABLE: 19, T61: 20, IA5: 22, UNIVERSAL: 28, BMP: 30 } as const;
const STRINGS: ReadonlySet<number> = new Set(Object.values(STRING));

interface Attribute {
  readonly oid: string;
  readonly tag: number;
  readonly content: Buffer;
  readonly whole: Buffer;
}

/** The relative names of a name, each with its attributes. */
function relativeNames(name: Buffer): Attribute[][] {
  return derElements(name).map((set) =>
    derElements(set.content).map((pair) => {
      const [type, value] = derElements(pair.content);
      return { oid: oidText(type!.content), tag: value!.tag, content: value!.content, whole: value!.whole };
    }),
  );
}

/** A name in the form of RFC 2253, its last part first (DER content; latin1 text). nginx: ngx_ssl_get_subject_dn. */
export function rfc2253(name: Buffer): string {
  return relativeNames(name)
    .reverse()
    .map((attributes) => attributes.map((attribute) => `${SHORT_NAMES[attribute.oid] ?? attribute.oid}=${escaped(attribute)}`).join('+'))
    .join(',');
}

/** A name in OpenSSL's old form, `/CN=name`. nginx: ngx_ssl_get_subject_dn_legacy. */
export function legacyName(name: Buffer): string {
  return relativeNames(name)
    .flat()
    .map(({ oid, content }) => {
      const text = content
        .toString('latin1')
        .replaceAll(/[^ -~]/g, (c) => `\\x${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
      return `/${SHORT_NAMES[oid] ?? oid}=${text}`;
    })
    .join('');
}

function escaped({ oid, tag, content, whole }: Attribute): string {
  if (SHORT_NAMES[oid] === undefined || !STRINGS.has(tag)) {
    return `#${whole.toString('hex').toUpperCase()}`;
  }
  const bytes = utf8(tag, content).toString('latin1');
  return bytes.replaceAll(/[^ -~]|[,+"\\<>;]|^[# ]| $/g, (c) => {
    const code = c.charCodeAt(0);
    return code < 0x20 || code > 0x7e ? `\\${code.toString(16).toUpperCase().padStart(2, '0')}` : `\\${c}`;
  });
}

function utf8(tag: number, content: Buffer): Buffer {
  if (tag === STRING.BMP) {
    return Buffer.from(Buffer.from(content).swap16().toString('utf16le'));
  }
  if (tag === STRING.UNIVERSAL) {
    let text = '';
    for (let i = 0; i + 4 <= content.length; i += 4) {
      text += String.fromCodePoint(Math.min(content.readUInt32BE(i), 0x10ffff));
    }
    return Buffer.from(text);
  }
  return tag === STRING.UTF8 ? content : Buffer.from(content.toString('latin1'));
}
