# What a client makes its request depend on does not matter for what a script answers.
http> r.headersOut.ETag = '"a"'; r.return(200, 'x');
@ {"headers": {"If-None-Match": "\"a\""}}
= 200 Content-Type: text/plain | Content-Length: 1 | ETag: "a" "x"
http> r.headersOut['Last-Modified'] = 'Thu, 01 Jan 2026 00:00:00 GMT'; r.return(200, 'x');
@ {"headers": {"If-Modified-Since": "Thu, 01 Jan 2026 00:00:00 GMT"}}
= 200 Content-Type: text/plain | Content-Length: 1 | Last-Modified: DATE "x"
http> r.return(200, 'x');
@ {"headers": {"If-Match": "\"a\""}}
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> r.return(200, 'x');
@ {"headers": {"If-Unmodified-Since": "Thu, 01 Jan 2020 00:00:00 GMT"}}
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> r.headersOut.ETag = '"a"'; r.status = 200; r.sendHeader(); r.send('x'); r.finish();
@ {"headers": {"If-None-Match": "\"a\""}}
= 200 Content-Type: text/plain | Transfer-Encoding: chunked | ETag: "a" "x"
http> r.headersOut.ETag = '"a"'; r.internalRedirect('/file.txt');
@ {"headers": {"If-Match": "\"a\""}}
= 412 Content-Type: text/html "page 412 Precondition Failed"
head> r.headersOut.ETag = '"a"';
@ {"headers": {"If-None-Match": "\"a\""}}
= 200 Content-Type: text/plain | Content-Length: 4 | ETag: "a" "text"
access> r.headersOut.ETag = '"a"'; r.return(200, 'x');
@ {"headers": {"If-None-Match": "\"a\""}}
= 200 Content-Type: text/plain | Content-Length: 1 | ETag: "a" "x"
# Forms.
http> var f = await r.readRequestForm(); r.return(200, JSON.stringify([f.get('f'), f.get('f').name, f.getAll('f').length, f.hasFiles(), Object.keys(f.get('f')), f.get('a')]));
@ {"method": "POST", "body": "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\ntext\r\n--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B--\r\n", "headers": {"Content-Type": "multipart/form-data; boundary=B"}}
= 200 Content-Type: text/plain | Content-Length: 46 "[{\"name\":\"x.txt\"},\"x.txt\",1,true,[\"name\"],\"1\"]"
http> var f = await r.readRequestForm(); r.return(200, Object.prototype.toString.call(f) + JSON.stringify(f) + Object.keys(f).sort().join());
@ {"method": "POST", "body": "a=1&b=2", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}
= 200 Content-Type: text/plain | Content-Length: 53 "[object RequestForm]{}forEach,get,getAll,has,hasFiles"
~ 200 Content-Type: text/plain | Content-Length: 22 "[object RequestForm]{}"
http> var f = await r.readRequestForm(); var all = []; f.forEach(function (v, k, x) { all.push([v, k, typeof x]); }); r.return(200, JSON.stringify(all));
@ {"method": "POST", "body": "a=1&b=2&a=3", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}
= 200 Content-Type: text/plain | Content-Length: 58 "[[\"1\",\"a\",\"object\"],[\"2\",\"b\",\"object\"],[\"3\",\"a\",\"object\"]]"
http> var f = await r.readRequestForm(); r.return(200, [tried(function () { return f.get(); }), tried(function () { return f.getAll(5); }), tried(function () { return f.has(null); }), tried(function () { return f.forEach(); })].join());
@ {"method": "POST", "body": "a=1&b=2&a=3", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}
= 200 Content-Type: text/plain | Content-Length: 60 "null,[],false,throws TypeError: \"callback\" is not a function"
http> r.return(200, [await later(function () { return r.readRequestForm({maxKeys: 0}); }), await later(function () { return r.readRequestForm({maxKeys: -1}); }), await later(function () { return r.readRequestForm({maxKeys: 'x'}); }), await later(function () { return r.readRequestForm(5); })].map(function (t) { return t.slice(0, 60); }).join());
@ {"method": "POST", "body": "a=1&b=2", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}
= 200 Content-Type: text/plain | Content-Length: 188 "throws TypeError: \"maxKeys\" must be a positive integer,throws TypeError: \"maxKeys\" must be a positive integer,throws TypeError: invalid number,throws TypeError: \"options\" must be an object"
# What is said of a body that subrequests get.
http> var s = await r.subrequest('/echo', {method: 'POST', body: undefined}); r.return(s.status, s.responseText);
@ {"method": "POST", "body": "own"}
= 200 Content-Type: text/plain | Content-Length: 40 "[\"POST\",\"/echo\",null,null,true,\"object\"]"
~ 200 Content-Type: text/plain | Content-Length: 41 "[\"POST\",\"/echo\",null,\"own\",true,\"object\"]"
# What is wrong with a form.
http> try { var f = await r.readRequestForm(); var o = []; f.forEach(function (v, k) { o.push(k + '=' + (typeof v === 'string' ? v : 'file ' + v.name)); }); r.return(200, o.join('|')); } catch (e) { r.return(200, e.name + ': ' + e.message); }
@ {"method": "POST", "headers": {"Content-Type": "multipart/form-data; boundary=a b"}, "body": "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nv\r\n--B--\r\n"}
= 200 Content-Type: text/plain | Content-Length: 33 "TypeError: malformed content type"
http> try { var f = await r.readRequestForm(); var o = []; f.forEach(function (v, k) { o.push(k + '=' + (typeof v === 'string' ? v : 'file ' + v.name)); }); r.return(200, o.join('|')); } catch (e) { r.return(200, e.name + ': ' + e.message); }
@ {"method": "POST", "headers": {"Content-Type": "multipart/form-data; boundary=\"a*b\""}, "body": "--a*b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nv\r\n--a*b--\r\n"}
= 200 Content-Type: text/plain | Content-Length: 3 "a=v"
http> try { var f = await r.readRequestForm(); var o = []; f.forEach(function (v, k) { o.push(k + '=' + (typeof v === 'string' ? v : 'file ' + v.name)); }); r.return(200, o.join('|')); } catch (e) { r.return(200, e.name + ': ' + e.message); }
@ {"method": "POST", "headers": {"Content-Type": "multipart/form-data; boundary=BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"}, "body": "--BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nv\r\n--BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB--\r\n"}
= 200 Content-Type: text/plain | Content-Length: 3 "a=v"
http> try { var f = await r.readRequestForm(); var o = []; f.forEach(function (v, k) { o.push(k + '=' + (typeof v === 'string' ? v : 'file ' + v.name)); }); r.return(200, o.join('|')); } catch (e) { r.return(200, e.name + ': ' + e.message); }
@ {"method": "POST", "headers": {"Content-Type": "multipart/form-data; boundary=BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"}, "body": "--BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nv\r\n--BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB--\r\n"}
= 200 Content-Type: text/plain | Content-Length: 37 "TypeError: invalid multipart boundary"
http> try { var f = await r.readRequestForm(); var o = []; f.forEach(function (v, k) { o.push(k + '=' + (typeof v === 'string' ? v : 'file ' + v.name)); }); r.return(200, o.join('|')); } catch (e) { r.return(200, e.name + ': ' + e.message); }
@ {"method": "POST", "headers": {"Content-Type": "multipart/form-data; boundary=B; charset=a; charset=b"}, "body": "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nv\r\n--B--\r\n"}
= 200 Content-Type: text/plain | Content-Length: 3 "a=v"
http> try { var f = await r.readRequestForm(); var o = []; f.forEach(function (v, k) { o.push(k + '=' + (typeof v === 'string' ? v : 'file ' + v.name)); }); r.return(200, o.join('|')); } catch (e) { r.return(200, e.name + ': ' + e.message); }
@ {"method": "POST", "headers": {"Content-Type": "multipart/form-data; boundary=B; boundary=B"}, "body": "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nv\r\n--B--\r\n"}
= 200 Content-Type: text/plain | Content-Length: 39 "TypeError: duplicate boundary parameter"
http> try { var f = await r.readRequestForm(); var o = []; f.forEach(function (v, k) { o.push(k + '=' + (typeof v === 'string' ? v : 'file ' + v.name)); }); r.return(200, o.join('|')); } catch (e) { r.return(200, e.name + ': ' + e.message); }
@ {"method": "POST", "headers": {"Content-Type": "multipart/form-data \t; boundary = B"}, "body": "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nv\r\n--B--\r\n"}
= 200 Content-Type: text/plain | Content-Length: 3 "a=v"
http> try { var f = await r.readRequestForm(); var o = []; f.forEach(function (v, k) { o.push(k + '=' + (typeof v === 'string' ? v : 'file ' + v.name)); }); r.return(200, o.join('|')); } catch (e) { r.return(200, e.name + ': ' + e.message); }
@ {"method": "POST", "headers": {"Content-Type": "multipart/mixed; boundary=\""}, "body": "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nv\r\n--B--\r\n"}
= 200 Content-Type: text/plain | Content-Length: 35 "TypeError: unsupported content type"
http> try { var f = await r.readRequestForm(); var o = []; f.forEach(function (v, k) { o.push(k + '=' + (typeof v === 'string' ? v : 'file ' + v.name)); }); r.return(200, o.join('|')); } catch (e) { r.return(200, e.name + ': ' + e.message); }
@ {"method": "POST", "headers": {"Content-Type": "multipart/form-data; boundary=B"}, "body": "--B\r\n\r\n\r\nv\r\n--B--\r\n"}
= 200 Content-Type: text/plain | Content-Length: 45 "TypeError: missing Content-Disposition header"
http> try { var f = await r.readRequestForm(); var o = []; f.forEach(function (v, k) { o.push(k + '=' + (typeof v === 'string' ? v : 'file ' + v.name)); }); r.return(200, o.join('|')); } catch (e) { r.return(200, e.name + ': ' + e.message); }
@ {"method": "POST", "headers": {"Content-Type": "multipart/form-data; boundary=B"}, "body": "--B\r\nContent-Disposition: form-data; name=\"a\"; name=\"b\"\r\n folded\r\n\r\nv\r\n--B--\r\n"}
= 200 Content-Type: text/plain | Content-Length: 35 "TypeError: duplicate name parameter"
http> try { var f = await r.readRequestForm(); var o = []; f.forEach(function (v, k) { o.push(k + '=' + (typeof v === 'string' ? v : 'file ' + v.name)); }); r.return(200, o.join('|')); } catch (e) { r.return(200, e.name + ': ' + e.message); }
@ {"method": "POST", "headers": {"Content-Type": "multipart/form-data; boundary=B"}, "body": "--B\r\n:x\r\nContent-Disposition: form-data; x=1; x=2; name = a\r\n\r\nv\r\n--B--\r\n"}
= 200 Content-Type: text/plain | Content-Length: 3 "a=v"
http> try { var f = await r.readRequestForm(); var o = []; f.forEach(function (v, k) { o.push(k + '=' + (typeof v === 'string' ? v : 'file ' + v.name)); }); r.return(200, o.join('|')); } catch (e) { r.return(200, e.name + ': ' + e.message); }
@ {"method": "POST", "headers": {"Content-Type": "multipart/form-data; boundary=B"}, "body": "--B\r\nContent-Disposition: form-data ; name=\"a\"\r\n\r\nv\r\n--B--\r\n"}
= 200 Content-Type: text/plain | Content-Length: 39 "TypeError: unsupported disposition type"
http> try { var f = await r.readRequestForm(); var o = []; f.forEach(function (v, k) { o.push(k + '=' + (typeof v === 'string' ? v : 'file ' + v.name)); }); r.return(200, o.join('|')); } catch (e) { r.return(200, e.name + ': ' + e.message); }
@ {"method": "POST", "headers": {"Content-Type": "multipart/form-data; boundary=B"}, "body": "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n--B--\r\n"}
= 200 Content-Type: text/plain | Content-Length: 35 "TypeError: truncated multipart body"
http> try { var f = await r.readRequestForm(); var o = []; f.forEach(function (v, k) { o.push(k + '=' + (typeof v === 'string' ? v : 'file ' + v.name)); }); r.return(200, o.join('|')); } catch (e) { r.return(200, e.name + ': ' + e.message); }
@ {"method": "POST", "headers": {"Content-Type": "multipart/form-data; boundary=B"}, "body": "--B\r\nno colon\r\n\r\nvalue"}
= 200 Content-Type: text/plain | Content-Length: 37 "TypeError: malformed multipart header"
http> try { var f = await r.readRequestForm(); var o = []; f.forEach(function (v, k) { o.push(k + '=' + (typeof v === 'string' ? v : 'file ' + v.name)); }); r.return(200, o.join('|')); } catch (e) { r.return(200, e.name + ': ' + e.message); }
@ {"method": "POST", "headers": {"Content-Type": "application/x-www-form-urlencoded; boundary=\"\""}, "body": "a=1"}
= 200 Content-Type: text/plain | Content-Length: 37 "TypeError: invalid multipart boundary"
