import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('njs is a module of its own');
}

const script = `
import xml from 'xml';

function read(r) {
  const doc = xml.parse('<note><to b="bar" a= "foo" >Tove</to><from>Jani</from><from>Bo</from></note>');
  const { note } = doc;
  r.return(200, [doc.$root.$name, note.to.$text, note.to.$attr$b, note.$tags[1].$text, note.$tags$from.length, note.from.$parent === note,
    Object.keys(note.to.$attrs), 'none' in note, note.to.none].join());
}
function canonical(r) {
  const doc = xml.parse('<?xml version="1.0"?>\\n<!-- c --><n1:a xmlns:n1="u1" xmlns="u0" z="&quot;&#9;" b=\\'1\\'><c n1:y="2" xmlns:n2="u2"/><![CDATA[<&>]]></n1:a>');
  r.return(200, [xml.serializeToString(doc), xml.exclusiveC14n(doc), xml.exclusiveC14n(doc.a.c), xml.exclusiveC14n(doc, doc.a.c, true),
    xml.exclusiveC14n(doc.a.c, null, false, 'n2 #default'), xml.c14n(doc.a.c)].join('\\n'));
}
function write(r) {
  const doc = xml.parse('<a><b x="1">t</b><b/></a>');
  const { a } = doc;
  a.b.$attr$x = 2;
  a.b.setAttribute('y', '<');
  a.b.$text = 'new';
  a.addChild(xml.parse('<c>d</c>').c);
  a.$tags = [a.c, a.b];
  a.c.removeText();
  delete a.b.$attr$x;
  r.return(200, xml.serialize(doc));
}
function wrong(r) {
  const failures = [];
  for (const text of ['<a>', '<a b=1/>', '', '<a/><b/>']) {
    try { xml.parse(text); failures.push('none'); } catch (e) { failures.push(e.message.slice(0, 19)); }
  }
  r.return(200, failures.join());
}
function bounds(r) {
  const nested = (n, inner = '') => '<a>'.repeat(n) + inner + '</a>'.repeat(n);
  const many = (n, one) => Array.from({ length: n }, (_, i) => one(i)).join(' ');
  const texts = [nested(257), nested(258), nested(256, '<b/><b/>'), nested(257, '<b/>'), '<a>' + nested(1).repeat(1000) + '</a>',
    nested(1, '<!-- ' + nested(300).replace(/>/g, '') + '--><![CDATA[' + nested(300) + ']]><?x ' + nested(300) + '?>'), '<a b="' + '>/'.repeat(300) + '"/>',
    '<a ' + many(10000, (i) => 'a' + i + '=""') + '/>', '<a ' + many(10001, (i) => 'a' + i + '=""') + '/>',
    '<!DOCTYPE a [<!-- ]> --><!ENTITY x "]>">]><a/>', '<!DOCTYPE a [' + '<!ENTITY x "y">'.repeat(2000) + ']><a/>',
    '<a>' + '<b/>'.repeat(200000) + '</a>'];
  r.return(200, texts.map((text) => { try { return xml.parse(text).$root.$name; } catch (e) { return e.message; } }).join('\\n'));
}
function namespaces(r) {
  const doc = xml.parse('<a xmlns="urn:u" xmlns:p="urn:1"><p:b xmlns:p="urn:2"><c/><p:d xmlns=""><e xmlns:q="urn:3" q:x=""/></p:d></p:b><p:f/></a>');
  r.return(200, [xml.c14n(doc), xml.exclusiveC14n(doc), xml.c14n(doc.a.b.d), xml.exclusiveC14n(doc.a.b.d, null, false, 'q p')].join('\\n'));
}
export default { read, canonical, write, wrong, bounds, namespaces };
`;

t.test('xml', async (t) => {
  const locations = ['read', 'canonical', 'write', 'wrong', 'bounds', 'namespaces']
    .map((name) => `location /${name} { js_content t.${name}; }`)
    .join(' ');
  const s = await startServer(t, { conf: serverConf(locations, 'js_import t.js;'), files: { 't.js': script } });
  const text = async (path: string): Promise<string> => (await httpGet(s, path)).text;
  t.equal(await text('/read'), 'note,Tove,bar,Jani,2,true,b,a,false,');
  t.strictSame((await text('/canonical')).split('\n'), [
    '<n1:a xmlns="u0" xmlns:n1="u1" b="1" z="&quot;&#x9;"><c xmlns:n2="u2" n1:y="2"></c>&lt;&amp;&gt;</n1:a>',
    '<n1:a xmlns:n1="u1" b="1" z="&quot;&#x9;"><c xmlns="u0" n1:y="2"></c>&lt;&amp;&gt;</n1:a>',
    '<c xmlns="u0" xmlns:n1="u1" n1:y="2"></c>',
    '<n1:a xmlns:n1="u1" b="1" z="&quot;&#x9;">&lt;&amp;&gt;</n1:a>',
    '<c xmlns="u0" xmlns:n1="u1" xmlns:n2="u2" n1:y="2"></c>',
    '<c xmlns="u0" xmlns:n1="u1" xmlns:n2="u2" n1:y="2"></c>',
  ]);
  t.equal(await text('/write'), '<a><c></c><b y="&lt;">new</b></a>');
  const tooDeep = 'failed to parse XML (Excessive depth in document: 256)';
  t.strictSame((await text('/bounds')).split('\n'), [
    'a',
    tooDeep,
    'a',
    tooDeep,
    'a',
    'a',
    'a',
    'a',
    'failed to parse XML (an element has too many attributes)',
    'a',
    'failed to parse XML (the document type declaration is too long)',
    'failed to parse XML (there are too many elements)',
  ]);
  t.strictSame((await text('/namespaces')).split('\n'), [
    '<a xmlns="urn:u" xmlns:p="urn:1"><p:b xmlns:p="urn:2"><c></c><p:d xmlns=""><e xmlns:q="urn:3" q:x=""></e></p:d></p:b><p:f></p:f></a>',
    '<a xmlns="urn:u"><p:b xmlns:p="urn:2"><c></c><p:d><e xmlns="" xmlns:q="urn:3" q:x=""></e></p:d></p:b><p:f xmlns:p="urn:1"></p:f></a>',
    '<p:d xmlns:p="urn:2"><e xmlns:q="urn:3" q:x=""></e></p:d>',
    '<p:d xmlns:p="urn:2"><e xmlns:q="urn:3" q:x=""></e></p:d>',
  ]);
  t.equal(await text('/wrong'), Array(4).fill('failed to parse XML').join());
});
