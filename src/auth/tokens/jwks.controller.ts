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
