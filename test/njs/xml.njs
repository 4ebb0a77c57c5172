# The module xml.
> Object.prototype.toString.call(xml)
= "[object xml]"
> ['parse', 'c14n', 'exclusiveC14n', 'serialize', 'serializeToString'].map(function (n) { return typeof xml[n]; }).join()
= "function,function,function,function,function"
# Parsing.
> Object.prototype.toString.call(xml.parse('<a/>'))
= "[object XMLDoc]"
> Object.prototype.toString.call(xml.parse('<a/>').a)
= "[object XMLNode]"
> Object.prototype.toString.call(xml.parse('<a b="c"/>').a.$attrs)
= "[object XMLAttr]"
> xml.parse('<a>text</a>').a.$text
= "text"
> xml.parse(Buffer.from('<a>é</a>')).a.$text
= "é"
> xml.parse(new Uint8Array([60, 97, 47, 62])).a.$name
= "a"
> xml.parse('<?xml version="1.0" encoding="UTF-8"?><a>é€</a>').a.$text
= "é€"
> xml.parse(Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe9</a>', 'latin1')).a.$text
= throws TypeError: "latin1" encoding is not supported
~ "é"
> xml.parse('<a>&lt;&amp;&gt;&quot;&apos;&#65;&#x42;</a>').a.$text
= "<&>\"'AB"
> xml.parse('<a><![CDATA[<b>]]></a>').a.$text
= "<b>"
> xml.parse('<a>1<!-- c -->2<?pi x?>3</a>').a.$text
= "123"
> xml.parse('<a> \n <b>1</b> 2 <b>3</b></a>').a.$text
= " \n 1 2 3"
> xml.parse('<!DOCTYPE a [<!ENTITY e "entity">]><a>[&e;]</a>').a.$text
= "[entity]"
~ throws SyntaxError
> (function () { try { xml.parse('<a>'); } catch (e) { return [e.name, e instanceof Error, /^failed to parse XML \(libxml2: ".*" at \d+:\d+\)$/.test(e.message)]; } })()
= ["SyntaxError",true,true]
~ ["SyntaxError",true,false]
> ['', '<a>', '<a></b>', '<a b=1/>', '<a b="1" b="2"/>', '<a/><b/>', 'text', '<a>&nope;</a>', '<a>&</a>', '<1/>', '<a b="<"/>', '<p:a/>', '<a p:b=""/>', '<a/>text', ' <?xml version="1.0"?><a/>', '<a>\x01</a>', '<a>]]></a>', '<a><!-- -- --></a>', '<a b/>', '<a b="1"c="2"/>', '< a/>', '<a/ >', '<a>&#0;</a>', '<a xmlns:p=""/>'].map(function (text) { try { return xml.parse(text).$root.$name; } catch (e) { return e.name; } }).join()
= "SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,p:a,a,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,a"
~ "SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,SyntaxError,a"
> xml.parse()
= throws SyntaxError: failed to parse XML (libxml2: "Start tag expected, '<' not found" at 1:1)
~ throws SyntaxError
> xml.parse(5)
= throws SyntaxError: failed to parse XML (libxml2: "Start tag expected, '<' not found" at 1:1)
~ throws SyntaxError
> xml.parse(null)
= throws SyntaxError: failed to parse XML (libxml2: "Start tag expected, '<' not found" at 1:1)
~ throws SyntaxError
> xml.parse({})
= throws SyntaxError: failed to parse XML (libxml2: "Start tag expected, '<' not found" at 1:1)
~ throws SyntaxError
> xml.parse(Symbol('a'))
= throws TypeError: Cannot convert a Symbol value to a string
# The document.
> (function (d) { return [d.$root.$name, d.a.$name, d.nope, d.b, 'a' in d, 'b' in d]; })(xml.parse('<a><b/></a>'))
= ["a","a",undefined,undefined,true,false]
> Object.keys(xml.parse('<!-- c --><a><b/></a>'))
= ["a"]
> JSON.stringify(xml.parse('<a>x</a>'))
= "{\"a\":{\"$name\":\"a\",\"$text\":\"x\"}}"
> String(xml.parse('<a>x</a>'))
= "[object XMLDoc]"
> (function (d) { d.a = 1; return d.a; })(xml.parse('<a/>'))
= throws TypeError: Cannot assign to read-only property "a" of object
~ throws TypeError
> (function (d) { d.x = 1; return d.x; })(xml.parse('<a/>'))
= throws TypeError: Cannot assign to read-only property "x" of object
~ throws TypeError
> (function (d) { delete d.a; return d.a; })(xml.parse('<a/>'))
= throws TypeError: Cannot delete property "a" of object
~ throws TypeError
> njs.dump(xml.parse('<a b="c">x</a>'))
= "XMLDoc {a:XMLNode {$name:'a',$attrs:XMLAttr {b:'c'},$text:'x'}}"
# Elements.
> (function (a) { return [a.b.$text, a.$tag$b.$text, a.c, a.$tag$c, a.$tags.length, a.$tags$b.length, a.$tags$c.length]; })(xml.parse('<a><b>1</b>x<b>2</b></a>').a)
= ["1","1",undefined,undefined,2,2,0]
> xml.parse('<a><b>1</b><c/><b>2</b></a>').a.$tags.map(function (t) { return t.$name; })
= ["b","c","b"]
> xml.parse('<a><b>1</b><c/><b>2</b></a>').a.$tags$b.map(function (t) { return t.$text; })
= ["1","2"]
> xml.parse('<a>x</a>').a.$tags
= []
> xml.parse('<a/>').a.$tags
= undefined
> xml.parse('<a/>').a.$tags$b
= []
> xml.parse('<a/>').a.$tags$
= []
> xml.parse('<a><b/></a>').a.$tags$.length
= 1
> xml.parse('<a/>').a.$text
= ""
> [xml.parse('<a/>').a.$ns, xml.parse('<a xmlns="urn:u"/>').a.$ns, xml.parse('<p:a xmlns:p="urn:v"/>').a.$ns, xml.parse('<p:a xmlns:p="urn:v"/>').$root.$name]
= [undefined,"urn:u","urn:v","a"]
> (function (a) { return [a.b.$parent.$name, a.$parent, a.b.$parent === a]; })(xml.parse('<a><b/></a>').a)
= ["a",undefined,false]
~ ["a",undefined,true]
> (function (a) { return a.b === a.b; })(xml.parse('<a><b/></a>').a)
= false
~ true
> xml.parse('<a b="1" c="&lt;é" d=""/>').a.$attr$b
= "1"
> xml.parse('<a b="1" c="&lt;é" d=""/>').a.$attr$c
= "<é"
> xml.parse('<a b="1" c="&lt;é" d=""/>').a.$attr$d
= ""
> xml.parse('<a b="1"/>').a.$attr$nope
= undefined
> xml.parse('<a b="1"/>').a.$attr$
= undefined
> xml.parse('<a xmlns:p="urn:u" p:b="1" b="2"/>').a.$attr$b
= "1"
> xml.parse('<a xmlns:p="urn:u" b="2"/>').a['$attr$xmlns:p']
= undefined
> xml.parse('<a b=" x&#9;y \n z "/>').a.$attr$b
= " x\ty   z "
> xml.parse('<a b="1"/>').a.b
= undefined
> xml.parse('<a/>').a.$nope
= undefined
> xml.parse('<a/>').a.$
= undefined
> xml.parse('<a><$tag/></a>')
= throws SyntaxError: failed to parse XML (libxml2: "StartTag: invalid element name" at 1:5)
~ throws SyntaxError
> xml.parse('<a/>').a.$attrs
= undefined
> Object.keys(xml.parse('<a b="1" c="2" xmlns:p="urn:u" p:d="3"/>').a.$attrs)
= ["b","c","d"]
> (function (t) { return [t.b, t.nope, t.c]; })(xml.parse('<a b="1" c="é"/>').a.$attrs)
= ["1",undefined,"é"]
> JSON.stringify(xml.parse('<a b="1" c="é"/>').a.$attrs)
= "{\"b\":\"1\",\"c\":\"é\"}"
> (function (t) { t.b = 2; return t.b; })(xml.parse('<a b="1"/>').a.$attrs)
= throws TypeError: Cannot assign to read-only property "b" of object
~ throws TypeError
> Object.keys(xml.parse('<a/>').a)
= ["$name"]
> Object.keys(xml.parse('<a xmlns="urn:u" b="1">t<c/></a>').a)
= ["$name","$ns","$attrs","$text","$tags"]
> Object.keys(xml.parse('<a><c/>t</a>').a)
= ["$name","$tags"]
> Object.keys(xml.parse('<a>t</a>').a)
= ["$name","$text"]
> JSON.stringify(xml.parse('<a b="1"><c>t</c><d/></a>').a)
= "{\"$name\":\"a\",\"$attrs\":{\"b\":\"1\"},\"$tags\":[{\"$name\":\"c\",\"$text\":\"t\"},{\"$name\":\"d\"}]}"
> ['b' in xml.parse('<a><b/></a>').a, 'c' in xml.parse('<a><b/></a>').a, '$attr$x' in xml.parse('<a x=""/>').a, '$name' in xml.parse('<a/>').a]
= [true,false,true,true]
> String(xml.parse('<a>x</a>').a)
= "[object XMLNode]"
> njs.dump(xml.parse('<a b="c"><d>x</d></a>').a)
= "XMLNode {$name:'a',$attrs:XMLAttr {b:'c'},$tags:[XMLNode {$name:'d',$text:'x'}]}"
> ['addChild', 'removeAllAttributes', 'removeAttribute', 'removeChildren', 'removeText', 'setAttribute', 'setText'].map(function (n) { return typeof xml.parse('<a/>').a[n]; }).join()
= "function,function,function,function,function,function,function"
# Writing.
> (function (d) { return [d.a.setText('new <&>"\r'), xml.serializeToString(d)]; })(xml.parse('<a>old<b/>text</a>'))
= [undefined,"<a>new &lt;&amp;&gt;\"&#xD;</a>"]
> (function (d) { d.a.$text = 'é'; return [d.a.$text, xml.serializeToString(d)]; })(xml.parse('<a>old<b/></a>'))
= ["é","<a>é</a>"]
> (function (d) { d.a.$text = ''; return xml.serializeToString(d); })(xml.parse('<a>old<b/></a>'))
= "<a></a>"
> (function (d) { d.a.$text = null; return xml.serializeToString(d); })(xml.parse('<a>old<b/></a>'))
= "<a></a>"
> (function (d) { d.a.$text = undefined; return xml.serializeToString(d); })(xml.parse('<a>old<b/></a>'))
= "<a></a>"
> (function (d) { d.a.$text = 5; return xml.serializeToString(d); })(xml.parse('<a>old</a>'))
= throws TypeError: setval is not a string
> (function (d) { delete d.a.$text; return xml.serializeToString(d); })(xml.parse('<a>old<b/></a>'))
= "<a></a>"
> (function (d) { d.a.removeText(); return xml.serializeToString(d); })(xml.parse('<a>old<b/>more</a>'))
= "<a></a>"
> (function (d) { d.a.setText(null); return xml.serializeToString(d); })(xml.parse('<a>old<b/>more</a>'))
= "<a></a>"
> (function (d) { d.a.setText(); return xml.serializeToString(d); })(xml.parse('<a>old<b/>more</a>'))
= "<a></a>"
> (function (d) { d.a.setText({}); return xml.serializeToString(d); })(xml.parse('<a>old</a>'))
= throws TypeError: setval is not a string
> (function (d) { d.a.b.setText('x'); return xml.serializeToString(d); })(xml.parse('<a>1<b/>2</a>'))
= "<a>1<b>x</b>2</a>"
> (function (d) { var b = d.a.b; b.setText('x'); b.setText('y'); return [b.$text, xml.serializeToString(d)]; })(xml.parse('<a>1<b/>2</a>'))
= ["y","<a>1<b>y</b>2</a>"]
> (function (d) { d.a.setAttribute('b', '1'); d.a.setAttribute('c', '<&">\t\n'); return [xml.serializeToString(d), d.a.$attr$c]; })(xml.parse('<a b="0"/>'))
= ["<a b=\"1\" c=\"&lt;&amp;&quot;>&#x9;&#xA;\"></a>","<&\">\t\n"]
> (function (d) { d.a.$attr$b = 'x'; d.a.$attr$c = 5; return xml.serializeToString(d); })(xml.parse('<a b="0"/>'))
= "<a b=\"x\" c=\"5\"></a>"
> (function (d) { d.a.setAttribute('b', null); return xml.serializeToString(d); })(xml.parse('<a b="0" c="1"/>'))
= "<a c=\"1\"></a>"
> (function (d) { d.a.setAttribute('b', undefined); return xml.serializeToString(d); })(xml.parse('<a b="0" c="1"/>'))
= "<a c=\"1\"></a>"
> (function (d) { d.a.setAttribute('b'); return xml.serializeToString(d); })(xml.parse('<a b="0" c="1"/>'))
= "<a c=\"1\"></a>"
> (function (d) { d.a.$attr$b = null; return xml.serializeToString(d); })(xml.parse('<a b="0" c="1"/>'))
= "<a c=\"1\"></a>"
> (function (d) { delete d.a.$attr$b; delete d.a.$attr$nope; return xml.serializeToString(d); })(xml.parse('<a b="0" c="1"/>'))
= "<a c=\"1\"></a>"
> (function (d) { d.a.removeAttribute('b'); d.a.removeAttribute('nope'); return xml.serializeToString(d); })(xml.parse('<a b="0" c="1"/>'))
= "<a c=\"1\"></a>"
> (function (d) { return [d.a.removeAllAttributes(), xml.serializeToString(d), d.a.$attrs]; })(xml.parse('<a b="0" c="1"><d e=""/></a>'))
= [undefined,"<a><d e=\"\"></d></a>",undefined]
> xml.parse('<a/>').a.setAttribute('a b', 'c')
= throws TypeError: attribute name "a b" is not valid
> xml.parse('<a/>').a.setAttribute('', 'c')
= throws TypeError: attribute name "" is not valid
> xml.parse('<a/>').a.setAttribute('1', 'c')
= throws TypeError: attribute name "1" is not valid
> (function (d) { d.a.setAttribute('p:b', 'c'); return xml.serializeToString(d); })(xml.parse('<a xmlns:p="urn:u"/>'))
= "<a xmlns:p=\"urn:u\" p:b=\"c\"></a>"
> (function (d) { d.a.setAttribute('é', 'c'); return xml.serializeToString(d); })(xml.parse('<a/>'))
= "<a é=\"c\"></a>"
> xml.parse('<a/>').a.setAttribute(5, 'c')
= throws TypeError: name is not a string
> xml.parse('<a/>').a.setAttribute()
= throws TypeError: name is not a string
> xml.parse('<a/>').a.removeAttribute()
= throws TypeError: name is not a string
> xml.parse('<a/>').a.removeAttribute('a b')
= throws TypeError: attribute name "a b" is not valid
> (function (d) { d.a.$attr$b = ['x', 'y']; d.a.$attr$c = true; d.a.$attr$d = Buffer.from('buf'); return xml.serializeToString(d); })(xml.parse('<a/>'))
= "<a b=\"x,y\" c=\"true\" d=\"buf\"></a>"
> (function (d) { d.a.$attr$b = 'x'.repeat(2000); return d.a.$attr$b.length; })(xml.parse('<a/>'))
= 2000
> xml.parse('<a/>').a.setAttribute('x'.repeat(600), 'c')
= throws InternalError: njs_xml_str_to_c_string() very long string, length >= 511
~ undefined
> (function (d, e) { return [d.a.addChild(e.b), xml.serializeToString(d), xml.serializeToString(e)]; })(xml.parse('<a>1<c/></a>'), xml.parse('<b x="1">2<d/></b>'))
= [undefined,"<a>1<c></c><b x=\"1\">2<d></d></b></a>","<b x=\"1\">2<d></d></b>"]
> (function (d) { d.a.addChild(d.a.b); d.a.addChild(d.a.b); return xml.serializeToString(d); })(xml.parse('<a><b>1</b></a>'))
= "<a><b>1</b><b>1</b><b>1</b></a>"
> (function (d) { d.a.addChild(d.a); return xml.serializeToString(d); })(xml.parse('<a><b>1</b></a>'))
= "<a><b>1</b><a><b>1</b></a></a>"
> (function (d, e) { d.a.addChild(e); return xml.serializeToString(d); })(xml.parse('<a/>'), xml.parse('<b/>'))
= "<a><b></b></a>"
> (function (d, e) { d.a.addChild(e.$root); return xml.serializeToString(d); })(xml.parse('<a xmlns="urn:u"/>'), xml.parse('<p:b xmlns:p="urn:v"/>'))
= "<a xmlns=\"urn:u\" xmlns:p=\"urn:v\"><p:b></p:b></a>"
~ "<a xmlns=\"urn:u\"><p:b xmlns:p=\"urn:v\"></p:b></a>"
> (function (d, e) { d.a.addChild(e.b.c); return xml.serializeToString(d); })(xml.parse('<a/>'), xml.parse('<b xmlns="urn:u" xmlns:p="urn:v"><c p:x="1"/></b>'))
= "<a xmlns:default=\"urn:u\" xmlns:p=\"urn:v\"><default:c xmlns=\"urn:u\" p:x=\"1\"></default:c></a>"
~ "<a><c xmlns=\"urn:u\" xmlns:p=\"urn:v\" p:x=\"1\"></c></a>"
> xml.parse('<a/>').a.addChild()
= throws TypeError: node is not a XMLNode object
> xml.parse('<a/>').a.addChild('x')
= throws TypeError: node is not a XMLNode object
> xml.parse('<a/>').a.addChild({})
= throws TypeError: node is not a XMLNode object
> (function (d) { return [d.a.removeChildren('b'), xml.serializeToString(d)]; })(xml.parse('<a>1<b/>2<c/>3<b/>4</a>'))
= [undefined,"<a>12<c></c>34</a>"]
> (function (d) { d.a.removeChildren(); return xml.serializeToString(d); })(xml.parse('<a>1<b/>2<c/>3</a>'))
= "<a></a>"
> (function (d) { d.a.removeChildren(null); return xml.serializeToString(d); })(xml.parse('<a>1<b/>2<c/>3</a>'))
= "<a></a>"
> (function (d) { d.a.removeChildren('nope'); return xml.serializeToString(d); })(xml.parse('<a>1<b/>2</a>'))
= "<a>1<b></b>2</a>"
> xml.parse('<a/>').a.removeChildren(5)
= throws TypeError: selector is not a string
> (function (d) { d.a.$tags = [d.a.c, d.a.b]; return xml.serializeToString(d); })(xml.parse('<a>1<b/>2<c/>3</a>'))
= "<a><c></c><b></b></a>"
> (function (d) { d.a.$tags = []; return xml.serializeToString(d); })(xml.parse('<a x="1">1<b/>2</a>'))
= "<a x=\"1\"></a>"
> (function (d) { delete d.a.$tags; return xml.serializeToString(d); })(xml.parse('<a x="1">1<b/>2</a>'))
= "<a x=\"1\"></a>"
> (function (d) { d.a.$tags = [1]; return xml.serializeToString(d); })(xml.parse('<a><b/></a>'))
= throws TypeError: setval[0] is not a XMLNode object
> (function (d) { d.a.$tags = 'x'; return xml.serializeToString(d); })(xml.parse('<a><b/></a>'))
= throws TypeError: setval is not an array
> (function (d) { d.a.$tags = [xml.parse('<n/>').n]; return xml.serializeToString(d); })(xml.parse('<a/>'))
= throws InternalError: unexpected property type "property handler" while setting
~ "<a><n></n></a>"
> (function (d) { d.a.$tags$b = [d.a.c]; return xml.serializeToString(d); })(xml.parse('<a><b/><c/></a>'))
= throws TypeError: XMLNode $tags$xxx is not assignable, use addChild() or node.$tags = [node1, node2, ..] syntax
> (function (d) { delete d.a.$tags$b; return xml.serializeToString(d); })(xml.parse('<a>1<b/><c/><b/></a>'))
= throws TypeError: XMLNode $tags$xxx is not assignable, use addChild() or node.$tags = [node1, node2, ..] syntax
> (function (d) { d.a.b = d.a.c; return xml.serializeToString(d); })(xml.parse('<a><b/><c/></a>'))
= throws TypeError: XMLNode.$tag$xxx is not assignable, use addChild() or node.$tags = [node1, node2, ..] syntax
> (function (d) { d.a.$tag$b = 'x'; return xml.serializeToString(d); })(xml.parse('<a><b/></a>'))
= throws TypeError: XMLNode.$tag$xxx is not assignable, use addChild() or node.$tags = [node1, node2, ..] syntax
> (function (d) { delete d.a.b; return xml.serializeToString(d); })(xml.parse('<a>1<b/><c/><b/></a>'))
= "<a>1<c></c></a>"
> (function (d) { delete d.a.$tag$b; return xml.serializeToString(d); })(xml.parse('<a>1<b/><c/><b/></a>'))
= "<a>1<c></c></a>"
> (function (d) { delete d.a.nope; return xml.serializeToString(d); })(xml.parse('<a>1<b/></a>'))
= "<a>1<b></b></a>"
> (function (d) { d.a.$name = 'b'; return xml.serializeToString(d); })(xml.parse('<a/>'))
= throws TypeError: Cannot assign to read-only property "$name" of object
~ throws TypeError
> (function (d) { var a = d.a; a.addChild(a.b); return [a.$tags.length, d.a.$tags.length]; })(xml.parse('<a><b/></a>'))
= [2,2]
> (function (d) { var b = d.a.b; d.a.removeChildren('b'); return [b.$name, b.$text]; })(xml.parse('<a><b>x</b></a>'))
= ["b","x"]
> xml.parse('<a/>').a.addChild.call({}, xml.parse('<b/>').b)
= throws TypeError: "this" is not a XMLNode object
~ undefined
> xml.parse('<a/>').a.setText.call(null, 'x')
= undefined
# Canonical forms.
> xml.c14n(xml.parse('<a/>'))
= Buffer 3c613e3c2f613e
> xml.serialize(xml.parse('<a/>'))
= Buffer 3c613e3c2f613e
> xml.exclusiveC14n(xml.parse('<a/>'))
= Buffer 3c613e3c2f613e
> xml.serializeToString(xml.parse('<?xml version="1.0"?>\n<!-- x -->\n<a z="1" b=\'2\'  >\r\n<b/></a>\n<?pi y?>'))
= "<a b=\"2\" z=\"1\">\n<b></b></a>"
> xml.serializeToString(xml.parse('<a>&#13;é<![CDATA[&<]]>\t</a>'))
= "<a>&#xD;é&amp;&lt;\t</a>"
> xml.serializeToString(xml.parse('<a b="&#9;&#10;&#13;&quot;\'&lt;&gt;"/>'))
= "<a b=\"&#x9;&#xA;&#xD;&quot;'&lt;>\"></a>"
> xml.serializeToString(xml.parse('<a xmlns:z="urn:u1" xmlns:b="urn:u2" xmlns="urn:u3" z:q="1" b:q="2" q="3" a="4"/>'))
= "<a xmlns=\"urn:u3\" xmlns:b=\"urn:u2\" xmlns:z=\"urn:u1\" a=\"4\" q=\"3\" z:q=\"1\" b:q=\"2\"></a>"
> xml.exclusiveC14n(xml.parse('<a xmlns:z="urn:u1" xmlns:b="urn:u2" xmlns="urn:u3" z:q="1" q="3"><b:c/></a>')).toString()
= "<a xmlns=\"urn:u3\" xmlns:z=\"urn:u1\" q=\"3\" z:q=\"1\"><b:c xmlns:b=\"urn:u2\"></b:c></a>"
> xml.exclusiveC14n(xml.parse('<a xmlns:z="urn:u1" xmlns="urn:u3"><c/></a>').a.c).toString()
= "<c xmlns=\"urn:u3\"></c>"
> xml.c14n(xml.parse('<a xmlns:z="urn:u1" xmlns="urn:u3" xml:lang="en"><c/></a>').a.c).toString()
= "<c xmlns=\"urn:u3\" xmlns:z=\"urn:u1\" xml:lang=\"en\"></c>"
> xml.exclusiveC14n(xml.parse('<a xmlns:z="urn:u1" xmlns="urn:u3" xml:lang="en"><c/></a>').a.c, null, false, 'z').toString()
= "<c xmlns=\"urn:u3\" xmlns:z=\"urn:u1\"></c>"
> xml.exclusiveC14n(xml.parse('<a xmlns:z="urn:u1" xmlns:y="urn:u2"><c/></a>').a.c, null, false, 'z y').toString()
= "<c xmlns:y=\"urn:u2\" xmlns:z=\"urn:u1\"></c>"
> xml.exclusiveC14n(xml.parse('<a xmlns:z="urn:u1" xmlns:y="urn:u2"><c/></a>').a.c, null, false, '').toString()
= "<c></c>"
> xml.exclusiveC14n(xml.parse('<a xmlns="urn:u1"><c/></a>').a.c, null, false, '#default').toString()
= "<c xmlns=\"urn:u1\"></c>"
> xml.exclusiveC14n(xml.parse('<a/>'), null, false, 5)
= throws TypeError: "prefixes" argument is not a string
> xml.exclusiveC14n(xml.parse('<a><!-- c -->t</a>')).toString()
= "<a>t</a>"
> xml.exclusiveC14n(xml.parse('<a><!-- c -->t</a>'), null, true).toString()
= "<a><!-- c -->t</a>"
> xml.exclusiveC14n(xml.parse('<!-- d --><a><!-- c -->t</a>'), null, true).toString()
= "<a><!-- c -->t</a>"
> xml.exclusiveC14n(xml.parse('<a><!-- c -->t</a>').a, undefined, 1).toString()
= "<a><!-- c -->t</a>"
> xml.c14n(xml.parse('<a><!-- c -->t</a>'), null, true).toString()
= "<a><!-- c -->t</a>"
> (function (d) { return xml.exclusiveC14n(d, d.a.b).toString(); })(xml.parse('<a>1<b>2</b>3<c/></a>'))
= "<a>13<c></c></a>"
> (function (d) { return xml.exclusiveC14n(d.a, d.a.b).toString(); })(xml.parse('<a>1<b>2</b>3<c/></a>'))
= "<a>13<c></c></a>"
> (function (d) { return xml.exclusiveC14n(d.a.c, d.a.b).toString(); })(xml.parse('<a>1<b>2</b>3<c/></a>'))
= "<c></c>"
> (function (d) { return xml.exclusiveC14n(d.a, d.a).toString(); })(xml.parse('<a>1<b>2</b></a>'))
= throws TypeError: detached buffer
~ ""
> (function (d) { return xml.exclusiveC14n(d, d.a.b, true).toString(); })(xml.parse('<a><!-- c --><b>2</b></a>'))
= "<a></a>"
> (function (d) { return xml.exclusiveC14n(d, d.a.b, true).toString(); })(xml.parse('<a>1<b><!-- in -->2</b><!-- out --></a>'))
= "<a>1</a>"
> (function (d) { return xml.c14n(d, d.a.b).toString(); })(xml.parse('<a xmlns:p="urn:u">1<b><c p:x=""/></b></a>'))
= "<a xmlns:p=\"urn:u\">1</a>"
> (function (d) { return xml.serializeToString(d, d.a.b); })(xml.parse('<a>1<b/></a>'))
= "<a>1</a>"
> xml.exclusiveC14n(xml.parse('<a/>'), 'x')
= throws TypeError: "excluding" argument is not a XMLNode object
> xml.exclusiveC14n(xml.parse('<a/>'), xml.parse('<a/>'))
= throws TypeError: "excluding" argument is not a XMLNode object
> (function (d, e) { return xml.exclusiveC14n(d, e.b).toString(); })(xml.parse('<a>1<b/></a>'), xml.parse('<b/>'))
= "<a>1<b></b></a>"
> xml.c14n()
= throws TypeError: "this" is not a XMLNode object
> xml.c14n('x')
= throws TypeError: "this" is not a XMLNode object
> xml.c14n({})
= throws TypeError: "this" is not a XMLNode object
> xml.serializeToString(null)
= throws TypeError: "this" is not a XMLNode object
> xml.c14n(xml.parse('<a b="1"/>').a.$attrs)
= throws TypeError: "this" is not a XMLNode object
> xml.serializeToString(xml.parse('<!DOCTYPE a [<!ENTITY e "entity"><!ATTLIST a d CDATA "default">]><a x="&e;">&e;</a>'))
= throws InternalError: xmlC14NExecute() failed
~ throws SyntaxError
> xml.serializeToString(xml.parse('<a xmlns="urn:u"><b xmlns=""><c xmlns="urn:u"/></b></a>'))
= "<a xmlns=\"urn:u\"><b xmlns=\"\"><c xmlns=\"urn:u\"></c></b></a>"
> xml.exclusiveC14n(xml.parse('<a xmlns="urn:u"><b xmlns=""><c xmlns="urn:u"/></b></a>')).toString()
= "<a xmlns=\"urn:u\"><b xmlns=\"\"><c xmlns=\"urn:u\"></c></b></a>"
> xml.exclusiveC14n(xml.parse('<p:a xmlns:p="urn:u"><q:b xmlns:q="urn:v" q:x="1" p:x="2"/></p:a>').$root.b).toString()
= "<q:b xmlns:p=\"urn:u\" xmlns:q=\"urn:v\" p:x=\"2\" q:x=\"1\"></q:b>"
stream set> return xml.parse('<a>stream</a>').a.$text;
= "[stream]"
