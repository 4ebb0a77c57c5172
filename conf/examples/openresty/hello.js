function answer(r) {
  r.headersOut['Content-Type'] = 'application/json';
  r.return(200, JSON.stringify({ name: r.args.name ?? 'world', method: r.method, body: r.requestText ?? '' }));
}

export default { answer };
