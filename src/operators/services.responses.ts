import { ApiProperty } from '@nestjs/swagger';
import { SERVICE_SCOPES, type ServiceScope } from '../access/principal.js';
import { NextCursor } from './operation.decorators.js';

const BILLING = {
  name: 'billing',
  allow: ['introspect'],
  createdAt: '2026-11-22T09:00:00.000Z',
  disabledAt: null,
  removedAt: null,
};
const SECRET = {
  id: '019a8f3e-c183-7f76-9192-1d3e5f708192',
  createdAt: '2026-11-22T09:00:00.000Z',
  lastUsedAt: null,
  revokedAt: null,
};

export class ListedService {
  @ApiProperty({ pattern: '^[a-z][a-z0-9-]{0,39}$' })
  name: string;

  /** scopes that the service is allowed */
  @ApiProperty({ enum: SERVICE_SCOPES, enumName: 'ServiceScope', isArray: true })
  allow: ServiceScope[];

  @ApiProperty({ format: 'date-time' })
  createdAt: string;

  /** null if the service is enabled */
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  disabledAt: string | null;

  /** null if the service was not removed; names of removed ones are never used again */
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  removedAt: string | null;
}

export class ListedSecret {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ format: 'date-time' })
  createdAt: string;

  /** beginning of the hour in which the secret was last used; null if it was not */
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  lastUsedAt: string | null;

  /** null if the secret is live */
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  revokedAt: string | null;
}

export class ShownService extends ListedService {
  /** oldest first, revoked ones too */
  @ApiProperty({ type: [ListedSecret] })
  secrets: ListedSecret[];
}

export class ServicesResult {
  @ApiProperty({ type: [ListedService], example: [BILLING] })
  services: ListedService[];

  @NextCursor('OmJpbGxpbmc')
  nextCursor?: string;
}

export class ShownServiceResult {
  @ApiProperty({ type: ShownService, example: { ...BILLING, secrets: [SECRET] } })
  service: ShownService;
}
