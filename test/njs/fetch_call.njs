# ngx.fetch.
> ngx.fetch.length
= 0
~ 2
> ngx.fetch.name
= "fetch"
> ngx.fetch()
= throws TypeError: 1st argument is required
> ngx.fetch('')
= throws TypeError: unsupported URL schema (only http or https are supported)
> ngx.fetch('a')
= throws TypeError: unsupported URL schema (only http or https are supported)
> ngx.fetch(5)
= throws TypeError: input is not string or a Request object
> ngx.fetch(null)
= throws TypeError: input is not string or a Request object
> ngx.fetch('ftp://a')
= throws TypeError: unsupported URL schema (only http or https are supported)
> ngx.fetch('http://')
= throws TypeError: unsupported URL schema (only http or https are supported)
> ngx.fetch('http://127.0.0.1:0/')
= throws TypeError: invalid url
> ngx.fetch('http://127.0.0.1:99999/')
= throws TypeError: invalid url
> ngx.fetch('http://127.0.0.1:x/')
= throws TypeError: invalid url
> ngx.fetch('http://127.0.0.1:1/').catch(function (e) { return [e.name, e.message, e instanceof Error]; })
= ["Error","connect failed",true]
> ngx.fetch('http://nowhere.invalid/').catch(function (e) { return [e.name, e.message]; })
= ["InternalError","no resolver defined"]
> ngx.fetch(r.variables.origin + 'a b')
= throws TypeError: unsupported URL schema (only http or https are supported)
> ngx.fetch('http://127.0.0.1:1/', {method: 'TRACE'})
= throws TypeError: forbidden method: TRACE
> ngx.fetch('http://127.0.0.1:1/', {method: 'a b'})
= throws TypeError: invalid Request method
> ngx.fetch('http://127.0.0.1:1/', {headers: 5})
= throws TypeError: Headers is not an object
> ngx.fetch('http://127.0.0.1:1/', {headers: {'a b': 'c'}})
= throws TypeError: invalid header name
> ngx.fetch('http://127.0.0.1:1/', {headers: {a: 'b\nc'}})
= throws TypeError: invalid header value
> ngx.fetch('http://127.0.0.1:1/\r\n')
= throws Error: connect failed
> ngx.fetch('http://127.0.0.1:1/', {cache: 'x'})
= throws TypeError: unknown cache type: x
> (function (p) { p.catch(function () {}); return p instanceof Promise; })(ngx.fetch())
= true
> (async function (s) { return [s.status, s.statusText, s.ok, s.type, s.redirected, s.bodyUsed, s.headers.get('content-type'), s.headers.get('CONTENT-LENGTH')]; })(await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'))
= [200,"OK",true,"basic",false,false,"text/plain","1"]
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x')).url.replace(/:\d+/, ':N')
= "http://127.0.0.1:N/?body=x"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%')).text()
= "[\"GET\",\"/\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"]],null]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%?a=b')).text()
= "[\"GET\",\"/?a=b\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"]],null]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/a?b#c')).text()
= "[\"GET\",\"/a?b#c\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"]],null]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%#c')).text()
= throws TypeError: invalid url
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/%41/../b//c/./d')).text()
= "[\"GET\",\"/%41/../b//c/./d\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"]],null]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/é')).text()
= "[\"GET\",\"/é\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"]],null]"
> (await ngx.fetch('http://u:p@127.0.0.1:%%PORT_1%%/')).text()
= throws TypeError: invalid url
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/a|b"c<d>^`{}')).text()
= "[\"GET\",\"/a|b\\\"c<d>^`{}\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"]],null]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/', {method: 'POST', body: 'x'})).text()
= "[\"POST\",\"/\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"],[\"Content-Type\",\"text/plain;charset=UTF-8\"],[\"Content-Length\",\"1\"]],\"x\"]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/', {method: 'POST', body: Buffer.from('x')})).text()
= "[\"POST\",\"/\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"],[\"Content-Length\",\"1\"]],\"x\"]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/', {method: 'POST', body: ''})).text()
= "[\"POST\",\"/\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"],[\"Content-Type\",\"text/plain;charset=UTF-8\"],[\"Content-Length\",\"0\"]],\"\"]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/', {method: 'POST'})).text()
= "[\"POST\",\"/\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"],[\"Content-Length\",\"0\"]],\"\"]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/', {body: 'x'})).text()
= "[\"GET\",\"/\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"],[\"Content-Type\",\"text/plain;charset=UTF-8\"],[\"Content-Length\",\"1\"]],\"x\"]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/', {method: 'put', body: 5})).text()
= "[\"PUT\",\"/\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"],[\"Content-Length\",\"1\"]],\"5\"]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/', {method: 'delete'})).text()
= "[\"DELETE\",\"/\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"]],null]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/', {headers: {a: 'b', A: 'c', 'X-É': 'd'}}))
= throws TypeError: invalid header name
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/', {headers: {B: 'b', a: 'c', Z: ''}})).text()
= "[\"GET\",\"/\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"],[\"B\",\"b\"],[\"a\",\"c\"],[\"Z\",\"\"]],null]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/', {headers: {Host: 'other', a: 'é'}})).text()
= "[\"GET\",\"/\",\"other\",[[\"User-Agent\",\"nginx-js\"],[\"a\",\"é\"]],null]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/', {headers: [['a', 'b'], ['a', 'c']]})).text()
= "[\"GET\",\"/\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"],[\"a\",\"b\"],[\"a\",\"c\"]],null]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/', {method: 'POST', body: 'xyz', headers: {'Content-Length': '1'}})).text()
= "[\"POST\",\"/\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"],[\"Content-Type\",\"text/plain;charset=UTF-8\"],[\"Content-Length\",\"3\"]],\"xyz\"]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/', {method: 'POST', body: 'xyz', headers: {'Transfer-Encoding': 'chunked', 'Connection': 'keep-alive', 'Content-Type': 'a/b'}})).text()
= "<html>\r\n<head><title>400 Bad Request</title></head>\r\n<body>\r\n<center><h1>400 Bad Request</h1></center>\r\n<hr><center>SERVER</center>\r\n</body>\r\n</html>\r\n"
~ "[\"POST\",\"/\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"],[\"Content-Type\",\"a/b\"],[\"Content-Length\",\"3\"]],\"xyz\"]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/', {method: 'HEAD'})).text()
= ""
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/', {method: 'HEAD'})).headers.get('content-length')
= "59"
> (await ngx.fetch(new Request('http://127.0.0.1:%%PORT_1%%/q', {method: 'POST', body: 'x', headers: {a: 'b'}}))).text()
= "[\"POST\",\"/q\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"],[\"a\",\"b\"],[\"Content-Type\",\"text/plain;charset=UTF-8\"],[\"Content-Length\",\"1\"]],\"x\"]"
> (await ngx.fetch(new Request('http://127.0.0.1:%%PORT_1%%/q', {method: 'POST', body: 'x', headers: {a: 'b'}}), {method: 'PUT', body: 'y', headers: {c: 'd'}})).text()
= "[\"PUT\",\"/q\",\"127.0.0.1:N\",[[\"User-Agent\",\"nginx-js\"],[\"c\",\"d\"],[\"Content-Type\",\"text/plain;charset=UTF-8\"],[\"Content-Length\",\"1\"]],\"y\"]"
> (async function (q) { await ngx.fetch(q); return [q.bodyUsed, await later(function () { return q.text(); })]; })(new Request('http://127.0.0.1:%%PORT_1%%/q', {method: 'POST', body: 'x'}))
= [false,"\"x\""]
> (async function (q) { await q.text(); return later(function () { return ngx.fetch(q).then(function (s) { return s.text(); }); }); })(new Request('http://127.0.0.1:%%PORT_1%%/q', {method: 'POST', body: 'x'}))
= "\"[\\\"POST\\\",\\\"/q\\\",\\\"127.0.0.1:N\\\",[[\\\"User-Agent\\\",\\\"nginx-js\\\"],[\\\"Content-Type\\\",\\\"text/plain;charset=UTF-8\\\"],[\\\"Content-Length\\\",\\\"1\\\"]],\\\"x\\\"]\""
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?status=404&body=x')).ok
= false
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?status=302&body=http://x/')).headers.get('location')
= "http://x/"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?status=204')).text()
= ""
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x&h=X-A&v=1|2')).headers.get('x-a')
= "1, 2"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x&h=X-A&v=1|2')).headers.getAll('x-a')
= ["1","2"]
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x&h=Set-Cookie&v=1|2')).headers.get('set-cookie')
= "1, 2"
> Object.keys((await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x&h=x-a&v=1|2')).headers)
= ["Connection","Content-Length","Content-Type","Date","Server","x-a"]
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x')).headers.append('a', 'b')
= throws TypeError: cannot modify immutable object
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x')).headers.delete('a')
= throws TypeError: cannot modify immutable object
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x')).headers.set('a b', 'b')
= throws TypeError: invalid header name
> Object.prototype.toString.call(await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'))
= "[object Response]"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x')) instanceof Response
= false
~ true
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x')).headers instanceof Headers
= false
~ true
> (async function (s) { return [await s.text(), s.bodyUsed, await later(function () { return s.text(); }), await later(function () { return s.json(); })]; })(await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'))
= ["x",true,"throws TypeError: body stream already read","throws TypeError: body stream already read"]
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x')).arrayBuffer()
= ArrayBuffer 78
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=[1]')).json()
= [1]
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body={')).json().catch(function (e) { return e.name; })
= "SyntaxError"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=abcdef', {max_response_body_size: 3})).text()
= throws Error: http content length is too large
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=abcdef', {max_response_body_size: 'x'})).text()
= throws TypeError: invalid number
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=abcdef', {buffer_size: 10})).text()
= throws Error: prematurely closed connection
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=abcdef', {buffer_size: 0})).text()
= throws Error: prematurely closed connection
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=abcdef', {buffer_size: -1})).text()
= throws Error: memory error
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=abcdef', {buffer_size: 'x'})).text()
= throws TypeError: invalid number
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=abcdef', {verify: 5})).text()
= "abcdef"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=abcdef', 5)).text()
= "abcdef"
> (await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=abcdef', null)).text()
= "abcdef"
> (await Promise.all([ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=a'), ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=b')])).map(function (s) { return s.status; })
= [200,200]
> JSON.stringify(await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'))
= "{\"bodyUsed\":false,\"headers\":{\"Connection\":\"close\",\"Content-Length\":\"1\",\"Content-Type\":\"text/plain\",\"Date\":\"DATE\",\"Server\":\"SERVER\"},\"ok\":true,\"redirected\":false,\"status\":200,\"statusText\":\"OK\",\"type\":\"basic\",\"url\":\"http://127.0.0.1:N/?body=x\"}"
> njs.dump(await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'))
= "Response {arrayBuffer:[Function: arrayBuffer],bodyUsed:false,headers:Headers {Connection:'close',Content-Length:'1',Content-Type:'text/plain',Date:'DATE',Server:'SERVER'},json:[Function: json],ok:true,redirected:false,status:200,statusText:'OK',text:[Function: text],type:'basic',url:'http://127.0.0.1:N/?body=x'}"
> Object.keys(await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'))
= ["arrayBuffer","bodyUsed","headers","json","ok","redirected","status","statusText","text","type","url"]
~ []
http> ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x').then(function (s) { return s.text(); }).then(function (b) { r.return(200, b); });
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> ngx.fetch('http://127.0.0.1:1/');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: Error: connect failed
http> ngx.fetch('http://127.0.0.1:1/').then(function () { r.return(200, 'x'); });
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: Error: connect failed
http> ngx.fetch('http://127.0.0.1:1/').catch(function (e) { r.return(500, e.message); });
= 500 Content-Type: text/plain | Content-Length: 14 "connect failed"
http> await ngx.fetch('http://127.0.0.1:1/'); r.return(200, 'x');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: Error: connect failed
set> ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); return 'v';
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
