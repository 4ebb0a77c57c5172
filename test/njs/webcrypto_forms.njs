# WebCrypto where a value is wanted at once, each algorithm with its forms.
set> r.setReturnValue(Buffer.from(await crypto.subtle.digest('SHA-1', 'abc')).toString('hex'));
= 200 Content-Type: text/plain | Content-Length: 42 "[a9993e364706816aba3e25717850c26c9cd0d89d]"
set> var k = await crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-1'}, false, ['sign', 'verify']); var m = await crypto.subtle.sign('HMAC', k, 'd'); r.setReturnValue(Buffer.from(m).toString('hex') + await crypto.subtle.verify('HMAC', k, m, 'd') + await crypto.subtle.verify('HMAC', k, m, 'e') + await crypto.subtle.verify('HMAC', k, Buffer.from(m).subarray(1), 'd'));
= 200 Content-Type: text/plain | Content-Length: 56 "[d873bc2a0b4696361f5c79ff23bb0a10cfb65434truefalsefalse]"
set> var k = await crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits', 'deriveKey']); r.setReturnValue(Buffer.from(await crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-1', salt: '0123456789abcdef', iterations: 3}, k, 256)).toString('hex'));
= 200 Content-Type: text/plain | Content-Length: 66 "[f6c8006a4e00b6dfe8f255950621cdac68d54aecad971ed6137e7b59740b067c]"
set> var k = await crypto.subtle.importKey('raw', 'pass', 'HKDF', false, ['deriveBits', 'deriveKey']); r.setReturnValue(Buffer.from(await crypto.subtle.deriveBits({name: 'HKDF', hash: 'SHA-1', salt: Buffer.from('s'), info: 'i'}, k, 256)).toString('hex'));
= 200 Content-Type: text/plain | Content-Length: 66 "[1ff659a8b325742b8717f4d2fa0d0ba6b289430aa6bde0b51365a527e2607ac7]"
set> var p = await crypto.subtle.generateKey({name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-1'}, true, ['sign', 'verify']); var m = await crypto.subtle.sign({name: 'RSASSA-PKCS1-v1_5'}, p.privateKey, 'd'); r.setReturnValue(m.byteLength + '' + await crypto.subtle.verify({name: 'RSASSA-PKCS1-v1_5'}, p.publicKey, m, 'd') + await crypto.subtle.verify({name: 'RSASSA-PKCS1-v1_5'}, p.publicKey, m, 'e'));
= 200 Content-Type: text/plain | Content-Length: 14 "[128truefalse]"
set> r.setReturnValue(Buffer.from(await crypto.subtle.digest('SHA-256', 'abc')).toString('hex'));
= 200 Content-Type: text/plain | Content-Length: 66 "[ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad]"
set> var k = await crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, false, ['sign', 'verify']); var m = await crypto.subtle.sign('HMAC', k, 'd'); r.setReturnValue(Buffer.from(m).toString('hex') + await crypto.subtle.verify('HMAC', k, m, 'd') + await crypto.subtle.verify('HMAC', k, m, 'e') + await crypto.subtle.verify('HMAC', k, Buffer.from(m).subarray(1), 'd'));
= 200 Content-Type: text/plain | Content-Length: 80 "[d7e32b451f521ead8f5cb7755f0612c6b277566763068b94aac32d4478f64444truefalsefalse]"
set> var k = await crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits', 'deriveKey']); r.setReturnValue(Buffer.from(await crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-256', salt: '0123456789abcdef', iterations: 3}, k, 256)).toString('hex'));
= 200 Content-Type: text/plain | Content-Length: 66 "[b2bb385a189f77307e26339f9b9f112562f865f8960eeaadeb07cca92abe0697]"
set> var k = await crypto.subtle.importKey('raw', 'pass', 'HKDF', false, ['deriveBits', 'deriveKey']); r.setReturnValue(Buffer.from(await crypto.subtle.deriveBits({name: 'HKDF', hash: 'SHA-256', salt: Buffer.from('s'), info: 'i'}, k, 256)).toString('hex'));
= 200 Content-Type: text/plain | Content-Length: 66 "[6560c413dced1ca8c70e9ee98dc2a17b85aefa8c0758c2e14a4cb591a39369f4]"
set> var p = await crypto.subtle.generateKey({name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']); var m = await crypto.subtle.sign({name: 'RSASSA-PKCS1-v1_5'}, p.privateKey, 'd'); r.setReturnValue(m.byteLength + '' + await crypto.subtle.verify({name: 'RSASSA-PKCS1-v1_5'}, p.publicKey, m, 'd') + await crypto.subtle.verify({name: 'RSASSA-PKCS1-v1_5'}, p.publicKey, m, 'e'));
= 200 Content-Type: text/plain | Content-Length: 14 "[128truefalse]"
set> r.setReturnValue(Buffer.from(await crypto.subtle.digest('SHA-384', 'abc')).toString('hex'));
= 200 Content-Type: text/plain | Content-Length: 98 "[cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7]"
set> var k = await crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-384'}, false, ['sign', 'verify']); var m = await crypto.subtle.sign('HMAC', k, 'd'); r.setReturnValue(Buffer.from(m).toString('hex') + await crypto.subtle.verify('HMAC', k, m, 'd') + await crypto.subtle.verify('HMAC', k, m, 'e') + await crypto.subtle.verify('HMAC', k, Buffer.from(m).subarray(1), 'd'));
= 200 Content-Type: text/plain | Content-Length: 112 "[239bba9f2530ae12d4395164069f98838323579ec8a647e9ad64072176e5a31359347e24cd58630f8b4a0c978b9de455truefalsefalse]"
set> var k = await crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits', 'deriveKey']); r.setReturnValue(Buffer.from(await crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-384', salt: '0123456789abcdef', iterations: 3}, k, 256)).toString('hex'));
= 200 Content-Type: text/plain | Content-Length: 66 "[0ed4e92751b4e32700e53d48012753919ad8fbab3deab45bcf1e6836ecc4e683]"
set> var k = await crypto.subtle.importKey('raw', 'pass', 'HKDF', false, ['deriveBits', 'deriveKey']); r.setReturnValue(Buffer.from(await crypto.subtle.deriveBits({name: 'HKDF', hash: 'SHA-384', salt: Buffer.from('s'), info: 'i'}, k, 256)).toString('hex'));
= 200 Content-Type: text/plain | Content-Length: 66 "[e1cf11987886cceffb1bb09d3dfac49298e6b633bb7a4eb0db44f4b3daa503ff]"
set> var p = await crypto.subtle.generateKey({name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-384'}, true, ['sign', 'verify']); var m = await crypto.subtle.sign({name: 'RSASSA-PKCS1-v1_5'}, p.privateKey, 'd'); r.setReturnValue(m.byteLength + '' + await crypto.subtle.verify({name: 'RSASSA-PKCS1-v1_5'}, p.publicKey, m, 'd') + await crypto.subtle.verify({name: 'RSASSA-PKCS1-v1_5'}, p.publicKey, m, 'e'));
= 200 Content-Type: text/plain | Content-Length: 14 "[128truefalse]"
set> r.setReturnValue(Buffer.from(await crypto.subtle.digest('SHA-512', 'abc')).toString('hex'));
= 200 Content-Type: text/plain | Content-Length: 130 "[ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f]"
set> var k = await crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-512'}, false, ['sign', 'verify']); var m = await crypto.subtle.sign('HMAC', k, 'd'); r.setReturnValue(Buffer.from(m).toString('hex') + await crypto.subtle.verify('HMAC', k, m, 'd') + await crypto.subtle.verify('HMAC', k, m, 'e') + await crypto.subtle.verify('HMAC', k, Buffer.from(m).subarray(1), 'd'));
= 200 Content-Type: text/plain | Content-Length: 144 "[80e31799bb8d6feffc34a29d28c3ab616fc9d0e5defd2b7386b34ceb81887453e0b2ce1756f06c6b6ab7bbfe557fe079422c269091777ef62265db2a1f5c7481truefalsefalse]"
set> var k = await crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits', 'deriveKey']); r.setReturnValue(Buffer.from(await crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-512', salt: '0123456789abcdef', iterations: 3}, k, 256)).toString('hex'));
= 200 Content-Type: text/plain | Content-Length: 66 "[bf2cdf5bbe6602580de73973b5fef02d41eba282e05a49d520dd931832fdedda]"
set> var k = await crypto.subtle.importKey('raw', 'pass', 'HKDF', false, ['deriveBits', 'deriveKey']); r.setReturnValue(Buffer.from(await crypto.subtle.deriveBits({name: 'HKDF', hash: 'SHA-512', salt: Buffer.from('s'), info: 'i'}, k, 256)).toString('hex'));
= 200 Content-Type: text/plain | Content-Length: 66 "[d625c3b8c9949b5ae7de7ed36c291bc70ae1e9ef333257cdf828b5d7b1a45956]"
set> var p = await crypto.subtle.generateKey({name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-512'}, true, ['sign', 'verify']); var m = await crypto.subtle.sign({name: 'RSASSA-PKCS1-v1_5'}, p.privateKey, 'd'); r.setReturnValue(m.byteLength + '' + await crypto.subtle.verify({name: 'RSASSA-PKCS1-v1_5'}, p.publicKey, m, 'd') + await crypto.subtle.verify({name: 'RSASSA-PKCS1-v1_5'}, p.publicKey, m, 'e'));
= 200 Content-Type: text/plain | Content-Length: 14 "[128truefalse]"
set> var a = {name: 'AES-CBC', iv: Buffer.from('abcdefghijklmnop')}; var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-CBC'}, true, ['encrypt', 'decrypt']); var e = await crypto.subtle.encrypt(a, k, 'some plain text'); r.setReturnValue(Buffer.from(e).toString('hex') + Buffer.from(await crypto.subtle.decrypt(a, k, e)).toString());
= 200 Content-Type: text/plain | Content-Length: 49 "[f1d652f5118e00fe71d351c8a13ff41fsome plain text]"
set> var k = await crypto.subtle.generateKey({name: 'AES-CBC', length: 128}, true, ['encrypt', 'decrypt']); r.setReturnValue([k.type, k.algorithm.name, k.algorithm.length, k.extractable, k.usages, (await crypto.subtle.exportKey('raw', k)).byteLength].join());
= 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-CBC,128,true,decrypt,encrypt,16]"
~ 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-CBC,128,true,encrypt,decrypt,16]"
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-CBC'}, true, ['encrypt', 'decrypt']); var j = await crypto.subtle.exportKey('jwk', k); r.setReturnValue([j.kty, j.k, j.alg, j.ext, j.key_ops].join());
= 200 Content-Type: text/plain | Content-Length: 57 "[oct,MDEyMzQ1Njc4OWFiY2RlZg,A128CBC,true,decrypt,encrypt]"
~ 200 Content-Type: text/plain | Content-Length: 57 "[oct,MDEyMzQ1Njc4OWFiY2RlZg,A128CBC,true,encrypt,decrypt]"
set> var a = {name: 'AES-CTR', counter: Buffer.from('abcdefghijklmnop'), length: 64}; var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-CTR'}, true, ['encrypt', 'decrypt']); var e = await crypto.subtle.encrypt(a, k, 'some plain text'); r.setReturnValue(Buffer.from(e).toString('hex') + Buffer.from(await crypto.subtle.decrypt(a, k, e)).toString());
= 200 Content-Type: text/plain | Content-Length: 47 "[f60d1095656e1b2182482b69948c88some plain text]"
set> var k = await crypto.subtle.generateKey({name: 'AES-CTR', length: 128}, true, ['encrypt', 'decrypt']); r.setReturnValue([k.type, k.algorithm.name, k.algorithm.length, k.extractable, k.usages, (await crypto.subtle.exportKey('raw', k)).byteLength].join());
= 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-CTR,128,true,decrypt,encrypt,16]"
~ 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-CTR,128,true,encrypt,decrypt,16]"
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-CTR'}, true, ['encrypt', 'decrypt']); var j = await crypto.subtle.exportKey('jwk', k); r.setReturnValue([j.kty, j.k, j.alg, j.ext, j.key_ops].join());
= 200 Content-Type: text/plain | Content-Length: 57 "[oct,MDEyMzQ1Njc4OWFiY2RlZg,A128CTR,true,decrypt,encrypt]"
~ 200 Content-Type: text/plain | Content-Length: 57 "[oct,MDEyMzQ1Njc4OWFiY2RlZg,A128CTR,true,encrypt,decrypt]"
set> var a = {name: 'AES-GCM', iv: Buffer.from('abcdefghijkl'), additionalData: Buffer.from('aad')}; var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); var e = await crypto.subtle.encrypt(a, k, 'some plain text'); r.setReturnValue(Buffer.from(e).toString('hex') + Buffer.from(await crypto.subtle.decrypt(a, k, e)).toString());
= 200 Content-Type: text/plain | Content-Length: 79 "[96bd11d073d535c4305e944e9346abcb19355f95bae58086ea9c25ab7637e9some plain text]"
set> var k = await crypto.subtle.generateKey({name: 'AES-GCM', length: 128}, true, ['encrypt', 'decrypt']); r.setReturnValue([k.type, k.algorithm.name, k.algorithm.length, k.extractable, k.usages, (await crypto.subtle.exportKey('raw', k)).byteLength].join());
= 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-GCM,128,true,decrypt,encrypt,16]"
~ 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-GCM,128,true,encrypt,decrypt,16]"
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); var j = await crypto.subtle.exportKey('jwk', k); r.setReturnValue([j.kty, j.k, j.alg, j.ext, j.key_ops].join());
= 200 Content-Type: text/plain | Content-Length: 57 "[oct,MDEyMzQ1Njc4OWFiY2RlZg,A128GCM,true,decrypt,encrypt]"
~ 200 Content-Type: text/plain | Content-Length: 57 "[oct,MDEyMzQ1Njc4OWFiY2RlZg,A128GCM,true,encrypt,decrypt]"
set> var a = {name: 'AES-CBC', iv: Buffer.from('abcdefghijklmnop')}; var k = await crypto.subtle.importKey('raw', '0123456789abcdef01234567', {name: 'AES-CBC'}, true, ['encrypt', 'decrypt']); var e = await crypto.subtle.encrypt(a, k, 'some plain text'); r.setReturnValue(Buffer.from(e).toString('hex') + Buffer.from(await crypto.subtle.decrypt(a, k, e)).toString());
= 200 Content-Type: text/plain | Content-Length: 49 "[4b617a86761be8a4de9f384aec941929some plain text]"
set> var k = await crypto.subtle.generateKey({name: 'AES-CBC', length: 192}, true, ['encrypt', 'decrypt']); r.setReturnValue([k.type, k.algorithm.name, k.algorithm.length, k.extractable, k.usages, (await crypto.subtle.exportKey('raw', k)).byteLength].join());
= 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-CBC,192,true,decrypt,encrypt,24]"
~ 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-CBC,192,true,encrypt,decrypt,24]"
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef01234567', {name: 'AES-CBC'}, true, ['encrypt', 'decrypt']); var j = await crypto.subtle.exportKey('jwk', k); r.setReturnValue([j.kty, j.k, j.alg, j.ext, j.key_ops].join());
= 200 Content-Type: text/plain | Content-Length: 67 "[oct,MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3,A192CBC,true,decrypt,encrypt]"
~ 200 Content-Type: text/plain | Content-Length: 67 "[oct,MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3,A192CBC,true,encrypt,decrypt]"
set> var a = {name: 'AES-CTR', counter: Buffer.from('abcdefghijklmnop'), length: 64}; var k = await crypto.subtle.importKey('raw', '0123456789abcdef01234567', {name: 'AES-CTR'}, true, ['encrypt', 'decrypt']); var e = await crypto.subtle.encrypt(a, k, 'some plain text'); r.setReturnValue(Buffer.from(e).toString('hex') + Buffer.from(await crypto.subtle.decrypt(a, k, e)).toString());
= 200 Content-Type: text/plain | Content-Length: 47 "[4b45e341794fd745fa09a6fb6ec1efsome plain text]"
set> var k = await crypto.subtle.generateKey({name: 'AES-CTR', length: 192}, true, ['encrypt', 'decrypt']); r.setReturnValue([k.type, k.algorithm.name, k.algorithm.length, k.extractable, k.usages, (await crypto.subtle.exportKey('raw', k)).byteLength].join());
= 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-CTR,192,true,decrypt,encrypt,24]"
~ 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-CTR,192,true,encrypt,decrypt,24]"
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef01234567', {name: 'AES-CTR'}, true, ['encrypt', 'decrypt']); var j = await crypto.subtle.exportKey('jwk', k); r.setReturnValue([j.kty, j.k, j.alg, j.ext, j.key_ops].join());
= 200 Content-Type: text/plain | Content-Length: 67 "[oct,MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3,A192CTR,true,decrypt,encrypt]"
~ 200 Content-Type: text/plain | Content-Length: 67 "[oct,MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3,A192CTR,true,encrypt,decrypt]"
set> var a = {name: 'AES-GCM', iv: Buffer.from('abcdefghijkl'), additionalData: Buffer.from('aad')}; var k = await crypto.subtle.importKey('raw', '0123456789abcdef01234567', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); var e = await crypto.subtle.encrypt(a, k, 'some plain text'); r.setReturnValue(Buffer.from(e).toString('hex') + Buffer.from(await crypto.subtle.decrypt(a, k, e)).toString());
= 200 Content-Type: text/plain | Content-Length: 79 "[8bc39ee09a9d27f074e5368c79e959982c135654606418ef6ad74f2ac55734some plain text]"
set> var k = await crypto.subtle.generateKey({name: 'AES-GCM', length: 192}, true, ['encrypt', 'decrypt']); r.setReturnValue([k.type, k.algorithm.name, k.algorithm.length, k.extractable, k.usages, (await crypto.subtle.exportKey('raw', k)).byteLength].join());
= 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-GCM,192,true,decrypt,encrypt,24]"
~ 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-GCM,192,true,encrypt,decrypt,24]"
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef01234567', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); var j = await crypto.subtle.exportKey('jwk', k); r.setReturnValue([j.kty, j.k, j.alg, j.ext, j.key_ops].join());
= 200 Content-Type: text/plain | Content-Length: 67 "[oct,MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3,A192GCM,true,decrypt,encrypt]"
~ 200 Content-Type: text/plain | Content-Length: 67 "[oct,MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3,A192GCM,true,encrypt,decrypt]"
set> var a = {name: 'AES-CBC', iv: Buffer.from('abcdefghijklmnop')}; var k = await crypto.subtle.importKey('raw', '0123456789abcdef0123456789abcdef', {name: 'AES-CBC'}, true, ['encrypt', 'decrypt']); var e = await crypto.subtle.encrypt(a, k, 'some plain text'); r.setReturnValue(Buffer.from(e).toString('hex') + Buffer.from(await crypto.subtle.decrypt(a, k, e)).toString());
= 200 Content-Type: text/plain | Content-Length: 49 "[474c7041057bd43eda27bdc7459e4c89some plain text]"
set> var k = await crypto.subtle.generateKey({name: 'AES-CBC', length: 256}, true, ['encrypt', 'decrypt']); r.setReturnValue([k.type, k.algorithm.name, k.algorithm.length, k.extractable, k.usages, (await crypto.subtle.exportKey('raw', k)).byteLength].join());
= 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-CBC,256,true,decrypt,encrypt,32]"
~ 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-CBC,256,true,encrypt,decrypt,32]"
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef0123456789abcdef', {name: 'AES-CBC'}, true, ['encrypt', 'decrypt']); var j = await crypto.subtle.exportKey('jwk', k); r.setReturnValue([j.kty, j.k, j.alg, j.ext, j.key_ops].join());
= 200 Content-Type: text/plain | Content-Length: 78 "[oct,MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY,A256CBC,true,decrypt,encrypt]"
~ 200 Content-Type: text/plain | Content-Length: 78 "[oct,MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY,A256CBC,true,encrypt,decrypt]"
set> var a = {name: 'AES-CTR', counter: Buffer.from('abcdefghijklmnop'), length: 64}; var k = await crypto.subtle.importKey('raw', '0123456789abcdef0123456789abcdef', {name: 'AES-CTR'}, true, ['encrypt', 'decrypt']); var e = await crypto.subtle.encrypt(a, k, 'some plain text'); r.setReturnValue(Buffer.from(e).toString('hex') + Buffer.from(await crypto.subtle.decrypt(a, k, e)).toString());
= 200 Content-Type: text/plain | Content-Length: 47 "[5fc56e9a9c4f29feed49652ee64c7fsome plain text]"
set> var k = await crypto.subtle.generateKey({name: 'AES-CTR', length: 256}, true, ['encrypt', 'decrypt']); r.setReturnValue([k.type, k.algorithm.name, k.algorithm.length, k.extractable, k.usages, (await crypto.subtle.exportKey('raw', k)).byteLength].join());
= 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-CTR,256,true,decrypt,encrypt,32]"
~ 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-CTR,256,true,encrypt,decrypt,32]"
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef0123456789abcdef', {name: 'AES-CTR'}, true, ['encrypt', 'decrypt']); var j = await crypto.subtle.exportKey('jwk', k); r.setReturnValue([j.kty, j.k, j.alg, j.ext, j.key_ops].join());
= 200 Content-Type: text/plain | Content-Length: 78 "[oct,MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY,A256CTR,true,decrypt,encrypt]"
~ 200 Content-Type: text/plain | Content-Length: 78 "[oct,MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY,A256CTR,true,encrypt,decrypt]"
set> var a = {name: 'AES-GCM', iv: Buffer.from('abcdefghijkl'), additionalData: Buffer.from('aad')}; var k = await crypto.subtle.importKey('raw', '0123456789abcdef0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); var e = await crypto.subtle.encrypt(a, k, 'some plain text'); r.setReturnValue(Buffer.from(e).toString('hex') + Buffer.from(await crypto.subtle.decrypt(a, k, e)).toString());
= 200 Content-Type: text/plain | Content-Length: 79 "[1aa3a4daeb9501b20a72d2656fe12cb49755a10fd7f24f810c849731ddd44fsome plain text]"
set> var k = await crypto.subtle.generateKey({name: 'AES-GCM', length: 256}, true, ['encrypt', 'decrypt']); r.setReturnValue([k.type, k.algorithm.name, k.algorithm.length, k.extractable, k.usages, (await crypto.subtle.exportKey('raw', k)).byteLength].join());
= 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-GCM,256,true,decrypt,encrypt,32]"
~ 200 Content-Type: text/plain | Content-Length: 44 "[secret,AES-GCM,256,true,encrypt,decrypt,32]"
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); var j = await crypto.subtle.exportKey('jwk', k); r.setReturnValue([j.kty, j.k, j.alg, j.ext, j.key_ops].join());
= 200 Content-Type: text/plain | Content-Length: 78 "[oct,MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY,A256GCM,true,decrypt,encrypt]"
~ 200 Content-Type: text/plain | Content-Length: 78 "[oct,MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY,A256GCM,true,encrypt,decrypt]"
set> var p = await crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-256'}, true, ['sign', 'verify']); var a = {name: 'ECDSA', hash: 'SHA-256'}; var m = await crypto.subtle.sign(a, p.privateKey, 'd'); r.setReturnValue(m.byteLength + '' + await crypto.subtle.verify(a, p.publicKey, m, 'd') + await crypto.subtle.verify(a, p.publicKey, m, 'e'));
= 200 Content-Type: text/plain | Content-Length: 13 "[64truefalse]"
set> var p = await crypto.subtle.generateKey({name: 'ECDH', namedCurve: 'P-256'}, true, ['deriveBits', 'deriveKey']); var q = await crypto.subtle.generateKey({name: 'ECDH', namedCurve: 'P-256'}, true, ['deriveBits']); var x = await crypto.subtle.deriveBits({name: 'ECDH', public: q.publicKey}, p.privateKey, 128); var y = await crypto.subtle.deriveBits({name: 'ECDH', public: p.publicKey}, q.privateKey, 128); r.setReturnValue(x.byteLength + '' + Buffer.from(x).equals(Buffer.from(y)));
= 200 Content-Type: text/plain | Content-Length: 8 "[16true]"
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-256'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('pkcs8', p.privateKey); var k = await crypto.subtle.importKey('pkcs8', x, {name: 'ECDSA', namedCurve: 'P-256'}, true, ['sign']); var a = {name: 'ECDSA', hash: 'SHA-384'}; var m = await crypto.subtle.sign(a, k, 'd'); return [k.type, k.usages, x.byteLength || Object.keys(x).sort().join(), await crypto.subtle.verify(a, p.publicKey, m, 'd')]; })
= ["private",["sign"],138,true]
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-256'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('spki', p.publicKey); var k = await crypto.subtle.importKey('spki', x, {name: 'ECDSA', namedCurve: 'P-256'}, true, ['verify']); var a = {name: 'ECDSA', hash: 'SHA-384'}; var m = await crypto.subtle.sign(a, p.privateKey, 'd'); return [k.type, k.usages, x.byteLength || Object.keys(x).sort().join(), await crypto.subtle.verify(a, k, m, 'd')]; })
= ["public",["verify"],91,true]
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-256'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('raw', p.publicKey); var k = await crypto.subtle.importKey('raw', x, {name: 'ECDSA', namedCurve: 'P-256'}, true, ['verify']); var a = {name: 'ECDSA', hash: 'SHA-384'}; var m = await crypto.subtle.sign(a, p.privateKey, 'd'); return [k.type, k.usages, x.byteLength || Object.keys(x).sort().join(), await crypto.subtle.verify(a, k, m, 'd')]; })
= ["public",["verify"],65,true]
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-256'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('jwk', p.privateKey); var k = await crypto.subtle.importKey('jwk', x, {name: 'ECDSA', namedCurve: 'P-256'}, true, ['sign']); var a = {name: 'ECDSA', hash: 'SHA-384'}; var m = await crypto.subtle.sign(a, k, 'd'); return [k.type, k.usages, x.byteLength || Object.keys(x).sort().join(), await crypto.subtle.verify(a, p.publicKey, m, 'd')]; })
= ["private",["sign"],"crv,d,ext,key_ops,kty,x,y",true]
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-256'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('jwk', p.publicKey); var k = await crypto.subtle.importKey('jwk', x, {name: 'ECDSA', namedCurve: 'P-256'}, true, ['verify']); var a = {name: 'ECDSA', hash: 'SHA-384'}; var m = await crypto.subtle.sign(a, p.privateKey, 'd'); return [k.type, k.usages, x.byteLength || Object.keys(x).sort().join(), await crypto.subtle.verify(a, k, m, 'd')]; })
= ["public",["verify"],"crv,ext,key_ops,kty,x,y",true]
set> var p = await crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-384'}, true, ['sign', 'verify']); var a = {name: 'ECDSA', hash: 'SHA-256'}; var m = await crypto.subtle.sign(a, p.privateKey, 'd'); r.setReturnValue(m.byteLength + '' + await crypto.subtle.verify(a, p.publicKey, m, 'd') + await crypto.subtle.verify(a, p.publicKey, m, 'e'));
= 200 Content-Type: text/plain | Content-Length: 13 "[96truefalse]"
set> var p = await crypto.subtle.generateKey({name: 'ECDH', namedCurve: 'P-384'}, true, ['deriveBits', 'deriveKey']); var q = await crypto.subtle.generateKey({name: 'ECDH', namedCurve: 'P-384'}, true, ['deriveBits']); var x = await crypto.subtle.deriveBits({name: 'ECDH', public: q.publicKey}, p.privateKey, 128); var y = await crypto.subtle.deriveBits({name: 'ECDH', public: p.publicKey}, q.privateKey, 128); r.setReturnValue(x.byteLength + '' + Buffer.from(x).equals(Buffer.from(y)));
= 200 Content-Type: text/plain | Content-Length: 8 "[16true]"
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-384'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('pkcs8', p.privateKey); var k = await crypto.subtle.importKey('pkcs8', x, {name: 'ECDSA', namedCurve: 'P-384'}, true, ['sign']); var a = {name: 'ECDSA', hash: 'SHA-384'}; var m = await crypto.subtle.sign(a, k, 'd'); return [k.type, k.usages, x.byteLength || Object.keys(x).sort().join(), await crypto.subtle.verify(a, p.publicKey, m, 'd')]; })
= ["private",["sign"],185,true]
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-384'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('spki', p.publicKey); var k = await crypto.subtle.importKey('spki', x, {name: 'ECDSA', namedCurve: 'P-384'}, true, ['verify']); var a = {name: 'ECDSA', hash: 'SHA-384'}; var m = await crypto.subtle.sign(a, p.privateKey, 'd'); return [k.type, k.usages, x.byteLength || Object.keys(x).sort().join(), await crypto.subtle.verify(a, k, m, 'd')]; })
= ["public",["verify"],120,true]
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-384'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('raw', p.publicKey); var k = await crypto.subtle.importKey('raw', x, {name: 'ECDSA', namedCurve: 'P-384'}, true, ['verify']); var a = {name: 'ECDSA', hash: 'SHA-384'}; var m = await crypto.subtle.sign(a, p.privateKey, 'd'); return [k.type, k.usages, x.byteLength || Object.keys(x).sort().join(), await crypto.subtle.verify(a, k, m, 'd')]; })
= ["public",["verify"],97,true]
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-384'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('jwk', p.privateKey); var k = await crypto.subtle.importKey('jwk', x, {name: 'ECDSA', namedCurve: 'P-384'}, true, ['sign']); var a = {name: 'ECDSA', hash: 'SHA-384'}; var m = await crypto.subtle.sign(a, k, 'd'); return [k.type, k.usages, x.byteLength || Object.keys(x).sort().join(), await crypto.subtle.verify(a, p.publicKey, m, 'd')]; })
= ["private",["sign"],"crv,d,ext,key_ops,kty,x,y",true]
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-384'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('jwk', p.publicKey); var k = await crypto.subtle.importKey('jwk', x, {name: 'ECDSA', namedCurve: 'P-384'}, true, ['verify']); var a = {name: 'ECDSA', hash: 'SHA-384'}; var m = await crypto.subtle.sign(a, p.privateKey, 'd'); return [k.type, k.usages, x.byteLength || Object.keys(x).sort().join(), await crypto.subtle.verify(a, k, m, 'd')]; })
= ["public",["verify"],"crv,ext,key_ops,kty,x,y",true]
set> var p = await crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-521'}, true, ['sign', 'verify']); var a = {name: 'ECDSA', hash: 'SHA-256'}; var m = await crypto.subtle.sign(a, p.privateKey, 'd'); r.setReturnValue(m.byteLength + '' + await crypto.subtle.verify(a, p.publicKey, m, 'd') + await crypto.subtle.verify(a, p.publicKey, m, 'e'));
= 200 Content-Type: text/plain | Content-Length: 14 "[132truefalse]"
set> var p = await crypto.subtle.generateKey({name: 'ECDH', namedCurve: 'P-521'}, true, ['deriveBits', 'deriveKey']); var q = await crypto.subtle.generateKey({name: 'ECDH', namedCurve: 'P-521'}, true, ['deriveBits']); var x = await crypto.subtle.deriveBits({name: 'ECDH', public: q.publicKey}, p.privateKey, 128); var y = await crypto.subtle.deriveBits({name: 'ECDH', public: p.publicKey}, q.privateKey, 128); r.setReturnValue(x.byteLength + '' + Buffer.from(x).equals(Buffer.from(y)));
= 200 Content-Type: text/plain | Content-Length: 8 "[16true]"
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-521'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('pkcs8', p.privateKey); var k = await crypto.subtle.importKey('pkcs8', x, {name: 'ECDSA', namedCurve: 'P-521'}, true, ['sign']); var a = {name: 'ECDSA', hash: 'SHA-384'}; var m = await crypto.subtle.sign(a, k, 'd'); return [k.type, k.usages, x.byteLength || Object.keys(x).sort().join(), await crypto.subtle.verify(a, p.publicKey, m, 'd')]; })
= ["private",["sign"],241,true]
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-521'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('spki', p.publicKey); var k = await crypto.subtle.importKey('spki', x, {name: 'ECDSA', namedCurve: 'P-521'}, true, ['verify']); var a = {name: 'ECDSA', hash: 'SHA-384'}; var m = await crypto.subtle.sign(a, p.privateKey, 'd'); return [k.type, k.usages, x.byteLength || Object.keys(x).sort().join(), await crypto.subtle.verify(a, k, m, 'd')]; })
= ["public",["verify"],158,true]
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-521'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('raw', p.publicKey); var k = await crypto.subtle.importKey('raw', x, {name: 'ECDSA', namedCurve: 'P-521'}, true, ['verify']); var a = {name: 'ECDSA', hash: 'SHA-384'}; var m = await crypto.subtle.sign(a, p.privateKey, 'd'); return [k.type, k.usages, x.byteLength || Object.keys(x).sort().join(), await crypto.subtle.verify(a, k, m, 'd')]; })
= ["public",["verify"],133,true]
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-521'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('jwk', p.privateKey); var k = await crypto.subtle.importKey('jwk', x, {name: 'ECDSA', namedCurve: 'P-521'}, true, ['sign']); var a = {name: 'ECDSA', hash: 'SHA-384'}; var m = await crypto.subtle.sign(a, k, 'd'); return [k.type, k.usages, x.byteLength || Object.keys(x).sort().join(), await crypto.subtle.verify(a, p.publicKey, m, 'd')]; })
= ["private",["sign"],"crv,d,ext,key_ops,kty,x,y",true]
> crypto.subtle.generateKey({name: 'ECDSA', namedCurve: 'P-521'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('jwk', p.publicKey); var k = await crypto.subtle.importKey('jwk', x, {name: 'ECDSA', namedCurve: 'P-521'}, true, ['verify']); var a = {name: 'ECDSA', hash: 'SHA-384'}; var m = await crypto.subtle.sign(a, p.privateKey, 'd'); return [k.type, k.usages, x.byteLength || Object.keys(x).sort().join(), await crypto.subtle.verify(a, k, m, 'd')]; })
= ["public",["verify"],"crv,ext,key_ops,kty,x,y",true]
> crypto.subtle.generateKey({name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('pkcs8', p.privateKey); var k = await crypto.subtle.importKey('pkcs8', x, {name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256'}, true, ['sign']); var m = await crypto.subtle.sign({name: 'RSASSA-PKCS1-v1_5'}, k, 'd'); return [k.type, k.usages, x.byteLength > 100 || Object.keys(x).sort().join(), await crypto.subtle.verify({name: 'RSASSA-PKCS1-v1_5'}, p.publicKey, m, 'd')]; })
= ["private",["sign"],true,true]
> crypto.subtle.generateKey({name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('spki', p.publicKey); var k = await crypto.subtle.importKey('spki', x, {name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256'}, true, ['verify']); var m = await crypto.subtle.sign({name: 'RSASSA-PKCS1-v1_5'}, p.privateKey, 'd'); return [k.type, k.usages, x.byteLength > 100 || Object.keys(x).sort().join(), await crypto.subtle.verify({name: 'RSASSA-PKCS1-v1_5'}, k, m, 'd')]; })
= ["public",["verify"],true,true]
> crypto.subtle.generateKey({name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('jwk', p.privateKey); var k = await crypto.subtle.importKey('jwk', x, {name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256'}, true, ['sign']); var m = await crypto.subtle.sign({name: 'RSASSA-PKCS1-v1_5'}, k, 'd'); return [k.type, k.usages, x.byteLength > 100 || Object.keys(x).sort().join(), await crypto.subtle.verify({name: 'RSASSA-PKCS1-v1_5'}, p.publicKey, m, 'd')]; })
= ["private",["sign"],"alg,d,dp,dq,e,ext,key_ops,kty,n,p,q,qi",true]
> crypto.subtle.generateKey({name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('jwk', p.publicKey); var k = await crypto.subtle.importKey('jwk', x, {name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256'}, true, ['verify']); var m = await crypto.subtle.sign({name: 'RSASSA-PKCS1-v1_5'}, p.privateKey, 'd'); return [k.type, k.usages, x.byteLength > 100 || Object.keys(x).sort().join(), await crypto.subtle.verify({name: 'RSASSA-PKCS1-v1_5'}, k, m, 'd')]; })
= ["public",["verify"],"alg,e,ext,key_ops,kty,n",true]
> crypto.subtle.generateKey({name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('raw', p.publicKey); var k = await crypto.subtle.importKey('raw', x, {name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256'}, true, ['verify']); var m = await crypto.subtle.sign({name: 'RSASSA-PKCS1-v1_5'}, p.privateKey, 'd'); return [k.type, k.usages, x.byteLength > 100 || Object.keys(x).sort().join(), await crypto.subtle.verify({name: 'RSASSA-PKCS1-v1_5'}, k, m, 'd')]; })
= throws TypeError: unsupported key fmt "raw" for "RSASSA-PKCS1-v1_5" key
~ throws NotSupportedError
> crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('pkcs8', p.privateKey); var k = await crypto.subtle.importKey('pkcs8', x, {name: 'RSA-PSS', hash: 'SHA-256'}, true, ['sign']); var m = await crypto.subtle.sign({name: 'RSA-PSS', saltLength: 20}, k, 'd'); return [k.type, k.usages, x.byteLength > 100 || Object.keys(x).sort().join(), await crypto.subtle.verify({name: 'RSA-PSS', saltLength: 20}, p.publicKey, m, 'd')]; })
= ["private",["sign"],true,true]
> crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('spki', p.publicKey); var k = await crypto.subtle.importKey('spki', x, {name: 'RSA-PSS', hash: 'SHA-256'}, true, ['verify']); var m = await crypto.subtle.sign({name: 'RSA-PSS', saltLength: 20}, p.privateKey, 'd'); return [k.type, k.usages, x.byteLength > 100 || Object.keys(x).sort().join(), await crypto.subtle.verify({name: 'RSA-PSS', saltLength: 20}, k, m, 'd')]; })
= ["public",["verify"],true,true]
> crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('jwk', p.privateKey); var k = await crypto.subtle.importKey('jwk', x, {name: 'RSA-PSS', hash: 'SHA-256'}, true, ['sign']); var m = await crypto.subtle.sign({name: 'RSA-PSS', saltLength: 20}, k, 'd'); return [k.type, k.usages, x.byteLength > 100 || Object.keys(x).sort().join(), await crypto.subtle.verify({name: 'RSA-PSS', saltLength: 20}, p.publicKey, m, 'd')]; })
= ["private",["sign"],"alg,d,dp,dq,e,ext,key_ops,kty,n,p,q,qi",true]
> crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('jwk', p.publicKey); var k = await crypto.subtle.importKey('jwk', x, {name: 'RSA-PSS', hash: 'SHA-256'}, true, ['verify']); var m = await crypto.subtle.sign({name: 'RSA-PSS', saltLength: 20}, p.privateKey, 'd'); return [k.type, k.usages, x.byteLength > 100 || Object.keys(x).sort().join(), await crypto.subtle.verify({name: 'RSA-PSS', saltLength: 20}, k, m, 'd')]; })
= ["public",["verify"],"alg,e,ext,key_ops,kty,n",true]
> crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var x = await crypto.subtle.exportKey('raw', p.publicKey); var k = await crypto.subtle.importKey('raw', x, {name: 'RSA-PSS', hash: 'SHA-256'}, true, ['verify']); var m = await crypto.subtle.sign({name: 'RSA-PSS', saltLength: 20}, p.privateKey, 'd'); return [k.type, k.usages, x.byteLength > 100 || Object.keys(x).sort().join(), await crypto.subtle.verify({name: 'RSA-PSS', saltLength: 20}, k, m, 'd')]; })
= throws TypeError: unsupported key fmt "raw" for "RSA-PSS" key
~ throws NotSupportedError
> crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var m = await crypto.subtle.sign({name: 'RSA-PSS', saltLength: 0}, p.privateKey, 'd'); return await crypto.subtle.verify({name: 'RSA-PSS', saltLength: 0}, p.publicKey, m, 'd'); })
= true
> crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var m = await crypto.subtle.sign({name: 'RSA-PSS', saltLength: 20}, p.privateKey, 'd'); return await crypto.subtle.verify({name: 'RSA-PSS', saltLength: 20}, p.publicKey, m, 'd'); })
= true
> crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var m = await crypto.subtle.sign({name: 'RSA-PSS', saltLength: 32}, p.privateKey, 'd'); return await crypto.subtle.verify({name: 'RSA-PSS', saltLength: 32}, p.publicKey, m, 'd'); })
= true
> crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var m = await crypto.subtle.sign({name: 'RSA-PSS', saltLength: 64}, p.privateKey, 'd'); return await crypto.subtle.verify({name: 'RSA-PSS', saltLength: 64}, p.publicKey, m, 'd'); })
= true
> crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var m = await crypto.subtle.sign({name: 'RSA-PSS', saltLength: -1}, p.privateKey, 'd'); return await crypto.subtle.verify({name: 'RSA-PSS', saltLength: -1}, p.publicKey, m, 'd'); })
= true
~ throws TypeError
> crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var m = await crypto.subtle.sign({name: 'RSA-PSS', saltLength: 'x'}, p.privateKey, 'd'); return await crypto.subtle.verify({name: 'RSA-PSS', saltLength: 'x'}, p.publicKey, m, 'd'); })
= true
~ throws TypeError
> crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var m = await crypto.subtle.sign({name: 'RSA-PSS', saltLength: undefined}, p.privateKey, 'd'); return await crypto.subtle.verify({name: 'RSA-PSS', saltLength: undefined}, p.publicKey, m, 'd'); })
= true
~ throws TypeError
> crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var m = await crypto.subtle.sign({name: 'RSA-PSS', saltLength: null}, p.privateKey, 'd'); return await crypto.subtle.verify({name: 'RSA-PSS', saltLength: null}, p.publicKey, m, 'd'); })
= true
> crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var m = await crypto.subtle.sign({name: 'RSA-PSS', saltLength: 1.5}, p.privateKey, 'd'); return await crypto.subtle.verify({name: 'RSA-PSS', saltLength: 1.5}, p.publicKey, m, 'd'); })
= true
> crypto.subtle.generateKey({name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['sign', 'verify']).then(async function (p) { var m = await crypto.subtle.sign({name: 'RSA-PSS', saltLength: 1000}, p.privateKey, 'd'); return await crypto.subtle.verify({name: 'RSA-PSS', saltLength: 1000}, p.publicKey, m, 'd'); })
= throws Error: EVP_PKEY_sign() failed (SSL: error:02000068:rsa routines::bad signature error:1C880004:Provider routines::RSA lib error:02000068:rsa routines::bad signature error:1C880004:Provider routines::RSA lib error:02000068:rsa routines::bad signature error:1C880004:Provider routines::RSA lib error:02000068:rsa routines::bad signature error:1C880004:Provider routines::RSA lib error:0200006E:rsa routines::data too large for key size error:1C880004:Provider routines::RSA lib)
~ throws OperationError
set> var p = await crypto.subtle.generateKey({name: 'RSA-OAEP', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['encrypt', 'decrypt']); var e = await crypto.subtle.encrypt({name: 'RSA-OAEP'}, p.publicKey, 'text'); r.setReturnValue(e.byteLength + Buffer.from(await crypto.subtle.decrypt({name: 'RSA-OAEP'}, p.privateKey, e)).toString());
= 200 Content-Type: text/plain | Content-Length: 9 "[128text]"
set> var p = await crypto.subtle.generateKey({name: 'RSA-OAEP', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['encrypt', 'decrypt']); var e = await crypto.subtle.encrypt({name: 'RSA-OAEP'}, p.publicKey, 'text'); r.setReturnValue(e.byteLength + Buffer.from(await crypto.subtle.decrypt({name: 'RSA-OAEP'}, p.privateKey, e)).toString());
= 200 Content-Type: text/plain | Content-Length: 9 "[128text]"
set> var p = await crypto.subtle.generateKey({name: 'RSA-OAEP', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256'}, true, ['encrypt', 'decrypt']); var e = await crypto.subtle.encrypt({name: 'RSA-OAEP'}, p.publicKey, 'text'); r.setReturnValue(e.byteLength + Buffer.from(await crypto.subtle.decrypt({name: 'RSA-OAEP'}, p.privateKey, e)).toString());
= 200 Content-Type: text/plain | Content-Length: 9 "[128text]"
> crypto.subtle.generateKey({name: 'RSA-OAEP', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-1'}, true, ['encrypt', 'decrypt']).then(async function (p) { return [(await crypto.subtle.exportKey('jwk', p.publicKey)).alg, Buffer.from(await crypto.subtle.decrypt({name: 'RSA-OAEP'}, p.privateKey, await crypto.subtle.encrypt({name: 'RSA-OAEP'}, p.publicKey, 'text'))).toString()]; })
= ["RSA-OAEP","text"]
> crypto.subtle.generateKey({name: 'RSA-OAEP', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-384'}, true, ['encrypt', 'decrypt']).then(async function (p) { return [(await crypto.subtle.exportKey('jwk', p.publicKey)).alg, Buffer.from(await crypto.subtle.decrypt({name: 'RSA-OAEP'}, p.privateKey, await crypto.subtle.encrypt({name: 'RSA-OAEP'}, p.publicKey, 'text'))).toString()]; })
= ["RSA-OAEP-384","text"]
> crypto.subtle.generateKey({name: 'RSA-OAEP', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-512'}, true, ['encrypt', 'decrypt']).then(async function (p) { return [(await crypto.subtle.exportKey('jwk', p.publicKey)).alg, Buffer.from(await crypto.subtle.decrypt({name: 'RSA-OAEP'}, p.privateKey, await crypto.subtle.encrypt({name: 'RSA-OAEP'}, p.publicKey, 'text'))).toString()]; })
= ["RSA-OAEP-512","text"]
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-CBC', iv: Buffer.alloc(16)}, k, 'd'); })
= throws TypeError: cannot encrypt using "AES-GCM" with "AES-CBC" key
~ throws InvalidAccessError
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.encrypt({name: 'AES-CBC', iv: Buffer.alloc(16)}, k, 'd'); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 8 "[thrown]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(0)}, k, 'd'); })
= throws Error: EVP_CIPHER_CTX_ctrl() failed (SSL: error:1C80006D:Provider routines::invalid iv length)
~ throws OperationError
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(0)}, k, 'd'); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 8 "[thrown]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-GCM', iv: 5}, k, 'd'); })
= ArrayBuffer 3fc22fa17fe32a4426de5e625e21e33e08
~ throws TypeError
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.encrypt({name: 'AES-GCM', iv: 5}, k, 'd'); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 9 "[done 17]"
~ 200 Content-Type: text/plain | Content-Length: 8 "[thrown]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-GCM', iv: null}, k, 'd'); })
= ArrayBuffer c1baa13fc02438af7e6ac8a77e1d3628e5
~ throws TypeError
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.encrypt({name: 'AES-GCM', iv: null}, k, 'd'); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 9 "[done 17]"
~ 200 Content-Type: text/plain | Content-Length: 8 "[thrown]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(12), tagLength: 'x'}, k, 'd'); })
= throws TypeError: AES-GCM Invalid tagLength
~ throws TypeError
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(12), tagLength: 'x'}, k, 'd'); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 8 "[thrown]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(12), tagLength: 128.5}, k, 'd'); })
= ArrayBuffer 26b5aac4d0671d3fe6232d27947ee6b6b8
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(12), tagLength: 128.5}, k, 'd'); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 9 "[done 17]"
~ 200 Content-Type: text/plain | Content-Length: 2 "[]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'aes-gcm', iv: Buffer.alloc(12)}, k, 'd'); })
= ArrayBuffer 26b5aac4d0671d3fe6232d27947ee6b6b8
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.encrypt({name: 'aes-gcm', iv: Buffer.alloc(12)}, k, 'd'); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 9 "[done 17]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt('x', k, 'd'); })
= throws TypeError: unknown algorithm name: "x"
~ throws NotSupportedError
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.encrypt('x', k, 'd'); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 8 "[thrown]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt(null, k, 'd'); })
= throws TypeError: unknown algorithm name: "null"
~ throws NotSupportedError
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.encrypt(null, k, 'd'); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 8 "[thrown]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, null, 'd'); })
= throws TypeError: "key" is not a CryptoKey object
~ throws TypeError
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, null, 'd'); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 8 "[thrown]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k); })
= ArrayBuffer 378c4e209fe3e2a6eb72bd8ebab670086934a54608535e2fa4
~ throws TypeError
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 9 "[done 25]"
~ 200 Content-Type: text/plain | Content-Length: 8 "[thrown]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k, ''); })
= ArrayBuffer 01b04c381a66e4e94590d25fb0335aec
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.encrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k, ''); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 9 "[done 16]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt({get name() { throw new Error('get'); }}, k, 'd'); })
= throws TypeError: algorithm name is not provided
~ throws Error
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.encrypt({get name() { throw new Error('get'); }}, k, 'd'); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 8 "[thrown]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.encrypt({name: 'AES-GCM', get iv() { throw new Error('get'); }}, k, 'd'); })
= throws TypeError: AES-GCM algorithm.iv is not provided
~ throws Error
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.encrypt({name: 'AES-GCM', get iv() { throw new Error('get'); }}, k, 'd'); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 8 "[thrown]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.decrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k, ''); })
= throws TypeError: AES-GCM data is too short
~ throws OperationError
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.decrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k, ''); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 8 "[thrown]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.decrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k, Buffer.alloc(16)); })
= throws Error: EVP_DecryptFinal_ex() failed
~ throws OperationError
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.decrypt({name: 'AES-GCM', iv: Buffer.alloc(12)}, k, Buffer.alloc(16)); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 8 "[thrown]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.sign('HMAC', k, 'd'); })
= throws TypeError: provide key does not support "sign" operation
~ throws InvalidAccessError
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.sign('HMAC', k, 'd'); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 8 "[thrown]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.sign({name: 'AES-GCM'}, k, 'd'); })
= throws TypeError: provide key does not support "sign" operation
~ throws NotSupportedError
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.sign({name: 'AES-GCM'}, k, 'd'); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 8 "[thrown]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.exportKey('pkcs8', k); })
= throws TypeError: unsupported key fmt "pkcs8" for "AES-GCM" key
~ throws NotSupportedError
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.exportKey('pkcs8', k); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 8 "[thrown]"
> crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']).then(function (k) { return crypto.subtle.exportKey('jwk', k).then(function (j) { return j.k; }); })
= "MDEyMzQ1Njc4OWFiY2RlZg"
set> var k = await crypto.subtle.importKey('raw', '0123456789abcdef', {name: 'AES-GCM'}, true, ['encrypt', 'decrypt']); try { var x = await crypto.subtle.exportKey('jwk', k).then(function (j) { return j.k; }); r.setReturnValue('done ' + (x.byteLength || x)); } catch (e) { r.setReturnValue('thrown'); }
= 200 Content-Type: text/plain | Content-Length: 29 "[done MDEyMzQ1Njc4OWFiY2RlZg]"
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-256', salt: '0123456789abcdef'}, k, 128); })
= throws TypeError: PBKDF2 algorithm.iterations is not provided
~ throws TypeError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-256', salt: '0123456789abcdef', iterations: 'x'}, k, 128); })
= throws Error: PKCS5_PBKDF2_HMAC() failed (SSL: error:1C80007B:Provider routines::invalid iteration count)
~ throws TypeError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-256', iterations: 1}, k, 128); })
= throws TypeError: PBKDF2 algorithm.salt is not provided
~ throws TypeError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-256', iterations: 1}, k, 0); })
= throws TypeError: PBKDF2 algorithm.salt is not provided
~ throws TypeError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-256', iterations: 1}, k, null); })
= throws TypeError: PBKDF2 algorithm.salt is not provided
~ throws TypeError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-256', iterations: 1}, k, undefined); })
= throws TypeError: PBKDF2 algorithm.salt is not provided
~ throws TypeError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-256', iterations: 1}, k, 7); })
= throws TypeError: PBKDF2 algorithm.salt is not provided
~ throws TypeError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-256', iterations: 1}, k, '128'); })
= throws TypeError: PBKDF2 algorithm.salt is not provided
~ throws TypeError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'SHA-256', iterations: 1}, k, 8.5); })
= throws TypeError: PBKDF2 algorithm.salt is not provided
~ throws TypeError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'MD5', salt: '0123456789abcdef', iterations: 1}, k, 128); })
= throws TypeError: unknown hash name: "MD5"
~ throws NotSupportedError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'MD5', salt: '0123456789abcdef', iterations: 1}, k, 0); })
= throws TypeError: unknown hash name: "MD5"
~ throws NotSupportedError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'MD5', salt: '0123456789abcdef', iterations: 1}, k, null); })
= throws TypeError: unknown hash name: "MD5"
~ throws NotSupportedError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'MD5', salt: '0123456789abcdef', iterations: 1}, k, undefined); })
= throws TypeError: unknown hash name: "MD5"
~ throws NotSupportedError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'MD5', salt: '0123456789abcdef', iterations: 1}, k, 7); })
= throws TypeError: unknown hash name: "MD5"
~ throws NotSupportedError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'MD5', salt: '0123456789abcdef', iterations: 1}, k, '128'); })
= throws TypeError: unknown hash name: "MD5"
~ throws NotSupportedError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', hash: 'MD5', salt: '0123456789abcdef', iterations: 1}, k, 8.5); })
= throws TypeError: unknown hash name: "MD5"
~ throws NotSupportedError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', salt: '0123456789abcdef', iterations: 1}, k, 128); })
= ArrayBuffer b1b25d92b035e6408f9140932765eb24
~ throws TypeError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', salt: '0123456789abcdef', iterations: 1}, k, 0); })
= ArrayBuffer 
~ throws TypeError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', salt: '0123456789abcdef', iterations: 1}, k, null); })
= ArrayBuffer 
~ throws TypeError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', salt: '0123456789abcdef', iterations: 1}, k, undefined); })
= ArrayBuffer 
~ throws TypeError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', salt: '0123456789abcdef', iterations: 1}, k, 7); })
= ArrayBuffer 
~ throws TypeError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', salt: '0123456789abcdef', iterations: 1}, k, '128'); })
= ArrayBuffer b1b25d92b035e6408f9140932765eb24
~ throws TypeError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'PBKDF2', salt: '0123456789abcdef', iterations: 1}, k, 8.5); })
= ArrayBuffer b1
~ throws TypeError
> crypto.subtle.importKey('raw', 'pass', 'PBKDF2', false, ['deriveBits']).then(function (k) { return crypto.subtle.deriveBits({name: 'HKDF', hash: 'SHA-256', salt: '', info: ''}, k, 128); })
= throws TypeError: cannot derive bits using "PBKDF2" with "HKDF" key
~ throws InvalidAccessError
> crypto.subtle.importKey('raw', Buffer.alloc(16), {name: 'AES-CBC'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= ["secret","AES-CBC"]
~ throws SyntaxError
> crypto.subtle.importKey('raw', {}, {name: 'AES-CBC'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: AES Invalid key length
~ throws TypeError
> crypto.subtle.importKey('raw', 'text', {name: 'AES-CBC'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: AES Invalid key length
~ throws DataError
> crypto.subtle.importKey('raw', Buffer.alloc(16), {name: 'ECDSA', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: EC_POINT_oct2point() failed (SSL: error:08000066:elliptic curve routines::invalid encoding)
~ throws DataError
> crypto.subtle.importKey('raw', {}, {name: 'ECDSA', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: EC_POINT_oct2point() failed (SSL: error:08000066:elliptic curve routines::invalid encoding)
~ throws TypeError
> crypto.subtle.importKey('raw', 'text', {name: 'ECDSA', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: EC_POINT_oct2point() failed (SSL: error:08000066:elliptic curve routines::invalid encoding)
~ throws DataError
> crypto.subtle.importKey('raw', Buffer.alloc(16), {name: 'RSA-OAEP', hash: 'SHA-1'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "raw" for "RSA-OAEP" key
~ throws NotSupportedError
> crypto.subtle.importKey('raw', {}, {name: 'RSA-OAEP', hash: 'SHA-1'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "raw" for "RSA-OAEP" key
~ throws TypeError
> crypto.subtle.importKey('raw', 'text', {name: 'RSA-OAEP', hash: 'SHA-1'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "raw" for "RSA-OAEP" key
~ throws NotSupportedError
> crypto.subtle.importKey('raw', Buffer.alloc(16), {name: 'PBKDF2'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= ["secret","xml"]
~ throws SyntaxError
> crypto.subtle.importKey('raw', {}, {name: 'PBKDF2'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= ["secret","xml"]
~ throws TypeError
> crypto.subtle.importKey('raw', 'text', {name: 'PBKDF2'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= ["secret","xml"]
~ throws SyntaxError
> crypto.subtle.importKey('raw', Buffer.alloc(16), {name: 'HKDF'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= closed
~ throws SyntaxError
> crypto.subtle.importKey('raw', {}, {name: 'HKDF'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= closed
~ throws TypeError
> crypto.subtle.importKey('raw', 'text', {name: 'HKDF'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= closed
~ throws SyntaxError
> crypto.subtle.importKey('raw', Buffer.alloc(16), {name: 'ECDH', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: EC_POINT_oct2point() failed (SSL: error:08000066:elliptic curve routines::invalid encoding)
~ throws DataError
> crypto.subtle.importKey('raw', {}, {name: 'ECDH', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: EC_POINT_oct2point() failed (SSL: error:08000066:elliptic curve routines::invalid encoding)
~ throws TypeError
> crypto.subtle.importKey('raw', 'text', {name: 'ECDH', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: EC_POINT_oct2point() failed (SSL: error:08000066:elliptic curve routines::invalid encoding)
~ throws DataError
> crypto.subtle.importKey('jwk', Buffer.alloc(16), {name: 'AES-CBC'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: invalid JWK key type: undefined
~ throws DataError
> crypto.subtle.importKey('jwk', {}, {name: 'AES-CBC'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: invalid JWK key type: undefined
~ throws DataError
> crypto.subtle.importKey('jwk', 'text', {name: 'AES-CBC'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: invalid JWK key data: object value expected
~ throws DataError
> crypto.subtle.importKey('jwk', Buffer.alloc(16), {name: 'ECDSA', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: invalid JWK key type: undefined
~ throws DataError
> crypto.subtle.importKey('jwk', {}, {name: 'ECDSA', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: invalid JWK key type: undefined
~ throws DataError
> crypto.subtle.importKey('jwk', 'text', {name: 'ECDSA', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: invalid JWK key data: object value expected
~ throws DataError
> crypto.subtle.importKey('jwk', Buffer.alloc(16), {name: 'RSA-OAEP', hash: 'SHA-1'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: invalid JWK key type: undefined
~ throws DataError
> crypto.subtle.importKey('jwk', {}, {name: 'RSA-OAEP', hash: 'SHA-1'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: invalid JWK key type: undefined
~ throws DataError
> crypto.subtle.importKey('jwk', 'text', {name: 'RSA-OAEP', hash: 'SHA-1'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: invalid JWK key data: object value expected
~ throws DataError
> crypto.subtle.importKey('jwk', Buffer.alloc(16), {name: 'PBKDF2'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "jwk" for "PBKDF2" key
~ throws SyntaxError
> crypto.subtle.importKey('jwk', {}, {name: 'PBKDF2'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "jwk" for "PBKDF2" key
~ throws SyntaxError
> crypto.subtle.importKey('jwk', 'text', {name: 'PBKDF2'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "jwk" for "PBKDF2" key
~ throws SyntaxError
> crypto.subtle.importKey('jwk', Buffer.alloc(16), {name: 'HKDF'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "jwk" for "HKDF" key
~ throws SyntaxError
> crypto.subtle.importKey('jwk', {}, {name: 'HKDF'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "jwk" for "HKDF" key
~ throws SyntaxError
> crypto.subtle.importKey('jwk', 'text', {name: 'HKDF'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "jwk" for "HKDF" key
~ throws SyntaxError
> crypto.subtle.importKey('jwk', Buffer.alloc(16), {name: 'ECDH', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: invalid JWK key type: undefined
~ throws DataError
> crypto.subtle.importKey('jwk', {}, {name: 'ECDH', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: invalid JWK key type: undefined
~ throws DataError
> crypto.subtle.importKey('jwk', 'text', {name: 'ECDH', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: invalid JWK key data: object value expected
~ throws DataError
> crypto.subtle.importKey('spki', Buffer.alloc(16), {name: 'AES-CBC'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "spki" for "AES-CBC" key
~ throws NotSupportedError
> crypto.subtle.importKey('spki', {}, {name: 'AES-CBC'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "spki" for "AES-CBC" key
~ throws TypeError
> crypto.subtle.importKey('spki', 'text', {name: 'AES-CBC'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "spki" for "AES-CBC" key
~ throws NotSupportedError
> crypto.subtle.importKey('spki', Buffer.alloc(16), {name: 'ECDSA', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PUBKEY() failed (SSL: error:068000A8:asn1 encoding routines::wrong tag error:0688010A:asn1 encoding routines::nested asn1 error:Type=X509_PUBKEY)
~ throws DataError
> crypto.subtle.importKey('spki', {}, {name: 'ECDSA', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PUBKEY() failed (SSL: error:0680009B:asn1 encoding routines::too long error:06800066:asn1 encoding routines::bad object header error:0688010A:asn1 encoding routines::nested asn1 error:Type=X509_PUBKEY)
~ throws TypeError
> crypto.subtle.importKey('spki', 'text', {name: 'ECDSA', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PUBKEY() failed (SSL: error:0680009B:asn1 encoding routines::too long error:06800066:asn1 encoding routines::bad object header error:0688010A:asn1 encoding routines::nested asn1 error:Type=X509_PUBKEY)
~ throws DataError
> crypto.subtle.importKey('spki', Buffer.alloc(16), {name: 'RSA-OAEP', hash: 'SHA-1'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PUBKEY() failed (SSL: error:068000A8:asn1 encoding routines::wrong tag error:0688010A:asn1 encoding routines::nested asn1 error:Type=X509_PUBKEY)
~ throws DataError
> crypto.subtle.importKey('spki', {}, {name: 'RSA-OAEP', hash: 'SHA-1'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PUBKEY() failed (SSL: error:0680009B:asn1 encoding routines::too long error:06800066:asn1 encoding routines::bad object header error:0688010A:asn1 encoding routines::nested asn1 error:Type=X509_PUBKEY)
~ throws TypeError
> crypto.subtle.importKey('spki', 'text', {name: 'RSA-OAEP', hash: 'SHA-1'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PUBKEY() failed (SSL: error:0680009B:asn1 encoding routines::too long error:06800066:asn1 encoding routines::bad object header error:0688010A:asn1 encoding routines::nested asn1 error:Type=X509_PUBKEY)
~ throws DataError
> crypto.subtle.importKey('spki', Buffer.alloc(16), {name: 'PBKDF2'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "spki" for "PBKDF2" key
~ throws SyntaxError
> crypto.subtle.importKey('spki', {}, {name: 'PBKDF2'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "spki" for "PBKDF2" key
~ throws TypeError
> crypto.subtle.importKey('spki', 'text', {name: 'PBKDF2'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "spki" for "PBKDF2" key
~ throws SyntaxError
> crypto.subtle.importKey('spki', Buffer.alloc(16), {name: 'HKDF'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "spki" for "HKDF" key
~ throws SyntaxError
> crypto.subtle.importKey('spki', {}, {name: 'HKDF'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "spki" for "HKDF" key
~ throws TypeError
> crypto.subtle.importKey('spki', 'text', {name: 'HKDF'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "spki" for "HKDF" key
~ throws SyntaxError
> crypto.subtle.importKey('spki', Buffer.alloc(16), {name: 'ECDH', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PUBKEY() failed (SSL: error:068000A8:asn1 encoding routines::wrong tag error:0688010A:asn1 encoding routines::nested asn1 error:Type=X509_PUBKEY)
~ throws DataError
> crypto.subtle.importKey('spki', {}, {name: 'ECDH', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PUBKEY() failed (SSL: error:0680009B:asn1 encoding routines::too long error:06800066:asn1 encoding routines::bad object header error:0688010A:asn1 encoding routines::nested asn1 error:Type=X509_PUBKEY)
~ throws TypeError
> crypto.subtle.importKey('spki', 'text', {name: 'ECDH', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PUBKEY() failed (SSL: error:0680009B:asn1 encoding routines::too long error:06800066:asn1 encoding routines::bad object header error:0688010A:asn1 encoding routines::nested asn1 error:Type=X509_PUBKEY)
~ throws DataError
> crypto.subtle.importKey('pkcs8', Buffer.alloc(16), {name: 'AES-CBC'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "pkcs8" for "AES-CBC" key
~ throws NotSupportedError
> crypto.subtle.importKey('pkcs8', {}, {name: 'AES-CBC'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "pkcs8" for "AES-CBC" key
~ throws TypeError
> crypto.subtle.importKey('pkcs8', 'text', {name: 'AES-CBC'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "pkcs8" for "AES-CBC" key
~ throws NotSupportedError
> crypto.subtle.importKey('pkcs8', Buffer.alloc(16), {name: 'ECDSA', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PKCS8_PRIV_KEY_INFO_bio() failed (SSL: error:068000A8:asn1 encoding routines::wrong tag error:0688010A:asn1 encoding routines::nested asn1 error:Type=PKCS8_PRIV_KEY_INFO)
~ throws DataError
> crypto.subtle.importKey('pkcs8', {}, {name: 'ECDSA', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PKCS8_PRIV_KEY_INFO_bio() failed (SSL: error:0680008E:asn1 encoding routines::not enough data)
~ throws TypeError
> crypto.subtle.importKey('pkcs8', 'text', {name: 'ECDSA', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PKCS8_PRIV_KEY_INFO_bio() failed (SSL: error:0680008E:asn1 encoding routines::not enough data)
~ throws DataError
> crypto.subtle.importKey('pkcs8', Buffer.alloc(16), {name: 'RSA-OAEP', hash: 'SHA-1'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PKCS8_PRIV_KEY_INFO_bio() failed (SSL: error:068000A8:asn1 encoding routines::wrong tag error:0688010A:asn1 encoding routines::nested asn1 error:Type=PKCS8_PRIV_KEY_INFO)
~ throws DataError
> crypto.subtle.importKey('pkcs8', {}, {name: 'RSA-OAEP', hash: 'SHA-1'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PKCS8_PRIV_KEY_INFO_bio() failed (SSL: error:0680008E:asn1 encoding routines::not enough data)
~ throws TypeError
> crypto.subtle.importKey('pkcs8', 'text', {name: 'RSA-OAEP', hash: 'SHA-1'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PKCS8_PRIV_KEY_INFO_bio() failed (SSL: error:0680008E:asn1 encoding routines::not enough data)
~ throws DataError
> crypto.subtle.importKey('pkcs8', Buffer.alloc(16), {name: 'PBKDF2'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "pkcs8" for "PBKDF2" key
~ throws SyntaxError
> crypto.subtle.importKey('pkcs8', {}, {name: 'PBKDF2'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "pkcs8" for "PBKDF2" key
~ throws TypeError
> crypto.subtle.importKey('pkcs8', 'text', {name: 'PBKDF2'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "pkcs8" for "PBKDF2" key
~ throws SyntaxError
> crypto.subtle.importKey('pkcs8', Buffer.alloc(16), {name: 'HKDF'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "pkcs8" for "HKDF" key
~ throws SyntaxError
> crypto.subtle.importKey('pkcs8', {}, {name: 'HKDF'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "pkcs8" for "HKDF" key
~ throws TypeError
> crypto.subtle.importKey('pkcs8', 'text', {name: 'HKDF'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws TypeError: unsupported key fmt "pkcs8" for "HKDF" key
~ throws SyntaxError
> crypto.subtle.importKey('pkcs8', Buffer.alloc(16), {name: 'ECDH', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PKCS8_PRIV_KEY_INFO_bio() failed (SSL: error:068000A8:asn1 encoding routines::wrong tag error:0688010A:asn1 encoding routines::nested asn1 error:Type=PKCS8_PRIV_KEY_INFO)
~ throws DataError
> crypto.subtle.importKey('pkcs8', {}, {name: 'ECDH', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PKCS8_PRIV_KEY_INFO_bio() failed (SSL: error:0680008E:asn1 encoding routines::not enough data)
~ throws TypeError
> crypto.subtle.importKey('pkcs8', 'text', {name: 'ECDH', namedCurve: 'P-256'}, true, []).then(function (k) { return [k.type, k.algorithm.name]; })
= throws Error: d2i_PKCS8_PRIV_KEY_INFO_bio() failed (SSL: error:0680008E:asn1 encoding routines::not enough data)
~ throws DataError
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, 'yes', ['sign', 'sign']).then(function (k) { return [k.extractable, k.usages]; })
= [true,["sign"]]
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, 'yes', ['verify', 'sign']).then(function (k) { return [k.extractable, k.usages]; })
= [true,["sign","verify"]]
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, 'yes', ['sign', 'encrypt']).then(function (k) { return [k.extractable, k.usages]; })
= throws TypeError: unsupported key usage for "HMAC" key
~ throws SyntaxError
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, 'yes', [5]).then(function (k) { return [k.extractable, k.usages]; })
= throws TypeError: unknown key usage: "5"
~ throws TypeError
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, 'yes', [null]).then(function (k) { return [k.extractable, k.usages]; })
= throws TypeError: unknown key usage: "null"
~ throws TypeError
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, 'yes', []).then(function (k) { return [k.extractable, k.usages]; })
= [true,[]]
~ throws SyntaxError
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, 'yes', new Set(['sign'])).then(function (k) { return [k.extractable, k.usages]; })
= throws ReferenceError: "Set" is not defined
~ [true,["sign"]]
> crypto.subtle.importKey('raw', 'key', {name: 'HMAC', hash: 'SHA-256'}, 'yes', {0: 'sign', length: 1}).then(function (k) { return [k.extractable, k.usages]; })
= throws TypeError: "keyUsages" argument must be an Array
~ throws TypeError
> (function (a) { return crypto.getRandomValues(a) === a; })(new Uint8Array(8))
= true
> (function (a) { return crypto.getRandomValues(a) === a; })(new Int8Array(8))
= true
> (function (a) { return crypto.getRandomValues(a) === a; })(new Uint16Array(8))
= true
> (function (a) { return crypto.getRandomValues(a) === a; })(new Int32Array(8))
= true
> (function (a) { return crypto.getRandomValues(a) === a; })(new BigUint64Array(8))
= throws ReferenceError: "BigUint64Array" is not defined
~ true
> (function (a) { return crypto.getRandomValues(a) === a; })(new Uint8ClampedArray(8))
= true
> crypto.getRandomValues()
= closed
~ throws TypeError
> crypto.getRandomValues(null)
= closed
~ throws TypeMismatchError
> crypto.getRandomValues(new DataView(new ArrayBuffer(4)))
= [object DataView]{}
~ throws TypeMismatchError
> crypto.getRandomValues(new ArrayBuffer(4))
= ArrayBuffer 41a946ea
~ throws TypeMismatchError
> crypto.getRandomValues(new Uint8Array(65536)).length
= 65536
> crypto.getRandomValues(new Uint8Array(0)).length
= 0
> crypto.getRandomValues(new Uint8Array(65537))
= throws TypeError: requested length exceeds 65536 bytes
~ throws QuotaExceededError
> crypto.randomUUID(5).length
= 36
> crypto.randomUUID() === crypto.randomUUID()
= false
