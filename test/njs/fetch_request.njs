# Request of the Fetch API.
> new Request('http://a/').url
= "http://a/"
> new Request('http://a/').method
= "GET"
> (function (q) { return [q.url, q.method, q.cache, q.credentials, q.mode, q.bodyUsed]; })(new Request('http://a'))
= ["http://a","GET","default","same-origin","no-cors",false]
> new Request()
= throws TypeError: 1st argument is required
> new Request('')
= throws TypeError: unsupported URL schema (only http or https are supported)
> new Request('a')
= throws TypeError: unsupported URL schema (only http or https are supported)
> new Request('ftp://a/')
= throws TypeError: unsupported URL schema (only http or https are supported)
> new Request('http://')
= throws TypeError: unsupported URL schema (only http or https are supported)
> new Request('http:///a').url
= throws TypeError: invalid url
~ "http:///a"
> new Request('  http://a/  ').url
= "http://a/"
> new Request('HTTP://A/b').url
= "HTTP://A/b"
> new Request('http://a/b?c=d#e').url
= "http://a/b?c=d#e"
> new Request('http://a/ b').url
= "http://a/ b"
> new Request('http://a:99999/').url
= throws TypeError: invalid url
> new Request('http://a:x/').url
= throws TypeError: invalid url
> new Request('http://u:p@a/').url
= throws TypeError: invalid url
~ "http://u:p@a/"
> new Request('http://[::1]/').url
= "http://[::1]/"
> new Request('http://a/é').url
= "http://a/é"
> new Request('http://a/\n').url
= "http://a/"
> new Request(5)
= throws TypeError: input is not string or a Request object
> new Request(null)
= throws TypeError: input is not string or a Request object
> new Request({})
= throws TypeError: input is not string or a Request object
> Request('http://a/')
= [object Request]{arrayBuffer:function,bodyUsed:false,cache:"default",credentials:"same-origin",json:function,headers:[object Headers]{},method:"GET",mode:"no-cors",text:function,url:"http://a/"}
~ [object Request]{}
> new Request('http://a/', {method: 'post'}).method
= "POST"
> new Request('http://a/', {method: 'patch'}).method
= "patch"
> new Request('http://a/', {method: 'Patch'}).method
= "Patch"
> new Request('http://a/', {method: 'options'}).method
= "OPTIONS"
> new Request('http://a/', {method: 'xyz'}).method
= "xyz"
> new Request('http://a/', {method: ''}).method
= throws TypeError: invalid Request method
> new Request('http://a/', {method: 'a b'}).method
= throws TypeError: invalid Request method
> new Request('http://a/', {method: 'connect'}).method
= throws TypeError: forbidden method: CONNECT
> new Request('http://a/', {method: 'TRACE'}).method
= throws TypeError: forbidden method: TRACE
> new Request('http://a/', {method: 'track'}).method
= throws TypeError: forbidden method: TRACK
> new Request('http://a/', {method: undefined}).method
= throws TypeError: invalid Request method
~ "GET"
> new Request('http://a/', {method: null}).method
= throws TypeError: invalid Request method
~ "null"
> new Request('http://a/', {method: 5}).method
= "5"
> new Request('http://a/', {cache: 'no-cache'}).cache
= "no-cache"
> new Request('http://a/', {cache: 'x'}).cache
= throws TypeError: unknown cache type: x
> new Request('http://a/', {credentials: 'include'}).credentials
= "include"
> new Request('http://a/', {credentials: 'x'}).credentials
= throws TypeError: unknown credentials type: x
> new Request('http://a/', {mode: 'cors'}).mode
= "cors"
> new Request('http://a/', {mode: 'navigate'}).mode
= "navigate"
> new Request('http://a/', {mode: 'x'}).mode
= throws TypeError: unknown mode type: x
> new Request('http://a/', {cache: null}).cache
= throws TypeError: unknown cache type: 
~ throws TypeError: unknown cache type: null
> new Request('http://a/', {headers: {a: 'b'}}).headers.get('a')
= "b"
> new Request('http://a/', {headers: [['a', 'b'], ['a', 'c']]}).headers.get('a')
= "b, c"
> new Request('http://a/', {headers: new Headers({a: 'b'})}).headers.get('a')
= "b"
> new Request('http://a/', {headers: 5})
= throws TypeError: Headers is not an object
> new Request('http://a/', {headers: 'x'})
= throws TypeError: Headers is not an object
> new Request('http://a/', {headers: null})
= throws TypeError: Headers is not an object
> new Request('http://a/', {headers: undefined}).headers.has('a')
= throws TypeError: Headers is not an object
~ false
> new Request('http://a/', {headers: {'a b': 'c'}})
= throws TypeError: invalid header name
> (function (q) { q.headers.append('a', 'b'); return q.headers.get('a'); })(new Request('http://a/'))
= "b"
> new Request('http://a/', {body: 'x'}).headers.get('content-type')
= "text/plain;charset=UTF-8"
> new Request('http://a/', {method: 'POST', body: 'x'}).headers.get('content-type')
= "text/plain;charset=UTF-8"
> new Request('http://a/', {method: 'POST', body: 'x', headers: {'content-type': 'y'}}).headers.get('Content-Type')
= "y"
> new Request('http://a/', {method: 'POST', body: Buffer.from('x')}).headers.get('content-type')
= null
> new Request('http://a/', {method: 'POST', body: {}}).text()
= "[object Object]"
> new Request('http://a/', {method: 'POST', body: 5}).text()
= "5"
> new Request('http://a/', {method: 'POST', body: null}).text()
= ""
> new Request('http://a/', {method: 'POST', body: undefined}).text()
= ""
> new Request('http://a/', {method: 'POST', body: 'é'}).text()
= "é"
> new Request('http://a/', {method: 'POST', body: 'é'}).arrayBuffer()
= ArrayBuffer c3a9
> new Request('http://a/', {method: 'POST', body: '{"a":1}'}).json()
= {a:1}
> new Request('http://a/', {method: 'POST', body: '{'}).json().catch(function (e) { return e.name; })
= "SyntaxError"
> new Request('http://a/', {method: 'POST', body: new Uint8Array([65, 66]).buffer}).text()
= "AB"
> new Request('http://a/', {method: 'GET', body: 'x'}).text()
= "x"
> new Request('http://a/', {method: 'HEAD', body: 'x'}).text()
= "x"
> (async function (q) { var a = await q.text(); return [a, q.bodyUsed, await later(function () { return q.text(); })]; })(new Request('http://a/', {method: 'POST', body: 'x'}))
= ["x",true,"throws TypeError: body stream already read"]
> (async function (q) { var a = await q.text(); return [a, q.bodyUsed, await later(function () { return q.json(); }), await later(function () { return q.arrayBuffer(); })]; })(new Request('http://a/', {method: 'POST', body: '1'}))
= ["1",true,"throws TypeError: body stream already read","throws TypeError: body stream already read"]
> (async function (q) { var a = await q.text(); return [a, q.bodyUsed]; })(new Request('http://a/'))
= ["",true]
> (function (q) { return [q.url, q.method, q.headers.get('a')]; })(new Request(new Request('http://a/', {method: 'PUT', headers: {a: 'b'}})))
= ["http://a/","PUT","b"]
> (function (q) { return [q.url, q.method, q.headers.get('a')]; })(new Request(new Request('http://a/', {method: 'PUT', headers: {a: 'b'}}), {method: 'POST', headers: {a: 'c'}}))
= ["http://a/","POST","c"]
> (function (q) { return [q.cache, q.credentials, q.mode]; })(new Request(new Request('http://a/', {cache: 'reload', credentials: 'omit', mode: 'cors'})))
= ["reload","omit","cors"]
> (async function (q) { return [await q.text(), q.headers.get('content-type')]; })(new Request(new Request('http://a/', {method: 'POST', body: 'x'})))
= ["x","text/plain;charset=UTF-8"]
> (async function (q) { await q.text(); return tried(function () { return new Request(q).bodyUsed; }); })(new Request('http://a/', {method: 'POST', body: 'x'}))
= "true"
> (function (q) { q.method = 'X'; return q.method; })(new Request('http://a/'))
= throws TypeError: Cannot assign to read-only property "method" of object
~ throws TypeError: Cannot set property method of #<_FetchRequest> which has only a getter
> (function (q) { q.url = 'X'; return q.url; })(new Request('http://a/'))
= throws TypeError: Cannot assign to read-only property "url" of object
~ throws TypeError: Cannot set property url of #<_FetchRequest> which has only a getter
> Object.prototype.toString.call(new Request('http://a/'))
= "[object Request]"
> String(new Request('http://a/'))
= "[object Request]"
> JSON.stringify(new Request('http://a/'))
= "{\"bodyUsed\":false,\"cache\":\"default\",\"credentials\":\"same-origin\",\"headers\":{},\"method\":\"GET\",\"mode\":\"no-cors\",\"url\":\"http://a/\"}"
> Object.keys(new Request('http://a/'))
= ["arrayBuffer","bodyUsed","cache","credentials","json","headers","method","mode","text","url"]
~ []
> Object.getOwnPropertyNames(Request.prototype).sort()
= ["constructor"]
> njs.dump(new Request('http://a/'))
= "Request {arrayBuffer:[Function: arrayBuffer],bodyUsed:false,cache:'default',credentials:'same-origin',json:[Function: json],headers:Headers {},method:'GET',mode:'no-cors',text:[Function: text],url:'http://a/'}"
> typeof Request
= "function"
> Request.name
= "Request"
> Request.length
= 0
~ 2
> new Request('http://a/') instanceof Request
= false
~ true
> new Request('http://a/', 5).method
= "GET"
> new Request('http://a/', null).method
= "GET"
> new Request('http://a/', 'x').method
= "GET"
> new Request(Buffer.from('http://a/')).url
= throws TypeError: input is not string or a Request object
> new Request('http://a/', {body: Symbol('a'), method: 'POST'})
= throws TypeError: Cannot convert a Symbol value to a string
> Request.prototype.text.call({})
= throws TypeError: cannot get property "call" of undefined
~ throws TypeError: Illegal invocation
> (function (q) { return q.clone; })(new Request('http://a/'))
= undefined
~ function
> new Request('https://a/x').url
= "https://a/x"
> new Request('http://a/', {headers: {Host: 'b', 'Content-Length': '5'}}).headers.get('content-length')
= "5"
