import { ApiProperty } from '@nestjs/swagger';
import { ApiText } from '../openapi/decorators.js';
import { ACCESS_TOKEN_TYPE } from './service-tokens.requests.js';

/** RFC 6749 section 5.1, RFC 8693 section 2.2.1 */
export class ServiceTokenResponse {
  /** The access token for the called service. Send it as `Authorization: Bearer <token>`. */
  @ApiText(1, undefined, {
    example: 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImsxIn0.eyJzdWIiOiIwMTlhIn0.c2lnbmF0dXJl',
  })
  access_token: string;

  @ApiProperty({ enum: ['Bearer'], example: 'Bearer' }) token_type: 'Bearer';

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: 300,
    description:
      'Lifetime of the access token, in seconds. It is shorter than 300 if the subject token ends before.',
    example: 300,
  })
  expires_in: number;

  @ApiProperty({ enum: [ACCESS_TOKEN_TYPE], description: 'Present if a token was exchanged.' })
  issued_token_type?: typeof ACCESS_TOKEN_TYPE;
}
