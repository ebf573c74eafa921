"""Logs in with the generated client and prints the response of GET /api/me."""
import json
import sys

from swagger_client import ApiClient, AuthenticationApi, Configuration, LoginRequest, UserApi

url, email, password = sys.argv[1:]
configuration = Configuration()
configuration.host = url
client = ApiClient(configuration)

session = AuthenticationApi(client).login(LoginRequest(email=email, password=password))
# The generated Python client has no setting for a bearer token.
client.set_default_header("Authorization", f"Bearer {session.token}")
me = UserApi(client).get_me()
print(json.dumps(client.sanitize_for_serialization(me)))
