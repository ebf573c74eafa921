import { Controller, Get, Header } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '../../access/access.decorators.js';
import { OPENID_CONFIGURATION_PATH, SERVER_METADATA_PATH } from '../../http/paths.js';
import { ApiProblems } from '../../openapi/decorators.js';
import { NOT_DISCOVERABLE } from './discovery.errors.js';
import { DiscoveryService } from './discovery.service.js';
import { ServerMetadata } from './server-metadata.response.js';

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
