import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { timeText } from '../../identifiers/text.js';
import { ApiBase64Url, ApiText, ApiTime } from '../../openapi/decorators.js';
import type { LinkedProvider } from './identities.repository.js';
import type { ShownProvider } from './providers.repository.js';

export class ProviderLoginStart {
  /** URL to open in the browser of the user. */
  @ApiText(1, undefined, { example: 'https://login.example.com/authorize?client_id=accounts' })
  authorizationUrl: string;

  /** Value of `state` in the redirect. Ignore a redirect with another value. */
  @ApiBase64Url(43, { example: 'q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k' }) state: string;

  /** Time until which the provider must send the browser back. */
  @ApiTime({ example: '2026-11-22T09:10:00.000Z' }) expiresAt: string;
}

@ApiSchema({ name: 'LoginProvider' })
export class LoginProviderDto {
  /** Name of the provider, for `POST /api/auth/providers/{name}/start`. */
  @ApiText(1, 40, { example: 'acme' }) name: string;

  /** Text for the button. */
  @ApiText(1, 100, { example: 'Acme' }) title: string;

  /** Domains of emails that the provider speaks for. */
  @ApiProperty({ type: 'array', items: { type: 'string', minLength: 1 }, example: ['acme.example'] })
  domains: string[];

  /** Whether users of these domains must log in here, not with a password. */
  @ApiProperty({ example: false }) required: boolean;
}

@ApiSchema({ name: 'Identity' })
export class IdentityDto {
  /** Name of the provider. */
  @ApiText(1, 40, { example: 'acme' }) provider: string;

  /** Subject of the user at the provider. */
  @ApiText(1, 255, { example: '248289761001' }) subject: string;

  /** Time at which the user was linked. */
  @ApiTime({ example: '2026-11-22T09:00:00.000Z' }) linkedAt: string;
}

export function identityView({ name, subject, createdAt }: LinkedProvider): IdentityDto {
  return { provider: name, subject, linkedAt: timeText(createdAt) };
}

/** @param rows one for each domain, those of a provider together */
export function providersIn(rows: readonly ShownProvider[]): LoginProviderDto[] {
  return [...Map.groupBy(rows, ({ name }) => name).values()].map((ofOne) => {
    const { name, title, required } = ofOne[0]!;
    const domains = ofOne.flatMap(({ domain }) => domain ?? []);
    return { name, title, domains, required: required === 1 };
  });
}
