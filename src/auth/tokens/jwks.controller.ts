import { Controller, Get, Header } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '../../access/access.decorators.js';
import { KeySet } from './jwks.response.js';
import { KeyRing } from './key-ring.js';

@ApiTags('Tokens')
@Controller('.well-known/jwks.json')
export class JwksController {
  constructor(private readonly keys: KeyRing) {}

  /**
   * The public keys that verify tokens
   *
   * @remarks A JWK Set (RFC 7517). Verify tokens with it without calling this service: algorithm ES256, the
   * key of the token's `kid`, `typ` `at+jwt`, and the `iss`, `aud` and `exp` claims. Only this service knows
   * which sessions are revoked. May be cached for five minutes.
   */
  @Get()
  @Public()
  @Header('Cache-Control', 'public, max-age=300')
  getKeySet(): KeySet {
    return this.keys.published;
  }
}
