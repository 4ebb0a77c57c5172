# r of the http handlers.
> Object.prototype.toString.call(r)
= "[object Request]"
> String(r)
= "[object Request]"
> Object.keys(r).sort()
= ["args","decline","done","error","finish","headersIn","headersOut","httpVersion","internal","internalRedirect","jsVarNames","log","method","readRequestArrayBuffer","readRequestForm","readRequestJSON","readRequestText","remoteAddress","requestLine","requestText","responseText","return","send","sendBuffer","sendHeader","setReturnValue","status","subrequest","uri","warn"]
~ ["decline","done","error","finish","internalRedirect","jsVarNames","log","readRequestArrayBuffer","readRequestForm","readRequestJSON","readRequestText","return","send","sendBuffer","sendHeader","setReturnValue","subrequest","warn"]
> typeof r.constructor
= "function"
> JSON.stringify(Object.keys(JSON.parse(JSON.stringify(r))).sort())
= "[\"args\",\"headersIn\",\"headersOut\",\"httpVersion\",\"internal\",\"method\",\"remoteAddress\",\"requestLine\",\"status\",\"uri\"]"
> r.nope
= undefined
> (function () { r.nope = 1; return r.nope; })()
= 1
> (function () { r.uri = 'x'; return r.uri; })()
= throws TypeError: Cannot assign to read-only property "uri" of object
~ throws TypeError
> (function () { r.method = 'x'; })()
= throws TypeError: Cannot assign to read-only property "method" of object
~ throws TypeError
> (function () { r.args = {}; })()
= throws TypeError: Cannot assign to read-only property "args" of object
~ throws TypeError
> Object.getOwnPropertyDescriptor(r, 'uri')
= {value:"/request_object/10",writable:false,enumerable:true,configurable:false}
~ undefined
> Object.getOwnPropertyDescriptor(r, 'status')
= {value:0,writable:true,enumerable:true,configurable:false}
~ undefined
> [r.httpVersion, r.method, r.uri, r.internal, r.remoteAddress, typeof r.requestLine]
= ["1.1","GET","/request_object/12",false,"127.0.0.1","string"]
> r.args
@ {"query": "a=1&b=%32&A=3&b=4&B=two%20words&c&=d&e=&f=a+b&%zz=1&g=%zz&h=%c3%a9&i=%ff"}
= {a:"1",b:["2","4"],A:"3",B:"two words",c:"",:"d",e:"",f:"a b",%zz:"1",g:"%zz",h:"é",i:"�"}
> r.args.a
@ {"query": "a=1;b=2"}
= "1;b=2"
> Object.keys(r.args)
@ {"query": "x=1&y=2&x=3"}
= ["x","y"]
> (function () { r.args.a = 5; return r.args.a; })()
@ {"query": "a=1"}
= 5
> r.args === r.args
@ {"query": "a=1"}
= true
> r.args.__proto__
@ {"query": "__proto__=1"}
= [{},"1"]
~ "1"
> Object.prototype.toString.call(r.args)
= "[object Object]"
> JSON.stringify(r.args)
@ {"query": "a=1&b=2&b=3&length=5&toString=x"}
= "{\"a\":\"1\",\"b\":[\"2\",\"3\"],\"length\":\"5\",\"toString\":[null,\"x\"]}"
~ "{\"a\":\"1\",\"b\":[\"2\",\"3\"],\"length\":\"5\",\"toString\":\"x\"}"
> [Object.prototype.toString.call(r.headersIn), Object.prototype.toString.call(r.headersOut), Object.prototype.toString.call(r.variables)]
= ["[object Object]","[object Object]","[object Object]"]
> [String(r.headersIn), String(r.variables)]
= ["[object Object]","[object Object]"]
> Object.keys(r.headersIn)
@ {"headers": {"X-A": "1", "x-b": "2"}}
= ["Host","X-A","x-b","Connection"]
> [r.headersIn.host, r.headersIn.HOST, r.headersIn['X-a'], r.headersIn.nope, r.headersIn['']]
@ {"headers": {"X-A": "1"}}
= ["localhost","localhost","1",undefined,undefined]
> (function () { r.headersIn.a = 'b'; })()
= throws TypeError: Cannot assign to read-only property "a" of object
~ throws TypeError
> delete r.headersIn.host
= throws TypeError: Cannot delete property "host" of object
> 'host' in r.headersIn
= true
> Object.getOwnPropertyDescriptor(r.headersIn, 'host')
= {value:"localhost",writable:false,enumerable:true,configurable:false}
~ {value:"localhost",writable:false,enumerable:true,configurable:true}
> Object.getOwnPropertyDescriptor(r.headersIn, 'Host')
= {value:"localhost",writable:false,enumerable:true,configurable:false}
~ {value:"localhost",writable:false,enumerable:true,configurable:true}
> Object.getOwnPropertyDescriptor(r.headersIn, 'nope')
= undefined
> Object.getOwnPropertyDescriptors(r.headersIn)
= {Host:{value:"localhost",writable:false,enumerable:true,configurable:false},Connection:{value:"close",writable:false,enumerable:true,configurable:false}}
~ {Host:{value:"localhost",writable:false,enumerable:true,configurable:true},Connection:{value:"close",writable:false,enumerable:true,configurable:true}}
> Object.entries(r.headersIn)
= [["Host","localhost"],["Connection","close"]]
> JSON.stringify(r.headersIn)
= "{\"Host\":\"localhost\",\"Connection\":\"close\"}"
> njs.dump(r.headersIn)
= "{Host:'localhost',Connection:'close'}"
> (function () { var out = []; for (var h in r.headersIn) { out.push(h); } return out; })()
= ["Host","Connection"]
> r.headersIn[Symbol.iterator]
= undefined
> r.rawHeadersIn
@ {"headers": {"X-A": "1", "x-a": "2", "X-E": ""}}
= [["Host","localhost"],["X-A","1"],["x-a","2"],["X-E",""],["Connection","close"]]
> (function () { r.rawHeadersIn[0] = 5; return Array.isArray(r.rawHeadersIn); })()
= true
> [r.requestText, r.requestBuffer, r.requestBody]
= [undefined,undefined,undefined]
> [r.requestText, r.requestBuffer]
@ {"method": "POST", "body": "abc"}
= ["abc",Buffer 616263]
> [r.requestText, r.requestBuffer]
@ {"method": "POST", "body": ""}
= throws TypeError: detached buffer
~ ["",Buffer ]
> [typeof r.requestText, r.requestText.length, r.requestBuffer]
@ {"method": "POST", "body": "\u00ff\u00c3\u00a9"}
= ["string",2,Buffer ffc3a9]
> (function () { r.requestBuffer[0] = 65; return r.requestBuffer; })()
@ {"method": "POST", "body": "abc"}
= Buffer 416263
> r.requestBuffer === r.requestBuffer
@ {"method": "POST", "body": "abc"}
= true
> new Response(r.requestBuffer).text()
@ {"method": "POST", "body": "abc"}
= "abc"
> [r.responseText, r.responseBuffer, r.responseBody]
= [undefined,undefined,undefined]
> r.parent
= undefined
> r.status
= 0
> (function () { r.status = 201; return r.status; })()
= 201
> (function () { r.status = '404'; return r.status; })()
= throws TypeError: invalid number
~ 404
> (function () { r.status = 99; return r.status; })()
= 99
> (function () { r.status = 1000; return r.status; })()
= 1000
> (function () { r.status = -1; return r.status; })()
= 18446744073709552000
~ throws RangeError: status is out of range
> (function () { r.status = 'x'; return r.status; })()
= throws TypeError: invalid number
> (function () { r.status = 200.9; return r.status; })()
= 200
> (function () { r.status = {}; return r.status; })()
= throws TypeError: invalid number
> (function () { r.status = null; return r.status; })()
= throws TypeError: invalid number
~ 0
> (function () { r.status = undefined; return r.status; })()
= throws TypeError: invalid number
> r.jsVarNames()
= ["jsv","jsw"]
> r.jsVarNames('js')
= ["jsv","jsw"]
> r.jsVarNames('x')
= []
> r.jsVarNames(5)
= throws TypeError: "prefix" must be a string
> r.jsVarNames(null)
= throws TypeError: "prefix" must be a string
> r.jsVarNames(undefined)
= ["jsv","jsw"]
> r.variables.jsv
= ""
> r.variables.jsw
= "start"
> (function () { r.variables.jsv = 'a'; return [r.variables.jsv, r.variables.JSV, r.rawVariables.jsv]; })()
= ["a","a",Buffer 61]
> (function () { r.variables.jsv = 5; return r.variables.jsv; })()
= "5"
> (function () { r.variables.jsv = null; return r.variables.jsv; })()
= ""
> (function () { r.variables.jsv = undefined; return r.variables.jsv; })()
= ""
> (function () { r.variables.jsv = {a: 1}; return r.variables.jsv; })()
= "[object Object]"
> (function () { r.variables.jsv = Buffer.from('ff00', 'hex'); return r.rawVariables.jsv; })()
= Buffer ff00
> (function () { r.rawVariables.jsv = Buffer.from('ab'); return r.variables.jsv; })()
= "ab"
> (function () { r.variables.jsv = Symbol('a'); return r.variables.jsv; })()
= throws TypeError: Cannot convert a Symbol value to a string
> (function () { r.variables.nope = 'a'; return r.variables.nope; })()
= throws TypeError: variable not found
> (function () { r.variables.host = 'a'; return r.variables.host; })()
= "a"
~ throws TypeError: variable is not writable
> (function () { r.variables.http_x = 'a'; return r.variables.http_x; })()
= throws TypeError: variable not found
> (function () { r.variables.args = 'x=1'; return [r.variables.args, r.variables.arg_x, r.args]; })()
= ["x=1","1",{x:"1"}]
> [r.variables.nope, r.variables.uri, r.variables.mapped, r.variables.arg_a, r.variables['arg_a'], r.variables.http_host, r.variables.request_method]
@ {"query": "a=b"}
= [undefined,"/request_object/79","none","b","b","localhost","GET"]
> [r.variables.arg_nope, r.variables.http_nope, r.variables.cookie_a]
= [undefined,undefined,undefined]
> r.variables['1']
= undefined
> r.variables[0]
= undefined
> 'uri' in r.variables
= true
> 'nope' in r.variables
= false
> delete r.variables.uri
= throws TypeError: Cannot delete property "uri" of object
> Object.getOwnPropertyDescriptor(r.variables, 'uri')
= {value:"/request_object/86",writable:true,enumerable:false,configurable:false}
~ {value:"/request_object/86",writable:true,enumerable:false,configurable:true}
> r.rawVariables.uri
= Buffer 2f726571756573745f6f626a6563742f3837
> Object.prototype.toString.call(r.rawVariables)
= "[object Object]"
> r.return()
= throws TypeError: invalid number
> r.return('x')
= throws TypeError: invalid number
> r.return(-1)
= throws RangeError: code is out of range
> r.return(1000)
= throws RangeError: code is out of range
> r.return(NaN)
= throws TypeError: invalid number
> r.return({})
= throws TypeError: invalid number
> r.return(999.5)
= undefined
~ 999 Content-Length: 0 ""
> r.return(200, Symbol('a'))
= throws InternalError: 
~ throws TypeError
http> r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 ""
http> r.return(200, 'a');
= 200 Content-Type: text/plain | Content-Length: 1 "a"
http> r.return(201, Buffer.from('b'));
= 201 Content-Type: text/plain | Content-Length: 1 "b"
http> r.return('202', 'c');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: invalid number
~ 202 Content-Type: text/plain | Content-Length: 1 "c"
http> r.return(200, 5);
= 200 Content-Type: text/plain | Content-Length: 1 "5"
http> r.return(200, null);
= 200 Content-Type: text/plain | Content-Length: 0 ""
http> r.return(200, undefined);
= 200 Content-Type: text/plain | Content-Length: 0 ""
http> r.return(200, {a: 1});
= 200 Content-Type: text/plain | Content-Length: 15 "[object Object]"
http> r.return(200, [1, 2]);
= 200 Content-Type: text/plain | Content-Length: 3 "1,2"
http> r.return(200, '');
= 200 Content-Type: text/plain | Content-Length: 0 ""
http> r.return(200, 'é€');
= 200 Content-Type: text/plain | Content-Length: 5 "é€"
http> r.return(200, new Uint8Array([65, 66]));
= 200 Content-Type: text/plain | Content-Length: 2 "AB"
http> r.return(200, new Uint8Array([65, 66]).buffer);
= 200 Content-Type: text/plain | Content-Length: 2 "AB"
http> r.return(204);
= 204  ""
http> r.return(204, 'x');
= 204  ""
http> r.return(304);
= 304 Content-Type: text/plain | Content-Length: 0 ""
http> r.return(301, '/x');
= 301 Content-Type: text/html | Location: http://localhost:N/x "page 301 Moved Permanently"
http> r.return(301, 'http://a/b');
= 301 Content-Type: text/html | Location: http://a/b "page 301 Moved Permanently"
http> r.return(302);
= 302 Content-Type: text/html | Location:  "page 302 Found"
http> r.return(302, '');
= 302 Content-Type: text/html | Location:  "page 302 Found"
http> r.return(307, '/é');
= 307 Content-Type: text/html | Location: http://localhost:N/Ã© "page 307 Temporary Redirect"
http> r.return(308, '/x\r\nA: b');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: invalid header value
http> r.return(303, '/x');
= 303 Content-Type: text/html | Location: http://localhost:N/x "page 303 See Other"
http> r.return(300, '/x');
= 300 Content-Type: text/plain | Content-Length: 2 "/x"
http> r.return(305, 'x');
= 305 Content-Type: text/plain | Content-Length: 1 "x"
http> r.return(404);
= 404 Content-Type: text/html "page 404 Not Found"
http> r.return(404, 'gone');
= 404 Content-Type: text/plain | Content-Length: 4 "gone"
http> r.return(404, '');
= 404 Content-Type: text/plain | Content-Length: 0 ""
http> r.return(500);
= 500 Content-Type: text/html "page 500 Internal Server Error"
http> r.return(403, null);
= 403 Content-Type: text/html "page 403 Forbidden"
http> r.return(0);
= bad: not a status line: "HTTP/1.1 000 "
http> r.return(1);
= 1 Content-Type: text/plain | Content-Length: 0 ""
http> r.return(99);
= 99 Content-Type: text/plain | Content-Length: 0 ""
http> r.return(299, 'x');
= 299 Content-Type: text/plain | Content-Length: 1 "x"
http> r.return(599);
= 599 Content-Length: 0 ""
http> r.return(600);
= 600 Content-Length: 0 ""
http> r.return(700, 'x');
= 700 Content-Type: text/plain | Content-Length: 1 "x"
http> r.return(999, 'x');
= 999 Content-Type: text/plain | Content-Length: 1 "x"
http> r.return(444);
= closed
http> r.return(499);
= closed
http> r.return(200, 'a'); r.return(200, 'b');
= 200 Content-Type: text/plain | Content-Length: 1 "a" [error] js exception: InternalError: failed to send response
http> r.return(200, 'a'); throw new Error('after');
= 200 Content-Type: text/plain | Content-Length: 1 "a" [error] js exception: Error: after
http> r.status = 404; r.return(200, 'a');
= 200 Content-Type: text/plain | Content-Length: 1 "a"
http> r.headersOut['Content-Type'] = 'text/html'; r.return(200, 'a');
= 200 Content-Type: text/html | Content-Length: 1 "a"
http> r.headersOut['Content-Length'] = 5; r.return(200, 'a');
= 200 Content-Type: text/plain | Content-Length: 5 "a" incomplete
~ 200 Content-Type: text/plain | Content-Length: 1 "a"
http> r.headersOut['Content-Type'] = ''; r.return(200, 'a');
= 200 Content-Type: text/plain | Content-Length: 1 "a"
http> r.headersOut['Content-Type'] = null; r.return(200, 'a');
= 200 Content-Type: text/plain | Content-Length: 1 "a"
http> delete r.headersOut['Content-Type']; r.return(200, 'a');
= 200 Content-Type: text/plain | Content-Length: 1 "a"
http> r.headersOut['Content-Type'] = 'text/plain; charset=x'; r.return(200, r.headersOut['content-type']);
= 200 Content-Type: text/plain; charset=x | Content-Length: 21 "text/plain; charset=x"
http> r.headersOut['Content-Type'] = ['a/b', 'c/d']; r.return(200, 'a');
= 200 Content-Type: c/d | Content-Length: 1 "a"
http> r.headersOut.foo = 'a'; r.return(200, r.headersOut.FOO);
= 200 Content-Type: text/plain | Content-Length: 1 | foo: a "a"
http> r.headersOut.foo = 5; r.headersOut.bar = true; r.headersOut.baz = {}; r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 | foo: 5 | bar: true | baz: [object Object] ""
http> r.headersOut.foo = ['a', 'b']; r.return(200, njs.dump(r.headersOut.foo));
= 200 Content-Type: text/plain | Content-Length: 6 | foo: a | foo: b "a, b, "
~ 200 Content-Type: text/plain | Content-Length: 4 | foo: a | foo: b "a, b"
http> r.headersOut.foo = ['a', '', null, 'b']; r.return(200, njs.dump(r.headersOut.foo));
= 200 Content-Type: text/plain | Content-Length: 6 | foo: a | foo: b "a, b, "
~ 200 Content-Type: text/plain | Content-Length: 4 | foo: a | foo: b "a, b"
http> r.headersOut.foo = []; r.return(200, njs.dump(r.headersOut.foo));
= 200 Content-Type: text/plain | Content-Length: 9 "undefined"
http> r.headersOut.foo = 'a'; r.headersOut.foo = ''; r.return(200, njs.dump(r.headersOut.foo));
= 200 Content-Type: text/plain | Content-Length: 9 "undefined"
http> r.headersOut.foo = 'a'; delete r.headersOut.FOO; r.return(200, njs.dump(r.headersOut.foo));
= 200 Content-Type: text/plain | Content-Length: 9 "undefined"
http> r.headersOut.foo = 'a'; r.headersOut.foo = undefined; r.return(200, njs.dump(r.headersOut.foo));
= 200 Content-Type: text/plain | Content-Length: 9 "undefined"
http> r.headersOut['a b'] = 'c'; r.return(200);
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: invalid header name
http> r.headersOut.a = 'b\nc'; r.return(200);
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: invalid header value
http> r.headersOut.a = 'é'; r.return(200, r.headersOut.a);
= 200 Content-Type: text/plain | Content-Length: 2 | a: Ã© "é"
http> r.headersOut.a = '  b  '; r.return(200, '[' + r.headersOut.a + ']');
= 200 Content-Type: text/plain | Content-Length: 7 | a: b   "[  b  ]"
http> r.headersOut[''] = 'x'; r.return(200);
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: invalid header name
http> r.headersOut['Set-Cookie'] = 'a=b'; r.return(200, njs.dump(r.headersOut['set-cookie']));
= 200 Content-Type: text/plain | Content-Length: 7 | Set-Cookie: a=b "['a=b']"
http> r.headersOut['Set-Cookie'] = ['a', 'b']; r.headersOut['X'] = 'y'; r.return(200, Object.keys(r.headersOut).join());
= 200 Content-Type: text/plain | Content-Length: 12 | Set-Cookie: a | Set-Cookie: b | X: y "Set-Cookie,X"
http> r.headersOut.Location = 'http://a/'; r.return(200, r.headersOut.location);
= 200 Content-Type: text/plain | Content-Length: 9 | Location: http://a/ "http://a/"
http> r.headersOut.Server = 'mine'; r.headersOut.Date = 'now'; r.return(200, r.headersOut.server + r.headersOut.date);
= 200 Content-Type: text/plain | Content-Length: 7 "minenow"
http> r.headersOut.ETag = '"a"'; r.headersOut['Last-Modified'] = 'Mon'; r.return(200, r.headersOut.etag + r.headersOut['last-modified']);
= 200 Content-Type: text/plain | Content-Length: 6 | ETag: "a" | Last-Modified: Mon "\"a\"Mon"
http> r.headersOut['Content-Encoding'] = 'gzip'; r.headersOut['Transfer-Encoding'] = 'chunked'; r.return(200, 'x');
= 200 Content-Type: text/plain | Content-Length: 1 | Content-Encoding: gzip | Transfer-Encoding: chunked "" incomplete
~ 200 Content-Type: text/plain | Content-Length: 1 | Content-Encoding: gzip "x"
http> r.headersOut['Content-Length'] = 'x'; r.return(200, 'x');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: failed converting argument to positive integer
http> r.headersOut['Content-Length'] = -1; r.return(200, 'x');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: failed converting argument to positive integer
http> r.headersOut.Age = ['1', '2']; r.headersOut['Retry-After'] = ['3', '4']; r.headersOut.Expires = ['5', '6']; r.return(200, [r.headersOut.age, r.headersOut['retry-after'], r.headersOut.expires].join());
= 200 Content-Type: text/plain | Content-Length: 5 | Age: 1 | Age: 2 | Retry-After: 3 | Retry-After: 4 | Expires: 5 | Expires: 6 "1,3,5"
http> r.headersOut['Cache-Control'] = ['a', 'b']; r.headersOut.Link = ['c', 'd']; r.headersOut.Vary = ['e', 'f']; r.headersOut['WWW-Authenticate'] = ['g', 'h']; r.return(200, [r.headersOut['cache-control'], r.headersOut.link, r.headersOut.vary, r.headersOut['www-authenticate']].join('|'));
= 200 Content-Type: text/plain | Content-Length: 27 | Cache-Control: a | Cache-Control: b | Link: c | Link: d | Vary: e | Vary: f | WWW-Authenticate: g | WWW-Authenticate: h "a, b, |c, d, |e, f, |g, h, "
~ 200 Content-Type: text/plain | Content-Length: 19 | Cache-Control: a | Cache-Control: b | Link: c | Link: d | Vary: e | Vary: f | WWW-Authenticate: g | WWW-Authenticate: h "a, b|c, d|e, f|g, h"
http> r.headersOut.Connection = 'x'; r.headersOut['Keep-Alive'] = 'y'; r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 | Keep-Alive: y ""
http> r.headersOut.a = '1'; r.return(200, JSON.stringify(r.headersOut) + njs.dump(r.headersOut) + JSON.stringify(r.rawHeadersOut) + ('a' in r.headersOut) + ('b' in r.headersOut));
= 200 Content-Type: text/plain | Content-Length: 36 | a: 1 "{\"a\":\"1\"}{a:'1'}[[\"a\",\"1\"]]truefalse"
http> r.headersOut.a = '1'; r.return(200, JSON.stringify(Object.getOwnPropertyDescriptor(r.headersOut, 'a')) + String(r.headersOut));
= 200 Content-Type: text/plain | Content-Length: 82 | a: 1 "{\"value\":\"1\",\"writable\":true,\"enumerable\":true,\"configurable\":true}[object Object]"
http> r.status = 200; r.sendHeader(); r.finish();
= 200 Content-Type: text/plain | Transfer-Encoding: chunked ""
http> r.status = 404; r.sendHeader(); r.finish();
= 404 Content-Type: text/plain | Transfer-Encoding: chunked ""
http> r.status = 200; r.sendHeader(); r.send('a'); r.send('b'); r.finish();
= 200 Content-Type: text/plain | Transfer-Encoding: chunked "ab"
http> r.status = 200; r.sendHeader(); r.send('a', Buffer.from('b'), 5, null, undefined, {}); r.finish();
= 200 Content-Type: text/plain | Transfer-Encoding: chunked "ab5[object Object]"
http> r.headersOut['Content-Length'] = 2; r.sendHeader(); r.send('ab'); r.finish();
= bad: not a status line: "HTTP/1.1 000 "
~ 200 Content-Type: text/plain | Content-Length: 2 "ab"
http> r.status = 200; r.sendHeader(); r.send(); r.send(''); r.finish();
= 200 Content-Type: text/plain | Transfer-Encoding: chunked ""
http> r.send('a');
= 0  "page 500 Internal Server Error"
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: cannot send
http> r.finish();
= closed
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked ""
http> r.status = 200; r.sendHeader(); r.sendHeader(); r.finish();
= closed [error] js exception: InternalError: failed to send header
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked ""
http> r.status = 200; r.sendHeader(); r.send('a'); r.return(200, 'b');
= closed [error] js exception: InternalError: failed to send response
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked "a" incomplete [error] js exception: InternalError: failed to send response
http> r.status = 200; r.sendHeader(); r.send('a');
= closed
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked "a"
http> r.status = 200; r.sendHeader(); r.headersOut.a = 'b'; r.status = 300; r.finish();
= 200 Content-Type: text/plain | Transfer-Encoding: chunked ""
http> r.status = 200; r.sendHeader(); r.send('a'); throw new Error('late');
= closed [error] js exception: Error: late
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked "a" incomplete [error] js exception: Error: late
http> r.status = 200; r.sendHeader(); r.finish(); r.finish(); r.send('x');
= 200 Content-Type: text/plain | Transfer-Encoding: chunked ""
http> r.status = 200; r.sendHeader(); setTimeout(function () { r.send('late'); r.finish(); }, 1);
= 200 Content-Type: text/plain | Transfer-Encoding: chunked "late"
http> r.sendBuffer('x');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: cannot send buffer
http> r.done();
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: cannot set done
http> r.decline();
= 404 Content-Type: text/html "page 404 Not Found"
http> r.setReturnValue('x'); r.return(200, 'y');
= 200 Content-Type: text/plain | Content-Length: 1 "y"
http> r.internalRedirect();
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: uri is empty
http> r.internalRedirect('');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: uri is empty
http> r.internalRedirect('/where');
= 200 Content-Type: text/plain | Content-Length: 16 "/where undefined"
http> r.internalRedirect('/where?a=b');
= 200 Content-Type: text/plain | Content-Length: 10 "/where a=b"
http> r.internalRedirect('/where/%61b?c=%64');
= 200 Content-Type: text/plain | Content-Length: 15 "/where/ab c=%64"
http> r.internalRedirect('/where/a%20b');
= 200 Content-Type: text/plain | Content-Length: 20 "/where/a b undefined"
http> r.internalRedirect('/where/a b');
= 200 Content-Type: text/plain | Content-Length: 20 "/where/a b undefined"
http> r.internalRedirect('/where/é');
= 200 Content-Type: text/plain | Content-Length: 19 "/where/é undefined"
http> r.internalRedirect('/where/../where');
= 500 Content-Type: text/html "page 500 Internal Server Error"
http> r.internalRedirect('/where/%2e%2e/x');
= 500 Content-Type: text/html "page 500 Internal Server Error"
http> r.internalRedirect('/../x');
= 500 Content-Type: text/html "page 500 Internal Server Error"
http> r.internalRedirect('/where/a%00b');
= 500 Content-Type: text/html "page 500 Internal Server Error"
http> r.internalRedirect('/where/a\0b');
= 500 Content-Type: text/html "page 500 Internal Server Error"
http> r.internalRedirect('/where#f');
= 404 Content-Type: text/html "page 404 Not Found"
http> r.internalRedirect('/where/%3Fa');
= 200 Content-Type: text/plain | Content-Length: 19 "/where/?a undefined"
http> r.internalRedirect('/where/%zz');
= 200 Content-Type: text/plain | Content-Length: 19 "/where/zz undefined"
http> r.internalRedirect('/where//x/./y');
= 200 Content-Type: text/plain | Content-Length: 23 "/where//x/./y undefined"
http> r.internalRedirect('where');
= 404 Content-Type: text/html "page 404 Not Found"
http> r.internalRedirect('@named');
= 200 Content-Type: text/plain | Content-Length: 25 "named /request_object/210"
http> r.internalRedirect('@nope');
= 500 Content-Type: text/html "page 500 Internal Server Error"
http> r.internalRedirect('@');
= 500 Content-Type: text/html "page 500 Internal Server Error"
http> r.internalRedirect('/internal');
= 200 Content-Type: text/plain | Content-Length: 8 "internal"
http> r.internalRedirect('/file.txt');
= 200 Content-Type: text/plain | Content-Length: 4 | Last-Modified: DATE | ETag: TAG | Accept-Ranges: bytes "file"
http> r.internalRedirect(5);
= 404 Content-Type: text/html "page 404 Not Found"
http> r.internalRedirect(null);
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: uri is empty
http> r.internalRedirect({});
= 404 Content-Type: text/html "page 404 Not Found"
http> r.internalRedirect(Buffer.from('/where'));
= 200 Content-Type: text/plain | Content-Length: 16 "/where undefined"
http> r.internalRedirect('/where'); r.return(200, 'x');
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> r.internalRedirect('/nope'); r.internalRedirect('/where');
= 200 Content-Type: text/plain | Content-Length: 16 "/where undefined"
http> r.internalRedirect('/where'); throw new Error('x');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: Error: x
http> r.variables.jsv = 'kept'; r.internalRedirect('/vars');
= 200 Content-Type: text/plain | Content-Length: 26 "[kept][start][plain][none]"
http> r.status = 200; r.sendHeader(); r.internalRedirect('/where'); r.finish();
= 200 Content-Type: text/plain | Transfer-Encoding: chunked ""
http> await null; r.internalRedirect('/where');
= 200 Content-Type: text/plain | Content-Length: 16 "/where undefined"
http> r.return(200, r.subrequest.length + r.return.length + '');
= 200 Content-Type: text/plain | Content-Length: 1 "0"
~ 200 Content-Type: text/plain | Content-Length: 1 "3"
http> var s = await r.subrequest('/echo'); r.return(s.status, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 39 "[\"GET\",\"/echo\",null,null,true,\"object\"]"
http> var s = await r.subrequest('/echo', 'a=b'); r.return(s.status, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 40 "[\"GET\",\"/echo\",\"a=b\",null,true,\"object\"]"
http> var s = await r.subrequest('/echo?x=y', 'a=b'); r.return(s.status, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 40 "[\"GET\",\"/echo\",\"x=y\",null,true,\"object\"]"
http> var s = await r.subrequest('/echo', {args: 'c', method: 'POST', body: 'body'}); r.return(s.status, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 41 "[\"POST\",\"/echo\",\"c\",\"body\",true,\"object\"]"
http> var s = await r.subrequest('/echo', {method: 'PUT'}); r.return(s.status, s.responseText);
@ {"method": "POST", "body": "own"}
= 200 Content-Type: text/plain | Content-Length: 40 "[\"PUT\",\"/echo\",null,\"own\",true,\"object\"]"
http> var s = await r.subrequest('/echo'); r.return(s.status, s.responseText);
@ {"method": "POST", "body": "own"}
= 200 Content-Type: text/plain | Content-Length: 40 "[\"GET\",\"/echo\",null,\"own\",true,\"object\"]"
http> var s = await r.subrequest('/echo', {method: 'POST', body: ''}); r.return(s.status, s.responseText);
@ {"method": "POST", "body": "own"}
= 200 Content-Type: text/plain | Content-Length: 40 "[\"POST\",\"/echo\",null,null,true,\"object\"]"
http> var s = await r.subrequest('/echo', {method: 'xyz'}); r.return(s.status, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 39 "[\"xyz\",\"/echo\",null,null,true,\"object\"]"
http> var s = await r.subrequest('/echo', {method: 'get'}); r.return(s.status, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 39 "[\"get\",\"/echo\",null,null,true,\"object\"]"
http> var s = await r.subrequest('/echo', {method: 5}); r.return(s.status, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 37 "[\"5\",\"/echo\",null,null,true,\"object\"]"
http> var s = await r.subrequest('/echo', {body: 5, method: 'POST'}); r.return(s.status, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 39 "[\"POST\",\"/echo\",null,\"5\",true,\"object\"]"
http> var s = await r.subrequest('/echo', {body: Buffer.from('buf'), method: 'POST'}); r.return(s.status, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 41 "[\"POST\",\"/echo\",null,\"buf\",true,\"object\"]"
http> var s = await r.subrequest('/echo', {body: null, method: 'POST'}); r.return(s.status, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 40 "[\"POST\",\"/echo\",null,null,true,\"object\"]"
http> var s = await r.subrequest('/heads'); r.return(s.status, JSON.stringify(s.headersOut) + JSON.stringify(s.rawHeadersOut) + s.responseText);
= 201 Content-Type: text/plain | Content-Length: 224 "{\"Content-Type\":\"text/x\",\"Content-Length\":\"5\",\"X-One\":\"a\",\"X-Two\":\"b, c, \",\"X-Two\":\"b, c, \",\"Set-Cookie\":[\"d\",\"e\"],\"Set-Cookie\":[\"d\",\"e\"]}[[\"X-One\",\"a\"],[\"X-Two\",\"b\"],[\"X-Two\",\"c\"],[\"Set-Cookie\",\"d\"],[\"Set-Cookie\",\"e\"]]heads"
~ 201 Content-Type: text/plain | Content-Length: 182 "{\"Content-Type\":\"text/x\",\"Content-Length\":\"5\",\"X-One\":\"a\",\"X-Two\":\"b, c\",\"Set-Cookie\":[\"d\",\"e\"]}[[\"X-One\",\"a\"],[\"X-Two\",\"b\"],[\"X-Two\",\"c\"],[\"Set-Cookie\",\"d\"],[\"Set-Cookie\",\"e\"]]heads"
http> var s = await r.subrequest('/status'); r.return(200, s.status + s.responseText + s.uri + s.method + (s.parent === r) + s.internal);
= 200 Content-Type: text/plain | Content-Length: 25 "404gone/statusGETtruetrue"
http> var s = await r.subrequest('/status'); r.return(200, [typeof s.parent, s.parent && s.parent.uri, s.responseBuffer.length, typeof s.requestText, s.args, s.variables.uri].join());
= 200 Content-Type: text/plain | Content-Length: 62 "object,/request_object/241,4,undefined,[object Object],/status"
http> var s = await r.subrequest('/nope'); r.return(200, s.status + '');
= 200 Content-Type: text/plain | Content-Length: 3 "404"
http> var s = await r.subrequest('/file.txt'); r.return(200, s.responseText + s.headersOut['Content-Type'] + s.headersOut['content-length']);
= 200 Content-Type: text/plain | Content-Length: 15 "filetext/plain4"
http> var s = await r.subrequest('/backend'); r.return(200, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 40 "[\"GET\",\"/backend\",\"127.0.0.1:N\",[],null]"
http> var s = await r.subrequest('/echo', {method: 'HEAD'}); r.return(200, s.status + '[' + s.responseText + ']');
= 200 Content-Type: text/plain | Content-Length: 14 "200[undefined]"
http> var s = await r.subrequest('/echo'); s.return(200, 'x');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: InternalError: failed to send response
http> var s = await r.subrequest('/echo'); try { s.subrequest('/echo'); } catch (e) { r.return(200, e.name + e.message); }
= 200 Content-Type: text/plain | Content-Length: 63 "TypeErrorsubrequest can only be created for the primary request"
http> var s = await r.subrequest('/echo'); try { s.internalRedirect('/echo'); } catch (e) { r.return(200, e.name + e.message); }
= 200 Content-Type: text/plain | Content-Length: 60 "TypeErrorinternalRedirect cannot be called from a subrequest"
http> r.subrequest('/echo', function (s) { r.return(s.status, s.responseText); });
= 200 Content-Type: text/plain | Content-Length: 39 "[\"GET\",\"/echo\",null,null,true,\"object\"]"
http> r.subrequest('/echo', 'a=b', function (s) { r.return(s.status, s.responseText); });
= 200 Content-Type: text/plain | Content-Length: 40 "[\"GET\",\"/echo\",\"a=b\",null,true,\"object\"]"
http> r.subrequest('/echo', {method: 'PUT'}, function (s) { r.return(s.status, s.responseText); });
= 200 Content-Type: text/plain | Content-Length: 39 "[\"PUT\",\"/echo\",null,null,true,\"object\"]"
http> r.subrequest('/echo', function (s) { throw new Error('in callback'); });
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: Error: in callback
http> r.return(200, typeof r.subrequest('/echo', {detached: true}));
= 200 Content-Type: text/plain | Content-Length: 9 "undefined"
http> r.return(200, typeof r.subrequest('/echo', function () {}));
= 200 Content-Type: text/plain | Content-Length: 9 "undefined"
http> r.subrequest('/echo', {detached: true}, function () {});
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: detached flag and callback are mutually exclusive
http> r.subrequest('/echo', {args: Symbol('a')});
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: failed to convert options.args
http> r.subrequest('/echo', Symbol('a'));
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: failed to convert args
http> r.subrequest('/echo', 5);
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: failed to convert args
http> r.subrequest('/echo', null, 5);
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: callback is not a function
http> r.subrequest('/echo', {}, 'x');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: callback is not a function
http> r.subrequest();
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: uri is empty
http> r.subrequest('');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: uri is empty
http> r.subrequest('/../x');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: unsafe uri
http> r.subrequest(Symbol('a'));
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: failed to convert uri arg
http> var s = await r.subrequest('/where/a%20b?c'); r.return(200, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 12 "/where/a b c"
http> var s = await r.subrequest('/where/a b'); r.return(200, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 20 "/where/a b undefined"
http> var s = await r.subrequest('where'); r.return(200, s.status + s.responseText);
= 200 Content-Type: text/plain "page 404 Not Found"
http> var s = await r.subrequest('@named'); r.return(200, s.status + s.responseText);
= 200 Content-Type: text/plain "page 404 Not Found"
http> var all = await Promise.all([r.subrequest('/echo'), r.subrequest('/status')]); r.return(200, all.map(function (s) { return s.status; }).join());
= 200 Content-Type: text/plain | Content-Length: 7 "200,404"
http> r.subrequest('/echo'); r.return(200, 'not waited');
= 200 Content-Type: text/plain | Content-Length: 10 "not waited"
http> var s = await r.subrequest('/echo'); r.return(200, Object.prototype.toString.call(s) + (s instanceof Object));
= 200 Content-Type: text/plain | Content-Length: 20 "[object Request]true"
http> r.return(200, await r.readRequestText());
@ {"method": "POST", "body": "abc"}
= 200 Content-Type: text/plain | Content-Length: 3 "abc"
http> r.return(200, njs.dump(await r.readRequestJSON()));
@ {"method": "POST", "body": "{\"a\":1}"}
= 200 Content-Type: text/plain | Content-Length: 5 "{a:1}"
http> r.return(200, njs.dump(await r.readRequestJSON()));
@ {"method": "POST", "body": "{"}
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: SyntaxError: Unexpected end of input at position 1
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: SyntaxError: Expected property name or '}' in JSON at position 1 (line 1 column 2)
http> r.return(200, String((await r.readRequestArrayBuffer()).byteLength));
@ {"method": "POST", "body": "abc"}
= 200 Content-Type: text/plain | Content-Length: 1 "3"
http> r.return(200, await r.readRequestText() + await r.readRequestText());
@ {"method": "POST", "body": "abc"}
= 200 Content-Type: text/plain | Content-Length: 6 "abcabc"
http> r.return(200, '[' + await r.readRequestText() + ']');
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
http> var f = await r.readRequestForm(); r.return(200, [f.get('a'), f.getAll('a'), f.has('b'), f.get('nope'), f.hasFiles()].join('|'));
@ {"method": "POST", "body": "a=1&a=2&b=%20+", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}
= 200 Content-Type: text/plain | Content-Length: 17 "1|1,2|true||false"
http> var f = await r.readRequestForm();
@ {"method": "POST", "body": "a=1", "headers": {"Content-Type": "text/plain"}}
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: TypeError: unsupported content type
http> var f = await r.readRequestForm({maxKeys: 1});
@ {"method": "POST", "body": "a=1&b=2", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: TypeError: maxKeys limit exceeded
# What is deleted.
> delete r.headersOut['a b']
= true
> delete r.headersOut['\u00e9']
= true
> delete r.headersOut.nope
= true
> delete r.variables.jsv
= throws TypeError: Cannot delete property "jsv" of object
> delete r.variables.nope
= throws TypeError: Cannot delete property "nope" of object
> delete r.rawVariables.plain
= throws TypeError: Cannot delete property "plain" of object
body> r.warn(delete r.headersOut.Date + ' ' + delete r.headersOut['X-One']); r.sendBuffer(data, flags);
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "text" [warn] js: true true
# Where the length stands that a script sets.
http> r.headersOut['Content-Encoding'] = 'x'; r.headersOut['Content-Length'] = 3; r.headersOut.Foo = 'y'; r.return(200, 'abc');
= 200 Content-Type: text/plain | Content-Encoding: x | Content-Length: 3 | Foo: y "abc"
http> r.headersOut.Foo = 'y'; r.headersOut['Content-Length'] = 3; r.headersOut.Bar = 'z'; r.headersOut['Content-Length'] = 4; r.status = 200; r.sendHeader(); r.send('abcd'); r.finish();
= 200 Content-Type: text/plain | Foo: y | Content-Length: 4 | Bar: z "abcd"
http> r.headersOut.Foo = 'y'; r.headersOut['Content-Length'] = 3; delete r.headersOut['Content-Length']; r.return(200, 'abc');
= 200 Content-Type: text/plain | Content-Length: 3 | Foo: y "abc"
> (function () { r.headersOut.Foo = 'y'; r.headersOut['Content-Length'] = 3; r.headersOut.Bar = 'z'; var found = [Object.keys(r.headersOut), r.rawHeadersOut]; delete r.headersOut['Content-Length']; return found; })()
= [["Foo","Content-Length","Bar"],[["Foo","y"],["Content-Length","3"],["Bar","z"]]]
head> r.headersOut.Foo = 'y'; r.headersOut['Content-Length'] = 4; r.headersOut.Bar = 'z';
= 200 Content-Type: text/plain | Foo: y | Content-Length: 4 | Bar: z "text"
http> var s = await r.subrequest('/backend', 'h=Content-Encoding&v=x&body=abc'); for (var h in s.headersOut) { r.headersOut[h] = s.headersOut[h]; } r.return(200, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 3 | Content-Encoding: x "abc"
