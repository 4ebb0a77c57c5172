import { StoreScript } from './script.js';

/**
 * Changes what the machines have in common: KEYS are the list of changes, the table of what is there, when that ends, and where one machine
 * alone may change it, the place of its name. ARGV has how many changes the list keeps, the machine, and for each change the zone, the
 * key, its life in milliseconds (0 for ever, -1 for a removal), the text, and 1 where it is left alone if the store has the key. That
 * one is removed stands there for a minute, so that no machine brings it back that did not hear of it. What has ended goes, a few pairs
 * each time. 0: another machine may, and nothing is changed.
 */
export const REPLICATE_SCRIPT: StoreScript = new StoreScript(`
if KEYS[4] and redis.pcall('GET', KEYS[4]) ~= ARGV[2] then
  return 0
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ended = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, 64)
if #ended > 0 then
  redis.call('HDEL', KEYS[2], unpack(ended))
  redis.call('ZREM', KEYS[3], unpack(ended))
end
for i = 3, #ARGV, 5 do
  local zone, key, life, text = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 3]
  local field = zone .. '\\n' .. key
  if ARGV[i + 4] ~= '1' or redis.call('HEXISTS', KEYS[2], field) == 0 then
    if life < 0 then
      redis.call('HSET', KEYS[2], field, '-1 ')
      redis.call('ZADD', KEYS[3], now + 60000, field)
    else
      local ends = life == 0 and 0 or now + life
      redis.call('HSET', KEYS[2], field, string.format('%.0f ', ends) .. text)
      if ends > 0 then
        redis.call('ZADD', KEYS[3], ends, field)
      else
        redis.call('ZREM', KEYS[3], field)
      end
    end
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'm', ARGV[2], 'z', zone, 'k', key, 'l', ARGV[i + 2], 'v', text)
  end
end
return 1
`);

/**
 * What a machine begins with: KEYS are the store's name and the list of changes. ARGV has a name for a store that has none. The answer is
 * the name, whether the store has had none, the newest change, and the store's clock in milliseconds.
 */
export const BEGIN_SCRIPT: StoreScript = new StoreScript(`
local fresh = redis.call('SET', KEYS[1], ARGV[1], 'NX') and 1 or 0
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)
local time = redis.call('TIME')
return { redis.call('GET', KEYS[1]), fresh, last[1] and last[1][1] or '0-0', string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)) }
`);
