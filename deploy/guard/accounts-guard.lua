-- The action `lua.accounts_guard` of haproxy.cfg, with HAProxy's own HTTP client. Runs in a test on HAProxy 2.6.12 (Debian 12).
local URL = "http://127.0.0.1:9190/check?"
-- The sidecar itself answers 503 after 10 s.
local TIMEOUT_MS = 15000
local ADMITTED = { "user", "session", "amr", "org", "role", "via", "key", "service" }
local PASSED_ON = { "content-type", "cache-control", "www-authenticate", "retry-after" }
core.register_action("accounts_guard", { "http-req" }, function(txn)
  local asked = txn.http:req_get_headers()
  local headers = {}
  for _, name in ipairs({ "authorization", "accounts-revision" }) do
    local values = {}
    for _, value in pairs(asked[name] or {}) do table.insert(values, value) end
    if #values > 0 then headers[name] = values end
  end
  local url = URL .. txn:get_var("txn.accounts_requirement")
  local answer = core.httpclient():get({ url = url, headers = headers, timeout = TIMEOUT_MS })
  -- HAProxy counts the values of a header from 0.
  local function header(name) return answer.headers[name] and answer.headers[name][0] end
  if answer.status == 200 then
    for _, name in ipairs(ADMITTED) do
      txn.http:req_set_header("X-Accounts-" .. name, header("x-accounts-" .. name) or "")
    end
    txn:set_var("txn.accounts_admitted", "yes")
  elseif header("x-accounts-problem") and answer.status ~= 500 then
    local reply = txn:reply({ status = answer.status, body = answer.body })
    for _, name in ipairs(PASSED_ON) do
      if header(name) then reply:add_header(name, header(name)) end
    end
    txn:done(reply)
  end
  -- Otherwise, haproxy.cfg answers 503: the sidecar is down, or the check means nothing (invalid_check, which its log names).
end, 0)
