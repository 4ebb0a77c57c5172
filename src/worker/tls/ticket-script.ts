import { StoreScript } from '../fleet/script.js';

/** What stands for a text that is none, or longer than any that is right. */
export const NO_SET = '?';
/** What the store is asked with where nothing is to be changed. */
export const JUST_ASK = '*';

/**
 * Gives the set of ticket keys that the store has, or puts another one in its place: KEYS has its name, ARGV what it is thought to be and
 * what it becomes. The answer is what it is then, and the store's clock in milliseconds. Another program may have put anything there.
 */
export const TICKET_SCRIPT: StoreScript = new StoreScript(`
local time = redis.call('TIME')
local is = redis.pcall('GET', KEYS[1])
if not is then
  is = ''
elseif type(is) == 'table' or #is > 1024 or not string.find(is, '^[%w%._ -]+$') then
  is = '${NO_SET}'
end
if is == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[2])
  is = ARGV[2]
end
return { is, string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)) }
`);
