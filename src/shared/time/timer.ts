/** The longest time (milliseconds) that Node can wait for; a longer one it takes for 1 ms. */
const LONGEST = 0x7fffffff;

/**
 * As setTimeout, for times of any length: those that a configuration, a name server or a client's rate lead to may be longer than
 * Node's 24.8 days. What is returned may be given to clearTimeout at any time. nginx: ngx_add_timer.
 */
export function setTimer<A extends unknown[]>(then: (...args: A) => void, ms: number, ...args: A): NodeJS.Timeout {
  return ms > LONGEST ? setLongTimer(then, ms, args) : setTimeout(then, ms, ...args);
}

/** Waits in several parts of one length, so that one Timeout serves for all of them. */
function setLongTimer<A extends unknown[]>(then: (...args: A) => void, ms: number, args: A): NodeJS.Timeout {
  const parts = Math.ceil(ms / LONGEST);
  let left = parts;
  const timer = setTimeout(
    () => {
      if (--left > 0) {
        timer.refresh();
      } else {
        then(...args);
      }
    },
    parts === Number.POSITIVE_INFINITY ? LONGEST : Math.ceil(ms / parts),
  );
  return timer;
}
