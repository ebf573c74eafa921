import { ApiProperty } from '@nestjs/swagger';
import type { ProviderSettings } from '../auth/providers/provider-settings.js';
import { ApiCount, ApiText, ApiTime } from '../openapi/decorators.js';

const ACME = {
  name: 'acme',
  title: 'Acme',
  issuer: 'https://login.acme.example',
  clientId: 'accounts',
  redirectUri: 'https://accounts.example.com/api/auth/providers/acme/callback',
  createdAt: '2026-11-22T09:00:00.000Z',
  disabledAt: null,
  domains: ['acme.example'],
  required: false,
  createUsers: true,
  linkByEmail: false,
  trustEmails: false,
  sameNetwork: false,
  sessionMaxAge: 86_400,
  scopes: 'openid email profile',
  emailClaim: 'email',
  subjectClaim: 'sub',
  require: null,
  params: null,
};

export class ProviderSummary implements Omit<ProviderSettings, 'require'> {
  @ApiText(1, 40) name: string;

  /** Text of the button. */
  @ApiText(1, 100) title: string;

  /** Issuer, as in the discovery document of the provider. */
  @ApiText(1, 255) issuer: string;

  /** Id of the client at the provider. */
  @ApiText(1, 255) clientId: string;

  /** The URL to register at the provider. Null if `JWT_ISSUER` is no URL. */
  @ApiText(1, undefined, { nullable: true }) redirectUri: string | null;

  @ApiTime() createdAt: string;

  /** Time at which an operator disabled the provider. Null if it is enabled. */
  @ApiTime({ nullable: true }) disabledAt: string | null;

  /** Domains of emails that the provider speaks for. */
  @ApiProperty({ type: 'array', items: { type: 'string', minLength: 1, maxLength: 253 } }) domains: string[];

  /** Whether users of these domains, and users who are linked, cannot log in with a password. */
  @ApiProperty() required: boolean;

  /** Whether a login creates a user whom Accounts does not know. */
  @ApiProperty() createUsers: boolean;

  /** Whether a login links an existing user without the password. */
  @ApiProperty() linkByEmail: boolean;

  /** Whether Accounts trusts emails without `email_verified`. */
  @ApiProperty() trustEmails: boolean;

  /** Whether the browser and the program must be in one network. */
  @ApiProperty() sameNetwork: boolean;

  /** Seconds after the login at which sessions end at the latest. */
  @ApiCount() sessionMaxAge: number;

  /** Scopes of the authorization request, separated by spaces. */
  @ApiText(1, 300) scopes: string;

  /** Claim with the email. */
  @ApiText(1, 100) emailClaim: string;

  /** Claim that identifies the user. */
  @ApiProperty({ enum: ['sub', 'oid'] }) subjectClaim: 'sub' | 'oid';

  /** A claim that the ID token must have, such as `hd=acme.example`. Null if none is required. */
  @ApiText(1, undefined, { nullable: true }) require: string | null;

  /** More parameters of the authorization request. Null if there are none. */
  @ApiText(1, 1000, { nullable: true }) params: string | null;
}

export class ProviderDetails extends ProviderSummary {
  /** Number of users who are linked to a user of the provider. */
  @ApiCount() users: number;
}

export class ProvidersResponse {
  /** All providers in order of their names, disabled ones included. */
  @ApiProperty({ type: [ProviderSummary], example: [ACME] }) providers: ProviderSummary[];
}

export class AdminProviderResponse {
  /** The provider. */
  @ApiProperty({ type: ProviderDetails, example: { ...ACME, users: 1 } }) provider: ProviderDetails;
}
