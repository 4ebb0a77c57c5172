# TextEncoder, TextDecoder, texts and other globals.
> new TextEncoder().encode('aé€😀')
= [object Uint8Array] 61c3a9e282acf09f9880
> new TextEncoder().encode()
= [object Uint8Array] 
> new TextEncoder().encode('')
= [object Uint8Array] 
> new TextEncoder().encode(5)
= [object Uint8Array] 35
> new TextEncoder().encode(null)
= [object Uint8Array] 6e756c6c
> new TextEncoder().encode('\ud800x')
= [object Uint8Array] efbfbd78
> new TextEncoder().encode(Symbol('x'))
= throws TypeError: Cannot convert a Symbol value to a string
> new TextEncoder().encode('a') instanceof Uint8Array
= true
> new TextEncoder().encoding
= "utf-8"
> new TextEncoder().encodeInto('aé', new Uint8Array(2))
= {}
~ {read:1,written:1}
> new TextEncoder().encodeInto('aé', new Uint8Array(3))
= {}
~ {read:2,written:3}
> new TextEncoder().encodeInto('😀x', new Uint8Array(4))
= {}
~ {read:2,written:4}
> new TextEncoder().encodeInto('abc')
= throws TypeError: The "destination" argument must be an instance of Uint8Array
~ throws TypeError
> new TextEncoder().encodeInto('abc', new Uint16Array(3))
= throws TypeError: The "destination" argument must be an instance of Uint8Array
~ throws TypeError
> new TextEncoder().encodeInto('abc', 'x')
= throws TypeError: The "destination" argument must be an instance of Uint8Array
~ throws TypeError
> new TextEncoder().encodeInto(5, new Uint8Array(3))
= {}
~ throws TypeError: The "src" argument must be of type string. Received type number (5)
> TextEncoder()
= throws TypeError: Constructor of TextEncoder requires 'new'
~ throws TypeError
> Object.prototype.toString.call(new TextEncoder())
= "[object Object]"
~ "[object TextEncoder]"
> TextEncoder.prototype.encode.call({}, 'x')
= throws TypeError: "this" is not a TextEncoder
~ throws TypeError
> Object.prototype.toString.call(new TextDecoder())
= "[object Object]"
~ "[object TextDecoder]"
> new TextDecoder().encoding
= "utf-8"
> new TextDecoder('utf-8').encoding
= "utf-8"
> new TextDecoder('UTF8').encoding
= throws RangeError: The "UTF8" encoding is not supported
~ "utf-8"
> new TextDecoder('utf-16le')
= throws RangeError: The "utf-16le" encoding is not supported
~ [object TextDecoder]{}
> new TextDecoder('latin1')
= throws RangeError: The "latin1" encoding is not supported
~ [object TextDecoder]{}
> new TextDecoder(5)
= throws RangeError: The "5" encoding is not supported
> new TextDecoder(undefined).encoding
= throws RangeError: The "undefined" encoding is not supported
~ "utf-8"
> new TextDecoder(null)
= throws RangeError: The "null" encoding is not supported
> TextDecoder()
= throws TypeError: Constructor of TextDecoder requires 'new'
~ throws TypeError
> [new TextDecoder().fatal, new TextDecoder().ignoreBOM]
= [false,false]
> [new TextDecoder('utf-8', {fatal: true}).fatal, new TextDecoder('utf-8', {ignoreBOM: true}).ignoreBOM]
= [true,true]
> [new TextDecoder('utf-8', {fatal: 'x'}).fatal, new TextDecoder('utf-8', null).ignoreBOM, new TextDecoder('utf-8', undefined).ignoreBOM]
= throws TypeError: The "options" argument must be of type object
~ [true,false,false]
> new TextDecoder('utf-8', 5).fatal
= throws TypeError: The "options" argument must be of type object
~ throws TypeError
> new TextDecoder().decode(new Uint8Array([206, 177, 206, 178]))
= "αβ"
> new TextDecoder().decode(new Uint8Array([206, 177]).buffer)
= "α"
> new TextDecoder().decode(new Uint16Array([0x6161]))
= "aa"
> new TextDecoder().decode(new DataView(new Uint8Array([97, 98, 99]).buffer, 1))
= throws TypeError: The "input" argument must be an instance of TypedArray
~ "bc"
> new TextDecoder().decode(new Uint8Array([97, 98, 99, 100]).subarray(1, 3))
= "bc"
> new TextDecoder().decode(Buffer.from('abc'))
= "abc"
> new TextDecoder().decode()
= ""
> new TextDecoder().decode(undefined)
= throws TypeError: The "input" argument must be an instance of TypedArray
~ ""
> new TextDecoder().decode(null)
= throws TypeError: The "input" argument must be an instance of TypedArray
~ throws TypeError
> new TextDecoder().decode('text')
= throws TypeError: The "input" argument must be an instance of TypedArray
~ throws TypeError
> new TextDecoder().decode(5)
= throws TypeError: The "input" argument must be an instance of TypedArray
~ throws TypeError
> new TextDecoder().decode(new Uint8Array([255, 97]))
= "�a"
> new TextDecoder().decode(new Uint8Array([0xe2, 0x82]))
= "�"
> new TextDecoder().decode(new Uint8Array([0xe2, 0x82, 97]))
= "�a"
> new TextDecoder().decode(new Uint8Array([0xf0, 0x9f, 0x98, 0x80]))
= "😀"
> new TextDecoder().decode(new Uint8Array([0xed, 0xa0, 0x80]))
= "���"
> new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array([255]))
= throws TypeError: The encoded data was not valid
~ throws TypeError
> new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array([0xe2, 0x82]))
= throws TypeError: The encoded data was not valid
~ throws TypeError
> new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 97])).length
= 1
> new TextDecoder('utf-8', {ignoreBOM: true}).decode(new Uint8Array([0xef, 0xbb, 0xbf, 97])).length
= 2
> (function (d) { return [d.decode(new Uint8Array([0xe2, 0x82]), {stream: true}), d.decode(new Uint8Array([0xac]), {stream: true}), d.decode()]; })(new TextDecoder())
= ["","€",""]
> (function (d) { return [d.decode(new Uint8Array([0xe2, 0x82]), {stream: true}), d.decode()]; })(new TextDecoder())
= ["","�"]
> (function (d) { return [d.decode(new Uint8Array([0xe2]), {stream: true}), d.decode(new Uint8Array([97]))]; })(new TextDecoder())
= ["","�a"]
> (function (d) { return [d.decode(new Uint8Array([0xe2]), {stream: true}), d.decode()]; })(new TextDecoder('utf-8', {fatal: true}))
= throws TypeError: The encoded data was not valid
~ throws TypeError
> TextDecoder.prototype.decode.call({}, new Uint8Array([97]))
= throws TypeError: "this" is not a TextDecoder
~ throws TypeError
> 'αβγ'.toUTF8
= undefined
> String.bytesFrom
= undefined
> 'abc'.fromUTF8
= undefined
> String.fromCodePoint(128512).length
= 1
~ 2
> 'a-b'.replaceAll('-', '+')
= "a+b"
> encodeURIComponent('é /')
= "%C3%A9%20%2F"
> decodeURIComponent('%')
= throws URIError: malformed URI
~ throws URIError
> encodeURI('\ud800')
= "%EF%BF%BD"
~ throws URIError: URI malformed
> escape
= throws ReferenceError: "escape" is not defined
~ function
> JSON.parse('{"a":1}', function (k, v) { return v; })
= {a:1}
> JSON.parse('{')
= throws SyntaxError: Unexpected end of input at position 1
~ throws SyntaxError
> JSON.parse('')
= throws SyntaxError: Unexpected end of input at position 0
~ throws SyntaxError
> JSON.parse(undefined)
= throws SyntaxError: Unexpected token at position 0
~ throws SyntaxError
> JSON.stringify({a: new Date(0), b: undefined, c: function () {}, d: NaN, e: Buffer.from('x')})
= "{\"a\":\"1970-01-01T00:00:00.000Z\",\"d\":null,\"e\":{\"type\":\"Buffer\",\"data\":[120]}}"
> JSON.stringify({a: [1, {b: 2}]}, null, 2)
= "{\n  \"a\": [\n    1,\n    {\n      \"b\": 2\n    }\n  ]\n}"
> (function () { var a = {}; a.a = a; return JSON.stringify(a); })()
= throws TypeError: Nested too deep or a cyclic structure
~ throws TypeError
> new Date(0).toISOString()
= "1970-01-01T00:00:00.000Z"
> parseInt('12px') + ' ' + parseFloat('1.5e3x') + ' ' + Number('0x10')
= "12 1500 16"
> [3, 1, 2].sort().join() + [1, 2, 3].includes(2) + [1, [2, [3]]].flat
= "1,2,3trueundefined"
~ "1,2,3truefunction flat() { [native code] }"
> Object.entries({a: 1}) + Object.values({b: 2})
= "a,12"
> new Function('return 1')()
= throws TypeError: function constructor is disabled in "safe" mode
~ 1
> eval('1')
= throws InternalError: Not implemented
~ 1
> typeof globalThis + typeof this + typeof global
= "objectundefinedobject"
> [typeof Symbol.asyncIterator, typeof Promise.any, typeof Promise.allSettled, typeof Proxy, typeof WeakMap]
= ["symbol","function","function","undefined","undefined"]
~ ["symbol","function","function","function","function"]
> (function () { return this; })()
= undefined
> (function () { 'use strict'; try { undeclared = 5; } catch (e) { return e.name; } return 'assigned'; })()
= "ReferenceError"
> (function () { try { undeclared = 5; return 'assigned'; } catch (e) { return e.name; } })()
= "ReferenceError"
> (function () { return typeof arguments + arguments.length; })(1, 2)
= "object2"
> /(?<year>\d{4})/.exec('in 2020').groups.year
= "2020"
> 'x'.padStart(3, 'ab') + 'x'.padEnd(3) + '|' + ' x '.trim() + 'abc'.at
= "abxx  |xundefined"
~ "abxx  |xfunction at() { [native code] }"
> new Error('x', {cause: 5}).cause
= undefined
~ 5
> [new RangeError('a') instanceof Error, new EvalError('e').name, typeof AggregateError, typeof InternalError, typeof MemoryError]
= [true,"EvalError","function","function","function"]
> [typeof Buffer, typeof TextDecoder, typeof TextEncoder, typeof URL, typeof URLSearchParams, typeof AbortController, typeof Blob, typeof FormData, typeof require]
= ["function","function","function","undefined","undefined","undefined","undefined","undefined","function"]
~ ["function","function","function","function","function","function","function","function","function"]
