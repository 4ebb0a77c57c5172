# What handlers of each phase may do.
access> ;
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
access> r.return(403);
= 403 Content-Type: text/html "page 403 Forbidden"
access> r.return(403, 'no');
= 403 Content-Type: text/plain | Content-Length: 2 "no"
access> r.return(200, 'yes');
= 200 Content-Type: text/plain | Content-Length: 3 "yes"
access> r.return(302, '/x');
= 302 Content-Type: text/html | Location: http://localhost:N/x "page 302 Found"
access> r.decline();
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
access> r.decline(); r.return(401);
= 401 Content-Type: text/html "page 401 Authorization Required"
access> r.return(401); r.decline();
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
~ 401 Content-Type: text/html "page 401 Authorization Required"
access> throw new Error('x');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: Error: x
access> return 5;
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
access> setTimeout(function () { r.return(403); }, 1);
= 403 Content-Type: text/html "page 403 Forbidden"
access> setTimeout(function () { }, 1);
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
access> var s = await r.subrequest('/status'); if (s.status === 404) { r.return(s.status, s.responseText); }
= 404 Content-Type: text/plain | Content-Length: 4 "gone"
access> var s = await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); r.return(200, await s.text());
= 200 Content-Type: text/plain | Content-Length: 1 "x"
access> r.internalRedirect('/where');
= 200 Content-Type: text/plain | Content-Length: 16 "/where undefined"
access> r.finish();
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked ""
access> Promise.reject(new Error('x'));
= 200 Content-Type: text/plain | Content-Length: 6 "passed" [error] js unhandled rejection: Error: x
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: Error: x
access> await null; throw new Error('x');
= 200 Content-Type: text/plain | Content-Length: 6 "passed" [error] js unhandled rejection: Error: x
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: Error: x
access> r.variables.jsv = 'set'; 
+ js_content base.echo;
= 200 Content-Type: text/plain | Content-Length: 48 "[\"GET\",\"/phases/18\",null,null,false,\"undefined\"]"
access> r.headersOut.a = 'b';
= 200 Content-Type: text/plain | Content-Length: 6 | a: b "passed"
access> r.setReturnValue(403);
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
access> r.status = 404;
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
access> r.error(await r.readRequestText());
@ {"method": "POST", "body": "abc"}
= 200 Content-Type: text/plain | Content-Length: 6 "passed" [error] js: abc
access> r.warn(String(r.requestText));
@ {"method": "POST", "body": "abc"}
= 200 Content-Type: text/plain | Content-Length: 6 "passed" [warn] js: undefined
head> r.headersOut.b = 'c';
= 200 Content-Type: text/plain | Content-Length: 4 | b: c "text"
head> r.status = 404;
= 404 Content-Type: text/plain | Content-Length: 4 "text"
head> r.headersOut['X-One'] = 'z';
= 200 Content-Type: text/plain | Content-Length: 4 | X-One: z "text"
head> delete r.headersOut['X-One'];
= 200 Content-Type: text/plain | Content-Length: 4 "text"
head> r.warn(r.headersOut['X-One'] + r.status);
= 200 Content-Type: text/plain | Content-Length: 4 "text" [warn] js: NaN
head> r.send('x');
= closed [error] js exception: TypeError: cannot send
head> r.finish();
= 200 Content-Type: text/plain | Content-Length: 4 "text"
head> r.sendBuffer('x');
= closed
~ closed [error] js exception: TypeError: cannot send buffer
head> r.done();
= 200 Content-Type: text/plain | Content-Length: 4 "text"
head> r.decline();
= 200 Content-Type: text/plain | Content-Length: 4 "text"
head> r.internalRedirect('/where');
= closed [error] js exception: TypeError: internalRedirect cannot be called
head> r.subrequest('/echo');
= closed
~ 200 Content-Type: text/plain | Content-Length: 4 "text"
head> r.warn(typeof r.subrequest('/echo', {detached: true}));
= 200 Content-Type: text/plain | Content-Length: 4 "text" [warn] js: undefined
head> setTimeout(function () { r.warn('late'); }, 1);
= closed
~ 200 Content-Type: text/plain | Content-Length: 4 "text" [warn] js: late
head> await null; r.headersOut.b = 'c';
= 200 Content-Type: text/plain | Content-Length: 4 | b: c "text"
head> Promise.resolve().then(function () { r.headersOut.b = 'c'; });
= 200 Content-Type: text/plain | Content-Length: 4 | b: c "text"
head> ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x').then(function () { r.warn('fetched'); });
= closed
~ 200 Content-Type: text/plain | Content-Length: 4 "text" [warn] js: fetched
head> Promise.reject(new Error('x'));
= 200 Content-Type: text/plain | Content-Length: 4 "text" [error] js unhandled rejection: Error: x
head> return 5;
= 200 Content-Type: text/plain | Content-Length: 4 "text"
head> r.setReturnValue('x');
= 200 Content-Type: text/plain | Content-Length: 4 "text"
head> r.headersOut['Content-Length'] = 5;
= 200 Content-Type: text/plain | Content-Length: 5 "text" incomplete
head> r.readRequestText().catch(function (e) { r.warn(e.name + e.message); });
= closed
~ 200 Content-Type: text/plain | Content-Length: 4 "text" [warn] js: Errorthe request body cannot be read in this handler
body> r.sendBuffer(data.toUpperCase(), flags);
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "TEXT"
body> r.sendBuffer(data, flags); r.done();
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "text"
body> r.warn(typeof data + data + JSON.stringify(flags)); r.sendBuffer(data, flags);
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "text" [warn] js: stringtext{"last":true}
body> r.warn(njs.dump(data)); r.sendBuffer(data, flags);
+ buffer_type;
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "text" [warn] js: Buffer [116,101,120,116]
body> ;
= closed
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a ""
body> r.sendBuffer('x');
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "x"
body> r.sendBuffer('x', {last: true}); r.done();
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "x"
body> r.sendBuffer('a', flags); r.sendBuffer('b', flags);
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "ab"
body> r.sendBuffer();
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a ""
body> r.sendBuffer('', flags);
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a ""
body> r.sendBuffer(5, flags);
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "5"
body> r.sendBuffer(Buffer.from('z'), flags);
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "z"
body> r.sendBuffer('a', 5);
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "a"
body> r.sendBuffer('a', {last: false});
= closed
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "a"
body> throw new Error('x');
= closed [error] js exception: Error: x
body> r.return(200);
= closed [error] js exception: InternalError: failed to send response
~ closed [error] js exception: TypeError: a response cannot be sent in this handler
body> r.sendHeader();
= closed [error] js exception: InternalError: failed to send header
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a ""
body> r.send('x');
= closed [error] js exception: TypeError: cannot send
body> r.subrequest('/echo'); r.sendBuffer(data, flags);
= closed
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "text"
body> setTimeout(function () { r.warn('late'); }, 1); r.sendBuffer(data, flags);
= closed
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "text" [warn] js: late
body> await null; r.sendBuffer(data, flags);
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "text"
body> Promise.reject(new Error('x')); r.sendBuffer(data, flags);
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "text" [error] js unhandled rejection: Error: x
body> Promise.resolve().then(function () { r.sendBuffer(data, flags); });
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "text"
body> r.internalRedirect('/x'); r.sendBuffer(data, flags);
= closed [error] js exception: TypeError: internalRedirect cannot be called
body> r.headersOut.a = 'b'; r.sendBuffer(data, flags);
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "text"
body> r.status = 300; r.sendBuffer(data, flags);
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "text"
head> await null; r.headersOut.b = 'c'; throw new Error('x');
= 200 Content-Type: text/plain | Content-Length: 4 | b: c "text" [error] js unhandled rejection: Error: x
head> await null; r.headersOut.b = 'c'; r.warn(String(await crypto.subtle.digest('SHA-1', 'x').then(function (d) { return d.byteLength; })));
= 200 Content-Type: text/plain | Content-Length: 4 | b: c "text" [warn] js: 20
body> await null; r.sendBuffer(data.toUpperCase(), flags);
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "TEXT"
body> await null; r.sendBuffer(data, flags); throw new Error('x');
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "text" [error] js unhandled rejection: Error: x
body> Promise.resolve().then(function () { return 1; }).then(function () { r.sendBuffer(data + '!', flags); });
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "text!"
# Whom an access handler would let in waits for the rejected promises that another variable's function has found.
set> ;
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
access> Promise.reject(new Error('x')); r.variables.v_phases_77;
= 200 Content-Type: text/plain | Content-Length: 6 "passed" [error] js unhandled rejection: Error: x
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: Error: x
access> var p = Promise.reject(new Error('x')); r.variables.v_phases_77; p.catch(function () {});
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
access> await null; var p = Promise.reject(new Error('x')); r.variables.v_phases_77; p.catch(function () {});
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
access> await null; Promise.reject(new Error('x')); r.variables.v_phases_77;
= 200 Content-Type: text/plain | Content-Length: 6 "passed" [error] js unhandled rejection: Error: x
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: Error: x
access> r.return(401); r.return(403);
= 403 Content-Type: text/html "page 403 Forbidden"
access> r.return(403); r.return(200, 'in');
= 200 Content-Type: text/plain | Content-Length: 2 "in"
access> r.return(302, '/x'); r.return(404);
= 404 Content-Type: text/html | Location: http://localhost:N/x "page 404 Not Found"
access> r.return(403); r.decline(); r.return(401);
= 401 Content-Type: text/html "page 401 Authorization Required"
http> r.return(404); r.return(500);
= 500 Content-Type: text/html "page 500 Internal Server Error"
http> r.return(404); r.return(200, 'x');
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> r.return(200, 'x'); r.return(404);
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> r.return(404); throw new Error('x');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: Error: x
http> r.return(404); r.internalRedirect('/where');
= 200 Content-Type: text/plain | Content-Length: 16 "/where undefined"
http> r.return(404); r.finish();
= closed
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked ""
