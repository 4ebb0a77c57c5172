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
> (function (d) { d.get = 5; return typeof d.get; })(ngx.shared.hs)
= "number"
> (function (d) { d.x = 5; return d.x; })(ngx.shared.hs)
= 5
> Object.getOwnPropertyDescriptor(ngx.shared.hs, 'name')
= {value:"hs",writable:false,enumerable:true,configurable:false}
