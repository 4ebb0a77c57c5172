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
  a.$tags$b = [a.b];
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
export default { read, canonical, write, wrong };
`;

t.test('xml', async (t) => {
  const locations = ['read', 'canonical', 'write', 'wrong'].map((name) => `location /${name} { js_content t.${name}; }`).join(' ');
  const s = await startServer(t, { conf: serverConf(locations, 'js_import t.js;'), files: { 't.js': script } });
  const text = async (path: string): Promise<string> => (await httpGet(s, path)).text;
  t.equal(await text('/read'), 'note,Tove,bar,Jani,2,true,b,a,false,');
  t.strictSame((await text('/canonical')).split('\n'), [
    '<n1:a xmlns="u0" xmlns:n1="u1" b="1" z="&quot;&#x9;"><c xmlns:n2="u2" n1:y="2"></c>&lt;&amp;&gt;</n1:a>',
    '<n1:a xmlns:n1="u1" b="1" z="&quot;&#x9;"><c xmlns="u0" n1:y="2"></c>&lt;&amp;&gt;</n1:a>',
    '<c xmlns="u0" xmlns:n1="u1" n1:y="2"></c>',
    '<!-- c -->',
    '<n1:a xmlns:n1="u1" b="1" z="&quot;&#x9;">&lt;&amp;&gt;</n1:a>',
    '<c xmlns="u0" xmlns:n1="u1" xmlns:n2="u2" n1:y="2"></c>',
    '<c xmlns="u0" xmlns:n1="u1" xmlns:n2="u2" n1:y="2"></c>',
  ]);
  t.equal(await text('/write'), '<a><c></c><b y="&lt;">new</b></a>');
  t.equal(await text('/wrong'), Array(4).fill('failed to parse XML').join());
});
