/** Two answers in one. */
async function join(r) {
  const replies = await Promise.all(['/user', '/news'].map((uri) => r.subrequest(uri)));
  const [user, news] = replies.map(({ status, responseText }) => (status === 200 ? JSON.parse(responseText) : null));
  r.headersOut['Content-Type'] = 'application/json';
  r.return(200, JSON.stringify({ user, news }));
}

export default { join };
