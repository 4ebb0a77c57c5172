# js_preload_object.
> pre.a.b[1].c
= 2
> Object.prototype.toString.call(pre)
= "[object Object]"
> Object.prototype.toString.call(other)
= "[object Array]"
> Array.isArray(other)
= true
> typeof pre.toString
= "undefined"
> typeof other.map
= "undefined"
~ "function"
> typeof other.length
= "number"
> other.length
= 3
> Array.prototype.map.call(other, function (x) { return typeof x; })
= ["number","object","object"]
> (function () { pre.a = 1; return pre.a; })()
= throws TypeError: Cannot assign to read-only property "a" of object
~ throws TypeError: Cannot assign to read only property 'a' of object '[object Object]'
> (function () { pre.x = 1; return pre.x; })()
= throws TypeError: Cannot add property "x", object is not extensible
~ throws TypeError: Cannot add property x, object is not extensible
> (function () { delete pre.a; return pre.a; })()
= throws TypeError: Cannot delete property "a" of object
~ throws TypeError: Cannot delete property 'a' of [object Object]
> (function () { pre.a.b[0] = 2; return pre.a.b; })()
= throws TypeError: Cannot assign to read-only property "0" of array
~ throws TypeError: Cannot assign to read only property '0' of object '[object Array]'
> (function () { pre.a.b.push(2); return pre.a.b; })()
= throws TypeError: undefined is not a function
~ throws TypeError: Cannot add property 2, object is not extensible
> (function () { Array.prototype.push.call(pre.a.b, 2); return pre.a.b; })()
= throws TypeError: Cannot add property "2", object is not extensible
~ throws TypeError: Cannot add property 2, object is not extensible
> (function () { other[0] = 2; return other; })()
= throws TypeError: Cannot assign to read-only property "0" of array
~ throws TypeError: Cannot assign to read only property '0' of object '[object Array]'
> (function () { other.length = 0; return other.length; })()
= 0
~ throws TypeError: Cannot assign to read only property 'length' of object '[object Array]'
> (function () { pre.a.b[1].c = 5; return pre.a.b[1].c; })()
= throws TypeError: Cannot assign to read-only property "c" of object
~ throws TypeError: Cannot assign to read only property 'c' of object '[object Object]'
> Object.isFrozen(pre)
= true
> Object.isFrozen(pre.a)
= true
> Object.isExtensible(pre.a.b)
= false
> Object.isSealed(other[2])
= true
> Object.getPrototypeOf(pre)
= null
> Object.getPrototypeOf(other)
= null
~ []
> Object.setPrototypeOf(pre, {})
= throws TypeError: Cannot set property "prototype", object is not extensible
~ throws TypeError: [object Object] is not extensible
> Object.defineProperty(pre, 'y', {value: 1})
= throws TypeError: Cannot add property "y", object is not extensible
~ throws TypeError: Cannot define property y, object is not extensible
> Object.getOwnPropertyDescriptor(pre, 'text')
= {value:"x",writable:false,enumerable:true,configurable:false}
> Object.keys(pre)
= ["a","text","n","a-b"]
> Object.values(other)
= throws TypeError: undefined is not a function
~ [1,[2,3],{d:"e"}]
> JSON.stringify(pre)
= "{\"a\":{\"b\":[1,{\"c\":2}]},\"text\":\"x\",\"n\":null,\"a-b\":true}"
> JSON.stringify(other)
= "[1,[2,3],{\"d\":\"e\"}]"
> njs.dump(pre)
= "{a:{b:[1,{c:2}]},text:'x',n:null,a-b:true}"
> njs.dump(other)
= "[1,[2,3],{d:'e'}]"
> String(other)
= throws TypeError: Cannot convert object to primitive value
> pre + ''
= throws TypeError: Cannot convert object to primitive value
> (function () { var out = []; for (var k in pre) { out.push(k); } return out; })()
= ["a","text","n","a-b"]
> (function () { var out = []; for (var k in other) { out.push(k); } return out; })()
= ["0","1","2"]
> pre.text.toUpperCase()
= "X"
> pre['a-b']
= true
> pre.n
= null
> pre.hasOwnProperty
= undefined
> pre instanceof Object
= false
> other instanceof Array
= false
~ true
> globalThis.pre === pre
= true
> 'pre' in globalThis
= true
> Object.assign({}, pre).text
= "x"
> [].concat(other).length
= 3
> other.concat
= undefined
~ function
stream set> return pre.text + other.length;
= "[x3]"
stream set> pre.x = 1; return 'v';
= "[]" [error] js exception: TypeError: Cannot add property "x", object is not extensible
~ "[]" [error] js exception: TypeError: Cannot add property x, object is not extensible
