# Response of the Fetch API.
> (function (s) { return [s.status, s.statusText, s.ok, s.type, s.url, s.redirected, s.bodyUsed]; })(new Response())
= [200,"",true,"basic","",false,false]
> (function (s) { return [s.status, s.statusText, s.ok]; })(new Response('x', {status: 201, statusText: 'Made'}))
= [201,"Made",true]
> (function (s) { return [s.status, s.statusText, s.ok]; })(new Response('x', {status: 404}))
= [404,"",false]
> new Response('x', {status: 199})
= throws RangeError: status provided (199) is outside of [200, 599] range
> new Response('x', {status: 600})
= throws RangeError: status provided (600) is outside of [200, 599] range
> new Response('x', {status: 599}).status
= 599
> new Response('x', {status: 100})
= throws RangeError: status provided (100) is outside of [200, 599] range
> new Response('x', {status: 0})
= throws RangeError: status provided (0) is outside of [200, 599] range
> new Response('x', {status: -1})
= throws RangeError: status provided (-1) is outside of [200, 599] range
> new Response('x', {status: 1000})
= throws RangeError: status provided (1000) is outside of [200, 599] range
> new Response('x', {status: 'a'})
= throws TypeError: invalid number
> new Response('x', {status: '204'}).status
= throws TypeError: invalid number
> new Response('x', {status: 200.7}).status
= 200
> new Response('x', {status: NaN})
= throws TypeError: invalid number
> new Response('x', {status: null})
= throws TypeError: invalid number
> new Response('x', {status: undefined}).status
= throws TypeError: invalid number
~ 200
> new Response('x', {status: {}})
= throws TypeError: invalid number
> new Response('x', {statusText: 'a\nb'})
= throws TypeError: invalid Response statusText
> new Response('x', {statusText: 'é'}).statusText
= "é"
> new Response('x', {statusText: 5}).statusText
= "5"
> new Response('x', {statusText: null}).statusText
= ""
> new Response('x', {statusText: undefined}).statusText
= ""
> new Response('x', {headers: {a: 'b'}}).headers.get('a')
= "b"
> new Response('x', {headers: [['a', 'b'], ['A', 'c']]}).headers.getAll('a')
= ["b","c"]
> new Response('x', {headers: 5})
= throws TypeError: Headers is not an object
> new Response('x', {headers: null})
= throws TypeError: Headers is not an object
> new Response('x', {headers: {'a b': 'c'}})
= throws TypeError: invalid header name
> (function (s) { s.headers.append('a', 'b'); return s.headers.get('a'); })(new Response('x'))
= "b"
> (function (s) { s.headers.set('a', 'b'); s.headers.delete('a'); return s.headers.get('a'); })(new Response('x'))
= null
> new Response('x').headers.get('content-type')
= "text/plain;charset=UTF-8"
> new Response(Buffer.from('x')).headers.get('content-type')
= null
> new Response('x', {headers: {'content-type': 'y'}}).headers.get('Content-Type')
= "y, text/plain;charset=UTF-8"
~ "y"
> new Response('x').text()
= "x"
> new Response().text()
= ""
> new Response(null).text()
= ""
> new Response(undefined).text()
= ""
> new Response(5).text()
= "5"
> new Response({}).text()
= "[object Object]"
> new Response([1, 2]).text()
= "1,2"
> new Response('é').arrayBuffer()
= ArrayBuffer c3a9
> new Response(Buffer.from('ff', 'hex')).text()
= "�"
> new Response('{"a":[1]}').json()
= {a:[1]}
> new Response('').json().catch(function (e) { return e.name; })
= "SyntaxError"
> new Response(new Uint8Array([65])).text()
= "A"
> new Response(new Uint8Array([65]).buffer).text()
= "A"
> (async function (s) { var a = await s.text(); return [a, s.bodyUsed, await later(function () { return s.text(); })]; })(new Response('x'))
= ["x",true,"throws TypeError: body stream already read"]
> (async function (s) { var a = await s.json(); return [a, s.bodyUsed, await later(function () { return s.arrayBuffer(); })]; })(new Response('1'))
= [1,true,"throws TypeError: body stream already read"]
> (async function (s) { var a = await s.text(); return [a, s.bodyUsed, await later(function () { return s.text(); })]; })(new Response())
= ["",true,"throws TypeError: body stream already read"]
> Response('x')
= [object Response]{arrayBuffer:function,bodyUsed:false,headers:[object Headers]{Content-Type:"text/plain;charset=UTF-8"},json:function,ok:true,redirected:false,status:200,statusText:"",text:function,type:"basic",url:""}
~ [object Response]{}
> Object.prototype.toString.call(new Response())
= "[object Response]"
> String(new Response())
= "[object Response]"
> JSON.stringify(new Response('x'))
= "{\"bodyUsed\":false,\"headers\":{\"Content-Type\":\"text/plain;charset=UTF-8\"},\"ok\":true,\"redirected\":false,\"status\":200,\"statusText\":\"\",\"type\":\"basic\",\"url\":\"\"}"
> Object.keys(new Response('x'))
= ["arrayBuffer","bodyUsed","headers","json","ok","redirected","status","statusText","text","type","url"]
~ []
> Object.getOwnPropertyNames(Response.prototype).sort()
= ["constructor"]
~ ["arrayBuffer","blob","body","bodyUsed","bytes","clone","constructor","formData","headers","json","ok","redirected","status","statusText","text","type","url"]
> njs.dump(new Response('x'))
= "Response {arrayBuffer:[Function: arrayBuffer],bodyUsed:false,headers:Headers {Content-Type:'text/plain;charset=UTF-8'},json:[Function: json],ok:true,redirected:false,status:200,statusText:'',text:[Function: text],type:'basic',url:''}"
> Response.name
= "Response"
> Response.length
= 0
~ 2
> new Response('x') instanceof Response
= false
~ true
> new Response('x', 5)
= [object Response]{arrayBuffer:function,bodyUsed:false,headers:[object Headers]{Content-Type:"text/plain;charset=UTF-8"},json:function,ok:true,redirected:false,status:200,statusText:"",text:function,type:"basic",url:""}
~ [object Response]{}
> new Response('x', null)
= [object Response]{arrayBuffer:function,bodyUsed:false,headers:[object Headers]{Content-Type:"text/plain;charset=UTF-8"},json:function,ok:true,redirected:false,status:200,statusText:"",text:function,type:"basic",url:""}
~ [object Response]{}
> new Response('x', 'y')
= [object Response]{arrayBuffer:function,bodyUsed:false,headers:[object Headers]{Content-Type:"text/plain;charset=UTF-8"},json:function,ok:true,redirected:false,status:200,statusText:"",text:function,type:"basic",url:""}
~ [object Response]{}
> (function (s) { s.status = 5; return s.status; })(new Response())
= throws TypeError: Cannot assign to read-only property "status" of object
~ throws TypeError: Cannot set property status of #<_FetchResponse> which has only a getter
> Response.prototype.text.call({})
= throws TypeError: cannot get property "call" of undefined
~ throws TypeError: Receiver must be an instance of class _LightResponse
> new Response('x', {status: 204}).text()
= "x"
> new Response(null, {status: 204}).status
= 204
> new Response(Symbol('a'))
= throws TypeError: Cannot convert a Symbol value to a string
> typeof Response.json
= "undefined"
~ "function"
> typeof Response.error
= "undefined"
~ "function"
> new Response('x').clone
= undefined
~ function
