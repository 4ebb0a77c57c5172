# The module querystring.
> Object.keys(querystring).sort()
= []
~ ["decode","encode","escape","parse","stringify","unescape","unescapeBuffer"]
> querystring.parse('a=1&b=2&a=3')
= {a:["1","3"],b:"2"}
> Object.getPrototypeOf(querystring.parse('a=1'))
= {}
> querystring.parse('')
= {}
> querystring.parse()
= {}
> querystring.parse(5)
= {}
> querystring.parse(null)
= {}
> querystring.parse('a')
= {a:""}
> querystring.parse('a=')
= {a:""}
> querystring.parse('=a')
= {:"a"}
> querystring.parse('=')
= {:""}
> querystring.parse('&&a=1&&')
= {a:"1"}
> querystring.parse('a=b=c')
= {a:"b=c"}
> querystring.parse('a=%20+%2B')
= {a:"  +"}
> querystring.parse('a=%zz%')
= {a:"%zz%"}
> querystring.parse('a=%E2%82%AC')
= {a:"€"}
> querystring.parse('a=%E2%82')
= {a:"�"}
> querystring.parse('a=%ff')
= {a:"�"}
> querystring.parse('%41=%42')
= {A:"B"}
> querystring.parse('a:1;b:2', ';', ':')
= {a:"1",b:"2"}
> querystring.parse('a==1&&b==2', '&&', '==')
= {a:"1",b:"2"}
> querystring.parse('a=1', '', '')
= {a:"1"}
> querystring.parse('a=1&b=2', null, null)
= {a:"1",b:"2"}
> querystring.parse('a=1&b=2&c=3&d=4', null, null, {maxKeys: 2})
= {a:"1",b:"2"}
> querystring.parse('a=1&b=2&c=3', null, null, {maxKeys: 0})
= {a:"1",b:"2",c:"3"}
> querystring.parse('a=1&b=2&c=3', null, null, {maxKeys: -1})
= {a:"1",b:"2",c:"3"}
> Object.keys(querystring.parse(Array.from({length: 1005}, function (_, i) { return 'k' + i + '=1'; }).join('&'))).length
= 1000
> querystring.parse('a=%31&b', null, null, {decodeURIComponent: function (x) { return '<' + x + '>'; }})
= {<a>:"<%31>",<b>:""}
> querystring.parse('a=1', null, null, {decodeURIComponent: function (x) { throw new Error('mine'); }})
= throws Error: mine
> querystring.parse('a=1', null, null, {decodeURIComponent: function (x) { return 5; }})
= {5:"5"}
> querystring.parse('a=1', null, null, {decodeURIComponent: 5})
= throws TypeError: option decodeURIComponent is not a function
~ {a:"1"}
> querystring.parse('__proto__=1&toString=2&length=3')
= {toString:[function,"2"],length:[2,"3"]}
~ {__proto__:"1",toString:"2",length:"3"}
> querystring.decode === querystring.parse
= false
~ true
> querystring.decode('a=1')
= {a:"1"}
> querystring.stringify({a: 1, b: '2', c: [3, '4'], d: true, e: null, f: undefined, g: {}, h: 1.5})
= "a=1&b=2&c=3&c=4&d=true&e=&f=&g=&h=1.5"
> querystring.stringify({a: Infinity, b: NaN, c: -0})
= "a=&b=&c=0"
> querystring.stringify({a: BigInt(5)})
= throws ReferenceError: "BigInt" is not defined
~ "a=5"
> querystring.stringify({a: Symbol('x')})
= "a="
> querystring.stringify({'a b': 'c d', 'é': '€', "!'()*-._~": "!'()*-._~"})
= "a%20b=c%20d&%C3%A9=%E2%82%AC&!'()*-._~=!'()*-._~"
> querystring.stringify({a: []})
= ""
> querystring.stringify({a: ['']})
= "a="
> querystring.stringify({a: [null, undefined, true, {}]})
= "a=&a=&a=true&a="
> querystring.stringify({})
= ""
> querystring.stringify()
= ""
> querystring.stringify('abc')
= ""
> querystring.stringify(5)
= ""
> querystring.stringify(null)
= ""
> querystring.stringify(['a', 'b'])
= "0=a&1=b"
> querystring.stringify({a: 1, b: 2}, ';', ':')
= "a:1;b:2"
> querystring.stringify({a: 1, b: 2}, '', '')
= "a=1&b=2"
> querystring.stringify({a: 1, b: 2}, null, null)
= "a=1&b=2"
> querystring.stringify({a: 'x y'}, null, null, {encodeURIComponent: function (x) { return '<' + x + '>'; }})
= "<a>=<x y>"
> querystring.stringify({a: 'x y'}, null, null, {encodeURIComponent: function (x) { throw new Error('mine'); }})
= throws Error: mine
> querystring.stringify({a: '\ud800'})
= "a=%EF%BF%BD"
> querystring.stringify({a: 'x'}, null, null, {encodeURIComponent: 5})
= throws TypeError: option encodeURIComponent is not a function
~ "a=x"
> querystring.encode === querystring.stringify
= false
~ true
> querystring.escape('a b&é/?')
= "a%20b%26%C3%A9%2F%3F"
> querystring.escape()
= "undefined"
> querystring.escape(5)
= "5"
> querystring.escape("!'()*-._~")
= "!'()*-._~"
> querystring.escape('\ud800')
= "%EF%BF%BD"
> querystring.escape({})
= "%5Bobject%20Object%5D"
> querystring.unescape('a%20b+c%')
= "a b c%"
> querystring.unescape('%zz')
= "%zz"
> querystring.unescape('%ff')
= "�"
> querystring.unescape('%E2%82%AC')
= "€"
> querystring.unescape()
= "undefined"
> querystring.unescape(5)
= "5"
> querystring.stringify(querystring.parse('a=1&b=2&a=3&c=%20'))
= "a=1&a=3&b=2&c=%20"
