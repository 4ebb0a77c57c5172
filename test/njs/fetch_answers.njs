# What ngx.fetch makes of what servers answer.
> raw('HTTP/1.1 200 OK\r\n\r\nbody')
= [200,"OK",true,[],"body"]
> raw('HTTP/1.0 200 OK\r\n\r\nbody')
= [200,"OK",true,[],"body"]
> raw('HTTP/1.9 200 OK\r\n\r\nbody')
= [200,"OK",true,[],"body"]
> raw('HTTP/2.0 200 OK\r\n\r\nbody')
= throws Error: invalid http status line
~ [200,"OK",true,[],"body"]
> raw('HTTP/0.9 200 OK\r\n\r\nbody')
= throws Error: invalid http status line
> raw('HTTP/1 200 OK\r\n\r\nbody')
= throws Error: invalid http status line
> raw('http/1.1 200 OK\r\n\r\nbody')
= throws Error: invalid http status line
> raw('body')
= throws Error: invalid http status line
> raw('')
= throws Error: prematurely closed connection
> raw('HTTP/1.1 200\r\n\r\nbody')
= [200,"",true,[],"body"]
> raw('HTTP/1.1 200 \r\n\r\nbody')
= [200,"",true,[],"body"]
> raw('HTTP/1.1  200  Fine  then \r\n\r\nbody')
= [200," Fine  then ",true,[],"body"]
> raw('HTTP/1.1 200.5 Sub\r\n\r\nbody')
= [200,"5 Sub",true,[],"body"]
~ [200,".5 Sub",true,[],"body"]
> raw('HTTP/1.1 20 OK\r\n\r\nbody')
= throws Error: invalid http status line
> raw('HTTP/1.1 2000 OK\r\n\r\nbody')
= throws Error: invalid http status line
> raw('HTTP/1.1 000 None\r\n\r\nbody')
= [0,"None",false,[],"body"]
> raw('HTTP/1.1 999 Most\r\n\r\nbody')
= [999,"Most",false,[],"body"]
> raw('HTTP/1.1 099 Few\r\n\r\nbody')
= [99,"Few",false,[],"body"]
> raw('HTTP/1.1 2x0 OK\r\n\r\nbody')
= throws Error: invalid http status line
> raw('HTTP/1.1 200 OK\n\nbody')
= [200,"OK",true,[],"body"]
> raw('HTTP/1.1 200 OK\r\r\n\r\nbody')
= throws Error: invalid http status line
> raw('HTTP/1.1 200 O\xc3\xa9K\r\n\r\nbody')
= [200,"OéK",true,[],"body"]
> raw('HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody')
= [200,"OK",true,["A: b"],"body"]
> raw('HTTP/1.1 200 OK\r\nA:b\r\nC:   d   \r\nE:\r\nF\r\n\r\nbody')
= [200,"OK",true,["A: b","C: d","E: ","F: "],"body"]
> raw('HTTP/1.1 200 OK\r\nA: b\r\na: c\r\n\r\nbody')
= [200,"OK",true,["A: b, c"],"body"]
> raw('HTTP/1.1 200 OK\r\nA-B_c1: d\r\n\r\nbody')
= [200,"OK",true,["A-B_c1: d"],"body"]
> raw('HTTP/1.1 200 OK\r\n1a: b\r\n\r\nbody')
= [200,"OK",true,["1a: b"],"body"]
> raw('HTTP/1.1 200 OK\r\nA.b: c\r\n\r\nbody')
= throws Error: invalid http header
~ [200,"OK",true,["A.b: c"],"body"]
> raw('HTTP/1.1 200 OK\r\nA b: c\r\n\r\nbody')
= throws Error: invalid http header
> raw('HTTP/1.1 200 OK\r\nA : b\r\n\r\nbody')
= throws Error: invalid http header
> raw('HTTP/1.1 200 OK\r\n: b\r\n\r\nbody')
= throws Error: invalid http header
> raw('HTTP/1.1 200 OK\r\n-a: b\r\n\r\nbody')
= throws Error: invalid http header
~ [200,"OK",true,["-a: b"],"body"]
> raw('HTTP/1.1 200 OK\r\n_a: b\r\n\r\nbody')
= throws Error: invalid http header
~ [200,"OK",true,["_a: b"],"body"]
> raw('HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\nbody')
= throws Error: invalid http header
> raw('HTTP/1.1 200 OK\r\nA: b\nC: d\n\nbody')
= [200,"OK",true,["A: b","C: d"],"body"]
> raw('HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\nbody')
= throws Error: cannot add respose header
~ throws Error
> raw('HTTP/1.1 200 OK\r\nA: b\x01c\r\n\r\nbody')
= throws Error: cannot add respose header
~ throws Error
> raw('HTTP/1.1 200 OK\r\nA: b\tc\r\n\r\nbody')
= [200,"OK",true,["A: b\tc"],"body"]
> raw('HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\nbody')
= throws Error: invalid http header
> raw('HTTP/1.1 200 OK\r\nA: \xc3\xa9\xff\r\n\r\nbody')
= throws InternalError: invalid UTF-8 string
~ [200,"OK",true,["A: é�"],"body"]
> raw('HTTP/1.1 200 OK\r\n\r\n')
= [200,"OK",true,[],""]
> raw('HTTP/1.1 200 OK\r\n')
= throws Error: prematurely closed connection
> raw('HTTP/1.1 200 OK\r\nA: b')
= throws Error: prematurely closed connection
> raw('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody')
= [200,"OK",true,["Content-Length: 4"],"body"]
> raw('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
= [200,"OK",true,["Content-Length: 0"],""]
> raw('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbody')
= throws Error: prematurely closed connection
> raw('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbody')
= [200,"OK",true,["Content-Length: 3"],"bod"]
> raw('HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nbody')
= throws Error: invalid http content length
> raw('HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nbody')
= throws Error: invalid http content length
> raw('HTTP/1.1 200 OK\r\nContent-Length: +4\r\n\r\nbody')
= throws Error: invalid http content length
> raw('HTTP/1.1 200 OK\r\nContent-Length: 4, 4\r\n\r\nbody')
= throws Error: invalid http content length
> raw('HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nbody')
= throws Error: invalid http content length
> raw('HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nbody')
= throws Error: invalid http content length
> raw('HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nbody')
= [200,"OK",true,["Content-Length: 4, 4"],"body"]
~ throws Error
> raw('HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 3\r\n\r\nbody')
= [200,"OK",true,["Content-Length: 4, 3"],"bod"]
~ throws Error
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n')
= [200,"OK",true,["Transfer-Encoding: chunked"],"body"]
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nbo\r\n02\r\ndy\r\n000\r\n\r\n')
= [200,"OK",true,["Transfer-Encoding: Chunked"],"body"]
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n')
= [200,"OK",true,["Transfer-Encoding: chunked"],"01234567890123456789"]
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n')
= [200,"OK",true,["Transfer-Encoding: chunked"],""]
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n')
= throws Error: invalid http chunked response
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n')
= throws Error: invalid http chunked response
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbody\r\n0\r\n\r\n')
= throws Error: invalid http chunked response
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbody\r\n0\r\n\r\n')
= throws Error: invalid http chunked response
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\nbody\r\n0\r\n\r\n')
= throws Error: invalid http chunked response
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n')
= throws Error: invalid http chunked response
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;a=b\r\nbody\r\n0\r\n\r\n')
= throws Error: invalid http chunked response
~ [200,"OK",true,["Transfer-Encoding: chunked"],"body"]
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4 \r\nbody\r\n0\r\n\r\n')
= throws Error: invalid http chunked response
~ [200,"OK",true,["Transfer-Encoding: chunked"],"body"]
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\nbody\n0\n\n')
= throws Error: invalid http chunked response
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nA: b\r\n\r\n')
= throws Error: invalid http chunked response
~ [200,"OK",true,["Transfer-Encoding: chunked"],"body"]
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\nmore')
= [200,"OK",true,["Transfer-Encoding: chunked"],"body"]
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\nbody\r\n0\r\n\r\n')
= throws Error: invalid http chunked response
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n4\r\nbody\r\n0\r\n\r\n')
= [200,"OK",true,["Content-Length: 4","Transfer-Encoding: chunked"],"body"]
~ throws Error
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n')
= [200,"OK",true,["Transfer-Encoding: gzip, chunked"],"4\r\nbody\r\n0\r\n\r\n"]
~ throws Error
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nbody')
= [200,"OK",true,["Transfer-Encoding: identity"],"body"]
~ throws Error
> raw('HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n')
= [200,"OK",true,["Transfer-Encoding: chunked"],"body"]
> raw('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nbody')
= [100,"Continue",false,[],"HTTP/1.1 200 OK\r\n\r\nbody"]
~ [200,"OK",true,[],"body"]
> raw('HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody')
= [103,"Early",false,["Link: a"],"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"]
~ [200,"OK",true,["Content-Length: 4"],"body"]
> raw('HTTP/1.1 101 Switching\r\n\r\nbody')
= [101,"Switching",false,[],"body"]
~ throws Error
> raw('HTTP/1.1 204 None\r\n\r\n')
= [204,"None",true,[],""]
> raw('HTTP/1.1 204 None\r\nContent-Length: 4\r\n\r\nbody')
= [204,"None",true,["Content-Length: 4"],"body"]
~ [204,"None",true,["Content-Length: 4"],""]
> raw('HTTP/1.1 304 Same\r\n\r\nbody')
= [304,"Same",false,[],"body"]
~ [304,"Same",false,[],""]
> raw('HTTP/1.1 304 Same\r\nContent-Length: 4\r\n\r\n')
= throws Error: prematurely closed connection
~ [304,"Same",false,["Content-Length: 4"],""]
> raw('HTTP/1.1 301 Moved\r\nLocation: /count\r\nContent-Length: 0\r\n\r\n')
= [301,"Moved",false,["Content-Length: 0","Location: /count"],""]
> raw('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n', {method: 'HEAD'})
= [200,"OK",true,["Content-Length: 4"],""]
> raw('HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n', {method: 'HEAD'})
= throws Error: invalid http content length
> raw('HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n', {method: 'HEAD'})
= [200,"OK",true,["Content-Length: 99999999"],""]
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', {method: 'HEAD'})
= [200,"OK",true,["Transfer-Encoding: chunked"],""]
> raw('HTTP/1.1 200 OK\r\n\r\nbody', {method: 'HEAD'})
= [200,"OK",true,[],""]
> raw('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nbody')
= [200,"OK",true,["Content-Encoding: gzip","Content-Length: 4"],"body"]
> raw('HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n')
= [200,"OK",true,["Set-Cookie: a, b"],""]
> raw('HTTP/1.1 200 OK\r\n\r\n\xff\xc3\xa9')
= [200,"OK",true,[],"�é"]
# Bodies that are too long, and heads.
> raw('HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n01234567890')
+ js_fetch_max_response_buffer_size 10;
= throws Error: http content length is too large
> raw('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789')
+ js_fetch_max_response_buffer_size 10;
= [200,"OK",true,["Content-Length: 10"],"0123456789"]
> raw('HTTP/1.1 200 OK\r\n\r\n0123456789')
+ js_fetch_max_response_buffer_size 10;
= [200,"OK",true,[],"0123456789"]
> raw('HTTP/1.1 200 OK\r\n\r\n01234567890')
+ js_fetch_max_response_buffer_size 10;
= [200,"OK",true,[],"0123456789"]
~ throws Error
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n' + '0123456789'.repeat(10) + '\r\n0\r\n\r\n')
+ js_fetch_max_response_buffer_size 10;
= [200,"OK",true,["Transfer-Encoding: chunked"],"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"]
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n' + '0123456789'.repeat(10) + '0\r\n0\r\n\r\n')
+ js_fetch_max_response_buffer_size 10;
= throws Error: very large http chunked response
> raw('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789', {max_response_body_size: 10})
+ js_fetch_max_response_buffer_size 1;
= [200,"OK",true,["Content-Length: 10"],"0123456789"]
> raw('HTTP/1.1 200 OK\r\nX: ' + 'x'.repeat(500) + '\r\n\r\nbody')
+ js_fetch_buffer_size 128;
= throws Error: prematurely closed connection
> raw('HTTP/1.1 200 OK\r\nX: ' + 'x'.repeat(50) + '\r\n\r\n' + 'body'.repeat(200)).then(function (a) { return a.length; })
+ js_fetch_buffer_size 128;
= 5
> raw('HTTP/1.1 200 OK\r\n' + 'X: y\r\n'.repeat(100) + '\r\nbody').then(function (a) { return a.length; })
= 5
> raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n' + '1\r\nx\r\n'.repeat(300) + '0\r\n\r\n').then(function (a) { return a[4].length; })
+ js_fetch_buffer_size 100;
= 300
> raw('HTTP/1.1 200 OK\r\nContent-Length: 700\r\n\r\n' + 'x'.repeat(700)).then(function (a) { return a[4].length; })
+ js_fetch_buffer_size 100;
= 700
# A server that says no more, and keeps the connection.
> kept('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody')
= [200,"OK",true,["Content-Length: 4"],"body"]
> kept('HTTP/1.1 204 None\r\nContent-Length: 0\r\n\r\n')
= [204,"None",true,["Content-Length: 0"],""]
> kept('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n', {method: 'HEAD'})
= [200,"OK",true,["Content-Length: 4"],""]
> kept('HTTP/1.1 200 OK\r\n\r\n', {method: 'HEAD'})
= [200,"OK",true,[],""]
> kept('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
= [200,"OK",true,["Content-Length: 0"],""]
> kept('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbody')
+ js_fetch_timeout 50ms;
= throws Error: read timed out
> kept('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n')
+ js_fetch_timeout 50ms;
= throws Error: read timed out
> kept('HTTP/1.1 200 OK\r\n')
+ js_fetch_timeout 50ms;
= throws Error: read timed out
> kept('')
+ js_fetch_timeout 50ms;
= throws Error: read timed out
> kept('HTTP/1.1 200 OK\r\n\r\nbody')
+ js_fetch_timeout 50ms;
= throws Error: read timed out
# What is asked for.
> asked({method: 'GET'})
= "GET /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
> asked({method: 'post'})
= "POST /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
> asked({method: 'PUT', body: 'x'})
= "PUT /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nContent-Type: text/plain;charset=UTF-8\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"
> asked({method: 'DELETE', body: 'x'})
= "DELETE /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nContent-Type: text/plain;charset=UTF-8\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"
> asked({method: 'PATCH'})
= "PATCH /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
> asked({method: 'OPTIONS'})
= "OPTIONS /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
> asked({method: 'HEAD', body: 'x'})
= ""
> asked({method: 'PROPFIND'})
= "PROPFIND /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
> asked({headers: {'User-Agent': 'mine'}})
= "GET /asked HTTP/1.1\r\nUser-Agent: mine\r\nHost: 127.0.0.1:N\r\nUser-Agent: mine\r\nConnection: close\r\n\r\n"
~ "GET /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: mine\r\nConnection: close\r\n\r\n"
> asked({headers: {'user-agent': 'mine', A: 'b'}})
= "GET /asked HTTP/1.1\r\nUser-Agent: mine\r\nHost: 127.0.0.1:N\r\nuser-agent: mine\r\nA: b\r\nConnection: close\r\n\r\n"
~ "GET /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: mine\r\nA: b\r\nConnection: close\r\n\r\n"
> asked({headers: [['User-Agent', 'a'], ['User-Agent', 'b']]})
= "GET /asked HTTP/1.1\r\nUser-Agent: a\r\nUser-Agent: b\r\nHost: 127.0.0.1:N\r\nUser-Agent: a\r\nUser-Agent: b\r\nConnection: close\r\n\r\n"
~ "GET /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: a\r\nConnection: close\r\n\r\n"
> asked({headers: {Host: 'other:80'}})
= "GET /asked HTTP/1.1\r\nHost: other:80\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
> asked({headers: [['Host', 'a'], ['host', 'b']]})
= "GET /asked HTTP/1.1\r\nHost: a\r\nHost: b\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
~ "GET /asked HTTP/1.1\r\nHost: a\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
> asked({headers: {Connection: 'keep-alive'}})
= "GET /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
> asked({headers: {'Content-Length': '9', 'Content-Type': 'a/b'}, method: 'POST', body: 'x'})
= "POST /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nContent-Type: a/b\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"
> asked({headers: {'Content-Type': ''}, method: 'POST', body: 'x'})
= "POST /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nContent-Type: \r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"
> asked({headers: {'X-É': 'a'}})
= throws TypeError: invalid header name
> asked({headers: {A: '\ta b\t'}})
= "GET /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nA: a b\r\nConnection: close\r\n\r\n"
> asked({headers: {Accept: '*/*', Authorization: 'Basic eDp5', Cookie: 'a=b', Referer: 'http://x/', Range: 'bytes=0-1', 'If-None-Match': '"x"'}})
= "GET /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nAccept: */*\r\nAuthorization: Basic eDp5\r\nCookie: a=b\r\nReferer: http://x/\r\nRange: bytes=0-1\r\nIf-None-Match: \"x\"\r\nConnection: close\r\n\r\n"
> asked({headers: {'Proxy-Authorization': 'x', Date: 'y', Via: 'z'}})
= "GET /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nProxy-Authorization: x\r\nDate: y\r\nVia: z\r\nConnection: close\r\n\r\n"
> asked({method: 'POST', body: 'é€'})
= "POST /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nContent-Type: text/plain;charset=UTF-8\r\nConnection: close\r\nContent-Length: 5\r\n\r\né€"
> asked({method: 'POST', body: new Uint8Array([1, 2, 255])})
= "POST /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\nContent-Length: 3\r\n\r\n\u0001\u0002�"
> asked({method: 'POST', body: new Uint16Array([0x6162])})
= "POST /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\nContent-Length: 2\r\n\r\nba"
> asked({method: 'POST', body: new DataView(new ArrayBuffer(2))})
= "POST /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\nContent-Length: 2\r\n\r\n\u0000\u0000"
> asked({method: 'POST', body: null})
= "POST /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
> asked({method: 'POST', body: {}})
= "POST /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\nContent-Length: 15\r\n\r\n[object Object]"
> asked({method: 'POST', body: [1, 2]})
= "POST /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\nContent-Length: 3\r\n\r\n1,2"
> asked({method: 'POST', body: true})
= "POST /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\nContent-Length: 4\r\n\r\ntrue"
> asked({method: 'POST', body: 'x'.repeat(70000)}).then(function (a) { return a.length; })
= 70151
> asked({cache: 'no-store'})
= "GET /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
> asked({credentials: 'include', mode: 'no-cors'})
= "GET /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
# Connections that are kept.
> counted('/count', 3)
= ["1","1","1"]
> counted('/count', 3)
+ js_fetch_keepalive 1;
= ["1","2","3"]
> counted('/count', 5)
+ js_fetch_keepalive 1; js_fetch_keepalive_requests 2;
= ["1","2","1","2","1"]
> counted('/count/last', 2)
+ js_fetch_keepalive 1;
= ["1","1"]
> counted('/left', 3)
+ js_fetch_keepalive 1;
= throws Error: prematurely closed connection
~ ["1","1","1"]
> counted('/count', 2)
+ js_fetch_keepalive 0;
= ["1","1"]
> (async function () { await counted('/count', 1); await new Promise(function (done) { setTimeout(done, 100); }); return counted('/count', 1); })()
+ js_fetch_keepalive 1; js_fetch_keepalive_timeout 10ms;
= ["1"]
> (async function () { var all = await Promise.all([counted('/count', 1), counted('/count', 1), counted('/count', 1)]); return [all, await counted('/count', 1)]; })()
+ js_fetch_keepalive 2;
= [[["1"],["1"],["1"]],["2"]]
> kept('HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nbody').then(function () { return counted('/count', 1); })
+ js_fetch_keepalive 1;
= ["1"]
> kept('HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 4\r\n\r\nbody').then(function () { return counted('/count', 1); })
+ js_fetch_keepalive 1;
= ["1"]
> kept('HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 4\r\n\r\nbody').then(function () { return counted('/count', 1); })
+ js_fetch_keepalive 1;
= ["1"]
> kept('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody').then(function () { return counted('/count', 1); })
+ js_fetch_keepalive 1;
= ["2"]
> kept('HTTP/1.1 204 None\r\nContent-Length: 0\r\n\r\n').then(function () { return counted('/count', 1); })
+ js_fetch_keepalive 1;
= ["2"]
> kept('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n', {method: 'HEAD'}).then(function () { return counted('/count', 1); })
+ js_fetch_keepalive 1;
= ["2"]
> kept('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbodymore').then(function () { return counted('/count', 1); })
+ js_fetch_keepalive 1;
= ["2"]
~ ["1"]
> asked({})
+ js_fetch_keepalive 1;
= "GET /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\n\r\n"
> asked({method: 'POST', body: 'x', headers: {Connection: 'close'}})
+ js_fetch_keepalive 1;
= "POST /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nContent-Type: text/plain;charset=UTF-8\r\nContent-Length: 1\r\n\r\nx"
# Proxies.
> asked({})
+ js_fetch_proxy http://127.0.0.1:%%PEER%%;
= "GET http://127.0.0.1:N/asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
> asked({})
+ js_fetch_proxy http://user:pass@127.0.0.1:%%PEER%%;
= "GET http://127.0.0.1:N/asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nProxy-Authorization: Basic dXNlcjpwYXNz\r\nConnection: close\r\n\r\n"
> asked({})
+ js_fetch_proxy http://us%3aer:p%40ss@127.0.0.1:%%PEER%%;
= "GET http://127.0.0.1:N/asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nProxy-Authorization: Basic dXM6ZXI6cEBzcw==\r\nConnection: close\r\n\r\n"
> asked({headers: {'Proxy-Authorization': 'own', 'X-A': 'b'}})
+ js_fetch_proxy http://user:pass@127.0.0.1:%%PEER%%;
= "GET http://127.0.0.1:N/asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nProxy-Authorization: Basic dXNlcjpwYXNz\r\nX-A: b\r\nConnection: close\r\n\r\n"
> asked({headers: {'Proxy-Authorization': 'own', 'X-A': 'b'}})
+ js_fetch_proxy http://127.0.0.1:%%PEER%%;
= "GET http://127.0.0.1:N/asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nX-A: b\r\nConnection: close\r\n\r\n"
> asked({headers: {Host: 'other'}})
+ js_fetch_proxy http://127.0.0.1:%%PEER%%;
= "GET http://127.0.0.1:N/asked HTTP/1.1\r\nHost: other\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
> asked({}, 'http://example.com/a?b=c')
+ js_fetch_proxy http://127.0.0.1:%%PEER%%;
= "GET http://example.com/a?b=c HTTP/1.1\r\nHost: example.com\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
> asked({}, 'http://example.com:8080?b')
+ js_fetch_proxy http://127.0.0.1:%%PEER%%;
= "GET http://example.com:8080/?b HTTP/1.1\r\nHost: example.com:8080\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
> asked({}, 'http://example.com:80/')
+ js_fetch_proxy http://127.0.0.1:%%PEER%%;
= "GET http://example.com/ HTTP/1.1\r\nHost: example.com:80\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
> asked({}, 'http://[::1]:8080/x')
+ js_fetch_proxy http://127.0.0.1:%%PEER%%;
= "GET http://[::1]:8080/x HTTP/1.1\r\nHost: [::1]:8080\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
> asked({})
+ js_fetch_proxy http://127.0.0.1:1;
= throws Error: connect failed
> asked({})
+ set $proxy http://127.0.0.1:%%PEER%%; js_fetch_proxy $proxy;
= "GET http://127.0.0.1:N/asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
> asked({})
+ set $proxy http://u:p@127.0.0.1:%%PEER%%; js_fetch_proxy $proxy;
= "GET http://127.0.0.1:N/asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nProxy-Authorization: Basic dTpw\r\nConnection: close\r\n\r\n"
> asked({})
+ set $proxy ""; js_fetch_proxy $proxy;
= "GET /asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nConnection: close\r\n\r\n"
> asked({})
+ set $proxy https://127.0.0.1:%%PEER%%; js_fetch_proxy $proxy;
= throws InternalError: failed to evaluate proxy URL
> asked({})
+ set $proxy nonsense; js_fetch_proxy $proxy;
= throws InternalError: failed to evaluate proxy URL
> asked({})
+ set $proxy http://:p@127.0.0.1:%%PEER%%; js_fetch_proxy $proxy;
= throws InternalError: failed to evaluate proxy URL
> asked({})
+ set $proxy http://u@127.0.0.1:%%PEER%%; js_fetch_proxy $proxy;
= throws InternalError: failed to evaluate proxy URL
> counted('/count', 2)
+ js_fetch_proxy http://127.0.0.1:%%PEER%%; js_fetch_keepalive 1;
= ["GET http://127.0.0.1:N/count HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\n\r\n","GET http://127.0.0.1:N/count HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\n\r\n"]
# TLS.
> secure('https://localhost:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt; resolver 127.0.0.1:%%DNS%% ipv6=off;
= [200,"TLSv1.2 [localhost]"]
~ [200,"TLSv1.3 [localhost]"]
> secure('https://127.0.0.1:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt;
= throws Error: connect failed
~ [200,"TLSv1.3 []"]
> secure('https://nothere.test:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt; resolver 127.0.0.1:%%DNS%% ipv6=off;
= throws Error: connect failed
> secure('https://nothere.test:%%PORT_2%%/', {verify: false})
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt; resolver 127.0.0.1:%%DNS%% ipv6=off;
= [200,"TLSv1.2 [nothere.test]"]
~ [200,"TLSv1.3 [nothere.test]"]
> secure('https://sub.example.com:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt; resolver 127.0.0.1:%%DNS%% ipv6=off;
= [200,"TLSv1.2 [sub.example.com]"]
~ [200,"TLSv1.3 [sub.example.com]"]
> secure('https://a.sub.example.com:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt; resolver 127.0.0.1:%%DNS%% ipv6=off;
= throws Error: connect failed
> secure('https://localhost:%%PORT_2%%/')
+ resolver 127.0.0.1:%%DNS%% ipv6=off;
= throws Error: connect failed
> secure('https://localhost:%%PORT_2%%/', {verify: false})
+ resolver 127.0.0.1:%%DNS%% ipv6=off;
= [200,"TLSv1.2 [localhost]"]
~ [200,"TLSv1.3 [localhost]"]
> secure('https://localhost:%%PORT_2%%/')
+ js_fetch_verify off; resolver 127.0.0.1:%%DNS%% ipv6=off;
= [200,"TLSv1.2 [localhost]"]
~ [200,"TLSv1.3 [localhost]"]
> secure('https://localhost:%%PORT_2%%/', {verify: true})
+ js_fetch_verify off; resolver 127.0.0.1:%%DNS%% ipv6=off;
= throws Error: connect failed
> secure('https://127.0.0.1:%%PORT_2%%/', {verify: 0})
= [200,"TLSv1.2 []"]
~ [200,"TLSv1.3 []"]
> secure('https://127.0.0.1:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/other.crt;
= throws Error: connect failed
> secure('https://127.0.0.1:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt; js_fetch_verify_depth 0;
= throws Error: connect failed
~ [200,"TLSv1.3 []"]
> secure('https://127.0.0.1:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt; js_fetch_verify_depth 1;
= throws Error: connect failed
~ [200,"TLSv1.3 []"]
> secure('https://127.0.0.1:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt; js_fetch_protocols TLSv1.2;
= throws Error: connect failed
~ [200,"TLSv1.2 []"]
> secure('https://127.0.0.1:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt; js_fetch_protocols TLSv1.3;
= throws Error: connect failed
~ [200,"TLSv1.3 []"]
> secure('https://127.0.0.1:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt; js_fetch_protocols TLSv1.2; js_fetch_ciphers ECDHE-RSA-AES128-GCM-SHA256;
= throws Error: connect failed
~ [200,"TLSv1.2 []"]
> secure('https://127.0.0.1:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt; js_fetch_protocols TLSv1.2; js_fetch_ciphers ECDHE-ECDSA-AES128-GCM-SHA256;
= throws Error: connect failed
> secure('https://127.0.0.1:%%PORT_1%%/')
= throws Error: connect failed
> secure('http://127.0.0.1:%%PORT_2%%/').then(function (a) { return a.slice(0, 3); })
= [400,"<html>\r\n<head><title>400 The plain HTTP request was sent to HTTPS port</title></head>\r\n<body>\r\n<center><h1>400 Bad Request</h1></center>\r\n<center>The plain HTTP request was sent to HTTPS port</center>\r\n<hr><center>SERVER</center>\r\n</body>\r\n</html>\r\n"]
> secure('https://127.0.0.1:1/')
= throws Error: connect failed
> secure('https://127.0.0.1:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt; js_fetch_keepalive 1;
= throws Error: connect failed
~ [200,"TLSv1.3 []"]
> secure('https://127.0.0.1:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt; js_fetch_proxy http://127.0.0.1:%%PEER%%;
= throws Error: connect failed
~ [200,"TLSv1.3 []"]
> secure('https://sub.example.com:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt; js_fetch_proxy http://user:pass@127.0.0.1:%%PEER%%;
= throws Error: prematurely closed connection
> secure('https://127.0.0.1:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt; js_fetch_proxy http://answer:407@127.0.0.1:%%PEER%%;
= throws Error: proxy CONNECT failed with status 407
> secure('https://127.0.0.1:%%PORT_2%%/')
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt; js_fetch_proxy http://answer:nonsense@127.0.0.1:%%PEER%%;
= throws Error: proxy CONNECT: invalid status line
> secure('https://127.0.0.1:1/')
+ js_fetch_proxy http://127.0.0.1:%%PEER%%;
= throws Error: prematurely closed connection
> secure('https://127.0.0.1:%%PORT_2%%/')
+ js_fetch_proxy http://127.0.0.1:1;
= throws Error: connect failed
# Names.
> secure('http://known.test:%%PORT_1%%/?body=x')
+ resolver 127.0.0.1:%%DNS%% ipv6=off;
= [200,"x"]
> secure('http://KNOWN.test:%%PORT_1%%/?body=x')
+ resolver 127.0.0.1:%%DNS%% ipv6=off;
= [200,"x"]
> secure('http://unknown.invalid:%%PORT_1%%/?body=x')
+ resolver 127.0.0.1:%%DNS%% ipv6=off;
= throws Error: "unknown.invalid" could not be resolved (3: Host not found)
> secure('http://known.test:%%PORT_1%%/?body=x')
= throws InternalError: no resolver defined
# In stream.
stream access> s.warn(show(await raw('HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody'))); s.allow();
= "passed" [warn] js: [200,"OK",true,["A: b"],"body"]
stream access> s.warn(await later(function () { return raw('HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n01234567890'); })); s.allow();
+ js_fetch_max_response_buffer_size 10;
= "passed" [warn] js: throws Error: http content length is too large
stream access> s.warn(await later(function () { return kept('HTTP/1.1 200 OK\r\n'); })); s.allow();
+ js_fetch_timeout 50ms;
= "passed" [warn] js: throws Error: read timed out
stream access> s.warn(await later(function () { return counted('/count', 3); })); s.allow();
+ js_fetch_keepalive 1;
= "passed" [warn] js: ["1","2","3"]
stream access> s.warn(await later(function () { return asked({}); })); s.allow();
+ js_fetch_proxy http://user:pass@127.0.0.1:%%PEER%%;
= "passed" [warn] js: "GET http://127.0.0.1:N/asked HTTP/1.1\r\nHost: 127.0.0.1:N\r\nUser-Agent: nginx-js\r\nProxy-Authorization: Basic dXNlcjpwYXNz\r\nConnection: close\r\n\r\n"
stream access> s.warn(await later(function () { return secure('https://127.0.0.1:%%PORT_2%%/'); })); s.allow();
+ js_fetch_trusted_certificate %%CERTS%%/ca.crt;
= "passed" [error] js http SSL certificate does not match "127.0.0.1" [warn] js: throws Error: connect failed
~ "passed" [warn] js: [200,"TLSv1.3 []"]
stream access> s.warn(await later(function () { return secure('https://127.0.0.1:%%PORT_2%%/'); })); s.deny();
= "" [error] js http SSL certificate verify error: (21:unable to verify the first certificate) [warn] js: throws Error: connect failed
stream preread> s.warn(await later(function () { return secure('https://127.0.0.1:%%PORT_2%%/'); })); s.done();
+ js_fetch_verify off;
= "passed" [warn] js: [200,"TLSv1.2 []"]
~ "passed" [warn] js: [200,"TLSv1.3 []"]
stream filter> s.on('upload', async function (data, flags) { if (data) { var f = await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=fetched'); s.sendUpstream(await f.text() + data, flags); } else { s.sendUpstream(data, flags); } });
= "<fetchedhi\n>"
