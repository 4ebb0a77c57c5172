# What waits for what never comes: nginx sees that nothing is left to wait for.
http> await new Promise(function () {});
! js_timeout 300ms;
= 500 Content-Type: text/html "page 500 Internal Server Error"
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js handler "pending.row0" timed out
http> return new Promise(function () {});
! js_timeout 300ms;
= 500 Content-Type: text/html "page 500 Internal Server Error"
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js handler "pending.row1" timed out
http> return {then: function () {}};
! js_timeout 300ms;
= 500 Content-Type: text/html "page 500 Internal Server Error"
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js handler "pending.row2" timed out
http> setTimeout(function () {}, 5); await new Promise(function () {});
! js_timeout 300ms;
= 500 Content-Type: text/html "page 500 Internal Server Error"
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js handler "pending.row3" timed out
http> ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x').then(function () { r.warn('fetched'); }); await new Promise(function () {});
! js_timeout 2s;
= 500 Content-Type: text/html "page 500 Internal Server Error" [warn] js: fetched
~ 500 Content-Type: text/html "page 500 Internal Server Error" [warn] js: fetched [error] js handler "pending.row4" timed out
http> r.subrequest('/echo', function () { r.warn('called'); }); await new Promise(function () {});
! js_timeout 2s;
= 500 Content-Type: text/html "page 500 Internal Server Error" [warn] js: called
~ 500 Content-Type: text/html "page 500 Internal Server Error" [warn] js: called [error] js handler "pending.row5" timed out
http> r.return(200, 'x'); await new Promise(function () {});
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> setTimeout(function () { r.return(200, 'x'); }, 5); await new Promise(function () {});
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x').then(function (s) { r.return(s.status, 'x'); }); await new Promise(function () {});
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> r.status = 200; r.sendHeader(); r.send('a'); await new Promise(function () {});
! js_timeout 300ms;
= closed
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked "a" incomplete [error] js handler "pending.row9" timed out
http> r.internalRedirect('/where'); await new Promise(function () {});
! js_timeout 300ms;
= 200 Content-Type: text/plain | Content-Length: 16 "/where undefined"
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js handler "pending.row10" timed out
http> var s = await Promise.race([new Promise(function () {}), r.subrequest('/where')]); r.return(200, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 16 "/where undefined"
http> new Promise(function () {}).then(function () { r.return(200); });
= 500 Content-Type: text/html "page 500 Internal Server Error"
http> new Promise(function () {}); r.return(200, 'x');
= 200 Content-Type: text/plain | Content-Length: 1 "x"
access> await new Promise(function () {});
! js_timeout 300ms;
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js handler "pending.row14" timed out
access> r.return(403); await new Promise(function () {});
= 403 Content-Type: text/html "page 403 Forbidden"
access> r.return(403, 'x'); await new Promise(function () {});
= 403 Content-Type: text/plain | Content-Length: 1 "x"
access> r.decline(); await new Promise(function () {});
! js_timeout 300ms;
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js handler "pending.row17" timed out
access> setTimeout(function () {}, 5); await new Promise(function () {});
! js_timeout 300ms;
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js handler "pending.row18" timed out
access> setTimeout(function () { r.return(403); }, 5); await new Promise(function () {});
= 403 Content-Type: text/html "page 403 Forbidden"
head> await new Promise(function () {}); r.headersOut.a = 'b';
= 200 Content-Type: text/plain | Content-Length: 4 "text"
head> r.headersOut.a = 'b'; await new Promise(function () {});
= 200 Content-Type: text/plain | Content-Length: 4 | a: b "text"
head> return new Promise(function () {});
= 200 Content-Type: text/plain | Content-Length: 4 "text"
body> await new Promise(function () {}); r.sendBuffer(data, flags);
= closed
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a ""
body> r.sendBuffer(data, flags); await new Promise(function () {});
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "text"
passbody> await new Promise(function () {}); r.sendBuffer(data, flags);
@ {"query": "body=abc"}
= closed
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a ""
passbody> r.sendBuffer(data, flags); await new Promise(function () {});
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "abc"
passhead> await new Promise(function () {});
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Content-Length: 3 "abc"
set> await new Promise(function () {}); return 'x';
= 200 Content-Type: text/plain | Content-Length: 18 "[[object Promise]]"
~ 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> r.setReturnValue('x'); await new Promise(function () {});
= 200 Content-Type: text/plain | Content-Length: 18 "[[object Promise]]"
~ 200 Content-Type: text/plain | Content-Length: 3 "[x]"
set> await new Promise(function () {}); r.setReturnValue('x');
= 200 Content-Type: text/plain | Content-Length: 18 "[[object Promise]]"
~ 200 Content-Type: text/plain | Content-Length: 2 "[]"
stream access> await new Promise(function () {});
! js_timeout 300ms;
= ""
~ "" [error] js handler "pending.row31" timed out
stream access> s.allow(); await new Promise(function () {});
! js_timeout 300ms;
= "passed"
~ "" [error] js handler "pending.row32" timed out
stream access> s.deny(); await new Promise(function () {});
! js_timeout 300ms;
= ""
~ "" [error] js handler "pending.row33" timed out
stream access> setTimeout(function () { s.allow(); }, 5); await new Promise(function () {});
! js_timeout 300ms;
= "passed"
~ "" [error] js handler "pending.row34" timed out
stream preread> await new Promise(function () {});
! js_timeout 300ms;
= ""
~ "" [error] js handler "pending.row35" timed out
stream preread> s.on('upload', async function (d) { if (d.length) { s.done(); await new Promise(function () {}); } });
! js_timeout 300ms;
= "passed"
~ "" [error] js handler "pending.row36" timed out
stream preread> s.on('upload', async function (d) { if (d.length) { s.off('upload'); await new Promise(function () {}); } });
! js_timeout 300ms;
= ""
~ "" [error] js handler "pending.row37" timed out
stream filter> s.on('upload', async function (d, f) { s.send(d, f); await new Promise(function () {}); });
= "<hi\n>"
stream filter> await new Promise(function () {});
= "<hi\n>"
stream set> await new Promise(function () {}); return 'x';
= "[[object Promise]]"
~ "[]"
stream set> s.setReturnValue('x'); await new Promise(function () {});
= "[[object Promise]]"
~ "[x]"
