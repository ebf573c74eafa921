import { Controller, Get, Header } from '@nestjs/common';
import { Public } from '../../access/access.decorators.js';
import { Env } from '../../config/env.js';
import { issuerUrl } from '../../config/readers.js';
import {
  INTROSPECTION_PATH,
  JWKS_PATH,
  OPENID_CONFIGURATION_PATH,
  SERVER_METADATA_PATH,
  TOKEN_PATH,
} from '../../http/paths.js';
import { ApiProblems } from '../../openapi/decorators.js';
import { KeyRing } from './signing-keys.js';
import { Problem } from '../../problems/problem.js';
import { GRANT_TYPES, KeySet, ServerMetadata } from './tokens.responses.js';

const NO_URL = { code: 'not_found', detail: 'The issuer of this service is not a URL.' } as const;
const CACHE = 'public, max-age=300';

@Controller()
export class DiscoveryController {
  constructor(
    private readonly keys: KeyRing,
    private readonly env: Env,
  ) {}

  /**
   * Get authorization server metadata
   *
   * @remarks Returns the metadata of the issuer (RFC 8414), so that a library can find the keys. It may be cached for
   * five minutes.
   *
   * It exists only if `JWT_ISSUER` is a URL. Its token endpoint is for services that call other services; users log in
   * by the routes of Accounts.
   */
  @Get(SERVER_METADATA_PATH)
  @Public('services')
  @ApiProblems(NO_URL)
  @Header('Cache-Control', CACHE)
  getServerMetadata(): ServerMetadata {
    return this.metadata();
  }

  /**
   * Get server metadata (OpenID Connect path)
   *
   * @remarks Returns the metadata of the authorization server at the path where OpenID Connect libraries look for it.
   * It may be cached for five minutes.
   *
   * It exists only if `JWT_ISSUER` is a URL. Accounts is not an OpenID provider.
   */
  @Get(OPENID_CONFIGURATION_PATH)
  @Public('services')
  @ApiProblems(NO_URL)
  @Header('Cache-Control', CACHE)
  getOpenidConfiguration(): ServerMetadata {
    return this.metadata();
  }

  /**
   * Get the public signing keys
   *
   * @remarks Returns the JWK Set (RFC 7517) that verifies access tokens without a request to Accounts. It may be
   * cached for five minutes.
   *
   * Check the algorithm ES256, the key named by `kid`, the `typ` `at+jwt`, and the claims `iss`, `aud` and `exp`. Only
   * introspection and the event feed reveal revoked sessions.
   */
  @Get(JWKS_PATH)
  @Public('services')
  @Header('Cache-Control', CACHE)
  getKeySet(): KeySet {
    return this.keys.published;
  }

  private metadata(): ServerMetadata {
    const issuer = this.env.jwtIssuer;
    const url = issuerUrl(issuer);
    if (!url) throw new Problem(NO_URL.code, NO_URL);
    return {
      issuer,
      jwks_uri: url.base + JWKS_PATH,
      token_endpoint: url.base + TOKEN_PATH,
      token_endpoint_auth_methods_supported: ['client_secret_basic'],
      grant_types_supported: [...GRANT_TYPES],
      introspection_endpoint: url.base + INTROSPECTION_PATH,
      introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
    };
  }
}
