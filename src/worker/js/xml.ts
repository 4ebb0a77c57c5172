// The only file that imports @xmldom/xmldom; the build makes it a file of its own with the package in it.
import { type Attr, DOMParser, type Document, type Element, type Node } from '@xmldom/xmldom';
import { excess } from './xml-bounds.js';
import { canonical } from './xml-canonical.js';

const ELEMENT = 1;
const TEXT = 3;
const CDATA = 4;

/** The nodes behind the objects that scripts have, and those objects, so that a node has one. */
const nodes = new WeakMap<object, Element | Document>();
const views = new WeakMap<Element | Document, object>();

/** Parses a document. @throws Error for what is not well formed. nginx: xml.parse of njs. */
function parse(source: unknown): object {
  const text = typeof source === 'string' ? source : Buffer.from(source as Uint8Array).toString('utf8');
  const tooMuch = excess(text);
  if (tooMuch !== undefined) {
    throw new Error(`failed to parse XML (${tooMuch})`);
  }
  const parser = new DOMParser({
    // What it only warns of is not well formed either.
    onError(_level, message) {
      throw new Error(`failed to parse XML (${message.split('\n')[0]})`);
    },
  });
  let document: Document;
  try {
    document = parser.parseFromString(text, 'text/xml');
  } catch (error) {
    const { message } = error as Error;
    throw new Error(message.startsWith('failed to parse XML') ? message : `failed to parse XML (${message.split('\n')[0]})`);
  }
  return viewOf(document);
}

function nodeOf(value: unknown): Element | Document {
  const node = typeof value === 'object' && value !== null ? nodes.get(value) : undefined;
  if (node === undefined) {
    throw new TypeError('"this" is not a XMLNode object');
  }
  return node;
}

const elementOf = (value: unknown): Element => nodeOf(value) as Element;

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
const attributesOf = (element: Element): Attr[] => [...element.attributes];

/** Attributes by their names without prefixes; those that declare namespaces are none. */
const attributeOf = (element: Element, name: string): Attr | undefined =>
  attributesOf(element).find((attr) => localName(attr) === name && !/^xmlns(:|$)/.test(attr.nodeName));

function textOf(node: Node): string {
  return node.textContent ?? '';
}

function viewOf(node: Element | Document): object {
  let view = views.get(node);
  if (view === undefined) {
    view = new Proxy(
      Object.create(null) as object,
      node.nodeType === ELEMENT ? elementView(node as Element) : documentView(node as Document),
    );
    views.set(node, view);
    nodes.set(view, node);
  }
  return view;
}

const firstOf = (list: readonly Element[]): object | undefined => (list.length === 0 ? undefined : viewOf(list[0]!));

const documentView = (document: Document): ProxyHandler<object> => ({
  get: (_target, name) =>
    typeof name !== 'string' ? undefined : name === '$root' ? firstOf(children(document)) : firstOf(children(document, name)),
  has: (_target, name) => typeof name === 'string' && (name === '$root' || children(document, name).length > 0),
  ownKeys: () => children(document).map(localName),
  getOwnPropertyDescriptor: (_target, name) => {
    const value = typeof name === 'string' ? firstOf(children(document, name)) : undefined;
    return value === undefined ? undefined : { value, enumerable: true, configurable: true };
  },
});

const elementView = (element: Element): ProxyHandler<object> => ({
  get: (_target, name) => (typeof name === 'string' ? read(element, name) : undefined),
  has: (_target, name) => typeof name === 'string' && read(element, name) !== undefined,
  set: (_target, name, value) => typeof name === 'string' && write(element, name, value),
  deleteProperty: (_target, name) =>
    typeof name === 'string' && write(element, name, name === '$tags' || name.startsWith('$tags$') ? [] : null),
  ownKeys: () => ['$name', ...(element.attributes.length > 0 ? ['$attrs'] : []), ...(children(element).length > 0 ? ['$tags'] : ['$text'])],
  getOwnPropertyDescriptor: (_target, name) => {
    const value = typeof name === 'string' ? read(element, name) : undefined;
    return value === undefined ? undefined : { value, enumerable: true, configurable: true, writable: true };
  },
});

/** The methods of an element, made for each: few scripts call more than one. */
const methods: Readonly<Record<string, (element: Element) => (...args: never[]) => unknown>> = {
  addChild: (element) => (child: unknown) => void element.appendChild(element.ownerDocument!.importNode(elementOf(child), true)),
  removeAllAttributes: (element) => () => {
    for (const attr of attributesOf(element)) {
      element.removeAttributeNode(attr);
    }
  },
  removeAttribute: (element) => (name: unknown) => setAttribute(element, String(name), null),
  removeChildren: (element) => (name?: unknown) => replaceChildren(element, [], name === undefined ? undefined : String(name)),
  removeText: (element) => () => setText(element, null),
  setAttribute: (element) => (name: unknown, value: unknown) => setAttribute(element, String(name), value),
  setText: (element) => (value: unknown) => setText(element, value),
};

function read(element: Element, name: string): unknown {
  switch (name) {
    case '$name':
      return localName(element);
    case '$ns':
      return element.namespaceURI ?? undefined;
    case '$parent':
      return element.parentNode === null ? undefined : viewOf(element.parentNode as Element | Document);
    case '$text':
      return textOf(element);
    case '$tags':
      return children(element).map(viewOf);
    case '$attrs':
      return attributesView(element);
  }
  if (name.startsWith('$attr$')) {
    return attributeOf(element, name.slice('$attr$'.length))?.value;
  }
  if (name.startsWith('$tags$')) {
    return children(element, name.slice('$tags$'.length)).map(viewOf);
  }
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  return method === undefined ? firstOf(children(element, name.startsWith('$tag$') ? name.slice('$tag$'.length) : name)) : method(element);
}

function write(element: Element, name: string, value: unknown): boolean {
  if (name === '$text') {
    setText(element, value);
  } else if (name === '$tags' || name.startsWith('$tags$')) {
    replaceChildren(element, value as unknown[], name === '$tags' ? undefined : name.slice('$tags$'.length));
  } else if (name.startsWith('$attr$')) {
    setAttribute(element, name.slice('$attr$'.length), value);
  } else if (name.startsWith('$') && !name.startsWith('$tag$')) {
    return false;
  } else {
    const tag = name.startsWith('$tag$') ? name.slice('$tag$'.length) : name;
    replaceChildren(element, value === null || value === undefined ? [] : [value], tag);
  }
  return true;
}

function attributesView(element: Element): object {
  const all: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const attr of attributesOf(element)) {
    all[localName(attr)] = attr.value;
  }
  return all;
}

function setAttribute(element: Element, name: string, value: unknown): void {
  const known = attributeOf(element, name);
  if (value === null || value === undefined) {
    if (known !== undefined) {
      element.removeAttributeNode(known);
    }
  } else if (known !== undefined) {
    known.value = String(value);
  } else {
    checkName(name);
    element.setAttribute(name, String(value));
  }
}

function checkName(name: string): void {
  if (!/^[A-Za-z_\u0080-\uffff][\w.\-\u0080-\uffff]*$/.test(name)) {
    throw new TypeError(`attribute name "${name}" is not valid`);
  }
}

/** Replaces what an element says, and keeps its tags. */
function setText(element: Element, value: unknown): void {
  for (let child = element.firstChild; child !== null; ) {
    const next: Node | null = child.nextSibling;
    if (child.nodeType === TEXT || child.nodeType === CDATA) {
      element.removeChild(child);
    }
    child = next;
  }
  if (value !== null && value !== undefined) {
    element.appendChild(element.ownerDocument!.createTextNode(String(value)));
  }
}

/** Takes the tags of a name, or all, off an element, and adds copies of others. */
function replaceChildren(element: Element, given: readonly unknown[], name: string | undefined): void {
  // Copied first: what is taken off may be among them.
  const copies = given.map((child) => element.ownerDocument!.importNode(elementOf(child), true));
  for (const child of children(element, name)) {
    element.removeChild(child);
  }
  for (const copy of copies) {
    element.appendChild(copy);
  }
}

const excludedOf = (value: unknown): Node | undefined => (value === undefined || value === null ? undefined : nodeOf(value));

function c14n(node: unknown, excluding?: unknown): Buffer {
  return Buffer.from(canonical(nodeOf(node), { exclusive: false, comments: false, prefixes: [], excluded: excludedOf(excluding) }), 'utf8');
}

function exclusiveC14n(node: unknown, excluding?: unknown, withComments?: unknown, prefixList?: unknown): Buffer {
  const prefixes = prefixList === undefined || prefixList === null ? [] : String(prefixList).split(/\s+/).filter(Boolean);
  const options = { exclusive: true, comments: withComments === true, prefixes, excluded: excludedOf(excluding) };
  return Buffer.from(canonical(nodeOf(node), options), 'utf8');
}

/** The module `xml` of njs. */
export const xml: object = {
  parse,
  c14n,
  exclusiveC14n,
  serialize: c14n,
  serializeToString: (node: unknown, excluding?: unknown) => c14n(node, excluding).toString('utf8'),
};
