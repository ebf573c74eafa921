# Logs in with the generated client and prints the response of GET /api/me.
require 'json'
require 'swagger_client'

url, email, password = ARGV
uri = URI(url)
SwaggerClient.configure do |config|
  config.scheme = uri.scheme
  config.host = "#{uri.host}:#{uri.port}"
  config.base_path = ''
end

request = SwaggerClient::LoginRequest.new(email: email, password: password)
session = SwaggerClient::AuthenticationApi.new.login(request)
SwaggerClient.configure { |config| config.access_token = session.token }
me = SwaggerClient::UserApi.new.get_me
puts JSON.generate(me.to_hash)
