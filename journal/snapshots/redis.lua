-- One versioned write. KEYS[1] the session's hash; ARGV: the field, as_of_seq, sha256, the bytes, the version that was
-- read ('': any), the policy. Answer: what was done, and the version and as_of_seq that are there. As `deciding.judge`.
local field, seq, sha, body, expected, policy = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if redis.call('HEXISTS', KEYS[1], 'deleted') == 1 then return {'gone', 0, 0} end
local head = redis.call('HGET', KEYS[1], 'head:' .. field)
local version, stored_seq, stored_sha = 0, 0, ''
if head then
    local v, s, d = string.match(head, '^(%d+) (%d+) (%x+)$')
    if not v then return {'unreadable', 0, 0} end
    version, stored_seq, stored_sha = tonumber(v), tonumber(s), d
end
local conflict = {'conflict', version, stored_seq}
if not head then
    if expected ~= '' and expected ~= '0' and policy == 'fail' then return conflict end
elseif expected ~= '' and tonumber(expected) ~= version then
    if not (seq > stored_seq and policy == 'keep_newer') then return conflict end
elseif seq < stored_seq then
    return conflict
elseif expected == '' and seq == stored_seq and sha == stored_sha then
    return {'same', version, stored_seq}
end
head = string.format('%d %d %s', version + 1, seq, sha)
redis.call('HSET', KEYS[1], 'head:' .. field, head, 'body:' .. field, body)
return {'write', version + 1, seq}
