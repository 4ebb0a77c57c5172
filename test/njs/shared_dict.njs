# ngx.shared.
> Object.prototype.toString.call(ngx.shared)
= "[object GlobalShared]"
> Object.keys(ngx.shared).sort()
= ["hevict","hfull","hn","hs","ht","htn"]
> 'hs' in ngx.shared
= true
> 'nope' in ngx.shared
= false
> ngx.shared.nope
= undefined
> ngx.shared.nope = 1
= throws TypeError: Cannot assign to read-only property "nope" of object
~ throws TypeError
> delete ngx.shared.hs
= throws TypeError: Cannot delete property "hs" of object
~ throws TypeError
> JSON.stringify(ngx.shared)
= "{\"hevict\":{\"capacity\":32768,\"name\":\"hevict\",\"type\":\"string\"},\"hfull\":{\"capacity\":32768,\"name\":\"hfull\",\"type\":\"string\"},\"htn\":{\"capacity\":32768,\"name\":\"htn\",\"type\":\"number\"},\"ht\":{\"capacity\":32768,\"name\":\"ht\",\"type\":\"string\"},\"hn\":{\"capacity\":32768,\"name\":\"hn\",\"type\":\"number\"},\"hs\":{\"capacity\":32768,\"name\":\"hs\",\"type\":\"string\"}}"
~ "{\"hs\":{\"capacity\":32768,\"name\":\"hs\",\"type\":\"string\"},\"hn\":{\"capacity\":32768,\"name\":\"hn\",\"type\":\"number\"},\"ht\":{\"capacity\":32768,\"name\":\"ht\",\"type\":\"string\"},\"htn\":{\"capacity\":32768,\"name\":\"htn\",\"type\":\"number\"},\"hfull\":{\"capacity\":32768,\"name\":\"hfull\",\"type\":\"string\"},\"hevict\":{\"capacity\":32768,\"name\":\"hevict\",\"type\":\"string\"}}"
> njs.dump(ngx.shared.hs)
= "SharedDict {add:[Function: add],capacity:32768,clear:[Function: clear],freeSpace:[Function: freeSpace],delete:[Function: delete],incr:[Function: incr],items:[Function: items],get:[Function: get],has:[Function: has],keys:[Function: keys],name:'hs',pop:[Function: pop],replace:[Function: replace],set:[Function: set],size:[Function: size],ttl:[Function: ttl],type:'string'}"
> String(ngx.shared.hs)
= "[object SharedDict]"
> Object.prototype.toString.call(ngx.shared.hs)
= "[object SharedDict]"
> Object.keys(ngx.shared.hs).sort()
= ["add","capacity","clear","delete","freeSpace","get","has","incr","items","keys","name","pop","replace","set","size","ttl","type"]
> Object.getOwnPropertyNames(ngx.shared.hs).sort()
= ["add","capacity","clear","delete","freeSpace","get","has","incr","items","keys","name","pop","replace","set","size","ttl","type"]
> JSON.stringify(ngx.shared.hs)
= "{\"capacity\":32768,\"name\":\"hs\",\"type\":\"string\"}"
> [ngx.shared.hs.name, ngx.shared.hs.capacity, ngx.shared.hs.type, ngx.shared.hn.type]
= ["hs",32768,"string","number"]
> ngx.shared.hs === ngx.shared.hs
= false
~ true
> ngx.shared.hs.nope
= undefined
> (function (d) { return [d.set('a', 'b') === d, d.get('a'), d.has('a'), d.size()]; })(ngx.shared.hs)
= [true,"b",true,1]
> ngx.shared.hs.get('a')
= "b"
> ngx.shared.hs.get('nope')
= undefined
> ngx.shared.hs.get()
= undefined
> ngx.shared.hs.get(null)
= undefined
> ngx.shared.hs.get(Symbol('a'))
= throws TypeError: Cannot convert a Symbol value to a string
> ngx.shared.hs.get({toString: function () { throw new Error('str'); }})
= throws Error: str
> ngx.shared.hs.has('nope')
= false
> ngx.shared.hs.has()
= false
> ngx.shared.hs.set('a')
= throws TypeError: string value is expected
> ngx.shared.hs.set()
= throws TypeError: string value is expected
> ngx.shared.hs.set('a', 5)
= throws TypeError: string value is expected
> ngx.shared.hs.set('a', null)
= throws TypeError: string value is expected
> ngx.shared.hs.set('a', undefined)
= throws TypeError: string value is expected
> ngx.shared.hs.set('a', {})
= throws TypeError: string value is expected
> ngx.shared.hs.set('a', Buffer.from('x'))
= throws TypeError: string value is expected
> ngx.shared.hs.set('a', true)
= throws TypeError: string value is expected
> (function (d) { d.set('', 'e'); return [d.get(''), d.get(null), d.get(undefined), d.delete('')]; })(ngx.shared.hs)
= ["e","e","e",true]
> (function (d) { d.set(5, 'five'); return [d.get('5'), d.get(5), d.delete(5)]; })(ngx.shared.hs)
= ["five","five",true]
> (function (d) { d.set('é€', 'ü€😀'); return [d.get('é€'), d.delete('é€')]; })(ngx.shared.hs)
= ["ü€😀",true]
> (function (d) { d.set('nul', 'a\0b'); return [d.get('nul'), d.delete('nul')]; })(ngx.shared.hs)
= ["a\u0000b",true]
> (function (d) { d.set('empty', ''); return [d.get('empty'), d.has('empty'), d.delete('empty')]; })(ngx.shared.hs)
= ["",true,true]
> ngx.shared.hs.set('a', 'b', 5)
= throws TypeError: shared dict must be declared with timeout
> ngx.shared.hs.set('a', 'b', undefined) === ngx.shared.hs
= false
~ true
> ngx.shared.ht.set('a', 'b', 'x')
= throws TypeError: timeout is not a number
> ngx.shared.ht.set('a', 'b', 0)
= throws TypeError: timeout must be greater than or equal to 1
> ngx.shared.ht.set('a', 'b', -1)
= [object SharedDict]{add:function,capacity:32768,clear:function,freeSpace:function,delete:function,incr:function,items:function,get:function,has:function,keys:function,name:"ht",pop:function,replace:function,set:function,size:function,ttl:function,type:"string"}
~ throws TypeError: timeout must be greater than or equal to 1
> ngx.shared.ht.set('a', 'b', null)
= throws TypeError: timeout is not a number
> ngx.shared.ht.set('a', 'b', NaN)
= [object SharedDict]{add:function,capacity:32768,clear:function,freeSpace:function,delete:function,incr:function,items:function,get:function,has:function,keys:function,name:"ht",pop:function,replace:function,set:function,size:function,ttl:function,type:"string"}
~ throws TypeError: timeout is not a number
> ngx.shared.ht.set('a', 'b', Infinity)
= throws TypeError: timeout must be greater than or equal to 1
~ [object SharedDict]{add:function,capacity:32768,clear:function,freeSpace:function,delete:function,incr:function,items:function,get:function,has:function,keys:function,name:"ht",pop:function,replace:function,set:function,size:function,ttl:function,type:"string"}
> ngx.shared.ht.set('a', 'b', 1e15)
= [object SharedDict]{add:function,capacity:32768,clear:function,freeSpace:function,delete:function,incr:function,items:function,get:function,has:function,keys:function,name:"ht",pop:function,replace:function,set:function,size:function,ttl:function,type:"string"}
> ngx.shared.ht.set('a', 'b', '5')
= throws TypeError: timeout is not a number
> ngx.shared.ht.set('a', 'b', {})
= throws TypeError: timeout is not a number
> ngx.shared.ht.set('a', 'b', 1.5) === ngx.shared.ht
= false
~ true
> ngx.shared.ht.set('a', 'b', 100000) === ngx.shared.ht
= false
~ true
> ngx.shared.ht.set('a', 'b', 0.5)
= throws TypeError: timeout must be greater than or equal to 1
> ngx.shared.ht.ttl('a') > 90000
= true
> ngx.shared.ht.ttl('nope')
= undefined
> ngx.shared.ht.ttl()
= undefined
> ngx.shared.hs.ttl('a')
= throws TypeError: shared dict must be declared with timeout
> ngx.shared.hs.ttl('nope')
= throws TypeError: shared dict must be declared with timeout
> Number.isInteger(ngx.shared.ht.ttl('a'))
= true
> (function (d) { return [d.add('x', '1'), d.add('x', '2'), d.get('x'), d.delete('x'), d.delete('x')]; })(ngx.shared.hs)
= [true,false,"1",true,false]
> ngx.shared.hs.add('x')
= throws TypeError: string value is expected
> ngx.shared.hs.add('x', 5)
= throws TypeError: string value is expected
> ngx.shared.hs.add('x', '1', 5)
= throws TypeError: shared dict must be declared with timeout
> ngx.shared.ht.add('y', '1', 50000)
= true
> ngx.shared.ht.add('y', '1', 0)
= throws TypeError: timeout must be greater than or equal to 1
> ngx.shared.ht.ttl('y') > 40000
= true
> (function (d) { d.delete('x'); return [d.replace('x', '1'), d.add('x', '1'), d.replace('x', '2'), d.get('x'), d.pop('x'), d.pop('x')]; })(ngx.shared.hs)
= [false,true,true,"2","2",undefined]
> ngx.shared.hs.replace('x')
= throws TypeError: string value is expected
> ngx.shared.hs.replace('x', 5)
= throws TypeError: string value is expected
> ngx.shared.ht.replace('y', 'z', 5)
= true
> ngx.shared.hs.replace('a', 'z', 5)
= throws TypeError: shared dict must be declared with timeout
> ngx.shared.hs.pop()
= undefined
> ngx.shared.hs.delete()
= false
> ngx.shared.hs.incr('x', 1)
= throws TypeError: shared dict is not a number dict
> ngx.shared.hs.incr()
= throws TypeError: shared dict is not a number dict
> (function (d) { return [d.incr('i', 1), d.incr('i', 2), d.incr('i', -5), d.incr('j', 1, 10), d.incr('j', 1, 10), d.get('j')]; })(ngx.shared.hn)
= [1,3,-2,11,12,12]
> ngx.shared.hn.incr('i')
= throws TypeError: delta is not a number
> ngx.shared.hn.incr()
= throws TypeError: delta is not a number
> ngx.shared.hn.incr('i', '1')
= throws TypeError: delta is not a number
> ngx.shared.hn.incr('i', undefined)
= throws TypeError: delta is not a number
> ngx.shared.hn.incr('i', NaN)
= NaN
~ throws TypeError: delta is not a number
> ngx.shared.hn.incr('i', Infinity)
= NaN
~ Infinity
> ngx.shared.hn.incr('i', 1)
= NaN
~ Infinity
> ngx.shared.hn.set('i', 0) === ngx.shared.hn
= false
~ true
> ngx.shared.hn.incr('i', 0.5)
= 0.5
> ngx.shared.hn.incr('k', 1, '5')
= throws TypeError: init value is not a number
> ngx.shared.hn.incr('k', 1, null)
= throws TypeError: init value is not a number
> ngx.shared.hn.incr('k', 1, undefined)
= 1
> ngx.shared.hn.incr('k', 1, 0, 5)
= throws TypeError: shared dict must be declared with timeout
> ngx.shared.htn.incr('k', 1, 0, 50000)
= 1
> ngx.shared.htn.ttl('k') < 60000
= true
> ngx.shared.htn.incr('k', 1)
= 2
> ngx.shared.htn.ttl('k') < 60000
= true
> ngx.shared.htn.incr('k', 1, 0, 0)
= throws TypeError: timeout must be greater than or equal to 1
> ngx.shared.htn.incr('k', 1, 0, 'x')
= throws TypeError: timeout is not a number
> ngx.shared.htn.incr('k', 1, 0, 80000)
= 3
> ngx.shared.htn.ttl('k') > 60000
= true
> ngx.shared.hn.set('i', '5')
= throws TypeError: number value is expected
> ngx.shared.hn.set('i', NaN)
= [object SharedDict]{add:function,capacity:32768,clear:function,freeSpace:function,delete:function,incr:function,items:function,get:function,has:function,keys:function,name:"hn",pop:function,replace:function,set:function,size:function,ttl:function,type:"number"}
~ throws TypeError: number value is expected
> ngx.shared.hn.set('i', Infinity)
= [object SharedDict]{add:function,capacity:32768,clear:function,freeSpace:function,delete:function,incr:function,items:function,get:function,has:function,keys:function,name:"hn",pop:function,replace:function,set:function,size:function,ttl:function,type:"number"}
> ngx.shared.hn.get('i')
= Infinity
> ngx.shared.hn.set('i', -0) && Object.is(ngx.shared.hn.get('i'), -0)
= true
> ngx.shared.hn.set('i', 1e300) && ngx.shared.hn.get('i')
= 1e+300
> ngx.shared.hn.set('i', 9007199254740993) && ngx.shared.hn.get('i')
= 9007199254740992
> ngx.shared.hn.set('i', null)
= throws TypeError: number value is expected
> ngx.shared.hn.add('i', 'x')
= throws TypeError: number value is expected
> ngx.shared.hn.replace('i', 'x')
= throws TypeError: number value is expected
> (function (d) { d.clear(); d.set('a', '1'); d.set('b', '2'); d.set('c', '3'); return [d.keys().sort(), d.items().sort(), d.size(), d.keys(1).length, d.items(2).length]; })(ngx.shared.hs)
= [["a","b","c"],[["a","1"],["b","2"],["c","3"]],3,1,2]
> ngx.shared.hs.keys(0)
= []
> ngx.shared.hs.items(0)
= []
> ngx.shared.hs.keys('x')
= throws TypeError: invalid number
> ngx.shared.hs.keys(-1)
= ["c","b","a"]
> ngx.shared.hs.keys(null)
= throws TypeError: invalid number
> ngx.shared.hs.keys(undefined).length
= throws TypeError: invalid number
> ngx.shared.hs.keys('2').length
= throws TypeError: invalid number
> ngx.shared.hs.keys({})
= throws TypeError: invalid number
> ngx.shared.hs.keys(1.7).length
= 1
> ngx.shared.hs.keys(Infinity)
= throws TypeError: invalid number
> ngx.shared.hs.items('x')
= throws TypeError: invalid number
> ngx.shared.hs.clear()
= undefined
> ngx.shared.hs.size()
= 0
> ngx.shared.hs.keys()
= []
> ngx.shared.hs.items()
= []
> ngx.shared.hn.items().length > 0
= true
> ngx.shared.hs.freeSpace()
= 20480
~ 24576
> ngx.shared.hn.freeSpace() >= 0
= true
> (function (d) { d.clear(); for (var i = 0; i < 10; i++) { d.set('k' + i, 'v' + i); } return d.keys(); })(ngx.shared.hs)
= ["k6","k2","k3","k7","k5","k1","k9","k0","k4","k8"]
> ngx.shared.ht.keys().sort()
= ["a"]
> ngx.shared.ht.size()
= 1
> (function (d) { d.set('t1', 'x', 1); var n = Date.now(); while (Date.now() - n < 5) {} return [d.get('t1'), d.has('t1'), d.ttl('t1'), d.keys().indexOf('t1'), d.pop('t1'), d.delete('t1'), d.replace('t1', 'y'), d.add('t1', 'z'), d.get('t1')]; })(ngx.shared.ht)
= ["x",true,1,0,"x",false,false,true,"z"]
~ [undefined,false,undefined,-1,undefined,false,false,true,"z"]
> (function (d) { try { for (var i = 0; i < 2000; i++) { d.set('key' + i, 'x'.repeat(100)); } } catch (e) { return [e.name, e.message, e instanceof SharedMemoryError, e instanceof Error, Object.prototype.toString.call(e), e.constructor.name]; } })(ngx.shared.hfull)
= ["SharedMemoryError","",true,true,"[object Error]","SharedMemoryError"]
~ ["SharedMemoryError","out of shared memory",true,true,"[object Error]","SharedMemoryError"]
> ngx.shared.hfull.add('another', 'x'.repeat(5000))
= throws SharedMemoryError: 
~ throws SharedMemoryError
> ngx.shared.hfull.size() > 50
= true
> ngx.shared.hfull.set('big', 'x'.repeat(100000))
= throws SharedMemoryError: 
~ throws SharedMemoryError
> (function (d) { for (var i = 0; i < 2000; i++) { d.set('key' + i, 'x'.repeat(100)); } return [d.has('key0'), d.has('key1999')]; })(ngx.shared.hevict)
= [false,true]
> ngx.shared.hevict.set('big', 'x'.repeat(100000))
= throws SharedMemoryError: 
~ throws SharedMemoryError
> typeof SharedMemoryError
= "function"
> new SharedMemoryError('x').message
= "x"
> new SharedMemoryError('x').name
= "SharedMemoryError"
> ngx.shared.hs.get.call({}, 'a')
= throws TypeError: "this" is not a shared dict
~ throws TypeError
> ngx.shared.hs.set.call(null, 'a', 'b')
= throws TypeError: "this" is not a shared dict
~ throws TypeError
# What dictionaries do not expect.
> ngx.shared.hs.clear() === undefined && ngx.shared.hn.clear() === undefined
= true
> ngx.shared.hs.set({toString: function () { return 'obj'; }}, 'v').get('obj')
= "v"
> ngx.shared.hs.set(['a', 'b'], 'v').get('a,b')
= "v"
> ngx.shared.hs.set(true, 'v').get('true')
= "v"
> ngx.shared.hs.set(Symbol('x'), 'v')
= throws TypeError: Cannot convert a Symbol value to a string
> ngx.shared.hs.set('s', '\ud800x').get('s').length
= 2
> ngx.shared.hs.set('\ud800', 'v').get('\ufffd')
= "v"
> ngx.shared.hs.set('k'.repeat(5000), 'v').get('k'.repeat(5000))
= "v"
> ngx.shared.hs.set('a', 'b', undefined, 'more').get('a')
= "b"
> ngx.shared.hs.set('a', new String('b'))
= throws TypeError: string value is expected
> ngx.shared.hs.set('a', 'c').set('a', 'd').get('a')
= "d"
> ngx.shared.hn.set('a', new Number(5))
= throws TypeError: number value is expected
> ngx.shared.hn.set('a', true)
= throws TypeError: number value is expected
> ngx.shared.hn.set('a', '5')
= throws TypeError: number value is expected
> ngx.shared.hn.set('a', -Infinity).get('a')
= -Infinity
> ngx.shared.hn.set('a', 5e-324).get('a')
= 5e-324
> ngx.shared.hn.set('a', 1.7976931348623157e308).incr('a', 1.7976931348623157e308)
= Infinity
> ngx.shared.hn.set('a', 0.1).incr('a', 0.2)
= 0.30000000000000004
> ngx.shared.hn.set('a', 9007199254740991).incr('a', 1)
= 9007199254740992
> ngx.shared.hn.incr('n1', 1, NaN)
= NaN
~ throws TypeError: init value is not a number
> ngx.shared.hn.incr('n2', 1, Infinity)
= Infinity
> ngx.shared.hn.incr('n3', 1, -5)
= -4
> ngx.shared.hn.incr('n4', 0, 7)
= 7
> ngx.shared.hn.incr('n5', -0) === 0
= true
> ngx.shared.hn.incr('n6', 1, {})
= throws TypeError: init value is not a number
> ngx.shared.hn.incr('n7', null)
= throws TypeError: delta is not a number
> ngx.shared.hn.incr('n8', {})
= throws TypeError: delta is not a number
> ngx.shared.hn.incr('n9', new Number(1))
= throws TypeError: delta is not a number
> ngx.shared.hn.incr(undefined, 1)
= 1
> ngx.shared.hn.get('')
= 1
> ngx.shared.hn.incr(Symbol('x'), 1)
= throws TypeError: Cannot convert a Symbol value to a string
> ngx.shared.hn.pop('a') > 0
= true
> ngx.shared.hn.add('a', 1) && !ngx.shared.hn.add('a', 2) && ngx.shared.hn.get('a')
= 1
> ngx.shared.hn.replace('a', 3) && ngx.shared.hn.get('a')
= 3
> ngx.shared.hn.replace('nope', 3)
= false
> ngx.shared.hn.items().filter(function (i) { return i[0] === 'a'; })
= [["a",3]]
> ngx.shared.htn.incr('t', 1, 0, 60000) && ngx.shared.htn.ttl('t') <= 60000
= true
> ngx.shared.htn.incr('t', 1, undefined, 90000) && ngx.shared.htn.ttl('t') > 60000
= true
> ngx.shared.htn.incr('t', 1, 0, undefined) && ngx.shared.htn.ttl('t') > 60000
= true
> ngx.shared.htn.incr('t', 1, 0, NaN)
= 4
~ throws TypeError: timeout is not a number
> ngx.shared.htn.incr('t', 1, 0, -1)
= 5
~ throws TypeError: timeout must be greater than or equal to 1
> ngx.shared.htn.incr('t', 1, 0, null)
= throws TypeError: timeout is not a number
> ngx.shared.ht.set('x', 'y', 0.999)
= throws TypeError: timeout must be greater than or equal to 1
> ngx.shared.ht.set('x', 'y', -0.5)
= throws TypeError: timeout must be greater than or equal to 1
> ngx.shared.ht.set('x', 'y', 4294967295) && ngx.shared.ht.ttl('x') > 4294000000
= true
> ngx.shared.ht.set('x', 'y', true)
= throws TypeError: timeout is not a number
> ngx.shared.ht.set('x', 'y', new Number(5))
= throws TypeError: timeout is not a number
> ngx.shared.ht.set('x', 'y') && ngx.shared.ht.ttl('x') <= 100000
= true
> ngx.shared.ht.add('x', 'y', NaN)
= false
~ throws TypeError: timeout is not a number
> ngx.shared.ht.add('x2', 'y', -1)
= true
~ throws TypeError: timeout must be greater than or equal to 1
> ngx.shared.ht.replace('x', 'z', 50000)
= true
> ngx.shared.ht.ttl('x') > 50000
= false
> ngx.shared.ht.replace('x', 'z', 0)
= throws TypeError: timeout must be greater than or equal to 1
> ngx.shared.ht.set('short', 'y', 40) && ngx.shared.ht.has('short')
= true
> new Promise(function (d) { setTimeout(d, 80); }).then(function () { return [ngx.shared.ht.has('short'), ngx.shared.ht.get('short'), ngx.shared.ht.ttl('short'), ngx.shared.ht.keys().indexOf('short'), ngx.shared.ht.items().length > 0, ngx.shared.ht.replace('short', 'z'), ngx.shared.ht.delete('short'), ngx.shared.ht.pop('short'), ngx.shared.ht.add('short', 'new'), ngx.shared.ht.get('short')]; })
= [false,undefined,undefined,-1,true,true,true,undefined,true,"new"]
~ [false,undefined,undefined,-1,true,false,false,undefined,true,"new"]
> ngx.shared.hs.clear() === undefined && ngx.shared.hs.size()
= 0
> ngx.shared.hs.clear(5)
= undefined
> ngx.shared.hs.size(5)
= 0
> ngx.shared.hs.set('a', '1').set('b', '2').keys(1.9).length
= 1
> ngx.shared.hs.items(-1).length
= 2
> ngx.shared.hs.items(1.2).length
= 1
> ngx.shared.hs.items(NaN)
= throws TypeError: invalid number
> ngx.shared.hs.keys(4294967296).length
= 2
> ngx.shared.hs.items(true)
= throws TypeError: invalid number
> ngx.shared.hs.freeSpace(5) > 0
= true
> ngx.shared.hs.has(Symbol('x'))
= throws TypeError: Cannot convert a Symbol value to a string
> ngx.shared.hs.delete(Symbol('x'))
= throws TypeError: Cannot convert a Symbol value to a string
> ngx.shared.hs.pop(Symbol('x'))
= throws TypeError: Cannot convert a Symbol value to a string
> ngx.shared.hs.add('a', '3')
= false
> ngx.shared.hs.replace('a', '3') && ngx.shared.hs.get('a')
= "3"
> ngx.shared.hs.pop('a')
= "3"
> ngx.shared.hs.has('a')
= false
> ['add', 'clear', 'delete', 'freeSpace', 'get', 'has', 'incr', 'items', 'keys', 'pop', 'replace', 'set', 'size', 'ttl'].map(function (m) { return typeof ngx.shared.hs[m]; }).filter(function (k) { return k !== 'function'; }).length
= 0
> (function () { ngx.shared.hs.name = 'x'; return ngx.shared.hs.name; })()
= throws TypeError: Cannot assign to read-only property "name" of object
~ throws TypeError
> (function () { ngx.shared.hs.capacity = 5; return ngx.shared.hs.capacity; })()
= throws TypeError: Cannot assign to read-only property "capacity" of object
~ throws TypeError
> (function () { delete ngx.shared.hs.type; return ngx.shared.hs.type; })()
= throws TypeError: Cannot delete property "type" of object
~ throws TypeError
> (function () { var g = ngx.shared.hs.get; return g('b'); })()
= throws TypeError: "this" is not a shared dict
~ throws TypeError
> ngx.shared.hs.get.call(ngx.shared.hn, 'a')
= 3
> ngx.shared.hevict.set('a', 'x', 1000) && ngx.shared.hevict.set('b', 'x', 50000) && [ngx.shared.hevict.has('a'), ngx.shared.hevict.has('b')]
= [true,true]
> Object.getOwnPropertyDescriptor(ngx, 'shared') !== undefined
= true
> ngx.shared.hasOwnProperty
= function
> ngx.shared['']
= undefined
> ngx.shared[Symbol.iterator]
= throws undefined
~ undefined
> Object.entries(ngx.shared).length
= 6
> (function () { var n = 0; for (var k in ngx.shared) { n++; } return n; })()
= 6
> (function () { var n = []; for (var k in ngx.shared.hs) { n.push(k); } return n.sort().join(); })()
= "add,capacity,clear,delete,freeSpace,get,has,incr,items,keys,name,pop,replace,set,size,ttl,type"
> new SharedMemoryError('m') instanceof Error && String(new SharedMemoryError('m'))
= "SharedMemoryError: m"
> Object.prototype.toString.call(new SharedMemoryError('m'))
= "[object Error]"
stream set> return tried(function () { return [ngx.shared.zs.set('a', 'b').get('a'), ngx.shared.hs, Object.keys(ngx.shared).sort().join()]; });
= "[[\"b\",undefined,\"zevict,zfull,zn,zs,zt,ztn\"]]"
stream set> return tried(function () { return ngx.shared.zn.incr('a', 1, 5); });
= "[6]"
stream set> return tried(function () { return ngx.shared.zt.ttl('nope'); });
= "[undefined]"
stream set> return tried(function () { return ngx.shared.zs.incr('a', 1); });
= "[throws TypeError: shared dict is not a number dict]"
# What is written over.
> (function (d) { d.get = 5; return typeof d.get; })(ngx.shared.hs)
= "number"
> (function (d) { d.x = 5; return d.x; })(ngx.shared.hs)
= 5
> Object.getOwnPropertyDescriptor(ngx.shared.hs, 'name')
= {value:"hs",writable:false,enumerable:true,configurable:false}
