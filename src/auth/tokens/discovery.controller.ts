import { Controller, Get, Header } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '../../access/access.decorators.js';
import { KeySet, ServerMetadata } from './tokens.responses.js';
import { KeyRing } from './key-ring.js';
import { OPENID_CONFIGURATION_PATH, SERVER_METADATA_PATH } from '../../http/paths.js';
import { ApiProblems } from '../../openapi/decorators.js';
import { NOT_DISCOVERABLE } from './tokens.errors.js';
import { DiscoveryService } from './discovery.service.js';

@ApiTags('Tokens')
@Controller('.well-known/jwks.json')
export class JwksController {
  constructor(private readonly keys: KeyRing) {}

  /**
   * Get the public keys that verify tokens
   *
   * @remarks Services verify tokens with this JWK Set (RFC 7517) without a call to this service: they check the
   * algorithm ES256, the key named by `kid`, the `typ` `at+jwt`, and the claims `iss`, `aud` and `exp`. Only this
   * service knows which sessions are revoked. The answer may be cached for five minutes.
   */
  @Get()
  @Public('services')
  @Header('Cache-Control', 'public, max-age=300')
  getKeySet(): KeySet {
    return this.keys.published;
  }
}

const NO_URL = { code: 'not_found', detail: NOT_DISCOVERABLE } as const;
const CACHE = 'public, max-age=300';

@ApiTags('Tokens')
@Controller()
export class DiscoveryController {
  constructor(private readonly discovery: DiscoveryService) {}

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
    return this.discovery.metadata;
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
    return this.discovery.metadata;
  }
}
