# What functions do that meet other directives, and each other.
nocache> r.n = (r.n || 0) + 1; return r.n;
= 200 Content-Type: text/plain | Content-Length: 5 "[1 1]"
nocache> r.warn('called'); return r.variables.uri;
= 200 Content-Type: text/plain | Content-Length: 19 "[/meets/1 /meets/1]" [warn] js: called
nocache> return undefined;
= 200 Content-Type: text/plain | Content-Length: 3 "[ ]"
nocache> throw new Error('x');
= 200 Content-Type: text/plain | Content-Length: 3 "[ ]" [error] js exception: Error: x
nocache> r.n = (r.n || 0) + 1; return r.n + r.variables.v_meets_0;
= 200 Content-Type: text/plain | Content-Length: 7 "[12 12]"
nocache> await null; r.n = (r.n || 0) + 1; r.setReturnValue(r.n);
= 200 Content-Type: text/plain | Content-Length: 5 "[1 1]"
nocache> r.n = (r.n || 0) + 1; return r.n;
+ add_header X-A $v_meets_6; add_header X-B "$v_meets_6-$v_meets_6-$uri";
= 200 Content-Type: text/plain | Content-Length: 5 | X-A: 2 | X-B: 3-3-/meets/6 "[1 1]"
stream nocache> s.n = (s.n || 0) + 1; return s.n;
= "[1 1]"
stream nocache> s.warn('called'); return s.variables.protocol;
= "[TCP TCP]" [warn] js: called
passhead> r.warn(njs.dump(r.headersOut) + r.status);
= 200 Content-Type: text/plain | Content-Length: 40 "[\"GET\",\"/meets/9\",\"127.0.0.1:N\",[],null]" [warn] js: {Content-Type:'text/plain',Content-Length:'40'}200
passhead> r.warn(JSON.stringify(r.rawHeadersOut));
@ {"query": "h=X-A&v=1|2"}
= 200 Content-Type: text/plain | Content-Length: 53 | X-A: 1 | X-A: 2 "[\"GET\",\"/meets/10?h=X-A&v=1|2\",\"127.0.0.1:N\",[],null]" [warn] js: [["X-A","1"],["X-A","2"]]
passhead> r.warn([r.headersOut['x-a'], r.headersOut['X-A'], njs.dump(Object.keys(r.headersOut))].join(' '));
@ {"query": "h=X-A&v=1|2"}
= 200 Content-Type: text/plain | Content-Length: 53 | X-A: 1 | X-A: 2 "[\"GET\",\"/meets/11?h=X-A&v=1|2\",\"127.0.0.1:N\",[],null]" [warn] js: 1, 2,  1, 2,  ['Content-Type','Content-Length','X-A','X-A']
~ 200 Content-Type: text/plain | Content-Length: 53 | X-A: 1 | X-A: 2 "[\"GET\",\"/meets/11?h=X-A&v=1|2\",\"127.0.0.1:N\",[],null]" [warn] js: 1, 2 1, 2 ['Content-Type','Content-Length','X-A']
passhead> r.warn(njs.dump(r.headersOut['Set-Cookie']));
@ {"query": "h=Set-Cookie&v=1|2"}
= 200 Content-Type: text/plain | Content-Length: 60 | Set-Cookie: 1 | Set-Cookie: 2 "[\"GET\",\"/meets/12?h=Set-Cookie&v=1|2\",\"127.0.0.1:N\",[],null]" [warn] js: ['1','2']
passhead> r.headersOut['Set-Cookie'] = ['x', 'y'];
@ {"query": "h=Set-Cookie&v=1|2"}
= 200 Content-Type: text/plain | Content-Length: 60 | Set-Cookie: x | Set-Cookie: y "[\"GET\",\"/meets/13?h=Set-Cookie&v=1|2\",\"127.0.0.1:N\",[],null]"
passhead> delete r.headersOut['Set-Cookie'];
@ {"query": "h=Set-Cookie&v=1|2"}
= 200 Content-Type: text/plain | Content-Length: 60 "[\"GET\",\"/meets/14?h=Set-Cookie&v=1|2\",\"127.0.0.1:N\",[],null]"
passhead> r.headersOut['X-A'] = r.headersOut['X-A'] + '!';
@ {"query": "h=X-A&v=1|2"}
= 200 Content-Type: text/plain | Content-Length: 53 | X-A: 1, 2, ! "[\"GET\",\"/meets/15?h=X-A&v=1|2\",\"127.0.0.1:N\",[],null]"
~ 200 Content-Type: text/plain | Content-Length: 53 | X-A: 1, 2! "[\"GET\",\"/meets/15?h=X-A&v=1|2\",\"127.0.0.1:N\",[],null]"
passhead> delete r.headersOut['x-a'];
@ {"query": "h=X-A&v=1|2"}
= 200 Content-Type: text/plain | Content-Length: 53 "[\"GET\",\"/meets/16?h=X-A&v=1|2\",\"127.0.0.1:N\",[],null]"
passhead> r.headersOut.Location = r.headersOut.Location + 'x';
@ {"query": "status=302&h=Location&v=/y"}
= 302 Content-Type: text/html | Location: ["GET","/meets/17?status=302&h=Location&v=/y","127.0.0.1:N",[],null]x "page 302 Found"
passhead> r.headersOut.Location = '/z';
@ {"query": "status=302&body=&h=X&v=/y"}
= 302 Content-Type: text/html | Location: http://localhost:N/z | X: /y "page 302 Found"
passhead> r.status = 404;
@ {"query": "status=200&body=b"}
= 404 Content-Type: text/plain | Content-Length: 1 "b"
passhead> r.status = 200; delete r.headersOut['Content-Length'];
@ {"query": "status=404&body=b"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked "b"
passhead> r.status = 304;
@ {"query": "body=b"}
= 304 Content-Type: text/plain | Content-Length: 1 ""
passhead> r.status = 204;
@ {"query": "body=b"}
= 204  ""
passhead> r.headersOut['Content-Type'] = 'a/b; charset=c';
= 200 Content-Type: a/b; charset=c | Content-Length: 41 "[\"GET\",\"/meets/23\",\"127.0.0.1:N\",[],null]"
passhead> delete r.headersOut['Content-Type'];
= 200 Content-Length: 41 "[\"GET\",\"/meets/24\",\"127.0.0.1:N\",[],null]"
passhead> r.headersOut['Content-Encoding'] = 'gzip';
= 200 Content-Type: text/plain | Content-Length: 41 | Content-Encoding: gzip "[\"GET\",\"/meets/25\",\"127.0.0.1:N\",[],null]"
passhead> r.headersOut.ETag = '"x"'; r.headersOut['Last-Modified'] = 'Mon, 06 May 2024 07:08:09 GMT';
= 200 Content-Type: text/plain | Content-Length: 41 | ETag: "x" | Last-Modified: DATE "[\"GET\",\"/meets/26\",\"127.0.0.1:N\",[],null]"
passhead> r.headersOut.ETag = '"x"';
@ {"headers": {"If-None-Match": "\"x\""}}
= 200 Content-Type: text/plain | Content-Length: 66 | ETag: "x" "[\"GET\",\"/meets/27\",\"127.0.0.1:N\",[[\"If-None-Match\",\"\\\"x\\\"\"]],null]"
passhead> r.headersOut['Cache-Control'] = ['a', 'b'];
@ {"query": "h=Cache-Control&v=x"}
= 200 Content-Type: text/plain | Content-Length: 61 | Cache-Control: a | Cache-Control: b "[\"GET\",\"/meets/28?h=Cache-Control&v=x\",\"127.0.0.1:N\",[],null]"
passhead> r.headersOut['Accept-Ranges'] = 'none';
= 200 Content-Type: text/plain | Content-Length: 41 | Accept-Ranges: none "[\"GET\",\"/meets/29\",\"127.0.0.1:N\",[],null]"
passhead> r.warn(r.variables.upstream_status + r.variables.sent_http_x + r.variables.upstream_http_x_a + r.variables.status);
@ {"query": "h=X-A&v=1"}
= 200 Content-Type: text/plain | Content-Length: 51 | X-A: 1 "[\"GET\",\"/meets/30?h=X-A&v=1\",\"127.0.0.1:N\",[],null]" [warn] js: 200undefined1200
passhead> throw new Error('x');
@ {"query": "status=404&body=b"}
= closed [error] js exception: Error: x
passhead> r.warn(r.method + r.headersOut['Content-Length']);
@ {"method": "HEAD"}
= 200 Content-Type: text/plain | Content-Length: 42 "" [warn] js: HEAD42
passhead> r.headersOut.a = 'b';
+ error_page 404 /status; proxy_intercept_errors on;
@ {"query": "status=404"}
= 404 Content-Type: text/plain | Content-Length: 4 "gone"
passhead> r.headersOut.a = r.uri;
+ error_page 404 = /heads; proxy_intercept_errors on;
@ {"query": "status=404"}
= 201 Content-Type: text/x | Content-Length: 5 | X-One: a | X-Two: b | X-Two: c | Set-Cookie: d | Set-Cookie: e "heads"
passhead> r.headersOut.a = r.variables.sent_http_x_b;
+ add_header X-B c always;
= 200 Content-Type: text/plain | Content-Length: 41 | X-B: c "[\"GET\",\"/meets/35\",\"127.0.0.1:N\",[],null]"
passhead> r.headersOut.Expires = 'x';
+ expires 1h;
= 200 Content-Type: text/plain | Content-Length: 41 | Expires: x | Expires: DATE | Cache-Control: max-age=3600 "[\"GET\",\"/meets/36\",\"127.0.0.1:N\",[],null]"
passhead> r.headersOut.a = 'b';
+ proxy_hide_header X-A; proxy_pass_header Server;
@ {"query": "h=X-A&v=1"}
= 200 Content-Type: text/plain | Content-Length: 51 | a: b "[\"GET\",\"/meets/37?h=X-A&v=1\",\"127.0.0.1:N\",[],null]"
passbody> r.sendBuffer(data.toUpperCase(), flags);
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "ABC"
passbody> r.warn(data + njs.dump(flags)); r.sendBuffer(data, flags);
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "abc" [warn] js: abc{last:false} [warn] js: {last:true}
passbody> r.warn(typeof data + data.length + flags.last + typeof flags.flush); r.sendBuffer(data, flags);
@ {"query": "body="}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "" [warn] js: string0trueundefined
passbody> r.sendBuffer(data, {last: flags.last, flush: true});
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "abc"
passbody> r.sendBuffer(data + '!'); if (flags.last) { r.sendBuffer('', flags); }
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "abc!!"
passbody> r.all = (r.all || '') + data; if (flags.last) { r.sendBuffer(r.all + r.all.length, flags); }
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "abc3"
passbody> r.sendBuffer(Buffer.concat([data, Buffer.from('\xff', 'latin1')]), flags);
@ {"query": "body=abc"}
+ buffer_type;
= closed [error] js exception: TypeError: "latin1" encoding is not supported
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "abc��"
passbody> r.sendBuffer(data.slice(0, 2), flags);
@ {"query": "body=%c3%a9%ff%00x"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "é�"
passbody> r.sendBuffer(data.toString('hex'), flags);
@ {"query": "body=%c3%a9%ff%00x"}
+ buffer_type;
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "c3a9efbfbd0078"
passbody> r.sendBuffer(data, flags); r.done();
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "abc"
passbody> r.done(); r.sendBuffer(data, flags);
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "abc"
passbody> if (!flags.last) { throw new Error('x'); }
@ {"query": "body=abc"}
= closed [error] js exception: Error: x
passbody> r.sendBuffer(data, flags); if (flags.last) { throw new Error('x'); }
@ {"query": "body=abc"}
= closed [error] js exception: Error: x
passbody> r.sendBuffer(data, flags);
@ {"query": "body=abc", "method": "HEAD"}
= 200 Content-Type: text/plain | X-One: a ""
passbody> r.warn('called'); r.sendBuffer(data, flags);
@ {"query": "status=204"}
= 204 X-One: a "" [warn] js: called
~ 204 X-One: a ""
passbody> r.sendBuffer(data, flags);
@ {"query": "status=404&body=gone"}
= 404 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "gone"
passbody> r.sendBuffer(data.replace('a', 'bbb'), flags);
+ gzip on; gzip_min_length 1; gzip_types *;
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "bbbbc"
passbody> r.sendBuffer(data.replace('a', 'b'), flags);
+ sub_filter b c; sub_filter_once off; sub_filter_types *;
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "ccc"
passbody> r.sendBuffer(data, flags);
@ {"query": "body=0123456789", "headers": {"Range": "bytes=2-4"}}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "0123456789"
passbody> r.sendBuffer(data + '+', flags);
+ add_before_body /where; add_after_body /where; addition_types *;
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "/where undefinedabc++/where undefined+"
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "/where undefinedabc++/where undefined"
passbody> r.sendBuffer(flags.last + '', {last: 'yes'});
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "false"
passbody> r.sendBuffer('a', {last: 0, flush: 1}); r.sendBuffer('b', flags);
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "abab"
passbody> r.sendBuffer(null, flags); r.sendBuffer(undefined, flags);
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a ""
passbody> r.sendBuffer(Symbol('x'), flags);
@ {"query": "body=abc"}
= closed [error] js exception: TypeError: failed to get buffer arg
passbody> r.sendBuffer({toString: function () { throw new Error('str'); }}, flags);
@ {"query": "body=abc"}
= closed [error] js exception: TypeError: failed to get buffer arg
passbody> r.sendBuffer(data, {get last() { throw new Error('flag'); }});
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "abc"
~ closed [error] js exception: Error: flag
passbody> r.sendBuffer(data, null); r.sendBuffer(data, 'last');
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "abcabc"
passbody> r.warn(Object.prototype.toString.call(flags) + Object.keys(flags)); flags.last = 5; r.sendBuffer(data, flags);
@ {"query": "body=abc"}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "abc" [warn] js: [object Object]last [warn] js: [object Object]last
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "abc" [warn] js: [object Object]last
access> ;
+ satisfy any; deny all;
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
access> r.return(403);
+ satisfy any; deny all;
= 403 Content-Type: text/html "page 403 Forbidden"
access> r.return(403);
+ satisfy any; allow all;
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
access> r.return(401);
+ satisfy any; deny all;
= 401 Content-Type: text/html "page 401 Authorization Required"
access> r.decline();
+ satisfy any; deny all;
= 403 Content-Type: text/html "page 403 Forbidden"
access> r.return(401);
+ satisfy any; auth_basic x; auth_basic_user_file none;
= 401 Content-Type: text/html | WWW-Authenticate: Basic realm="x" "page 401 Authorization Required"
access> r.return(200, 'in');
+ satisfy any; deny all;
= 200 Content-Type: text/plain | Content-Length: 2 "in"
access> ;
+ deny all;
= 403 Content-Type: text/html "page 403 Forbidden"
access> r.return(403, 'js');
+ deny all;
= 403 Content-Type: text/plain | Content-Length: 2 "js"
access> r.headersOut['WWW-Authenticate'] = 'Bearer'; r.return(401);
= 401 Content-Type: text/html | WWW-Authenticate: Bearer "page 401 Authorization Required"
access> r.return(401, 'body');
+ error_page 401 /echo;
= 401 Content-Type: text/plain | Content-Length: 4 "body"
access> r.return(401);
+ error_page 401 /echo;
= 401 Content-Type: text/plain | Content-Length: 42 "[\"GET\",\"/echo\",null,null,true,\"undefined\"]"
access> r.return(401);
+ error_page 401 = /where;
= 200 Content-Type: text/plain | Content-Length: 16 "/where undefined"
access> r.return(302, '/login?x=' + r.uri);
= 302 Content-Type: text/html | Location: http://localhost:N/login?x=/meets/79 "page 302 Found"
access> r.status = 201; r.sendHeader(); r.send('sent'); r.finish();
= 201 Content-Type: text/plain | Transfer-Encoding: chunked "sent"
access> await null; r.return(403, 'late');
= 403 Content-Type: text/plain | Content-Length: 4 "late"
access> await new Promise(function (d) { setTimeout(d, 1); }); r.decline();
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
access> await new Promise(function (d) { setTimeout(d, 1); }); r.internalRedirect('/where?x=y');
= 200 Content-Type: text/plain | Content-Length: 10 "/where x=y"
access> r.variables.jsv = r.variables.mapped;
+ js_content base.echo; 
@ {"query": "arg_map=a"}
= 200 Content-Type: text/plain | Content-Length: 54 "[\"GET\",\"/meets/84\",\"arg_map=a\",null,false,\"undefined\"]"
access> var t = await r.readRequestText(); if (t !== 'abc') { r.return(403, t); }
+ proxy_pass http://127.0.0.1:%%PORT_1%%;
@ {"method": "POST", "body": "abc"}
= 200 Content-Type: text/plain | Content-Length: 65 "[\"POST\",\"/meets/85\",\"127.0.0.1:N\",[[\"Content-Length\",\"3\"]],\"abc\"]"
access> var t = await r.readRequestText(); if (t !== 'abc') { r.return(403, t); }
+ proxy_pass http://127.0.0.1:%%PORT_1%%;
@ {"method": "POST", "body": "abd"}
= 403 Content-Type: text/plain | Content-Length: 3 "abd"
access> var s = await r.subrequest('/status'); if (s.status !== 404) { r.return(403); }
+ proxy_pass http://127.0.0.1:%%PORT_1%%;
@ {"method": "POST", "body": "abc"}
= 200 Content-Type: text/plain | Content-Length: 65 "[\"POST\",\"/meets/87\",\"127.0.0.1:N\",[[\"Content-Length\",\"3\"]],\"abc\"]"
access> var f = await r.readRequestForm(); if (f.get('a') !== '1') { r.return(403); }
+ proxy_pass http://127.0.0.1:%%PORT_1%%;
@ {"method": "POST", "body": "a=1", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}
= 200 Content-Type: text/plain | Content-Length: 118 "[\"POST\",\"/meets/88\",\"127.0.0.1:N\",[[\"Content-Length\",\"3\"],[\"Content-Type\",\"application/x-www-form-urlencoded\"]],\"a=1\"]"
access> r.return(503);
+ limit_except GET { deny all; }
@ {"method": "POST"}
= 503 Content-Type: text/html "page 503 Service Temporarily Unavailable"
access> r.warn(r.variables.request_body + '');
+ proxy_pass http://127.0.0.1:%%PORT_1%%;
@ {"method": "POST", "body": "abc"}
= 200 Content-Type: text/plain | Content-Length: 65 "[\"POST\",\"/meets/90\",\"127.0.0.1:N\",[[\"Content-Length\",\"3\"]],\"abc\"]" [warn] js: undefined
http> r.return(200, r.variables.request_body);
@ {"method": "POST", "body": "abc"}
= 200 Content-Type: text/plain | Content-Length: 3 "abc"
http> r.variables.limit_rate = '10k'; r.return(200, r.variables.limit_rate);
= 200 Content-Type: text/plain | Content-Length: 5 "10240"
http> r.return(404);
+ error_page 404 /echo;
= 404 Content-Type: text/plain | Content-Length: 42 "[\"GET\",\"/echo\",null,null,true,\"undefined\"]"
http> r.return(404, 'own');
+ error_page 404 /echo;
= 404 Content-Type: text/plain | Content-Length: 3 "own"
http> r.return(404);
+ error_page 404 =200 /where;
= 200 Content-Type: text/plain | Content-Length: 16 "/where undefined"
http> r.return(404);
+ error_page 404 @named;
= 404 Content-Type: text/plain | Content-Length: 15 "named /meets/96"
http> r.return(500);
+ error_page 500 =503 /heads;
= 503 Content-Type: text/x | Content-Length: 5 | X-One: a | X-Two: b | X-Two: c | Set-Cookie: d | Set-Cookie: e "heads"
http> throw new Error('x');
+ error_page 500 /echo;
= 500 Content-Type: text/plain | Content-Length: 42 "[\"GET\",\"/echo\",null,null,true,\"undefined\"]" [error] js exception: Error: x
http> r.return(404);
+ error_page 404 http://a/b;
= 302 Content-Type: text/html | Location: http://a/b "page 302 Found"
http> r.return(200, 'x');
+ add_header X-A $status; add_header X-B $bytes_sent always;
= 200 Content-Type: text/plain | Content-Length: 1 | X-A: 200 | X-B: 0 "x"
http> r.return(404, 'x');
+ add_header X-A b; add_header X-C d always;
= 404 Content-Type: text/plain | Content-Length: 1 | X-C: d "x"
http> r.return(200, 'x');
+ default_type a/b; charset utf-8; expires 1h;
= 200 Content-Type: a/b | Content-Length: 1 | Expires: DATE | Cache-Control: max-age=3600 "x"
http> r.return(200, 'x');
+ default_type text/html; charset utf-8;
= 200 Content-Type: text/html; charset=utf-8 | Content-Length: 1 "x"
http> r.headersOut['Content-Type'] = 'text/html'; r.return(200, 'x');
+ charset utf-8;
= 200 Content-Type: text/html; charset=utf-8 | Content-Length: 1 "x"
http> r.headersOut['Content-Type'] = 'text/html; charset=koi8-r'; r.return(200, 'x');
+ charset utf-8;
= 200 Content-Type: text/html; charset=koi8-r | Content-Length: 1 "x"
http> r.return(200, '0123456789');
@ {"headers": {"Range": "bytes=2-4"}}
= 200 Content-Type: text/plain | Content-Length: 10 "0123456789"
http> r.headersOut.ETag = '"a"'; r.return(200, 'x');
@ {"headers": {"If-None-Match": "\"a\""}}
= 200 Content-Type: text/plain | Content-Length: 1 | ETag: "a" "x"
http> r.return(200, 'x');
@ {"method": "HEAD"}
= 200 Content-Type: text/plain | Content-Length: 1 ""
http> r.status = 200; r.sendHeader(); r.send('x'); r.finish();
@ {"method": "HEAD"}
= 200 Content-Type: text/plain ""
http> r.return(204, 'x');
@ {"method": "HEAD"}
= 204  ""
http> r.return(200, r.method);
@ {"method": "OPTIONS"}
= 200 Content-Type: text/plain | Content-Length: 7 "OPTIONS"
http> r.return(200, r.method);
@ {"method": "XYZ"}
= 200 Content-Type: text/plain | Content-Length: 3 "XYZ"
http> r.return(200, 'x');
+ auth_request /status;
= 500 Content-Type: text/html "page 500 Internal Server Error"
http> r.return(200, 'x');
+ auth_request /where;
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> r.return(200, r.variables.auth);
+ auth_request /heads; auth_request_set $auth $upstream_status;
= 200 Content-Type: text/plain | Content-Length: 0 ""
http> r.return(200, 'x');
+ mirror /where;
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> r.return(200, 'x');
+ post_action /where;
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> var s = await r.subrequest('/internal'); r.return(200, s.status + s.responseText);
= 200 Content-Type: text/plain | Content-Length: 11 "200internal"
http> var s = await r.subrequest('/backend?status=500&body=x'); r.return(200, s.status + s.responseText);
= 200 Content-Type: text/plain | Content-Length: 4 "500x"
http> var s = await r.subrequest('/backend', {args: 'h=X-A&v=1|2'}); r.return(200, njs.dump(s.headersOut) + s.headersOut['x-a']);
= 200 Content-Type: text/plain | Content-Length: 79 "{Content-Type:'text/plain',Content-Length:'52',X-A:'1, 2, ',X-A:'1, 2, '}1, 2, "
~ 200 Content-Type: text/plain | Content-Length: 62 "{Content-Type:'text/plain',Content-Length:'52',X-A:'1, 2'}1, 2"
http> var s = await r.subrequest('/backend', {args: 'h=Set-Cookie&v=1|2'}); r.return(200, njs.dump(s.headersOut['Set-Cookie']));
= 200 Content-Type: text/plain | Content-Length: 9 "['1','2']"
http> var s = await r.subrequest('/backend', {method: 'POST', body: 'sub'}); r.return(200, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 64 "[\"POST\",\"/backend\",\"127.0.0.1:N\",[[\"Content-Length\",\"3\"]],\"sub\"]"
http> var s = await r.subrequest('/backend', {args: 'body=' + 'x'.repeat(5000)}); r.return(200, s.responseText.length + '');
= 200 Content-Type: text/plain | Content-Length: 4 "5000"
http> var s = await r.subrequest('/backend', {args: 'body=' + 'x'.repeat(7000) + '&status=201'}); r.return(200, s.status + '' + s.responseBuffer.length);
= 200 Content-Type: text/plain | Content-Length: 7 "2017000"
http> var s = await r.subrequest('/where'); r.headersOut['X-Status'] = s.status; for (var h in s.headersOut) { r.headersOut['s-' + h] = s.headersOut[h]; } r.return(200, s.responseBuffer);
= 200 Content-Type: text/plain | Content-Length: 16 | X-Status: 200 | s-Content-Type: text/plain | s-Content-Length: 16 "/where undefined"
http> var s = await r.subrequest('/meets/2'); r.return(200, s.status + s.responseText);
= 200 Content-Type: text/plain | Content-Length: 6 "200[ ]"
http> var out = []; for (var i = 0; i < 3; i++) { out.push((await r.subrequest('/echo', 'n=' + i)).responseText); } r.return(200, out.join());
= 200 Content-Type: text/plain | Content-Length: 122 "[\"GET\",\"/echo\",\"n=0\",null,true,\"object\"],[\"GET\",\"/echo\",\"n=1\",null,true,\"object\"],[\"GET\",\"/echo\",\"n=2\",null,true,\"object\"]"
http> r.subrequest('/echo', 'a').then(function (s) { return r.subrequest('/echo', 'b=' + s.status); }).then(function (s) { r.return(200, s.responseText); });
= 200 Content-Type: text/plain | Content-Length: 42 "[\"GET\",\"/echo\",\"b=200\",null,true,\"object\"]"
http> Promise.all([1, 2, 3].map(function (n) { return r.subrequest('/echo', 'n=' + n); })).then(function (all) { r.return(200, all.map(function (s) { return s.responseText; }).join()); }).catch(function (e) { r.return(500, e.message); });
= 200 Content-Type: text/plain | Content-Length: 122 "[\"GET\",\"/echo\",\"n=1\",null,true,\"object\"],[\"GET\",\"/echo\",\"n=2\",null,true,\"object\"],[\"GET\",\"/echo\",\"n=3\",null,true,\"object\"]"
http> r.subrequest('/nope').then(function (s) { if (s.status !== 200) { throw new Error('status ' + s.status); } }).catch(function (e) { r.return(200, e.message); });
= 200 Content-Type: text/plain | Content-Length: 10 "status 404"
http> r.subrequest('/echo').then(function (s) { r.return(200, 'x'); throw new Error('after'); });
= 200 Content-Type: text/plain | Content-Length: 1 "x" [error] js unhandled rejection: Error: after
http> var a = await Promise.race([r.subrequest('/echo', 'a'), new Promise(function (d) { setTimeout(d, 1, {status: 'timer'}); })]); r.return(200, String(a.status));
= 200 Content-Type: text/plain | Content-Length: 3 "200"
http> r.subrequest('/echo', {detached: true}); setTimeout(function () { r.return(200, 'x'); }, 2);
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> var s = await r.subrequest('/echo', {args: {a: 1}}); r.return(200, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 52 "[\"GET\",\"/echo\",\"[object Object]\",null,true,\"object\"]"
http> var s = await r.subrequest('/echo', ['a=b']); r.return(200, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 39 "[\"GET\",\"/echo\",null,null,true,\"object\"]"
http> var s = await r.subrequest('/echo', {args: 'a=b', method: 'PATCH', body: JSON.stringify({x: 1}), detached: false}); r.return(200, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 49 "[\"PATCH\",\"/echo\",\"a=b\",\"{\\\"x\\\":1}\",true,\"object\"]"
http> var s = await r.subrequest(r.uri.replace(/\d+$/, '0')); r.return(200, s.responseText);
= 200 Content-Type: text/plain | Content-Length: 5 "[1 1]"
http> r.internalRedirect('/backend?body=x');
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> r.internalRedirect('/backend');
@ {"method": "POST", "body": "abc"}
= 200 Content-Type: text/plain | Content-Length: 64 "[\"POST\",\"/backend\",\"127.0.0.1:N\",[[\"Content-Length\",\"3\"]],\"abc\"]"
http> await r.subrequest('/echo'); r.internalRedirect('/where?after');
= 200 Content-Type: text/plain | Content-Length: 12 "/where after"
http> r.internalRedirect(r.variables.uri + '?' + (Number(r.args.n || 0) + 1));
= 500 Content-Type: text/html "page 500 Internal Server Error"
http> r.headersOut.a = 'b'; r.status = 404; r.internalRedirect('/where');
= 200 Content-Type: text/plain | Content-Length: 16 | a: b "/where undefined"
http> r.status = 200; r.sendHeader(); r.send('a'); await new Promise(function (d) { setTimeout(d, 1); }); r.send('b'); r.finish();
= 200 Content-Type: text/plain | Transfer-Encoding: chunked "ab"
http> r.headersOut['Content-Length'] = 5; r.sendHeader(); r.send('abc'); r.finish();
= bad: not a status line: "HTTP/1.1 000 "
~ 200 Content-Type: text/plain | Content-Length: 5 "abc" incomplete
http> r.headersOut['Content-Length'] = 2; r.sendHeader(); r.send('abc'); r.finish();
= bad: not a status line: "HTTP/1.1 000 "
~ 200 Content-Type: text/plain | Content-Length: 2 "ab"
http> r.status = 200; r.sendHeader(); for (var i = 0; i < 100; i++) { r.send('0123456789'); } r.finish();
= 200 Content-Type: text/plain | Transfer-Encoding: chunked "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
http> r.status = 204; r.sendHeader(); r.send('x'); r.finish();
= 204  ""
http> r.status = 304; r.sendHeader(); r.finish();
= 304 Content-Type: text/plain ""
http> r.status = 302; r.headersOut.Location = '/x'; r.sendHeader(); r.finish();
= 302 Content-Type: text/plain | Location: http://localhost:N/x | Transfer-Encoding: chunked ""
http> r.status = 302; r.headersOut.Location = 'x'; r.return(302);
= 302 Content-Type: text/html | Location:  "page 302 Found"
http> r.headersOut.Location = '/x'; r.return(302);
= 302 Content-Type: text/html | Location:  "page 302 Found"
http> r.headersOut.Location = '/x'; r.return(201, 'made');
= 201 Content-Type: text/plain | Content-Length: 4 | Location: http://localhost:N/x "made"
http> r.status = 0; r.sendHeader(); r.finish();
= bad: not a status line: "HTTP/1.1 000 "
~ 200 Content-Type: text/plain | Transfer-Encoding: chunked ""
http> r.status = 600; r.sendHeader(); r.finish();
= 600 Content-Type: text/plain | Transfer-Encoding: chunked ""
http> r.status = 101; r.sendHeader(); r.finish();
= 101 Content-Type: text/plain ""
set> return r.variables.v_meets_0;
= 200 Content-Type: text/plain | Content-Length: 3 "[1]"
set> return r.variables.v_meets_0 + r.variables.v_meets_0;
= 200 Content-Type: text/plain | Content-Length: 4 "[12]"
set> r.variables.jsv = 'inside'; return r.variables.jsv;
= 200 Content-Type: text/plain | Content-Length: 8 "[inside]"
set> return r.subrequest ? typeof r.subrequest('/echo', {detached: true}) : 'none';
= 200 Content-Type: text/plain | Content-Length: 11 "[undefined]"
set> r.headersOut.a = 'b'; return 'x';
= 200 Content-Type: text/plain | Content-Length: 3 | a: b "[x]"
set> r.return(200, 'x'); return 'y';
= 200 Content-Type: text/plain | Content-Length: 1 "x"
~ 200 Content-Type: text/plain | Content-Length: 2 "[]" [error] js exception: TypeError: a response cannot be sent in this handler
set> r.status = 404; return 'x';
= 404 Content-Type: text/plain | Content-Length: 3 "[x]"
set> return [r.method, r.uri, r.internal, r.args.a, r.headersIn.host].join();
@ {"query": "a=b"}
= 200 Content-Type: text/plain | Content-Length: 34 "[GET,/meets/163,false,b,localhost]"
set> return r.requestText + '';
@ {"method": "POST", "body": "abc"}
= 200 Content-Type: text/plain | Content-Length: 11 "[undefined]"
set> return r.variables.arg_a;
+ if ($arg_a = b) { add_header X-If yes; }
@ {"query": "a=b"}
= 200 Content-Type: text/plain | Content-Length: 3 "[b]"
set> return 'a b';
+ set $copy $v_meets_166; add_header X-Copy $copy;
= 200 Content-Type: text/plain | Content-Length: 5 "[a b]"
stream filter> s.on('upload', function (d, f) { s.send(d, {last: true}); });
= "<hi\n>"
stream filter> s.on('upload', function (d, f) { s.send(d, {flush: true}); });
= "<hi\n>"
stream filter> s.on('upload', function (d, f) { s.send(d, {last: false, flush: false}); });
= "<hi\n>"
stream filter> s.on('upload', function (d, f) { s.send('', f); s.send(d, f); s.send('', f); });
= "<hi\n>"
stream filter> s.on('upload', function (d, f) { s.send(d, {from_upstream: true}); s.send(d, f); });
= "hi\n<hi\n>"
stream filter> s.on('download', function (d, f) { s.sendUpstream('again\n'); s.off('download'); s.send(d, f); });
= "<hi\n>"
stream filter> s.on('upload', function (d, f) { s.send(Buffer.from([255, 10]), f); }); s.on('download', function (d, f) { s.send(d.charCodeAt(1) + '', f); });
= "65533NaN"
stream filter> s.on('upstream', function (d, f) { s.send(d.toString('hex') + '\n', f); }); s.on('downstream', function (d, f) { s.send(d, f); });
= "<68690a\n>"
stream filter> s.on('upload', function (d, f) { s.warn(Object.prototype.toString.call(f) + Object.keys(f) + f); f.last = 5; s.send(d, f); });
= "" [warn] js: [object Stream Flags]from_upstream,last[object Stream Flags] [error] js exception: TypeError: Cannot assign to read-only property "last" of object [error] js exception: TypeError: Cannot convert object to primitive value
~ "" [warn] js: [object Stream Flags]from_upstream,last[object Stream Flags] [error] js exception: TypeError: Cannot assign to read only property 'last' of object '#<Object>'
stream filter> s.on('upload', function (d, f) { s.send({toString: function () { return 'obj\n'; }}, f); });
= "<obj\n>"
stream filter> s.on('upload', function (d, f) { s.send({toString: function () { throw new Error('str'); }}, f); });
= "" [error] js exception: TypeError: failed to get buffer arg [error] js exception: TypeError: Cannot convert object to primitive value
~ "" [error] js exception: TypeError: failed to get buffer arg
stream filter> s.on('upload', function (d, f) { s.send(Symbol('x'), f); });
= "" [error] js exception: TypeError: failed to get buffer arg [error] js exception: TypeError: Cannot convert object to primitive value
~ "" [error] js exception: TypeError: failed to get buffer arg
stream filter> s.on('upload', function (d, f) { s.send(d, {get last() { throw new Error('flag'); }}); });
= "<hi\n>"
stream filter> s.on('upload', function (d, f) { s.send(d, {get from_upstream() { throw new Error('flag'); }}); });
= "<hi\n>"
~ "" [error] js exception: Error: flag
stream filter> s.on('upload', function (d, f) { s.send(new Uint8Array([65, 10]), f); });
= "<A\n>"
stream filter> s.on('upload', function (d, f) { s.send(new Uint8Array([65, 10]).buffer, f); });
= "<A\n>"
stream filter> s.on('upload', function (d, f) { s.send(['a', 'b\n'], f); });
= "<a,b\n>"
stream filter> s.on('upload', function (d, f) { s.sendDownstream(); s.sendUpstream(); s.sendUpstream(null); s.send(d, f); });
= "<hi\n>"
stream filter> s.on('upload', function (d, f) { s.off('upload'); s.off('upload'); s.off('download'); s.send(d, f); });
= "<hi\n>"
stream filter> s.on('upload', function (d, f) { s.off('upload'); s.on('upload', function () {}); s.send(d, f); });
= "<hi\n>"
stream filter> s.on('upload', function (d, f) { s.off('upstream'); s.send(d, f); });
= "<hi\n>"
stream filter> s.on('upload', function (d, f) { s.on('download', function (d, f) { s.send('<' + d, f); }); s.send(d, f); });
= "<<hi\n><"
stream filter> s.on('upload', function (d, f) { s.status; s.variables.jsv = 'x'; s.send(s.variables.jsv + s.variables.status + s.variables.upstream_addr.length + d, f); });
= "<x00015hi\n>"
stream filter> s.setReturnValue('x'); s.on('upload', function (d, f) { s.send(d, f); });
= "<hi\n>"
stream filter> var n = 0; s.on('upload', function (d, f) { n++; s.send(n + d, f); }); s.on('download', function (d, f) { n++; s.send(n + d, f); });
= "2<1hi\n>3"
stream filter> s.on('upload', function (d, f) { s.decline(); });
= "" [error] js exception: TypeError: should not be called [error] js exception: TypeError: Cannot convert object to primitive value
~ "" [error] js exception: TypeError: should not be called
stream filter> s.on('upload', function (d, f) { s.deny(); });
= "" [error] js exception: TypeError: should not be called [error] js exception: TypeError: Cannot convert object to primitive value
~ "" [error] js exception: TypeError: should not be called
stream filter> s.on('upload', function (d, f) { s.send(d, f); return Promise.reject(new Error('x')); });
= "<hi\n>" [error] js unhandled rejection: Error: x
stream filter> s.on('upload', function (d, f) { ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x').then(function (r) { return r.text(); }).then(function (t) { s.sendUpstream(t + d); }); });
= "<xhi\n>"
stream filter> s.on(5, function () {});
= "" [error] js exception: TypeError: unknown event "5"
stream filter> s.on({toString: function () { return 'upload'; }}, function (d, f) { s.send(d + '', f); });
= "<hi\n>"
stream filter> s.on('UPLOAD', function () {});
= "" [error] js exception: TypeError: unknown event "UPLOAD"
stream filter> s.on('upload', 5);
= "" [error] js exception: TypeError: callback is not a function
stream filter> s.on('upload', {});
= "" [error] js exception: TypeError: callback is not a function
stream filter> s.on.call(null, 'upload', function () {});
= "" [error] js exception: TypeError: "this" is not an external
stream filter> s.on('download', function (d, f) { s.warn(d.length + '' + f.last + f.from_upstream); s.send(d, f); });
= "<hi\n>" [warn] js: 5falsetrue [warn] js: 0truetrue
stream access> s.on('upload', function (d, f) { s.warn(d + f.last); s.done(); });
@ {"send": ""}
= "passed" [warn] js: false
stream access> s.variables.jsv = 'a'; s.warn(s.variables.jsv + s.status + s.remoteAddress); s.allow();
= "passed" [warn] js: a0unix:
stream access> s.done(undefined);
= "passed"
stream access> s.done(NaN);
= "" [error] js exception: TypeError: invalid number
stream access> s.done(Infinity);
= "" [error] js exception: TypeError: invalid number
stream access> s.done(true);
= "" [error] js exception: TypeError: invalid number
stream access> s.allow('x');
= "" [error] js exception: TypeError: invalid number
stream access> s.deny(null);
= "" [error] js exception: TypeError: invalid number
stream access> s.decline(200);
= ""
stream access> s.done(200);
= ""
stream access> s.done(500);
= ""
stream access> s.warn(typeof s.done);  s.done();
= "passed" [warn] js: function
stream access> s.done(-3);
= ""
stream access> s.warn(typeof s.allow); s.allow();
= "passed" [warn] js: function
stream access> s.done(400);
= ""
stream access> s.done(502);
= ""
stream access> s.send('x');
= "" [error] js exception: TypeError: cannot send buffer in this handler
stream access> s.setReturnValue(s.allow());
= "passed"
stream access> await ngx.fetch('http://127.0.0.1:%%PORT_1%%/'); s.deny();
= ""
stream access> await crypto.subtle.digest('SHA-1', 'x'); s.allow();
= "passed"
stream access> s.off('download'); s.allow();
= "passed"
stream access> s.off('upload'); s.allow();
= "passed"
stream access> return s.deny();
= ""
stream preread> s.on('upload', function (d, f) { if (d.length) { s.variables.jsv = d.trim(); s.done(); } });
= "passed"
stream preread> s.on('upload', function (d, f) { if (d.length) { s.done(d === 'hi\n' ? 0 : 403); } });
= "passed"
stream preread> s.on('upload', function (d, f) { if (d.length) { s.decline(); s.warn('after'); } });
= "passed" [warn] js: after
stream preread> s.on('upload', function (d, f) { s.warn(d.length); if (d.length) { s.allow(); s.deny(); } });
= "" [warn] js: 0 [warn] js: 3
stream preread> s.on('upstream', function (d, f) { if (d.length) { s.warn(d.toString('hex')); s.allow(); } });
= "passed" [warn] js: 68690a
stream preread> s.on('downstream', function (d, f) { }); s.allow();
= "passed"
stream preread> s.on('upload', function (d, f) { s.on('download', function () {}); if (d.length) { s.allow(); } });
= "" [error] js exception: TypeError: event handler "download" is already set [error] js exception: TypeError: Cannot convert object to primitive value
~ "" [error] js exception: TypeError: event handler "download" is already set
stream preread> s.on('upload', function (d, f) { if (d.length) { s.setReturnValue('x'); throw 5; } });
= "" [error] js exception: 5 [error] js exception: TypeError: Cannot convert object to primitive value
~ "" [error] js exception: 5
stream preread> s.decline();
= "passed"
stream preread> s.deny();
= ""
stream preread> s.done(-5);
= "passed"
stream preread> await null; s.deny();
= ""
stream preread> await ngx.fetch('http://127.0.0.1:%%PORT_1%%/'); s.allow();
= "passed"
stream preread> setTimeout(function () { s.done(); }, 1);
= "passed"
stream preread> s.on('upload', function (d) { if (d.length) { setTimeout(function () { s.done(); }, 2); } });
= "passed"
stream preread> Promise.reject(new Error('x')); s.on('upload', function (d) { s.done(); });
= "passed" [error] js unhandled rejection: Error: x
~ "" [error] js unhandled rejection: Error: x
http> njs.on('exit', function () { r.warn('a'); }); njs.on('exit', function () { r.warn('b'); }); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [warn] js: b
http> njs.on('exit', function () { r.warn('a'); }); njs.on('exit', null); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 ""
http> njs.on('exit', null); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 ""
http> njs.on('exit', function () { r.warn([r.status, r.variables.status, r.variables.uri, r.method].join()); }); r.return(201, 'x');
= 201 Content-Type: text/plain | Content-Length: 1 "x" [warn] js: 201,201,/meets/245,GET
http> njs.on('exit', async function () { await null; r.warn('later'); }); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [warn] js: later
http> njs.on('exit', function () { setTimeout(function () { r.warn('timer'); }, 1); }); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 ""
http> njs.on('exit', function () { r.return(500); }); r.return(200, 'x');
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> njs.on('exit', function () { r.subrequest('/echo'); }); r.return(200, 'x');
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> njs.on('exit', function () { Promise.reject(new Error('x')); }); r.return(200, 'x');
= 200 Content-Type: text/plain | Content-Length: 1 "x" [error] js unhandled rejection: Error: x
http> njs.on('exit', function () { r.warn(arguments.length + typeof this); }); r.return(200, 'x');
= 200 Content-Type: text/plain | Content-Length: 1 "x" [warn] js: 0undefined
http> njs.on('exit', function () { r.warn('a'); }); throw new Error('x');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: Error: x [warn] js: a
http> njs.on(5, function () {});
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: hook type is not a string
http> njs.on('exit', {});
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: callback is not a function or null
stream access> njs.on('exit', function () { s.warn('a'); }); njs.on('exit', function () { s.warn('b'); }); s.allow();
= "passed" [warn] js: b
stream access> njs.on('exit', function () { s.warn('a' + s.status); }); s.deny();
= "" [warn] js: a403
stream filter> njs.on('exit', function () { s.warn('done'); }); s.on('upload', function (d, f) { s.send(d, f); });
= "<hi\n>" [warn] js: done
stream set> njs.on('exit', function () { s.warn('set'); }); return 'x';
= "[x]" [warn] js: set
http> console.dump({a: 1}); console.dump('a', [1]); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [info] js: { [info] js: a [info] js: [
http> console.time(undefined); console.time('a'); console.time('a'); console.timeEnd('b'); console.timeEnd({}); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [info] js: Timer "a" already exists. [info] js: Timer "b" doesn't exist. [info] js: Timer "[object Object]" doesn't exist.
http> console.time(null); console.time(null); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [info] js: Timer "null" already exists.
http> console.log.call(null, 'x'); var l = console.log; l('y'); r.return(200);
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: external is not set
~ 200 Content-Type: text/plain | Content-Length: 0 "" [info] js: x [info] js: y
http> console.time(Symbol('x')); r.return(200);
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: Cannot convert a Symbol value to a string
~ 200 Content-Type: text/plain | Content-Length: 0 ""
http> console.log(r.uri.length > 1, new Date(0), /x/g, [undefined, null], {a: undefined}); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [info] js: true [info] js: 1970-01-01T00:00:00.000Z [info] js: /x/g [info] js: [undefined,null] [info] js: {a:undefined}
http> console.log('%s %d', 'a', 5); console.info({toString: function () { throw new Error('x'); }}); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [info] js: %s %d [info] js: a [info] js: 5 [info] js: {toString:[Function: toString]}
http> console.error(new TypeError('x').message, -0, NaN, 1e21); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [error] js: x [error] js: -0 [error] js: NaN [error] js: 1e+21
http> setTimeout(function () { setTimeout(function () { r.return(200, 'nested'); }, 1); }, 1);
= 200 Content-Type: text/plain | Content-Length: 6 "nested"
http> var out = []; setTimeout(function () { out.push(1); }, 3); setTimeout(function () { out.push(2); }, 1); setTimeout(function () { out.push(0); }); setTimeout(function () { r.return(200, out.join()); }, 8);
= 200 Content-Type: text/plain | Content-Length: 5 "0,2,1"
http> var id = setTimeout(function () { r.return(500); }, 1); setTimeout(function () { r.return(200, 'x'); }, 5); clearTimeout(id);
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> setTimeout(function () { r.warn('in timer'); r.return(200); }, 1);
= 200 Content-Type: text/plain | Content-Length: 0 "" [warn] js: in timer
http> setTimeout(function (a, b) { r.return(200, [a, b, arguments.length].join()); }, 1, 'x', 'y', 'z');
= 200 Content-Type: text/plain | Content-Length: 5 "x,y,3"
http> setTimeout(async function () { await null; throw new Error('in timer'); }, 1);
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: Error: in timer
http> setTimeout(function () { Promise.reject(new Error('in timer')); r.return(200, 'x'); }, 1);
= 200 Content-Type: text/plain | Content-Length: 1 "x" [error] js unhandled rejection: Error: in timer
http> var id = setTimeout(function () { clearTimeout(id); r.return(200, 'self'); }, 1);
= 200 Content-Type: text/plain | Content-Length: 4 "self"
http> setImmediate(function (a) { r.return(200, a); }, 'now');
= 200 Content-Type: text/plain | Content-Length: 3 "now"
http> Promise.resolve().then(function () { r.return(200, 'first'); }); r.warn('second');
= 200 Content-Type: text/plain | Content-Length: 5 "first" [warn] js: second
http> (async function () { r.warn('1'); await null; r.warn('3'); r.return(200); })(); r.warn('2');
= 200 Content-Type: text/plain | Content-Length: 0 "" [warn] js: 1 [warn] js: 2 [warn] js: 3
http> var o = {then: function (done) { done('thenable'); }}; r.return(200, await o);
= 200 Content-Type: text/plain | Content-Length: 8 "thenable"
http> return {then: function () { r.return(200, 'thenable'); }};
= 500 Content-Type: text/html "page 500 Internal Server Error"
~ 200 Content-Type: text/plain | Content-Length: 8 "thenable"
http> try { await Promise.any([Promise.reject(1), Promise.reject(2)]); } catch (e) { r.return(200, e.name + e.errors); }
= 200 Content-Type: text/plain | Content-Length: 17 "AggregateError1,2"
http> r.return(200, njs.dump(await Promise.allSettled([Promise.resolve(1), Promise.reject('x')])));
= 200 Content-Type: text/plain | Content-Length: 61 "[{status:'fulfilled',value:1},{status:'rejected',reason:'x'}]"
http> var s = await Promise.all([1, 2].map(async function (n) { await null; return n * 2; })); r.return(200, s.join());
= 200 Content-Type: text/plain | Content-Length: 3 "2,4"
http> new Promise(function (d, f) { setTimeout(f, 1, new Error('late')); });
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: Error: late
http> new Promise(function (d, f) { setTimeout(f, 1, new Error('late')); }).catch(function (e) { r.return(200, e.message); });
= 200 Content-Type: text/plain | Content-Length: 4 "late"
http> new Promise(function () {});
= 500 Content-Type: text/html "page 500 Internal Server Error"
http> await Promise.resolve();
= 500 Content-Type: text/html "page 500 Internal Server Error"
access> new Promise(function () {});
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
http> r.return(200, String(ngx.worker_id) + process.argv.length + typeof process.env.PATH);
= 200 Content-Type: text/plain | Content-Length: 11 "09undefined"
~ 200 Content-Type: text/plain | Content-Length: 11 "05undefined"
http> r.return(200, Object.prototype.toString.call(process.env) + ('PATH' in process.env) + (process.env.nope === undefined));
= 200 Content-Type: text/plain | Content-Length: 24 "[object Object]falsetrue"
http> r.return(200, typeof njs.memoryStats + typeof njs.version + njs.engine.length);
= 200 Content-Type: text/plain | Content-Length: 13 "objectstring3"
~ 200 Content-Type: text/plain | Content-Length: 13 "objectstring2"
http> r.x = 'c'; r.return(200, 'x');
+ js_header_filter meets.row292; js_body_filter meets.row293;
= 200 Content-Type: text/plain | Transfer-Encoding: chunked "xch"
head> delete r.headersOut['Content-Length']; r.x = (r.x || '') + 'h';
= 200 Content-Type: text/plain | Transfer-Encoding: chunked "text"
body> r.sendBuffer(data + (r.x || 'none'), flags);
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | X-One: a "textnone"
access> r.x = 'a';
+ js_content meets.row295;
= 200 Content-Type: text/plain | Content-Length: 3 "aas"
http> r.return(200, r.x + r.variables.v_meets_296);
= 200 Content-Type: text/plain | Content-Length: 10 "undefineds"
set> r.x = (r.x || '') + 's'; return r.x;
= 200 Content-Type: text/plain | Content-Length: 3 "[s]"
http> globalThis.shared = 'g'; r.return(200, r.variables.v_meets_298);
= 200 Content-Type: text/plain | Content-Length: 6 "string"
set> return typeof globalThis.shared;
= 200 Content-Type: text/plain | Content-Length: 11 "[undefined]"
~ 200 Content-Type: text/plain | Content-Length: 8 "[string]"
