// The only file that imports @xmldom/xmldom; the build makes it a file of its own with the package in it.
import { type Attr, DOMParser, type Document, type Element, type Node } from '@xmldom/xmldom';
import { excess, unnoticed } from './xml-bounds.js';
import { canonicalXml } from './xml-canonical.js';

const ELEMENT = 1;

/** The nodes behind the objects that scripts have, and those objects, so that a node has one. */
const nodes = new WeakMap<object, Element | Document>();
const views = new WeakMap<Element | Document, object>();

/** Parses a document. @throws SyntaxError for what is not well formed. nginx: xml.parse of njs. */
function parse(source: unknown): object {
  const text = decoded(
    ArrayBuffer.isView(source) || source instanceof ArrayBuffer ? bytesIn(source) : Buffer.from(`${source as string}`, 'utf8'),
  );
  refuse(excess(text));
  const parser = new DOMParser({
    // What it only warns of is not well formed either.
    onError(_level, message) {
      throw new SyntaxError(`failed to parse XML (${message.split('\n')[0]})`);
    },
  });
  let document: Document;
  try {
    document = parser.parseFromString(text, 'text/xml');
  } catch (error) {
    const { message } = error as Error;
    throw new SyntaxError(message.startsWith('failed to parse XML') ? message : `failed to parse XML (${message.split('\n')[0]})`);
  }
  refuse(unnoticed(text));
  return viewOf(document);
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) {
    throw new SyntaxError(`failed to parse XML (${problem})`);
  }
}

const bytesIn = (source: ArrayBufferView | ArrayBuffer): Buffer =>
  ArrayBuffer.isView(source) ? Buffer.from(source.buffer, source.byteOffset, source.byteLength) : Buffer.from(source);

/** The text of a document, which may name its encoding. */
function decoded(bytes: Buffer): string {
  const named = /^(?:\xef\xbb\xbf)?<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.-]+)["']/.exec(bytes.toString('latin1', 0, 256))?.[1];
  try {
    return new TextDecoder(named ?? 'utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new SyntaxError('failed to parse XML (its bytes are not of its encoding)');
  }
}

function nodeOf(value: unknown, what = '"this"'): Element | Document {
  const node = typeof value === 'object' && value !== null ? nodes.get(value) : undefined;
  if (node === undefined) {
    throw new TypeError(`${what} is not a XMLNode object`);
  }
  return node;
}

/** The element behind an object of a script: a document stands for its root. */
function elementOf(value: unknown, what?: string): Element {
  const node = nodeOf(value, what);
  return node.nodeType === ELEMENT ? (node as Element) : (node as Document).documentElement!;
}

function children(node: Node, name?: string): Element[] {
  const all: Element[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (child.nodeType === ELEMENT && (name === undefined || localName(child as Element) === name)) {
      all.push(child as Element);
    }
  }
  return all;
}

const localName = (node: Element | Attr): string => node.localName ?? node.nodeName;

/** Attributes; those that declare namespaces are none. */
const attributesOf = (element: Element): Attr[] => [...element.attributes].filter(({ nodeName }) => !/^xmlns(:|$)/.test(nodeName));

/** Attributes by their names without prefixes. */
const attributeOf = (element: Element, name: string): Attr | undefined => attributesOf(element).find((attr) => localName(attr) === name);

function viewOf(node: Element | Document): object {
  let view = views.get(node);
  if (view === undefined) {
    view = new Proxy({}, node.nodeType === ELEMENT ? elementView(node as Element) : documentView(node as Document));
    views.set(node, view);
    nodes.set(view, node);
  }
  return view;
}

const firstOf = (list: readonly Element[]): object | undefined => (list.length === 0 ? undefined : viewOf(list[0]!));

/** What all objects have, such as `toString`, where a document has no tag of that name. */
const inherited = (name: string | symbol, kind: string): unknown =>
  name === Symbol.toStringTag ? kind : Reflect.get(Object.prototype, name);

const documentView = (document: Document): ProxyHandler<object> => {
  const read = (name: string): object | undefined => firstOf(children(document, name === '$root' ? undefined : name));
  return {
    get: (_target, name) => (typeof name === 'string' ? read(name) : undefined) ?? inherited(name, 'XMLDoc'),
    has: (_target, name) => typeof name === 'string' && read(name) !== undefined,
    set: () => false,
    deleteProperty: () => false,
    ownKeys: () => children(document).map(localName),
    getOwnPropertyDescriptor: (_target, name) => {
      const value = typeof name === 'string' ? read(name) : undefined;
      return value === undefined ? undefined : { value, enumerable: true, configurable: true };
    },
  };
};

const elementView = (element: Element): ProxyHandler<object> => ({
  get: (_target, name) => (typeof name === 'string' ? read(element, name) : undefined) ?? inherited(name, 'XMLNode'),
  has: (_target, name) => typeof name === 'string' && read(element, name) !== undefined,
  set: (_target, name, value) => typeof name === 'string' && write(element, name, value),
  deleteProperty: (_target, name) => typeof name === 'string' && remove(element, name),
  ownKeys: () => keysOf(element),
  getOwnPropertyDescriptor: (_target, name) => {
    const value = typeof name === 'string' ? read(element, name) : undefined;
    return value === undefined ? undefined : { value, enumerable: true, configurable: true, writable: true };
  },
});

const keysOf = (element: Element): string[] => [
  '$name',
  ...((element.namespaceURI ?? '') === '' ? [] : ['$ns']),
  ...(attributesOf(element).length > 0 ? ['$attrs'] : []),
  ...((element.firstChild?.nodeValue ?? null) === null ? [] : ['$text']),
  ...(children(element).length > 0 ? ['$tags'] : []),
];

/** The methods of an element, made for each: few scripts call more than one. */
const methods: Readonly<Record<string, (element: Element) => (...args: never[]) => unknown>> = {
  addChild: (element) => (child: unknown) => addCopy(element, elementOf(child, 'node')),
  removeAllAttributes: (element) => () => {
    for (const attr of attributesOf(element)) {
      element.removeAttributeNode(attr);
    }
  },
  removeAttribute: (element) => (name: unknown) => setAttribute(element, givenString(name, 'name'), null),
  removeChildren: (element) => (name?: unknown) =>
    name === undefined || name === null ? empty(element) : removeTags(element, givenString(name, 'selector')),
  removeText: (element) => () => empty(element),
  setAttribute: (element) => (name: unknown, value: unknown) => setAttribute(element, givenString(name, 'name'), value),
  setText: (element) => (value: unknown) => setText(element, value),
};

function givenString(value: unknown, what: string): string {
  if (typeof value !== 'string') {
    throw new TypeError(`${what} is not a string`);
  }
  return value;
}

function read(element: Element, name: string): unknown {
  switch (name) {
    case '$name':
      return localName(element);
    case '$ns':
      return element.namespaceURI || undefined;
    case '$parent':
      return element.parentNode?.nodeType === ELEMENT ? viewOf(element.parentNode as Element) : undefined;
    case '$text':
      return element.textContent ?? '';
    case '$tags':
      return element.firstChild === null ? undefined : children(element).map(viewOf);
    case '$attrs':
      return attributesView(element);
  }
  if (isOf(name, '$attr$')) {
    return attributeOf(element, name.slice('$attr$'.length))?.value;
  }
  if (name.startsWith('$tags$')) {
    return children(element, name.slice('$tags$'.length) || undefined).map(viewOf);
  }
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  return method === undefined ? firstOf(children(element, tagName(name))) : method(element);
}

const isOf = (name: string, prefix: string): boolean => name.length > prefix.length && name.startsWith(prefix);
const tagName = (name: string): string => (isOf(name, '$tag$') ? name.slice('$tag$'.length) : name);

/** Properties that say what an element is, and are not written. */
const READ_ONLY = new Set(['$name', '$ns', '$parent', '$attrs']);

const SYNTAX = 'is not assignable, use addChild() or node.$tags = [node1, node2, ..] syntax';

function write(element: Element, name: string, value: unknown): boolean {
  if (READ_ONLY.has(name)) {
    return false;
  }
  if (name === '$text') {
    setText(element, value);
  } else if (name === '$tags' || name === '$tags$') {
    setTags(element, value);
  } else if (name.startsWith('$tags$')) {
    throw new TypeError(`XMLNode $tags$xxx ${SYNTAX}`);
  } else if (isOf(name, '$attr$')) {
    setAttribute(element, name.slice('$attr$'.length), value);
  } else {
    throw new TypeError(`XMLNode.$tag$xxx ${SYNTAX}`);
  }
  return true;
}

function remove(element: Element, name: string): boolean {
  if (READ_ONLY.has(name)) {
    return false;
  }
  if (name === '$text' || name === '$tags' || name === '$tags$') {
    empty(element);
  } else if (name.startsWith('$tags$')) {
    throw new TypeError(`XMLNode $tags$xxx ${SYNTAX}`);
  } else if (isOf(name, '$attr$')) {
    setAttribute(element, name.slice('$attr$'.length), null);
  } else {
    removeTags(element, tagName(name));
  }
  return true;
}

const ATTRIBUTES: object = Object.freeze({ [Symbol.toStringTag]: 'XMLAttr' });

function attributesView(element: Element): object | undefined {
  const attributes = attributesOf(element);
  if (attributes.length === 0) {
    return undefined;
  }
  const all = Object.create(ATTRIBUTES) as Record<string, string>;
  for (const attr of attributes) {
    // The first of a name counts.
    if (!Object.hasOwn(all, localName(attr))) {
      all[localName(attr)] = attr.value;
    }
  }
  return Object.freeze(all);
}

const NAME = /^[\p{L}_][\p{L}\p{N}_.\-\u00b7]*(?::[\p{L}_][\p{L}\p{N}_.\-\u00b7]*)?$/u;

function setAttribute(element: Element, name: string, value: unknown): void {
  if (!NAME.test(name)) {
    throw new TypeError(`attribute name "${name}" is not valid`);
  }
  if (value === null || value === undefined) {
    const known = attributeOf(element, name);
    if (known !== undefined) {
      element.removeAttributeNode(known);
    }
    return;
  }
  const colon = name.indexOf(':');
  const uri = colon === -1 ? null : element.lookupNamespaceURI(name.slice(0, colon));
  if (uri === null) {
    element.setAttribute(name, String(value));
  } else {
    element.setAttributeNS(uri, name, String(value));
  }
}

/** Takes all that an element has within it away. */
function empty(element: Element): void {
  while (element.firstChild !== null) {
    element.removeChild(element.firstChild);
  }
}

/** Replaces all that an element has within it by a text. */
function setText(element: Element, value: unknown): void {
  const text = value === null || value === undefined ? '' : givenString(value, 'setval');
  empty(element);
  if (text !== '') {
    element.appendChild(element.ownerDocument!.createTextNode(text));
  }
}

function removeTags(element: Element, name: string): void {
  for (const child of children(element, name)) {
    element.removeChild(child);
  }
}

/** Replaces all that an element has within it by copies of others. */
function setTags(element: Element, value: unknown): void {
  if (!Array.isArray(value)) {
    throw new TypeError('setval is not an array');
  }
  // Looked at and copied first: what is taken out may be among them.
  const copies = value.map((child, index) => copyFor(element, elementOf(child, `setval[${index}]`)));
  empty(element);
  for (const copy of copies) {
    addOwn(element, copy);
  }
}

const addCopy = (element: Element, child: Element): void => addOwn(element, copyFor(element, child));
const copyFor = (element: Element, child: Element): Element => element.ownerDocument!.importNode(child, true);

const XMLNS = 'http://www.w3.org/2000/xmlns/';

/** Adds an element of the document, and declares on it what its names need and nothing around it declares. */
function addOwn(element: Element, child: Element): void {
  element.appendChild(child);
  const within: Element[] = [child];
  for (let one = within.pop(); one !== undefined; one = within.pop()) {
    for (const { namespaceURI, prefix } of [one, ...attributesOf(one).filter((attr) => attr.prefix !== null)]) {
      if ((namespaceURI ?? '') !== '' && prefix !== 'xml' && one.lookupNamespaceURI(prefix ?? '') !== namespaceURI) {
        child.setAttributeNS(XMLNS, (prefix ?? '') === '' ? 'xmlns' : `xmlns:${prefix}`, namespaceURI!);
      }
    }
    within.push(...children(one));
  }
}

/** A form of an element, or of a document's root, and what is left out of it. */
function form(node: unknown, excluding: unknown, exclusive: boolean, withComments: unknown, prefixList: unknown): string {
  const element = elementOf(node);
  let excluded: Node | undefined;
  if (excluding !== undefined && excluding !== null) {
    excluded = nodeOf(excluding, '"excluding" argument');
    if (excluded.nodeType !== ELEMENT) {
      throw new TypeError('"excluding" argument is not a XMLNode object');
    }
  }
  if (prefixList !== undefined && prefixList !== null && typeof prefixList !== 'string') {
    throw new TypeError('"prefixes" argument is not a string');
  }
  const prefixes = (prefixList ?? '').split(' ').filter(Boolean);
  // Where something is left out, comments are, too.
  return canonicalXml(element, { exclusive, comments: Boolean(withComments) && excluded === undefined, prefixes, excluded });
}

const c14n = (node: unknown, excluding?: unknown, withComments?: unknown): Buffer =>
  Buffer.from(form(node, excluding, false, withComments, undefined), 'utf8');

/** The module `xml` of njs. */
export const xml: object = {
  parse,
  c14n,
  exclusiveC14n: (node: unknown, excluding?: unknown, withComments?: unknown, prefixList?: unknown) =>
    Buffer.from(form(node, excluding, true, withComments, prefixList), 'utf8'),
  serialize: c14n,
  serializeToString: (node: unknown, excluding?: unknown, withComments?: unknown) => form(node, excluding, false, withComments, undefined),
  [Symbol.toStringTag]: 'xml',
};
