import { StoreScript } from '../../fleet/script.js';

/**
 * Decides by buckets of the store, which are KEYS: each has when it was last added to (milliseconds of the store's clock), and what it held
 * then, in thousandths. A bucket goes when it has leaked to where a new one begins. ARGV has the decisions, one after the other: how many
 * limits, and for each the bucket's number, rate and burst. The answer has for each: 0 and what each bucket holds with the request, or the
 * number of the limit that refuses it, and what its bucket would hold. A bucket that was added to at a time to come, because the clock was
 * set back or another server with another clock took over, leaks from now on. nginx: the arithmetic of ngx_http_limit_req_lookup.
 */
export const RATE_SCRIPT: StoreScript = new StoreScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local last, held, rates, order = {}, {}, {}, {}
local floor, max = math.floor, math.max
local function note(k, rate)
  if not rates[k] then
    order[#order + 1] = k
  end
  rates[k] = rate
end
local function excess(k, rate)
  if last[k] == nil then
    local found = redis.pcall('GET', KEYS[k])
    if type(found) == 'string' and #found == 16 then
      last[k], held[k] = struct.unpack('>dd', found)
      if not (held[k] >= 0 and held[k] <= 4e15 and last[k] >= 0 and last[k] <= 4e15) then
        last[k] = false
      elseif last[k] > now then
        last[k] = now
        note(k, rate)
      end
    else
      last[k] = false
    end
  end
  if not last[k] then
    return 0
  end
  return max(0, floor(held[k]) - floor(rate * (now - last[k]) / 1000) + 1000)
end
local out, n, at, total = {}, 0, 1, #ARGV
while at <= total do
  local limits = tonumber(ARGV[at])
  local levels, refusing = {}, 0
  for i = 1, limits do
    local p = at + 3 * i - 2
    local level = excess(tonumber(ARGV[p]), tonumber(ARGV[p + 1]))
    levels[i] = level
    if level > tonumber(ARGV[p + 2]) then
      refusing = i
      break
    end
  end
  n = n + 1
  out[n] = refusing
  if refusing > 0 then
    n = n + 1
    out[n] = levels[refusing]
  else
    for i = 1, limits do
      local p = at + 3 * i - 2
      local k = tonumber(ARGV[p])
      if last[k] ~= now then
        last[k] = now
      end
      held[k] = levels[i]
      note(k, tonumber(ARGV[p + 1]))
      n = n + 1
      out[n] = levels[i]
    end
  end
  at = at + 1 + 3 * limits
end
for i = 1, #order do
  local k = order[i]
  local life = math.min(math.ceil((held[k] + 1000) * 1000 / rates[k]) + 1, 4e12)
  redis.call('SET', KEYS[k], struct.pack('>dd', last[k], held[k]), 'PX', string.format('%.0f', life))
end
return out
`);

/** Takes a request out of each bucket of KEYS again. */
export const GIVE_BACK_SCRIPT: StoreScript = new StoreScript(`
for i = 1, #KEYS do
  local found = redis.pcall('GET', KEYS[i])
  if type(found) == 'string' and #found == 16 then
    local last, held = struct.unpack('>dd', found)
    redis.call('SET', KEYS[i], struct.pack('>dd', last, math.max(0, held - 1000)), 'KEEPTTL')
  end
end
return 0
`);
