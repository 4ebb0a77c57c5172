import { StoreScript } from '../fleet/script.js';

/**
 * Asks for the lead of the fleet, or keeps it, and tells how far this process is: KEYS are the place of the lead, the table of how far each
 * is, and the list of changes. ARGV has a name that no other process has, for how many milliseconds the lead is given, the last change that
 * this process has taken over, and whether it wants the lead: one that does not know everything yet only says that it is there. The answer
 * is whether it leads, how many others have not taken over the last change, and the names of the others, a thousand at most. What another
 * program has put in the place of the lead, without an end or for longer than is given, does not count.
 */
export const LEAD_SCRIPT: StoreScript = new StoreScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = tonumber(ARGV[2])
local all = redis.pcall('HGETALL', KEYS[2])
if all.err then
  redis.call('DEL', KEYS[2])
  all = {}
end
redis.call('HSET', KEYS[2], ARGV[1], string.format('%.0f ', now) .. ARGV[3])
local newest = redis.pcall('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)
local last = newest[1] and newest[1][1] or '0-0'
local behind = 0
local others = {}
for i = 1, #all, 2 do
  local at, is = string.match(all[i + 1], '^(%d+) (%d+%-%d+)$')
  if not at or math.abs(now - at) > lease then
    redis.call('HDEL', KEYS[2], all[i])
  elseif all[i] ~= ARGV[1] then
    if #others < 1000 then
      table.insert(others, all[i])
    end
    if is ~= last then
      behind = behind + 1
    end
  end
end
if ARGV[4] ~= '1' then
  return { 0, behind, others }
end
local is = redis.pcall('GET', KEYS[1])
if type(is) == 'string' and is ~= ARGV[1] then
  local left = redis.call('PTTL', KEYS[1])
  if left >= 0 and left <= lease then
    return { 0, behind }
  end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return { 1, behind, others }
`);

/** Gives the lead up, where this process has it: KEYS are the place of the lead and the table of how far each is, ARGV has its name. */
export const RESIGN_SCRIPT: StoreScript = new StoreScript(`
redis.pcall('HDEL', KEYS[2], ARGV[1])
if redis.pcall('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
return 1
`);
