/** What canonicalization needs of a DOM. */
interface XmlNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly nodeValue: string | null;
  readonly parentNode: XmlNode | null;
  readonly firstChild: XmlNode | null;
  readonly nextSibling: XmlNode | null;
  readonly namespaceURI?: string | null;
  readonly prefix?: string | null;
  readonly localName?: string | null;
  readonly attributes?: Iterable<XmlNode> | null;
}

/** How a document is brought into its canonical form. */
export interface CanonicalOptions {
  /** Exclusive XML Canonicalization 1.0, and not Canonical XML 1.1. */
  readonly exclusive: boolean;
  readonly comments: boolean;
  /** Prefixes whose namespaces are treated as in Canonical XML, with `exclusive`. */
  readonly prefixes: readonly string[];
  /** Left out with all that is in it. */
  readonly excluded: XmlNode | undefined;
}

const ELEMENT = 1;
const TEXT = 3;
const CDATA = 4;
const INSTRUCTION = 7;
const COMMENT = 8;
const DOCUMENT = 9;
/** Elements inside each other. */
const DEEPEST = 1000;

type Namespaces = ReadonlyMap<string, string>;

/** The canonical form of a document or an element. @throws RangeError for one that is nested too deeply. */
export function canonical(node: XmlNode, options: CanonicalOptions): string {
  if (node.nodeType === DOCUMENT) {
    let text = '';
    let seen = false;
    for (const child of childrenOf(node)) {
      if (child.nodeType === ELEMENT) {
        text += element(child, new Map(), new Map(), options, 0);
        seen = true;
      } else if (child.nodeType === INSTRUCTION || (child.nodeType === COMMENT && options.comments)) {
        const written = other(child, options);
        text += written === '' ? '' : seen ? `\n${written}` : `${written}\n`;
      }
    }
    return text;
  }
  return element(node, inScope(node.parentNode), new Map(), options, 0);
}

function childrenOf(node: XmlNode): XmlNode[] {
  const all: XmlNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    all.push(child);
  }
  return all;
}

/** The prefix that an attribute declares; undefined for other attributes. */
const declared = ({ nodeName }: XmlNode): string | undefined =>
  nodeName === 'xmlns' ? '' : nodeName.startsWith('xmlns:') ? nodeName.slice('xmlns:'.length) : undefined;

/** The namespaces that are declared around a place. */
function inScope(node: XmlNode | null): Map<string, string> {
  if (node === null || node.nodeType !== ELEMENT) {
    return new Map();
  }
  return withOwn(node, inScope(node.parentNode));
}

function withOwn(node: XmlNode, around: Namespaces): Map<string, string> {
  const own = new Map(around);
  for (const attr of node.attributes ?? []) {
    const prefix = declared(attr);
    if (prefix !== undefined) {
      own.set(prefix, attr.nodeValue ?? '');
    }
  }
  return own;
}

const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function element(node: XmlNode, around: Namespaces, written: Namespaces, options: CanonicalOptions, depth: number): string {
  if (node === options.excluded) {
    return '';
  }
  if (depth > DEEPEST) {
    throw new RangeError('the document is nested too deeply');
  }
  const scope = withOwn(node, around);
  const plain = [...(node.attributes ?? [])].filter((attr) => declared(attr) === undefined);
  const shown = new Map(written);
  let text = `<${node.nodeName}`;
  for (const prefix of namespacesFor(node, plain, scope, options).sort(byName)) {
    const uri = scope.get(prefix) ?? '';
    if (prefix !== 'xml' && (shown.get(prefix) ?? '') !== uri) {
      shown.set(prefix, uri);
      text += ` xmlns${prefix === '' ? '' : `:${prefix}`}="${attributeText(uri)}"`;
    }
  }
  const key = (attr: XmlNode): string => `${attr.namespaceURI ?? ''}\0${attr.localName ?? attr.nodeName}`;
  for (const attr of plain.sort((a, b) => byName(key(a), key(b)))) {
    text += ` ${attr.nodeName}="${attributeText(attr.nodeValue ?? '')}"`;
  }
  text += '>';
  for (const child of childrenOf(node)) {
    text += child.nodeType === ELEMENT ? element(child, scope, shown, options, depth + 1) : other(child, options);
  }
  return `${text}</${node.nodeName}>`;
}

/** The prefixes whose namespaces an element shows: all in scope, or with `exclusive` those that it uses. */
function namespacesFor(
  node: XmlNode,
  attributes: readonly XmlNode[],
  scope: Namespaces,
  { exclusive, prefixes }: CanonicalOptions,
): string[] {
  if (!exclusive) {
    return [...scope.keys()];
  }
  const used = [node, ...attributes.filter(({ prefix }) => (prefix ?? '') !== '')].map(({ prefix }) => prefix ?? '');
  const listed = prefixes.map((prefix) => (prefix === '#default' ? '' : prefix)).filter((prefix) => scope.has(prefix));
  return [...new Set([...used, ...listed])];
}

function other({ nodeType, nodeName, nodeValue }: XmlNode, { comments }: CanonicalOptions): string {
  const value = nodeValue ?? '';
  switch (nodeType) {
    case TEXT:
    case CDATA:
      return value.replace(/[&<>\r]/g, (c) => ESCAPES[c]!);
    case INSTRUCTION:
      // The declaration is none, though it looks like one.
      if (nodeName.toLowerCase() === 'xml') {
        return '';
      }
      return value === '' ? `<?${nodeName}?>` : `<?${nodeName} ${value}?>`;
    case COMMENT:
      return comments ? `<!--${value}-->` : '';
    default:
      return '';
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
};

const attributeText = (value: string): string => value.replace(/[&<"\t\n\r]/g, (c) => ESCAPES[c]!);
