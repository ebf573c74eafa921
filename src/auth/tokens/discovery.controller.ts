import { Controller, Get, Header } from '@nestjs/common';
import { Public } from '../../access/access.decorators.js';
import { Env } from '../../config/env.js';
import { issuerUrl } from '../../config/readers.js';
import {
  INTROSPECTION_PATH,
  JWKS_PATH,
  OPENID_CONFIGURATION_PATH,
  SERVER_METADATA_PATH,
} from '../../http/paths.js';
import { ApiProblems } from '../../openapi/decorators.js';
import { KeyRing } from './signing-keys.js';
import { Problem } from '../../problems/problem.js';
import { KeySet, ServerMetadata } from './tokens.responses.js';

const NO_URL = { code: 'not_found', detail: 'The issuer of this service is not a URL.' } as const;
const CACHE = 'public, max-age=300';

@Controller()
export class DiscoveryController {
  constructor(
    private readonly keys: KeyRing,
    private readonly env: Env,
  ) {}

  /**
   * Discover the issuer by its URL (OAuth)
   *
   * @remarks The subset of RFC 8414 that is true here: no tokens are issued by its protocols. It exists only where
   * `JWT_ISSUER` is a URL, and may be cached for five minutes.
   */
  @Get(SERVER_METADATA_PATH)
  @Public('services')
  @ApiProblems(NO_URL)
  @Header('Cache-Control', CACHE)
  getServerMetadata(): ServerMetadata {
    return this.metadata();
  }

  /**
   * Discover the issuer by its URL (OpenID Connect)
   *
   * @remarks The same as the OAuth metadata, where libraries for OpenID Connect look for it. This service is no OpenID
   * provider. The answer may be cached for five minutes.
   */
  @Get(OPENID_CONFIGURATION_PATH)
  @Public('services')
  @ApiProblems(NO_URL)
  @Header('Cache-Control', CACHE)
  getOpenidConfiguration(): ServerMetadata {
    return this.metadata();
  }

  /**
   * Get the public keys that verify tokens
   *
   * @remarks Services verify tokens with this JWK Set (RFC 7517) without a call to this service: they check the
   * algorithm ES256, the key named by `kid`, the `typ` `at+jwt`, and the claims `iss`, `aud` and `exp`. Only this
   * service knows which sessions are revoked. The answer may be cached for five minutes.
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
      introspection_endpoint: url.base + INTROSPECTION_PATH,
      introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
    };
  }
}
