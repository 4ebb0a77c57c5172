import { StoreScript } from '../../fleet/script.js';

/**
 * Gives out places. Each of KEYS is a table of who holds how many, and until when by the store's clock, as `number end`; what has ended
 * counts no longer. ARGV has the asking worker, how long its numbers hold (milliseconds), what it holds under each key, and the requests,
 * one after the other: how many limits, and for each the key's number and the most that all may hold. The answer has for each request 0,
 * or the number of the limit that refuses it.
 */
export const CONN_SCRIPT: StoreScript = new StoreScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local who, lease, keys = ARGV[1], tonumber(ARGV[2]), #KEYS
local others, own = {}, {}
local function load(k)
  if others[k] then
    return
  end
  local sum, gone = 0, {}
  local all = redis.pcall('HGETALL', KEYS[k])
  if all.err then
    redis.call('DEL', KEYS[k])
    all = {}
  end
  for i = 1, #all, 2 do
    if all[i] ~= who then
      local n, ends = string.match(all[i + 1], '^(%d+) (%d+)$')
      if ends and tonumber(ends) > now and tonumber(ends) - now < 10 * lease then
        sum = sum + tonumber(n)
      else
        gone[#gone + 1] = all[i]
      end
    end
  end
  for i = 1, #gone, 1000 do
    redis.call('HDEL', KEYS[k], unpack(gone, i, math.min(i + 999, #gone)))
  end
  others[k] = sum
end
for k = 1, keys do
  own[k] = tonumber(ARGV[2 + k])
end
local out, at, total = {}, 3 + keys, #ARGV
while at <= total do
  local limits, refusing = tonumber(ARGV[at]), 0
  for i = 1, limits do
    local k = tonumber(ARGV[at + 2 * i - 1])
    load(k)
    if others[k] + own[k] >= tonumber(ARGV[at + 2 * i]) then
      refusing = i
      break
    end
  end
  if refusing == 0 then
    for i = 1, limits do
      local k = tonumber(ARGV[at + 2 * i - 1])
      own[k] = own[k] + 1
    end
  end
  out[#out + 1] = refusing
  at = at + 1 + 2 * limits
end
for k = 1, keys do
  if own[k] > 0 then
    redis.call('HSET', KEYS[k], who, string.format('%d %.0f', own[k], now + lease))
    redis.call('PEXPIRE', KEYS[k], lease)
  else
    redis.call('HDEL', KEYS[k], who)
  end
end
return out
`);
