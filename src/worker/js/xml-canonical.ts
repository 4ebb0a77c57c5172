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
/** Elements inside each other. */
const DEEPEST = 1000;

/** The canonical form of an element. @throws RangeError for one that is nested too deeply. */
export function canonicalXml(node: XmlNode, options: CanonicalOptions): string {
  const writer = new Writer(options);
  writer.enterAround(node.parentNode);
  return writer.element(node, 0, options.exclusive ? [] : ofAncestors(node));
}

/** The attributes of `xml:`, such as a language, that an element has from those around it. */
function ofAncestors(node: XmlNode): XmlNode[] {
  const found = new Map<string, XmlNode>();
  for (let at: XmlNode | null = node; at !== null && at.nodeType === ELEMENT; at = at.parentNode) {
    for (const attr of at.attributes ?? []) {
      if (attr.prefix === 'xml' && !found.has(attr.nodeName)) {
        found.set(attr.nodeName, attr);
      }
    }
  }
  return [...found.values()].filter((attr) => ![...(node.attributes ?? [])].includes(attr));
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

const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What a prefix stood for before an element changed that; undefined for nothing. */
type Before = readonly [map: Map<string, string>, prefix: string, uri: string | undefined];

/** Writes elements. Namespaces are entered and left with them, so that an element costs no more for those declared around it. */
class Writer {
  readonly #options: CanonicalOptions;
  /** The namespaces that are declared at a place. */
  readonly #scope = new Map<string, string>();
  /** The namespaces that the text says there. */
  readonly #shown = new Map<string, string>();
  #changes: Before[] = [];

  constructor(options: CanonicalOptions) {
    this.#options = options;
  }

  /** Enters the elements around the first one, which are not written. */
  enterAround(node: XmlNode | null): void {
    const around: XmlNode[] = [];
    for (let at = node; at !== null && at.nodeType === ELEMENT; at = at.parentNode) {
      around.push(at);
    }
    for (const one of around.reverse()) {
      this.#enter([...(one.attributes ?? [])]);
    }
  }

  #set(map: Map<string, string>, prefix: string, uri: string): void {
    this.#changes.push([map, prefix, map.get(prefix)]);
    map.set(prefix, uri);
  }

  /** Undoes the changes down to a number of them. */
  #leave(count: number): void {
    while (this.#changes.length > count) {
      const [map, prefix, uri] = this.#changes.pop()!;
      if (uri === undefined) {
        map.delete(prefix);
      } else {
        map.set(prefix, uri);
      }
    }
  }

  /** Returns the prefixes that are declared. */
  #enter(attributes: readonly XmlNode[]): string[] {
    const prefixes: string[] = [];
    for (const attr of attributes) {
      const prefix = declared(attr);
      if (prefix !== undefined) {
        prefixes.push(prefix);
        this.#set(this.#scope, prefix, attr.nodeValue ?? '');
      }
    }
    return prefixes;
  }

  element(node: XmlNode, depth: number, more: readonly XmlNode[] = []): string {
    const options = this.#options;
    if (node === options.excluded) {
      return '';
    }
    if (depth > DEEPEST) {
      throw new RangeError('the document is nested too deeply');
    }
    const before = this.#changes.length;
    const attributes = [...(node.attributes ?? [])];
    const own = this.#enter(attributes);
    const plain = [...attributes.filter((attr) => declared(attr) === undefined), ...more];
    let text = `<${node.nodeName}`;
    for (const prefix of this.#namespacesFor(node, plain, depth === 0 ? [...this.#scope.keys()] : own).sort(byName)) {
      const uri = this.#scope.get(prefix) ?? '';
      if (prefix !== 'xml' && (this.#shown.get(prefix) ?? '') !== uri) {
        this.#set(this.#shown, prefix, uri);
        text += ` xmlns${prefix === '' ? '' : `:${prefix}`}="${attributeText(uri)}"`;
      }
    }
    const keys = new Map(plain.map((attr) => [attr, `${attr.namespaceURI ?? ''}\0${attr.localName ?? attr.nodeName}`]));
    for (const attr of plain.sort((a, b) => byName(keys.get(a)!, keys.get(b)!))) {
      text += ` ${attr.nodeName}="${attributeText(attr.nodeValue ?? '')}"`;
    }
    text += '>';
    for (const child of childrenOf(node)) {
      text += child.nodeType === ELEMENT ? this.element(child, depth + 1) : other(child, options);
    }
    this.#leave(before);
    return `${text}</${node.nodeName}>`;
  }

  /**
   * The prefixes whose namespaces an element shows: those that may be new, or with `exclusive` those that it uses. All in scope are new to
   * the first element, and to the others what they declare themselves.
   */
  #namespacesFor(node: XmlNode, attributes: readonly XmlNode[], fresh: string[]): string[] {
    const { exclusive, prefixes } = this.#options;
    if (!exclusive) {
      return fresh;
    }
    const used = [node, ...attributes.filter(({ prefix }) => (prefix ?? '') !== '')].map(({ prefix }) => prefix ?? '');
    const listed = prefixes.map((prefix) => (prefix === '#default' ? '' : prefix)).filter((prefix) => this.#scope.has(prefix));
    return [...new Set([...used, ...listed])];
  }
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
