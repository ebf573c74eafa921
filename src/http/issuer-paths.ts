import { issuerUrl } from '../config/issuer-url.js';

export const JWKS_PATH = '/.well-known/jwks.json';
export const OPENID_CONFIGURATION_PATH = '/.well-known/openid-configuration';
export const SERVER_METADATA_PATH = '/.well-known/oauth-authorization-server';
export const INTROSPECTION_PATH = '/api/auth/introspect';

// Maps the URLs that discovery names to routes, where the issuer has a path. A proxy may take that path off the others,
// but not off the one of RFC 8414, which has it at its end. Nothing else answers below that path: a rule of a proxy for
// `/docs` must not be evaded through it.
export function issuerPaths(issuer: string): (url: string) => string {
  const path = issuerUrl(issuer)?.path ?? '';
  if (path === '') return (url) => url;
  const routes = new Map([
    ...[OPENID_CONFIGURATION_PATH, JWKS_PATH, INTROSPECTION_PATH].map(
      (route) => [path + route, route] as const,
    ),
    [SERVER_METADATA_PATH + path, SERVER_METADATA_PATH],
    [`${SERVER_METADATA_PATH}${path}/`, SERVER_METADATA_PATH],
  ]);
  return (url) => {
    const [named = ''] = url.split('?', 1);
    const route = routes.get(named);
    return route === undefined ? url : route + url.slice(named.length);
  };
}
