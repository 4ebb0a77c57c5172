# What objects have from all objects.
> ['hasOwnProperty', 'toString', 'valueOf', 'isPrototypeOf', 'propertyIsEnumerable', 'constructor'].map(function (n) { return typeof r.headersIn[n]; }).join()
= "function,function,function,function,function,function"
> ['hasOwnProperty', 'toString', 'valueOf', 'isPrototypeOf', 'propertyIsEnumerable', 'constructor'].map(function (n) { return typeof r.headersOut[n]; }).join()
= "function,function,function,function,function,function"
> ['hasOwnProperty', 'toString', 'valueOf', 'isPrototypeOf', 'propertyIsEnumerable', 'constructor'].map(function (n) { return typeof r.variables[n]; }).join()
= "function,function,function,function,function,function"
> ['hasOwnProperty', 'toString', 'valueOf', 'isPrototypeOf', 'propertyIsEnumerable', 'constructor'].map(function (n) { return typeof r.args[n]; }).join()
= "function,function,function,function,function,function"
> ['hasOwnProperty', 'toString', 'valueOf', 'isPrototypeOf', 'propertyIsEnumerable', 'constructor'].map(function (n) { return typeof ngx.shared[n]; }).join()
= "function,function,function,function,function,function"
> ['hasOwnProperty', 'toString', 'valueOf', 'isPrototypeOf', 'propertyIsEnumerable', 'constructor'].map(function (n) { return typeof ngx.shared.hs[n]; }).join()
= "function,function,function,function,function,function"
> ['hasOwnProperty', 'toString', 'valueOf', 'isPrototypeOf', 'propertyIsEnumerable', 'constructor'].map(function (n) { return typeof r[n]; }).join()
= "function,function,function,function,function,function"
> ['hasOwnProperty', 'toString', 'valueOf', 'isPrototypeOf', 'propertyIsEnumerable', 'constructor'].map(function (n) { return typeof ngx[n]; }).join()
= "function,function,function,function,function,function"
> ['hasOwnProperty', 'toString', 'valueOf', 'isPrototypeOf', 'propertyIsEnumerable', 'constructor'].map(function (n) { return typeof njs[n]; }).join()
= "function,function,function,function,function,function"
> ['hasOwnProperty', 'toString', 'valueOf', 'isPrototypeOf', 'propertyIsEnumerable', 'constructor'].map(function (n) { return typeof r.rawVariables[n]; }).join()
= "function,function,function,function,function,function"
> ['hasOwnProperty', 'toString', 'valueOf', 'isPrototypeOf', 'propertyIsEnumerable', 'constructor'].map(function (n) { return typeof pre[n]; }).join()
= "undefined,undefined,undefined,undefined,undefined,undefined"
> ['hasOwnProperty', 'toString'].map(function (n) { return typeof process.env[n]; }).join()
= "function,function"
> [r.headersIn.hasOwnProperty('Host'), r.headersIn.hasOwnProperty('nope'), r.headersIn.hasOwnProperty('host')]
= [true,false,true]
> (function () { var all = []; for (var h in r.headersIn) { if (r.headersIn.hasOwnProperty(h)) { all.push(h); } } return all.join(); })()
= "Host,Connection"
> (function () { var all = []; for (var a in r.args) { if (r.args.hasOwnProperty(a)) { all.push(a); } } return all.join(); })()
@ {"query": "a=1&b=2"}
= "a,b"
> (function () { r.headersOut.a = 'b'; var all = []; for (var h in r.headersOut) { if (r.headersOut.hasOwnProperty(h)) { all.push(h); } } return all.join(); })()
= "a"
> r.variables.hasOwnProperty('uri')
= true
> [String(r.headersIn), r.headersIn.toString(), r.headersIn + '', r.args.toString(), r.variables.toString(), String(r.variables)]
= ["[object Object]","[object Object]","[object Object]","[object Object]","[object Object]","[object Object]"]
> [r.headersIn.toString, r.headersIn.hasOwnProperty].map(function (v) { return typeof v === 'function' ? 'function' : v; })
@ {"headers": {"toString": "mine", "hasOwnProperty": "mine"}}
= ["function","function"]
> [r.args.toString, r.args.hasOwnProperty, r.args.valueOf].map(function (v) { return typeof v === 'function' ? 'function' : v; })
@ {"query": "toString=mine&valueOf=mine"}
= [[function,"mine"],"function",[function,"mine"]]
~ ["mine","function","mine"]
> ['toString' in r.headersIn, 'hasOwnProperty' in r.headersIn, 'nope' in r.headersIn, 'toString' in r.variables, 'toString' in r.args]
= [true,true,false,true,true]
> [Object.keys(r.headersIn).indexOf('toString'), JSON.stringify(r.headersIn).indexOf('toString')]
= [-1,-1]
> [r.headersIn.__proto__ === Object.prototype, r.headersIn.__proto__ === undefined, Object.getPrototypeOf(r.headersIn) === Object.prototype, Object.getPrototypeOf(r.headersIn) === null]
= [true,false,true,false]
> [r.headersIn instanceof Object, r.headersOut instanceof Object, r.variables instanceof Object, r.args instanceof Object, r instanceof Object, ngx.shared instanceof Object]
= [true,true,true,true,true,true]
> (function (h) { return [h.hasOwnProperty('a'), typeof h.toString, h instanceof Object, Object.getPrototypeOf(h) === null]; })(new Headers({a: '1'}))
= [true,"function",true,false]
> (function (p) { return [p.hasOwnProperty('a'), typeof p.toString, Object.getPrototypeOf(p) === Object.prototype]; })(querystring.parse('a=1'))
= [true,"function",true]
stream set> return ['hasOwnProperty', 'toString', 'valueOf', 'constructor'].map(function (n) { return typeof s.variables[n]; }).join();
= "[function,function,function,function]"
stream set> return ['hasOwnProperty', 'toString', 'valueOf', 'constructor'].map(function (n) { return typeof s[n]; }).join();
= "[function,function,function,function]"
# Variables are not found by going through them.
> [Object.keys(r.variables), Object.entries(r.rawVariables), JSON.stringify(r.variables), njs.dump(r.variables), Object.assign({}, r.variables)]
= [[],[],"{}","{}",{}]
> (function () { var n = 0; for (var k in r.variables) { n++; } return n; })()
= 0
> [r.variables.hasOwnProperty('uri'), r.variables.propertyIsEnumerable('uri'), 'uri' in r.variables, Object.getOwnPropertyNames(r.variables)]
= [true,false,true,[]]
stream set> return Object.keys(s.variables).length + ' ' + s.variables.hasOwnProperty('protocol');
= "[0 true]"
