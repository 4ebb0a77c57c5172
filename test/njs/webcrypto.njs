# crypto and crypto.subtle.
> [typeof crypto, typeof crypto.subtle, typeof crypto.getRandomValues, typeof crypto.randomUUID]
= ["object","object","function","function"]
> ['decrypt', 'deriveBits', 'deriveKey', 'digest', 'encrypt', 'exportKey', 'generateKey', 'importKey', 'sign', 'unwrapKey', 'verify', 'wrapKey'].map(function (n) { return typeof crypto.subtle[n]; }).join()
= "function,function,function,function,function,function,function,function,function,function,function,function"
> Object.prototype.toString.call(crypto) + Object.prototype.toString.call(crypto.subtle)
= "[object Crypto][object SubtleCrypto]"
> /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())
= true
> (function (a) { return [crypto.getRandomValues(a) === a, a.length]; })(new Uint8Array(4))
= [true,4]
> crypto.getRandomValues(new Float32Array(4)).length
= 4
~ throws TypeMismatchError: The data argument must be an integer-type TypedArray
> crypto.getRandomValues(new Uint8Array(70000)).length
= throws TypeError: requested length exceeds 65536 bytes
~ throws QuotaExceededError
> crypto.getRandomValues('x')
= "\u0018"
~ throws TypeMismatchError
> crypto.getRandomValues(Buffer.alloc(3)).length
= 3
> crypto.subtle.digest('SHA-256', 'abc')
= ArrayBuffer ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
> crypto.subtle.digest('SHA-1', Buffer.from('abc'))
= ArrayBuffer a9993e364706816aba3e25717850c26c9cd0d89d
> crypto.subtle.digest('SHA-384', new Uint8Array([97, 98, 99]))
= ArrayBuffer cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7
> crypto.subtle.digest('SHA-512', new Uint8Array([97, 98, 99]).buffer)
= ArrayBuffer ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f
> crypto.subtle.digest({name: 'SHA-256'}, 'abc')
= ArrayBuffer ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
> crypto.subtle.digest('sha-256', 'abc')
= throws TypeError: unknown hash name: "sha-256"
~ ArrayBuffer ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
> crypto.subtle.digest('SHA256', 'abc')
= throws TypeError: unknown hash name: "SHA256"
~ throws NotSupportedError
> crypto.subtle.digest('MD5', 'abc')
= throws TypeError: unknown hash name: "MD5"
~ throws NotSupportedError
> crypto.subtle.digest({}, 'abc')
= ArrayBuffer ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
~ throws TypeError: Failed to normalize algorithm: passed algorithm cannot be converted to 'Algorithm' because 'name' is required in 'Algorithm'.
> crypto.subtle.digest()
= throws TypeError: unknown hash name: "undefined"
~ throws TypeError
> crypto.subtle.digest('SHA-256')
= ArrayBuffer eb045d78d273107348b0300c01d29b7552d622abbc6faf81b3ec55359aa9950c
~ throws TypeError: Failed to execute 'digest' on 'SubtleCrypto': 2 arguments required, but only 1 present.
> crypto.subtle.digest('SHA-256', null)
= ArrayBuffer 74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b
~ throws TypeError: Failed to execute 'digest' on 'SubtleCrypto': 2nd argument is not instance of ArrayBuffer, Buffer, TypedArray, or DataView.
> crypto.subtle.digest('SHA-256', 5)
= ArrayBuffer ef2d127de37b942baad06145e54b0c619a1f22327b2ebbcfbec78f5564afe39d
~ throws TypeError: Failed to execute 'digest' on 'SubtleCrypto': 2nd argument is not instance of ArrayBuffer, Buffer, TypedArray, or DataView.
> crypto.subtle.digest('SHA-256', {})
= ArrayBuffer b28c94b2195c8ed259f0b415aaee3f39b0b2920a4537611499fa044956917a21
~ throws TypeError: Failed to execute 'digest' on 'SubtleCrypto': 2nd argument is not instance of ArrayBuffer, Buffer, TypedArray, or DataView.
> crypto.subtle.digest('SHA-256', new Uint16Array([1, 2]).subarray(1))
= ArrayBuffer fcf0a6c700dd13e274b6fba8deea8dd9b26e4eedde3495717cac8408c9c5177f
~ ArrayBuffer 99be5efb88ca2013bd8e4eb035fd42d5245468fe9afa70d8ba9c1c419a48c4e8
> crypto.subtle.importKey('raw', Buffer.from('key'), {name: 'HMAC', hash: 'SHA-256'}, false, ['sign'])
= [object CryptoKey]{algorithm:{name:"HMAC",hash:"SHA-256"},extractable:false,type:"secret",usages:["sign"]}
~ [object CryptoKey]{}
> crypto.subtle.importKey('raw', Buffer.from('key'), {name: 'HMAC', hash: 'SHA-256'}, false, ['sign']).then(function (k) { return [k.type, k.extractable, k.algorithm, k.usages, Object.prototype.toString.call(k)]; })
= ["secret",false,{name:"HMAC",hash:"SHA-256"},["sign"],"[object CryptoKey]"]
~ ["secret",false,{name:"HMAC",length:24,hash:{name:"SHA-256"}},["sign"],"[object CryptoKey]"]
> crypto.subtle.importKey('raw', Buffer.from('key'), {name: 'HMAC', hash: {name: 'SHA-256'}}, true, ['sign', 'verify']).then(function (k) { return [k.type, k.extractable, k.algorithm.name, k.usages.join()]; })
= throws TypeError: unknown hash name: "[object Object]"
~ ["secret",true,"HMAC","sign,verify"]
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, false, ['sign']).then(function (k) { return crypto.subtle.sign('HMAC', k, 'data'); })
= ArrayBuffer 5031fe3d989c6d1537a013fa6e739da23463fdaec3b70137d828e36ace221bd0
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, false, ['sign']).then(function (k) { return crypto.subtle.sign({name: 'HMAC'}, k, Buffer.from('data')); })
= ArrayBuffer 5031fe3d989c6d1537a013fa6e739da23463fdaec3b70137d828e36ace221bd0
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-1'}, false, ['sign']).then(function (k) { return crypto.subtle.sign('hmac', k, 'data'); })
= ArrayBuffer 104152c5bfdca07bc633eebd46199f0255c9f49d
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-512'}, false, ['verify']).then(function (k) { return crypto.subtle.verify('HMAC', k, Buffer.alloc(64), 'data'); })
= false
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, false, ['sign', 'verify']).then(async function (k) { return crypto.subtle.verify('HMAC', k, await crypto.subtle.sign('HMAC', k, 'd'), 'd'); })
= true
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, false, ['verify']).then(function (k) { return crypto.subtle.sign('HMAC', k, 'data'); })
= throws TypeError: provide key does not support "sign" operation
~ throws InvalidAccessError
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC'}, false, ['sign'])
= [object CryptoKey]{algorithm:{name:"HMAC",hash:"SHA-256"},extractable:false,type:"secret",usages:["sign"]}
~ throws TypeError: Failed to normalize algorithm: passed algorithm cannot be converted to 'HmacImportParams' because 'hash' is required in 'HmacImportParams'.
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'MD5'}, false, ['sign'])
= throws TypeError: unknown hash name: "MD5"
~ throws NotSupportedError
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, false, ['encrypt'])
= throws TypeError: unsupported key usage for "HMAC" key
~ throws SyntaxError
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, false, [])
= [object CryptoKey]{algorithm:{name:"HMAC",hash:"SHA-256"},extractable:false,type:"secret",usages:[]}
~ throws SyntaxError: Usages cannot be empty when importing a secret key.
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, false, 'sign')
= throws TypeError: "keyUsages" argument must be an Array
~ throws TypeError
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, false, ['nope'])
= throws TypeError: unknown key usage: "nope"
~ throws TypeError
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, false)
= throws TypeError: "keyUsages" argument must be an Array
~ throws TypeError
> crypto.subtle.importKey('raw', '', {name: 'HMAC', hash: 'SHA-256'}, false, ['sign'])
= [object CryptoKey]{algorithm:{name:"HMAC",hash:"SHA-256"},extractable:false,type:"secret",usages:["sign"]}
~ throws DataError: Zero-length key is not supported
> crypto.subtle.importKey('raw', 'key', {name: 'NOPE'}, false, ['sign'])
= throws TypeError: unknown algorithm name: "NOPE"
~ throws NotSupportedError
> crypto.subtle.importKey('raw', 'key', 'HMAC', false, ['sign'])
= throws TypeError: unknown hash name: "HMAC"
~ throws TypeError
> crypto.subtle.importKey('nope', 'key', {name: 'HMAC', hash: 'SHA-256'}, false, ['sign'])
= throws TypeError: unknown key format: "nope"
~ throws TypeError
> crypto.subtle.importKey('pkcs8', 'key', {name: 'HMAC', hash: 'SHA-256'}, false, ['sign'])
= throws TypeError: unsupported key fmt "pkcs8" for "HMAC" key
~ throws NotSupportedError
> crypto.subtle.importKey('raw', null, {name: 'HMAC', hash: 'SHA-256'}, false, ['sign'])
= [object CryptoKey]{algorithm:{name:"HMAC",hash:"SHA-256"},extractable:false,type:"secret",usages:["sign"]}
~ throws TypeError: Failed to execute 'importKey' on 'SubtleCrypto': 2nd argument is not instance of ArrayBuffer, Buffer, TypedArray, or DataView.
> crypto.subtle.importKey()
= throws TypeError: unknown key format: "undefined"
~ throws TypeError
> crypto.subtle.importKey('jwk', {kty: 'oct', k: 'a2V5', alg: 'HS256'}, {name: 'HMAC', hash: 'SHA-256'}, true, ['sign', 'verify']).then(function (k) { return crypto.subtle.exportKey('jwk', k); })
= {kty:"oct",k:"a2V5",key_ops:["sign","verify"],ext:true,alg:"HS256"}
~ {key_ops:["sign","verify"],ext:true,alg:"HS256",kty:"oct",k:"a2V5"}
> crypto.subtle.importKey('jwk', {kty: 'oct', k: 'a2V5', alg: 'HS512'}, {name: 'HMAC', hash: 'SHA-256'}, true, ['sign'])
= throws TypeError: HMAC JWK hash mismatch
~ throws DataError
> crypto.subtle.importKey('jwk', {kty: 'oct', k: 'a2V5', ext: false}, {name: 'HMAC', hash: 'SHA-256'}, true, ['sign'])
= throws TypeError: Invalid JWK oct alg
~ throws DataError
> crypto.subtle.importKey('jwk', {kty: 'oct', k: 'a2V5', key_ops: ['verify']}, {name: 'HMAC', hash: 'SHA-256'}, true, ['sign'])
= throws TypeError: Invalid JWK oct alg
~ throws DataError
> crypto.subtle.importKey('jwk', {kty: 'RSA'}, {name: 'HMAC', hash: 'SHA-256'}, true, ['sign'])
= throws TypeError: JWK kty "RSA" doesn't match algorithm "HMAC"
~ throws DataError
> crypto.subtle.importKey('jwk', {}, {name: 'HMAC', hash: 'SHA-256'}, true, ['sign'])
= throws TypeError: invalid JWK key type: undefined
~ throws DataError
> crypto.subtle.importKey('jwk', 5, {name: 'HMAC', hash: 'SHA-256'}, true, ['sign'])
= throws TypeError: invalid JWK key data: object value expected
~ throws TypeError
> crypto.subtle.importKey('jwk', {kty: 'oct'}, {name: 'HMAC', hash: 'SHA-256'}, true, ['sign'])
= throws TypeError: Invalid JWK oct key
~ throws DataError
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, true, ['sign']).then(function (k) { return crypto.subtle.exportKey('raw', k); })
= ArrayBuffer 6b6579
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, false, ['sign']).then(function (k) { return crypto.subtle.exportKey('raw', k); })
= throws TypeError: provided key cannot be extracted
~ throws InvalidAccessError
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, true, ['sign']).then(function (k) { return crypto.subtle.exportKey('spki', k); })
= throws TypeError: unsupported key fmt "spki" for "HMAC" key
~ throws NotSupportedError
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, true, ['sign']).then(function (k) { return crypto.subtle.exportKey('nope', k); })
= throws TypeError: unknown key format: "nope"
~ throws TypeError
> crypto.subtle.exportKey('raw', {})
= throws TypeError: "key" is not a CryptoKey object
~ throws TypeError
> crypto.subtle.exportKey('raw')
= throws TypeError: "key" is not a CryptoKey object
~ throws TypeError
> crypto.subtle.sign('HMAC', {}, 'x')
= throws TypeError: "key" is not a CryptoKey object
~ throws TypeError
> crypto.subtle.sign('HMAC')
= throws TypeError: "key" is not a CryptoKey object
~ throws TypeError
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k, 'data'); })
= ArrayBuffer 26835e2411c45429de34cdf394eeeb4e0b9a9506
> crypto.subtle.importKey('raw', '0123456789abcdef', 'AES-GCM', true, ['encrypt', 'decrypt']).then(async function (k) { return Buffer.from(await crypto.subtle.decrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k, await crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k, 'data'))).toString(); })
= "data"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(16), additionalData: Buffer.from('aad'), tagLength: 96}, k, 'data'); })
= ArrayBuffer e49baf3c145bc2317cec148bebbfcdca
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(12), tagLength: 5}, k, 'data'); })
= throws TypeError: AES-GCM Invalid tagLength
~ throws OperationError
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-GCM'}, k, 'data'); })
= throws TypeError: AES-GCM algorithm.iv is not provided
~ throws TypeError
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt']).then(function (k) { return crypto.subtle.encrypt('AES-GCM', k, 'data'); })
= throws TypeError: AES-GCM algorithm.iv is not provided
~ throws TypeError
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['decrypt']).then(function (k) { return crypto.subtle.decrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k, Buffer.alloc(20)); })
= throws Error: EVP_DecryptFinal_ex() failed
~ throws OperationError
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['decrypt']).then(function (k) { return crypto.subtle.decrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k, Buffer.alloc(5)); })
= throws TypeError: AES-GCM data is too short
~ throws OperationError
> crypto.subtle.importKey('raw', '0123456789abcde', {name: 'AES-GCM'}, true, ['encrypt'])
= throws TypeError: AES Invalid key length
~ throws DataError
> crypto.subtle.importKey('raw', '0123456789abcdef01234567', {name: 'AES-CBC'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-CBC', iv: Buffer.alloc(16)}, k, 'data'); })
= ArrayBuffer c9419fbe5776bc0eb673640aaf594b7c
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-CBC'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-CBC', iv: Buffer.alloc(15)}, k, 'data'); })
= throws TypeError: AES-CBC algorithm.iv must be 16 bytes long
~ throws OperationError
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-CBC'}, true, ['decrypt']).then(function (k) { return crypto.subtle.decrypt({name: 'AES-CBC', iv: Buffer.alloc(16)}, k, Buffer.alloc(16)); })
= throws Error: EVP_DecryptFinal_ex() failed (SSL: error:1C800064:Provider routines::bad decrypt)
~ throws OperationError
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-CTR'}, true, ['encrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-CTR', counter: Buffer.alloc(16), length: 64}, k, 'data'); })
= ArrayBuffer 6ffa61bb
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-CTR'}, true, ['encrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-CTR', counter: Buffer.alloc(16), length: 128}, k, 'x'.repeat(40)); })
= ArrayBuffer 13830dc2535cb8ed0d05d7dcd8072dcd19a85420027efcf15d88ca47a82b42f45afa325de19294db
~ ArrayBuffer 73e36da2333cd88d6d65b7bcb8674dad79c83440621e9c913de8aa27c84b22943a9a523d81f2f4bb
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-CTR'}, true, ['encrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-CTR', counter: Buffer.alloc(16, 255), length: 4}, k, 'x'.repeat(40)); })
= ArrayBuffer 29fa67642389c4296bf74fa7577124f36039f39b9b4889a920f75ac08c6da3b1f37c8ff319322b3e
~ ArrayBuffer 499a070443e9a4490b972fc737114493005993fbfb28e9c940973aa0ec0dc3d1931cef9379524b5e
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-CTR'}, true, ['encrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-CTR', counter: Buffer.alloc(15), length: 64}, k, 'data'); })
= throws TypeError: AES-CTR algorithm.counter must be 16 bytes long
~ throws OperationError
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-CTR'}, true, ['encrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-CTR', counter: Buffer.alloc(16), length: 0}, k, 'data'); })
= throws TypeError: AES-CTR algorithm.length must be between 1 and 128
~ throws OperationError
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-CTR'}, true, ['encrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k, 'data'); })
= throws TypeError: cannot encrypt using "AES-CTR" with "AES-GCM" key
~ throws InvalidAccessError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits', 'deriveKey']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-256', salt: Buffer.from('0123456789abcdef'), iterations: 10}, k, 128); })
= ArrayBuffer bb7185dcddca70069929ddd0df286195
> crypto.subtle.importKey('raw', 'pass', {name: 'PBKDF2'}, false, ['deriveKey']).then(async function (k) { return crypto.subtle.exportKey('raw', await crypto.subtle.deriveKey({name: 'PBKDF2', hash: 'SHA-256', salt: '0123456789abcdef', iterations: 10}, k, {name: 'AES-GCM', length: 256}, true, ['encrypt'])); })
= ArrayBuffer bb7185dcddca70069929ddd0df2861958950aecf61730f1aaf436e70bc2c0610
> crypto.subtle.importKey('raw', 'pass', {name: 'PBKDF2'}, false, ['deriveKey']).then(async function (k) { return (await crypto.subtle.exportKey('raw', await crypto.subtle.deriveKey({name: 'PBKDF2', hash: 'SHA-256', salt: '0123456789abcdef', iterations: 10}, k, {name: 'HMAC', hash: 'SHA-256'}, true, ['sign']))).byteLength; })
= throws TypeError: derivedKeyAlgorithm.length is not provided
~ 64
> crypto.subtle.importKey('raw', 'pass', {name: 'PBKDF2'}, false, ['deriveKey']).then(async function (k) { return (await crypto.subtle.exportKey('raw', await crypto.subtle.deriveKey({name: 'PBKDF2', hash: 'SHA-256', salt: '0123456789abcdef', iterations: 10}, k, {name: 'HMAC', hash: 'SHA-256', length: 128}, true, ['sign']))).byteLength; })
= 16
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-256', salt: 'short', iterations: 10}, k, 128); })
= throws TypeError: PBKDF2 algorithm.salt must be at least 16 bytes long
~ ArrayBuffer 24ecddd4b1d69e0759f1a7050f1ee2f7
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-256', salt: '0123456789abcdef', iterations: 0}, k, 128); })
= throws Error: PKCS5_PBKDF2_HMAC() failed (SSL: error:1C80007B:Provider routines::invalid iteration count)
~ throws OperationError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-256', salt: '0123456789abcdef', iterations: 10}, k, 12); })
= ArrayBuffer bb
~ throws OperationError: length must be a multiple of 8
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveKey']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-256', salt: '0123456789abcdef', iterations: 10}, k, 128); })
= throws TypeError: provide key does not support "deriveBits" operation
~ throws InvalidAccessError
> crypto.subtle.importKey('raw', 'secret', 'HKDF', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'HKDF', hash: 'SHA-256', salt: 'salt', info: 'info'}, k, 256); })
= ArrayBuffer f6d2fcc47cb939deafe3853a1e641a27e6924aff7a63d09cb04ccfffbe4776ef
> crypto.subtle.importKey('raw', 'secret', 'HKDF', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'HKDF', hash: 'SHA-256', salt: '', info: ''}, k, 256); })
= ArrayBuffer 2f34e5ff91ec85d53ca9b543683174d0cf550b60d5f52b24c97b386cfcf6cbbf
> crypto.subtle.importKey('raw', 'secret', 'HKDF', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'HKDF', hash: 'SHA-256', salt: 'salt'}, k, 256); })
= throws TypeError: HKDF algorithm.info is not provided
~ throws TypeError
> crypto.subtle.generateKey({name: 'AES-GCM', length: 128}, true, ['encrypt']).then(async function (k) { return [k.type, k.algorithm.name, k.algorithm.length, (await crypto.subtle.exportKey('raw', k)).byteLength]; })
= ["secret","AES-GCM",128,16]
> crypto.subtle.generateKey({name: 'AES-GCM', length: 100}, true, ['encrypt'])
= throws TypeError: length for "AES-GCM" key should be one of 128, 192, 256
~ throws OperationError
> crypto.subtle.generateKey({name: 'AES-GCM'}, true, ['encrypt'])
= [object CryptoKey]{algorithm:{name:"AES-GCM",length:0},extractable:true,type:"secret",usages:["encrypt"]}
~ throws TypeError: Failed to normalize algorithm: passed algorithm cannot be converted to 'AesKeyGenParams' because 'length' is required in 'AesKeyGenParams'.
> crypto.subtle.generateKey({name: 'AES-GCM', length: 128}, true, ['sign'])
= throws TypeError: unsupported key usage for "AES-GCM" key
~ throws SyntaxError
> crypto.subtle.generateKey({name: 'AES-GCM', length: 128}, true, [])
= [object CryptoKey]{algorithm:{name:"AES-GCM",length:128},extractable:true,type:"secret",usages:[]}
~ throws SyntaxError: Usages cannot be empty when creating a key.
> crypto.subtle.generateKey({name: 'HMAC', hash: 'SHA-384'}, true, ['sign']).then(async function (k) { return [k.algorithm.hash.name || k.algorithm.hash, k.algorithm.length, (await crypto.subtle.exportKey('raw', k)).byteLength]; })
= ["SHA-384",undefined,48]
~ ["SHA-384",1024,128]
> crypto.subtle.generateKey({name: 'HMAC', hash: 'SHA-256', length: 80}, true, ['sign']).then(async function (k) { return (await crypto.subtle.exportKey('raw', k)).byteLength; })
= 32
~ 10
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-256'}, true, ['sign', 'verify']).then(async function (p) { var s = await crypto.subtle.sign({name: 'ECDSA', hash: 'SHA-256'}, p.privateKey, 'd'); return [Object.keys(p).sort().join(), p.privateKey.type, p.publicKey.type, p.privateKey.usages.join(), p.publicKey.usages.join(), p.publicKey.extractable, s.byteLength, await crypto.subtle.verify({name: 'ECDSA', hash: 'SHA-256'}, p.publicKey, s, 'd'), await crypto.subtle.verify({name: 'ECDSA', hash: 'SHA-256'}, p.publicKey, s, 'e')]; })
= ["privateKey,publicKey","private","public","sign","verify",true,64,true,false]
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-384'}, false, ['sign', 'verify']).then(async function (p) { return [p.privateKey.extractable, p.publicKey.extractable, p.publicKey.algorithm, (await crypto.subtle.exportKey('raw', p.publicKey)).byteLength, (await crypto.subtle.exportKey('spki', p.publicKey)).byteLength, Object.keys(await crypto.subtle.exportKey('jwk', p.publicKey)).sort().join()]; })
= throws TypeError: provided key cannot be extracted
~ [false,true,{name:"ECDSA",namedCurve:"P-384"},97,120,"crv,ext,key_ops,kty,x,y"]
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-1'}, true, ['sign'])
= throws TypeError: unknown namedCurve: "P-1"
~ throws NotSupportedError
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-256'}, true, ['verify'])
= {privateKey:[object CryptoKey]{algorithm:{name:"ECDH",namedCurve:"P-256"},extractable:true,type:"private",usages:["sign"]},publicKey:[object CryptoKey]{algorithm:{name:"ECDH",namedCurve:"P-256"},extractable:true,type:"public",usages:["verify"]}}
~ throws SyntaxError: Usages cannot be empty when creating a key.
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-256'}, true, ['sign']).then(async function (p) { var j = await crypto.subtle.exportKey('jwk', p.privateKey); return [Object.keys(j).sort().join(), j.kty, j.crv, j.key_ops, j.ext, j.d.length]; })
= ["crv,d,ext,key_ops,kty,x,y","EC","P-256",["sign"],true,43]
> crypto.subtle.generateKey({name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var s = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', p.privateKey, 'd'); return [s.byteLength, p.publicKey.algorithm.modulusLength, p.publicKey.algorithm.publicExponent, await crypto.subtle.verify('RSASSA-PKCS1-v1_5', p.publicKey, s, 'd')]; })
= [128,1024,Buffer 010001,true]
~ [128,1024,[object Uint8Array] 010001,true]
> crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var s = await crypto.subtle.sign({name: 'RSA-PSS', saltLength: 32}, p.privateKey, 'd'); return await crypto.subtle.verify({name: 'RSA-PSS', saltLength: 32}, p.publicKey, s, 'd'); })
= true
> crypto.subtle.generateKey({name: 'RSA-OAEP', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-1'}, true, ['encrypt', 'decrypt']).then(async function (p) { return Buffer.from(await crypto.subtle.decrypt({name: 'RSA-OAEP'}, p.privateKey, await crypto.subtle.encrypt({name: 'RSA-OAEP'}, p.publicKey, 'text'))).toString(); })
= "text"
> crypto.subtle.generateKey({name: 'RSA-OAEP', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['encrypt', 'decrypt']).then(async function (p) { var j = await crypto.subtle.exportKey('jwk', p.publicKey); return [j.kty, j.alg, j.e, j.key_ops, j.ext, Object.keys(j).sort().join()]; })
= ["RSA","RSA-OAEP-256","AQAB",["encrypt"],true,"alg,e,ext,key_ops,kty,n"]
> crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']).then(async function (p) { var s = await crypto.subtle.sign('Ed25519', p.privateKey, 'd'); return [s.byteLength, await crypto.subtle.verify('Ed25519', p.publicKey, s, 'd'), (await crypto.subtle.exportKey('raw', p.publicKey)).byteLength]; })
= throws TypeError: unknown algorithm name: "Ed25519"
~ [64,true,32]
> crypto.subtle.generateKey({name: 'X25519'}, true, ['deriveBits']).then(async function (p) { return (await crypto.subtle.deriveBits({name: 'X25519', public: p.publicKey}, p.privateKey, 256)).byteLength; })
= throws TypeError: unknown algorithm name: "X25519"
~ 32
> crypto.subtle.generateKey({name: 'ECDH', namedCurve: 'P-256'}, true, ['deriveBits', 'deriveKey']).then(async function (p) { return [(await crypto.subtle.deriveBits({name: 'ECDH', public: p.publicKey}, p.privateKey, 256)).byteLength, (await crypto.subtle.deriveBits({name: 'ECDH', public: p.publicKey}, p.privateKey, 128)).byteLength, (await crypto.subtle.deriveKey({name: 'ECDH', public: p.publicKey}, p.privateKey, {name: 'AES-GCM', length: 256}, true, ['encrypt'])).type]; })
= [32,16,"secret"]
> crypto.subtle.generateKey({name: 'ECDH', namedCurve: 'P-256'}, true, ['deriveBits']).then(function (p) { return crypto.subtle.deriveBits({name: 'ECDH'}, p.privateKey, 256); })
= throws TypeError: ECDH algorithm.public is not provided
~ throws TypeError
> crypto.subtle.generateKey({name: 'NOPE'}, true, ['sign'])
= throws TypeError: unknown algorithm name: "NOPE"
~ throws NotSupportedError
> crypto.subtle.generateKey()
= throws TypeError: unknown algorithm name: "undefined"
~ throws TypeError
> crypto.subtle.generateKey({name: 'AES-KW', length: 128}, true, ['wrapKey', 'unwrapKey']).then(async function (w) { var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt']); var x = await crypto.subtle.wrapKey('raw', k, w, 'AES-KW'); var u = await crypto.subtle.unwrapKey('raw', x, w, 'AES-KW', {name: 'AES-GCM'}, true, ['encrypt']); return [x.byteLength, Buffer.from(await crypto.subtle.exportKey('raw', u)).toString()]; })
= throws TypeError: unknown algorithm name: "AES-KW"
~ [24,"0123456789abcdef"]
> crypto.subtle.generateKey({name: 'AES-GCM', length: 128}, true, ['wrapKey', 'unwrapKey']).then(async function (w) { var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'HMAC', hash: 'SHA-256'}, true, ['sign']); var x = await crypto.subtle.wrapKey('jwk', k, w, {name: 'AES-GCM', iv: Buffer.alloc(12)}); var u = await crypto.subtle.unwrapKey('jwk', x, w, {name: 'AES-GCM', iv: Buffer.alloc(12)}, {name: 'HMAC', hash: 'SHA-256'}, true, ['sign']); return Buffer.from(await crypto.subtle.exportKey('raw', u)).toString(); })
= "0123456789abcdef"
> crypto.subtle.importKey('spki', Buffer.from('MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9q9UU8I5mEovUf86QZ7kOBIjJwqnzD1omageEHWwHdBO6B+dFabmdT9POxg==', 'base64'), {name: 'ECDSA', namedCurve: 'P-256'}, true, ['verify']).then(function (k) { return crypto.subtle.exportKey('jwk', k); })
= {kty:"EC",x:"EVs_o5-uQbTjL3chynL4wXgUg2R9q9UU8I5mEovUf84",y:"kGe5DgSIycKp8w9aJmoHhB1sB3QTugfnRWm5nU_TzsY",crv:"P-256",key_ops:["verify"],ext:true}
~ {key_ops:["verify"],ext:true,kty:"EC",x:"EVs_o5-uQbTjL3chynL4wXgUg2R9q9UU8I5mEovUf84",y:"kGe5DgSIycKp8w9aJmoHhB1sB3QTugfnRWm5nU_TzsY",crv:"P-256"}
> crypto.subtle.importKey('spki', Buffer.from('MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9q9UU8I5mEovUf86QZ7kOBIjJwqnzD1omageEHWwHdBO6B+dFabmdT9POxg==', 'base64'), {name: 'ECDSA', namedCurve: 'P-384'}, true, ['verify'])
= throws Error: name curve mismatch
~ throws DataError
> crypto.subtle.importKey('spki', Buffer.from('garbage'), {name: 'ECDSA', namedCurve: 'P-256'}, true, ['verify'])
= throws Error: d2i_PUBKEY() failed (SSL: error:0680009B:asn1 encoding routines::too long error:06800066:asn1 encoding routines::bad object header error:0688010A:asn1 encoding routines::nested asn1 error:Type=X509_PUBKEY)
~ throws DataError
> crypto.subtle.importKey('spki', Buffer.from('garbage'), {name: 'ECDSA', namedCurve: 'P-256'}, true, ['sign'])
= throws Error: d2i_PUBKEY() failed (SSL: error:0680009B:asn1 encoding routines::too long error:06800066:asn1 encoding routines::bad object header error:0688010A:asn1 encoding routines::nested asn1 error:Type=X509_PUBKEY)
~ throws SyntaxError
> crypto.subtle.importKey('jwk', {kty: 'EC', crv: 'P-256', x: 'EVs_o5-uQbTjL3chynL4wXgUg2R9q9UU8I5mEovUf84', y: 'kGe5DgSIycKp8w9aJmoHhB1sB3QTugfnRWm5nU_TzsY'}, {name: 'ECDSA', namedCurve: 'P-256'}, true, ['verify']).then(async function (k) { return Buffer.from(await crypto.subtle.exportKey('spki', k)).toString('base64'); })
= "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9q9UU8I5mEovUf86QZ7kOBIjJwqnzD1omageEHWwHdBO6B+dFabmdT9POxg=="
> crypto.subtle.importKey('jwk', {kty: 'EC', crv: 'P-256', x: 'EVs_o5-uQbTjL3chynL4wXgUg2R9q9UU8I5mEovUf84'}, {name: 'ECDSA', namedCurve: 'P-256'}, true, ['verify'])
= throws TypeError: Invalid JWK EC key
~ throws DataError
> crypto.subtle.importKey('raw', Buffer.from('BBFbP6OfrkG04y93Icpy+MF4FINkfavVFPCOZhKL1H/OkGe5DgSIycKp8w9aJmoHhB1sB3QTugfnRWm5nU/TzsY=', 'base64'), {name: 'ECDSA', namedCurve: 'P-256'}, true, ['verify']).then(async function (k) { return (await crypto.subtle.exportKey('jwk', k)).x; })
= "EVs_o5-uQbTjL3chynL4wXgUg2R9q9UU8I5mEovUf84"
> crypto.subtle.importKey('raw', Buffer.from('xx'), {name: 'ECDSA', namedCurve: 'P-256'}, true, ['verify'])
= throws Error: EC_POINT_oct2point() failed (SSL: error:08000066:elliptic curve routines::invalid encoding)
~ throws DataError
> typeof CryptoKey + typeof Crypto + typeof SubtleCrypto
= "undefinedundefinedundefined"
~ "functionfunctionfunction"
> njs.dump(await crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, false, ['sign']))
= "CryptoKey {algorithm:{name:'HMAC',hash:'SHA-256'},extractable:false,type:'secret',usages:['sign']}"
~ "CryptoKey {algorithm:{name:'HMAC',length:24,hash:{name:'SHA-256'}},extractable:false,type:'secret',usages:['sign']}"
> Object.keys(await crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, false, ['sign']))
= ["algorithm","extractable","type","usages"]
~ []
> crypto.subtle.digest('SHA-256', 'x') instanceof Promise
= true
> (function () { try { crypto.subtle.digest('NOPE', 'x').catch(function () {}); return 'rejected'; } catch (e) { return 'thrown'; } })()
= "rejected"
set> var k = await crypto.subtle.generateKey({name: 'HMAC', hash: 'SHA-256'}, false, ['sign', 'verify']); var s = await crypto.subtle.sign('HMAC', k, 'd'); r.setReturnValue(String(await crypto.subtle.verify('HMAC', k, s, 'd')));
= 200 Content-Type: text/plain | Content-Length: 6 "[true]"
set> var k = await crypto.subtle.generateKey({name: 'AES-GCM', length: 128}, true, ['encrypt', 'decrypt']); var s = await crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k, 'd'); r.setReturnValue(Buffer.from(await crypto.subtle.decrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k, s)).toString());
= 200 Content-Type: text/plain | Content-Length: 3 "[d]"
set> var p = await crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-256'}, true, ['sign', 'verify']); var s = await crypto.subtle.sign({name: 'ECDSA', hash: 'SHA-256'}, p.privateKey, 'd'); r.setReturnValue(String(await crypto.subtle.verify({name: 'ECDSA', hash: 'SHA-256'}, p.publicKey, s, 'd')));
= 200 Content-Type: text/plain | Content-Length: 6 "[true]"
set> var k = await crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveKey']); var d = await crypto.subtle.deriveKey({name: 'PBKDF2', hash: 'SHA-256', salt: '0123456789abcdef', iterations: 10}, k, {name: 'AES-GCM', length: 256}, true, ['encrypt']); r.setReturnValue(Buffer.from(await crypto.subtle.exportKey('raw', d)).toString('hex'));
= 200 Content-Type: text/plain | Content-Length: 66 "[bb7185dcddca70069929ddd0df2861958950aecf61730f1aaf436e70bc2c0610]"
set> var k = await crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, true, ['sign']); r.setReturnValue(JSON.stringify(await crypto.subtle.exportKey('jwk', k)));
= 200 Content-Type: text/plain | Content-Length: 70 "[{\"kty\":\"oct\",\"k\":\"a2V5\",\"key_ops\":[\"sign\"],\"ext\":true,\"alg\":\"HS256\"}]"
~ 200 Content-Type: text/plain | Content-Length: 70 "[{\"key_ops\":[\"sign\"],\"ext\":true,\"alg\":\"HS256\",\"kty\":\"oct\",\"k\":\"a2V5\"}]"
set> var k = await crypto.subtle.importKey('raw', 'secret', 'HKDF', false, ['deriveBits']); r.setReturnValue(Buffer.from(await crypto.subtle.deriveBits({name: 'HKDF', hash: 'SHA-256', salt: 'salt', info: 'info'}, k, 128)).toString('hex'));
= 200 Content-Type: text/plain | Content-Length: 34 "[f6d2fcc47cb939deafe3853a1e641a27]"
set> var p = await crypto.subtle.generateKey({name: 'ECDH', namedCurve: 'P-256'}, true, ['deriveBits']); r.setReturnValue(String((await crypto.subtle.deriveBits({name: 'ECDH', public: p.publicKey}, p.privateKey, 256)).byteLength));
= 200 Content-Type: text/plain | Content-Length: 4 "[32]"
set> var w = await crypto.subtle.generateKey({name: 'AES-KW', length: 128}, true, ['wrapKey', 'unwrapKey']); var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt']); var x = await crypto.subtle.wrapKey('raw', k, w, 'AES-KW'); var u = await crypto.subtle.unwrapKey('raw', x, w, 'AES-KW', {name: 'AES-GCM'}, true, ['encrypt']); r.setReturnValue(Buffer.from(await crypto.subtle.exportKey('raw', u)).toString());
= 200 Content-Type: text/plain | Content-Length: 18 "[[object Promise]]" [error] js unhandled rejection: TypeError: unknown algorithm name: "AES-KW"
~ 200 Content-Type: text/plain | Content-Length: 18 "[0123456789abcdef]"
set> try { await crypto.subtle.digest('NOPE', 'x'); } catch (e) { r.setReturnValue(e.name); }
= 200 Content-Type: text/plain | Content-Length: 11 "[TypeError]"
~ 200 Content-Type: text/plain | Content-Length: 19 "[NotSupportedError]"
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['decrypt']); try { await crypto.subtle.decrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k, Buffer.alloc(20)); } catch (e) { r.setReturnValue('failed'); }
= 200 Content-Type: text/plain | Content-Length: 8 "[failed]"
stream set> var k = await crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, false, ['sign']); s.setReturnValue(Buffer.from(await crypto.subtle.sign('HMAC', k, 'd')).toString('hex'));
= "[d7e32b451f521ead8f5cb7755f0612c6b277566763068b94aac32d4478f64444]"
stream set> var k = await crypto.subtle.generateKey({name: 'AES-CBC', length: 128}, true, ['encrypt']); s.setReturnValue(String((await crypto.subtle.encrypt({name: 'AES-CBC', iv: Buffer.alloc(16)}, k, 'd')).byteLength));
= "[16]"
head> crypto.subtle.digest('SHA-256', 'x').then(function (d) { r.headersOut.digest = Buffer.from(d).toString('hex').slice(0, 8); });
= 200 Content-Type: text/plain | Content-Length: 4 | digest: 452ba1dd "text"
~ 200 Content-Type: text/plain | Content-Length: 4 | digest: 2d711642 "text"
