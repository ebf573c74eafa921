import { ApiProperty } from '@nestjs/swagger';
import { DEFAULT_SETTINGS, type ProviderSettings } from '../auth/providers/provider-settings.js';
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
  ...DEFAULT_SETTINGS,
  createUsers: true,
};

export class ProviderSummary implements Omit<ProviderSettings, 'require'> {
  @ApiText(1, 40) name: string;
  @ApiText(1, 100) title: string;
  @ApiText(1, 255) issuer: string;
  @ApiText(1, 255) clientId: string;
  @ApiText(1, undefined, { nullable: true }) redirectUri: string | null;
  @ApiTime() createdAt: string;
  @ApiTime({ nullable: true }) disabledAt: string | null;
  @ApiProperty({ type: 'array', items: { type: 'string', minLength: 1, maxLength: 253 } }) domains: string[];
  @ApiProperty() required: boolean;
  @ApiProperty() createUsers: boolean;
  @ApiProperty() linkByEmail: boolean;
  @ApiProperty() trustEmails: boolean;
  @ApiProperty() sameNetwork: boolean;
  @ApiCount() sessionMaxAge: number;
  @ApiText(1, 300) scopes: string;
  @ApiText(1, 100) emailClaim: string;
  @ApiProperty({ enum: ['sub', 'oid'] }) subjectClaim: 'sub' | 'oid';
  @ApiText(1, undefined, { nullable: true }) require: string | null;
  @ApiText(1, 1000, { nullable: true }) params: string | null;

  /** Present if Accounts cannot read the stored settings. It shows the defaults, and nobody can log in there. */
  @ApiProperty({ enum: [true], required: false }) damaged?: boolean;
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
