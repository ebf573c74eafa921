import { ApiProperty } from '@nestjs/swagger';
import { LoginProviderDto } from './providers/providers.responses.js';
import { ApiCount, ApiText } from '../openapi/decorators.js';

const ADA = { email: 'ada@example.com', password: 'correct horse battery' };
const GRACE = { email: 'grace@example.com', password: 'a compiler in the attic' };
/** The requests with which the README begins. */
export const REGISTRATIONS = {
  ada: { summary: 'Ada', value: ADA },
  grace: { summary: 'Grace, whom Ada adds', value: GRACE },
};

export const LOGINS = {
  plain: { summary: 'an access token', value: ADA },
  refresh: { summary: 'a short-lived access token and a refresh token', value: { ...ADA, refresh: true } },
};

export class AuthConfigResponse {
  /** Who can register: everyone, people with an invitation, or nobody. Operators can always create users. */
  @ApiProperty({ enum: ['open', 'invited', 'closed'], example: 'open' })
  registration: 'open' | 'invited' | 'closed';

  /** Value `required` if users can do nothing before they have verified their email. */
  @ApiProperty({ enum: ['optional', 'required'], example: 'optional' })
  emailVerification: 'optional' | 'required';

  /** Minimum length of a password in Unicode code points. */
  @ApiCount({ example: 8, minimum: 8 }) passwordMinLength: number;

  /** Whether Accounts sends emails, such as reset codes. */
  @ApiProperty({ example: true }) emailEnabled: boolean;

  /** Claim `iss` of access tokens. */
  @ApiText(1, undefined, { example: 'accounts' }) issuer: string;

  /** Claim `aud` of access tokens that are not bound to one service. */
  @ApiText(1, undefined, { example: 'accounts' }) tokenAudience: string;

  /** Providers at which users can log in, in the order of their titles. Present with `include=logins`. */
  @ApiProperty({ type: [LoginProviderDto] }) providers?: LoginProviderDto[];

  /**
   * Whether a user can paste a code that a browser shows: never, if the browser is in the network of the program, or
   * always. Present with `include=logins`.
   */
  @ApiProperty({ enum: ['off', 'same-network', 'anywhere'], example: 'off' })
  crossDeviceLogin?: 'off' | 'same-network' | 'anywhere';
}
