# Headers of the Fetch API.
> new Headers().toString()
= "[object Headers]"
> new Headers({a: '1', B: '2'}).get('A')
= "1"
> new Headers([['a', '1'], ['A', '2']]).get('a')
= "1, 2"
> new Headers([['a', '1'], ['A', '2']]).getAll('a')
= ["1","2"]
> new Headers(new Headers({x: 'y'})).get('x')
= "y"
> Headers({a: '1'})
= [object Headers]{a:"1"}
> new Headers('a')
= [object Headers]{}
> new Headers(1)
= [object Headers]{}
> new Headers(null).has('a')
= false
> new Headers(undefined).has('a')
= false
> new Headers([['a']])
= throws TypeError: header does not contain exactly two items
> new Headers([['a', 'b', 'c']])
= throws TypeError: header does not contain exactly two items
> new Headers(['ab'])
= throws TypeError: njs_vm_array_start() argument is not a fast array
~ throws TypeError: header does not contain exactly two items
> new Headers([1])
= throws TypeError: njs_vm_array_start() argument is not a fast array
~ throws TypeError: header does not contain exactly two items
> new Headers({a: undefined}).get('a')
= ""
> new Headers({a: null}).get('a')
= ""
> new Headers({a: 5}).get('a')
= "5"
> new Headers({a: {}}).get('a')
= "[object Object]"
> new Headers({a: ['b', 'c']}).get('a')
= "b,c"
> new Headers({'a b': 'c'})
= throws TypeError: invalid header name
> new Headers({'': 'c'})
= throws TypeError: invalid header name
> new Headers({'a:': 'c'})
= throws TypeError: invalid header name
> new Headers({'é': 'c'})
= throws TypeError: invalid header name
> new Headers({a: 'c\n'}).get('a')
= throws TypeError: invalid header value
> new Headers({a: 'c\nd'}).get('a')
= throws TypeError: invalid header value
> new Headers({a: 'c\0d'}).get('a')
= throws TypeError: invalid header value
> new Headers({a: '  c  '}).get('a')
= "c"
> new Headers({a: '\tc\r\n'}).get('a')
= throws TypeError: invalid header value
> new Headers({a: ''}).get('a')
= ""
> new Headers({a: '  '}).get('a')
= ""
> new Headers({a: 'é'}).get('a')
= "é"
> new Headers({a: '€'}).get('a')
= "€"
> new Headers({a: 'x\x7f'}).get('a')
= throws TypeError: invalid header value
> (function (h) { h.append('a', '1'); h.append('A', '2'); return [h.get('a'), h.getAll('a'), h.has('A')]; })(new Headers())
= ["1, 2",["1","2"],true]
> (function (h) { h.append('a', '1'); h.append('a', '2'); h.set('A', '3'); return [h.get('a'), h.getAll('a'), Object.keys(h)]; })(new Headers())
= ["3",["3"],["a"]]
> (function (h) { h.set('Aa', '1'); h.delete('aA'); return [h.get('aa'), h.has('aa')]; })(new Headers())
= [null,false]
> (function (h) { return h.append('a', '1'); })(new Headers())
= undefined
> (function (h) { return h.set('a', '1'); })(new Headers())
= undefined
> (function (h) { return h.delete('a'); })(new Headers())
= undefined
> new Headers().append('a')
= undefined
> new Headers().append()
= throws TypeError: invalid header name
> (function (h) { h.append('a', undefined); return h.get('a'); })(new Headers())
= ""
> new Headers().append('a b', 'c')
= throws TypeError: invalid header name
> new Headers().set('a b', 'c')
= throws TypeError: invalid header name
> new Headers().delete('a b')
= throws TypeError: invalid header name
> new Headers().get()
= null
> new Headers().get('a')
= null
> new Headers().get('a b')
= null
> new Headers().getAll('a')
= []
> new Headers().getAll()
= []
> new Headers().has()
= false
> new Headers().has('a b')
= false
> new Headers({a: '1'}).get(undefined)
= null
> new Headers().get(Symbol('a'))
= throws TypeError: Cannot convert a Symbol value to a string
> new Headers({undefined: 'u'}).get()
= null
> (function (out) { new Headers({b: '1', a: '2'}).forEach(function (v, k) { out.push(k + '=' + v); }); return out; })([])
= ["2=a","1=b"]
> (function (out) { new Headers([['B', '1'], ['a', '2'], ['b', '3']]).forEach(function (v, k) { out.push(k + '=' + v); }); return out; })([])
= ["1, 3=B","2=a"]
> new Headers({b: '1'}).forEach()
= throws TypeError: "callback" is not a function
> new Headers({b: '1'}).forEach(5)
= throws TypeError: "callback" is not a function
> new Headers({b: '1'}).forEach(function () { return 1; })
= function
~ undefined
> (function (out) { new Headers({b: '1'}).forEach(function () { out.push(arguments.length, typeof arguments[2]); }); return out; })([])
= [2,"undefined"]
> Object.keys(new Headers({b: '1', a: '2', C: '3'}))
= ["C","a","b"]
> Object.keys(new Headers([['Set-Cookie', 'a'], ['set-cookie', 'b']]))
= ["Set-Cookie"]
> new Headers([['Set-Cookie', 'a'], ['set-cookie', 'b']]).get('set-cookie')
= "a, b"
> new Headers([['Cookie', 'a'], ['cookie', 'b']]).get('cookie')
= "a, b"
> new Headers([['Content-Type', 'a'], ['content-type', 'b']]).get('content-type')
= "a, b"
> new Headers({a: '1'}).a
= "1"
> new Headers({a: '1'}).A
= "1"
> new Headers({a: '1'})['b']
= undefined
> 'a' in new Headers({a: '1'})
= true
> (function (h) { h.a = '2'; return h.get('a'); })(new Headers({a: '1'}))
= throws TypeError: Cannot assign to read-only property "a" of object
~ throws TypeError: 'set' on proxy: trap returned falsish for property 'a'
> JSON.stringify(new Headers({a: '1', b: '2'}))
= "{\"a\":\"1\",\"b\":\"2\"}"
> JSON.stringify(new Headers([['a', '1'], ['a', '2']]))
= "{\"a\":\"1, 2\"}"
> Object.prototype.toString.call(new Headers())
= "[object Headers]"
> Object.prototype.toString.call(Headers.prototype)
= "[object Object]"
~ "[object Headers]"
> typeof Headers
= "function"
> Headers.name
= "Headers"
> Headers.length
= 0
> Object.getOwnPropertyNames(Headers.prototype).sort()
= ["constructor"]
~ ["append","constructor","delete","entries","forEach","get","getSetCookie","has","keys","set","values"]
> Object.getOwnPropertyDescriptor(new Headers({a: '1'}), 'a')
= {value:"1",writable:false,enumerable:true,configurable:false}
~ {value:"1",writable:false,enumerable:true,configurable:true}
> Object.getOwnPropertyDescriptors(new Headers({a: '1', b: '2'}))
= {a:{value:"1",writable:false,enumerable:true,configurable:false},b:{value:"2",writable:false,enumerable:true,configurable:false}}
~ {a:{value:"1",writable:false,enumerable:true,configurable:true},b:{value:"2",writable:false,enumerable:true,configurable:true}}
> Object.entries(new Headers({a: '1', b: '2'}))
= [["a","1"],["b","2"]]
> Object.values(new Headers({a: '1', b: '2'}))
= ["1","2"]
> new Headers() instanceof Headers
= false
~ true
> new Headers({}) instanceof Object
= true
> Headers.prototype.get.call({}, 'a')
= throws TypeError: cannot get property "call" of undefined
~ throws TypeError: Illegal invocation
> Headers.prototype.append.call({}, 'a', 'b')
= throws TypeError: cannot get property "call" of undefined
~ throws TypeError: Illegal invocation
> njs.dump(new Headers({a: '1'}))
= "Headers {a:'1'}"
> new Headers({Host: 'x', Connection: 'close', 'Transfer-Encoding': 'chunked'}).get('host')
= "x"
> (function (o) { o.a = 1; return new Headers(o).get('a'); })(Object.create({b: 2}))
= "1"
> new Headers(new Headers([['a', '1'], ['a', '2']])).getAll('a')
= ["1","2"]
> new Headers([['a', '1'], null])
= throws TypeError: njs_vm_array_start() argument is not a fast array
~ throws TypeError: header does not contain exactly two items
> new Headers([['a', '1'], undefined])
= throws TypeError: njs_vm_array_start() argument is not a fast array
~ throws TypeError: header does not contain exactly two items
> new Headers([]).has('a')
= false
> new Headers(true)
= [object Headers]{}
> new Headers(function () {})
= [object Headers]{}
> new Headers(r.headersIn).get('host')
= "localhost"
> new Headers(r.rawHeadersIn).get('host')
= "localhost"
> new Headers({'a': Buffer.from('b')}).get('a')
= "b"
