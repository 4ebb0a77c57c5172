function count(r) {
  ngx.shared.counts.incr(String(r.status), 1, 0);
}

function show(r) {
  const lines = ngx.shared.counts.items().map(([status, n]) => `requests{status="${status}"} ${n}\n`);
  r.return(200, lines.sort().join(''));
}

export default { count, show };
